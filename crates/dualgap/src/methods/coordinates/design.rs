//! The data by columns: predictions and slopes of all weights.

use super::column;
use crate::dual::problem::Masses;
use crate::linalg::{Columns, Rows};

/// The columns with K weights each; weight `c` is that of column `c / K` for output `c % K`.
pub struct Design {
    pub columns: Columns,
    pub masses: Masses,
    pub outputs: usize,
    /// N_j = √(Σ mass_i x_ij²).
    pub lengths: Vec<f64>,
}

impl Design {
    pub fn new(rows: &Rows, masses: Masses, outputs: usize) -> Self {
        let columns = Columns::of(rows);
        let each: Vec<f64> = masses.iter().collect();
        let length = |j| column::weighted_square(columns.column(j), &each).sqrt();
        let lengths = (0..columns.len()).map(length).collect();
        Self { columns, masses, outputs, lengths }
    }

    /// Returns the number of weights.
    pub fn dim(&self) -> usize {
        self.columns.len() * self.outputs
    }

    /// Returns the entries of the column of a weight.
    #[inline]
    pub fn entries(&self, c: usize) -> u64 {
        self.columns.column(c / self.outputs).stored() as u64
    }

    /// Adds `factor` times the column of weight `c` to its output's predictions.
    #[inline]
    pub fn add(&self, c: usize, factor: f64, a: &mut [f64]) {
        let k = self.outputs;
        if k == 1 {
            return column::add(self.columns.column(c), factor, a);
        }
        self.columns.column(c / k).for_each(|i, x| a[i * k + c % k] += factor * x);
    }

    /// Returns `Xw` for these weights, zero for all others, and the entries that were touched.
    pub fn predict(&self, weights: impl Iterator<Item = (usize, f64)>) -> (Vec<f64>, u64) {
        let (mut a, mut touched) = (vec![0.0; self.masses.len() * self.outputs], 0);
        for (c, w) in weights.filter(|&(_, w)| w != 0.0) {
            self.add(c, w, &mut a);
            touched += self.entries(c);
        }
        (a, touched)
    }

    /// Writes `X's` for all weights but those that were dropped, whose slopes stay as they are; returns the entries
    /// that were touched.
    pub fn slopes(&self, s: &[f64], dropped: &[bool], z: &mut [f64]) -> u64 {
        let (k, mut touched) = (self.outputs, 0);
        for j in 0..self.columns.len() {
            let own = j * k..(j + 1) * k;
            if dropped[own.clone()].iter().all(|&dropped| dropped) {
                continue;
            }
            let (column, z) = (self.columns.column(j), &mut z[own]);
            if let [z] = z {
                *z = column::dot(column, s);
            } else {
                z.fill(0.0);
                column.for_each(|i, x| {
                    z.iter_mut().zip(&s[i * k..(i + 1) * k]).for_each(|(z, s)| *z += x * s);
                });
            }
            touched += column.stored() as u64;
        }
        touched
    }
}
