//! Weights of low rank: the same problems in the trace ball, with X in factors.
//!
//! - [`map`]: what X is seen through; the linear model is one.
//! - [`problem`]: map, losses, μ and the radius together, and both sides of the certificate.
//! - [`sampled`]: some entries of X, for matrix completion. [`matrices`]: inner products with given matrices.
//! - `ascent`, `blocks`: the method with nothing to tune, all examples at once or some of them. `theorem`: Algorithm 2 with constant steps.
//! - `baselines`: other methods for the same problems.
//! - `common`: the solver around whatever moves X.

mod ascent;
mod baselines;
mod blocks;
mod common;
pub mod map;
pub mod matrices;
pub mod problem;
pub mod sampled;
mod theorem;

pub use map::{Features, LARGEST, Map};
pub use matrices::Matrices;
pub use problem::{LowRankDual, LowRankProblem, Proving};
pub use sampled::Sampled;

use super::{Losses, Method, Problem, Settings, Solution, Steps};
use crate::linalg::LowRank;
use crate::run::{Budget, Observer, Report, run};
use crate::{Error, Result};
use common::{LowRankSolver, Moves};

/// Trains a linear model in the trace ball.
///
/// ```
/// use dualgap::linalg::Rows;
/// use dualgap::pdbfw::{PerOutput, Problem, Settings, trace};
/// use dualgap::run::Budget;
/// use dualgap::term::{Ball, ScalarLoss};
/// let rows = Rows::dense(&[vec![1.0, 0.2], vec![0.8, 0.1], vec![-1.0, 0.3]])?;
/// let losses = PerOutput::new(ScalarLoss::Squared, vec![1.0, 2.0, 0.5, 1.0, -1.0, -2.0], 2)?;
/// let problem = Problem::new(&rows, losses, 0.1, Ball::Trace { radius: 1.0 }, None)?;
/// let report = trace::train(&problem, &Settings::default(), &Budget::relative(1e-9), &mut ())?;
/// assert!(report.certificate.relative_gap() <= 1e-9);
/// assert_eq!(report.model.weights.rank(), 1);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn train<L: Losses>(
    problem: &Problem<'_, L>,
    settings: &Settings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Solution<LowRank>>> {
    train_map(&problem.low_rank()?, settings, budget, observer)
}

/// [`train`] for whatever X is seen through.
pub fn train_map<M: Map, L: Losses>(
    problem: &LowRankProblem<M, L>,
    settings: &Settings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Solution<LowRank>>> {
    /// The one training loop around a method.
    fn with<M: Map, L: Losses, D: Moves<M, L>>(
        problem: &LowRankProblem<M, L>,
        moves: D,
        budget: &Budget,
        observer: &mut dyn Observer,
    ) -> Result<Report<Solution<LowRank>>> {
        run(LowRankSolver::new(problem, moves)?, budget, observer)
    }
    let seed = settings.seed;
    match settings.method {
        Method::Pdbfw => match settings.steps {
            Steps::Search => match blocks::block_size(problem) {
                Some(size) => {
                    with(problem, blocks::Blocks::new(problem, size, seed)?, budget, observer)
                }
                None => with(problem, ascent::Ascent::new(problem), budget, observer),
            },
            Steps::Theorem(constants) => {
                with(problem, theorem::Theorem::new(problem, constants)?, budget, observer)
            }
        },
        Method::ProjectedGradient => {
            with(problem, ascent::Ascent::whole(problem), budget, observer)
        }
        Method::FrankWolfe => with(problem, baselines::FrankWolfe::new(problem), budget, observer),
        Method::BlockFrankWolfe => {
            with(problem, baselines::BlockFrankWolfe::new(problem), budget, observer)
        }
        Method::StochasticFrankWolfe => {
            with(problem, baselines::StochasticFrankWolfe::new(problem, seed), budget, observer)
        }
        Method::Svrg => with(problem, baselines::Svrg::new(problem, seed)?, budget, observer),
        Method::Scgs | Method::Storc => {
            let gap = problem.sides()?.certificate()?.gap();
            let reduced = settings.method == Method::Storc;
            with(problem, baselines::Sliding::new(problem, reduced, gap, seed)?, budget, observer)
        }
        Method::AwaySteps | Method::Pairwise => {
            Err(Error::setting("this method is for the l1 ball, which has finitely many corners"))
        }
    }
}
