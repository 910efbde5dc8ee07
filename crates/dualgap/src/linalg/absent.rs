//! Matrices of low rank in a build without the feature `low-rank`: there are none, and who asks for one gets an error.

use super::Row;
use crate::{Error, Result};
use std::convert::Infallible;

/// Returns the error of everything that needs a matrix of low rank.
pub(crate) fn lacking() -> Error {
    Error::Lacking {
        message: "this build has no low-rank models (the trace ball, completion)".into(),
        remedy: "build dualgap with its Cargo feature `low-rank`".into(),
    }
}

/// A matrix of low rank, of which this build has none.
#[derive(Clone, Debug, PartialEq)]
pub struct LowRank {
    none: Infallible,
}

impl LowRank {
    /// Returns an error: this build has no feature `low-rank`.
    pub fn new(_: usize, _: usize, _: Vec<f64>, _: Vec<f64>, _: Vec<f64>) -> Result<Self> {
        Err(lacking())
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self.none {}
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        match self.none {}
    }

    /// The number of terms.
    pub fn rank(&self) -> usize {
        match self.none {}
    }

    /// U, in row-major order.
    pub fn u(&self) -> &[f64] {
        match self.none {}
    }

    /// The singular values.
    pub fn s(&self) -> &[f64] {
        match self.none {}
    }

    /// V, in row-major order.
    pub fn v(&self) -> &[f64] {
        match self.none {}
    }

    /// Computes the scores of a data row.
    pub fn scores(&self, _: Row<'_>, _: &mut [f64], _: &mut Vec<f64>) {
        match self.none {}
    }

    /// Returns the entries in row-major order.
    pub fn to_dense(&self) -> Vec<f64> {
        match self.none {}
    }
}
