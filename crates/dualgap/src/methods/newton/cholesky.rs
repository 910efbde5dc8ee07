//! The Newton equations by Cholesky: the matrix X'DX + diag, and its factorisation.
//!
//! With K outputs the entry of the inputs j, l and the outputs r, c is `Σ_i D_i(r, c) x_ij x_il`. So the matrix is a product of
//! two, of the pairs of inputs and of the pairs of outputs of every example, and half of the pairs are enough of either.

use super::blocks::CurvedBlocks;
use super::cost::is_dense;
use super::design::Design;
use crate::dual::problem::Masses;
use crate::linalg::kernels::{add_row, add_scaled};
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
    pub masses: &'a Masses,
    pub curves: &'a [f64],
    /// The examples of the sum, if not all of them.
    pub sample: Option<&'a Sample>,
}

/// The examples whose curvature is not zero, or every so many of them: smoothed losses are linear for most examples in late rounds, and
/// in early ones there are more than the Hessian needs.
pub struct Sample {
    pub examples: Vec<u32>,
    /// How many examples each of these stands for.
    each: f64,
}

impl Sample {
    /// Returns the examples that are bent, or a sample of so many for every column.
    pub fn of(curves: &[f64], design: &Design<'_>, per_column: usize) -> Self {
        let is_bent = |(_, curve): &(usize, &[f64])| curve.iter().any(|&curve| curve != 0.0);
        let bent = curves.chunks_exact(design.outputs).enumerate().filter(is_bent);
        let mut examples: Vec<u32> = bent.map(|(i, _)| i as u32).collect();
        let (all, most) = (examples.len(), per_column.saturating_mul(design.rows.width().max(1)));
        if all > most {
            examples = (0..most).map(|place| examples[place * all / most]).collect();
        }
        let each = all as f64 / examples.len().max(1) as f64;
        Self { examples, each }
    }
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

    /// Returns an example of the sums.
    fn example(&self, place: usize) -> usize {
        self.sample.map_or(place, |sample| sample.examples[place] as usize)
    }

    /// Returns what an example counts in the sums.
    fn weight(&self, i: usize) -> f64 {
        self.sample.map_or(1.0, |sample| sample.each) * self.masses.of(i)
    }

    /// Returns the sum of what `work` computes of every part: `size` numbers each, of which one for each of `outputs` pairs. The
    /// parts depend on the shape alone, and are added in order.
    fn sum(
        &self,
        size: usize,
        outputs: usize,
        work: impl Fn(Range<usize>, &mut [f64]) + Sync,
    ) -> Vec<f64> {
        let all = self.design.rows.len();
        let count = self.sample.map_or(all, |sample| sample.examples.len());
        let of_row = self.design.rows.stored().div_ceil(all.max(1)) as f64;
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
        self.with_adjoint(None).0
    }

