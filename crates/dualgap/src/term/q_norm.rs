//! The q-norm of section 3.2 of the Prox-SDCA paper, for inputs that are dense but small in every entry:
//!
//! ```text
//! g(w) = (c/2)‖w‖_q² + t‖w‖₁,     q = p/(p − 1),  p = log d,  c = e²(p − 1),        d ≥ 8
//! g*(v) = ‖r‖_p²/(2c),            r_j = max(|v_j| − t, 0)
//! ∇g*(v)_j = sign(v_j) r_j^{p−1} ‖r‖_p^{2−p} / c
//! ```
//!
//! It is 1-strongly convex in ‖·‖₁ (the paper's `3 log d` in the place of c is too small for that), so step sizes
//! depend on the largest entry of an input and not on its length. Every step changes every weight, but the untouched
//! coordinates all by the same factor, which is stored separately. With m some reference for the size of r,
//! and s = r/m,
//!
//! ```text
//! ∇g*(v)_j = factor · sign(v_j) s_j^{p−1},     factor = (m/c) (Σ s_j^p)^{(2−p)/p}
//! ```

use super::elastic_net::threshold_error;
use super::{Link, Norm};
use crate::linalg::underflow::product_above;
use crate::linalg::{Measured, Sum, UNDERFLOW, UNIT_ROUNDOFF};
use crate::{Error, Result};

/// The link; see the module's head.
///
/// ```
/// # use dualgap::term::{Link, QNorm};
/// let link = QNorm::new(8, 0.0)?;
/// let w = link.weights(&[3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0]);
/// assert!(w[0] > 3.0 * -w[7] && w[7] < 0.0 && w[1] == 0.0);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct QNorm {
    /// log d.
    p: f64,
    c: f64,
    threshold: f64,
    /// m.
    reference: f64,
}

impl QNorm {
    /// The q-norm for `dim` weights, with the threshold σ/λ.
    pub fn new(dim: usize, threshold: f64) -> Result<Self> {
        if dim < 8 {
            return Err(Error::setting(format!(
                "the q-norm is for eight weights or more, and there are {dim}"
            )));
        }
        if !(threshold >= 0.0 && threshold.is_finite()) {
            return Err(Error::setting(format!("the threshold of a q-norm is {threshold}")));
        }
        let p = (dim as f64).ln();
        Ok(Self { p, c: 2.0_f64.exp() * (p - 1.0), threshold, reference: 1.0 })
    }

    /// Returns c for `dim` weights, or an error if they are too few.
    pub fn constant(dim: usize) -> Result<f64> {
        Ok(Self::new(dim, 0.0)?.c)
    }

    /// Returns `‖x‖_k²` with a bound on its rounding; it overflows or underflows only if the result does.
    fn squared_norm(x: impl Iterator<Item = f64> + Clone, k: f64) -> Measured {
        let largest = x.clone().fold(0.0, f64::max);
        if largest == 0.0 {
            return Measured::default();
        }
        let spread = (x.clone().count() as f64).ln();
        let powers: Sum = x.map(|x| (x / largest).powf(k)).collect();
        let value = powers.total().value.powf(2.0 / k) * largest * largest;
        // A term is off by k roundings of its base and those of the power itself, the sum by a few, and the root
        // divides by k again. The exponents are also rounded, which costs a factor of the logarithm of the sum. Terms
        // that underflow are negligible next to the largest term, which is one, so only the last two products can
        // underflow.
        let relative = (64.0 + 8.0 * spread) * UNIT_ROUNDOFF;
        Measured { value, error: product_above(relative, value) + 4.0 * UNDERFLOW }
    }
}

impl Link for QNorm {
    const COUPLED: bool = true;
    const NORM: Norm = Norm::Largest;

    #[inline]
    fn weight(&self, _: usize, v: f64) -> f64 {
        let r = v.abs() - self.threshold;
        if r > 0.0 {
            // A weight above the threshold is never zero, however small, so that callers can tell the support by w ≠ 0.
            (r / self.reference).powf(self.p - 1.0).max(f64::MIN_POSITIVE).copysign(v)
        } else {
            0.0
        }
    }

    fn share(&self, _: usize, v: f64, weight: f64) -> f64 {
        let r = v.abs() - self.threshold;
        if r > 0.0 { weight.abs() * (r / self.reference) } else { 0.0 }
    }

    fn factor(&self, shares: f64) -> f64 {
        if shares > 0.0 {
            self.reference / self.c * shares.powf((2.0 - self.p) / self.p)
        } else {
            0.0
        }
    }

