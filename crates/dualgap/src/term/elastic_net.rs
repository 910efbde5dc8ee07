//! The elastic net, and nonnegative weights: `g(w) = ½‖w‖² + t‖w‖₁`, optionally for w ≥ 0 only.
//!
//! ```text
//! ∇g*(v) = soft(v, t), or max(v − t, 0) for w ≥ 0,        g*(v) = ½‖∇g*(v)‖²
//! ```
//!
//! In the objective `… + λ/2‖w‖² + σ‖w‖₁` the threshold is t = σ/λ.

use super::Link;
use crate::linalg::underflow::product_above;
use crate::linalg::{Measured, Sum, UNDERFLOW, UNIT_ROUNDOFF, sum::squared_norm};

/// `½‖w‖² + threshold·‖w‖₁`, optionally with w ≥ 0.
///
/// ```
/// # use dualgap::term::{ElasticNet, Link};
/// let link = ElasticNet { threshold: 1.0, nonnegative: false, free: None };
/// assert_eq!((link.weight(0, -3.0), link.weight(0, 0.5)), (-2.0, 0.0));
/// assert_eq!(ElasticNet { nonnegative: true, ..link }.weight(0, -3.0), 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElasticNet {
    /// σ/λ.
    pub threshold: f64,
    /// Whether weights must be nonnegative.
    pub nonnegative: bool,
    /// A weight that has neither the l1 term nor the sign constraint, only the square.
    pub free: Option<usize>,
}

/// A bound on the difference of a threshold from the exact σ/λ: the quotient is rounded, and may have underflowed.
pub(super) fn threshold_error(threshold: f64) -> f64 {
    2.0 * UNIT_ROUNDOFF * threshold + UNDERFLOW
}

impl Link for ElasticNet {
    #[inline]
    fn weight(&self, j: usize, v: f64) -> f64 {
        if self.free == Some(j) {
            v
        } else if v > self.threshold {
            v - self.threshold
        } else if v < -self.threshold && !self.nonnegative {
            v + self.threshold
        } else {
            0.0
        }
    }

    fn value(&self, w: &[f64]) -> Measured {
        let bound = || w.iter().enumerate().filter(|&(j, _)| self.free != Some(j)).map(|(_, w)| w);
        if self.nonnegative && bound().any(|&w| w < 0.0) {
            return Measured { value: f64::INFINITY, error: 0.0 };
        }
        let l1 = bound().map(|w| w.abs()).collect::<Sum>().total();
        let mut total = Sum::default();
        total.add_measured(squared_norm(w).scaled(0.5));
        let mut part = l1.scaled(self.threshold);
        part.error += product_above(threshold_error(self.threshold), l1.value + l1.error);
        total.add_measured(part);
        total.total()
    }

    fn conjugate(&self, v: &[f64]) -> Measured {
        let w = self.weights(v);
        let value = squared_norm(&w).scaled(0.5);
        // Each |v| − t is rounded once, and then squared. If t is off by δ, each |v| − t is off by at most δ, and only
        // those v count that are above t, or would be above the exact t.
        let off = threshold_error(self.threshold);
        let l1 = w.iter().map(|w| w.abs()).collect::<Sum>().total();
        let near = |v: &&f64| **v != 0.0 && v.abs() >= self.threshold - 2.0 * off;
        let most = l1.value + l1.error + v.iter().filter(near).count() as f64 * off;
        let moved = product_above(off, most) * 1.000_001;
        Measured { error: value.error + 4.0 * UNIT_ROUNDOFF * value.value + moved, ..value }
    }

    fn strengthened(&self, lambda: f64, kappa: f64) -> Option<Self> {
        Some(Self { threshold: self.threshold * (lambda / (lambda + kappa)), ..*self })
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
            v in prop::collection::vec(-3.0..3.0_f64, 4),
            other in prop::collection::vec(-3.0..3.0_f64, 4),
            threshold in 0.0..2.0_f64,
            nonnegative in any::<bool>(),
            free in prop::option::of(0..4_usize),
        ) {
            let link = ElasticNet { threshold, nonnegative, free };
            let w = link.weights(&v);
            let product = dot(&w, &v);
            prop_assert!((link.value(&w).value + link.conjugate(&v).value - product).abs() < 1e-12);
            prop_assert!(link.value(&other).value + link.conjugate(&v).value >= dot(&other, &v) - 1e-12);
        }
    }
}
