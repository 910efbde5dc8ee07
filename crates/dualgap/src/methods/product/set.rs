//! One factor of the product: a compact convex set, known by its linear minimisation oracle.

use crate::{Error, Result};

/// How good the point that an oracle found is known to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Minimum {
    /// No point of the set has a smaller inner product with the gradient, up to the rounding of plain sums of products,
    /// one for each coordinate. The certificate includes that rounding.
    Exact,
    /// No point of the set has an inner product below this, rounding included.
    AtLeast(f64),
    /// The oracle's promise, inequality (13) of the paper: the point attains the share [`Set::nu`] of the block's gap,
    /// but for the tolerance of the query. The certificate rests on that promise.
    Approximate,
    /// Nothing is known. The solver can step with it, but a run is then reported as uncertified.
    Unknown,
}

/// What a linear minimisation oracle is asked.
#[derive(Clone, Copy, Debug)]
pub struct Query<'q> {
    /// The partial gradient: the oracle looks for the point s with the least ⟨s, gradient⟩.
    pub gradient: &'q [f64],
    /// The current point x_i of this block. A share of the gap is one of `max_s ⟨x_i − s, gradient⟩`.
    pub at: &'q [f64],
    /// How much larger than the least one the inner product may be, if the oracle is [`Minimum::Approximate`]:
    /// `½ δ γ_k C_i` in the paper's notation, zero without [`ProductSettings::delta`](super::ProductSettings::delta).
    pub tolerance: f64,
}

/// A compact convex set in `dim` dimensions: all that a user writes for a set.
///
/// ```
/// use dualgap::Result;
/// use dualgap::methods::product::{Minimum, Query, Set};
///
/// /// A disc around the origin.
/// struct Disc {
///     radius: f64,
/// }
///
/// impl Set for Disc {
///     fn dim(&self) -> usize { 2 }
///     fn radius(&self) -> f64 { 1.42 * self.radius } // in the l1 norm
///     fn start(&self, x: &mut [f64]) { x.fill(0.0) }
///
///     fn minimise(&self, query: &Query<'_>, s: &mut [f64]) -> Result<Minimum> {
///         let norm = query.gradient[0].hypot(query.gradient[1]);
///         let factor = if norm > 0.0 { -self.radius / norm } else { 0.0 };
///         s.iter_mut().zip(query.gradient).for_each(|(s, g)| *s = factor * g);
///         // A normalised vector is not the exact minimiser, so the bound says how far off it may be.
///         Ok(Minimum::AtLeast(-self.radius * norm * (1.0 + 8.0 * f64::EPSILON)))
///     }
/// }
/// ```
pub trait Set {
    /// Returns the number of coordinates.
    fn dim(&self) -> usize;

    /// Returns an upper bound on `‖s‖₁` for all points s of the set. The certificate multiplies the rounding of the
    /// gradient by it.
    fn radius(&self) -> f64;

    /// Writes any point of the set to `x`. A run begins there.
    fn start(&self, x: &mut [f64]);

    /// Writes a point of the set with a small ⟨s, gradient⟩ to `corner`, and returns what is known of all other points.
    fn minimise(&self, query: &Query<'_>, corner: &mut [f64]) -> Result<Minimum>;

    /// Replaces x by the nearest point of the set. Only [`Target::Proximal`](super::Target::Proximal) needs it.
    fn project(&self, x: &mut [f64]) -> Result<()> {
        let _ = x;
        Err(Error::setting("proximal steps need a projection, and a set of the product has none"))
    }

    /// Returns ν, the share of a block's gap that an [`Approximate`](Minimum::Approximate) oracle attains. The predefined
    /// steps are `2n/(νk + 2n)` with the least ν of all sets.
    fn nu(&self) -> f64 {
        1.0
    }

    /// Returns an upper bound on the l1 distance of x from the set. Points are convex combinations of what `start` and
    /// `minimise` wrote, so that they leave the set by rounding only; the certificate includes what that costs, and
    /// more than rounding is an error. Without this method, the run trusts the oracle to stay in its set.
    fn defect(&self, x: &[f64]) -> f64 {
        let _ = x;
        0.0
    }
}

macro_rules! by_reference {
    ($($pointer:ty),*) => {$(
        impl<S: Set + ?Sized> Set for $pointer {
            fn dim(&self) -> usize {
                (**self).dim()
            }

            fn radius(&self) -> f64 {
                (**self).radius()
            }

            fn start(&self, x: &mut [f64]) {
                (**self).start(x);
            }

            fn minimise(&self, query: &Query<'_>, corner: &mut [f64]) -> Result<Minimum> {
                (**self).minimise(query, corner)
            }

            fn project(&self, x: &mut [f64]) -> Result<()> {
                (**self).project(x)
            }

            fn nu(&self) -> f64 {
                (**self).nu()
            }

            fn defect(&self, x: &[f64]) -> f64 {
                (**self).defect(x)
            }
        }
    )*};
}

// A product of sets of several types is one of `Box<dyn Set>`.
by_reference!(&S, Box<S>);
