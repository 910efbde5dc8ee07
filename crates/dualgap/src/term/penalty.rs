//! Penalties: the part of an objective that does not depend on the data.
//!
//! ```text
//! ridge    λ/2‖w‖² + σ‖w‖₁
//! lasso    σ‖w‖₁
//! q-norm   λ·(c/2)‖w‖_q² + σ‖w‖₁              c and q from the number of weights: `QNorm`
//! ball     μ/2‖w‖²      for ‖w‖ ≤ r            in the l1 norm or the trace norm, or for w in a simplex
//! ```

use super::{Ball, Free, Regulariser};
use crate::{Error, Result, Setting};
use serde::{Deserialize, Serialize};

/// What an objective has beside the mean loss; see the module's head.
///
/// ```
/// # use dualgap::term::Penalty;
/// let penalty = Penalty::elastic_net(0.1, 0.01);
/// assert_eq!((penalty.lambda(), penalty.at_lambda(2.0)?.lambda()), (Some(0.1), Some(2.0)));
/// assert_eq!(Penalty::lasso(0.01).lambda(), None); // it has no λ
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Penalty {
    /// `λ/2‖w‖² + σ‖w‖₁`.
    Ridge {
        /// λ, which is positive.
        lambda: f64,
        /// σ.
        #[serde(default)]
        l1: f64,
        /// Whether weights must be nonnegative.
        #[serde(default)]
        nonnegative: bool,
        /// The weight that is not penalised, and may be negative.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        free: Option<Free>,
    },
    /// `σ‖w‖₁` alone: sparse weights.
    Lasso {
        /// σ, which is positive.
        sigma: f64,
        /// Whether weights must be nonnegative.
        #[serde(default)]
        nonnegative: bool,
        /// The weight that is not penalised, and may be negative.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        free: Option<Free>,
    },
    /// A multiple of `½‖w‖_q²` in the place of `½‖w‖²`: [`QNorm`](super::QNorm).
    QNorm {
        /// λ, which is positive.
        lambda: f64,
        /// σ.
        #[serde(default)]
        l1: f64,
    },
    /// `μ/2‖w‖²`, for weights in a norm ball.
    Ball {
        /// The ball and its radius.
        ball: Ball,
        /// μ, which may be zero.
        mu: f64,
    },
}

impl Penalty {
    /// Returns `λ/2‖w‖²`.
    pub fn ridge(lambda: f64) -> Self {
        Self::elastic_net(lambda, 0.0)
    }

    /// Returns `λ/2‖w‖² + σ‖w‖₁`.
    pub fn elastic_net(lambda: f64, sigma: f64) -> Self {
        Self::Ridge { lambda, l1: sigma, nonnegative: false, free: None }
    }

    /// Returns `σ‖w‖₁`.
    pub fn lasso(sigma: f64) -> Self {
        Self::Lasso { sigma, nonnegative: false, free: None }
    }

    /// Returns `μ/2‖w‖²` in the l1 ball of this radius.
    pub fn l1_ball(radius: f64, mu: f64) -> Self {
        Self::Ball { ball: Ball::L1 { radius }, mu }
    }

    /// Returns `μ/2‖w‖²` in the simplex of nonnegative weights that add up to this radius.
    pub fn simplex(radius: f64, mu: f64) -> Self {
        Self::Ball { ball: Ball::Simplex { radius }, mu }
    }

    /// Returns `μ/2‖W‖²` in the trace ball of this radius: weights of low rank.
    pub fn trace_ball(radius: f64, mu: f64) -> Self {
        Self::Ball { ball: Ball::Trace { radius }, mu }
    }

    /// Returns λ, or `None` for a penalty without one.
    pub fn lambda(self) -> Option<f64> {
        match self {
            Self::Ridge { lambda, .. } | Self::QNorm { lambda, .. } => Some(lambda),
            Self::Lasso { .. } | Self::Ball { .. } => None,
        }
    }

    /// Returns the same penalty with another λ, or an error for a penalty without one.
    pub fn at_lambda(self, lambda: f64) -> Result<Self> {
        match self {
            Self::Ridge { l1, nonnegative, free, .. } => {
                Ok(Self::Ridge { lambda, l1, nonnegative, free })
            }
            Self::QNorm { l1, .. } => Ok(Self::QNorm { lambda, l1 }),
            Self::Lasso { .. } => Err(Error::setting("a pure l1 penalty has no lambda")),
            Self::Ball { .. } => {
                Err(Error::setting("weights in a ball have a radius and mu, and no lambda"))
            }
        }
    }

    /// Returns the ball that constrains the weights, if one does.
    pub fn ball(self) -> Option<Ball> {
        match self {
            Self::Ball { ball, .. } => Some(ball),
            _ => None,
        }
    }

    /// Whether the weights are a matrix of low rank, which is stored as factors.
    pub fn is_low_rank(self) -> bool {
        matches!(self, Self::Ball { ball: Ball::Trace { .. }, .. })
    }

