//! A matrix in factors, `U diag(s) V'`: the form of an iterate inside a trace-norm ball.
//!
//! The columns of U and of V are orthonormal up to rounding. No bound below assumes that: with `δ_U ≥ ‖U'U − I‖`
//! proven from the computed factors,
//!
//! ```text
//! ‖U diag(s) V'‖_*  ≤ √(1 + δ_U) √(1 + δ_V) Σ s        ‖AB‖_* ≤ ‖A‖_2 ‖B‖_*, twice
//! ‖U diag(s) V'‖_F² ≤ (1 + δ_U)(1 + δ_V) Σ s²
//! ```
//!
//! and the corresponding lower bounds with minus signs.

use super::dense::{add_product, beside, by_rows, product, scale_columns, thin_svd, to_rows};
use super::gram::gram;
use super::operator::Operator;
use crate::linalg::halt::never;
use crate::linalg::sum::squared_norm;
use crate::linalg::underflow::product_above;
use crate::linalg::{Measured, Row, Sum, UNIT_ROUNDOFF, gamma, kernels};
use crate::{Error, Result};
use dualgap_dense::{Mat, MatMut, MatRef};
use serde::{Deserialize, Serialize};

/// A `rows × columns` matrix `U diag(s) V'`; see the module's head.
///
/// ```
/// # use dualgap::linalg::LowRank;
/// // Three features, two outputs, rank one: every feature counts for the first output only.
/// let x = LowRank::new(3, 2, vec![0.6, 0.8, 0.0], vec![5.0], vec![1.0, 0.0])?;
/// assert_eq!(x.to_dense(), [3.0, 0.0, 4.0, 0.0, 0.0, 0.0]);
/// assert!((x.nuclear_norm().value - 5.0).abs() <= x.nuclear_norm().error);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Factors", into = "Factors")]
pub struct LowRank {
    rows: usize,
    columns: usize,
    /// In row-major order: the k numbers of a feature are adjacent.
    u: Vec<f64>,
    s: Vec<f64>,
    v: Vec<f64>,
}

/// The factors as stored in a file; they are checked when they are read.
#[derive(Clone, Serialize, Deserialize)]
struct Factors {
    rows: usize,
    columns: usize,
    u: Vec<f64>,
    s: Vec<f64>,
    v: Vec<f64>,
}

impl TryFrom<Factors> for LowRank {
    type Error = Error;

    fn try_from(from: Factors) -> Result<Self> {
        Self::new(from.rows, from.columns, from.u, from.s, from.v)
    }
}

impl From<LowRank> for Factors {
    fn from(x: LowRank) -> Self {
        Self { rows: x.rows, columns: x.columns, u: x.u, s: x.s, v: x.v }
    }
}

impl LowRank {
    /// Returns the matrix of these factors: `u` has k numbers per row, `v` has k numbers per column of the matrix,
    /// and `s` has k nonnegative numbers. The factors may be far from orthonormal; the bounds on the norms take that
    /// into account.
    pub fn new(rows: usize, columns: usize, u: Vec<f64>, s: Vec<f64>, v: Vec<f64>) -> Result<Self> {
        let k = s.len();
        if rows.checked_mul(k) != Some(u.len()) || columns.checked_mul(k) != Some(v.len()) {
            return Err(Error::setting(format!(
                "factors of {} and {} numbers do not make a matrix of rank {k} with {rows} rows and \
                 {columns} columns",
                u.len(),
                v.len()
            )));
        }
        if !u.iter().chain(&s).chain(&v).all(|x| x.is_finite()) || s.iter().any(|&s| s < 0.0) {
            return Err(Error::setting(
                "the factors of a low-rank matrix must be finite, and its singular values not negative",
            ));
        }
        Ok(Self { rows, columns, u, s, v })
    }

    /// Returns the zero matrix.
    pub fn zero(rows: usize, columns: usize) -> Self {
        Self { rows, columns, u: Vec::new(), s: Vec::new(), v: Vec::new() }
    }

    /// Converts such factors without checking their shapes.
    pub(crate) fn of(u: MatRef<'_, f64>, s: Vec<f64>, v: MatRef<'_, f64>) -> Self {
        let (rows, columns) = (u.nrows(), v.nrows());
        Self { rows, columns, u: to_rows(u), s, v: to_rows(v) }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// k, the number of terms.
    pub fn rank(&self) -> usize {
        self.s.len()
    }

    /// U, in row-major order.
    pub fn u(&self) -> &[f64] {
        &self.u
    }

    /// The singular values.
    pub fn s(&self) -> &[f64] {
        &self.s
    }

    /// V, in row-major order.
    pub fn v(&self) -> &[f64] {
        &self.v
    }

    pub(crate) fn left(&self) -> MatRef<'_, f64> {
        by_rows(&self.u, self.rows, self.rank())
    }

