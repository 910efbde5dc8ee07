//! The simplex `{x ≥ 0, Σ x_j = scale}`: distributions, or shares of a quantity.

use super::check_size;
use crate::methods::product::set::{Minimum, Query, Set};
use crate::term::ball::l1;
use crate::{Error, Result};

/// Nonnegative numbers that add up to `scale`.
///
/// ```
/// use dualgap::methods::product::{Query, Set, Simplex};
/// let simplex = Simplex::new(3, 2.0)?;
/// let mut corner = [0.0; 3];
/// simplex.minimise(&Query { gradient: &[0.5, -1.0, 0.0], at: &[2.0, 0.0, 0.0], tolerance: 0.0 }, &mut corner)?;
/// assert_eq!(corner, [0.0, 2.0, 0.0]);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simplex {
    dim: usize,
    scale: f64,
}

impl Simplex {
    /// Returns the simplex of `dim` numbers that add up to `scale`.
    pub fn new(dim: usize, scale: f64) -> Result<Self> {
        if dim == 0 {
            return Err(Error::setting("a simplex has at least one coordinate"));
        }
        check_size("sum of a simplex", scale)?;
        Ok(Self { dim, scale })
    }
}

impl Set for Simplex {
    fn dim(&self) -> usize {
        self.dim
    }

    fn radius(&self) -> f64 {
        self.scale
    }

    fn start(&self, x: &mut [f64]) {
        x.fill(0.0);
        x[0] = self.scale;
    }

    fn minimise(&self, query: &Query<'_>, corner: &mut [f64]) -> Result<Minimum> {
        let mut best = 0; // the first of those that tie
        for (j, &g) in query.gradient.iter().enumerate() {
            if g < query.gradient[best] {
                best = j;
            }
        }
        corner.fill(0.0);
        corner[best] = self.scale;
        Ok(Minimum::Exact)
    }

    /// A constant that is added to all numbers moves no projection. With the largest at `scale`, those that are below zero
    /// are zero in the projection, and it is that onto the l1 ball.
    fn project(&self, x: &mut [f64]) -> Result<()> {
        let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        x.iter_mut().for_each(|x| *x = (*x - largest + self.scale).max(0.0));
        l1::project(x, self.scale, &mut Vec::new());
        Ok(())
    }

    fn defect(&self, x: &[f64]) -> f64 {
        let negative: f64 = x.iter().map(|x| (-x).max(0.0)).sum();
        let positive: f64 = x.iter().map(|x| x.max(0.0)).sum();
        // Without the negative ones, and scaled to the right sum, x is in the simplex. A NaN is neither.
        let lost = if x.iter().any(|x| x.is_nan()) { f64::INFINITY } else { 0.0 };
        negative + (positive - self.scale).abs() + lost
    }
}
