//! Posed problems: the data of a structure, its loss and a penalty as one optimisation problem.
//!
//! A structure poses its problem ([`Structure::pose`](super::Structure::pose)) by one of eight functions, and everything
//! else, training, the two sides of a certificate, the bound at every λ, is the same for all structures:
//!
//! - `Posed::penalised`: blocks of the engine under a ridge; `penalised_or_l1`: also under the l1 norm alone;
//!   `curved`: such blocks of linear predictions, for Newton's method and coordinate descent; `with_expectations`: such blocks that can
//!   also sum over their outputs; `with_corners`: both, for losses with corners; `linear`: of one output, for which there are more penalties.
//! - `in_ball`: rows and losses in a ball; `mapped`: losses of any linear map of a matrix, in the trace ball.
//!
//! A posed problem is behind a pointer, so that the solvers are compiled with the structure that they solve, and not again
//! for every caller.

mod at_zero;
mod balls;
mod compressed;
mod curved;
mod expectations;
mod one_output;
mod pace;
pub(super) mod penalised;
mod refusal;
mod shard;
mod stored;
#[cfg(test)]
mod tests;
#[cfg(not(feature = "low-rank"))]
#[path = "absent.rs"]
mod trace;
#[cfg(feature = "low-rank")]
mod trace;
mod weight_by_weight;

pub(crate) use at_zero::AtZero;
pub use compressed::Compressible;
pub(crate) use refusal::refused;
pub use stored::StoredLosses;

use super::Fitted;
use super::linear::Choice;
use crate::data::Factors;
use crate::dual::problem::PrimalValue;
use crate::dual::shard::Rounds;
use crate::dual::{Settings, Witness};
use crate::linalg::{LowRank, Measured};
use crate::methods::{coordinates, cutting_plane, exponentiated_gradient, newton, subgradient};
use crate::run::{Budget, Certificate, Checkpoint, CheckpointSink, Observer, Reach, Report};
use crate::term::{Ball, Penalty};
use crate::{Error, Result, ball};

/// What a structure is told when it poses its problem.
#[derive(Clone, Copy, Debug)]
pub struct Posing<'a> {
    /// The penalty, or the ball in its place.
    pub penalty: Penalty,
    /// The weight of each example in the objective; all the same if absent.
    pub weights: Option<&'a [f64]>,
    /// How Prox-SDCA chooses its steps, if that was asked for.
    pub choice: Option<Choice>,
}

/// A problem that can be trained and proved: what a structure poses, and a [`Task`](crate::task::Task) solves.
pub struct Posed<'d>(Box<dyn Solvable + 'd>);

impl<'d> Posed<'d> {
    pub(crate) fn new(problem: impl Solvable + 'd) -> Self {
        Self(Box::new(problem))
    }

    /// Returns what is behind the pointer.
    pub(crate) fn solvable(&self) -> &(dyn Solvable + 'd) {
        &*self.0
    }
}

/// An optimisation problem that can be solved, and whose solutions can be proved.
pub(crate) trait Solvable {
    /// Trains. The weights that it returns are for the unscaled data.
    fn train(&self, run: Run<'_>) -> Result<Report<Trained>>;

    /// Returns the two sides of a certificate.
    fn sides(&self) -> Result<Box<dyn Sides + '_>>;

    /// Returns the bound that weights for the scaled data and a witness prove at every λ.
    fn reach(&self, weights: &[f64], witness: &Witness) -> Result<Reach>;

    /// Returns a dual point made of subgradients of the losses at weights for the scaled data, brought to where the dual
    /// is finite. Its gap with these weights is zero if they are optimal and the losses smooth. `None` if the problem
    /// knows no such point.
    fn subgradients(&self, _weights: &[f64]) -> Result<Option<Witness>> {
        Ok(None)
    }

    /// Returns what the problem is like at zero weights, with the best value of a free one. In a ball, μ must be zero.
    fn at_zero(&self) -> Result<AtZero> {
        Err(Error::setting(
            "what this structure is like at zero weights is not known: give the strength as a number",
        ))
    }

    /// Whether a run of this solver under the l1 norm alone can begin at given weights, [`Start::Weights`].
    fn begins_at_weights(&self, _solver: &SolverSettings) -> bool {
        false
    }

    /// Whether weights are a dual point by themselves, that of [`subgradients`](Self::subgradients): then a model without a
    /// witness is proved all the same.
    fn proves_itself(&self) -> bool {
        false
    }

    /// Returns the problem as one of several shards, whose examples weigh `total` together; the λ is that of the settings.
    fn shard(&self, _settings: &Settings, _total: f64) -> Result<Box<dyn Rounds + '_>> {
        Err(Error::setting(
            "this problem is not solved on shards: take a structure and a loss with dual steps, under λ/2‖w‖² with or \
             without the l1 norm",
        ))
    }

