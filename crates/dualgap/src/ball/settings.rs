//! The settings of a run in a ball.

use crate::term::Ball;
use crate::{Error, Result, Setting};
use serde::{Deserialize, Serialize};

/// The method of a run, the constants of primal-dual block Frank-Wolfe, and the seed.
///
/// ```
/// # use dualgap::ball::{BallMethod, BallSettings};
/// let settings = BallSettings::default(); // nothing has to be tuned
/// assert_eq!((settings.method, settings.seed), (BallMethod::Auto, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct BallSettings {
    /// The method that trains.
    pub method: BallMethod,
    /// The constants of [`BallMethod::Pdbfw`], where they are not the theorem's. In the l1 ball and the simplex
    /// [`BallMethod::BlockFrankWolfe`] has s and η; no other method has any.
    pub constants: TheoremConstants,
    /// The seed of the random order of the examples.
    pub seed: u64,
}

/// Settings as files have them. In older ones the default method went by the name of the paper's, and its steps told the
/// two apart.
#[derive(Deserialize)]
struct Stored {
    #[serde(default)]
    method: BallMethod,
    constants: Option<TheoremConstants>,
    steps: Option<StoredSteps>,
    seed: u64,
}

#[derive(Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
enum StoredSteps {
    Search,
    Theorem(TheoremConstants),
}

impl From<Stored> for BallSettings {
    fn from(stored: Stored) -> Self {
        let Stored { method, constants, steps, seed } = stored;
        let (method, constants) = match (method, steps) {
            (BallMethod::Pdbfw, Some(StoredSteps::Search)) => (BallMethod::Auto, constants),
            (BallMethod::Pdbfw, Some(StoredSteps::Theorem(constants))) => {
                (BallMethod::Pdbfw, Some(constants))
            }
            _ => (method, constants),
        };
        Self { method, constants: constants.unwrap_or_default(), seed }
    }
}

impl BallSettings {
    /// How many vectors of weights a run in the l1 ball holds at its peak, measured over long and short runs.
    pub(super) fn copies(&self) -> usize {
        match self.method {
            BallMethod::Auto | BallMethod::Pdbfw | BallMethod::FrankWolfe => 10,
            BallMethod::ProjectedGradient
            | BallMethod::AwaySteps
            | BallMethod::Pairwise
            | BallMethod::Svrg => 12,
            BallMethod::Scgs
            | BallMethod::Storc
            | BallMethod::BlockFrankWolfe
            | BallMethod::StochasticFrankWolfe => 14,
        }
    }

    /// Returns an error if the ball does not have the method, or the method not the constants.
    pub(crate) fn check(&self, ball: Ball) -> Result<()> {
        let (methods, names, others) = match ball {
            Ball::Trace { .. } => (
                &BallMethod::LOW_RANK_BASELINES[..],
                "apg, fw, block-frank-wolfe, stochastic-frank-wolfe, svrg, scgs or storc",
                "the l1 ball and the simplex",
            ),
            Ball::L1 { .. } | Ball::Simplex { .. } => (
                &BallMethod::BASELINES[..],
                "apg, fw, block-frank-wolfe, away, pairwise, svrg, scgs or storc",
                "the trace ball",
            ),
        };
        let ours = matches!(self.method, BallMethod::Auto | BallMethod::Pdbfw);
        if !ours && !methods.contains(&self.method) {
            return Err(Error::setting(format!(
                "this solver is for {others}: take {} auto, pdbfw, {names}",
                Setting::Solver
            )));
        }
        match (self.method, ball) {
            (BallMethod::Pdbfw, _) => self.constants.check(),
            (BallMethod::BlockFrankWolfe, Ball::L1 { .. } | Ball::Simplex { .. }) => {
                self.constants.check_printed()
            }
            _ if self.constants == TheoremConstants::default() => Ok(()),
            _ => Err(Error::setting(format!(
                "{} is for {} pdbfw: leave it out",
                Setting::Constants,
                Setting::Solver
            ))),
        }
    }

