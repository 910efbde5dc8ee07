//! The absolute loss, and the ε-insensitive one, which is zero within a tube around the target.
//!
//! ```text
//! φ(a)    = max(0, |a − y| − ε)
//! φ*(−α)  = −αy + ε|α| for |α| ≤ 1
//! ```

use super::definition::{Loss, ZERO, summed};
use crate::linalg::Measured;

/// `max(0, |a − y| − ε)`; with ε = 0 the absolute loss.
#[derive(Clone, Copy, Debug)]
pub struct EpsilonInsensitive {
    /// The width of the tube.
    pub epsilon: f64,
}

impl Loss for EpsilonInsensitive {
    fn value(&self, a: f64, y: f64) -> Measured {
        let off = (a - y).abs();
        if off <= self.epsilon { ZERO } else { summed([off, -self.epsilon]) }
    }

    fn conjugate(&self, alpha: f64, y: f64) -> Measured {
        if alpha == 0.0 { ZERO } else { summed([-alpha * y, self.epsilon * alpha.abs()]) }
    }

    fn domain(&self, _: f64) -> (f64, f64) {
        (-1.0, 1.0)
    }

    fn corner(&self, a: f64, y: f64) -> f64 {
        let r = y - a;
        if r.abs() <= self.epsilon { 0.0 } else { r.signum() }
    }

    fn maximizer(&self, a: f64, y: f64, alpha: f64, q: f64) -> f64 {
        // β solves pull − qβ ∈ ε ∂|β| on the interval; if q = 0, only the sign of the rest matters.
        let pull = q * alpha + (y - a);
        if pull.abs() <= self.epsilon {
            return 0.0;
        }
        let rest = pull - self.epsilon.copysign(pull);
        (rest / q).clamp(-1.0, 1.0)
    }

    fn smoothness(&self) -> f64 {
        0.0
    }

    fn is_pinned(&self, alpha: f64, _: f64) -> bool {
        alpha.abs() >= 1.0 || (alpha == 0.0 && self.epsilon > 0.0)
    }

    fn steepness(&self, _: f64, _: f64) -> f64 {
        1.0
    }
}
