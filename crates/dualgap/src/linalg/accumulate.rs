//! Targets that a feature vector can be added to: weights, a compensated sum, a sparse list.
//!
//! A structure defines once how its feature vector is computed, and the target decides what to do with it: the same
//! code updates the weights during training and recomputes them for a certificate.

use super::sum::two_sum;
use super::{Row, UNDERFLOW, UNIT_ROUNDOFF, gamma};
use multiversion::multiversion;
use serde::{Deserialize, Serialize};

/// Receives a vector coordinate by coordinate; it may receive a coordinate more than once.
pub trait Accumulate {
    /// Adds `value` at `index`.
    fn add(&mut self, index: usize, value: f64);

    /// Adds `factor · values` from `start` on.
    fn add_run(&mut self, start: usize, values: &[f64], factor: f64) {
        for (k, &value) in values.iter().enumerate() {
            if value != 0.0 {
                self.add(start + k, factor * value);
            }
        }
    }

    /// Adds `factor · x`.
    fn add_row(&mut self, row: Row<'_>, factor: f64) {
        row.for_each(|j, x| self.add(j, factor * x));
    }

    /// Adds `factor · x ⊗ d`, laid out feature-major: `x_f · d_y` at `f·d.len() + y`.
    fn add_outer(&mut self, row: Row<'_>, d: &[f64], factor: f64) {
        for (f, x) in row.iter() {
            self.add_run(f * d.len(), d, factor * x);
        }
    }

    /// Adds `x_f · d` at `f·classes + y` for each of these `(y, d)`.
    fn add_classes(&mut self, row: Row<'_>, classes: usize, parts: &[(usize, f64)]) {
        row.for_each(|f, x| {
            for &(y, d) in parts {
                self.add(f * classes + y, d * x);
            }
        });
    }
}

/// A dense vector with compensated sums: nearly exact for any number of terms.
///
/// ```
/// # use dualgap::linalg::{Accumulate, CompensatedVec};
/// let mut sum = CompensatedVec::zeros(1);
/// for term in [1e16, 1.0, -1e16] {
///     sum.add(0, term);
/// }
/// assert_eq!(sum.round(), [1.0]);
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CompensatedVec {
    #[serde(with = "super::sparse")]
    high: Vec<f64>,
    /// What `high` has rounded away. An array of its own: runs of neighbours are then added several at a time.
    #[serde(with = "super::sparse")]
    low: Vec<f64>,
}

impl CompensatedVec {
    /// Returns the number of coordinates, or `None` if the two arrays differ, as they may in bytes from elsewhere.
    pub(crate) fn dim(&self) -> Option<usize> {
        (self.high.len() == self.low.len()).then_some(self.high.len())
    }

    /// Returns the zero vector of `dim` coordinates.
    pub fn zeros(dim: usize) -> Self {
        Self { high: vec![0.0; dim], low: vec![0.0; dim] }
    }

    /// Returns the sum, with each coordinate rounded once.
    pub fn round(mut self) -> Vec<f64> {
        self.high.iter_mut().zip(&self.low).for_each(|(high, low)| *high += low);
        self.high
    }

    /// Returns the sums and what they have rounded away, to be changed in place.
    pub(super) fn halves(&mut self) -> (&mut [f64], &mut [f64]) {
        (&mut self.high, &mut self.low)
    }

    /// Adds another sum, with what it has rounded away.
    pub fn add_sum(&mut self, other: &Self) {
        add_compensated(&other.high, 1.0, &mut self.high, &mut self.low);
        self.low.iter_mut().zip(&other.low).for_each(|(low, more)| *low += more);
    }
}

impl Accumulate for CompensatedVec {
    #[inline]
    fn add(&mut self, index: usize, value: f64) {
        two_sum(&mut self.high[index], &mut self.low[index], value);
    }

    fn add_run(&mut self, start: usize, values: &[f64], factor: f64) {
        let range = start..start + values.len();
        add_compensated(values, factor, &mut self.high[range.clone()], &mut self.low[range]);
    }

    fn add_row(&mut self, row: Row<'_>, factor: f64) {
        match row {
            Row::Dense(values) => self.add_run(0, values, factor),
            Row::Sparse { .. } | Row::Single { .. } | Row::Ones { .. } => {
                // Both arrays have the same length, so that an index is compared with one of them.
                let high = &mut self.high[..];
                let low = &mut self.low[..high.len()];
                row.for_each(|j, x| two_sum(&mut high[j], &mut low[j], factor * x));
            }
        }
    }