    /// Returns the weight that is not penalised, if there is one.
    pub fn free(self) -> Option<Free> {
        match self {
            Self::Ridge { free, .. } | Self::Lasso { free, .. } => free,
            Self::QNorm { .. } | Self::Ball { .. } => None,
        }
    }

    /// Returns the penalty with this weight free of it, or an error for a penalty that has no such weight.
    pub fn with_free(self, free: Free) -> Result<Self> {
        let free = Some(free);
        match self {
            Self::Ridge { lambda, l1, nonnegative, .. } => {
                Ok(Self::Ridge { lambda, l1, nonnegative, free })
            }
            Self::Lasso { sigma, nonnegative, .. } => Ok(Self::Lasso { sigma, nonnegative, free }),
            Self::QNorm { .. } => Err(Error::setting(
                "the q-norm goes with the l1 norm, but not with nonnegative or free weights",
            )),
            Self::Ball { .. } => Err(Error::setting(format!(
                "an intercept without penalty does not go with a ball: {}=penalised counts it in the ball like any other weight",
                Setting::Intercept
            ))),
        }
    }

    /// Returns the λ and the other terms that the engine works with. For the lasso its λ is zero: the engine never
    /// sees it. Balls have solvers of their own, and return `None`.
    pub(crate) fn regulariser(self) -> Option<(f64, Regulariser)> {
        match self {
            Self::Ridge { lambda, l1, nonnegative, free } => {
                Some((lambda, Regulariser { l1, nonnegative, free, q_norm: false }))
            }
            Self::Lasso { sigma, nonnegative, free } => {
                Some((0.0, Regulariser { l1: sigma, nonnegative, free, q_norm: false }))
            }
            Self::QNorm { lambda, l1 } => {
                Some((lambda, Regulariser { l1, q_norm: true, ..Regulariser::PLAIN }))
            }
            Self::Ball { .. } => None,
        }
    }

    /// Returns an error if a number of the penalty is out of its range.
    pub fn check(self) -> Result<()> {
        let refused = |name: &str, what: &str, x: f64| {
            Err(Error::setting(format!("{name} must be {what}, not {x}")))
        };
        let positive = |name: &str, x: f64| {
            if x > 0.0 && x.is_finite() { Ok(()) } else { refused(name, "a positive number", x) }
        };
        let not_negative = |name: &str, x: f64| {
            let fits = x >= 0.0 && x.is_finite();
            if fits { Ok(()) } else { refused(name, "a number that is not negative", x) }
        };
        match self {
            Self::QNorm { lambda: 0.0, .. } => {
                Err(Error::setting("the q-norm needs a lambda; without one the l1 norm is alone"))
            }
            Self::Ridge { lambda: 0.0, .. } => Err(Error::setting(format!(
                "lambda must be a positive number, not 0: give {0} another value; {0} 0 is the l1 norm alone, and needs {1}",
                Setting::Lambda,
                Setting::L1
            ))),
            Self::Ridge { lambda, l1, .. } | Self::QNorm { lambda, l1 } => {
                positive("lambda", lambda)?;
                not_negative("the l1 regularisation", l1)
            }
            Self::Lasso { sigma, .. } => positive("the l1 regularisation", sigma),
            Self::Ball { ball, mu } => {
                ball.check()?;
                not_negative("mu", mu)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_penalty_without_lambda_takes_none() {
        assert!(Penalty::lasso(1.0).at_lambda(0.5).is_err());
        assert!(Penalty::l1_ball(1.0, 0.1).at_lambda(0.5).is_err());
        let q_norm = Penalty::QNorm { lambda: 1.0, l1: 0.25 };
        assert_eq!(q_norm.at_lambda(0.5).unwrap(), Penalty::QNorm { lambda: 0.5, l1: 0.25 });
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            for penalty in [Penalty::ridge(bad), Penalty::lasso(bad), Penalty::l1_ball(bad, 0.0)] {
                assert!(penalty.check().is_err(), "{penalty:?}");
            }
        }
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(Penalty::elastic_net(1.0, bad).check().is_err(), "{bad}");
            assert!(Penalty::trace_ball(1.0, bad).check().is_err(), "{bad}");
        }
        assert!(Penalty::trace_ball(1.0, 0.0).check().is_ok());
    }

    #[test]
    fn a_penalty_is_read_as_it_was_written() {
        let free = Some(Free { column: 3, bound: 1e5 });
        for penalty in [
            Penalty::Ridge { lambda: 0.1, l1: 0.3, nonnegative: true, free },
            Penalty::Lasso { sigma: 0.2, nonnegative: false, free: None },
            Penalty::QNorm { lambda: 0.7, l1: 0.0 },
            Penalty::trace_ball(2.0, 1e-3),
            Penalty::simplex(1.0, 0.0),
        ] {
            let text = serde_json::to_string(&penalty).unwrap();
            assert_eq!(serde_json::from_str::<Penalty>(&text).unwrap(), penalty, "{text}");
        }
    }
}
