//! The inner loops that the time goes into.
//!
//! Label-factored weights are laid out feature-major, `w[f·K + y]`, so that the scores of all K
//! labels are a sum of contiguous runs. Each kernel is compiled for several instruction sets and the
//! best is picked at run time; none may reorder or fuse what it adds, so all give the same bits.

use super::Row;
use multiversion::multiversion;

/// `scores[y] += Σ_f x_f · w[f·K + y]` for every label, with `K = scores.len()`.
///
/// ```
/// # use dualgap::linalg::{Row, kernels::add_scores};
/// let w = [1.0, 2.0, 3.0, 4.0]; // two features, two labels
/// let mut scores = [0.0, 0.5];
/// add_scores(Row::Sparse { indices: &[1], values: &[2.0] }, &w, &mut scores);
/// assert_eq!(scores, [6.0, 8.5]);
/// ```
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
pub fn add_scores(row: Row<'_>, w: &[f64], scores: &mut [f64]) {
    let labels = scores.len();
    match row {
        Row::Sparse { indices, values } => {
            for (&f, &x) in indices.iter().zip(values) {
                let start = f as usize * labels;
                add_scaled(&w[start..start + labels], x, scores);
            }
        }
        Row::Dense(values) => {
            for (run, &x) in w.chunks_exact(labels).zip(values) {
                add_scaled(run, x, scores);
            }
        }
    }
}

/// `v[f·K + y] += factor · x_f · d_y`: the transpose of [`add_scores`], with `K = d.len()`.
///
/// ```
/// # use dualgap::linalg::{Row, kernels::add_outer};
/// let mut v = [0.0; 4];
/// add_outer(Row::Dense(&[1.0, 3.0]), &[1.0, -1.0], 2.0, &mut v);
/// assert_eq!(v, [2.0, -2.0, 6.0, -6.0]);
/// ```
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
pub fn add_outer(row: Row<'_>, d: &[f64], factor: f64, v: &mut [f64]) {
    let labels = d.len();
    match row {
        Row::Sparse { indices, values } => {
            for (&f, &x) in indices.iter().zip(values) {
                let start = f as usize * labels;
                add_scaled(d, factor * x, &mut v[start..start + labels]);
            }
        }
        Row::Dense(values) => {
            for (run, &x) in v.chunks_exact_mut(labels).zip(values) {
                add_scaled(d, factor * x, run);
            }
        }
    }
}

/// One Viterbi step: `to[y'] = max_y from[y] + transitions[y·K + y']`.
///
/// Only the maxima: the maximiser is looked up again on the way back, for one label a position
/// instead of for all K, which leaves this loop without a branch.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
pub fn max_plus(from: &[f64], transitions: &[f64], to: &mut [f64]) {
    to.fill(f64::NEG_INFINITY);
    for (&score, run) in from.iter().zip(transitions.chunks_exact(to.len())) {
        for (best, &transition) in to.iter_mut().zip(run) {
            let candidate = score + transition;
            *best = if candidate > *best { candidate } else { *best };
        }
    }
}

/// `Σ a_j b_j` in eight interleaved partial sums, always in the same order.
///
/// ```
/// # use dualgap::linalg::kernels::dot;
/// assert_eq!(dot(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
/// ```
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (head_a, tail_a) = a.split_at(a.len() / 8 * 8);
    let (head_b, tail_b) = b.split_at(b.len() / 8 * 8);
    for (a, b) in head_a.chunks_exact(8).zip(head_b.chunks_exact(8)) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let tail: f64 = tail_a.iter().zip(tail_b).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f64>() + tail
}

/// `Σ_f x_f w_f`: the score of a row where there is one weight a feature.
///
/// ```
/// # use dualgap::linalg::{Row, kernels::score};
/// let row = Row::Sparse { indices: &[0, 2], values: &[2.0, 1.0] };
/// assert_eq!(score(row, &[1.0, 5.0, -3.0]), -1.0);
/// ```
#[inline]
pub fn score(row: Row<'_>, w: &[f64]) -> f64 {
    match row {
        Row::Sparse { indices, values } => {
            indices.iter().zip(values).map(|(&f, &x)| x * w[f as usize]).sum()
        }
        Row::Dense(values) => dot(values, &w[..values.len()]),
    }
}

/// The first of the largest: ties are broken the same way everywhere.
#[inline]
pub fn argmax(scores: impl IntoIterator<Item = f64>) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (y, score) in scores.into_iter().enumerate() {
        if score > best.1 {
            best = (y, score);
        }
    }
    best
}

/// `to += factor · from`. Inlined into its callers, so it takes on their instruction set.
#[inline(always)]
#[allow(clippy::inline_always)]
pub fn add_scaled(from: &[f64], factor: f64, to: &mut [f64]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn scores_and_outer_products_are_transposes(
            x in prop::collection::vec(-2.0..2.0_f64, 5),
            d in prop::collection::vec(-2.0..2.0_f64, 3),
            w in prop::collection::vec(-2.0..2.0_f64, 15),
        ) {
            let indices: Vec<u32> = (0..5).collect();
            for row in [Row::Dense(&x), Row::Sparse { indices: &indices, values: &x }] {
                let mut scores = vec![0.0; 3];
                add_scores(row, &w, &mut scores);
                let mut v = vec![0.0; 15];
                add_outer(row, &d, 1.0, &mut v);
                prop_assert!((dot(&scores, &d) - dot(&v, &w)).abs() < 1e-12);
            }
        }

        #[test]
        fn max_plus_is_the_best_of_all_pairs(
            from in prop::collection::vec(-2.0..2.0_f64, 4),
            transitions in prop::collection::vec(-2.0..2.0_f64, 16),
        ) {
            let mut to = vec![0.0; 4];
            max_plus(&from, &transitions, &mut to);
            for y in 0..4 {
                let best = (0..4).map(|x| from[x] + transitions[x * 4 + y]).fold(f64::NEG_INFINITY, f64::max);
                prop_assert_eq!(to[y], best);
            }
        }
    }

    #[test]
    fn a_long_dot_product_covers_lanes_and_tail() {
        let a: Vec<f64> = (1..=19).map(f64::from).collect();
        assert_eq!(dot(&a, &a), f64::from(19 * 20 * 39 / 6));
    }
}
