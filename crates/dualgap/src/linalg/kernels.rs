//! The inner loops that take most of the time.
//!
//! Label-factored weights are laid out feature-major, `w[f·K + y]`, so that the scores of all K
//! labels are a sum of contiguous runs. Each kernel is compiled for several instruction sets and the
//! best is picked at run time; none may reorder or fuse what it adds, so all give the same bits.

use super::Row;
use super::elementary::exp_of_negative;
use multiversion::multiversion;

/// Calls the kernel of runs of labels: as many of 32 as there are, then one for the rest, in lanes of four. The last four
/// overlap those before where the rest is no multiple of four: a label's result is then computed twice, to the same bits,
/// because the order of its operations does not depend on the split. Fewer than four are runs of two and one.
macro_rules! in_lanes {
    ($out:ident, $of_lanes:ident($($with:expr),+)) => {{
        let labels = $out.len();
        let mut first = 0;
        while labels - first >= 32 {
            $of_lanes::<8, 4>($($with),+, labels, first, &mut $out[first..first + 32]);
            first += 32;
        }
        let rest = labels - first;
        let out = &mut $out[first..];
        match rest.div_ceil(4) {
            0 => {}
            1 if rest < 4 => {
                if rest >= 2 {
                    $of_lanes::<1, 2>($($with),+, labels, first, &mut out[..2]);
                }
                if rest % 2 == 1 {
                    $of_lanes::<1, 1>($($with),+, labels, labels - 1, &mut out[rest - 1..]);
                }
            }
            1 => $of_lanes::<1, 4>($($with),+, labels, first, out),
            2 => $of_lanes::<2, 4>($($with),+, labels, first, out),
            3 => $of_lanes::<3, 4>($($with),+, labels, first, out),
            4 => $of_lanes::<4, 4>($($with),+, labels, first, out),
            5 => $of_lanes::<5, 4>($($with),+, labels, first, out),
            6 => $of_lanes::<6, 4>($($with),+, labels, first, out),
            7 => $of_lanes::<7, 4>($($with),+, labels, first, out),
            _ => $of_lanes::<8, 4>($($with),+, labels, first, out),
        }
    }};
}

/// The results of M times N labels, in registers.
type Lanes<const M: usize, const N: usize> = [[f64; N]; M];

/// Where the lanes of number m begin among `count` labels.
#[allow(clippy::inline_always)] // only what is inlined is compiled for the caller's instruction set
#[inline(always)]
fn begin<const M: usize, const N: usize>(m: usize, count: usize) -> usize {
    if m + 1 == M { count - N } else { m * N }
}

/// Adds x times a run to the sums of its lanes.
// A closure in the place of such functions is not always inlined.
#[allow(clippy::inline_always)]
#[inline(always)]
fn add_run<const M: usize, const N: usize>(run: &[f64], x: f64, sums: &mut Lanes<M, N>) {
    for (m, sums) in sums.iter_mut().enumerate() {
        let run = &run[begin::<M, N>(m, run.len())..][..N];
        for lane in 0..N {
            sums[lane] += x * run[lane];
        }
    }
}

/// Replaces what is less than the numbers of a run and `score`.
#[allow(clippy::inline_always)]
#[inline(always)]
fn max_run<const M: usize, const N: usize>(run: &[f64], score: f64, best: &mut Lanes<M, N>) {
    for (m, best) in best.iter_mut().enumerate() {
        let run = &run[begin::<M, N>(m, run.len())..][..N];
        for lane in 0..N {
            let candidate = score + run[lane];
            best[lane] = if candidate > best[lane] { candidate } else { best[lane] };
        }
    }
}

#[allow(clippy::inline_always)]
#[inline(always)]
fn read_lanes<const M: usize, const N: usize>(run: &[f64]) -> Lanes<M, N> {
    let mut lanes = [[0.0; N]; M];
    for (m, lanes) in lanes.iter_mut().enumerate() {
        lanes.copy_from_slice(&run[begin::<M, N>(m, run.len())..][..N]);
    }
    lanes
}

#[allow(clippy::inline_always)]
#[inline(always)]
fn write_lanes<const M: usize, const N: usize>(lanes: &Lanes<M, N>, run: &mut [f64]) {
    let count = run.len();
    for (m, lanes) in lanes.iter().enumerate() {
        run[begin::<M, N>(m, count)..][..N].copy_from_slice(lanes);
    }
}

/// `scores[y] += Σ_f x_f · w[f·K + y]` for every label, with `K = scores.len()`.
///
/// ```
/// # use dualgap::linalg::{Row, add_scores};
/// let w = [1.0, 2.0, 3.0, 4.0]; // two features, two labels
/// let mut scores = [0.0, 0.5];
/// add_scores(Row::sparse(&[1], &[2.0])?, &w, &mut scores);
/// assert_eq!(scores, [6.0, 8.5]);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
pub fn add_scores(row: Row<'_>, w: &[f64], scores: &mut [f64]) {
    in_lanes!(scores, add_lanes(row, w));
}

