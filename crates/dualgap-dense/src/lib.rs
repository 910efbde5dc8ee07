//! Products and decompositions of dense matrices of 64-bit numbers, by faer.
//!
//! faer is generic: what it does is compiled where it is called. Called from here alone, it is compiled while the compiler still
//! reads the library, which it took a part of otherwise. Nothing uses threads, so that the bits of a result depend only on
//! the numbers and on the machine's instruction set.

pub use faer::{Mat, MatMut, MatRef};

use faer::linalg::matmul::triangular::BlockStructure;
use faer::linalg::matmul::{matmul, triangular};
use faer::linalg::solvers::Solve;
use faer::{Accum, Par, Side};

/// `out = a · b`.
///
/// ```
/// use dualgap_dense::{Mat, multiply};
/// let (a, mut out) = (Mat::from_fn(2, 2, |i, j| [[1.0, 2.0], [0.0, 3.0]][i][j]), Mat::zeros(2, 2));
/// multiply(out.as_mut(), a.as_ref(), a.as_ref());
/// assert_eq!(out, Mat::from_fn(2, 2, |i, j| [[1.0, 8.0], [0.0, 9.0]][i][j]));
/// ```
pub fn multiply(out: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    matmul(out, Accum::Replace, a, b, 1.0, Par::Seq);
}

/// `out += factor · a · b`.
///
/// ```
/// use dualgap_dense::{Mat, add_product};
/// let (a, mut out) = (Mat::from_fn(1, 1, |_, _| 3.0), Mat::from_fn(1, 1, |_, _| 1.0));
/// add_product(out.as_mut(), -2.0, a.as_ref(), a.as_ref());
/// assert_eq!(out[(0, 0)], -17.0);
/// ```
pub fn add_product(out: MatMut<'_, f64>, factor: f64, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    matmul(out, Accum::Add, a, b, factor, Par::Seq);
}

/// Adds the lower half of `z' · z`; the other half stays as it is.
///
/// ```
/// use dualgap_dense::{Mat, add_gram};
/// let (z, mut gram) = (Mat::from_fn(1, 2, |_, j| [2.0, 5.0][j]), Mat::zeros(2, 2));
/// add_gram(z.as_ref(), gram.as_mut());
/// assert_eq!(gram, Mat::from_fn(2, 2, |i, j| [[4.0, 0.0], [10.0, 25.0]][i][j]));
/// ```
pub fn add_gram(z: MatRef<'_, f64>, gram: MatMut<'_, f64>) {
    let (half, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    triangular::matmul(gram, half, Accum::Add, z.transpose(), whole, z, whole, 1.0, Par::Seq);
}

/// Returns U, the singular values in descending order, and V of `matrix = U diag(s) V'`, with as many columns as the shorter
/// side, or `None` if the iterations do not converge. Entries must be finite, and their squares neither overflow nor underflow.
///
/// ```
/// use dualgap_dense::{Mat, thin_svd};
/// let (u, s, v) = thin_svd(Mat::from_fn(3, 1, |i, _| [2.0, 3.0, 6.0][i]).as_ref()).unwrap();
/// assert!((s[0] - 7.0).abs() < 1e-14 && (u.ncols(), v.ncols()) == (1, 1));
/// ```
pub fn thin_svd(matrix: MatRef<'_, f64>) -> Option<(Mat<f64>, Vec<f64>, Mat<f64>)> {
    let svd = matrix.thin_svd().ok()?;
    let values = svd.S().column_vector().iter().copied().collect();
    Some((svd.U().to_owned(), values, svd.V().to_owned()))
}

/// Returns the eigenvectors and the eigenvalues, in descending order, of a symmetric matrix of finite entries, of which the lower
/// half is read, or `None` if the iterations do not converge.
///
/// ```
/// use dualgap_dense::{Mat, symmetric_eigen};
/// let (_, values) = symmetric_eigen(Mat::from_fn(2, 2, |i, j| [[0.0, 9.0], [1.0, 0.0]][i][j]).as_ref()).unwrap();
/// assert!((values[0] - 1.0).abs() < 1e-14 && (values[1] + 1.0).abs() < 1e-14);
/// ```
pub fn symmetric_eigen(matrix: MatRef<'_, f64>) -> Option<(Mat<f64>, Vec<f64>)> {
    let found = matrix.self_adjoint_eigen(Side::Lower).ok()?;
    // faer sorts them in ascending order.
    let values = found.S().column_vector().iter().rev().copied().collect();
    Some((found.U().reverse_cols().to_owned(), values))
}

/// Returns the eigenvalues alone, as [`symmetric_eigen`] does.
///
/// ```
/// use dualgap_dense::{Mat, symmetric_eigenvalues};
/// let diagonal = Mat::from_fn(2, 2, |i, j| if i == j { [3.0, 5.0][i] } else { 0.0 });
/// assert_eq!(symmetric_eigenvalues(diagonal.as_ref()), Some(vec![5.0, 3.0]));
/// ```
pub fn symmetric_eigenvalues(matrix: MatRef<'_, f64>) -> Option<Vec<f64>> {
    let mut values = matrix.self_adjoint_eigenvalues(Side::Lower).ok()?;
    values.reverse();
    Some(values)
}

/// Returns Q and R of `matrix = Q · R`, with as many columns of Q as the shorter side.
///
/// ```
/// use dualgap_dense::{Mat, thin_qr};
/// let (q, r) = thin_qr(Mat::from_fn(2, 1, |i, _| [3.0, 4.0][i]).as_ref());
/// assert!((q[(0, 0)] * r[(0, 0)] - 3.0).abs() < 1e-14 && (r[(0, 0)].abs() - 5.0).abs() < 1e-14);
/// ```
pub fn thin_qr(matrix: MatRef<'_, f64>) -> (Mat<f64>, Mat<f64>) {
    let qr = matrix.qr();
    (qr.compute_thin_Q(), qr.thin_R().to_owned())
}

/// Returns the lower triangle L of `matrix = L · L'`, of which the lower half is read, or `None` if it is not positive definite in
/// this arithmetic.
///
/// ```
/// use dualgap_dense::{Mat, cholesky};
/// let matrix = Mat::from_fn(2, 2, |i, j| [[4.0, 0.0], [2.0, 10.0]][i][j]);
/// assert_eq!(cholesky(matrix.as_ref()).unwrap(), Mat::from_fn(2, 2, |i, j| [[2.0, 0.0], [1.0, 3.0]][i][j]));
/// assert!(cholesky(Mat::<f64>::zeros(1, 1).as_ref()).is_none());
/// ```
pub fn cholesky(matrix: MatRef<'_, f64>) -> Option<Mat<f64>> {
    Some(matrix.llt(Side::Lower).ok()?.L().to_owned())
}

/// Returns the x of `matrix · x = b`; the matrix as for [`cholesky`].
///
/// ```
/// use dualgap_dense::{Mat, solve_positive};
/// let x = solve_positive(Mat::from_fn(1, 1, |_, _| 4.0).as_ref(), &[2.0]).unwrap();
/// assert_eq!(x, [0.5]);
/// ```
pub fn solve_positive(matrix: MatRef<'_, f64>, b: &[f64]) -> Option<Vec<f64>> {
    let factor = matrix.llt(Side::Lower).ok()?;
    let solution = factor.solve(MatRef::from_column_major_slice(b, b.len(), 1));
    Some((0..b.len()).map(|j| solution[(j, 0)]).collect())
}
