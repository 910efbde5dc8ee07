//! First-order chains: a label for every position, decoded by Viterbi's algorithm.
//!
//! The score of a labeling y of x = (x_1 … x_T), with K labels,
//!
//! ```text
//! ⟨w, φ(x, y)⟩ = start[y_1] + Σ_t ⟨emission[·, y_t], x_t⟩ + Σ_t transition[y_t, y_{t+1}] + end[y_T]
//! ```
//!
//! The weights are laid out in this order: emissions feature-major `[F × K]`, `start [K]`, `end [K]`,
//! transitions `[K × K]` by the label they come from. Where pairs of labels have features of their own,
//! e_t for the labels at t − 1 and t, their weights `[E × K × K]` come last, and Σ_t ⟨pair[·, y_{t−1}, y_t], e_t⟩
//! is part of the score.

use super::frontier::Frontier;
use super::legal::Legal;
use crate::data::Sequence;
use crate::linalg::kernels::{add_scaled, add_scores, argmax, max_plus};
use crate::linalg::{Accumulate, PackedRows};
use crate::structure::own::{Bound, Decoded, Extent, Oracle, StoredOutputs};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// A position's label.
pub type Label = u16;

/// How mistakes in a sequence are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Hamming {
    /// The number of wrong labels.
    Plain,
    /// The fraction of wrong labels, as in the BCFW paper: every sequence counts the same.
    #[default]
    Normalized,
}

impl Hamming {
    /// Returns the cost of one wrong label in a sequence of this length.
    pub fn cost(self, length: usize) -> f64 {
        match self {
            Self::Plain => 1.0,
            Self::Normalized => 1.0 / length.max(1) as f64,
        }
    }
}

/// The layout of the weights of a chain.
///
/// ```
/// # use dualgap::structure::ChainLayout;
/// assert_eq!(ChainLayout::new(129, 26)?.dim(), 4082); // the OCR letters
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainLayout {
    /// F, the number of features of a position.
    pub features: usize,
    /// K, the number of labels.
    pub labels: usize,
    /// The number of features of a pair of neighbouring labels, besides the constant one of all pairs.
    pub pairs: usize,
}

impl ChainLayout {
    /// The largest number of labels: one value of [`Label`] is reserved to mark the end of a sequence.
    pub const MOST_LABELS: usize = Label::MAX as usize;

    /// Returns the layout for this many features and labels, or an error if the number of labels is out of range.
    pub fn new(features: usize, labels: usize) -> Result<Self> {
        if labels == 0 || labels > Self::MOST_LABELS {
            return Err(Error::setting(format!(
                "a chain has 1 to {} labels, not {labels}",
                Self::MOST_LABELS
            )));
        }
        Ok(Self { features, labels, pairs: 0 })
    }

    /// Returns the layout with this many features of label pairs.
    #[must_use]
    pub fn with_pairs(self, pairs: usize) -> Self {
        Self { pairs, ..self }
    }

    /// Returns the number of weights.
    pub fn dim(&self) -> usize {
        self.pairs().end
    }

    /// Returns the range of the weights of the first label.
    pub fn start(&self) -> Range<usize> {
        let first = self.features * self.labels;
        first..first + self.labels
    }

    /// Returns the range of the weights of the last label.
    pub fn end(&self) -> Range<usize> {
        let first = self.start().end;
        first..first + self.labels
    }

    /// Returns the range of the weights of label pairs.
    pub fn transitions(&self) -> Range<usize> {
        let first = self.end().end;
        first..first + self.labels * self.labels
    }

    /// Returns the range of the weights of label pairs under their features, feature-major.
    pub fn pairs(&self) -> Range<usize> {
        let first = self.transitions().end;
        first..first + self.pairs * self.labels * self.labels
    }
}

/// The buffers of a decoding, and the node scores it has computed.
#[derive(Clone, Debug, Default)]
pub struct Viterbi {
    /// `T × K`: emission scores, including start and end weights and losses.
    pub nodes: Vec<f64>,
    /// `T × K × K` if pairs have features: the scores of the labels at t − 1 and t. `K × K` if they have none and some are
    /// forbidden.
    tables: Vec<f64>,
    /// What is not forbidden.
    legal: Option<Arc<Legal>>,
    /// The weights of features, where those of the layout have none.
    packed: Option<Arc<PackedRows>>,
    forward: Vec<f64>,
    /// For slack rescaling: the scores by position, number of errors and label.
    pub(super) counted: Vec<f64>,
    pub(super) beam: Frontier,
}

impl Viterbi {
    /// Returns the buffers of searches among the legal labelings, if some are forbidden.
    pub(super) fn among(legal: Option<Arc<Legal>>) -> Self {
        Self { legal, ..Self::default() }
    }

