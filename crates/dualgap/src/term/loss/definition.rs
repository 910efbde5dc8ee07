//! What a loss of one number has to say: its value and its conjugate, with bounds on their rounding, and its steps.

use crate::Result;
use crate::linalg::underflow::product_above;
use crate::linalg::{Measured, UNDERFLOW, UNIT_ROUNDOFF};

/// A convex loss φ of one number, the prediction a of a target y. Its conjugate φ* enters the dual at −α.
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

    /// Whether α stays where it is in [`maximizer`](Self::maximizer) when the prediction changes a little: at the ends of the domain,
    /// and where φ* has a corner.
    fn is_pinned(&self, alpha: f64, y: f64) -> bool {
        let (low, high) = self.domain(y);
        alpha <= low || alpha >= high
    }

    /// Writes for many predictions φ, and φ smoothed over a width γ around slopes c: `max_s as − φ*(s) − (γ/2)(s − c)²`, with its
    /// slope s and its curvature. Where φ is not linear in parts, the curvature is an upper bound. The slices are of one length.
    fn smoothed_orders(
        &self,
        (width, centres): (f64, &[f64]),
        a: &[f64],
        y: &[f64],
        [exact, values, slopes, curves]: [&mut [f64]; 4],
    ) {
        for (i, ((&a, &y), &centre)) in a.iter().zip(y).zip(centres).enumerate() {
            let alpha = self.maximizer(a, y, -centre, width);
            let (off, conjugate) = (alpha + centre, self.conjugate(alpha, y).value);
            exact[i] = self.value(a, y).value;
            values[i] = -conjugate - alpha * a - 0.5 * width * off * off;
            slopes[i] = -alpha;
            curves[i] = if self.is_pinned(alpha, y) { 0.0 } else { 1.0 / width };
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
pub(super) const ZERO: Measured = Measured { value: 0.0, error: 0.0 };

/// Sums a few terms, each of which has been rounded a few times, or has underflowed.
pub(super) fn summed<const N: usize>(terms: [f64; N]) -> Measured {
    let magnitude: f64 = terms.iter().map(|term| term.abs()).sum();
    let vanished = 4.0 * (N as f64 + 1.0) * UNDERFLOW;
    Measured { value: terms.iter().sum(), error: 16.0 * UNIT_ROUNDOFF * magnitude + vanished }
}
