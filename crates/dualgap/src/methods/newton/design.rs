//! Products with the data, on several threads: predictions, gradients, Hessians times a vector, and the work that they take.
//!
//! The examples are split into parts, and the sums of the parts are added in order. How many parts there are depends on the
//! shape of the data alone, so that the result does not depend on the number of threads.

use super::blocks::CurvedBlocks;
use super::cost::is_dense;
use super::smoothing::Smoothing;
use crate::dual::problem::Masses;
use crate::linalg::kernels::{add_outer, add_scores, dot, score};
use crate::linalg::{Row, Rows, parallel};
use multiversion::multiversion;
use std::ops::Range;
use std::sync::Arc;

/// A matrix of at most so many numbers, 64 MB, is made once of rows that are stored without their zeros. To make it again for every
/// product is a tenth of the instructions of a run on letter, with 26 classes.
const MOST_NUMBERS: usize = 1 << 23;

/// The inputs, each with K predictions.
#[derive(Clone)]
pub struct Design<'a> {
    pub rows: &'a Rows,
    pub outputs: usize,
    parts: usize,
    /// Whether products are those of matrices, zeros included.
    by_matrices: bool,
    /// The rows with their zeros, if they are multiplied often.
    matrix: Option<Arc<Vec<f64>>>,
}

/// The losses and their slopes at some predictions, with everything that the Hessian needs to know.
#[derive(Default)]
pub struct Derivatives {
    /// `Σ mass_i φ_i`, smoothed if it has corners.
    pub loss: f64,
    /// `Σ mass_i φ_i`.
    pub exact: f64,
    /// `Σ mass_i (φ_i(a) + φ_i*(s) − ⟨a, s⟩)`, what smoothing leaves of the gap.
    pub left: f64,
    /// `mass_i ∇φ_i`, K numbers for each example.
    pub slopes: Vec<f64>,
    /// What the blocks keep of ∇²φ_i, as many.
    pub curves: Vec<f64>,
}

impl<'a> Design<'a> {
    pub fn new(rows: &'a Rows, outputs: usize) -> Self {
        let results = rows.width().saturating_mul(outputs);
        let parts = parallel::parts(rows.stored() as f64 * outputs as f64, results);
        let by_matrices = cfg!(feature = "low-rank") && outputs > 1 && is_dense(rows, outputs);
        Self { rows, outputs, parts, by_matrices, matrix: None }
    }

    /// Makes the matrix of the rows once, for many products.
    pub fn with_matrix(mut self) -> Self {
        let size = self.rows.len().saturating_mul(self.rows.width());
        if self.by_matrices && self.rows.dense_values().is_none() && size <= MOST_NUMBERS {
            let mut matrix = Vec::new();
            self.fill_matrix(0..self.rows.len(), &mut matrix);
            self.matrix = Some(Arc::new(matrix));
        }
        self
    }

    /// Returns the number of predictions.
    pub fn predictions(&self) -> usize {
        self.rows.len() * self.outputs
    }

    /// Returns into how many parts the examples are split.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Returns a = XW.
    pub fn predict(&self, w: &[f64]) -> Vec<f64> {
        let mut a = Vec::new();
        self.predict_into(w, &mut a);
        a
    }

    /// Writes XW.
    pub fn predict_into(&self, w: &[f64], a: &mut Vec<f64>) {
        a.resize(self.predictions(), 0.0);
        let (count, k) = (self.rows.len(), self.outputs);
        parallel::fill_ranges(count, self.parts, [(a, k)], |range, [a]| {
            let mut buffer = Vec::new();
            for (block, a) in blocks_of(range).zip(a.chunks_mut(BLOCK * k)) {
                let x = self.matrix(block.clone(), &mut buffer);
                self.predict_of(block, x, w, a);
            }
        });
    }

    /// Writes the predictions that are t times as far as `ahead` from these.
    pub fn move_along(&self, from: &[f64], t: f64, ahead: &[f64], to: &mut Vec<f64>) {
        to.resize(from.len(), 0.0);
        let (count, k) = (self.rows.len(), self.outputs);
        parallel::fill_ranges(count, self.parts, [(to, k)], |range, [to]| {
            let range = range.start * k..range.end * k;
            let each = to.iter_mut().zip(&from[range.clone()]).zip(&ahead[range]);
            each.for_each(|((to, from), ahead)| *to = from + t * ahead);
        });
    }

    /// Returns the inner product of two vectors with a number for each prediction.
    pub fn inner(&self, one: &[f64], other: &[f64]) -> f64 {
        let k = self.outputs;
        let parts = parallel::map_ranges(self.rows.len(), self.parts, |range| {
            let range = range.start * k..range.end * k;
            Ok(dot(&one[range.clone()], &other[range]))
        });
        parts.unwrap_or_default().iter().sum()
    }