    pub(crate) fn right(&self) -> MatRef<'_, f64> {
        by_rows(&self.v, self.columns, self.rank())
    }

    /// Computes `out = X' a`, the scores of a data row, in O(stored · k + k · columns). `buffer` is a workspace.
    ///
    /// ```
    /// # use dualgap::linalg::{LowRank, Row};
    /// let x = LowRank::new(2, 2, vec![1.0, 0.0], vec![2.0], vec![0.0, 1.0])?;
    /// let mut out = [0.0; 2];
    /// x.scores(Row::sparse(&[0], &[3.0])?, &mut out, &mut Vec::new());
    /// assert_eq!(out, [0.0, 6.0]);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn scores(&self, row: Row<'_>, out: &mut [f64], buffer: &mut Vec<f64>) {
        let k = self.rank();
        buffer.clear();
        buffer.resize(k, 0.0);
        kernels::add_scores(row, &self.u, buffer);
        buffer.iter_mut().zip(&self.s).for_each(|(t, s)| *t *= s);
        for (y, out) in out.iter_mut().enumerate() {
            *out = kernels::dot(buffer, &self.v[y * k..(y + 1) * k]);
        }
    }

    /// Returns `factor · X`, for a nonnegative factor.
    #[must_use]
    pub fn scaled(mut self, factor: f64) -> Self {
        self.s.iter_mut().for_each(|s| *s *= factor);
        self
    }

    /// Returns X'.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self { rows: self.columns, columns: self.rows, u: self.v, s: self.s, v: self.u }
    }

    /// Returns the first k terms; after a decomposition these are the k largest.
    #[must_use]
    pub fn first(&self, k: usize) -> Self {
        let k = k.min(self.rank());
        let (u, v) = (self.left().subcols(0, k), self.right().subcols(0, k));
        Self::of(u, self.s[..k].to_vec(), v)
    }

    /// Returns the matrix with other singular values, one for each of the first columns; it drops the other columns.
    ///
    /// # Panics
    /// If there are more values than columns.
    #[must_use]
    pub fn with_values(&self, values: &[f64]) -> Self {
        Self { s: values.to_vec(), ..self.first(values.len()) }
    }

    /// Returns `a · X + b · Y`, recompressed: its factors are orthonormal, and terms that are only rounding are
    /// dropped.
    ///
    /// ```
    /// # use dualgap::linalg::LowRank;
    /// let x = LowRank::new(2, 1, vec![1.0, 0.0], vec![2.0], vec![1.0])?;
    /// let y = LowRank::new(2, 1, vec![0.0, 1.0], vec![4.0], vec![1.0])?;
    /// let half = LowRank::combined(0.5, &x, 0.5, &y)?;
    /// assert_eq!(half.rank(), 1); // one column has no more
    /// assert!((half.s()[0] - 5.0_f64.sqrt()).abs() < 1e-15);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn combined(a: f64, x: &Self, b: f64, y: &Self) -> Result<Self> {
        assert_eq!((x.rows, x.columns), (y.rows, y.columns), "the shapes of a sum differ");
        let mut weights: Vec<f64> = x.s.iter().map(|s| a * s).collect();
        weights.extend(y.s.iter().map(|s| b * s));
        let left = beside(x.left(), y.left()).qr();
        let right = beside(x.right(), y.right()).qr();
        // The core is small: R_U diag(s) R_V'.
        let mut core = left.thin_R().to_owned();
        scale_columns(&mut core, &weights);
        let (u, s, v) = thin_svd(product(core.as_ref(), right.thin_R().transpose()))?;
        let rounding = s.first().map_or(0.0, |top| 4.0 * f64::EPSILON * top);
        let k = s.iter().take_while(|&&s| s > rounding).count();
        let u = product(left.compute_thin_Q().as_ref(), u.subcols(0, k));
        let v = product(right.compute_thin_Q().as_ref(), v.subcols(0, k));
        Ok(Self::of(u.as_ref(), s[..k].to_vec(), v.as_ref()))
    }

    /// Returns `⟨X, Y⟩` without a bound on its rounding, for step lengths.
    ///
    /// ```
    /// # use dualgap::linalg::LowRank;
    /// let x = LowRank::new(2, 1, vec![0.6, 0.8], vec![2.0], vec![1.0])?;
    /// let y = LowRank::new(2, 1, vec![0.0, 1.0], vec![5.0], vec![1.0])?;
    /// assert_eq!(x.dot(&y), 8.0);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn dot(&self, other: &Self) -> f64 {
        assert_eq!((self.rows, self.columns), (other.rows, other.columns), "the shapes differ");
        let left = product(self.left().transpose(), other.left());
        let right = product(self.right().transpose(), other.right());
        let mut sum = Sum::default();
        for (j, &y) in other.s.iter().enumerate() {
            for (i, &x) in self.s.iter().enumerate() {
                sum.add(x * y * left[(i, j)] * right[(i, j)]);
            }
        }
        sum.total().value
    }

    /// Returns the entries in row-major order.
    pub fn to_dense(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.rows * self.columns];
        self.add_entries(1.0, &mut out);
        out
    }

    /// Adds `factor · X` to the entries of a row-major matrix.
    pub(crate) fn add_entries(&self, factor: f64, out: &mut [f64]) {
        let mut scaled = self.left().to_owned();
        scale_columns(&mut scaled, &self.s);
        let out = MatMut::from_row_major_slice_mut(out, self.rows, self.columns);
        add_product(out, factor, scaled.as_ref(), self.right().transpose());
    }

    /// Returns upper bounds on `‖U'U − I‖` and `‖V'V − I‖`: how far the factors are from orthonormal.
    pub(crate) fn defects(&self) -> (f64, f64) {
        (defect(&self.u, self.rank()), defect(&self.v, self.rank()))
    }

    /// Returns the nuclear norm of the product of the factors, with a bound on its error.
    pub fn nuclear_norm(&self) -> Measured {
        self.with_defects(self.s.iter().copied().collect::<Sum>().total())
    }

    /// Returns the squared Frobenius norm of the product of the factors, with a bound on its error.
    pub fn squared_norm(&self) -> Measured {
        self.with_defects(squared_norm(&self.s))
    }

    /// Adds the effect of the factors' defects to the error of a sum over the singular values.
    fn with_defects(&self, sum: Measured) -> Measured {
        let (u, v) = self.defects();
        let relative = (u + v + u * v) * (1.0 + 4.0 * f64::EPSILON);
        let moved = product_above(relative, sum.value + sum.error);
        let error = (sum.error + moved) * (1.0 + 4.0 * f64::EPSILON);
        // Factors so large that their products overflow prove nothing, so the error is infinite.
        Measured { value: sum.value, error: if error.is_nan() { f64::INFINITY } else { error } }
    }

    /// Returns the matrix, scaled down if its nuclear norm is not provably within the radius. After a projection the
    /// excess is only rounding.
    #[must_use]
    pub fn within(mut self, radius: f64) -> Self {
        let norm = self.nuclear_norm();
        let most = (norm.value + norm.error) * (1.0 + 2.0 * UNIT_ROUNDOFF);
        if most > radius {
            // Three roundings: the quotient, the product with each value, and the factor's own decrease.
            let factor = radius / most * (1.0 - 4.0 * f64::EPSILON);
            self.s.iter_mut().for_each(|s| *s *= factor);
        }
        self
    }
}

