//! Forward-backward in 32 bits, for steps: the recursion of [`scaled`](super::scaled), eight labels at a time.
//!
//! A step moves stored expectations, which have 32 bits, a part of the way to those of the weights. An error of 1e-6 in these moves the
//! point where nothing moves any more by as much, and its gap by the square of that. Certificates are computed elsewhere.
//!
//! Numbers below the least normal one are slow, so none comes about: what is positive and smaller than [`LEAST`] is that, where it is a
//! factor of what comes next. With z and E at least [`NARROW`], and h at most its inverse, it adds 1e-6 to a marginal at most, and no
//! product of two factors is below 1e-36. Sequences that are wider go by logarithms.

use super::super::forward_backward::{ForwardBackward, Potentials};
use super::super::legal::{FORBIDDEN, Legal};
use super::super::oracle::Label;
use super::single::{LANES, MOST_LANES, Places, add_lanes, add_scores, by_lanes};
use crate::data::Sequence;
use crate::linalg::elementary::single_exp_of_negative;
use multiversion::multiversion;

/// The least z and E. A sequence with a smaller one goes by logarithms; this one leaves six digits between it and [`LEAST`].
const NARROW: f32 = 1e-12;

/// The least factor: the product of two is 1e-36, and the least normal number of 32 bits is 1.2e-38.
const LEAST: f32 = 1e-18;

/// Expectations below this are zero. They are parts of one, of which 32 bits keep seven digits: any number far below that will do, if
/// its products with the lengths of steps are normal.
const NOTHING: f32 = 1e-20;

/// The expectations of a sequence, and the buffers for them. K labels have W places, of which those without a label are zero.
#[derive(Default)]
pub(super) struct Quick {
    /// The marginals of all positions, `T × K`.
    pub marginals: Vec<f32>,
    /// The sums of those of pairs, `K × K`.
    pub pairs: Vec<f32>,
    /// E by the label before, and by the label after: `K × W`.
    forward: Vec<f32>,
    backward: Vec<f32>,
    /// `T × W`: e, then h.
    nodes: Vec<f32>,
    /// `T × W`: α.
    alpha: Vec<f32>,
    /// `T × W`: μ.
    mu: Vec<f32>,
    /// Σ α_{t−1}(y) h_t(y'), `K × W`.
    sums: Vec<f32>,
    /// The scores of a position, or of pairs.
    scores: Vec<f32>,
    logs: ForwardBackward,
}

/// A sequence, with the labels that it has and those that it may have.
#[derive(Clone, Copy)]
pub(super) struct Labelled<'a> {
    pub x: Sequence<'a>,
    pub truth: &'a [Label],
    pub legal: Option<&'a Legal>,
}

impl Quick {
    /// Finds the expectations at these weights; returns log Z less the score of the truth.
    pub fn expect(&mut self, places: Places, w: &[f32], of: Labelled<'_>) -> f64 {
        let found = self.in_range(places, w, of);
        found.unwrap_or_else(|| self.in_logarithms(places, w, of))
    }

    /// Returns `None` if the scores are too far apart for 32 bits.
    fn in_range(&mut self, places: Places, w: &[f32], of: Labelled<'_>) -> Option<f64> {
        let Labelled { x, truth, legal } = of;
        let Places { labels, width, .. } = places;
        let top = self.set(places, w, legal)?;
        self.nodes.resize(truth.len() * width, 0.0);
        self.scores.resize(width, 0.0);
        let mut loss = 0.0;
        for (t, (nodes, &y)) in self.nodes.chunks_exact_mut(width).zip(truth).enumerate() {
            write_scores(places, w, x, t, &mut self.scores);
            let barred = legal.map(|legal| legal.barred(t, truth.len()));
            let own = self.scores[usize::from(y)];
            // Of what has no score of its own, one that is not the largest.
            self.scores[labels..].fill(own);
            barred.iter().flatten().for_each(|&y| self.scores[y] = own);
            let largest = exp_below(&self.scores, nodes);
            nodes[labels..].fill(0.0);
            barred.iter().flatten().for_each(|&y| nodes[y] = 0.0);
            loss += f64::from(largest - own);
            if t > 0 {
                loss += f64::from(top - w[places.pair(truth[t - 1], y)]);
            }
        }
        for buffer in [&mut self.alpha, &mut self.mu] {
            buffer.resize(truth.len() * width, 0.0);
        }
        let Self { forward, backward, nodes, alpha, mu, .. } = self;
        let (log, narrow) = run((forward, backward), (labels, width), nodes, alpha, mu);
        if !narrow {
            return None;
        }
        self.sums.resize(labels * width, 0.0);
        self.sums.fill(0.0);
        if truth.len() > 1 {
            add_up(&self.alpha, &self.nodes[width..], &self.forward, width, &mut self.sums);
        }
        compact(&self.mu, (labels, width), &mut self.marginals);
        compact(&self.sums, (labels, width), &mut self.pairs);
        Some(loss + log)
    }