    /// Takes the weights of features from here, and those of a layout without features from elsewhere.
    pub(super) fn packed(self, packed: Option<Arc<PackedRows>>) -> Self {
        Self { packed, ..self }
    }

    /// Computes the node scores; `loss` adds a cost to every label but the truth.
    #[inline]
    pub fn score(
        &mut self,
        layout: ChainLayout,
        w: &[f64],
        x: Sequence<'_>,
        loss: Option<(&[Label], f64)>,
    ) {
        self.nodes.clear();
        self.nodes.resize(x.len() * layout.labels, 0.0);
        (0..x.len()).for_each(|t| self.score_position(layout, w, x, loss, t));
        if layout.pairs > 0 {
            self.score_pairs(layout, w, x);
        } else {
            self.score_transitions(layout, w);
        }
    }

    /// Brings the scores of pairs without features to these weights: they are the weights, but for what is forbidden.
    #[inline]
    pub(super) fn score_transitions(&mut self, layout: ChainLayout, w: &[f64]) {
        if let Some(legal) = &self.legal {
            self.tables.clear();
            self.tables.extend_from_slice(&w[layout.transitions()]);
            legal.mask_pairs(&mut self.tables);
        }
    }

    fn score_pairs(&mut self, layout: ChainLayout, w: &[f64], x: Sequence<'_>) {
        let size = layout.labels * layout.labels;
        self.tables.resize((x.len() * size).max(self.tables.len()), 0.0);
        for t in 1..x.len() {
            let table = &mut self.tables[t * size..(t + 1) * size];
            table.copy_from_slice(&w[layout.transitions()]);
            add_scores(x.edge(t), &w[layout.pairs()], table);
            if let Some(legal) = &self.legal {
                legal.mask_pairs(table);
            }
        }
    }

    /// Returns the scores of the labels at t − 1 and t together.
    #[inline]
    pub fn transitions<'a>(&'a self, layout: ChainLayout, w: &'a [f64], t: usize) -> &'a [f64] {
        table(&self.tables, self.legal.is_some(), layout, w, t)
    }

    /// Recomputes the node scores of one position.
    #[inline]
    pub fn score_position(
        &mut self,
        layout: ChainLayout,
        w: &[f64],
        x: Sequence<'_>,
        loss: Option<(&[Label], f64)>,
        t: usize,
    ) {
        let k = layout.labels;
        let nodes = &mut self.nodes[t * k..(t + 1) * k];
        match loss {
            Some((truth, cost)) => {
                nodes.fill(cost);
                nodes[truth[t] as usize] = 0.0;
            }
            None => nodes.fill(0.0),
        }
        match &self.packed {
            Some(packed) => packed.add_scores(x.row(t), nodes),
            None => add_scores(x.row(t), w, nodes),
        }
        if t == 0 {
            add_scaled(&w[layout.start()], 1.0, nodes);
        }
        if t + 1 == x.len() {
            add_scaled(&w[layout.end()], 1.0, nodes);
        }
        if let Some(legal) = &self.legal {
            legal.mask_nodes(t, x.len(), nodes);
        }
    }

    /// Recomputes the node score of one label at one position.
    #[inline]
    pub fn score_label(
        &mut self,
        layout: ChainLayout,
        w: &[f64],
        x: Sequence<'_>,
        (truth, cost): (&[Label], f64),
        t: usize,
        y: Label,
    ) {
        let (k, y) = (layout.labels, y as usize);
        let mut score = if truth[t] as usize == y { 0.0 } else { cost };
        x.row(t).for_each(|f, value| score += value * w[f * k + y]);
        if t == 0 {
            score += w[layout.start().start + y];
        }
        if t + 1 == x.len() {
            score += w[layout.end().start + y];
        }
        self.nodes[t * k + y] = score;
    }

    /// Writes the best labeling for the node scores into `best`, and returns its score.
    pub fn decode(&mut self, layout: ChainLayout, w: &[f64], best: &mut Vec<Label>) -> f64 {
        let k = layout.labels;
        let length = self.nodes.len() / k;
        best.clear();
        best.resize(length, 0);
        if length == 0 {
            return 0.0;
        }
        self.forward.resize(self.nodes.len().max(self.forward.len()), 0.0);
        self.forward[..k].copy_from_slice(&self.nodes[..k]);
        for t in 1..length {
            let (done, rest) = self.forward.split_at_mut(t * k);
            let to = &mut rest[..k];
            let pairs = table(&self.tables, self.legal.is_some(), layout, w, t);
            max_plus(&done[(t - 1) * k..], pairs, to);
            add_scaled(&self.nodes[t * k..(t + 1) * k], 1.0, to);
        }
        let (mut y, score) = argmax(self.forward[(length - 1) * k..length * k].iter().copied());
        best[length - 1] = y as Label;
        for t in (1..length).rev() {
            let from = &self.forward[(t - 1) * k..t * k];
            let transitions = self.transitions(layout, w, t);
            y = argmax(from.iter().enumerate().map(|(x, f)| f + transitions[x * k + y])).0;
            best[t - 1] = y as Label;
        }
        score
    }