    fn add_outer(&mut self, row: Row<'_>, d: &[f64], factor: f64) {
        add_outer_compensated(row, d, factor, &mut self.high, &mut self.low);
    }
}

/// `high + low += factor · values`, compensated.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn add_compensated(values: &[f64], factor: f64, high: &mut [f64], low: &mut [f64]) {
    add_each(values, factor, high, low);
}

/// `high + low += Σ_f x_f · w[f·K + y]` for every label, compensated, with `K = high.len()`.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
pub(crate) fn add_scores_compensated(row: Row<'_>, w: &[f64], high: &mut [f64], low: &mut [f64]) {
    let labels = high.len();
    match row {
        Row::Sparse { indices, values } => {
            for (&f, &x) in indices.iter().zip(values) {
                add_each(&w[f as usize * labels..][..labels], x, high, low);
            }
        }
        Row::Single { indices, values } => {
            for (&f, &x) in indices.iter().zip(values) {
                add_each(&w[f as usize * labels..][..labels], x.into(), high, low);
            }
        }
        Row::Ones { indices } => {
            for &f in indices {
                add_each(&w[f as usize * labels..][..labels], 1.0, high, low);
            }
        }
        Row::Dense(values) => {
            for (f, &x) in values.iter().enumerate() {
                add_each(&w[f * labels..][..labels], x, high, low);
            }
        }
    }
}

#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn add_outer_compensated(row: Row<'_>, d: &[f64], factor: f64, high: &mut [f64], low: &mut [f64]) {
    let labels = d.len();
    match row {
        _ if labels == 0 => {}
        Row::Sparse { indices, values } => {
            for (&f, &x) in indices.iter().zip(values) {
                let run = f as usize * labels..(f as usize + 1) * labels;
                add_each(d, factor * x, &mut high[run.clone()], &mut low[run]);
            }
        }
        Row::Single { indices, values } => {
            for (&f, &x) in indices.iter().zip(values) {
                let run = f as usize * labels..(f as usize + 1) * labels;
                add_each(d, factor * f64::from(x), &mut high[run.clone()], &mut low[run]);
            }
        }
        Row::Ones { indices } => {
            for &f in indices {
                let run = f as usize * labels..(f as usize + 1) * labels;
                add_each(d, factor, &mut high[run.clone()], &mut low[run]);
            }
        }
        Row::Dense(values) => {
            let runs = high.chunks_exact_mut(labels).zip(low.chunks_exact_mut(labels));
            for ((high, low), &x) in runs.zip(values) {
                add_each(d, factor * x, high, low);
            }
        }
    }
}

#[allow(clippy::inline_always)] // only what is inlined is compiled for the caller's instruction set
#[inline(always)]
pub(super) fn add_each(values: &[f64], factor: f64, high: &mut [f64], low: &mut [f64]) {
    for ((high, low), &value) in high.iter_mut().zip(low).zip(values) {
        two_sum(high, low, factor * value);
    }
}

impl Accumulate for [f64] {
    #[inline]
    fn add(&mut self, index: usize, value: f64) {
        self[index] += value;
    }

    #[inline]
    fn add_row(&mut self, row: Row<'_>, factor: f64) {
        super::kernels::add_row(row, factor, self);
    }

    fn add_outer(&mut self, row: Row<'_>, d: &[f64], factor: f64) {
        super::kernels::add_outer(row, d, factor, self);
    }
}

impl Accumulate for Vec<f64> {
    #[inline]
    fn add(&mut self, index: usize, value: f64) {
        self[index] += value;
    }

    #[inline]
    fn add_row(&mut self, row: Row<'_>, factor: f64) {
        super::kernels::add_row(row, factor, self);
    }

    fn add_outer(&mut self, row: Row<'_>, d: &[f64], factor: f64) {
        super::kernels::add_outer(row, d, factor, self);
    }
}

/// A sparse vector; after [`SparseVec::settle`] its indices ascend and are distinct.
///
/// ```
/// # use dualgap::linalg::{Accumulate, SparseVec};
/// let mut x = SparseVec::default();
/// x.add(7, 1.0);
/// x.add(2, 3.0);
/// x.add(7, 1.0);
/// x.settle();
/// assert_eq!(x.entries(), [(2, 3.0), (7, 2.0)]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SparseVec {
    entries: Vec<(usize, f64)>,
}