    /// Whether the certificate of a run is computed again from its weights and its witness.
    fn is_recertified(&self) -> bool {
        false
    }
}

/// The primal and the dual value of a certificate.
pub(crate) trait Sides {
    /// Returns the primal value at the weights of a model, which are for the unscaled data. What a search claims is
    /// compared with the witness, if there is one, and a promise of a search gives a bound together with it.
    fn primal(
        &self,
        fitted: Fitted<'_>,
        witness: Option<&Witness>,
        factors: &Factors,
    ) -> Result<PrimalValue>;

    /// Returns the dual value of a witness, or an error if it is infeasible.
    fn dual(&self, witness: &Witness) -> Result<Measured>;
}

impl dyn Sides + '_ {
    /// Computes the certificate of weights and a witness.
    pub(crate) fn certificate(
        &self,
        fitted: Fitted<'_>,
        witness: &Witness,
        factors: &Factors,
    ) -> Result<Certificate> {
        let primal = self.primal(fitted, Some(witness), factors)?;
        primal.certificate(self.dual(witness)?)
    }
}

/// A run of a solver.
pub(crate) struct Run<'a> {
    /// The solver and its settings.
    pub solver: SolverSettings,
    /// Where it starts.
    pub start: Start<'a>,
    /// What the columns of the data were divided by.
    pub factors: &'a Factors,
    /// When it stops.
    pub budget: &'a Budget,
    /// The observer that receives its progress.
    pub observer: &'a mut dyn Observer,
    /// Where its checkpoints go.
    pub sink: Option<&'a mut dyn CheckpointSink>,
}

/// A solver with its settings.
#[derive(Clone, Debug)]
pub(crate) enum SolverSettings {
    /// The block-dual engine.
    Dual(Settings),
    /// The solvers in a ball.
    Ball(ball::BallSettings),
    /// Newton's method.
    Newton(newton::NewtonSettings),
    /// Coordinate descent.
    Coordinates(coordinates::CoordinateSettings),
    /// The subgradient methods.
    Subgradient(subgradient::SubgradientSettings),
    /// Cutting planes.
    CuttingPlane(cutting_plane::CuttingPlaneSettings),
    /// Online exponentiated gradient.
    ExponentiatedGradient(exponentiated_gradient::GradientSettings),
}

/// Where a run starts.
pub(crate) enum Start<'a> {
    /// At the default.
    Fresh,
    /// At a checkpoint.
    At(Checkpoint),
    /// At the dual points with these entries, and at the default where an example has none.
    Entries {
        /// The entries of each example.
        of: Vec<Option<Vec<(u64, f64)>>>,
        /// The bytes that keys are places in; see [`Witness::outputs`].
        outputs: &'a [u8],
    },
    /// At these weights, which are for the unscaled data, as those that a run returns. For smooth losses of linear
    /// predictions, whose weights have a dual point; others return an error.
    Weights(&'a [f64]),
}

/// What a run ends with.
#[derive(Clone, Debug)]
pub(crate) struct Trained {
    /// The weights; empty if they are factors.
    pub weights: Vec<f64>,
    /// The weights as factors, in the trace ball.
    pub low_rank: Option<LowRank>,
    /// The dual point.
    pub witness: Witness,
}

/// Returns the error for a solver that does not go with the problem.
fn other_solver() -> Error {
    Error::setting("this solver is for other penalties, or for weights in a ball")
}

/// Returns the ball of a penalty, and μ.
fn ball_of(penalty: Penalty) -> Result<(Ball, f64)> {
    match penalty {
        Penalty::Ball { ball, mu } => Ok((ball, mu)),
        _ => Err(refused("the file names no ball, and weights of its task are kept in one")),
    }
}

/// Returns the settings and the checkpoint of a run in a ball.
fn begin(
    solver: &SolverSettings,
    start: Start<'_>,
) -> Result<(ball::BallSettings, Option<Checkpoint>)> {
    let SolverSettings::Ball(settings) = solver else { return Err(other_solver()) };
    match start {
        Start::Fresh => Ok((*settings, None)),
        Start::At(checkpoint) => Ok((*settings, Some(checkpoint))),
        Start::Entries { .. } | Start::Weights(_) => {
            Err(Error::setting("a run in a ball has no warm start: begin it anew"))
        }
    }
}

/// Returns the error of asking a model in a ball for a bound at another λ.
fn no_reach() -> Result<Reach> {
    Err(Error::setting("a model in a ball is for its own μ and radius, and for no others"))
}
