//! Losses of a linear prediction: φ(a) for the prediction a = ⟨x, w⟩ of an example with target y.
//!
//! A loss enters the dual through its conjugate at −α, where α is the example's dual variable:
//!
//! ```text
//! φ*(−α) = max_a [−α a − φ(a)],        φ(a) + φ*(−α) + α a ≥ 0, and = 0 where −α ∈ ∂φ(a)
//! ```
//!
//! Each loss has a file with its formulas at the head; the same tests compare all losses with brute force.

mod absolute;
mod hinge;
mod huber;
mod logistic;
mod multiclass;
mod softmax;
mod squared;
mod squared_hinge;
#[cfg(test)]
mod tests;

pub use absolute::EpsilonInsensitive;
pub use hinge::Hinge;
pub use huber::Huber;
pub use logistic::Logistic;
pub use multiclass::MulticlassLoss;
pub(crate) use softmax::distribution as softmax;
pub use squared::Squared;
pub use squared_hinge::SquaredHinge;

use crate::linalg::underflow::product_above;
use crate::linalg::{Measured, UNDERFLOW, UNIT_ROUNDOFF};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// A convex loss of one number; see the module's head.
pub trait Loss: Clone + Send + Sync {
    /// Returns φ(a) at exactly this a, with a bound on its rounding.
    fn value(&self, a: f64, y: f64) -> Measured;

    /// Returns φ*(−α) for an α in the domain, with a bound on its rounding.
    fn conjugate(&self, alpha: f64, y: f64) -> Measured;

    /// Returns the smallest and the largest feasible α; they may be infinite.
    fn domain(&self, y: f64) -> (f64, f64);

    /// Returns an α with −α ∈ ∂φ(a).
    fn corner(&self, a: f64, y: f64) -> f64;

    /// Returns the β that maximises −φ*(−β) − aβ − (q/2)(β − α)², for q ≥ 0.
    fn maximizer(&self, a: f64, y: f64, alpha: f64, q: f64) -> f64;

    /// γ, where φ is (1/γ)-smooth; zero if φ is not smooth.
    fn smoothness(&self) -> f64;

    /// β/α, where φ is β-smooth, and α-strongly convex on an interval outside of which it is linear: then φ* is
    /// (1/α)-smooth on its domain. None if there is no such α, as for the logistic loss, whose curvature tends to zero.
    fn conditioning(&self) -> Option<f64> {
        None
    }

    /// Returns φ''(a), for Newton's method; at a kink of φ' the slope on either side. Losses that are not smooth have none.
    fn curvature(&self, _a: f64, _y: f64) -> Option<f64> {
        None
    }

    /// Whether φ'' is the same everywhere.
    fn is_quadratic(&self) -> bool {
        false
    }

    /// Returns φ(a), φ'(a) and φ''(a), for methods that need all three: a loss that shares their terms is faster.
    /// None if there is no φ''.
    fn second_order(&self, a: f64, y: f64) -> Option<[f64; 3]> {
        Some([self.value(a, y).value, -self.corner(a, y), self.curvature(a, y)?])
    }

    /// [`second_order`](Self::second_order) of many predictions: writes φ, φ' and φ'', or zeros if there is no φ''. The slices
    /// are of one length.
    fn second_orders(&self, a: &[f64], y: &[f64], [values, slopes, curves]: [&mut [f64]; 3]) {
        for (i, (&a, &y)) in a.iter().zip(y).enumerate() {
            [values[i], slopes[i], curves[i]] = self.second_order(a, y).unwrap_or_default();
        }
    }

    /// Writes φ*(θφ'(a)) for many predictions and a θ between zero and one, rounded: the conjugate at the dual points of the
    /// predictions, scaled. The slices are of one length.
    fn scaled_conjugates(&self, scale: f64, a: &[f64], y: &[f64], values: &mut [f64]) {
        for ((value, &a), &y) in values.iter_mut().zip(a).zip(y) {
            let (low, high) = self.domain(y);
            *value = self.conjugate((scale * self.corner(a, y)).clamp(low, high), y).value;
        }
    }

    /// Writes φ(a) for many predictions, each of which may be off by so much, and bounds on their distance from the losses of the
    /// exact predictions. The slices are of one length.
    fn values_near(&self, a: &[f64], off: &[f64], y: &[f64], [values, errors]: [&mut [f64]; 2]) {
        let out = values.iter_mut().zip(errors);
        for (((&a, &off), &y), (value, error)) in a.iter().zip(off).zip(y).zip(out) {
            let found = self.value(a, y);
            // The prediction's rounding times the steepest slope, and that of the loss itself.
            let carried = product_above(self.steepness(a.abs() + off, y), off);
            (*value, *error) = (found.value, (carried + found.error) * (1.0 + 1e-9));
        }
    }

    /// Writes the nearest α of the domain for many numbers. The slices are of one length.
    fn nearest_feasible(&self, alpha: &[f64], y: &[f64], near: &mut [f64]) {
        for ((near, alpha), &y) in near.iter_mut().zip(alpha).zip(y) {
            let (low, high) = self.domain(y);
            *near = alpha.clamp(low, high);
        }
    }

    /// Writes φ*(−α) for many α in the domain, and bounds on their rounding. The slices are of one length.
    fn conjugates(&self, alpha: &[f64], y: &[f64], [values, errors]: [&mut [f64]; 2]) {
        let out = values.iter_mut().zip(errors);
        for ((&alpha, &y), (value, error)) in alpha.iter().zip(y).zip(out) {
            Measured { value: *value, error: *error } = self.conjugate(alpha, y);
        }
    }

    /// Returns an error if a target or a parameter of the loss is not allowed.
    fn check(&self, _targets: &[f64]) -> Result<()> {
        Ok(())
    }

    /// Returns an upper bound on |φ'| for predictions of at most this size.
    fn steepness(&self, largest: f64, y: f64) -> f64;
}

/// An exact zero.
const ZERO: Measured = Measured { value: 0.0, error: 0.0 };

/// Sums a few terms, each of which has been rounded a few times, or has underflowed.
fn summed<const N: usize>(terms: [f64; N]) -> Measured {
    let magnitude: f64 = terms.iter().map(|term| term.abs()).sum();
    let vanished = 4.0 * (N as f64 + 1.0) * UNDERFLOW;
    Measured { value: terms.iter().sum(), error: 16.0 * UNIT_ROUNDOFF * magnitude + vanished }
}

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