/// [`add_scores`] for a run of labels, of which `first` is the first of all `labels`.
#[allow(clippy::inline_always)]
#[inline(always)]
fn add_lanes<const M: usize, const N: usize>(
    row: Row<'_>,
    w: &[f64],
    labels: usize,
    first: usize,
    scores: &mut [f64],
) {
    let count = scores.len();
    let mut sums = read_lanes::<M, N>(scores);
    match row {
        Row::Sparse { indices, values } => {
            for (&f, &x) in indices.iter().zip(values) {
                add_run(&w[f as usize * labels + first..][..count], x, &mut sums);
            }
        }
        Row::Single { indices, values } => {
            for (&f, &x) in indices.iter().zip(values) {
                add_run(&w[f as usize * labels + first..][..count], x.into(), &mut sums);
            }
        }
        Row::Ones { indices } => {
            for &f in indices {
                add_run(&w[f as usize * labels + first..][..count], 1.0, &mut sums);
            }
        }
        Row::Dense(values) => {
            for (f, &x) in values.iter().enumerate() {
                add_run(&w[f * labels + first..][..count], x, &mut sums);
            }
        }
    }
    write_lanes(&sums, scores);
}

/// `v[f·K + y] += d · x_f` for each of these `(y, d)`, with K classes. A step between two classes has two of them.
pub fn add_classes(row: Row<'_>, classes: usize, parts: &[(usize, f64)], v: &mut [f64]) {
    if let [(y, d), (z, e)] = *parts {
        row.for_each(|f, x| {
            let run = &mut v[f * classes..][..classes];
            run[y] += d * x;
            run[z] += e * x;
        });
        return;
    }
    row.for_each(|f, x| {
        let run = &mut v[f * classes..][..classes];
        parts.iter().for_each(|&(y, d)| run[y] += d * x);
    });
}

