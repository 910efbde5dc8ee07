//! Weights of chains in 32 bits, for steps: half of the memory that a step waits for.
//!
//! The rows are those of the [`ChainLayout`], one for each feature, for the first and for the last label, and for pairs one for each label
//! before. They have W places for K labels, W a multiple of eight, so that all of a row is computed in whole lanes; places without
//! a label stay zero.

use super::super::oracle::{ChainLayout, Label};
use crate::linalg::Row;
use multiversion::multiversion;
use std::ops::Range;

/// So many labels are computed together.
pub(super) const LANES: usize = 8;

/// So many such lanes are kept in registers at once.
pub(super) const MOST_LANES: usize = 4;

/// Where weights are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    /// K.
    pub labels: usize,
    /// W.
    pub width: usize,
    features: usize,
}

impl Places {
    /// Returns the places of a layout without features of pairs.
    pub fn of(layout: ChainLayout) -> Self {
        let ChainLayout { features, labels, .. } = layout;
        Self { labels, width: labels.next_multiple_of(LANES), features }
    }

    /// Returns the number of places.
    pub fn count(&self) -> usize {
        self.pairs().end
    }

    pub fn start(&self) -> Range<usize> {
        self.features * self.width..(self.features + 1) * self.width
    }

    pub fn end(&self) -> Range<usize> {
        (self.features + 1) * self.width..(self.features + 2) * self.width
    }

    pub fn pairs(&self) -> Range<usize> {
        (self.features + 2) * self.width..(self.features + 2 + self.labels) * self.width
    }

    /// Returns the place of a pair.
    pub fn pair(&self, before: Label, y: Label) -> usize {
        self.pairs().start + usize::from(before) * self.width + usize::from(y)
    }

    /// Returns weights in 32 bits.
    pub fn narrowed(&self, w: &[f64]) -> Vec<f32> {
        let mut narrow = vec![0.0; self.count()];
        for (narrow, w) in narrow.chunks_exact_mut(self.width).zip(w.chunks_exact(self.labels)) {
            narrow.iter_mut().zip(w).for_each(|(narrow, &w)| *narrow = w as f32);
        }
        narrow
    }

    /// Writes weights in 64 bits, which are the same numbers.
    pub fn widen(&self, narrow: &[f32], w: &mut [f64]) {
        for (narrow, w) in narrow.chunks_exact(self.width).zip(w.chunks_exact_mut(self.labels)) {
            w.iter_mut().zip(narrow).for_each(|(w, &narrow)| *w = narrow.into());
        }
    }
}

/// Calls a function of M lanes and of the first place of them, from place to place of a row of this width.
macro_rules! by_lanes {
    ($width:expr, $of_lanes:ident($($with:expr),+)) => {{
        let mut first = 0;
        while first < $width {
            let lanes = (($width - first) / LANES).min(MOST_LANES);
            match lanes {
                1 => $of_lanes::<1>($($with),+, first),
                2 => $of_lanes::<2>($($with),+, first),
                3 => $of_lanes::<3>($($with),+, first),
                _ => $of_lanes::<MOST_LANES>($($with),+, first),
            }
            first += lanes * LANES;
        }
    }};
}
pub(super) use by_lanes;

/// `scores += Σ_f x_f row_f`, with rows as long as `scores`.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
pub(super) fn add_scores(row: Row<'_>, w: &[f32], scores: &mut [f32]) {
    by_lanes!(scores.len(), score_lanes(row, w, scores));
}

/// [`add_scores`] for M lanes from `first` on.
#[expect(clippy::inline_always, reason = "it is compiled for the instruction set of its caller")]
#[inline(always)]
fn score_lanes<const M: usize>(row: Row<'_>, w: &[f32], scores: &mut [f32], first: usize) {
    let width = scores.len();
    let scores = &mut scores[first..][..M * LANES];
    let mut sums = [[0.0; LANES]; M];
    for (sums, scores) in sums.iter_mut().zip(scores.chunks_exact(LANES)) {
        sums.copy_from_slice(scores);
    }
    let of = |f: u32| &w[f as usize * width + first..][..M * LANES];
    match row {
        Row::Sparse { indices, values } => {
            for (&f, &x) in indices.iter().zip(values) {
                add_lanes(of(f), x as f32, &mut sums);
            }
        }
        Row::Single { indices, values } => {
            for (&f, &x) in indices.iter().zip(values) {
                add_lanes(of(f), x, &mut sums);
            }
        }
        Row::Ones { indices } => {
            for &f in indices {
                add_lanes(of(f), 1.0, &mut sums);
            }
        }
        Row::Dense(values) => {
            for (run, &x) in w.chunks_exact(width).zip(values) {
                add_lanes(&run[first..][..M * LANES], x as f32, &mut sums);
            }
        }
    }
    for (sums, scores) in sums.iter().zip(scores.chunks_exact_mut(LANES)) {
        scores.copy_from_slice(sums);
    }
}

#[expect(clippy::inline_always, reason = "it is compiled for the instruction set of its caller")]
#[inline(always)]
pub(super) fn add_lanes<const M: usize>(run: &[f32], x: f32, sums: &mut [[f32; LANES]; M]) {
    for (m, sums) in sums.iter_mut().enumerate() {
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum += x * run[m * LANES + lane];
        }
    }
}

/// `row_f += x_f d` for all f: the transpose of [`add_scores`].
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
pub(super) fn add_outer(row: Row<'_>, d: &[f32], w: &mut [f32]) {
    let width = d.len();
    match row {
        Row::Sparse { indices, values } => {
            for (&f, &x) in indices.iter().zip(values) {
                add_scaled(d, x as f32, &mut w[f as usize * width..][..width]);
            }
        }
        Row::Single { indices, values } => {
            for (&f, &x) in indices.iter().zip(values) {
                add_scaled(d, x, &mut w[f as usize * width..][..width]);
            }
        }
        Row::Ones { indices } => {
            for &f in indices {
                add_scaled(d, 1.0, &mut w[f as usize * width..][..width]);
            }
        }
        Row::Dense(values) => {
            for (run, &x) in w.chunks_exact_mut(width).zip(values) {
                add_scaled(d, x as f32, run);
            }
        }
    }
}

