//! The losses of the library as one type.

use super::{EpsilonInsensitive, Hinge, Huber, Logistic, Loss, Squared, SquaredHinge};
use crate::linalg::Measured;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The losses of the library, in a form that a model file can store.
///
/// ```
/// # use dualgap::term::{Loss, ScalarLoss};
/// let loss = ScalarLoss::SmoothHinge { width: 1.0 };
/// assert_eq!(loss.value(0.5, 1.0).value, 0.125); // half of (1 − 0.5)²
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum ScalarLoss {
    /// `max(0, 1 − ya)`.
    Hinge,
    /// The hinge, rounded off over this width: `(1 − ya)²/(2·width)` for `1 − width ≤ ya ≤ 1`.
    SmoothHinge {
        /// γ.
        width: f64,
    },
    /// `max(0, 1 − ya)²`, without a half.
    SquaredHinge,
    /// `log(1 + e^{−ya})`.
    Logistic,
    /// `½(a − y)²`.
    Squared,
    /// `|a − y|`.
    Absolute,
    /// `max(0, |a − y| − epsilon)`.
    EpsilonInsensitive {
        /// The width of the tube.
        epsilon: f64,
    },
    /// `½r²` for `|r| ≤ width`, else `width·(|r| − width/2)`, with `r = a − y`.
    Huber {
        /// δ.
        width: f64,
    },
}

impl ScalarLoss {
    /// Whether targets are the classes −1 and 1.
    pub fn is_binary(self) -> bool {
        matches!(self, Self::Hinge | Self::SmoothHinge { .. } | Self::SquaredHinge | Self::Logistic)
    }

    /// Returns an error if a width or an epsilon is out of its range.
    pub fn check_width(self) -> Result<()> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        match self {
            Self::SmoothHinge { width } | Self::Huber { width } if !positive(width) => {
                Err(Error::setting(format!("the width of a loss is positive, not {width}")))
            }
            Self::EpsilonInsensitive { epsilon } if !(epsilon >= 0.0 && epsilon.is_finite()) => {
                Err(Error::setting(format!("epsilon is not negative, and it is {epsilon}")))
            }
            _ => Ok(()),
        }
    }
}

/// Calls a method of the loss that a [`ScalarLoss`] stands for.
macro_rules! of {
    ($self:ident, $loss:ident => $call:expr) => {
        match *$self {
            ScalarLoss::Hinge => {
                let $loss = Hinge { width: 0.0 };
                $call
            }
            ScalarLoss::SmoothHinge { width } => {
                let $loss = Hinge { width };
                $call
            }
            ScalarLoss::SquaredHinge => {
                let $loss = SquaredHinge;
                $call
            }
            ScalarLoss::Logistic => {
                let $loss = Logistic;
                $call
            }
            ScalarLoss::Squared => {
                let $loss = Squared;
                $call
            }
            ScalarLoss::Absolute => {
                let $loss = EpsilonInsensitive { epsilon: 0.0 };
                $call
            }
            ScalarLoss::EpsilonInsensitive { epsilon } => {
                let $loss = EpsilonInsensitive { epsilon };
                $call
            }
            ScalarLoss::Huber { width } => {
                let $loss = Huber { width };
                $call
            }
        }
    };
}

impl Loss for ScalarLoss {
    fn value(&self, a: f64, y: f64) -> Measured {
        of!(self, loss => loss.value(a, y))
    }

    fn conjugate(&self, alpha: f64, y: f64) -> Measured {
        of!(self, loss => loss.conjugate(alpha, y))
    }

    fn domain(&self, y: f64) -> (f64, f64) {
        of!(self, loss => loss.domain(y))
    }

    #[inline]
    fn corner(&self, a: f64, y: f64) -> f64 {
        of!(self, loss => loss.corner(a, y))
    }

    #[inline]
    fn maximizer(&self, a: f64, y: f64, alpha: f64, q: f64) -> f64 {
        of!(self, loss => loss.maximizer(a, y, alpha, q))
    }

    fn smoothness(&self) -> f64 {
        of!(self, loss => loss.smoothness())
    }

    fn conditioning(&self) -> Option<f64> {
        of!(self, loss => loss.conditioning())
    }

    #[inline]
    fn curvature(&self, a: f64, y: f64) -> Option<f64> {
        of!(self, loss => loss.curvature(a, y))
    }

    fn is_quadratic(&self) -> bool {
        of!(self, loss => loss.is_quadratic())
    }

    #[inline]
    fn second_order(&self, a: f64, y: f64) -> Option<[f64; 3]> {
        of!(self, loss => loss.second_order(a, y))
    }

    fn second_orders(&self, a: &[f64], y: &[f64], out: [&mut [f64]; 3]) {
        of!(self, loss => loss.second_orders(a, y, out));
    }

    fn is_pinned(&self, alpha: f64, y: f64) -> bool {
        of!(self, loss => loss.is_pinned(alpha, y))
    }

    fn smoothed_orders(&self, around: (f64, &[f64]), a: &[f64], y: &[f64], out: [&mut [f64]; 4]) {
        of!(self, loss => loss.smoothed_orders(around, a, y, out));
    }

    fn scaled_conjugates(&self, scale: f64, a: &[f64], y: &[f64], values: &mut [f64]) {
        of!(self, loss => loss.scaled_conjugates(scale, a, y, values));
    }

    fn values_near(&self, a: &[f64], off: &[f64], y: &[f64], out: [&mut [f64]; 2]) {
        of!(self, loss => loss.values_near(a, off, y, out));
    }

    fn nearest_feasible(&self, alpha: &[f64], y: &[f64], near: &mut [f64]) {
        of!(self, loss => loss.nearest_feasible(alpha, y, near));
    }

    fn conjugates(&self, alpha: &[f64], y: &[f64], out: [&mut [f64]; 2]) {
        of!(self, loss => loss.conjugates(alpha, y, out));
    }

    fn steepness(&self, largest: f64, y: f64) -> f64 {
        of!(self, loss => loss.steepness(largest, y))
    }

    fn check(&self, targets: &[f64]) -> Result<()> {
        self.check_width()?;
        match targets.iter().find(|y| self.is_binary() && y.abs() != 1.0) {
            Some(y) => Err(Error::setting(format!("a class is written −1 or 1, not {y}"))),
            None => Ok(()),
        }
    }
}
