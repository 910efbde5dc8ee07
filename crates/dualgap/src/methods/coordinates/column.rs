//! Sums along a column.

use crate::linalg::Row;
use crate::linalg::kernels;
use crate::linalg::row::ones;
use multiversion::multiversion;

/// Returns `Σ x_i t_i`. A sparse column has four sums, so that additions need not wait for each other.
#[inline]
pub fn dot(column: Row<'_>, t: &[f64]) -> f64 {
    match column {
        Row::Dense(values) => kernels::dot(values, &t[..values.len()]),
        Row::Sparse { indices, values } => dot_sparse(indices, values, t),
        Row::Single { indices, values } => dot_sparse(indices, values, t),
        Row::Ones { indices } => dot_sparse(indices, ones(indices.len()), t),
    }
}

#[inline]
fn dot_sparse<X: Copy + Into<f64>>(indices: &[u32], values: &[X], t: &[f64]) -> f64 {
    let (mut sums, cut) = ([0.0; 4], indices.len() / 4 * 4);
    for (i, x) in indices[..cut].chunks_exact(4).zip(values[..cut].chunks_exact(4)) {
        for lane in 0..4 {
            sums[lane] += x[lane].into() * t[i[lane] as usize];
        }
    }
    let rest = indices[cut..].iter().zip(&values[cut..]);
    let rest: f64 = rest.map(|(&i, &x)| x.into() * t[i as usize]).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Adds `factor·x` to t.
#[inline]
pub fn add(column: Row<'_>, factor: f64, t: &mut [f64]) {
    match column {
        Row::Dense(values) => add_dense(values, factor, t),
        sparse => sparse.for_each(|i, x| t[i] += factor * x),
    }
}

#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn add_dense(values: &[f64], factor: f64, t: &mut [f64]) {
    kernels::add_scaled(values, factor, t);
}

/// Adds `factor·c_i x_i` to t.
#[inline]
pub fn add_weighted(column: Row<'_>, factor: f64, c: &[f64], t: &mut [f64]) {
    match column {
        Row::Dense(values) => add_weighted_dense(values, factor, c, t),
        sparse => sparse.for_each(|i, x| t[i] += factor * c[i] * x),
    }
}

#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn add_weighted_dense(values: &[f64], factor: f64, c: &[f64], t: &mut [f64]) {
    for ((t, x), c) in t.iter_mut().zip(values).zip(c) {
        *t += factor * c * x;
    }
}

/// Returns `Σ c_i x_i²`.
pub fn weighted_square(column: Row<'_>, c: &[f64]) -> f64 {
    match column {
        Row::Dense(values) => weighted_square_dense(values, c),
        sparse => {
            let mut sum = 0.0;
            sparse.for_each(|i, x| sum += c[i] * x * x);
            sum
        }
    }
}

#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn weighted_square_dense(values: &[f64], c: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let cut = values.len() / 4 * 4;
    for (x, c) in values[..cut].chunks_exact(4).zip(c[..cut].chunks_exact(4)) {
        for lane in 0..4 {
            sums[lane] += c[lane] * x[lane] * x[lane];
        }
    }
    let rest: f64 = values[cut..].iter().zip(&c[cut..]).map(|(x, c)| c * x * x).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
