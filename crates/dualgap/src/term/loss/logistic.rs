//! The logistic loss. With m = ya and β = yα:
//!
//! ```text
//! φ(a)    = log(1 + e^{−m})
//! φ*(−α)  = β log β + (1 − β) log(1 − β) for 0 ≤ β ≤ 1
//! ```

use super::definition::{Loss, ZERO, summed};
use crate::linalg::elementary::{exp_of_negative, ln, ln_1p_of_share};
use crate::linalg::{Measured, UNIT_ROUNDOFF};
use multiversion::multiversion;

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

    /// One exponential for all three.
    fn second_order(&self, a: f64, y: f64) -> Option<[f64; 3]> {
        let m = y * a;
        let e = (-m.abs()).exp();
        // σ(|m|) = 1/(1 + e) and σ(−|m|) = e/(1 + e).
        let (large, small) = (1.0 / (1.0 + e), e / (1.0 + e));
        let [value, beta] = if m >= 0.0 { [e.ln_1p(), small] } else { [e.ln_1p() - m, large] };
        Some([value, -y * beta, large * small])
    }

    fn second_orders(&self, a: &[f64], y: &[f64], out: [&mut [f64]; 3]) {
        second_orders(a, y, out);
    }

    fn scaled_conjugates(&self, scale: f64, a: &[f64], y: &[f64], values: &mut [f64]) {
        scaled_conjugates(scale, a, y, values);
    }

    fn steepness(&self, _: f64, _: f64) -> f64 {
        1.0
    }

    fn values_near(&self, a: &[f64], off: &[f64], y: &[f64], out: [&mut [f64]; 2]) {
        values_near(a, off, y, out);
    }

    fn conjugates(&self, alpha: &[f64], y: &[f64], out: [&mut [f64]; 2]) {
        conjugates(alpha, y, out);
    }
}

/// A loss and a conjugate are off by at most this share of their terms: 6u are those of the exponential, 16u of a logarithm with its
/// argument, and a few of products and sums.
const OFF: f64 = 64.0 * UNIT_ROUNDOFF;

/// What is lost where an exponential, or the argument of a logarithm, is not a normal number.
const LOST: f64 = 64.0 * f64::MIN_POSITIVE;

/// The loss is `max(0, −m) + log(1 + e^{−|m|})`. It changes by no more than the prediction.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn values_near(a: &[f64], off: &[f64], y: &[f64], [values, errors]: [&mut [f64]; 2]) {
    let out = values.iter_mut().zip(errors);
    for (((&a, &off), &y), (value, error)) in a.iter().zip(off).zip(y).zip(out) {
        let m = y * a;
        let short = if m < 0.0 { -m } else { 0.0 };
        *value = short + ln_1p_of_share(exp_of_negative(-m.abs()));
        *error = (off + *value * OFF + LOST) * (1.0 + 1e-9);
    }
}

/// With s the smaller one of β and 1 − β, and l the other, the conjugate is `s log s + l log l`, and `log l = −log(1 + s/l)`.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn conjugates(alpha: &[f64], y: &[f64], [values, errors]: [&mut [f64]; 2]) {
    let out = values.iter_mut().zip(errors);
    for ((&alpha, &y), (value, error)) in alpha.iter().zip(y).zip(out) {
        let beta = y * alpha;
        // Exact where it is the smaller one, as a difference of numbers of about the same size; off by one rounding where it is the larger.
        let rest = 1.0 - beta;
        let s = if beta <= 0.5 { beta } else { rest };
        let l = if beta <= 0.5 { rest } else { beta };
        let normal = if s > f64::MIN_POSITIVE { s } else { f64::MIN_POSITIVE };
        let (of_s, of_l) = (s * ln(normal), l * ln_1p_of_share(s / l));
        // Zero and one are exact.
        (*value, *error) =
            if s > 0.0 { (of_s - of_l, (of_l - of_s) * OFF + LOST) } else { (0.0, 0.0) };
    }
}

/// Returns φ, β = σ(−m) and σ(m) at a margin m: [`Loss::second_order`] without branches.
#[expect(
    clippy::inline_always,
    reason = "only inside of the loop that calls it is it compiled for its instruction set"
)]
#[inline(always)]
fn at_margin(m: f64) -> [f64; 3] {
    let e = exp_of_negative(-m.abs());
    let large = 1.0 / (1.0 + e);
    let (small, log) = (e * large, ln_1p_of_share(e));
    if m >= 0.0 { [log, small, large] } else { [log - m, large, small] }
}

#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn second_orders(a: &[f64], y: &[f64], [values, slopes, curves]: [&mut [f64]; 3]) {
    let out = values.iter_mut().zip(slopes).zip(curves);
    for ((&a, &y), ((value, slope), curve)) in a.iter().zip(y).zip(out) {
        let [loss, beta, rest] = at_margin(y * a);
        (*value, *slope, *curve) = (loss, -y * beta, beta * rest);
    }
}

/// With q = θβ the conjugate is `q log q + (1 − q) log(1 − q)`, of which log β = −(m + φ) is known.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn scaled_conjugates(scale: f64, a: &[f64], y: &[f64], values: &mut [f64]) {
    let of_scale = scale.ln();
    for ((value, &a), &y) in values.iter_mut().zip(a).zip(y) {
        let m = y * a;
        let [loss, beta, _] = at_margin(m);
        let (q, log) = (scale * beta, of_scale - (m + loss));
        // At q = 1 nothing is left; the least normal number in the place of zero has a logarithm.
        let rest = (1.0 - q).max(f64::MIN_POSITIVE);
        let own = if q > 0.0 { q * log } else { 0.0 };
        *value = own + rest * ln(rest);
    }
}
