//! Products with the data: predictions, gradients, and the work that they take.

use crate::linalg::Rows;
use crate::linalg::kernels::{add_outer, add_scores};

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

    /// Returns the multiplications of the sum of all squares `x_i x_i'`, of each pair of outputs.
    pub fn squares(&self) -> f64 {
        let k = self.outputs as f64;
        let of_row = |i| (self.rows.row(i).stored() as f64).powi(2);
        (0..self.rows.len()).map(of_row).sum::<f64>() * 0.25 * k * (k + 1.0)
    }
}
