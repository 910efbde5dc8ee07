//! Affine measurements: every example has a matrix of its own, and its prediction is `a_i = ⟨A_i, X⟩`.

use super::Map;
use super::map::{Written, squared_norm_above};
use crate::linalg::memory::MOST_ENTRIES;
use crate::linalg::underflow::{norm_above, product_above};
use crate::linalg::{LowRank, Operator, OuterSum, Row, Rows, UNDERFLOW, gamma, kernels};
use crate::{Error, Result};

/// The inner products of X with given matrices; see the module's head.
///
/// ```
/// use dualgap::linalg::{LowRank, Rows};
/// use dualgap::ball::trace::{Map, Matrices};
/// // The trace, and the sum of the first row.
/// let matrices = Rows::dense(&[vec![1.0, 0.0, 0.0, 1.0], vec![1.0, 1.0, 0.0, 0.0]])?;
/// let map = Matrices::new(&matrices, 2)?;
/// let x = LowRank::new(2, 2, vec![1.0, 0.0], vec![5.0], vec![0.6, 0.8])?;
/// let mut a = [0.0; 2];
/// map.predict(&x, &mut a);
/// assert_eq!(a, [3.0, 7.0]);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Matrices<'a> {
    entries: &'a Rows,
    shape: (usize, usize),
    squared_norms: Vec<f64>,
}

impl<'a> Matrices<'a> {
    /// A data row holds the entries of one matrix, row after row, `columns` entries to a row.
    pub fn new(entries: &'a Rows, columns: usize) -> Result<Self> {
        if columns == 0 || !entries.width().is_multiple_of(columns) {
            let width = entries.width();
            return Err(Error::setting(format!(
                "{width} entries do not make a matrix of {columns} columns"
            )));
        }
        if entries.width() > MOST_ENTRIES {
            return Err(Error::setting("the matrices are larger than memory can hold"));
        }
        let squared_norms: Vec<f64> =
            (0..entries.len()).map(|i| squared_norm_above(entries.row(i))).collect();
        if let Some(i) = squared_norms.iter().position(|square| !square.is_finite()) {
            return Err(Error::setting(format!(
                "matrix {i} has a value that is not finite or is huge"
            )));
        }
        Ok(Self { entries, shape: (entries.width() / columns, columns), squared_norms })
    }

    /// Returns `Σ y_i A_i` over some examples, without compensation.
    fn sum(&self, which: impl Iterator<Item = usize>, y: &[f64]) -> Written {
        let mut values = vec![0.0; self.entries.width()];
        for (i, &y) in which.zip(y) {
            match self.entries.row(i) {
                Row::Dense(row) => kernels::add_scaled(row, y, &mut values),
                row @ Row::Sparse { .. } => row.for_each(|j, x| values[j] += y * x),
            }
        }
        Written { shape: self.shape, values }
    }
}

impl Map for Matrices<'_> {
    fn shape(&self) -> (usize, usize) {
        self.shape
    }

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn outputs(&self) -> usize {
        1
    }

    fn stored(&self) -> usize {
        self.entries.stored()
    }

    fn squared_norm(&self, i: usize) -> f64 {
        self.squared_norms[i]
    }

    fn predict(&self, x: &LowRank, a: &mut [f64]) {
        let x = x.to_dense();
        a.iter_mut().enumerate().for_each(|(i, a)| *a = kernels::score(self.entries.row(i), &x));
    }

    /// The entries of X and the products with them are both rounded, and either may underflow.
    fn rounding(&self, x: &LowRank, off: &mut [f64]) {
        let k = x.rank();
        let length = |factor: &[f64], j: usize| {
            let column: Vec<f64> = factor.chunks_exact(k).map(|row| row[j]).collect();
            norm_above(&column)
        };
        let term = |(j, &s): (usize, &f64)| {
            product_above(product_above(s, length(x.u(), j)), length(x.v(), j))
        };
        let size: f64 = x.s().iter().enumerate().map(term).sum();
        // An entry of X is a sum of k products u·s·v, in which u·s may underflow before v multiplies it.
        let largest = x.v().iter().fold(1.0_f64, |largest, v| largest.max(v.abs()));
        let of_entry = 2.0 * k as f64 * largest;
        for (i, off) in off.iter_mut().enumerate() {
            let row = self.entries.row(i);
            let share =
                product_above(gamma(row.stored() + 3 * k + 16), self.squared_norms[i].sqrt());
            let vanished = of_entry * row.norm1() + row.stored() as f64;
            *off = (product_above(share, size) + product_above(UNDERFLOW, vanished)) * (1.0 + 1e-6);
        }
    }

    fn image<'a>(&'a self, y: &'a [f64], _: usize) -> Box<dyn Operator + 'a> {
        Box::new(self.sum(0..self.len(), y))
    }

    /// Computes only those entries of X that the example's matrix has.
    fn predict_at(&self, x: &LowRank, i: usize, a: &mut [f64], buffer: &mut Vec<f64>) {
        let (k, columns) = (x.rank(), self.shape.1);
        buffer.clear();
        a[0] = 0.0;
        self.entries.row(i).for_each(|at, entry| {
            let (u, v) = (&x.u()[at / columns * k..][..k], &x.v()[at % columns * k..][..k]);
            let x: f64 = u.iter().zip(x.s()).zip(v).map(|((u, s), v)| u * s * v).sum();
            a[0] += entry * x;
        });
    }

    fn image_at<'a>(&'a self, which: &'a [u32], y: &'a [f64]) -> Box<dyn Operator + 'a> {
        Box::new(self.sum(which.iter().map(|&i| i as usize), y))
    }

    fn written(&self, y: &[f64], _: bool) -> (Vec<f64>, f64) {
        OuterSum::new(self.entries, self.entries.width(), 1, y).to_dense()
    }
}
