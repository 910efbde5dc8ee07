//! The settings of cutting planes.

use serde::{Deserialize, Serialize};

/// How many slack variables the problem has in its form as a quadratic program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slacks {
    /// One for all examples: a plane is a mean over all of them. With the penalty inside the master problem this is BMRM,
    /// the bundle method for regularised risk minimisation.
    #[default]
    One,
    /// One for each example, which has planes of its own.
    Each,
}

/// The settings of cutting planes; λ and the sample weights belong to the problem.
///
/// ```
/// use dualgap::methods::cutting_plane::{CuttingPlaneSettings, Slacks};
/// let settings = CuttingPlaneSettings { slacks: Slacks::Each, ..CuttingPlaneSettings::default() };
/// assert_eq!((settings.seed, settings.threads), (0, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CuttingPlaneSettings {
    /// One slack variable, or one for each example.
    #[serde(default)]
    pub slacks: Slacks,
    /// The seed of the random order of the examples, where each has a slack variable.
    #[serde(default)]
    pub seed: u64,
    /// The number of threads; zero stands for all cores. The result does not depend on it.
    #[serde(skip)]
    pub threads: usize,
}