    /// Returns the score of one labeling under the node scores.
    pub fn path_score(&self, layout: ChainLayout, w: &[f64], path: &[Label]) -> f64 {
        let k = layout.labels;
        let nodes: f64 =
            path.iter().enumerate().map(|(t, &y)| self.nodes[t * k + y as usize]).sum();
        let edge = |(t, pair): (usize, &[Label])| {
            self.transitions(layout, w, t + 1)[pair[0] as usize * k + pair[1] as usize]
        };
        nodes + path.windows(2).enumerate().map(edge).sum::<f64>()
    }
}

#[inline]
fn table<'a>(
    tables: &'a [f64],
    masked: bool,
    layout: ChainLayout,
    w: &'a [f64],
    t: usize,
) -> &'a [f64] {
    let size = layout.labels * layout.labels;
    match (layout.pairs, masked) {
        (0, false) => &w[layout.transitions()],
        (0, true) => &tables[..size],
        _ => &tables[t * size..(t + 1) * size],
    }
}

/// The chain structure over borrowed sequences.
#[derive(Clone, Debug)]
pub struct ChainOracle<'a> {
    layout: ChainLayout,
    hamming: Hamming,
    legal: Option<Arc<Legal>>,
    sequences: PhantomData<&'a ()>,
}

impl ChainOracle<'_> {
    /// Returns the oracle of chains with this layout and loss.
    pub fn new(layout: ChainLayout, hamming: Hamming) -> Self {
        Self { layout, hamming, legal: None, sequences: PhantomData }
    }

    /// Searches among the legal labelings.
    pub(super) fn among(self, legal: Option<Arc<Legal>>) -> Self {
        Self { legal, ..self }
    }
}

impl<'a> Oracle for ChainOracle<'a> {
    type Input = Sequence<'a>;
    type Output = Vec<Label>;
    type Scratch = Viterbi;

    fn dim(&self) -> usize {
        self.layout.dim()
    }

    fn features(&self, x: &Sequence<'a>, y: &Vec<Label>, out: &mut impl Accumulate) {
        let layout = self.layout;
        for (t, &y) in y.iter().enumerate() {
            for (f, x) in x.row(t).iter() {
                out.add(f * layout.labels + y as usize, x);
            }
        }
        if let (Some(&first), Some(&last)) = (y.first(), y.last()) {
            out.add(layout.start().start + first as usize, 1.0);
            out.add(layout.end().start + last as usize, 1.0);
        }
        let size = layout.labels * layout.labels;
        for (t, pair) in y.windows(2).enumerate() {
            let edge = pair[0] as usize * layout.labels + pair[1] as usize;
            out.add(layout.transitions().start + edge, 1.0);
            for (f, x) in x.edge(t + 1).iter() {
                out.add(layout.pairs().start + f * size + edge, x);
            }
        }
    }

    fn loss(&self, _: &Sequence<'a>, truth: &Vec<Label>, y: &Vec<Label>) -> f64 {
        let wrong = truth.iter().zip(y).filter(|(truth, y)| truth != y).count();
        if wrong == 0 { 0.0 } else { wrong as f64 * self.hamming.cost(truth.len()) }
    }

    fn extent(&self, x: &Sequence<'a>) -> Option<Extent> {
        // Every position has its features, a transition, and perhaps a start or an end.
        let rows = || (0..x.len()).map(|t| x.row(t));
        let pairs = || (1..x.len()).map(|t| x.edge(t));
        Some(Extent {
            terms: rows().chain(pairs()).map(|row| row.stored() + 3).sum(),
            norm1: rows().chain(pairs()).map(|row| row.norm1() + 3.0).sum(),
            loss: x.len() as f64 * self.hamming.cost(x.len()),
        })
    }

    fn decode(
        &self,
        w: &[f64],
        x: &Sequence<'a>,
        against: Option<&Vec<Label>>,
        viterbi: &mut Viterbi,
    ) -> Result<Decoded<Vec<Label>>> {
        let loss = against.map(|truth| (truth.as_slice(), self.hamming.cost(truth.len())));
        viterbi.legal.clone_from(&self.legal);
        viterbi.score(self.layout, w, *x, loss);
        let mut output = Vec::new();
        viterbi.decode(self.layout, w, &mut output);
        Ok(Decoded { output, bound: Bound::Exact })
    }

