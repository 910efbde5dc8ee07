//! A regulariser in the user's units, as settings and model files store it.

use super::{ElasticNet, Free, QNorm};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The terms in addition to `λ/2‖w‖²`, and the weight that is not penalised.
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
    /// Whether weights must be nonnegative.
    #[serde(default)]
    pub nonnegative: bool,
    /// The weight that is not penalised, and may be negative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free: Option<Free>,
    /// Whether a multiple of `½‖w‖_q²` replaces `½‖w‖²`: [`QNorm`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub q_norm: bool,
}

impl Regulariser {
    /// The squared norm alone.
    pub const PLAIN: Self = Self { l1: 0.0, nonnegative: false, free: None, q_norm: false };

    /// Whether the penalty is the squared norm alone, for every penalised weight.
    pub fn is_plain(self) -> bool {
        self.l1 == 0.0 && !self.nonnegative && !self.q_norm
    }

    /// Returns the link of the q-norm at this λ for this number of weights, or an error if the settings do not allow
    /// it.
    pub fn q_norm(self, lambda: f64, weights: usize) -> Result<QNorm> {
        if self.nonnegative || self.free.is_some() {
            return Err(Error::setting(
                "the q-norm goes with the l1 norm, but not with nonnegative or free weights",
            ));
        }
        QNorm::new(weights, self.link(lambda)?.threshold)
    }

    /// Returns the link at this λ, or an error if σ is negative or σ/λ is not finite.
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

    /// Returns an error if the free weight does not exist, or its bound is negative or not finite.
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
