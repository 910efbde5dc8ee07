//! The link from the dual image v to the weights: w = ∇g*(v).
//!
//! With `P(w) = (mean loss) + λ g(w)` the dual maintains `v = (1/λ) Σ mass_i X_i α_i`, its value is
//! `(mean dual) − λ g*(v)`, and the weights are `w = ∇g*(v)`. A regulariser enters the engine only
//! through this link. Contract: g is 1-strongly convex in the norm dual to `NORM` (so g* is 1-smooth and
//! the engine's quadratic line search never lowers the dual), and ∇g* acts on one coordinate at a
//! time, except for a factor that all coordinates may share.

use crate::linalg::underflow::{norm_above, product_above};
use crate::linalg::{Measured, UNDERFLOW, sum::squared_norm};
use std::borrow::Cow;

/// A norm of v, and of an example's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// ‖·‖₂, dual to itself.
    Euclidean,
    /// ‖·‖_∞, dual to ‖·‖₁.
    Largest,
}

/// What blocks read in the place of weights: for most links the weights themselves.
#[derive(Clone, Debug)]
pub struct Readable<'w> {
    /// The numbers that blocks read, laid out as the weights are.
    pub values: Cow<'w, [f64]>,
    /// A bound on the error of each of them; zero if they are the weights.
    pub error: f64,
}

/// A regulariser as the engine sees it; see the module's head.
///
/// A user's own link, here of the elastic net `½‖w‖² + s‖w‖₁`, which is soft thresholding:
///
/// ```
/// use dualgap::linalg::{Measured, Sum, squared_norm};
/// use dualgap::term::Link;
///
/// #[derive(Clone)]
/// struct ElasticNet(f64);
///
/// impl Link for ElasticNet {
///     fn weight(&self, _: usize, v: f64) -> f64 {
///         v.signum() * (v.abs() - self.0).max(0.0)
///     }
///     fn value(&self, w: &[f64]) -> Measured {
///         let l1: Sum = w.iter().map(|w| w.abs()).collect();
///         let mut total = Sum::default();
///         total.add_measured(squared_norm(w).scaled(0.5));
///         total.add_measured(l1.total().scaled(self.0));
///         total.total()
///     }
///     fn conjugate(&self, v: &[f64]) -> Measured {
///         let w: Vec<f64> = v.iter().enumerate().map(|(j, &v)| self.weight(j, v)).collect();
///         let value = squared_norm(&w).scaled(0.5);
///         // each |v| − s is rounded once; what squares lose by underflow is in their own error
///         Measured { error: value.error + 4.0 * f64::EPSILON * value.value, ..value }
///     }
/// }
/// assert_eq!(ElasticNet(1.0).weight(0, -3.0), -2.0);
/// ```
pub trait Link: Clone + Send + Sync {
    /// Whether w = v, so that one vector serves as both.
    const IDENTITY: bool = false;

    /// Whether all weights share a factor that depends on all of v: [`weight`](Self::weight) then leaves it out, and is
    /// relative to a reference for the size of v.
    const COUPLED: bool = false;

    /// Whether the weights are coefficients of functions, and blocks read the values of these functions: a kernel. A
    /// step then changes few weights and many values. The link is the identity, and the norm is the kernel's.
    const SPREAD: bool = false;

    /// The norm in whose dual norm g is 1-strongly convex.
    const NORM: Norm = Norm::Euclidean;

    /// Returns coordinate `j` of `w = ∇g*(v)`.
    fn weight(&self, j: usize, v: f64) -> f64;

    /// For coupled links: the term of a coordinate in the sum that the factor depends on.
    fn share(&self, _j: usize, _v: f64, _weight: f64) -> f64 {
        0.0
    }

    /// For coupled links: the factor, if the shares have this sum.
    fn factor(&self, _shares: f64) -> f64 {
        1.0
    }

    /// For coupled links: a reference that suits this v.
    fn reference(&self, _v: &[f64]) -> f64 {
        1.0
    }

    /// For coupled links: the link with another reference.
    #[must_use]
    fn based(&self, _reference: f64) -> Self {
        self.clone()
    }

    /// Returns `w = ∇g*(v)`.
    fn weights(&self, v: &[f64]) -> Vec<f64> {
        v.iter().enumerate().map(|(j, &v)| self.weight(j, v)).collect()
    }

    /// Returns what blocks read at these weights.
    fn readable<'w>(&self, w: &'w [f64]) -> Readable<'w> {
        Readable { values: Cow::Borrowed(w), error: 0.0 }
    }

    /// For links that spread: whether this weight is a coefficient. Blocks read the others as they are.
    fn is_coefficient(&self, _index: usize) -> bool {
        false
    }

    /// For links that spread: updates the values that blocks read after these changes of coefficients, which it may
    /// reorder.
    fn spread(&self, _changes: &mut [(usize, f64)], _values: &mut [f64]) {}

    /// Returns an upper bound on the norm of every vector that is nowhere larger than v in magnitude.
    fn norm_above(&self, v: &[f64]) -> f64 {
        norm_above(v)
    }

    /// Returns the link of `(λ g(w) + κ/2‖w‖²)/(λ + κ)`, which accelerated steps use, or none if this type cannot
    /// represent it.
    fn strengthened(&self, _lambda: f64, _kappa: f64) -> Option<Self> {
        None
    }

    /// Returns g(w), with a bound on its rounding.
    fn value(&self, w: &[f64]) -> Measured;

    /// Returns g*(v), with a bound on its rounding.
    fn conjugate(&self, v: &[f64]) -> Measured;

    /// Bounds g* at a vector that is known only to be within a distance of v: the value at v, off by at most
    /// `distance·‖w‖ + distance²/2`, because g* is 1-smooth with gradient w.
    fn conjugate_near(&self, v: &[f64], distance: f64) -> Measured {
        let w_norm = if Self::IDENTITY {
            norm_above(v)
        } else {
            // The weights are rounded, and may have underflowed.
            norm_above(&self.weights(v)) + v.len() as f64 * UNDERFLOW
        };
        let mut value = self.conjugate(v);
        value.error += product_above(distance, w_norm * 1.000_001 + distance / 2.0) * 1.000_001;
        value
    }
}

/// `g(w) = ½‖w‖²`, its own conjugate; the link is the identity.
#[derive(Clone, Copy, Debug, Default)]
pub struct L2;

impl Link for L2 {
    const IDENTITY: bool = true;

    fn weight(&self, _: usize, v: f64) -> f64 {
        v
    }

    fn value(&self, w: &[f64]) -> Measured {
        squared_norm(w).scaled(0.5)
    }

    fn conjugate(&self, v: &[f64]) -> Measured {
        squared_norm(v).scaled(0.5)
    }

    fn strengthened(&self, _: f64, _: f64) -> Option<Self> {
        Some(Self)
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
        ) {
            let w = L2.weights(&v);
            prop_assert!((L2.value(&w).value + L2.conjugate(&v).value - dot(&w, &v)).abs() < 1e-12);
            prop_assert!(L2.value(&other).value + L2.conjugate(&v).value >= dot(&other, &v) - 1e-12);
        }
    }
}
