//! A regulariser in the user's units, as settings and model files have it.

use super::{ElasticNet, Free};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// What is added to `λ/2‖w‖²`, and which weight it leaves alone.
///
/// ```
/// # use dualgap::term::Regulariser;
/// let lasso = Regulariser { l1: 0.1, ..Regulariser::default() };
/// assert!(!lasso.is_plain());
/// assert_eq!(lasso.link(0.5)?.threshold, 0.2);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Regulariser {
    /// σ, in `… + σ‖w‖₁`.
    #[serde(default)]
    pub l1: f64,
    /// Whether weights must not be negative.
    #[serde(default)]
    pub nonnegative: bool,
    /// The weight that is not penalised, and may be negative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free: Option<Free>,
}

impl Regulariser {
    /// Whether nothing is added to the square for any weight that is penalised.
    pub fn is_plain(self) -> bool {
        self.l1 == 0.0 && !self.nonnegative
    }

    /// The link at this λ, or what is wrong with it.
    pub fn link(self, lambda: f64) -> Result<ElasticNet> {
        let threshold = self.l1 / lambda;
        if !(self.l1 >= 0.0 && threshold.is_finite()) {
            return Err(Error::setting(format!(
                "the l1 regularisation must be a number that is not negative, not {}",
                self.l1
            )));
        }
        let free = self.free.map(|free| free.column);
        Ok(ElasticNet { threshold, nonnegative: self.nonnegative, free })
    }

    /// The free weight must be one of these, and its bound a number.
    pub(crate) fn check(self, weights: usize) -> Result<()> {
        match self.free {
            Some(Free { column, .. }) if column >= weights => Err(Error::setting(format!(
                "weight {column} is to be free, and there are {weights}"
            ))),
            Some(Free { bound, .. }) if !(bound >= 0.0 && bound.is_finite()) => {
                Err(Error::setting(format!("a free weight has a bound, and it is {bound}")))
            }
            _ => Ok(()),
        }
    }
}
