//! The settings of a run.

use crate::dual::Sampling;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Which blocks a step moves along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubgradientMethod {
    /// One block a step: Pegasos.
    #[default]
    Stochastic,
    /// All blocks a step.
    Batch,
}

/// Which average of the iterates is certified besides the last iterate. With w⁽ᵗ⁾ the iterate after t steps of the run, and
/// k the number of steps,
///
/// ```text
/// uniform       mean of w⁽ᵗ⁾ for 1 ≤ t ≤ k                       SSG-avg
/// weighted      2/(k(k+1)) Σ t·w⁽ᵗ⁾                               SSG-wavg
/// suffix of f   mean of w⁽ᵗ⁾ for the last share f of the steps
/// doubling      mean of w⁽ᵗ⁾ for 2ʳ ≤ t ≤ k < 2ʳ⁺¹                SSG-tavg
/// ```
///
/// The suffix of a fraction can begin only at steps whose sums were stored, and these are an eighth of their number apart:
/// it begins at the last of them that is not later than `⌈(1 − f)k⌉`. The doubling average needs no stored sums; it covers at
/// most the last half of the steps, and after a power of two only a few.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SubgradientAverage {
    /// No average: the last iterate alone.
    #[default]
    None,
    /// All iterates, with the same weight.
    Uniform,
    /// Weight t on iterate t.
    Weighted,
    /// The last iterates, with the same weight.
    Suffix {
        /// Their share of all iterates, above 0 and up to 1.
        fraction: f64,
    },
    /// The iterates since the last step whose number is a power of two, with the same weight.
    Doubling,
}

impl SubgradientAverage {
    /// Returns an error if the fraction of a suffix is out of its range.
    pub fn check(self) -> Result<Self> {
        match self {
            Self::Suffix { fraction } if !(fraction > 0.0 && fraction <= 1.0) => {
                Err(Error::setting(format!(
                    "a suffix has a share of the iterates above 0 and up to 1, not {fraction}"
                )))
            }
            average => Ok(average),
        }
    }
}

/// The settings of a run. The defaults are the method as the papers compare with it; a weighted average comes to a small gap
/// much sooner.
///
/// ```
/// use dualgap::methods::subgradient::{SubgradientAverage, SubgradientMethod, SubgradientSettings};
/// let settings = SubgradientSettings { average: SubgradientAverage::Suffix { fraction: 0.5 }, ..SubgradientSettings::default() };
/// assert_eq!(settings.method, SubgradientMethod::Stochastic);
/// assert!(settings.check().is_ok());
/// let nothing = SubgradientSettings { average: SubgradientAverage::Suffix { fraction: 0.0 }, ..settings };
/// assert!(nothing.check().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SubgradientSettings {
    /// One block a step, or all.
    pub method: SubgradientMethod,
    /// Which average of the iterates is certified besides the last iterate.
    pub average: SubgradientAverage,
    /// The order of the blocks: permuted, uniform or cyclic.
    pub sampling: Sampling,
    /// The seed of the random order.
    pub seed: u64,
    /// The number of threads; zero stands for all cores. The result does not depend on it.
    #[serde(skip)]
    pub threads: usize,
}

impl SubgradientSettings {
    /// Returns an error if a setting is out of its range.
    pub fn check(&self) -> Result<()> {
        self.average.check()?;
        match self.sampling {
            Sampling::Permuted | Sampling::Uniform | Sampling::Cyclic | Sampling::Chunked => Ok(()),
            Sampling::Importance | Sampling::Gap => Err(Error::setting(
                "subgradient steps visit all blocks equally often: permuted, uniform or cyclic",
            )),
        }
    }
}
