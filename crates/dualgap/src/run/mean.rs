//! A mean of terms with masses, as a certificate needs it: its sum is compensated, and its error is bounded.
//!
//! ```text
//! Σ m_i t_i,     error ≤ Σ m_i error_i + the rounding of the sum + 4u Σ m_i |t_i|
//! ```
//!
//! The last term is for masses that are rounded themselves.

use crate::linalg::underflow::product_above;
use crate::linalg::{Measured, Sum, UNIT_ROUNDOFF};
use serde::{Deserialize, Serialize};

/// A mass is a quotient by a compensated sum: three roundings, and one for the product it enters.
const MASS_ROUNDING: f64 = 4.0 * UNIT_ROUNDOFF;

/// A mean to which terms may still be added, and the magnitude of its terms.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Mean {
    pub sum: Sum,
    magnitude: f64,
}

impl Mean {
    /// Returns a sum whose terms have masses that are part of their errors already.
    pub fn of(sum: Sum) -> Self {
        Self { sum, magnitude: 0.0 }
    }

    /// Adds a term with its mass.
    pub fn add(&mut self, term: Measured, mass: f64) {
        self.sum.add_measured(term.scaled(mass));
        self.magnitude += product_above(mass, term.value.abs());
    }

    /// Adds many terms with their masses.
    pub fn add_all(&mut self, values: &[f64], errors: &[f64], masses: &[f64]) {
        self.magnitude += self.sum.add_products(values, errors, masses);
    }

    /// Adds all terms of another mean, whose masses are shares of the same total.
    pub fn add_mean(&mut self, other: &Self) {
        self.sum.add_sum(&other.sum);
        self.magnitude += other.magnitude;
    }

    pub fn total(&self) -> Measured {
        let mut value = self.sum.total();
        value.error += product_above(MASS_ROUNDING, self.magnitude) * 1.000_001;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten tenths are one, and ten times the number nearest to a tenth are more: the products are known, the masses are not.
    #[test]
    fn the_error_covers_the_rounding_of_masses() {
        let mut mean = Mean::default();
        (0..10).for_each(|_| mean.add(Measured { value: 1.0, error: 0.0 }, 0.1));
        mean.add(Measured { value: -1.0, error: 0.0 }, 1.0);
        let total = mean.total();
        assert!(total.value != 0.0 && total.value.abs() <= total.error, "{total:?}");
        assert!(total.error >= mean.sum.total().error + 2.0 * MASS_ROUNDING && total.error < 1e-14);
    }

    #[test]
    fn the_parts_of_a_mean_are_bounded_as_the_whole_is() {
        let (mut whole, mut parts) = (Mean::default(), [Mean::default(), Mean::default()]);
        for k in 0..1000_usize {
            let term = Measured::rounded(1.0 / (k as f64 + 0.7), 1);
            whole.add(term, 1e-3);
            parts[k % 2].add(term, 1e-3);
        }
        let [mut joined, other] = parts;
        joined.add_mean(&other);
        let (whole, joined) = (whole.total(), joined.total());
        assert!((whole.value - joined.value).abs() <= whole.error + joined.error);
        assert!(joined.error < 1e-14);
    }
}