    /// Writes losses, slopes and curvatures at these predictions; those of smoothed losses if there is a smoothing.
    pub fn derive<B: CurvedBlocks>(
        &self,
        blocks: &B,
        masses: &Masses,
        a: &[f64],
        smoothing: Option<&Smoothing>,
        out: &mut Derivatives,
    ) {
        let k = self.outputs;
        out.slopes.resize(a.len(), 0.0);
        out.curves.resize(a.len(), 0.0);
        let arrays: [(&mut [f64], usize); 2] = [(&mut out.slopes, k), (&mut out.curves, k)];
        let of_part = |range: Range<usize>, [slopes, curves]: [&mut [f64]; 2]| {
            let a = &a[range.start * k..range.end * k];
            match smoothing {
                Some(around) => {
                    smoothed_orders(blocks, around, range.start, masses, a, [slopes, curves])
                }
                None => [second_orders(blocks, range.start, masses, a, slopes, curves), 0.0, 0.0],
            }
        };
        let sums = parallel::fill_ranges(self.rows.len(), self.parts, arrays, of_part);
        let sum = |which: usize| sums.iter().map(|sums| sums[which]).sum();
        out.loss = sum(0);
        out.exact = if smoothing.is_some() { sum(1) } else { out.loss };
        out.left = sum(2);
    }

    /// Returns the slopes of the smoothed losses at these predictions, without their masses.
    pub fn centres<B: CurvedBlocks>(&self, blocks: &B, a: &[f64], around: &Smoothing) -> Vec<f64> {
        let (k, mut centres) = (self.outputs, vec![0.0; a.len()]);
        let arrays: [(&mut [f64], usize); 1] = [(&mut centres, k)];
        parallel::fill_ranges(self.rows.len(), self.parts, arrays, |range, [centres]| {
            smoothed_slopes(
                blocks,
                around,
                range.start,
                &a[range.start * k..range.end * k],
                centres,
            );
        });
        centres
    }

    /// Adds X'u to `out`.
    pub fn add_adjoint(&self, u: &[f64], out: &mut [f64]) {
        let k = self.outputs;
        self.add_parts(out, |range, out| {
            let mut buffer = Vec::new();
            for block in blocks_of(range) {
                let x = self.matrix(block.clone(), &mut buffer);
                self.add_adjoint_of(block.clone(), x, &u[block.start * k..block.end * k], out);
            }
        });
    }

    /// Adds `Σ_i x_i ⊗ mass_i ∇²φ_i(x_i'p)` to `out`, in one pass over the data.
    pub fn add_product<B: CurvedBlocks>(
        &self,
        blocks: &B,
        masses: &Masses,
        curves: &[f64],
        p: &[f64],
        out: &mut [f64],
    ) {
        let k = self.outputs;
        self.add_parts(out, |range, out| {
            if k == 1 {
                self.add_product_of_one(range, masses, curves, p, out);
                return;
            }
            let (mut a, mut bent) = (vec![0.0; BLOCK.min(range.len()) * k], vec![0.0; k]);
            let mut buffer = Vec::new();
            for block in blocks_of(range) {
                let a = &mut a[..block.len() * k];
                let x = self.matrix(block.clone(), &mut buffer);
                self.predict_of(block.clone(), x, p, a);
                for (i, a) in block.clone().zip(a.chunks_exact_mut(k)) {
                    blocks.bend(i, &curves[i * k..(i + 1) * k], a, &mut bent);
                    a.iter_mut().zip(&bent).for_each(|(a, bent)| *a = masses.of(i) * bent);
                }
                self.add_adjoint_of(block, x, a, out);
            }
        });
    }

    /// With one output ∇²φ_i is a number, and a row is still in the cache when it is added.
    fn add_product_of_one(
        &self,
        range: Range<usize>,
        masses: &Masses,
        curves: &[f64],
        p: &[f64],
        out: &mut [f64],
    ) {
        for i in range {
            let weight = masses.of(i) * curves[i];
            if weight != 0.0 {
                let row = self.rows.row(i);
                add_row(row, weight * score(row, p), out);
            }
        }
    }

    /// Adds the diagonal of `X'DX` to `out`.
    pub fn add_diagonal<B: CurvedBlocks>(
        &self,
        blocks: &B,
        masses: &Masses,
        curves: &[f64],
        out: &mut [f64],
    ) {
        let k = self.outputs;
        self.add_parts(out, |range, out| {
            let mut own = vec![0.0; k];
            for i in range {
                for (j, own) in own.iter_mut().enumerate() {
                    let curve = &curves[i * k..(i + 1) * k];
                    *own = masses.of(i) * blocks.curvature_entry(i, curve, (j, j));
                }
                self.rows.row(i).for_each(|j, x| {
                    let at = &mut out[j * k..(j + 1) * k];
                    at.iter_mut().zip(&own).for_each(|(at, own)| *at += own * x * x);
                });
            }
        });
    }

