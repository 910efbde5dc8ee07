//! The l1 ball `{Σ |x_j| ≤ radius}`.

use super::check_size;
use crate::methods::product::set::{Minimum, Query, Set};
use crate::term::ball::l1;
use crate::{Error, Result};

/// Numbers whose absolute values add up to at most `radius`.
///
/// ```
/// use dualgap::methods::product::{L1Ball, Query, Set};
/// let ball = L1Ball::new(3, 2.0)?;
/// let mut corner = [0.0; 3];
/// ball.minimise(&Query { gradient: &[0.5, -0.2, 0.0], at: &[0.0; 3], tolerance: 0.0 }, &mut corner)?;
/// assert_eq!(corner, [-2.0, 0.0, 0.0]);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct L1Ball {
    dim: usize,
    radius: f64,
}

impl L1Ball {
    /// Returns the ball in `dim` dimensions.
    pub fn new(dim: usize, radius: f64) -> Result<Self> {
        if dim == 0 {
            return Err(Error::setting("a ball has at least one coordinate"));
        }
        check_size("radius of a ball", radius)?;
        Ok(Self { dim, radius })
    }
}

impl Set for L1Ball {
    fn dim(&self) -> usize {
        self.dim
    }

    fn radius(&self) -> f64 {
        self.radius
    }

    fn start(&self, x: &mut [f64]) {
        x.fill(0.0);
    }

    fn minimise(&self, query: &Query<'_>, corner: &mut [f64]) -> Result<Minimum> {
        let mut best = 0; // the first of those that tie
        for (j, g) in query.gradient.iter().enumerate() {
            if g.abs() > query.gradient[best].abs() {
                best = j;
            }
        }
        corner.fill(0.0);
        corner[best] = -self.radius.copysign(query.gradient[best]);
        Ok(Minimum::Exact)
    }

    fn project(&self, x: &mut [f64]) -> Result<()> {
        l1::project(x, self.radius, &mut Vec::new());
        Ok(())
    }

    fn defect(&self, x: &[f64]) -> f64 {
        let norm: f64 = x.iter().map(|x| x.abs()).sum();
        if norm <= self.radius { 0.0 } else { norm - self.radius }
    }
}