/// `run += x d`, in whole lanes.
#[expect(clippy::inline_always, reason = "it is compiled for the instruction set of its caller")]
#[inline(always)]
fn add_scaled(d: &[f32], x: f32, run: &mut [f32]) {
    let (run, d) = (run.as_chunks_mut::<LANES>().0, d.as_chunks::<LANES>().0);
    for (run, d) in run.iter_mut().zip(d) {
        for lane in 0..LANES {
            run[lane] += x * d[lane];
        }
    }
}

/// Moves stored numbers a share of the way to others, and writes `length` times the way back; returns the sum of the squared distances
/// before.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
pub(super) fn move_towards(
    stored: &mut [f32],
    others: &[f32],
    (share, length): (f32, f32),
    back: &mut [f32],
) -> f64 {
    let mut squares = [0.0_f32; LANES];
    let (places, place) = stored.as_chunks_mut::<LANES>();
    let (targets, target) = others.as_chunks::<LANES>();
    let (backs, last) = back.as_chunks_mut::<LANES>();
    for ((stored, others), back) in places.iter_mut().zip(targets).zip(backs) {
        move_lanes(stored, others, share, length, back, &mut squares);
    }
    // The rest, with numbers beside it that do not move.
    let (mut stored, mut others, mut back) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    stored[..place.len()].copy_from_slice(place);
    others[..place.len()].copy_from_slice(target);
    move_lanes(&mut stored, &others, share, length, &mut back, &mut squares);
    place.copy_from_slice(&stored[..place.len()]);
    last.copy_from_slice(&back[..place.len()]);
    squares.iter().map(|&square| f64::from(square)).sum()
}

#[expect(clippy::inline_always, reason = "it is compiled for the instruction set of its caller")]
#[inline(always)]
fn move_lanes(
    stored: &mut [f32; LANES],
    others: &[f32; LANES],
    share: f32,
    length: f32,
    back: &mut [f32; LANES],
    squares: &mut [f32; LANES],
) {
    let old = *stored;
    for lane in 0..LANES {
        let residual = others[lane] - old[lane];
        squares[lane] += residual * residual;
        let new = old[lane] + share * residual;
        stored[lane] = if new < f32::MIN_POSITIVE { 0.0 } else { new };
        back[lane] = length * (old[lane] - stored[lane]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Random;

    // Whole numbers, whose sums are exact in any number of bits; the judges are the kernels in 64 bits.
    #[test]
    fn scores_and_outer_products_are_those_of_64_bits() {
        use crate::linalg::kernels;
        let mut random = Random::new(5);
        for labels in [1, 2, 7, 8, 9, 22, 31, 32, 33, 40, 70] {
            let layout = ChainLayout { features: 6, labels, pairs: 0 };
            let places = Places::of(layout);
            let mut whole = |count: usize| -> Vec<f64> {
                (0..count).map(|_| random.below(9) as f64 - 4.0).collect()
            };
            let (mut w, x, d) = (whole(layout.dim()), whole(6), whole(labels));
            let mut narrow = places.narrowed(&w);
            let singles: Vec<f32> = x[..3].iter().map(|&x| x as f32).collect();
            let mut padded = vec![0.0; places.width];
            padded.iter_mut().zip(&d).for_each(|(padded, &d)| *padded = d as f32);
            for row in [
                Row::Dense(&x),
                Row::Sparse { indices: &[0, 2, 5], values: &x[..3] },
                Row::Single { indices: &[1, 3, 4], values: &singles },
                Row::Ones { indices: &[0, 1, 5] },
            ] {
                let (mut scores, mut found) = (vec![1.0; labels], vec![1.0; places.width]);
                kernels::add_scores(row, &w, &mut scores);
                add_scores(row, &narrow, &mut found);
                assert!(scores.iter().zip(&found).all(|(s, &found)| *s == f64::from(found)));
                assert!(found[labels..].iter().all(|&found| found == 1.0), "{labels} labels");
                kernels::add_outer(row, &d, 1.0, &mut w);
                add_outer(row, &padded, &mut narrow);
            }
            let mut wide = vec![0.0; layout.dim()];
            places.widen(&narrow, &mut wide);
            assert_eq!(wide, w);
            assert_eq!(places.narrowed(&wide), narrow);
            let place = layout.transitions().start + (labels - 1) * labels;
            assert_eq!(f64::from(narrow[places.pair(labels as Label - 1, 0)]), w[place]);
        }
    }

    #[test]
    fn numbers_move_by_what_is_told() {
        let mut random = Random::new(3);
        for count in [1, 7, 8, 20] {
            let mut stored: Vec<f32> = (0..count).map(|_| random.unit() as f32).collect();
            let others: Vec<f32> = (0..count).map(|_| random.unit() as f32).collect();
            let (old, mut back) = (stored.clone(), vec![0.0; count]);
            let square = move_towards(&mut stored, &others, (0.25, 2.0), &mut back);
            let distances = old.iter().zip(&others).map(|(a, b)| f64::from(a - b).powi(2));
            assert!((square - distances.sum::<f64>()).abs() < 1e-5);
            for k in 0..count {
                assert_eq!(back[k], 2.0 * (old[k] - stored[k]));
                assert!((stored[k] - (0.75 * old[k] + 0.25 * others[k])).abs() < 1e-6);
            }
        }
    }
}
