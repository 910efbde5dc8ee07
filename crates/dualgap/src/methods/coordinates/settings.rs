//! The settings of a run.

use serde::{Deserialize, Serialize};

/// The settings of coordinate descent; the penalty and the sample weights belong to the problem.
///
/// ```
/// # use dualgap::methods::coordinates::CoordinateSettings;
/// assert_eq!(CoordinateSettings::default().threads, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CoordinateSettings {
    /// The number of threads of a certification; zero stands for all cores. The result does not depend on it.
    #[serde(skip)]
    pub threads: usize,
}
