//! The Newton equations by Cholesky: the matrix X'DX + diag, and its factorisation.
//!
//! With K outputs the entry of the inputs j, l and the outputs r, c is `Σ_i D_i(r, c) x_ij x_il`. So the matrix is a product of
//! two, of the pairs of inputs and of the pairs of outputs of every example, and half of the pairs are enough of either.

use super::blocks::CurvedBlocks;
use super::cost::is_dense;
use super::design::Design;
use crate::linalg::kernels::add_scaled;
use crate::linalg::{Row, parallel};
use dualgap_dense::{Mat, MatMut, MatRef, add_product, solve_positive};
use multiversion::multiversion;
use std::ops::Range;

/// The rows of a dense matrix are multiplied this many at a time: with 57 columns they fit into the second cache.
const BLOCK: usize = 256;

/// The most numbers that the parts of a matrix may have in all, in 64 MB.
const MOST_NUMBERS: usize = 1 << 23;

/// The Hessian of the losses: its examples, their masses and what the blocks keep of their curvatures.
pub struct Hessian<'a, B> {
    pub design: &'a Design<'a>,
    pub blocks: &'a B,
    pub masses: &'a [f64],
    pub curves: &'a [f64],
}

impl<B: CurvedBlocks> Hessian<'_, B> {
    /// Returns the solution of (X'DX + diag)p = b, or `None` if the matrix is not positive definite in this arithmetic.
    pub fn solve(&self, diagonal: &[f64], b: &[f64]) -> Option<Vec<f64>> {
        let mut h = if self.design.outputs == 1 { self.of_one_output() } else { self.of_several() };
        for (j, extra) in diagonal.iter().enumerate() {
            h[(j, j)] += extra;
        }
        let p = solve_positive(h.as_ref(), b)?;
        p.iter().all(|p| p.is_finite()).then_some(p)
    }

    /// Returns the sum of what `work` computes of every part: `size` numbers each, of which one for each of `outputs` pairs. The
    /// parts depend on the shape alone, and are added in order.
    fn sum(
        &self,
        size: usize,
        outputs: usize,
        work: impl Fn(Range<usize>, &mut [f64]) + Sync,
    ) -> Vec<f64> {
        let count = self.design.rows.len();
        let of_row = self.design.rows.stored().div_ceil(count.max(1)) as f64;
        let of_row = of_row * of_row / 2.0 * outputs as f64;
        let parts = parallel::parts(count as f64 * of_row, size);
        let parts = parts.min(MOST_NUMBERS / size.max(1)).max(1);
        let sums = parallel::map_ranges(count, parts, |range| {
            let mut sum = vec![0.0; size];
            work(range, &mut sum);
            Ok(sum)
        });
        let all = sums.unwrap_or_default().into_iter().reduce(|mut all, part| {
            all.iter_mut().zip(part).for_each(|(all, part)| *all += part);
            all
        });
        all.unwrap_or_else(|| vec![0.0; size])
    }

    /// Returns the lower half of `Σ c_i x_i x_i'`.
    pub fn of_one_output(&self) -> Mat<f64> {
        let (rows, d) = (self.design.rows, self.design.rows.width());
        let weight = |i: usize| self.masses[i] * self.curves[i];
        let columns = self.sum(d * d, 1, |range, sum| {
            if !is_dense(rows, 1) {
                let mut wide = Vec::new();
                range.for_each(|i| add_pairs(rows.row(i).widened(&mut wide), weight(i), d, sum));
                return;
            }
            let mut scaled = Vec::with_capacity(BLOCK.min(range.len()) * d);
            for start in range.clone().step_by(BLOCK) {
                scaled.clear();
                // √c x of the examples that count: a squared hinge leaves out those beyond their margin.
                for i in start..(start + BLOCK).min(range.end) {
                    let (root, at) = (weight(i).sqrt(), scaled.len());
                    match rows.row(i) {
                        _ if root <= 0.0 => {}
                        Row::Dense(x) => scaled.extend(x.iter().map(|x| root * x)),
                        row => {
                            scaled.resize(at + d, 0.0);
                            row.for_each(|j, x| scaled[at + j] = root * x);
                        }
                    }
                }
                add_gram(&scaled, d, sum);
            }
        });
        MatRef::from_column_major_slice(&columns, d, d).to_owned()
    }

    /// Returns the lower half of the matrix of several outputs.
    fn of_several(&self) -> Mat<f64> {
        let (rows, d, k) = (self.design.rows, self.design.rows.width(), self.design.outputs);
        let pairs: Vec<(usize, usize)> =
            (0..k).flat_map(|r| (0..=r).map(move |c| (r, c))).collect();
        let (of_inputs, of_outputs) = (d * (d + 1) / 2, pairs.len());
        // A row of outputs' pairs for every pair of inputs.
        let sums = self.sum(of_inputs * of_outputs, of_outputs, |range, sum| {
            let block = if is_dense(rows, k) { BLOCK / 4 } else { 1 };
            let (mut x, mut wide, mut left, mut right) =
                (vec![0.0; d], Vec::new(), Vec::new(), Vec::new());
            for start in range.clone().step_by(block) {
                let block = start..(start + block).min(range.end);
                right.clear();
                for i in block.clone() {
                    let curve = &self.curves[i * k..(i + 1) * k];
                    right.extend(pairs.iter().map(|&place| {
                        self.masses[i] * self.blocks.curvature_entry(i, curve, place)
                    }));
                }
                if !is_dense(rows, k) {
                    add_outer_of_pairs(rows.row(start).widened(&mut wide), &right, sum);
                    continue;
                }
                left.clear();
                for i in block.clone() {
                    x.fill(0.0);
                    rows.row(i).for_each(|j, entry| x[j] = entry);
                    for (j, xj) in x.iter().enumerate() {
                        left.extend(x[..=j].iter().map(|xl| xj * xl));
                    }
                }
                let left = MatRef::from_row_major_slice(&left, block.len(), of_inputs);
                let right = MatRef::from_row_major_slice(&right, block.len(), of_outputs);
                let sum = MatMut::from_row_major_slice_mut(sum, of_inputs, of_outputs);
                add_product(sum, 1.0, left.transpose(), right);
            }
        });
        let mut h: Mat<f64> = Mat::zeros(d * k, d * k);
        let of_inputs = (0..d).flat_map(|j| (0..=j).map(move |l| (j, l)));
        for ((j, l), of_outputs) in of_inputs.zip(sums.chunks_exact(of_outputs)) {
            for (&(r, c), &entry) in pairs.iter().zip(of_outputs) {
                // The lower half of H has all outputs of the inputs j > l, and half of those of j = l.
                h[(j * k + r, l * k + c)] = entry;
                h[(j * k + c, l * k + r)] = entry;
            }
        }
        h
    }
}

