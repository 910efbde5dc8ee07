//! Online exponentiated gradient.

use serde::{Deserialize, Serialize};

/// The settings of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The seed of the random order.
    pub seed: u64,
    /// The number of threads; zero stands for all cores. The result does not depend on it.
    #[serde(skip)]
    pub threads: usize,
}
