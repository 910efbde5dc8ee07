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

/// The largest number of steps: Newton's method needs a handful, and bisection one for each bit.
const MOST_STEPS: usize = 100;

/// Newton's method squares its error: after a step of this size, only rounding is left.
const CLOSE: f64 = 1e-8;

impl Loss for Logistic {
    fn value(&self, a: f64, y: f64) -> Measured {
        let m = y * a;
        if m >= 0.0 { summed([(-m).exp().ln_1p()]) } else { summed([-m, m.exp().ln_1p()]) }
    }

    fn conjugate(&self, alpha: f64, y: f64) -> Measured {
        let beta = y * alpha;
        // `ln_1p` avoids the rounding of 1 − β before the logarithm, which matters near one.
        let rest = if beta < 1.0 { (1.0 - beta) * (-beta).ln_1p() } else { 0.0 };
        if beta == 0.0 || beta == 1.0 { ZERO } else { summed([x_log_x(beta), rest]) }
    }

    fn domain(&self, y: f64) -> (f64, f64) {
        if y > 0.0 { (0.0, 1.0) } else { (-1.0, 0.0) }
    }

    fn corner(&self, a: f64, y: f64) -> f64 {
        y * sigmoid_of_minus(y * a)
    }

    /// β solves log((1 − β)/β) = m + q(β − β₀), whose left side decreases and whose right side increases. In
    /// t = log((1 − β)/β), which is unbounded, that is t − m − q(σ(−t) − β₀) = 0 with a slope of 1 + qσ(−t)σ(t).
    /// Newton's method solves it, safeguarded by bisection.
    fn maximizer(&self, a: f64, y: f64, alpha: f64, q: f64) -> f64 {
        let (m, start) = (y * a, y * alpha);
        // σ(−t) lies in (0, 1), so t lies between these bounds.
        let (mut low, mut high) = (m - q * start, m + q * (1.0 - start));
        if low.is_nan() || high.is_nan() {
            return f64::NAN; // inputs so large that nothing is known; whoever asked will say so
        }
        // Start from the corner of the prediction, where the α of an example near the optimum already is.
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
                // The next step, and the error of this linearisation, would be about the square of this step.
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

    fn curvature(&self, a: f64, _: f64) -> Option<f64> {
        let p = sigmoid_of_minus(a);
        Some(p * (1.0 - p))
    }

    /// One exponential serves all three.
    #[inline]
    fn look(&self, a: f64, y: f64) -> (f64, f64, f64) {
        let m = y * a;
        let e = (-m.abs()).exp();
        let (of_sign, other) = (1.0 / (1.0 + e), e / (1.0 + e));
        let value = e.ln_1p() + (-m).max(0.0);
        (value, -y * if m >= 0.0 { other } else { of_sign }, of_sign * other)
    }

    fn steepness(&self, _: f64, _: f64) -> f64 {
        1.0
    }
}
