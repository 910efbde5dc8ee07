//! The squared loss.
//!
//! ```text
//! φ(a)    = ½(a − y)²
//! φ*(−α)  = ½α² − αy
//! ```

use super::definition::{Loss, ZERO, summed};
use crate::linalg::Measured;

/// `½(a − y)²`.
#[derive(Clone, Copy, Debug)]
pub struct Squared;

impl Loss for Squared {
    fn value(&self, a: f64, y: f64) -> Measured {
        let r = a - y;
        if r == 0.0 { ZERO } else { summed([0.5 * r * r]) }
    }

    fn conjugate(&self, alpha: f64, y: f64) -> Measured {
        if alpha == 0.0 { ZERO } else { summed([0.5 * alpha * alpha, -alpha * y]) }
    }

    fn domain(&self, _: f64) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn corner(&self, a: f64, y: f64) -> f64 {
        y - a
    }

    fn maximizer(&self, a: f64, y: f64, alpha: f64, q: f64) -> f64 {
        alpha + (y - a - alpha) / (1.0 + q)
    }

    fn smoothness(&self) -> f64 {
        1.0
    }

    /// The strong convexity of the loss equals its smoothness.
    fn conditioning(&self) -> Option<f64> {
        Some(1.0)
    }

    fn curvature(&self, _: f64, _: f64) -> Option<f64> {
        Some(1.0)
    }

    fn is_quadratic(&self) -> bool {
        true
    }

    fn steepness(&self, largest: f64, y: f64) -> f64 {
        largest + y.abs()
    }
}