/// `v[f·K + y] += factor · x_f · d_y`: the transpose of [`add_scores`], with `K = d.len()`.
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
        Row::Single { indices, values } => {
            for (&f, &x) in indices.iter().zip(values) {
                let start = f as usize * labels;
                add_scaled(d, factor * f64::from(x), &mut v[start..start + labels]);
            }
        }
        Row::Ones { indices } => {
            for &f in indices {
                let start = f as usize * labels;
                add_scaled(d, factor, &mut v[start..start + labels]);
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
/// It computes only the maxima. Backtracking looks up the maximiser again, for one label per position instead of all
/// K, so this loop has no branch.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
pub fn max_plus(from: &[f64], transitions: &[f64], to: &mut [f64]) {
    in_lanes!(to, max_lanes(from, transitions));
}

/// [`max_plus`] for a run of labels, of which `first` is the first of all `labels`.
#[allow(clippy::inline_always)]
#[inline(always)]
fn max_lanes<const M: usize, const N: usize>(
    from: &[f64],
    transitions: &[f64],
    labels: usize,
    first: usize,
    to: &mut [f64],
) {
    let mut best = [[f64::NEG_INFINITY; N]; M];
    for (&score, row) in from.iter().zip(transitions.chunks_exact(labels)) {
        max_run(&row[first..][..to.len()], score, &mut best);
    }
    write_lanes(&best, to);
}

/// `Σ a_j b_j` in eight interleaved partial sums, always in the same order.
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

/// `Σ_f x_f w_f`: the score of a row for one weight per feature.
///
/// ```
/// # use dualgap::linalg::{Row, score};
/// let row = Row::sparse(&[0, 2], &[2.0, 1.0])?;
/// assert_eq!(score(row, &[1.0, 5.0, -3.0]), -1.0);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[inline]
pub fn score(row: Row<'_>, w: &[f64]) -> f64 {
    match row {
        Row::Sparse { indices, values } => in_pairs(indices, values, w),
        Row::Single { indices, values } => in_pairs(indices, values, w),
        Row::Ones { indices } => {
            let (pairs, last) = indices.as_chunks();
            let (mut even, mut odd) = (0.0, 0.0);
            for &[f, g] in pairs {
                even += w[f as usize];
                odd += w[g as usize];
            }
            last.iter().for_each(|&f| even += w[f as usize]);
            even + odd
        }
        Row::Dense(values) => dot(values, &w[..values.len()]),
    }
}

/// `Σ_f x_f w_f` of stored entries, in two interleaved partial sums: in one, every addition waits for the one before, which takes longer than all
/// that is read for it.
#[inline]
fn in_pairs<X: Copy + Into<f64>>(indices: &[u32], values: &[X], w: &[f64]) -> f64 {
    let (pairs, last) = indices.as_chunks();
    let (of_pairs, of_last) = values.as_chunks();
    let (mut even, mut odd) = (0.0, 0.0);
    for (&[f, g], &[x, y]) in pairs.iter().zip(of_pairs) {
        even += x.into() * w[f as usize];
        odd += y.into() * w[g as usize];
    }
    last.iter().zip(of_last).for_each(|(&f, &x)| even += x.into() * w[f as usize]);
    even + odd
}

/// `v += factor · x`: the transpose of [`score`].
#[inline]
pub fn add_row(row: Row<'_>, factor: f64, v: &mut [f64]) {
    match row {
        Row::Dense(values) => add_dense(values, factor, v),
        Row::Sparse { .. } | Row::Single { .. } | Row::Ones { .. } => {
            row.for_each(|j, x| v[j] += factor * x);
        }
    }
}

#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn add_dense(values: &[f64], factor: f64, v: &mut [f64]) {
    add_scaled(values, factor, v);
}

/// Returns the index and the value of the first largest score, so ties are broken the same way everywhere.
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

/// Replaces numbers that are at most `top` by about e^(number − top): a few units in the last place, and never zero.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
pub(crate) fn exp_below(top: f64, numbers: &mut [f64]) {
    for x in numbers {
        *x = exp_of_negative(*x - top);
    }
}

/// `to += factor · from`. It is inlined, so it is compiled for the instruction set of its caller.
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
        fn a_score_is_the_same_however_its_row_is_stored(
            entries in prop::collection::vec((-2.0..2.0_f32, -2.0..2.0_f64), 0..12),
            are_ones in any::<bool>(),
        ) {
            let indices: Vec<u32> = (0..entries.len() as u32).map(|k| 2 * k).collect();
            let single: Vec<f32> = entries.iter().map(|&(x, _)| if are_ones { 1.0 } else { x }).collect();
            let wide: Vec<f64> = single.iter().map(|&x| f64::from(x)).collect();
            let w: Vec<f64> = entries.iter().flat_map(|&(_, w)| [w, 99.0]).collect();
            let products = wide.iter().zip(&entries).map(|(x, (_, w))| x * w);
            let found = score(Row::Sparse { indices: &indices, values: &wide }, &w);
            prop_assert!((found - products.sum::<f64>()).abs() < 1e-12);
            let narrow = score(Row::Single { indices: &indices, values: &single }, &w);
            prop_assert_eq!(found.to_bits(), narrow.to_bits());
            if are_ones {
                prop_assert_eq!(found.to_bits(), score(Row::Ones { indices: &indices }, &w).to_bits());
            }
        }

        #[test]
        fn some_classes_are_added_as_all_are(
            x in prop::collection::vec(-2.0..2.0_f64, 5),
            d in prop::collection::vec(-2.0..2.0_f64, 4),
            some in 0..=4_usize,
        ) {
            let indices = [0, 1, 3, 4, 6];
            let row = Row::Sparse { indices: &indices, values: &x };
            let parts: Vec<(usize, f64)> = d.iter().copied().enumerate().take(some).collect();
            let (mut all, mut v) = (vec![1.0; 28], vec![1.0; 28]);
            for (&f, x) in indices.iter().zip(&x) {
                parts.iter().for_each(|(y, d)| all[f as usize * 4 + y] += d * x);
            }
            add_classes(row, 4, &parts, &mut v);
            prop_assert_eq!(all, v);
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

    // For any number of labels, and so for any split into lanes, each sum is computed in the same order.
    #[test]
    fn lanes_give_the_bits_of_a_plain_loop() {
        let mut random = crate::linalg::Random::new(1);
        let mut numbers =
            |count: usize| -> Vec<f64> { (0..count).map(|_| 2.0 * random.unit() - 1.0).collect() };
        for labels in 1..=70 {
            let (w, x, from) = (numbers(7 * labels), numbers(7), numbers(labels));
            let (indices, values) = ([1_u32, 2, 5, 6], [x[0], x[1], x[2], x[3]]);
            for row in [Row::Dense(&x), Row::Sparse { indices: &indices, values: &values }] {
                let mut scores = from.clone();
                add_scores(row, &w, &mut scores);
                for (y, score) in scores.iter().enumerate() {
                    let plain = row.iter().fold(from[y], |sum, (f, x)| sum + x * w[f * labels + y]);
                    assert_eq!(score.to_bits(), plain.to_bits(), "{labels} labels, {y}");
                }
            }
            let (transitions, mut to) = (numbers(labels * labels), vec![0.0; labels]);
            max_plus(&from, &transitions, &mut to);
            for (y, best) in to.iter().enumerate() {
                let candidates = (0..labels).map(|x| from[x] + transitions[x * labels + y]);
                let plain = candidates.fold(f64::NEG_INFINITY, f64::max);
                assert_eq!(best.to_bits(), plain.to_bits(), "{labels} labels, {y}");
            }
        }
    }

    #[test]
    fn a_long_dot_product_covers_lanes_and_tail() {
        let a: Vec<f64> = (1..=19).map(f64::from).collect();
        assert_eq!(dot(&a, &a), f64::from(19 * 20 * 39 / 6));
    }
}
