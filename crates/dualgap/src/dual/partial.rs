//! The sums of a certificate over some of the blocks: parts of a fixed size are computed on any number of threads, and added in
//! order.

use super::Found;
use crate::linalg::underflow::product_above;
use crate::linalg::{CompensatedVec, Measured, Sum, UNIT_ROUNDOFF};
use crate::run::Basis;
use serde::{Deserialize, Serialize};

/// A mass is a quotient by a compensated sum: three roundings, and one for the product it enters.
const MASS_ROUNDING: f64 = 4.0 * UNIT_ROUNDOFF;

/// A mean over the blocks to which terms may still be added, and the magnitude of its terms.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Mean {
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

/// The losses of some of the blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SomeLosses {
    /// The bounds on the losses, ...
    pub bounds: Mean,
    /// ... and the losses that were found, where they are not the same.
    pub values: Option<Mean>,
    pub certified: bool,
    pub basis: Basis,
}

impl SomeLosses {
    pub fn add(&mut self, found: Found, error: f64, mass: f64) {
        if found.value.to_bits() != found.bound.to_bits() && self.values.is_none() {
            self.values = Some(self.bounds.clone());
        }
        if let Some(values) = &mut self.values {
            values.add(Measured { value: found.value, error }, mass);
        }
        self.bounds.add(Measured { value: found.bound, error }, mass);
        self.certified &= found.bound < f64::INFINITY;
        self.basis = self.basis.weaker(found.basis);
    }

    /// Adds exact losses of many blocks.
    pub fn add_all(&mut self, found: &[f64], errors: &[f64], masses: &[f64]) {
        if let Some(values) = &mut self.values {
            values.add_all(found, errors, masses);
        }
        self.bounds.add_all(found, errors, masses);
        self.certified &= found.iter().all(|&found| found < f64::INFINITY);
    }

    pub fn add_losses(&mut self, other: &Self) {
        if other.values.is_some() && self.values.is_none() {
            self.values = Some(self.bounds.clone());
        }
        if let Some(values) = &mut self.values {
            values.add_mean(other.values.as_ref().unwrap_or(&other.bounds));
        }
        self.bounds.add_mean(&other.bounds);
        self.certified &= other.certified;
        self.basis = self.basis.weaker(other.basis);
    }
}

impl Default for SomeLosses {
    fn default() -> Self {
        Self { bounds: Mean::default(), values: None, certified: true, basis: Basis::Exact }
    }
}

/// The dual values of some of the blocks, and their part of v.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SomeDual {
    pub mean: Mean,
    pub reach: f64,
    pub v: CompensatedVec,
}

impl SomeDual {
    pub fn add_dual(&mut self, other: &Self) {
        self.mean.add_mean(&other.mean);
        self.reach += other.reach;
        self.v.add_sum(&other.v);
    }
}
