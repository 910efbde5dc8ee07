//! Subgradient methods.

use crate::dual::{Begin, Sampling, Solution, Witnessed};
use crate::run::{Budget, CheckpointSink, Observer, Report};
use crate::term::Regulariser;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// How many blocks a step moves by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// One: the stochastic subgradient method.
    #[default]
    Stochastic,
    /// All: the batch subgradient method.
    Batch,
}

/// Which average of the iterates is returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum Average {
    /// None: the last iterate.
    #[default]
    None,
    /// Of all iterates alike.
    Uniform,
    /// With weight t on iterate t.
    Weighted,
    /// Of the last iterates, this fraction of all of them.
    Suffix {
        /// The fraction, above 0 and at most 1.
        fraction: f64,
    },
    /// Of the iterates since the last step that was a power of two.
    Doubling,
}

/// The settings of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// One block a step, or all.
    pub method: Method,
    /// Which average of the iterates is returned.
    pub average: Average,
    /// The order of the blocks.
    pub sampling: Sampling,
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