/// Adds the lower half of `c x x'`, in columns of d numbers.
fn add_pairs(row: Row<'_>, c: f64, d: usize, sum: &mut [f64]) {
    let Row::Sparse { indices, values } = row else { return };
    if c == 0.0 {
        return;
    }
    for (m, (&j, &x)) in indices.iter().zip(values).enumerate() {
        let (column, cx) = (&mut sum[j as usize * d..][..d], c * x);
        // Indices ascend, so these are entries of the lower half.
        for (&l, &z) in indices[m..].iter().zip(&values[m..]) {
            column[l as usize] += cx * z;
        }
    }
}

/// Adds `x_j x_l · of_outputs` for every pair l ≤ j of inputs.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn add_outer_of_pairs(row: Row<'_>, of_outputs: &[f64], sum: &mut [f64]) {
    let Row::Sparse { indices, values } = row else { return };
    for (m, (&j, &x)) in indices.iter().zip(values).enumerate() {
        let first = j as usize * (j as usize + 1) / 2;
        for (&l, &z) in indices[..=m].iter().zip(values) {
            let at = (first + l as usize) * of_outputs.len();
            add_scaled(of_outputs, x * z, &mut sum[at..at + of_outputs.len()]);
        }
    }
}

/// Adds the lower half of Z'Z, for rows of d numbers, to a matrix in columns.
fn add_gram(z: &[f64], d: usize, gram: &mut [f64]) {
    if d == 0 || z.is_empty() {
        return;
    }
    let z = MatRef::from_row_major_slice(z, z.len() / d, d);
    let gram = MatMut::from_column_major_slice_mut(gram, d, d);
    dualgap_dense::add_gram(z, gram);
}
