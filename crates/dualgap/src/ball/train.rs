//! Runs in either ball, from the start or from a checkpoint.

use super::solver::Session;
use super::{BallSettings, Solution, Weights};
use crate::Result;
use crate::run::{Budget, Checkpoint, CheckpointSink, Observer, Report};

/// A problem in a ball that can be solved: [`BallProblem`](super::BallProblem) with the data of either ball.
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

/// Trains in a ball: in the l1 ball if the data are a [`BallTable`](super::BallTable), in the trace ball if they are a [`trace::Map`](super::trace::Map).
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
