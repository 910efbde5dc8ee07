//! Beam search on chains: of every position only some labels are followed, and a bound says what the others could give.
//!
//! Of the K labels of a position the beam keeps the N whose prefixes score highest, B_t. With a_t the node scores, f the
//! scores of the prefixes that it follows, and u an upper bound on those of all prefixes,
//!
//! ```text
//! f_t(y') = a_t(y') + max_{y ∈ B_{t−1}} f_{t−1}(y) + transition[y, y']
//! u_t(y') = a_t(y') + max( max_{y ∈ B_{t−1}} u_{t−1}(y) + transition[y, y'],  p_{t−1} + max_y transition[y, y'] )
//! p_t     = max_{y ∉ B_t} u_t(y)
//! ```
//!
//! A prefix that comes through a dropped label is bounded by the best dropped one and the best transition of all, so no
//! labeling scores higher than the largest u_T. A position takes N·K operations where Viterbi's algorithm takes K².
//! u is made of the same sums as the scores of labelings, so its rounding is bounded with theirs.

use super::oracle::{ChainLayout, Label, Viterbi};
use crate::linalg::kernels::argmax;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// How a beam searches for labelings, in the place of Viterbi's algorithm.
///
/// ```
/// use dualgap::data::Sequences;
/// use dualgap::dual::{self, Settings};
/// use dualgap::run::{Basis, Budget};
/// use dualgap::structure::Beam;
/// use dualgap::structure::{ChainBlocks, Hamming};
/// let names = ["a", "b", "c"].map(String::from);
/// let words = vec![vec![1.0, 0.0], vec![0.0, 1.0], vec![0.5, 0.5]];
/// let data = Sequences::from_dense(&[words], &[vec![0, 1, 2]], &names)?;
/// let train = |beam: Beam| -> dualgap::Result<_> {
///     let blocks = ChainBlocks::new(&data, Hamming::Plain)?.with_beam(beam)?;
///     let report = dual::train(&blocks, &Settings::default(), &Budget::passes(20), &mut ())?;
///     Ok(report.certificate)
/// };
/// let bounded = train(Beam { width: 2, bound: true })?;
/// assert!(bounded.certified && bounded.basis == Basis::Bounds);
/// assert!(!train(Beam { width: 2, bound: false })?.certified);
/// assert_eq!(train(Beam { width: 3, bound: false })?.basis, Basis::Exact); // it drops no label
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beam {
    /// N, how many labels of a position it follows.
    pub width: usize,
    /// Whether it also bounds the labelings that it does not look at; without, nothing is certified.
    pub bound: bool,
}

impl Beam {
    /// Returns an error for a beam that follows no label.
    pub fn check(self) -> Result<Self> {
        if self.width == 0 {
            return Err(Error::setting("a beam follows at least one label of every position"));
        }
        Ok(self)
    }
}

impl Viterbi {
    /// Writes the best labeling that a beam of this width finds for the node scores into `best`; returns its score, and a
    /// bound on the scores of all labelings. A beam that drops no label is Viterbi's algorithm.
    pub fn decode_beam(
        &mut self,
        layout: ChainLayout,
        w: &[f64],
        width: usize,
        best: &mut Vec<Label>,
    ) -> (f64, f64) {
        let k = layout.labels;
        let length = self.nodes.len() / k;
        if width >= k || length == 0 {
            let score = self.decode(layout, w, best);
            return (score, score);
        }
        let mut beam = std::mem::take(&mut self.beam);
        beam.forward.resize(self.nodes.len(), 0.0);
        beam.kept.clear();
        let mut dropped = f64::NEG_INFINITY;
        for t in 0..length {
            let nodes = &self.nodes[t * k..(t + 1) * k];
            if t == 0 {
                beam.forward[..k].copy_from_slice(nodes);
                beam.upper.clear();
                beam.upper.extend_from_slice(nodes);
            } else {
                let transitions = self.transitions(layout, w, t);
                if t == 1 || layout.pairs > 0 {
                    largest_of_columns(transitions, k, &mut beam.columns);
                }
                beam.follow(t, width, dropped, transitions);
                let here = beam.forward[t * k..(t + 1) * k].iter_mut().zip(&mut beam.upper);
                for ((forward, upper), node) in here.zip(nodes) {
                    *forward += node;
                    *upper += node;
                }
            }
            dropped = beam.choose(t, width);
        }
        let bound = beam.upper.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut y, score) = argmax(beam.forward[(length - 1) * k..].iter().copied());
        best.clear();
        best.resize(length, 0);
        best[length - 1] = y as Label;
        for t in (1..length).rev() {
            let transitions = self.transitions(layout, w, t);
            let from = &beam.forward[(t - 1) * k..t * k];
            let kept = &beam.kept[(t - 1) * width..t * width];
            let scores = kept.iter().map(|&x| from[x] + transitions[x * k + y]);
            y = kept[argmax(scores).0];
            best[t - 1] = y as Label;
        }
        self.beam = beam;
        (score, bound)
    }
}

