//! Linear models in a norm ball by primal-dual block Frank-Wolfe.
//!
//! ```text
//! P(X) = Σ m_i f_i(X'a_i) + μ/2‖X‖²      for ‖X‖ ≤ r in the l1 or the trace norm, X of d features and c outputs
//! ```
//!
//! - [`losses`]: one trait for losses of one output, of several, and of classes.
//! - [`problem`]: rows, losses, μ and the ball together, and the primal and dual values of a certificate.
//! - [`best_pair`]: the best weights and the best dual point of a run.
//! - [`settings`]: the settings of a run.
//! - [`ascent`], `visit`, `shrinking`, `soft_threshold`, `centre`: the default method, which has nothing to tune.
//! - `handover`, `handover_policy`: the switch to gradients of all examples when the gap of the ascent stalls.
//! - [`theorem`]: Algorithm 1 with constant steps.
//! - [`baselines`]: other methods for the same problems.
//! - [`trace`]: weights of low rank, in factors.

pub mod ascent;
pub mod baselines;
pub mod best_pair;
mod centre;
mod handover;
mod handover_policy;
pub mod losses;
pub mod problem;
pub mod settings;
mod shrinking;
mod soft_threshold;
pub mod theorem;
pub mod trace;
mod visit;

pub use ascent::Ascent;
pub use best_pair::{BestPair, Solution};
pub use losses::{Classes, Losses, PerOutput};
pub use problem::{DualValue, MeanDual, Problem};
pub use settings::{Constants, Method, Settings, Steps};
pub use theorem::Theorem;

use crate::linalg::memory::Need;
use crate::run::{Budget, Checkpoint, CheckpointSink, Counters, Observer, Report, run, run_from};
use crate::term::Ball;
use crate::{Error, Result};
use handover::Handover;
use serde::{Deserialize, Serialize};

/// Counts of work beyond the number of steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touched {
    /// Entries of A that steps read or used.
    pub entries: u64,
    /// Numbers of V and X that selections and projections read.
    pub selected: u64,
}

impl Touched {
    fn add(&mut self, entries: usize, selected: usize) {
        self.entries = self.entries.saturating_add(entries as u64);
        self.selected = self.selected.saturating_add(selected as u64);
    }

    fn describe(self) -> String {
        let Self { entries, selected } = self;
        format!("{entries} entries of the data touched, {selected} numbers looked at to project")
    }

    fn counters(self) -> Counters {
        [("entries_touched", self.entries), ("numbers_selected", self.selected)].into()
    }
}

/// Trains in the l1 ball.
///
/// ```
/// use dualgap::linalg::Rows;
/// use dualgap::ball::{self, PerOutput, Problem, Settings};
/// use dualgap::run::Budget;
/// use dualgap::term::{Ball, ScalarLoss};
/// let rows = Rows::dense(&[vec![1.0, 0.2], vec![0.8, 0.1], vec![-1.0, 0.3]])?;
/// let losses = PerOutput::new(ScalarLoss::Logistic, vec![1.0, 1.0, -1.0], 1)?;
/// let problem = Problem::new(&rows, losses, 0.1, Ball::L1 { radius: 1.0 }, None)?;
/// let report = ball::train(&problem, &Settings::default(), &Budget::relative(1e-9), &mut ())?;
/// assert!(report.certificate.relative_gap() <= 1e-9);
/// assert!(report.model.weights[0] > 0.9 && report.model.weights[1] == 0.0);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn train<L: Losses>(
    problem: &Problem<'_, L>,
    settings: &Settings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Solution>> {
    train_from(problem, settings, None, budget, observer, None)
}

/// [`train`] that resumes from a checkpoint, if one is given, and writes checkpoints to the sink. The baselines have no
/// checkpoints.
pub fn train_from<L: Losses>(
    problem: &Problem<'_, L>,
    settings: &Settings,
    from: Option<Checkpoint>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution>> {
    if matches!(problem.ball(), Ball::Trace { .. }) {
        return Err(Error::setting("weights of low rank are no plain vector: use trace::train"));
    }
    settings.check_resumable(from.is_some() || sink.is_some())?;
    let copies = settings.copies() + if sink.is_some() { 3 } else { 0 };
    let others = 4 * problem.len().saturating_mul(problem.outputs());
    Need { weights: problem.dim(), copies, others }.check()?;
    let begin = from.as_ref().map(|from| from.run.clone()).unwrap_or_default();
    let seed = settings.seed;
    match settings.method {
        Method::Pdbfw => match settings.steps {
            Steps::Search => {
                let mut solver = Handover::new(Ascent::new(problem, seed)?);
                if let Some(from) = from {
                    solver.resume(from.state()?)?;
                }
                run_from(solver, begin, budget, observer, sink)
            }
            Steps::Theorem(constants) => {
                let mut solver = Theorem::new(problem, constants)?;
                if let Some(from) = from {
                    solver.resume(from.state()?)?;
                }
                run_from(solver, begin, budget, observer, sink)
            }
        },
        Method::ProjectedGradient => {
            run(baselines::projected_gradient(problem, seed)?, budget, observer)
        }
        Method::FrankWolfe => run(baselines::frank_wolfe(problem, seed)?, budget, observer),
        Method::AwaySteps => run(baselines::away_steps(problem, seed)?, budget, observer),
        Method::Pairwise => run(baselines::pairwise(problem, seed)?, budget, observer),
        Method::Svrg => run(baselines::svrg(problem, seed)?, budget, observer),
        Method::Scgs => run(baselines::scgs(problem, seed)?, budget, observer),
        Method::Storc => run(baselines::storc(problem, seed)?, budget, observer),
        Method::BlockFrankWolfe | Method::StochasticFrankWolfe => {
            Err(Error::setting("this method is for the trace ball"))
        }
    }
}