    /// Returns an error if the theorem's δ is needed, and the loss has none: `conditioning` is that of
    /// [`Loss`](crate::term::Loss).
    pub(crate) fn check_curved(&self, conditioning: Option<f64>) -> Result<()> {
        let needed = self.method == BallMethod::Pdbfw && self.constants.delta.is_none();
        if needed && conditioning.is_none() { Err(no_delta()) } else { Ok(()) }
    }

    /// Returns an error if checkpoints are asked of a method that has none.
    pub(super) fn check_resumable(&self, resumable: bool) -> Result<()> {
        if resumable && !matches!(self.method, BallMethod::Auto | BallMethod::Pdbfw) {
            return Err(Error::setting("only runs of auto and pdbfw can be stored and resumed"));
        }
        Ok(())
    }
}

/// The method: ours, the paper's, or a baseline to compare them with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BallMethod {
    /// What suits the ball and the data, with nothing to tune: in the l1 ball randomised ascent on the dual, in the
    /// simplex accelerated projected gradients, in the trace ball the same in blocks of examples, or with many outputs accelerated projected gradients with a truncated
    /// singular value decomposition.
    #[default]
    Auto,
    /// Primal-dual block Frank-Wolfe, Algorithms 1 and 2 of its paper, with constant steps ([`TheoremConstants`]).
    Pdbfw,
    /// Accelerated projected gradient with backtracking and restarts.
    ProjectedGradient,
    /// Frank-Wolfe with exact line search.
    FrankWolfe,
    /// Frank-Wolfe that may also step away from a corner.
    AwaySteps,
    /// Frank-Wolfe that moves weight from one corner to another.
    Pairwise,
    /// Projected stochastic variance reduced gradient.
    Svrg,
    /// Stochastic conditional gradient sliding.
    Scgs,
    /// Stochastic variance-reduced conditional gradient sliding.
    Storc,
    /// Frank-Wolfe toward several corners at once (Allen-Zhu et al. 2017), equation (3) of the paper. It needs no tuning;
    /// in the l1 ball and the simplex, with an s or an η among the constants, it takes its steps as printed.
    BlockFrankWolfe,
    /// Frank-Wolfe with the gradient of growing samples (Hazan and Luo 2016); in the trace ball.
    StochasticFrankWolfe,
}

impl BallMethod {
    /// Returns the method of this name.
    ///
    /// ```
    /// # use dualgap::ball::BallMethod;
    /// assert_eq!(BallMethod::named("fw")?, BallMethod::FrankWolfe);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<Self> {
        Ok(match name {
            "auto" => Self::Auto,
            "pdbfw" => Self::Pdbfw,
            "apg" => Self::ProjectedGradient,
            "fw" => Self::FrankWolfe,
            "away" => Self::AwaySteps,
            "pairwise" => Self::Pairwise,
            "svrg" => Self::Svrg,
            "scgs" => Self::Scgs,
            "storc" => Self::Storc,
            "block-frank-wolfe" => Self::BlockFrankWolfe,
            "stochastic-frank-wolfe" => Self::StochasticFrankWolfe,
            _ => {
                return Err(Error::setting(format!(
                    "there is no solver `{name}` in a ball: take {} auto, pdbfw, apg, fw, away, pairwise, svrg, scgs, storc, \
                     block-frank-wolfe or stochastic-frank-wolfe",
                    Setting::Solver
                )));
            }
        })
    }

    /// The baselines in the trace ball.
    pub const LOW_RANK_BASELINES: [Self; 7] = [
        Self::ProjectedGradient,
        Self::FrankWolfe,
        Self::BlockFrankWolfe,
        Self::StochasticFrankWolfe,
        Self::Svrg,
        Self::Scgs,
        Self::Storc,
    ];

    /// The baselines in the l1 ball and the simplex.
    pub const BASELINES: [Self; 8] = [
        Self::ProjectedGradient,
        Self::FrankWolfe,
        Self::BlockFrankWolfe,
        Self::AwaySteps,
        Self::Pairwise,
        Self::Svrg,
        Self::Scgs,
        Self::Storc,
    ];
}

