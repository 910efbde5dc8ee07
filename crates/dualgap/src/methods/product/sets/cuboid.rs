//! The cuboid `{lower_j ≤ x_j ≤ upper_j}`.

use crate::methods::product::set::{Minimum, Query, Set};
use crate::{Error, Result};

/// Numbers between bounds, each with its own.
///
/// ```
/// use dualgap::methods::product::{Cuboid, Query, Set};
/// let cuboid = Cuboid::new(vec![0.0, -1.0], vec![2.0, 1.0])?;
/// let mut corner = [0.0; 2];
/// cuboid.minimise(&Query { gradient: &[0.5, -0.2], at: &[0.0; 2], tolerance: 0.0 }, &mut corner)?;
/// assert_eq!(corner, [0.0, 1.0]);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Cuboid {
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Cuboid {
    /// Returns the cuboid between two corners.
    pub fn new(lower: Vec<f64>, upper: Vec<f64>) -> Result<Self> {
        if lower.is_empty() || lower.len() != upper.len() {
            return Err(Error::setting(
                "a cuboid has a lower and an upper bound for each coordinate, and at least one",
            ));
        }
        for (j, (&low, &high)) in lower.iter().zip(&upper).enumerate() {
            if !(low.is_finite() && high.is_finite() && low <= high) {
                return Err(Error::setting(format!(
                    "coordinate {j} of a cuboid has the bounds {low} and {high}: give finite ones in order"
                )));
            }
        }
        Ok(Self { lower, upper })
    }

    fn bounds(&self) -> impl Iterator<Item = (f64, f64)> {
        self.lower.iter().copied().zip(self.upper.iter().copied())
    }
}

impl Set for Cuboid {
    fn dim(&self) -> usize {
        self.lower.len()
    }

    fn radius(&self) -> f64 {
        self.bounds().map(|(low, high)| low.abs().max(high.abs())).sum()
    }

    fn start(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.lower);
    }

    fn minimise(&self, query: &Query<'_>, corner: &mut [f64]) -> Result<Minimum> {
        for ((s, &g), (low, high)) in corner.iter_mut().zip(query.gradient).zip(self.bounds()) {
            *s = if g < 0.0 { high } else { low };
        }
        Ok(Minimum::Exact)
    }

    fn project(&self, x: &mut [f64]) -> Result<()> {
        x.iter_mut().zip(self.bounds()).for_each(|(x, (low, high))| *x = x.clamp(low, high));
        Ok(())
    }

    fn defect(&self, x: &[f64]) -> f64 {
        let outside = |(x, (low, high)): (&f64, (f64, f64))| {
            if *x >= low && *x <= high { 0.0 } else { (low - x).max(x - high) }
        };
        let lost = if x.iter().any(|x| x.is_nan()) { f64::INFINITY } else { 0.0 };
        x.iter().zip(self.bounds()).map(outside).sum::<f64>() + lost
    }
}
