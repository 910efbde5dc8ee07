//! Products with the data: predictions, gradients, and the work that they take.

use crate::linalg::Rows;
use crate::linalg::kernels::{add_outer, add_scores};

/// A step by Cholesky may take as many passes over the data: conjugate gradients take hundreds on raw columns, and a pass of
/// theirs takes several times as long.
const WORTH: f64 = 400.0;

/// The largest number of weights whose matrix is written out, in 32 MB.
const MOST_WEIGHTS: usize = 2000;

/// The inputs, each with K predictions.
#[derive(Clone, Copy)]
pub struct Design<'a> {
    pub rows: &'a Rows,
    pub outputs: usize,
}

impl Design<'_> {
    /// Returns the number of predictions.
    pub fn predictions(&self) -> usize {
        self.rows.len() * self.outputs
    }

    /// Computes a = XW.
    pub fn predict(&self, w: &[f64], a: &mut [f64]) {
        a.fill(0.0);
        for (i, a) in a.chunks_exact_mut(self.outputs).enumerate() {
            add_scores(self.rows.row(i), w, a);
        }
    }

    /// Adds X'u to `out`.
    pub fn add_adjoint(&self, u: &[f64], out: &mut [f64]) {
        for (i, u) in u.chunks_exact(self.outputs).enumerate() {
            if u.iter().any(|&u| u != 0.0) {
                add_outer(self.rows.row(i), u, 1.0, out);
            }
        }
    }

    /// Returns the multiplications of a product with the data, at least one.
    pub fn entries(&self) -> f64 {
        (self.rows.stored() as f64 * self.outputs as f64).max(1.0)
    }

    /// Returns the work of the matrix of all weights and its factorisation, in passes over the data.
    pub fn cholesky_in_passes(&self) -> f64 {
        let k = self.outputs as f64;
        let of_row = |i| (self.rows.row(i).stored() as f64).powi(2);
        let squares = (0..self.rows.len()).map(of_row).sum::<f64>() * 0.25 * k * (k + 1.0);
        let dim = self.rows.width() as f64 * k;
        (squares + dim.powi(3) / 3.0) / self.entries()
    }

    /// Returns that work if it pays.
    pub fn passes_of_cholesky(&self) -> Option<f64> {
        let dim = self.rows.width().saturating_mul(self.outputs);
        let small = cfg!(feature = "low-rank") && dim <= MOST_WEIGHTS;
        small.then(|| self.cholesky_in_passes()).filter(|&passes| passes <= WORTH)
    }
}
