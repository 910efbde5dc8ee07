//! The penalty of a weight, and the best value of a weight under it.

use crate::term::Free;

/// A change that is this small in units of the weight is rounding.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// `σ|w_j| + λ/2 w_j²` for every weight but the free one, which has a bound instead.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub lambda: f64,
    pub sigma: f64,
    pub nonnegative: bool,
    pub free: Option<Free>,
}

impl Terms {
    /// Returns the z that minimises `g(z − w) + h/2 (z − w)²` plus the penalty of weight `c`, for h > 0.
    #[inline]
    pub fn step(&self, c: usize, w: f64, g: f64, h: f64) -> f64 {
        let pull = h * w - g;
        let to = match self.free {
            Some(free) if free.column == c => (pull / h).clamp(-free.bound, free.bound),
            _ if pull > self.sigma => (pull - self.sigma) / (h + self.lambda),
            _ if pull < -self.sigma && !self.nonnegative => (pull + self.sigma) / (h + self.lambda),
            _ => 0.0,
        };
        if (to - w).abs() <= ROUNDING * w.abs() { w } else { to }
    }

    /// Whether this weight has no penalty.
    #[inline]
    pub fn is_free(&self, c: usize) -> bool {
        self.free.is_some_and(|free| free.column == c)
    }

    /// Returns the penalty of one weight.
    #[inline]
    pub fn of(&self, c: usize, w: f64) -> f64 {
        if self.is_free(c) { 0.0 } else { self.sigma * w.abs() + 0.5 * self.lambda * w * w }
    }

    /// Returns the penalty of all weights.
    pub fn value(&self, w: &[f64]) -> f64 {
        w.iter().enumerate().filter(|(_, w)| **w != 0.0).map(|(c, &w)| self.of(c, w)).sum()
    }

    /// Returns what draws a weight away from zero where the slope of the losses along it is −z: at zero it stays if this is at
    /// most σ.
    #[inline]
    pub fn pull(&self, z: f64) -> f64 {
        if self.nonnegative { z } else { z.abs() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // The step is judged by its promise: no other value of the weight is better.
        #[test]
        fn a_step_is_the_best_of_all(
            (lambda, sigma) in (0.0..2.0_f64, 0.0..2.0_f64),
            (w, g, h) in (-2.0..2.0_f64, -3.0..3.0_f64, 0.01..4.0_f64),
            (nonnegative, free) in any::<(bool, bool)>(),
            other in -4.0..4.0_f64,
        ) {
            let free = free.then_some(Free { column: 0, bound: 1.0 });
            let terms = Terms { lambda, sigma, nonnegative, free };
            let w = if nonnegative { w.abs() } else { w };
            let value = |z: f64| g * (z - w) + 0.5 * h * (z - w).powi(2) + terms.of(0, z);
            let to = terms.step(0, w, g, h);
            let other = match free {
                Some(free) => other.clamp(-free.bound, free.bound),
                None if nonnegative => other.abs(),
                None => other,
            };
            prop_assert!(value(to) <= value(other) + 1e-12);
        }
    }
}