    /// Returns the lower half of `Σ c_i x_i x_i'` and, in the same pass over the rows, `Σ u_i x_i`, where u_i is zero if c_i is.
    /// Without u there is no such sum.
    pub fn with_adjoint(&self, u: Option<&[f64]>) -> (Mat<f64>, Vec<f64>) {
        let (rows, d) = (self.design.rows, self.design.rows.width());
        let weight = |i: usize| self.weight(i) * self.curves[i];
        let term = |i: usize| u.map(|u| u[i]);
        let size = if u.is_some() { d * d + d } else { d * d };
        let mut columns = self.sum(size, 1, |range, sums| {
            let (sum, adjoint) = sums.split_at_mut(d * d);
            if !is_dense(rows, 1) {
                let mut wide = Vec::new();
                for i in range.map(|place| self.example(place)).filter(|&i| weight(i) != 0.0) {
                    let row = rows.row(i).widened(&mut wide);
                    add_pairs(row, weight(i), d, sum);
                    if let Some(term) = term(i) {
                        add_row(row, term, adjoint);
                    }
                }
                return;
            }
            let mut scaled = Vec::with_capacity(BLOCK.min(range.len()) * d);
            let mut factors = Vec::new();
            for start in range.clone().step_by(BLOCK) {
                scaled.clear();
                factors.clear();
                // √c x of the examples that count: a squared hinge leaves out those beyond their margin.
                for i in (start..(start + BLOCK).min(range.end)).map(|place| self.example(place)) {
                    let (root, at) = (weight(i).sqrt(), scaled.len());
                    match rows.row(i) {
                        _ if root <= 0.0 => {}
                        Row::Dense(x) => scaled.extend(x.iter().map(|x| root * x)),
                        row => {
                            scaled.resize(at + d, 0.0);
                            row.for_each(|j, x| scaled[at + j] = root * x);
                        }
                    }
                    factors.extend(term(i).filter(|_| root > 0.0).map(|term| term / root));
                }
                add_gram(&scaled, d, sum);
                if u.is_some() && d > 0 {
                    let x = MatRef::from_row_major_slice(&scaled, factors.len(), d);
                    let u = MatRef::from_column_major_slice(&factors, factors.len(), 1);
                    let adjoint = MatMut::from_column_major_slice_mut(adjoint, d, 1);
                    add_product(adjoint, 1.0, x.transpose(), u);
                }
            }
        });
        let adjoint = columns.split_off(d * d);
        (MatRef::from_column_major_slice(&columns, d, d).to_owned(), adjoint)
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
                let examples = || block.clone().map(|place| self.example(place));
                right.clear();
                for i in examples() {
                    let curve = &self.curves[i * k..(i + 1) * k];
                    right.extend(pairs.iter().map(|&place| {
                        self.weight(i) * self.blocks.curvature_entry(i, curve, place)
                    }));
                }
                if !is_dense(rows, k) {
                    let row = rows.row(self.example(start));
                    add_outer_of_pairs(row.widened(&mut wide), &right, sum);
                    continue;
                }
                left.clear();
                for i in examples() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Rows;
    use crate::structure::{Choice, LinearBlocks};
    use crate::term::ScalarLoss;

    #[test]
    fn the_matrix_and_the_sum_of_rows_are_those_of_their_definitions() -> crate::Result<()> {
        let count = 2 * BLOCK + 17;
        for (every, dense) in [(1, true), (9, false)] {
            let x = |i: usize, j: usize| match (i + 2 * j) % every {
                0 => ((i * 7 + j * 5) % 11) as f64 - 4.5,
                _ => 0.0,
            };
            let mut rows = Rows::sparse();
            for i in 0..count {
                let entries = (0..12).map(|j| (j, x(i, j as usize))).filter(|(_, x)| *x != 0.0);
                rows.push_sparse(&entries.collect::<Vec<_>>());
            }
            rows.fit_width(12);
            assert_eq!(is_dense(&rows, 1), dense);
            let y = (0..count).map(|i| i as f64).collect();
            let blocks = LinearBlocks::new(&rows, y, ScalarLoss::Squared, Choice::I)?;
            // Every fifth example counts nothing.
            let masses = Masses::Each((0..count).map(|i| (i % 5) as f64).collect());
            let curves: Vec<f64> = (0..count).map(|i| 1.0 + (i % 3) as f64).collect();
            let u: Vec<f64> = (0..count).map(|i| masses.of(i) * ((i % 7) as f64 - 3.0)).collect();
            let design = Design::new(&rows, 1);
            let hessian = Hessian {
                design: &design,
                blocks: &blocks,
                masses: &masses,
                curves: &curves,
                sample: None,
            };
            let (lower, adjoint) = hessian.with_adjoint(Some(&u));
            assert!(hessian.with_adjoint(None).1.is_empty());
            for j in 0..12 {
                let exact: f64 = (0..count).map(|i| u[i] * x(i, j)).sum();
                assert!((adjoint[j] - exact).abs() < 1e-9, "{j}: {} {exact}", adjoint[j]);
                for l in 0..=j {
                    let of = |i: usize| masses.of(i) * curves[i] * x(i, j) * x(i, l);
                    let exact: f64 = (0..count).map(of).sum();
                    assert!((lower[(j, l)] - exact).abs() < 1e-8, "{j} {l}");
                }
            }
        }
        Ok(())
    }
}
