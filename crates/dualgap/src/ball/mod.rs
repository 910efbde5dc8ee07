//! Linear models in a norm ball by primal-dual block Frank-Wolfe.
//!
//! ```text
//! P(X) = Σ m_i f_i(X'a_i) + μ/2‖X‖²      for ‖X‖ ≤ r in the l1 or the trace norm, or X in the simplex of size r,
//!                                        X of d features and c outputs
//! ```
//!
//! [`train`] solves a [`BallProblem`]. [`BallTable`] and the maps of [`trace`] are its data; [`Losses`], [`SmoothTerm`] and
//! [`trace::Map`] can be one's own.
//!
//! - `losses`: one trait for losses of one output, of several, and of classes.
//! - `weights`: the two forms of X, a plain vector in the l1 ball and factors in the trace ball.
//! - `problem`: data, losses, μ and the radius together, and the values of a certificate.
//! - `own_term`: a smooth g of a user's own in the place of μ/2‖X‖², for plain vectors.
//! - `settings`: the settings of a run.
//! - `solver`: the solver around every method, which certifies and has checkpoints.
//! - `handover`: the switch to gradients of all examples when the gap of the ascent stalls.
//! - `theorem`: what the paper's algorithms with constant steps have in either ball.
//! - `centre`, `shrinking`: what the ascent has in either ball. `schedule`: the constants of sliding in either ball.
//! - `l1`, [`trace`]: the data and the steps of each ball: the default method, which has nothing to tune, the paper's
//!   algorithm with constant steps, and baselines.

mod centre;
mod handover;
mod l1;
mod losses;
mod own_term;
mod problem;
#[cfg(test)]
mod reference;
mod schedule;
mod settings;
mod shrinking;
mod solver;
mod theorem;
#[cfg(feature = "low-rank")]
pub mod trace;
mod weights;

pub use l1::{Atoms, BallDual, BallTable, MeanDual};
pub use losses::{ClassLosses, Losses, PerOutput};
pub use own_term::SmoothTerm;
pub use problem::{BallProblem, Design};
pub use settings::{BallMethod, BallSettings, TheoremConstants};
use solver::Session;
pub use weights::Weights;

use crate::Result;
use crate::run::{self, Budget, Checkpoint, CheckpointSink, Counters, Observer, Report};
use serde::{Deserialize, Serialize};

/// The result of a run: X, feature by feature, c numbers for each, or in factors; it is proved to be in the ball. α,
/// example by example, c numbers for each, is the witness of the dual value.
pub(crate) type Solution<W = Vec<f64>> = run::Solution<f64, W>;

/// Counts of work beyond the number of steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Touched {
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

/// A problem in a ball that can be solved: [`BallProblem`] with the data of either ball.
pub trait Train {
    /// The form of the weights.
    type Weights: Weights;

    /// Trains; [`train`] and [`train_from`] call it.
    fn train_in(
        &self,
        settings: &BallSettings,
        session: Session<'_, '_>,
    ) -> Result<Report<Solution<Self::Weights>>>;
}

/// Trains in a ball: in the l1 ball if the data are a [`BallTable`], in the trace ball if they are a [`trace::Map`].
///
/// ```
/// use dualgap::linalg::Rows;
/// use dualgap::ball::{BallMethod, BallProblem, BallSettings, PerOutput, self};
/// use dualgap::run::Budget;
/// use dualgap::term::ScalarLoss;
/// let rows = Rows::dense(&[vec![1.0, 0.2], vec![0.8, 0.1], vec![-1.0, 0.3]])?;
/// let losses = PerOutput::new(ScalarLoss::Logistic, vec![1.0, 1.0, -1.0], 1)?;
/// let problem = BallProblem::l1(&rows, losses, 0.1, 1.0, None)?;
/// let report = ball::train(&problem, &BallSettings::default(), &Budget::relative(1e-9), &mut ())?;
/// assert!(report.certificate.relative_gap() <= 1e-9);
/// assert!(report.model.weights[0] > 0.9 && report.model.weights[1] == 0.0);
/// for method in BallMethod::BASELINES {
///     let settings = BallSettings { method, ..BallSettings::default() };
///     let report = ball::train(&problem, &settings, &Budget::relative(1e-3), &mut ())?;
///     assert!(report.model.weights[0] > 0.9, "{method:?}");
/// }
/// let losses = PerOutput::new(ScalarLoss::Squared, vec![1.0, 2.0, 0.5, 1.0, -1.0, -2.0], 2)?;
/// let problem = BallProblem::trace(&rows, losses, 0.1, 1.0, None)?;
/// let report = ball::train(&problem, &BallSettings::default(), &Budget::relative(1e-9), &mut ())?;
/// assert!(report.certificate.relative_gap() <= 1e-9);
/// assert_eq!(report.model.weights.rank(), 1);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn train<P: Train>(
    problem: &P,
    settings: &BallSettings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Solution<P::Weights>>> {
    train_from(problem, settings, None, budget, observer, None)
}

/// [`train`] that resumes from a checkpoint, if one is given, and writes checkpoints to the sink. The baselines have no
/// checkpoints.
///
/// ```
/// use dualgap::ball::trace::Sampled;
/// use dualgap::ball::{BallProblem, BallSettings, PerOutput, train, train_from};
/// use dualgap::run::{Budget, InMemory};
/// use dualgap::term::ScalarLoss;
/// let map = Sampled::new(2, 2, vec![(0, 0), (0, 1), (1, 0)])?;
/// let losses = PerOutput::new(ScalarLoss::Squared, vec![2.0, 1.0, -1.0], 1)?;
/// let problem = BallProblem::new(map, losses, 0.1, 1.5, None)?;
/// let (settings, mut memory) = (BallSettings::default(), InMemory::default());
/// train_from(&problem, &settings, None, &Budget::passes(4), &mut (), Some(&mut memory))?;
/// let more = train_from(&problem, &settings, memory.last, &Budget::passes(9), &mut (), None)?;
/// let whole = train(&problem, &settings, &Budget::passes(9), &mut ())?;
/// assert_eq!(more.model, whole.model);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn train_from<P: Train>(
    problem: &P,
    settings: &BallSettings,
    from: Option<Checkpoint>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<P::Weights>>> {
    settings.check_resumable(from.is_some() || sink.is_some())?;
    problem.train_in(settings, Session { from, budget, observer, sink })
}
