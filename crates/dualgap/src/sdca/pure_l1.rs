//! Pure l1 problems, `P(w) = Σ mass_i φ_i(⟨x_i, w⟩) + σ‖w‖₁`, certified as they are.
//!
//! Whoever moves the weights, the certificate is that of the l1 problem itself: the primal value at the weights, and
//! the dual value at a point that is scaled until it is feasible,
//!
//! ```text
//! θ = t α,   t = min(1, σ / max_j |Σ mass_i x_ij α_i|),        D(θ) = −Σ mass_i φ_i*(−θ_i)
//! ```
//!
//! (α ∈ dom φ* and 0 ∈ dom φ*, so θ ∈ dom φ*). Smooth losses are solved weight by weight (`coordinates.rs`).
//! The others need strong convexity, and take the paper's way: steps on the elastic net with a small λ. That λ is no
//! guess: as soon as the elastic net is solved better than it stands for the l1 problem, it is made smaller, at the
//! same points.

use super::Linear;
use super::coordinates::Coordinates;
use crate::dual::problem::masses;
use crate::dual::{Engine, Problem, Settings, Solution};
use crate::linalg::Measured;
use crate::run::{Budget, Certificate, Certified, Observer, Quota, Report, Solver, Work, run};
use crate::term::{ElasticNet, Loss, PureL1};
use crate::{Error, Result};

/// By what λ is divided when it is made smaller.
const SHRINK: f64 = 4.0;

/// The elastic net counts as solved when its gap is below this share of the l1 problem's.
const SOLVED: f64 = 0.25;

/// λ is not made smaller than this: w = soft(v, σ/λ) would be rounding.
const SMALLEST: f64 = 1e-13;

/// A dual point is scaled a little further than it must be, so that no rounding makes it infeasible.
const MARGIN: f64 = 1e-11;

/// Both sides of the l1 problem's certificate: the best of each that was seen.
pub(super) struct Sides<'a, 'b, L: Loss> {
    problem: Problem<'a, Linear<'b, L>, PureL1>,
    pub sigma: f64,
    pub link: PureL1,
    primal: Option<(Measured, Vec<f64>)>,
    dual: (Measured, Vec<f64>),
}

impl<'a, 'b, L: Loss> Sides<'a, 'b, L> {
    fn new(
        blocks: &'a Linear<'b, L>,
        sigma: f64,
        link: PureL1,
        weights: Option<&[f64]>,
    ) -> Result<Self> {
        let problem = Problem::new(blocks, link, sigma, weights)?;
        let start = vec![0.0; blocks.targets().len()];
        let dual = (problem.dual(&start)?.value, start);
        Ok(Self { problem, sigma, link, primal: None, dual })
    }

    /// The certificate of the best weights and the best dual point so far, and of these.
    pub fn certify(&mut self, w: &[f64], points: &[f64]) -> Result<Certified> {
        let primal = self.problem.primal(w)?;
        let t = (1.0 / self.link.reach(&self.problem.image(points))).min(1.0) * (1.0 - MARGIN);
        let scaled: Vec<f64> = points.iter().map(|alpha| t * alpha).collect();
        let dual = self.problem.dual(&scaled)?.value;
        let iterate = Certificate::new(primal.value, dual, primal.certified)?;
        let upper = |value: &Measured| value.value + value.error;
        if self.primal.as_ref().is_none_or(|(best, _)| upper(&primal.value) < upper(best)) {
            self.primal = Some((primal.value, w.to_vec()));
        }
        let lower = |value: &Measured| value.value - value.error;
        if lower(&dual) > lower(&self.dual.0) {
            self.dual = (dual, scaled);
        }
        let best = self.primal.as_ref().map_or(primal.value, |(best, _)| *best);
        let model = Certificate::new(best, self.dual.0, primal.certified)?;
        Ok(Certified { model, iterate })
    }

    pub fn weights(&self) -> Option<&[f64]> {
        self.primal.as_ref().map(|(_, weights)| &weights[..])
    }

