//! Cutting planes.

use crate::dual::{Begin, Solution, Witnessed};
use crate::run::{Budget, CheckpointSink, Observer, Report};
use crate::term::Regulariser;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// What a plane is a bound of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slacks {
    /// The mean of all losses: one slack variable, and a plane a pass. This is the bundle method BMRM.
    #[default]
    One,
    /// The loss of one block: n slack variables.
    Each,
}

/// The settings of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// What a plane is a bound of.
    pub slacks: Slacks,
    /// The seed of the random order.
    pub seed: u64,
    /// The number of threads; zero stands for all cores. The result does not depend on it.
    #[serde(skip)]
    pub threads: usize,
}

/// Trains from any beginning; checkpoints go to the sink.
#[expect(clippy::too_many_arguments, reason = "stub")]
pub fn train_from<B: Witnessed>(
    _blocks: &B,
    _lambda: f64,
    _regulariser: Regulariser,
    _sample_weights: Option<&[f64]>,
    _settings: &Settings,
    _begin: Begin<B::Point>,
    _budget: &Budget,
    _observer: &mut dyn Observer,
    _sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<B::Point>>> {
    Err(Error::setting("this method is not there yet"))
}