fn largest_of_columns(transitions: &[f64], labels: usize, columns: &mut Vec<f64>) {
    columns.clear();
    columns.resize(labels, f64::NEG_INFINITY);
    for run in transitions.chunks_exact(labels) {
        columns.iter_mut().zip(run).for_each(|(best, step)| *best = best.max(*step));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Sequences;
    use crate::linalg::SparseVec;
    use crate::structure::{ChainOracle, Hamming, Oracle};
    use proptest::prelude::*;

    const K: usize = 4;

    /// What a beam finds, and the best of all labelings by their features.
    struct Case {
        score: f64,
        bound: f64,
        found: f64,
        best: f64,
    }

    fn case(rows: &[Vec<f64>], w: &[f64], width: usize) -> Case {
        let names: Vec<String> = ["a", "b", "c", "d"].map(String::from).to_vec();
        let truth = vec![vec![0; rows.len()]];
        let data = Sequences::from_dense(&[rows.to_vec()], &truth, &names).unwrap();
        let (layout, x) = (ChainLayout::new(2, K).unwrap(), data.sequence(0));
        let oracle = ChainOracle::new(layout, Hamming::Plain);
        let plain = |y: &Vec<Label>| {
            let mut phi = SparseVec::default();
            oracle.features(&x, y, &mut phi);
            phi.dot(w)
        };
        let labelings = (0..K.pow(rows.len() as u32)).map(|code| -> Vec<Label> {
            (0..rows.len()).map(|t| (code / K.pow(t as u32) % K) as Label).collect()
        });
        let best = labelings.map(|y| plain(&y)).fold(f64::NEG_INFINITY, f64::max);
        let (mut viterbi, mut y) = (Viterbi::default(), Vec::new());
        viterbi.score(layout, w, x, None);
        // Another width before, so that the buffers are not new.
        viterbi.decode_beam(layout, w, K - 1, &mut y);
        let (score, bound) = viterbi.decode_beam(layout, w, width, &mut y);
        Case { score, bound, found: plain(&y), best }
    }

    proptest! {
        #[test]
        fn no_labeling_scores_higher_than_the_bound_of_a_beam(
            rows in prop::collection::vec(prop::collection::vec(-1.0..1.0_f64, 2), 1..5),
            w in prop::collection::vec(-1.0..1.0_f64, 2 * K + 2 * K + K * K),
            width in 1..=K,
        ) {
            let Case { score, bound, found, best } = case(&rows, &w, width);
            prop_assert!((score - found).abs() < 1e-12, "the score is that of the labeling");
            prop_assert!(score <= best + 1e-12 && best <= bound + 1e-12, "{score} {best} {bound}");
            prop_assert!(width < K || score == bound, "nothing is dropped");
        }
    }

    // One word after the other, the bound of every width over many random chains.
    #[test]
    fn bounds_tighten_as_beams_grow() {
        let mut random = crate::linalg::Random::new(3);
        let mut slack = [0.0; K];
        for _ in 0..100 {
            let mut signed = || 2.0 * random.unit() - 1.0;
            let rows: Vec<Vec<f64>> = (0..4).map(|_| vec![signed(), signed()]).collect();
            let w: Vec<f64> = (0..4 * K + K * K).map(|_| signed()).collect();
            for width in 1..=K {
                let Case { bound, best, .. } = case(&rows, &w, width);
                slack[width - 1] += bound - best;
            }
        }
        assert!(slack.is_sorted_by(|a, b| a > b) && slack[K - 1].abs() < 1e-10, "{slack:?}");
    }
}
