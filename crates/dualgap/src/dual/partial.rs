//! The sums of a certificate over some of the blocks: parts of a fixed size are computed on any number of threads, and added in
//! order.

use super::Found;
use crate::linalg::{CompensatedVec, Measured};
use crate::run::Basis;
pub(super) use crate::run::Mean;
use serde::{Deserialize, Serialize};

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
