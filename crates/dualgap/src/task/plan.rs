//! How to fit a model: the method, the budget, and the options of a run.

use super::checkpoint::Checkpoints;
use super::{Method, Model};
use crate::run::{Budget, Checkpoint, CheckpointSink, Observer};
use crate::structure::Structure;
use std::path::Path;

/// How to fit a model. Only the budget has no default; the rest is added by struct update.
///
/// ```
/// use dualgap::run::{Budget, InMemory};
/// use dualgap::structure::Multiclass;
/// use dualgap::task::{DualMethod, Keep, Plan};
///
/// let mut memory = InMemory::default();
/// let plan: Plan<'_, Multiclass> = Plan {
///     method: DualMethod { batch: 8, ..DualMethod::default() }.into(),
///     threads: 2,
///     checkpoints: Some(Keep::Sink(&mut memory)),
///     ..Plan::new(Budget::relative(0.01))
/// };
/// fn is_send<T: Send>(_: T) {}
/// is_send(plan);
/// ```
pub struct Plan<'a, S: Structure> {
    /// The solver and its settings.
    pub method: Method,
    /// When to stop.
    pub budget: Budget,
    /// The number of threads; zero stands for all cores. The result does not depend on it. In a ball all steps follow each
    /// other on one thread, whatever the number.
    pub threads: usize,
    /// The observer that receives the progress of the run.
    pub observer: Option<&'a mut dyn Observer>,
    /// Test data whose error ([`Evaluation::error`](crate::structure::Evaluation::error)) the observer receives with every
    /// certification.
    pub watch: Option<&'a S::Data>,
    /// Where checkpoints go.
    pub checkpoints: Option<Keep<'a>>,
    /// A checkpoint to resume from.
    pub resume: Option<Resume<'a>>,
    /// A model whose witness the run starts from. It may have been trained on the same data or on more or fewer
    /// examples, under any λ.
    pub warm_start: Option<&'a Model<S>>,
}

/// Where the checkpoints of a run go.
#[non_exhaustive]
pub enum Keep<'a> {
    /// To a file, which is locked while the run goes on.
    File(Checkpoints),
    /// To a sink of the caller's.
    Sink(&'a mut dyn CheckpointSink),
}

/// Where a run that resumes comes from.
#[non_exhaustive]
pub enum Resume<'a> {
    /// From a file that [`Keep::File`] has written. It must be of the same run.
    File(&'a Path),
    /// From a checkpoint that [`Keep::Sink`] has received. That it is of the same run is the caller's word.
    Checkpoint(Checkpoint),
}

impl<S: Structure> Plan<'_, S> {
    /// Plans a run by the default method from the default start, without test data or checkpoints.
    pub fn new(budget: Budget) -> Self {
        Self {
            method: Method::Auto,
            budget,
            threads: 0,
            observer: None,
            watch: None,
            checkpoints: None,
            resume: None,
            warm_start: None,
        }
    }
}