    /// Takes the scores of pairs; returns the largest of them. `None` if they are too far apart, or are no numbers.
    fn set(&mut self, places: Places, w: &[f32], legal: Option<&Legal>) -> Option<f32> {
        let Places { labels, width, .. } = places;
        self.scores.clear();
        self.scores.extend_from_slice(&w[places.pairs()]);
        let barred = || legal.into_iter().flat_map(Legal::barred_pairs);
        let place = |pair: usize| pair / labels * width + pair % labels;
        // Places without a label of their own, and pairs that are forbidden, have a score that is not the largest.
        let legal_pair = (0..labels * labels).find(|&pair| barred().all(|barred| barred != pair));
        let any = self.scores[place(legal_pair?)];
        for row in self.scores.chunks_exact_mut(width) {
            row[labels..].fill(any);
        }
        barred().for_each(|pair| self.scores[place(pair)] = any);
        self.forward.resize(self.scores.len(), 0.0);
        let top = exp_below(&self.scores, &mut self.forward);
        let narrow = least(&self.forward) >= NARROW;
        if !narrow {
            return None;
        }
        barred().for_each(|pair| self.forward[place(pair)] = 0.0);
        self.backward.resize(self.scores.len(), 0.0);
        for (y, row) in self.forward.chunks_exact_mut(width).enumerate() {
            row[labels..].fill(0.0);
            for (&e, column) in row.iter().zip(self.backward.chunks_exact_mut(width)) {
                column[y] = e;
            }
        }
        Some(top)
    }

    fn in_logarithms(&mut self, places: Places, w: &[f32], of: Labelled<'_>) -> f64 {
        let Labelled { x, truth, legal } = of;
        let Places { labels, width, .. } = places;
        let mut nodes = Vec::with_capacity(truth.len() * labels);
        self.scores.resize(width, 0.0);
        for t in 0..truth.len() {
            write_scores(places, w, x, t, &mut self.scores);
            nodes.extend(self.scores[..labels].iter().map(|&s| f64::from(s)));
            let own = &mut nodes[t * labels..];
            let barred = legal.map(|legal| legal.barred(t, truth.len()));
            barred.iter().flatten().for_each(|&y| own[y] += FORBIDDEN);
        }
        let rows = w[places.pairs()].chunks_exact(width);
        let mut edges: Vec<f64> =
            rows.flat_map(|row| row[..labels].iter().map(|&s| f64::from(s))).collect();
        if let Some(legal) = legal {
            legal.mask_pairs(&mut edges);
        }
        let mut loss = self.logs.run(Potentials { labels, nodes: &nodes, edges: &edges });
        for (t, &y) in truth.iter().enumerate() {
            loss -= nodes[t * labels + usize::from(y)];
            if t > 0 {
                loss -= edges[usize::from(truth[t - 1]) * labels + usize::from(y)];
            }
        }
        self.marginals.clear();
        self.marginals.extend(self.logs.all_labels().iter().map(|&mu| or_nothing(mu as f32)));
        let mut sums = vec![0.0; labels * labels];
        for t in 1..truth.len() {
            sums.iter_mut().zip(self.logs.edges(t - 1)).for_each(|(sum, m)| *sum += m);
        }
        self.pairs.clear();
        self.pairs.extend(sums.iter().map(|&sum| or_nothing(sum as f32)));
        loss
    }
}

/// Writes the scores of a position.
fn write_scores(places: Places, w: &[f32], x: Sequence<'_>, t: usize, scores: &mut [f32]) {
    if t == 0 {
        scores.copy_from_slice(&w[places.start()]);
    } else {
        scores.fill(0.0);
    }
    if t + 1 == x.len() {
        scores.iter_mut().zip(&w[places.end()]).for_each(|(score, end)| *score += end);
    }
    add_scores(x.row(t), w, scores);
}