    /// Adds what `work` computes of every part, in the order of the parts.
    fn add_parts(&self, out: &mut [f64], work: impl Fn(Range<usize>, &mut [f64]) + Sync) {
        let count = self.rows.len();
        if self.parts == 1 {
            return work(0..count, out);
        }
        let size = out.len();
        let sums = parallel::map_ranges(count, self.parts, |range| {
            let mut sum = vec![0.0; size];
            work(range, &mut sum);
            Ok(sum)
        });
        for sum in sums.unwrap_or_default() {
            out.iter_mut().zip(sum).for_each(|(out, sum)| *out += sum);
        }
    }

    /// Returns these rows as a dense matrix, if products are those of matrices.
    fn matrix<'b>(&'b self, block: Range<usize>, buffer: &'b mut Vec<f64>) -> Option<&'b [f64]> {
        let d = self.rows.width();
        if !self.by_matrices {
            return None;
        }
        let whole = self.matrix.as_ref().map(|matrix| matrix.as_slice());
        if let Some(values) = whole.or_else(|| self.rows.dense_values()) {
            return Some(&values[block.start * d..block.end * d]);
        }
        self.fill_matrix(block, buffer);
        Some(buffer)
    }

    /// Writes these rows with their zeros.
    fn fill_matrix(&self, block: Range<usize>, matrix: &mut Vec<f64>) {
        let d = self.rows.width();
        matrix.clear();
        matrix.resize(block.len() * d, 0.0);
        for (i, x) in block.zip(matrix.chunks_exact_mut(d)) {
            self.rows.row(i).for_each(|j, entry| x[j] = entry);
        }
    }

    /// Writes the predictions of these rows, of which x is the matrix, to `a`.
    fn predict_of(&self, block: Range<usize>, x: Option<&[f64]>, w: &[f64], a: &mut [f64]) {
        let k = self.outputs;
        #[cfg(feature = "low-rank")]
        if let Some(x) = x {
            return dense::product(x, self.rows.width(), w, k, a);
        }
        let _ = x;
        for (i, a) in block.zip(a.chunks_exact_mut(k)) {
            if k == 1 {
                a[0] = score(self.rows.row(i), w);
            } else {
                a.fill(0.0);
                add_scores(self.rows.row(i), w, a);
            }
        }
    }

    /// Adds these rows, of which x is the matrix, times `u` to `out`.
    fn add_adjoint_of(&self, block: Range<usize>, x: Option<&[f64]>, u: &[f64], out: &mut [f64]) {
        let k = self.outputs;
        #[cfg(feature = "low-rank")]
        if let Some(x) = x {
            return dense::add_adjoint(x, self.rows.width(), u, k, out);
        }
        let _ = x;
        for (i, u) in block.zip(u.chunks_exact(k)) {
            if k == 1 {
                if u[0] != 0.0 {
                    add_row(self.rows.row(i), u[0], out);
                }
            } else if u.iter().any(|&u| u != 0.0) {
                add_outer(self.rows.row(i), u, 1.0, out);
            }
        }
    }
}

/// Writes mass_i ∇φ_i of neighbouring examples and what the blocks keep of their curvatures; returns `Σ mass_i φ_i`.
pub fn second_orders<B: CurvedBlocks>(
    blocks: &B,
    first: usize,
    masses: &Masses,
    a: &[f64],
    slopes: &mut [f64],
    curves: &mut [f64],
) -> f64 {
    let (k, mut losses, mut sum) = (blocks.outputs(), [0.0; BLOCK], 0.0);
    let mut buffer = [0.0; BLOCK];
    let each =
        a.chunks(BLOCK * k).zip(slopes.chunks_mut(BLOCK * k)).zip(curves.chunks_mut(BLOCK * k));
    for (first, ((a, slopes), curves)) in (first..).step_by(BLOCK).zip(each) {
        let masses = masses.of_all(first..first + a.len() / k, &mut buffer);
        let losses = &mut losses[..masses.len()];
        blocks.second_orders(first, a, [losses, slopes, curves]);
        sum += dot(losses, masses);
        for (slope, mass) in slopes.chunks_exact_mut(k).zip(masses) {
            slope.iter_mut().for_each(|slope| *slope *= mass);
        }
    }
    sum
}