    fn reference(&self, v: &[f64]) -> f64 {
        let largest = v.iter().fold(0.0_f64, |largest, v| largest.max(v.abs())) - self.threshold;
        if largest > 0.0 { largest } else { 1.0 }
    }

    fn based(&self, reference: f64) -> Self {
        Self { reference, ..*self }
    }

    fn weights(&self, v: &[f64]) -> Vec<f64> {
        let link = self.based(self.reference(v));
        let mut w: Vec<f64> = v.iter().map(|&v| link.weight(0, v)).collect();
        let shares: Sum = v.iter().zip(&w).map(|(&v, &w)| link.share(0, v, w)).collect();
        let factor = link.factor(shares.total().value);
        w.iter_mut().for_each(|w| *w *= factor);
        w
    }

    fn value(&self, w: &[f64]) -> Measured {
        let q = self.p / (self.p - 1.0);
        let l1 = w.iter().map(|w| w.abs()).collect::<Sum>().total();
        let mut total = Sum::default();
        let square = Self::squared_norm(w.iter().map(|w| w.abs()), q);
        total.add_measured(square.scaled(0.5 * self.c));
        let mut part = l1.scaled(self.threshold);
        part.error += product_above(threshold_error(self.threshold), l1.value + l1.error);
        total.add_measured(part);
        total.total()
    }

    fn conjugate(&self, v: &[f64]) -> Measured {
        let r = v.iter().map(|v| (v.abs() - self.threshold).max(0.0));
        let mut value = Self::squared_norm(r, self.p).scaled(0.5 / self.c);
        // If the threshold is off by δ, g* is off by at most δ‖w‖₁ + δ²/2: it is 1-smooth in the largest entry.
        let off = threshold_error(self.threshold);
        if v.iter().any(|&v| v != 0.0 && v.abs() >= self.threshold - 2.0 * off) {
            let l1 = self.weights(v).iter().map(|w| w.abs()).sum::<f64>();
            let l1 = l1 + v.len() as f64 * UNDERFLOW;
            value.error += product_above(off, l1 * 1.000_001 + off) * 1.000_001;
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::kernels::dot;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fenchel_young_holds_and_is_tight_at_the_link(
            v in prop::collection::vec(-3.0..3.0_f64, 12),
            other in prop::collection::vec(-1.0..1.0_f64, 12),
            threshold in 0.0..2.0_f64,
            scale in -40..40_i32,
        ) {
            let scale = 10.0_f64.powi(scale);
            let link = QNorm::new(12, threshold * scale).unwrap();
            let v: Vec<f64> = v.iter().map(|v| v * scale).collect();
            let w = link.weights(&v);
            let unit = scale * scale;
            let tight = link.value(&w).value + link.conjugate(&v).value - dot(&w, &v);
            prop_assert!(tight.abs() < 1e-12 * unit, "{tight}");
            let other: Vec<f64> = other.iter().map(|w| w * scale).collect();
            let slack = link.value(&other).value + link.conjugate(&v).value - dot(&other, &v);
            prop_assert!(slack >= -1e-12 * unit, "{slack}");
        }

        // 1-strong convexity in ‖·‖₁ is 1-smoothness of g* in ‖·‖_∞; with 3 log d for c this fails.
        #[test]
        fn the_conjugate_is_smooth_in_the_largest_entry(
            v in prop::collection::vec(-1.0..1.0_f64, 40),
            step in prop::collection::vec(prop_oneof![Just(-1.0), Just(1.0), -1.0..1.0_f64], 40),
            size in 0.01..3.0_f64,
        ) {
            let link = QNorm::new(40, 0.0).unwrap();
            let moved: Vec<f64> = v.iter().zip(&step).map(|(v, z)| v + size * z).collect();
            let largest = step.iter().fold(0.0_f64, |largest, z| largest.max(z.abs())) * size;
            let linear = link.conjugate(&v).value + size * dot(&link.weights(&v), &step);
            prop_assert!(link.conjugate(&moved).value <= linear + 0.5 * largest * largest + 1e-12);
        }

        #[test]
        fn the_link_is_the_gradient(v in prop::collection::vec(-2.0..2.0_f64, 9), j in 0..9_usize) {
            let link = QNorm::new(9, 0.3).unwrap();
            let h = 1e-5;
            let at = |step: f64| {
                let mut v = v.clone();
                v[j] += step;
                link.conjugate(&v).value
            };
            prop_assert!((link.weights(&v)[j] - (at(h) - at(-h)) / (2.0 * h)).abs() < 1e-7);
        }
    }
}
