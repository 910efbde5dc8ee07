//! The squared hinge, as LIBLINEAR has it: without a half. With m = ya and β = yα:
//!
//! ```text
//! φ(a)    = max(0, 1 − m)²
//! φ*(−α)  = −β + β²/4 for β ≥ 0
//! ```

use super::definition::{Loss, ZERO, summed};
use crate::linalg::Measured;

/// `max(0, 1 − ya)²`.
#[derive(Clone, Copy, Debug)]
pub struct SquaredHinge;

impl Loss for SquaredHinge {
    fn value(&self, a: f64, y: f64) -> Measured {
        let short = (1.0 - y * a).max(0.0);
        if short == 0.0 { ZERO } else { summed([short * short]) }
    }

    fn conjugate(&self, alpha: f64, y: f64) -> Measured {
        let beta = y * alpha;
        if beta == 0.0 { ZERO } else { summed([-beta, beta * beta / 4.0]) }
    }

    fn domain(&self, y: f64) -> (f64, f64) {
        if y > 0.0 { (0.0, f64::INFINITY) } else { (f64::NEG_INFINITY, 0.0) }
    }

    fn corner(&self, a: f64, y: f64) -> f64 {
        y * 2.0 * (1.0 - y * a).max(0.0)
    }

    fn maximizer(&self, a: f64, y: f64, alpha: f64, q: f64) -> f64 {
        let beta = y * alpha;
        y * (beta + (1.0 - y * a - beta / 2.0) / (q + 0.5)).max(0.0)
    }

    fn smoothness(&self) -> f64 {
        0.5
    }

    /// Where the loss is curved, its strong convexity equals its smoothness.
    fn conditioning(&self) -> Option<f64> {
        Some(1.0)
    }

    fn curvature(&self, a: f64, y: f64) -> Option<f64> {
        Some(if y * a < 1.0 { 2.0 } else { 0.0 })
    }

    fn steepness(&self, largest: f64, _: f64) -> f64 {
        2.0 * (1.0 + largest)
    }
}