/// The same of smoothed losses; returns the sums of the smoothed losses, of the losses, and of what smoothing leaves of the gap.
fn smoothed_orders<B: CurvedBlocks>(
    blocks: &B,
    around: &Smoothing,
    first: usize,
    masses: &Masses,
    a: &[f64],
    [slopes, curves]: [&mut [f64]; 2],
) -> [f64; 3] {
    let (k, mut sums) = (blocks.outputs(), [0.0; 3]);
    let (mut exact, mut losses, mut buffer) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
    let each =
        a.chunks(BLOCK * k).zip(slopes.chunks_mut(BLOCK * k)).zip(curves.chunks_mut(BLOCK * k));
    for (first, ((a, slopes), curves)) in (first..).step_by(BLOCK).zip(each) {
        let masses = masses.of_all(first..first + a.len() / k, &mut buffer);
        let (exact, losses) = (&mut exact[..masses.len()], &mut losses[..masses.len()]);
        let centres = &around.centres[first * k..first * k + a.len()];
        let out = [&mut *exact, &mut *losses, &mut *slopes, curves];
        blocks.smoothed_orders(first, (around.width, centres), a, out);
        sums[0] += dot(losses, masses);
        sums[1] += dot(exact, masses);
        let each = slopes.chunks_exact_mut(k).zip(centres.chunks_exact(k));
        for (((slope, centre), mass), (exact, loss)) in
            each.zip(masses).zip(exact.iter().zip(&*losses))
        {
            let off: f64 = slope.iter().zip(centre).map(|(s, c)| (s - c) * (s - c)).sum();
            sums[2] += mass * (exact - loss - 0.5 * around.width * off);
            slope.iter_mut().for_each(|slope| *slope *= mass);
        }
    }
    sums
}

/// Writes the slopes of the smoothed losses of neighbouring examples.
pub fn smoothed_slopes<B: CurvedBlocks>(
    blocks: &B,
    around: &Smoothing,
    first: usize,
    a: &[f64],
    slopes: &mut [f64],
) {
    let (k, mut others) = (blocks.outputs(), [[0.0; BLOCK]; 2]);
    let mut curves = vec![0.0; (BLOCK * k).min(a.len())];
    for (number, (a, slopes)) in a.chunks(BLOCK * k).zip(slopes.chunks_mut(BLOCK * k)).enumerate() {
        let first = first + number * BLOCK;
        let centres = &around.centres[first * k..first * k + a.len()];
        let [exact, losses] = others.each_mut().map(|numbers| &mut numbers[..a.len() / k]);
        let out = [exact, losses, slopes, &mut curves[..a.len()]];
        blocks.smoothed_orders(first, (around.width, centres), a, out);
    }
}

/// Returns the range in blocks of neighbours.
pub fn blocks_of(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(BLOCK).map(move |start| start..(start + BLOCK).min(end))
}

/// The rows of a product with several outputs go this many at a time: their predictions stay in the first cache.
const BLOCK: usize = 128;

/// `out += factor · x`.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn add_row(row: Row<'_>, factor: f64, out: &mut [f64]) {
    match row {
        Row::Dense(values) => {
            out.iter_mut().zip(values).for_each(|(out, x)| *out += factor * x);
        }
        Row::Sparse { indices, values } => {
            for (&j, &x) in indices.iter().zip(values) {
                out[j as usize] += factor * x;
            }
        }
        Row::Single { indices, values } => {
            for (&j, &x) in indices.iter().zip(values) {
                out[j as usize] += factor * f64::from(x);
            }
        }
        Row::Ones { indices } => {
            for &j in indices {
                out[j as usize] += factor;
            }
        }
    }
}

/// Dense rows with several outputs are matrix products.
#[cfg(feature = "low-rank")]
mod dense {
    use dualgap_dense::{MatMut, MatRef};

    /// `a = XW`, where X has d columns and W has k.
    pub fn product(x: &[f64], d: usize, w: &[f64], k: usize, a: &mut [f64]) {
        let n = a.len() / k;
        let (x, w) = (MatRef::from_row_major_slice(x, n, d), MatRef::from_row_major_slice(w, d, k));
        dualgap_dense::multiply(MatMut::from_row_major_slice_mut(a, n, k), x, w);
    }

    /// `out += X'U`.
    pub fn add_adjoint(x: &[f64], d: usize, u: &[f64], k: usize, out: &mut [f64]) {
        let n = u.len() / k;
        let (x, u) = (MatRef::from_row_major_slice(x, n, d), MatRef::from_row_major_slice(u, n, k));
        let out = MatMut::from_row_major_slice_mut(out, d, k);
        dualgap_dense::add_product(out, 1.0, x.transpose(), u);
    }
}