impl SparseVec {
    /// Empties the vector and keeps its memory.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Sorts the entries, adds up those of one index, and drops zeros.
    pub fn settle(&mut self) {
        self.settle_with(|_, _| {});
    }

    /// Does what [`settle`](Self::settle) does, and returns an upper bound on the Euclidean norm of the rounding of
    /// the sums. The bound adds up the rounding errors of the additions, which are floating-point numbers
    /// themselves, instead of estimating them from the number of terms.
    ///
    /// ```
    /// # use dualgap::linalg::{Accumulate, SparseVec};
    /// let mut x = SparseVec::default();
    /// [1.0, 1e16, -1e16].into_iter().for_each(|term| x.add(0, term));
    /// assert!(x.settle_measured() >= 1.0 && x.entries().is_empty());
    /// ```
    pub fn settle_measured(&mut self) -> f64 {
        let (mut total, mut low, mut sizes, mut additions) = (0.0, 0.0, 0.0, 0);
        let mut current = None;
        let finish = |low: f64, sizes: f64, additions: usize| {
            f64::abs(low) + gamma(additions) * sizes + if sizes > 0.0 { UNDERFLOW } else { 0.0 }
        };
        self.settle_with(|index, lost| {
            if current.replace(index) != Some(index) {
                total += finish(low, sizes, additions);
                (low, sizes, additions) = (0.0, 0.0, 0);
            }
            low += lost;
            sizes += f64::abs(lost);
            additions += 1;
        });
        // The sum of the errors of all coordinates is at least their Euclidean norm.
        (total + finish(low, sizes, additions)) * (1.0 + 1e-9)
    }

    /// Settles the vector and calls `lost` for every addition with its index and its rounding error.
    fn settle_with(&mut self, mut lost: impl FnMut(usize, f64)) {
        // Equal indices are sorted by value, so the sum does not depend on the order of the terms.
        self.entries.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        self.entries.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                let mut low = 0.0;
                two_sum(&mut kept.1, &mut low, later.1);
                lost(kept.0, low);
            }
            same
        });
        self.entries.retain(|&(_, x)| x != 0.0);
    }

    /// Returns the indices and values as stored.
    pub fn entries(&self) -> &[(usize, f64)] {
        &self.entries
    }

    /// Returns `a · x + b · y` for two settled vectors.
    #[must_use]
    pub fn combined(a: f64, x: &Self, b: f64, y: &Self) -> Self {
        let mut entries = Vec::with_capacity(x.entries.len() + y.entries.len());
        let (mut left, mut right) = (x.entries.as_slice(), y.entries.as_slice());
        while let (Some(&(i, u)), Some(&(j, v))) = (left.first(), right.first()) {
            entries.push((
                i.min(j),
                if i <= j { a * u } else { 0.0 } + if j <= i { b * v } else { 0.0 },
            ));
            left = &left[usize::from(i <= j)..];
            right = &right[usize::from(j <= i)..];
        }
        entries.extend(left.iter().map(|&(i, u)| (i, a * u)));
        entries.extend(right.iter().map(|&(j, v)| (j, b * v)));
        Self { entries }
    }

    /// Adds `factor · self` to `out`.
    pub fn add_to(&self, factor: f64, out: &mut (impl Accumulate + ?Sized)) {
        for &(j, x) in &self.entries {
            out.add(j, factor * x);
        }
    }

    /// Returns `⟨w, self⟩`.
    pub fn dot(&self, w: &[f64]) -> f64 {
        self.entries.iter().map(|&(j, x)| w[j] * x).sum()
    }

    /// Returns `Σ x²`.
    pub fn squared_norm(&self) -> f64 {
        self.entries.iter().map(|&(_, x)| x * x).sum()
    }
}

/// Sums terms `factor · φ` and bounds the rounding of their products: features that arrive one by one are exact,
/// those of [`Accumulate::add_run`] and [`Accumulate::add_outer`] are rounded products.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub sum: SparseVec,
    /// Whether terms are added with the opposite sign.
    pub negated: bool,
    /// An upper bound on the norm of the rounding of all terms.
    pub rounding: f64,
}

impl Accumulate for Collected {
    fn add(&mut self, index: usize, value: f64) {
        self.sum.add(index, if self.negated { -value } else { value });
    }

