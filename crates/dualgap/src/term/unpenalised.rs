//! A regulariser that does not penalise one weight: the intercept's.
//!
//! ```text
//! g₀(w) = g(w with w_j = 0) for |w_j| ≤ bound, else ∞,        g₀*(v) = g*(v with v_j = 0) + bound·|v_j|
//! ```
//!
//! Without a bound the dual would require v_j to be exactly zero, which a sum of rounded numbers is not. As with pure
//! l1, steps cannot use this link; it serves the certificate.

use super::Link;
use crate::linalg::underflow::product_above;
use crate::linalg::{Measured, UNDERFLOW, UNIT_ROUNDOFF};
use serde::{Deserialize, Serialize};

/// A weight that is not penalised.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Free {
    /// The index of the weight.
    pub column: usize,
    /// The largest absolute value of the weight.
    pub bound: f64,
}

impl Free {
    /// The intercept in this column, for these targets: its bound is a hundred times the largest of them, and at least
    /// a hundred thousand.
    ///
    /// ```
    /// # use dualgap::term::Free;
    /// assert_eq!(Free::intercept(3, &[-1.0, 1.0]).bound, 1e5);
    /// ```
    pub fn intercept(column: usize, targets: &[f64]) -> Self {
        let largest = targets.iter().fold(1e3, |largest: f64, y| largest.max(y.abs()));
        Self { column, bound: 100.0 * largest }
    }
}

/// The link's regulariser for all weights except the free one, if there is one.
#[derive(Clone, Debug)]
pub struct Unpenalised<L> {
    /// The link of all other weights.
    pub link: L,
    /// The free weight.
    pub free: Option<Free>,
}

impl<L> Unpenalised<L> {
    /// Returns the vector with the free coordinate set to zero, and that coordinate.
    fn part(free: Free, x: &[f64]) -> (Vec<f64>, f64) {
        let mut rest = x.to_vec();
        let own = std::mem::replace(&mut rest[free.column], 0.0);
        (rest, own)
    }
}

impl<L: Link> Link for Unpenalised<L> {
    /// Returns zero for the free weight, for which v determines nothing: any value within its bound may be the best.
    fn weight(&self, j: usize, v: f64) -> f64 {
        match self.free {
            Some(free) if free.column == j => 0.0,
            _ => self.link.weight(j, v),
        }
    }

    fn weights(&self, v: &[f64]) -> Vec<f64> {
        let mut w = self.link.weights(v);
        if let Some(free) = self.free {
            w[free.column] = 0.0;
        }
        w
    }

    fn value(&self, w: &[f64]) -> Measured {
        let Some(free) = self.free else { return self.link.value(w) };
        let (rest, own) = Self::part(free, w);
        if own.abs() > free.bound {
            return Measured { value: f64::INFINITY, error: 0.0 };
        }
        self.link.value(&rest)
    }

    fn conjugate(&self, v: &[f64]) -> Measured {
        self.conjugate_near(v, 0.0)
    }

    fn conjugate_near(&self, v: &[f64], distance: f64) -> Measured {
        let Some(free) = self.free else { return self.link.conjugate_near(v, distance) };
        let (rest, own) = Self::part(free, v);
        let mut value = self.link.conjugate_near(&rest, distance);
        let most = free.bound * own.abs();
        value.value += most;
        let vanished = if own == 0.0 { 0.0 } else { UNDERFLOW };
        value.error += product_above(free.bound, distance) + vanished;
        value.error += product_above(4.0 * UNIT_ROUNDOFF, most + value.value.abs());
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::kernels::dot;
    use crate::term::L2;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fenchel_young_holds_and_is_tight_at_the_best_weights(
            v in prop::collection::vec(-3.0..3.0_f64, 4),
            other in prop::collection::vec(-3.0..3.0_f64, 4),
            column in 0..4_usize,
        ) {
            let free = Free { column, bound: 5.0 };
            let link = Unpenalised { link: L2, free: Some(free) };
            let mut best = link.weights(&v);
            best[column] = free.bound * v[column].signum();
            let conjugate = link.conjugate(&v).value;
            prop_assert!((link.value(&best).value + conjugate - dot(&best, &v)).abs() < 1e-12);
            prop_assert!(link.value(&other).value + conjugate >= dot(&other, &v) - 1e-12);
            best[column] *= 1.001;
            prop_assert_eq!(link.value(&best).value, f64::INFINITY);
        }
    }
}
