//! What the trace-norm ball needs of linear algebra, judged by matrices whose singular values are known: exactly,
//! by construction from whole numbers, or to rounding, by a full decomposition.

mod factors;
mod norms;
mod searches;

use crate::linalg::{LowRank, Random};
use faer::{Mat, MatRef};

/// Numbers in (−1, 1), about normal in the middle.
pub(crate) fn random(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut random = Random::new(seed);
    let mut number = || (0..4).map(|_| random.unit() - 0.5).sum::<f64>() / 2.0;
    Mat::from_fn(rows, columns, |_, _| number())
}

/// Orthonormal columns.
fn orthonormal(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    random(rows, columns, seed).qr().compute_thin_Q()
}

/// A matrix with these singular values, to rounding.
pub(crate) fn with_values(rows: usize, columns: usize, values: &[f64], seed: u64) -> Mat<f64> {
    let u = orthonormal(rows, values.len(), seed);
    let v = orthonormal(columns, values.len(), seed + 1);
    let scaled = Mat::from_fn(rows, values.len(), |i, j| u[(i, j)] * values[j]);
    &scaled * v.transpose()
}

pub(crate) fn by_rows(matrix: MatRef<'_, f64>) -> Vec<f64> {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    (0..rows * columns).map(|k| matrix[(k / columns, k % columns)]).collect()
}

pub(crate) fn dense(x: &LowRank, rows: usize, columns: usize) -> Mat<f64> {
    let values = x.to_dense();
    Mat::from_fn(rows, columns, |i, j| values[i * columns + j])
}

/// The low-rank form of a full decomposition.
pub(crate) fn decomposed(matrix: &Mat<f64>) -> LowRank {
    let svd = matrix.thin_svd().unwrap();
    let s: Vec<f64> = svd.S().column_vector().iter().copied().collect();
    LowRank::new(matrix.nrows(), matrix.ncols(), by_rows(svd.U()), s, by_rows(svd.V())).unwrap()
}