/// Leaves places without a label out.
fn compact(rows: &[f32], (labels, width): (usize, usize), out: &mut Vec<f32>) {
    out.clear();
    rows.chunks_exact(width).for_each(|row| out.extend_from_slice(&row[..labels]));
}

/// Writes the exponentials of scores, in whole lanes, relative to that of the largest, which is returned.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn exp_below(scores: &[f32], out: &mut [f32]) -> f32 {
    let mut tops = [f32::NEG_INFINITY; LANES];
    for scores in scores.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            tops[lane] = if scores[lane] > tops[lane] { scores[lane] } else { tops[lane] };
        }
    }
    let top = tops.into_iter().fold(f32::NEG_INFINITY, |top, s| if s > top { s } else { top });
    let (out, scores) = (out.as_chunks_mut::<LANES>().0, scores.as_chunks::<LANES>().0);
    for (out, scores) in out.iter_mut().zip(scores) {
        for lane in 0..LANES {
            out[lane] = single_exp_of_negative(scores[lane] - top);
        }
    }
    top
}

/// Computes α and μ of all positions and replaces e by h; returns Σ log z, and whether nothing was too small or too large for it.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn run(
    (forward, backward): (&[f32], &[f32]),
    (labels, width): (usize, usize),
    nodes: &mut [f32],
    alpha: &mut [f32],
    mu: &mut [f32],
) -> (f64, bool) {
    let length = nodes.len() / width;
    // A product of as many sums as a number has room for, so that there are few logarithms.
    let (mut product, mut log) = (1.0_f64, 0.0);
    let mut narrow = true;
    for t in 0..length {
        let e = &mut nodes[t * width..(t + 1) * width];
        let (before, here) = alpha.split_at_mut(t * width);
        let here = &mut here[..width];
        if t == 0 {
            here.copy_from_slice(e);
        } else {
            times(&before[(t - 1) * width..][..labels], forward, here);
            here.iter_mut().zip(&*e).for_each(|(f, e)| *f *= e);
        }
        let total = sum(here);
        let scale = 1.0 / total;
        for (f, e) in here.iter_mut().zip(e) {
            *f = at_least(*f * scale);
            *e *= scale;
        }
        narrow &= total >= NARROW;
        product *= f64::from(total);
        if !(1e-200..1e200).contains(&product) {
            (product, log) = (1.0, log + product.ln());
        }
    }
    // β of the position that is looked at is written to its place of μ, and multiplied with α there.
    for t in (0..length).rev() {
        let (before, here) = mu.split_at_mut(t * width);
        let (here, own) = (&mut here[..width], t * width..(t + 1) * width);
        if t + 1 == length {
            here.fill(1.0);
        }
        let h = &mut nodes[own.clone()];
        h.iter_mut().zip(&*here).for_each(|(e, beta)| *e = at_least(*e * beta));
        narrow &= sum(h) <= 1.0 / NARROW;
        if t > 0 {
            times(&h[..labels], backward, &mut before[(t - 1) * width..]);
        }
        for (beta, alpha) in here.iter_mut().zip(&alpha[own]) {
            *beta = or_nothing(*beta * alpha);
        }
    }
    (log + product.ln(), narrow)
}

/// `pairs = (Σ_t α_t ⊗ h_t) ∘ E`, with as many terms as h has.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn add_up(alpha: &[f32], h: &[f32], e: &[f32], width: usize, pairs: &mut [f32]) {
    for y in (0..pairs.len() / width).step_by(2) {
        by_lanes!(width, outer_sums(alpha, h, width, y, pairs));
    }
    for (sum, e) in pairs.iter_mut().zip(e) {
        *sum = or_nothing(*sum * e);
    }
}

/// `out = Σ_y x_y row_y` of a matrix with rows as long as `out`.
#[expect(clippy::inline_always, reason = "it is compiled for the instruction set of its caller")]
#[inline(always)]
fn times(x: &[f32], matrix: &[f32], out: &mut [f32]) {
    by_lanes!(out.len(), lanes_times(x, matrix, out));
}