/// Returns the error for a loss that the theorem has no δ for.
fn no_delta() -> Error {
    let (solver, loss) = (Setting::Solver, Setting::Loss);
    Error::setting(format!(
        "{solver} pdbfw has no delta for a loss that is not strongly convex anywhere, as logistic and softmax are not: give a \
         delta of your own, as in {} delta=0.1, or take {loss} smooth-hinge, or {solver} auto",
        Setting::Constants
    ))
}

/// The constants of Algorithms 1 and 2; those that are not given are the theorem's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TheoremConstants {
    /// s, the largest number of entries of X that move in a step. The theorem asks for the number of nonzero entries
    /// of the optimum, which is unknown: the default is all.
    pub s: Option<usize>,
    /// k, the number of examples that move in a step; by default n·s/d.
    pub k: Option<usize>,
    /// η, the share of the way to x̃ that X moves; by default μ/(2L), which is ½ for g = μ/2‖X‖².
    pub eta: Option<f64>,
    /// δ, the step of α for an example of mean weight; by default `(1/k)(1/(nβ) + (β/α)·25R/(2μn²))⁻¹`. A loss without
    /// an α has no default, and needs a δ here.
    pub delta: Option<f64>,
}

/// The numbers that the theorem's δ depends on.
pub(super) struct DualSteps<'a> {
    /// The masses of the examples, which add up to one.
    pub masses: &'a [f64],
    /// k.
    pub k: usize,
    /// 1/β.
    pub smoothness: f64,
    /// β/α, if there is an α.
    pub conditioning: Option<f64>,
    /// 25R/(2μ), or its counterpart in the trace ball.
    pub curvature: f64,
}

impl TheoremConstants {
    /// Returns q_i = 1/(m_i δ_i) of every example, and δ of an example of mean weight.
    ///
    /// ```text
    /// δ_i = (1/k)(m_i/β + (β/α)·25R m_i²/(2μ))⁻¹     the theorem's, with m_i in the place of 1/n
    /// ```
    ///
    /// The theorem's proof holds with these δ_i in the norm Σ m_i q_i‖·‖²: in that norm the conjugates are as smooth
    /// and as strongly convex as before, and the effect of X on k examples, Σ m_i‖𝒜_i(X)‖²/q_i, is at most
    /// μ‖X‖²/(12.5 β/α) for these q_i. A δ from the settings is for the mass 1/n, so that q = n/δ for every example.
    pub(super) fn dual_steps(self, of: &DualSteps<'_>) -> Result<(Vec<f64>, f64)> {
        let n = of.masses.len() as f64;
        if let Some(delta) = self.delta {
            return Ok((vec![n / delta; of.masses.len()], delta));
        }
        let Some(conditioning) = of.conditioning else {
            return Err(no_delta());
        };
        let at = |mass: f64| of.k as f64 * (of.smoothness + conditioning * of.curvature * mass);
        Ok((of.masses.iter().map(|&mass| at(mass)).collect(), n / at(1.0 / n)))
    }

    /// Returns an error unless the constants are those of block Frank-Wolfe, and in their range.
    pub(super) fn check_printed(self) -> Result<()> {
        self.check()?;
        if self.k.is_none() && self.delta.is_none() {
            return Ok(());
        }
        Err(Error::setting(format!(
            "block Frank-Wolfe has the constants s and eta: leave k and delta, of primal-dual block Frank-Wolfe, out of {}",
            Setting::Constants
        )))
    }

    /// Returns an error if a constant is out of its range.
    pub fn check(self) -> Result<()> {
        if self.s == Some(0) || self.k == Some(0) {
            return Err(Error::setting("at least one entry and one example move in a step"));
        }
        if self.eta.is_some_and(|eta| !(eta > 0.0 && eta <= 1.0)) {
            return Err(Error::setting("eta is more than 0 and at most 1"));
        }
        if self.delta.is_some_and(|delta| !(delta > 0.0 && delta.is_finite())) {
            return Err(Error::setting("delta is a positive number"));
        }
        Ok(())
    }
}