    fn add_run(&mut self, start: usize, values: &[f64], factor: f64) {
        for (k, &value) in values.iter().enumerate() {
            if value != 0.0 {
                let product = factor * value;
                self.rounding += UNIT_ROUNDOFF * product.abs() + 2.0 * UNDERFLOW;
                self.add(start + k, product);
            }
        }
    }

    fn add_outer(&mut self, row: Row<'_>, d: &[f64], factor: f64) {
        for (f, x) in row.iter() {
            let scaled = factor * x;
            let lost = UNIT_ROUNDOFF * scaled.abs() + UNDERFLOW;
            self.rounding += d.iter().map(|d| lost * d.abs() + UNDERFLOW).sum::<f64>();
            self.add_run(f * d.len(), d, scaled);
        }
    }
}

impl Accumulate for SparseVec {
    fn add(&mut self, index: usize, value: f64) {
        self.entries.push((index, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // Integers times powers of two are exact in 128 bits. Large ones cancel.
        #[test]
        fn what_settling_loses_is_within_its_bound(
            terms in prop::collection::vec((0_usize..3, -(1_i64 << 52)..1_i64 << 52, 0_u32..40), 0..200),
        ) {
            let (mut x, mut exact) = (SparseVec::default(), [0_i128; 3]);
            for &(j, m, e) in &terms {
                // The two terms have opposite signs and cancel except for the last bits.
                x.add(j, m as f64 * f64::from(e).exp2());
                x.add(j, -(m as f64) * f64::from(e).exp2() + f64::from(e));
                let second = (-(m as f64) * f64::from(e).exp2() + f64::from(e)) as i128;
                exact[j] += (i128::from(m) << e) + second;
            }
            let mut plain = x.clone();
            let bound = x.settle_measured();
            plain.settle();
            prop_assert_eq!(x.entries(), plain.entries());
            for &(j, value) in x.entries() {
                exact[j] -= value as i128;
            }
            let off = exact.iter().map(|&off| (off as f64).powi(2)).sum::<f64>().sqrt();
            prop_assert!(off <= bound, "{off} {bound}");
        }
    }

    // What the high parts round away is in the low ones, also where two sums are added.
    #[test]
    fn a_sum_of_sums_is_compensated() {
        let x = [1.0, 1e16, -1e16];
        for row in [Row::Dense(&x), Row::Sparse { indices: &[0, 1, 2], values: &x }] {
            let mut sums = [CompensatedVec::zeros(3), CompensatedVec::zeros(3)];
            sums[0].add_row(row, 1.0);
            sums[0].add_row(Row::Dense(&[1e16, 1.0, 1.0]), 1.0);
            sums[1].add_row(Row::Dense(&[-1e16, -1e16, 1e16]), 1.0);
            let [mut sum, rest] = sums;
            sum.add_sum(&rest);
            assert_eq!(sum.round(), [1.0, 1.0, 1.0]);
        }
    }

    #[test]
    fn every_receiver_takes_up_the_same_outer_product() {
        let row = Row::Sparse { indices: &[1, 3], values: &[2.0, -1.0] };
        let d = [1.0, 0.0, 0.5];
        let mut dense = vec![0.0; 12];
        dense.add_outer(row, &d, 3.0);
        let mut careful = CompensatedVec::zeros(12);
        careful.add_outer(row, &d, 3.0);
        let mut sparse = SparseVec::default();
        sparse.add_outer(row, &d, 3.0);
        sparse.settle();
        let mut spread = vec![0.0; 12];
        sparse.add_to(1.0, &mut spread);
        let combined = SparseVec::combined(2.0, &sparse, -2.0, &sparse);
        assert!(combined.entries().iter().all(|&(_, x)| x == 0.0));
        assert_eq!(combined.entries().len(), sparse.entries().len());
        let mut parts = [CompensatedVec::zeros(12), CompensatedVec::zeros(12)];
        parts[0].add_outer(row, &d, 1.0);
        parts[1].add_outer(row, &d, 2.0);
        let [mut sum, rest] = parts;
        sum.add_sum(&rest);
        assert_eq!(dense, sum.round());
        assert_eq!(dense[3..6], [6.0, 0.0, 3.0]);
        assert_eq!(dense, careful.round());
        assert_eq!(dense, spread);
    }
}