/// [`times`] for M lanes from `first` on. Rows of even and of odd number have sums of their own, which need not wait for each other.
#[expect(clippy::inline_always, reason = "it is compiled for the instruction set of its caller")]
#[inline(always)]
fn lanes_times<const M: usize>(x: &[f32], matrix: &[f32], out: &mut [f32], first: usize) {
    let width = out.len();
    let mut sums = [[[0.0_f32; LANES]; M]; 2];
    let mut factors = x.chunks_exact(2);
    for (rows, x) in matrix.chunks_exact(2 * width).zip(factors.by_ref()) {
        let (even, odd) = rows.split_at(width);
        add_lanes(&even[first..][..M * LANES], x[0], &mut sums[0]);
        add_lanes(&odd[first..][..M * LANES], x[1], &mut sums[1]);
    }
    if let [last] = factors.remainder() {
        let row = &matrix[(x.len() - 1) * width..];
        add_lanes(&row[first..][..M * LANES], *last, &mut sums[0]);
    }
    for (m, out) in out[first..][..M * LANES].chunks_exact_mut(LANES).enumerate() {
        for (lane, out) in out.iter_mut().enumerate() {
            *out = sums[0][m][lane] + sums[1][m][lane];
        }
    }
}

/// Writes Σ_t α_t(y) h_t of label y and the next one, for M lanes from `first` on.
#[expect(clippy::inline_always, reason = "it is compiled for the instruction set of its caller")]
#[inline(always)]
fn outer_sums<const M: usize>(
    alpha: &[f32],
    h: &[f32],
    width: usize,
    y: usize,
    pairs: &mut [f32],
    first: usize,
) {
    let mut sums = [[[0.0_f32; LANES]; M]; 2];
    for (alpha, h) in alpha.chunks_exact(width).zip(h.chunks_exact(width)) {
        let h = &h[first..][..M * LANES];
        add_lanes(h, alpha[y], &mut sums[0]);
        // Of the last label, if their number is odd, this is a place that no label has.
        add_lanes(h, alpha[y + 1], &mut sums[1]);
    }
    for (row, sums) in pairs[y * width..].chunks_exact_mut(width).zip(&sums) {
        for (out, sums) in row[first..][..M * LANES].chunks_exact_mut(LANES).zip(sums) {
            out.copy_from_slice(sums);
        }
    }
}

#[expect(clippy::inline_always, reason = "it is compiled for the instruction set of its caller")]
#[inline(always)]
fn sum(numbers: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    for numbers in numbers.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            sums[lane] += numbers[lane];
        }
    }
    sums.iter().sum()
}

/// Returns the least of positive numbers, in whole lanes; NaN if one is none.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn least(numbers: &[f32]) -> f32 {
    let (mut least, mut sums) = ([f32::INFINITY; LANES], [0.0; LANES]);
    for numbers in numbers.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            least[lane] = if numbers[lane] < least[lane] { numbers[lane] } else { least[lane] };
            sums[lane] += numbers[lane];
        }
    }
    let least = least.into_iter().fold(f32::INFINITY, f32::min);
    if sums.iter().all(|sum| sum.is_finite()) { least } else { f32::NAN }
}

#[expect(clippy::inline_always, reason = "it is compiled for the instruction set of its caller")]
#[inline(always)]
fn at_least(x: f32) -> f32 {
    if x > 0.0 && x < LEAST { LEAST } else { x }
}

#[expect(clippy::inline_always, reason = "it is compiled for the instruction set of its caller")]
#[inline(always)]
fn or_nothing(x: f32) -> f32 {
    if x < NOTHING { 0.0 } else { x }
}

#[cfg(test)]
mod tests {
    use super::super::super::oracle::ChainLayout;
    use super::*;
    use crate::data::{Scheme, Sequences};
    use crate::linalg::Random;

    /// A sequence with a feature of its own at every position, and weights in 32 bits.
    fn posed(names: &[String], length: usize, width: f64) -> (ChainLayout, Sequences, Vec<f32>) {
        let labels = names.len();
        let mut random = Random::new((100 * labels + length) as u64);
        let one = |t: usize| (0..length).map(|f| f64::from(u8::from(f == t))).collect();
        let rows: Vec<Vec<f64>> = (0..length).map(one).collect();
        let truth: Vec<Label> = (0..length).map(|_| random.below(labels) as Label).collect();
        let data = Sequences::from_dense(&[rows], &[truth], names).unwrap();
        let layout = ChainLayout { labels, features: length, pairs: 0 };
        let w: Vec<f64> = (0..layout.dim()).map(|_| width * (random.unit() - 0.5)).collect();
        (layout, data, Places::of(layout).narrowed(&w))
    }

