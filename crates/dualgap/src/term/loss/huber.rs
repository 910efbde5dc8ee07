//! Huber's loss: squared near the target, absolute far from it. With r = a − y:
//!
//! ```text
//! φ(a)    = ½r² if |r| ≤ δ, else δ(|r| − δ/2)
//! φ*(−α)  = ½α² − αy for |α| ≤ δ
//! ```

use super::definition::{Loss, ZERO, summed};
use crate::linalg::Measured;

/// Squared within a width δ of the target, absolute beyond.
#[derive(Clone, Copy, Debug)]
pub struct Huber {
    /// δ.
    pub width: f64,
}

impl Loss for Huber {
    fn value(&self, a: f64, y: f64) -> Measured {
        let r = (a - y).abs();
        if r == 0.0 {
            ZERO
        } else if r <= self.width {
            summed([0.5 * r * r])
        } else {
            summed([self.width * r, -0.5 * self.width * self.width])
        }
    }

    fn conjugate(&self, alpha: f64, y: f64) -> Measured {
        if alpha == 0.0 { ZERO } else { summed([0.5 * alpha * alpha, -alpha * y]) }
    }

    fn domain(&self, _: f64) -> (f64, f64) {
        (-self.width, self.width)
    }

    fn corner(&self, a: f64, y: f64) -> f64 {
        (y - a).clamp(-self.width, self.width)
    }

    fn maximizer(&self, a: f64, y: f64, alpha: f64, q: f64) -> f64 {
        (alpha + (y - a - alpha) / (1.0 + q)).clamp(-self.width, self.width)
    }

    fn smoothness(&self) -> f64 {
        1.0
    }

    /// Where the loss is curved, its strong convexity equals its smoothness.
    fn conditioning(&self) -> Option<f64> {
        Some(1.0)
    }

    fn curvature(&self, a: f64, y: f64) -> Option<f64> {
        Some(if (a - y).abs() <= self.width { 1.0 } else { 0.0 })
    }

    fn steepness(&self, _: f64, _: f64) -> f64 {
        self.width
    }
}
