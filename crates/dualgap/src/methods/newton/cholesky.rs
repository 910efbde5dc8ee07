//! The Newton equations by Cholesky: the matrix X'DX + λI, and its factorisation.

use super::design::Design;
use crate::linalg::Row;
use faer::linalg::matmul::matmul;
use faer::linalg::solvers::Solve;
use faer::{Accum, Mat, MatRef, Par, Side};

/// Rows of a dense matrix are multiplied this many at a time: a block of 57 columns fits into the first cache.
const BLOCK: usize = 64;

/// Returns the solution of (X'DX + diag)p = b, or `None` if the matrix is not positive definite in this arithmetic. `curves`
/// has the K×K numbers of D_i for every example.
pub fn solve(design: Design<'_>, curves: &[f64], diagonal: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    let (d, k) = (design.rows.width(), design.outputs);
    let mut h: Mat<f64> = Mat::zeros(d * k, d * k);
    for row in 0..k {
        for column in 0..=row {
            let weights = curves.iter().skip(row * k + column).step_by(k * k).copied();
            let gram = weighted_gram(design, &weights.collect::<Vec<f64>>());
            for j in 0..d {
                for l in 0..d {
                    h[(j * k + row, l * k + column)] = gram[(j.max(l), j.min(l))];
                }
            }
        }
    }
    for (j, extra) in diagonal.iter().enumerate() {
        h[(j, j)] += extra;
    }
    // The blocks above the diagonal of D were left out; the factorisation reads the lower half of H, and needs them there.
    for row in 0..k {
        for column in 0..row {
            for j in 0..d {
                for l in 0..d {
                    h[(l * k + column, j * k + row)] = h[(j * k + row, l * k + column)];
                }
            }
        }
    }
    let factor = h.llt(Side::Lower).ok()?;
    let solution = factor.solve(MatRef::from_column_major_slice(b, b.len(), 1));
    let p: Vec<f64> = (0..b.len()).map(|j| solution[(j, 0)]).collect();
    p.iter().all(|p| p.is_finite()).then_some(p)
}

/// Returns the lower half of `Σ c_i x_i x_i'`.
fn weighted_gram(design: Design<'_>, weights: &[f64]) -> Mat<f64> {
    let (rows, d) = (design.rows, design.rows.width());
    let mut gram: Mat<f64> = Mat::zeros(d, d);
    if let Some(values) = rows.dense_values() {
        let mut scaled = vec![0.0; BLOCK * d];
        for (values, weights) in values.chunks(BLOCK * d.max(1)).zip(weights.chunks(BLOCK)) {
            let count = weights.len();
            for ((to, from), c) in
                scaled.chunks_exact_mut(d).zip(values.chunks_exact(d)).zip(weights)
            {
                to.iter_mut().zip(from).for_each(|(to, x)| *to = c * x);
            }
            let left = MatRef::from_row_major_slice(values, count, d);
            let right = MatRef::from_row_major_slice(&scaled[..count * d], count, d);
            matmul(gram.as_mut(), Accum::Add, left.transpose(), right, 1.0, Par::Seq);
        }
        return gram;
    }
    for (i, &c) in weights.iter().enumerate() {
        match rows.row(i) {
            _ if c == 0.0 => {}
            Row::Sparse { indices, values } => add_square(&mut gram, c, indices, values),
            Row::Single { indices, values } => add_square(&mut gram, c, indices, values),
            Row::Dense(_) => {} // all rows are, or none
        }
    }
    gram
}

/// Adds the lower half of `c·xx'`.
fn add_square<X: Copy + Into<f64>>(gram: &mut Mat<f64>, c: f64, indices: &[u32], values: &[X]) {
    for (k, (&j, &x)) in indices.iter().zip(values).enumerate() {
        let cx = c * x.into();
        // Indices ascend, so these are entries of the lower half, in one column.
        for (&l, &z) in indices[k..].iter().zip(&values[k..]) {
            gram[(l as usize, j as usize)] += cx * z.into();
        }
    }
}