    fn decode_slack(
        &self,
        w: &[f64],
        x: &Sequence<'a>,
        truth: &Vec<Label>,
        viterbi: &mut Viterbi,
    ) -> Result<Decoded<Vec<Label>>> {
        viterbi.legal.clone_from(&self.legal);
        viterbi.score(self.layout, w, *x, None);
        let mut output = Vec::new();
        let loss = (truth.as_slice(), self.hamming.cost(truth.len()));
        viterbi.decode_slack(self.layout, w, loss, &mut output);
        Ok(Decoded { output, bound: Bound::Exact })
    }
}

impl StoredOutputs for ChainOracle<'_> {
    fn is_output(&self, x: &Self::Input, y: &Vec<Label>) -> bool {
        y.len() == x.len()
            && y.iter().all(|&y| (y as usize) < self.layout.labels)
            && self.legal.as_ref().is_none_or(|legal| legal.allows(y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Sequences;
    use crate::linalg::SparseVec;
    use proptest::prelude::*;

    /// Every labeling of a sequence of this length.
    fn labelings(labels: usize, length: usize) -> impl Iterator<Item = Vec<Label>> {
        (0..labels.pow(length as u32)).map(move |code| {
            (0..length).map(|t| (code / labels.pow(t as u32) % labels) as Label).collect()
        })
    }

    proptest! {
        // Brute force over all labelings, scored through `features` and `loss` alone.
        #[test]
        fn viterbi_finds_the_best_of_all_labelings(
            rows in prop::collection::vec(prop::collection::vec(-1.0..1.0_f64, 2), 1..5),
            w in prop::collection::vec(-1.0..1.0_f64, 6 + 6 + 9 + 18),
            pairs in prop::option::of(prop::collection::vec(prop::collection::vec(-1.0..1.0_f64, 2), 5)),
            truth in prop::collection::vec(0_u16..3, 5),
            augmented in any::<bool>(),
        ) {
            let truth = truth[..rows.len()].to_vec();
            let names: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
            let data = Sequences::from_dense(std::slice::from_ref(&rows), std::slice::from_ref(&truth), &names).unwrap();
            let data = match pairs {
                Some(pairs) => data.with_edges(crate::linalg::Rows::dense(&pairs[..rows.len()]).unwrap()).unwrap(),
                None => data,
            };
            let x = data.sequence(0);
            let layout = ChainLayout::new(2, 3).unwrap().with_pairs(data.edge_features());
            let chain = ChainOracle::new(layout, Hamming::Plain);
            let against = augmented.then_some(&truth);
            let score = |y: &Vec<Label>| {
                let mut phi = SparseVec::default();
                chain.features(&x, y, &mut phi);
                phi.dot(&w) + against.map_or(0.0, |truth| chain.loss(&x, truth, y))
            };
            let best = labelings(3, rows.len()).map(|y| score(&y)).fold(f64::NEG_INFINITY, f64::max);
            let found = chain.decode(&w, &x, against, &mut Viterbi::default()).unwrap();
            prop_assert!((score(&found.output) - best).abs() < 1e-12);
        }

        // The same for the rescaled slack, of either count of errors.
        #[test]
        fn counting_errors_finds_the_largest_of_all_rescaled_losses(
            rows in prop::collection::vec(prop::collection::vec(-1.0..1.0_f64, 2), 1..6),
            w in prop::collection::vec(-1.0..1.0_f64, 6 + 6 + 9 + 18),
            pairs in prop::option::of(prop::collection::vec(prop::collection::vec(-1.0..1.0_f64, 2), 6)),
            truth in prop::collection::vec(0_u16..3, 6),
            normalized in any::<bool>(),
        ) {
            let truth = truth[..rows.len()].to_vec();
            let names: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
            let data = Sequences::from_dense(std::slice::from_ref(&rows), std::slice::from_ref(&truth), &names).unwrap();
            let data = match pairs {
                Some(pairs) => data.with_edges(crate::linalg::Rows::dense(&pairs[..rows.len()]).unwrap()).unwrap(),
                None => data,
            };
            let x = data.sequence(0);
            let layout = ChainLayout::new(2, 3).unwrap().with_pairs(data.edge_features());
            let chain = ChainOracle::new(layout, if normalized { Hamming::Normalized } else { Hamming::Plain });
            let score = |y: &Vec<Label>| {
                let mut phi = SparseVec::default();
                chain.features(&x, y, &mut phi);
                phi.dot(&w)
            };
            let loss = |y: &Vec<Label>| chain.loss(&x, &truth, y) * (1.0 + score(y) - score(&truth));
            let best = labelings(3, rows.len()).map(|y| loss(&y)).fold(f64::NEG_INFINITY, f64::max);
            let mut viterbi = Viterbi::default();
            // Another sequence before, so that the buffers are not new.
            chain.decode_slack(&w, &x, &vec![0; rows.len()], &mut viterbi).unwrap();
            let found = chain.decode_slack(&w, &x, &truth, &mut viterbi).unwrap();
            prop_assert!((loss(&found.output) - best).abs() < 1e-12);
        }
    }
}