    fn numbers(count: usize) -> Vec<String> {
        (0..count).map(|y| y.to_string()).collect()
    }

    /// Compares the two ways, of which the one by logarithms has 64 bits, and all labelings as its own judge.
    fn compare(quick: &mut Quick, layout: ChainLayout, w: &[f32], of: Labelled<'_>, what: &str) {
        let (places, length) = (Places::of(layout), of.truth.len());
        let mut exact = Quick::default();
        let (found, judge) = (quick.in_range(places, w, of), exact.in_logarithms(places, w, of));
        let found = found.unwrap_or_else(|| panic!("{what}: too wide"));
        assert!((found - judge).abs() <= 1e-4 * (1.0 + judge.abs()), "{what}: {found} and {judge}");
        assert_eq!(quick.marginals.len(), length * layout.labels);
        for (mu, exact) in quick.marginals.iter().zip(&exact.marginals) {
            assert!((mu - exact).abs() <= 1e-5, "{what}: {mu} and {exact}");
        }
        for (sum, exact) in quick.pairs.iter().zip(&exact.pairs) {
            assert!((sum - exact).abs() <= 1e-5 * length as f32, "{what}: {sum} and {exact}");
        }
    }

    #[test]
    fn expectations_are_those_of_logarithms() {
        let mut quick = Quick::default();
        for labels in [1, 2, 3, 7, 8, 9, 22, 33, 41, 70] {
            for (length, width) in [(1, 5.0), (2, 20.0), (9, 1.0), (30, 20.0), (7, 27.0)] {
                let (layout, data, w) = posed(&numbers(labels), length, width);
                let of = Labelled { x: data.sequence(0), truth: data.truth(0), legal: None };
                compare(
                    &mut quick,
                    layout,
                    &w,
                    of,
                    &format!("{labels} labels, {length} positions"),
                );
            }
        }
    }

    #[test]
    fn what_is_forbidden_has_no_expectation() {
        let mut quick = Quick::default();
        let names = ["O", "B-a", "I-a", "B-b", "I-b", "B-c", "I-c", "B-d", "I-d"].map(String::from);
        for (length, width) in [(1, 5.0), (2, 10.0), (12, 10.0), (5, 20.0)] {
            let (layout, data, w) = posed(&names, length, width);
            let legal = Legal::new(Scheme::Bio, data.alphabet());
            let truth = vec![0; length];
            let of = Labelled { x: data.sequence(0), truth: &truth, legal: Some(&legal) };
            compare(&mut quick, layout, &w, of, &format!("{length} positions"));
            let inside = |y: usize| names[y].starts_with('I');
            assert!((0..9).all(|y| !inside(y) || quick.marginals[y] == 0.0));
            assert!(legal.barred_pairs().all(|pair| quick.pairs[pair] == 0.0));
            assert!(quick.marginals.iter().sum::<f32>() > 0.99 * length as f32);
        }
    }

    #[test]
    fn scores_that_32_bits_have_no_room_for_go_by_logarithms() {
        let (layout, data, mut w) = posed(&numbers(3), 4, 1.0);
        let places = Places::of(layout);
        let of = Labelled { x: data.sequence(0), truth: data.truth(0), legal: None };
        let mut quick = Quick::default();
        for score in [-60.0, 60.0, f32::NAN, f32::INFINITY] {
            let place = places.pair(1, 1);
            let old = std::mem::replace(&mut w[place], score);
            assert_eq!(quick.in_range(places, &w, of), None, "{score}");
            let loss = quick.expect(places, &w, of);
            assert_eq!(loss.is_finite(), score.is_finite(), "{score}");
            assert!(loss.is_nan() || quick.marginals.iter().all(|mu| (0.0..=1.0).contains(mu)));
            w[place] = old;
        }
        w[0] = f32::NAN;
        assert!(quick.expect(places, &w, of).is_nan());
    }
}