/// Returns an upper bound on `‖F'F − I‖` for a factor of k numbers per row.
fn defect(factor: &[f64], k: usize) -> f64 {
    if k == 0 {
        return 0.0;
    }
    let gram = gram(MatRef::from_column_major_slice(factor, k, factor.len() / k), &never);
    let mut away = Sum::default();
    for i in 0..k {
        for j in 0..k {
            let x = gram.product[(i, j)] - f64::from(u8::from(i == j));
            away.add(x * x);
        }
    }
    // Each difference and its square are rounded, and so is the sum.
    let total = away.total();
    (total.value + total.error).sqrt() * (1.0 + gamma(8)) + gram.error
}

impl Operator for LowRank {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn add_apply(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]) {
        let inner = self.inner(self.right(), by_rows(x, self.columns, width));
        let out = MatMut::from_row_major_slice_mut(out, self.rows, width);
        add_product(out, factor, self.left(), inner.as_ref());
    }

    fn add_transposed(&self, factor: f64, x: &[f64], width: usize, out: &mut [f64]) {
        let inner = self.inner(self.left(), by_rows(x, self.rows, width));
        let out = MatMut::from_row_major_slice_mut(out, self.columns, width);
        add_product(out, factor, self.right(), inner.as_ref());
    }
}

impl LowRank {
    /// Returns `diag(s) F' x`.
    fn inner(&self, factor: MatRef<'_, f64>, x: MatRef<'_, f64>) -> Mat<f64> {
        let mut inner = product(factor.transpose(), x);
        for j in 0..inner.ncols() {
            inner.col_as_slice_mut(j).iter_mut().zip(&self.s).for_each(|(x, s)| *x *= s);
        }
        inner
    }
}