    pub fn into_solution(self, current: Vec<f64>) -> Solution<f64> {
        let weights = self.primal.map_or(current, |(_, weights)| weights);
        Solution { weights, points: self.dual.1 }
    }
}

/// Trains with `σ‖w‖₁` alone; the settings' λ is not used.
///
/// ```
/// use dualgap::linalg::Rows;
/// use dualgap::run::Budget;
/// use dualgap::sdca::{Choice, Linear, Settings, train_pure_l1};
/// use dualgap::term::{Regulariser, ScalarLoss};
/// let rows = Rows::dense(&[vec![1.0, 0.1], vec![0.0, 0.1], vec![-1.0, 0.1]])?;
/// let blocks = Linear::new(&rows, vec![1.0, 0.0, -1.0], ScalarLoss::Squared, Choice::I)?;
/// let regulariser = Regulariser { l1: 0.1, nonnegative: false };
/// let settings = Settings { regulariser, ..Settings::default() };
/// let report = train_pure_l1(&blocks, &settings, &Budget::relative(1e-8), &mut ())?;
/// // The soft threshold of the least squares solution, by hand.
/// assert!((report.model.weights[0] - (1.0 - 0.15)).abs() < 1e-4);
/// assert_eq!(report.model.weights[1], 0.0);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn train_pure_l1<L: Loss>(
    blocks: &Linear<'_, L>,
    settings: &Settings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Solution<f64>>> {
    let sigma = settings.regulariser.l1;
    if !(sigma > 0.0 && sigma.is_finite()) {
        return Err(Error::setting("without lambda the l1 regularisation must be positive"));
    }
    let weights = settings.sample_weights.as_deref();
    let link = PureL1 { nonnegative: settings.regulariser.nonnegative };
    let sides = Sides::new(blocks, sigma, link, weights)?;
    let n = blocks.targets().len();
    if blocks.loss().smoothness() > 0.0 {
        return run(Coordinates::new(blocks, sides, masses(n, weights)?), budget, observer);
    }
    // Where a block's own curvature is about that of its loss: no step is slow.
    let lambda = (blocks.largest_squared_norm() / n as f64).max(1e-12);
    let inner = Problem::new(blocks, elastic_net(&sides, lambda), lambda, weights)?;
    run(Shrinking { engine: Engine::new(inner, settings)?, sides, lambda }, budget, observer)
}

fn elastic_net<L: Loss>(sides: &Sides<'_, '_, L>, lambda: f64) -> ElasticNet {
    ElasticNet { threshold: sides.sigma / lambda, nonnegative: sides.link.nonnegative }
}

/// The elastic net with a λ that is made smaller on the way.
struct Shrinking<'a, 'b, L: Loss> {
    engine: Engine<'a, Linear<'b, L>, ElasticNet>,
    sides: Sides<'a, 'b, L>,
    lambda: f64,
}

impl<L: Loss> Solver for Shrinking<'_, '_, L> {
    type Model = Solution<f64>;

    fn calls_per_pass(&self) -> u64 {
        self.engine.calls_per_pass()
    }

    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        self.engine.advance(quota)
    }

    fn certify(&mut self) -> Result<Certified> {
        let inner = self.engine.certify()?;
        // The newest weights: under a smaller λ those are nearer than the best ones of the elastic net.
        let certified = self.sides.certify(self.engine.weights(), self.engine.points())?;
        if inner.iterate.gap() <= SOLVED * certified.model.gap() && self.lambda > SMALLEST {
            self.lambda /= SHRINK;
            self.engine.retune(elastic_net(&self.sides, self.lambda), self.lambda)?;
        }
        Ok(certified)
    }

    /// Under a new λ the gap of the l1 problem stands still until the elastic net is solved again.
    fn may_stall(&self) -> bool {
        self.lambda <= SMALLEST
    }

    fn weights(&self) -> &[f64] {
        self.sides.weights().unwrap_or_else(|| self.engine.weights())
    }

    fn into_model(self) -> Solution<f64> {
        let current = self.engine.weights().to_vec();
        self.sides.into_solution(current)
    }
}
