//! The l1 norm alone, `g(w) = ‖w‖₁`, optionally for w ≥ 0 only.
//!
//! ```text
//! g*(v) = 0 if |v_j| ≤ 1 for every j (v_j ≤ 1 for w ≥ 0), else ∞
//! ```
//!
//! It is not strongly convex, so g* has no gradient that maps v to w, and steps cannot use this link. It serves the
//! certificate of a pure l1 problem, at weights and a dual point that another method has found.

use super::Link;
use crate::linalg::{Measured, Sum};

/// `‖w‖₁`, optionally with w ≥ 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PureL1 {
    /// Whether weights must be nonnegative.
    pub nonnegative: bool,
}

impl PureL1 {
    /// Returns the largest |v_j|, or the largest v_j for w ≥ 0: g*(v) is zero if it is at most 1.
    pub fn reach(self, v: &[f64]) -> f64 {
        v.iter().map(|&v| if self.nonnegative { v } else { v.abs() }).fold(0.0, f64::max)
    }
}

impl Link for PureL1 {
    /// Zero is a minimiser of `g(w) − ⟨v, w⟩` for every feasible v.
    fn weight(&self, _: usize, _: f64) -> f64 {
        0.0
    }

    fn value(&self, w: &[f64]) -> Measured {
        if self.nonnegative && w.iter().any(|&w| w < 0.0) {
            return Measured { value: f64::INFINITY, error: 0.0 };
        }
        w.iter().map(|w| w.abs()).collect::<Sum>().total()
    }

    fn conjugate(&self, v: &[f64]) -> Measured {
        self.conjugate_near(v, 0.0)
    }

    fn conjugate_near(&self, v: &[f64], distance: f64) -> Measured {
        // The sum of reach and distance is also rounded.
        let feasible = (self.reach(v) + distance).next_up() <= 1.0;
        Measured { value: if feasible { 0.0 } else { f64::INFINITY }, error: 0.0 }
    }
}
