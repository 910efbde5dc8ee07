//! The logistic loss. With m = ya and β = yα:
//!
//! ```text
//! φ(a)    = log(1 + e^{−m})
//! φ*(−α)  = β log β + (1 − β) log(1 − β) for 0 ≤ β ≤ 1
//! ```

use super::{Loss, ZERO, summed};
use crate::linalg::Measured;

/// `log(1 + e^{−ya})`.
#[derive(Clone, Copy, Debug)]
pub struct Logistic;

/// x log x, which is 0 at 0.
fn x_log_x(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}

/// 1/(1 + e^t), without overflow.
fn sigmoid_of_minus(t: f64) -> f64 {
    if t >= 0.0 {
        let e = (-t).exp();
        e / (1.0 + e)
    } else {
        1.0 / (1.0 + t.exp())
    }
}

/// Newton's method converges in a handful of steps, bisection in as many as there are bits.
const MOST_STEPS: usize = 100;

/// Newton's method squares its error: after a step of this size, rounding is all that is left.
const CLOSE: f64 = 1e-8;

impl Loss for Logistic {
    fn value(&self, a: f64, y: f64) -> Measured {
        let m = y * a;
        if m >= 0.0 { summed([(-m).exp().ln_1p()]) } else { summed([-m, m.exp().ln_1p()]) }
    }

    fn conjugate(&self, alpha: f64, y: f64) -> Measured {
        let beta = y * alpha;
        // The logarithm of a number near one must not be that of its rounding.
        let rest = if beta < 1.0 { (1.0 - beta) * (-beta).ln_1p() } else { 0.0 };
        if beta == 0.0 || beta == 1.0 { ZERO } else { summed([x_log_x(beta), rest]) }
    }

    fn domain(&self, y: f64) -> (f64, f64) {
        if y > 0.0 { (0.0, 1.0) } else { (-1.0, 0.0) }
    }

    fn corner(&self, a: f64, y: f64) -> f64 {
        y * sigmoid_of_minus(y * a)
    }

    /// β solves log((1 − β)/β) = m + q(β − β₀), whose sides fall and rise. In t = log((1 − β)/β), which has no
    /// ends to fall off, that is t − m − q(σ(−t) − β₀) = 0 with a slope of 1 + qσ(−t)σ(t): Newton's method on it,
    /// kept between bounds that shrink.
    fn maximizer(&self, a: f64, y: f64, alpha: f64, q: f64) -> f64 {
        let (m, start) = (y * a, y * alpha);
        // σ(−t) lies in (0, 1), and so t between these.
        let (mut low, mut high) = (m - q * start, m + q * (1.0 - start));
        if low.is_nan() || high.is_nan() {
            return f64::NAN; // inputs so large that nothing is known; whoever asked will say so
        }
        // The prediction's own answer, which a block near the optimum stands at.
        let mut t = m.clamp(low, high);
        for _ in 0..MOST_STEPS {
            let beta = sigmoid_of_minus(t);
            let excess = t - m - q * (beta - start);
            if excess > 0.0 {
                high = t;
            } else {
                low = t;
            }
            let spread = beta * (1.0 - beta);
            let newton = t - excess / (1.0 + q * spread);
            let moved = newton - t;
            if moved.abs() <= CLOSE {
                // The next step would be the square of this one, and so is what the tangent misses.
                return y * (beta - spread * moved).clamp(0.0, 1.0);
            }
            let next =
                if newton > low && newton < high { newton } else { low + (high - low) / 2.0 };
            if next == t {
                break;
            }
            t = next;
        }
        y * sigmoid_of_minus(t)
    }

    fn smoothness(&self) -> f64 {
        4.0
    }

    fn steepness(&self, _: f64, _: f64) -> f64 {
        1.0
    }
}
