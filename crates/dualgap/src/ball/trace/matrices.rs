//! Affine measurements: every example has a matrix of its own, and its prediction is `a_i = ⟨A_i, X⟩`. In phase
//! retrieval the matrix is the square of a vector, `A_i = v_i v_i'`.

use super::Map;
use super::map::{Written, squared_norm_above};
use crate::linalg::memory::MOST_ENTRIES;
use crate::linalg::memory::reserve_check;
use crate::linalg::underflow::{norm_above, product_above};
use crate::linalg::{LowRank, Operator, OuterSum, Row, Rows, UNDERFLOW, gamma, kernels};
use crate::{Error, Result};
use std::borrow::Cow;

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
    entries: Cow<'a, Rows>,
    shape: (usize, usize),
    squared_norms: Vec<f64>,
    /// Roundings of each entry: one for a product of two numbers.
    rounded: usize,
}

impl<'a> Matrices<'a> {
    /// A data row holds the entries of one matrix, row after row, `columns` entries to a row.
    pub fn new(entries: &'a Rows, columns: usize) -> Result<Self> {
        Self::of(Cow::Borrowed(entries), columns, 0)
    }

    /// The squares v_i v_i' of the data rows, so that predictions are v_i'Xv_i. They are written out, with as many
    /// entries for each row as the square of its length.
    ///
    /// ```
    /// use dualgap::linalg::{LowRank, Rows};
    /// use dualgap::ball::trace::{Map, Matrices};
    /// let map = Matrices::squares(&Rows::dense(&[vec![1.0, 2.0]])?)?;
    /// let x = LowRank::new(2, 2, vec![0.6, 0.8], vec![5.0], vec![0.6, 0.8])?;
    /// let mut a = [0.0];
    /// map.predict(&x, &mut a);
    /// assert!((a[0] - 5.0 * 2.2 * 2.2).abs() < 1e-12); // 5·⟨(1, 2), (0.6, 0.8)⟩²
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn squares(rows: &Rows) -> Result<Matrices<'static>> {
        let width = rows.width();
        let stored = |i: usize| rows.row(i).iter().filter(|&(_, x)| x != 0.0).count();
        let all = (0..rows.len()).map(|i| stored(i).saturating_mul(stored(i)));
        // An entry of a sparse row is a number and half a number for its place.
        reserve_check(all.fold(0_usize, usize::saturating_add).saturating_mul(2))?;
        if width.saturating_mul(width) > MOST_ENTRIES {
            return Err(Error::setting(format!(
                "the square of a vector of {width} numbers is larger than memory can hold"
            )));
        }
        let mut squares = Rows::sparse();
        for i in 0..rows.len() {
            let row: Vec<(usize, f64)> = rows.row(i).iter().filter(|&(_, x)| x != 0.0).collect();
            let of = |&(p, x): &(usize, f64)| {
                row.iter().map(|&(q, y)| ((p * width + q) as u32, x * y)).collect::<Vec<_>>()
            };
            squares.push_sparse(&row.iter().flat_map(of).collect::<Vec<_>>());
        }
        squares.fit_width(width * width);
        Matrices::of(Cow::Owned(squares), width, 1)
    }

    fn of(entries: Cow<'a, Rows>, columns: usize, rounded: usize) -> Result<Self> {
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
        let shape = (entries.width() / columns, columns);
        Ok(Self { entries, shape, squared_norms, rounded })
    }

    /// Returns `Σ y_i A_i` over some examples, without compensation.
    fn sum(&self, which: impl Iterator<Item = usize>, y: &[f64]) -> Written {
        let mut values = vec![0.0; self.entries.width()];
        for (i, &y) in which.zip(y) {
            match self.entries.row(i) {
                Row::Dense(row) => kernels::add_scaled(row, y, &mut values),
                row => row.for_each(|j, x| values[j] += y * x),
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
            let share = product_above(
                gamma(row.stored() + 3 * k + 16 + self.rounded),
                self.squared_norms[i].sqrt(),
            );
            let mut vanished = of_entry * row.norm1() + row.stored() as f64;
            if self.rounded > 0 {
                vanished += size * row.stored() as f64; // products that are the entries may underflow, too
            }
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
        let (values, error) = OuterSum::new(&self.entries, self.entries.width(), 1, y).to_dense();
        if self.rounded == 0 {
            return (values, error);
        }
        let each = y.iter().zip(&self.squared_norms).enumerate().map(|(i, (y, square))| {
            let vanished = product_above(UNDERFLOW, self.entries.row(i).stored() as f64);
            product_above(y.abs(), product_above(gamma(2 * self.rounded), square.sqrt()) + vanished)
        });
        (values, (error + each.sum::<f64>()) * (1.0 + 1e-6))
    }
}
