//! The hinge, plain or rounded off. With m = ya and β = yα:
//!
//! ```text
//! φ(a)    = 0 if m ≥ 1;  1 − m − γ/2 if m ≤ 1 − γ;  else (1 − m)²/(2γ)       γ = 0: max(0, 1 − m)
//! φ*(−α)  = −β + γβ²/2 for 0 ≤ β ≤ 1
//! ```

use super::definition::{Loss, ZERO, summed};
use crate::linalg::{Measured, UNDERFLOW};

/// `max(0, 1 − ya)`, rounded off over a width γ; a width of zero is the plain hinge.
#[derive(Clone, Copy, Debug)]
pub struct Hinge {
    /// γ.
    pub width: f64,
}

impl Loss for Hinge {
    fn value(&self, a: f64, y: f64) -> Measured {
        let (m, width) = (y * a, self.width);
        if m >= 1.0 {
            ZERO
        } else if m <= 1.0 - width {
            summed([1.0, -m, -width / 2.0])
        } else {
            // A square that has underflowed is divided by the width, and so is its error.
            let mut value = summed([(1.0 - m) * (1.0 - m) / (2.0 * width)]);
            value.error += UNDERFLOW / width;
            value
        }
    }

    fn conjugate(&self, alpha: f64, y: f64) -> Measured {
        let beta = y * alpha;
        if beta == 0.0 { ZERO } else { summed([-beta, self.width * beta * beta / 2.0]) }
    }

    fn domain(&self, y: f64) -> (f64, f64) {
        if y > 0.0 { (0.0, 1.0) } else { (-1.0, 0.0) }
    }

    fn corner(&self, a: f64, y: f64) -> f64 {
        let short = 1.0 - y * a;
        let beta = if short <= 0.0 {
            0.0
        } else if short >= self.width {
            1.0
        } else {
            short / self.width
        };
        y * beta
    }

    #[inline]
    fn maximizer(&self, a: f64, y: f64, alpha: f64, q: f64) -> f64 {
        let beta = y * alpha;
        let rise = 1.0 - y * a - self.width * beta;
        if rise == 0.0 {
            return alpha;
        }
        // Without curvature the quotient is infinite, and the clamp returns that end of the interval.
        y * (beta + rise / (q + self.width)).clamp(0.0, 1.0)
    }

    fn smoothness(&self) -> f64 {
        self.width
    }

    /// Where the loss is curved, its strong convexity equals its smoothness.
    fn conditioning(&self) -> Option<f64> {
        (self.width > 0.0).then_some(1.0)
    }

    fn curvature(&self, a: f64, y: f64) -> Option<f64> {
        let short = 1.0 - y * a;
        let bent = short >= 0.0 && short <= self.width;
        (self.width > 0.0).then_some(if bent { 1.0 / self.width } else { 0.0 })
    }

    /// With β = −ys: the same numbers for many examples at a time.
    fn smoothed_orders(
        &self,
        (width, centres): (f64, &[f64]),
        a: &[f64],
        y: &[f64],
        [exact, values, slopes, curves]: [&mut [f64]; 4],
    ) {
        let (whole, curve) = (width + self.width, 1.0 / (width + self.width));
        let out = exact.iter_mut().zip(values).zip(slopes.iter_mut().zip(curves));
        for (((&a, &y), &centre), ((exact, value), (slope, bent))) in
            a.iter().zip(y).zip(centres).zip(out)
        {
            let (short, centre) = (1.0 - y * a, -y * centre);
            let free = (width * centre + short) / whole;
            let beta = free.clamp(0.0, 1.0);
            let corner = if self.width > 0.0 { (short / self.width).clamp(0.0, 1.0) } else { 1.0 };
            let off = beta - centre;
            *exact = corner * (short - 0.5 * self.width * corner).max(0.0);
            *value = beta * short - 0.5 * (self.width * beta * beta + width * off * off);
            *slope = -y * beta;
            *bent = if free > 0.0 && free < 1.0 { curve } else { 0.0 };
        }
    }

    fn steepness(&self, _: f64, _: f64) -> f64 {
        1.0
    }
}
