//! The settings of a run of exponentiated gradient.

use crate::dual::Sampling;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The settings of exponentiated gradient. The defaults are those of appendix F of the BCFW paper.
///
/// ```
/// # use dualgap::methods::exponentiated_gradient::GradientSettings;
/// assert_eq!(GradientSettings::default().step, 0.5);
/// assert!(GradientSettings { step: 0.0, ..GradientSettings::default() }.check().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GradientSettings {
    /// η, the step size with which every block begins.
    pub step: f64,
    /// The order of the blocks: permuted, uniform or cyclic.
    pub sampling: Sampling,
    /// The seed of the random order.
    pub seed: u64,
    /// The number of threads of a certification; zero stands for all cores. Steps go one after the other, and the result
    /// does not depend on it.
    #[serde(skip)]
    pub threads: usize,
}

impl Default for GradientSettings {
    fn default() -> Self {
        Self { step: 0.5, sampling: Sampling::Permuted, seed: 0, threads: 0 }
    }
}

impl GradientSettings {
    /// Returns an error for a step size or an order that the method does not have.
    pub fn check(&self) -> Result<()> {
        if !(self.step > 0.0 && self.step.is_finite()) {
            return Err(Error::setting(format!(
                "the first step of exponentiated gradient must be a positive number, not {}",
                self.step
            )));
        }
        match self.sampling {
            Sampling::Permuted | Sampling::Uniform | Sampling::Cyclic | Sampling::Chunked => Ok(()),
            Sampling::Importance | Sampling::Gap => Err(Error::setting(
                "exponentiated gradient visits its blocks in permuted, uniform or cyclic order",
            )),
        }
    }
}
