//! Weights of low rank: the same problems in the trace ball, with X in factors.
//!
//! - [`map`]: the linear map from X to the predictions; the linear model is one.
//! - [`problem`]: map, losses, μ and the radius together, and the primal and dual values of a certificate.
//! - [`sampled`]: some entries of X, for matrix completion. [`matrices`]: inner products with given matrices.
//! - `ascent`, `blocks`: the default method, which has nothing to tune, on all examples at once or in blocks.
//! - `handover`: the switch from blocks to all examples at once when the gap stalls.
//! - `theorem`: Algorithm 2 with constant steps.
//! - `baselines`: other methods for the same problems.
//! - `common`: the solver around each method. `checkpoint`: how its runs are stored and resumed.

mod ascent;
mod baselines;
mod blocks;
mod checkpoint;
mod common;
mod handover;
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
use crate::Result;
use crate::linalg::LowRank;
use crate::run::{Budget, Checkpoint, CheckpointSink, Observer, Report};
use checkpoint::run_solver_from;

/// Trains a linear model in the trace ball.
///
/// ```
/// use dualgap::linalg::Rows;
/// use dualgap::ball::{PerOutput, Problem, Settings, trace};
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

/// [`train`] for any map from X to the predictions.
pub fn train_map<M: Map, L: Losses>(
    problem: &LowRankProblem<M, L>,
    settings: &Settings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Solution<LowRank>>> {
    train_map_from(problem, settings, None, budget, observer, None)
}

/// [`train_map`] that resumes from a checkpoint, if one is given, and writes checkpoints to the sink. The baselines
/// have no checkpoints.
///
/// ```
/// use dualgap::ball::trace::{LowRankProblem, Sampled, train_map, train_map_from};
/// use dualgap::ball::{PerOutput, Settings};
/// use dualgap::run::{Budget, InMemory};
/// use dualgap::term::ScalarLoss;
/// let map = Sampled::new(2, 2, vec![(0, 0), (0, 1), (1, 0)])?;
/// let losses = PerOutput::new(ScalarLoss::Squared, vec![2.0, 1.0, -1.0], 1)?;
/// let problem = LowRankProblem::new(map, losses, 0.1, 1.5, None)?;
/// let (settings, mut memory) = (Settings::default(), InMemory::default());
/// train_map_from(&problem, &settings, None, &Budget::passes(4), &mut (), Some(&mut memory))?;
/// let more = train_map_from(&problem, &settings, memory.last, &Budget::passes(9), &mut (), None)?;
/// let whole = train_map(&problem, &settings, &Budget::passes(9), &mut ())?;
/// assert_eq!(more.model, whole.model);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn train_map_from<M: Map, L: Losses>(
    problem: &LowRankProblem<M, L>,
    settings: &Settings,
    from: Option<Checkpoint>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<LowRank>>> {
    settings.check_resumable(from.is_some() || sink.is_some())?;
    if settings.method != Method::Pdbfw {
        return baselines::train(problem, settings, budget, observer);
    }
    match settings.steps {
        Steps::Search => match blocks::block_size(problem) {
            Some(size) => {
                let moves =
                    handover::Handover::new(blocks::Blocks::new(problem, size, settings.seed)?);
                run_solver_from(problem, moves, from, budget, observer, sink)
            }
            None => {
                run_solver_from(problem, ascent::Ascent::new(problem), from, budget, observer, sink)
            }
        },
        Steps::Theorem(constants) => {
            let moves = theorem::Theorem::new(problem, constants)?;
            run_solver_from(problem, moves, from, budget, observer, sink)
        }
    }
}
