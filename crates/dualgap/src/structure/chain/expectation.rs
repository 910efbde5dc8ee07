//! Expectations of chains, for exponentiated gradient steps.
//!
//! The parts of a labeling are its labels, position by position, and its pairs of neighbouring labels. Where pairs have no
//! features of their own, a pair has the same score at every position, and so the same parameter: then one table of
//! `K × K` parameters, and of expected counts, serves all positions.

use super::blocks::ChainBlocks;
use super::edges::{END, edge_key};
use super::forward_backward::Potentials;
use super::scratch::ChainScratch;
use crate::dual::{Blocks, Mixture};
use crate::methods::exponentiated_gradient::ExpectationBlocks;
use crate::structure::chain::Label;

/// The weight that a point may lose at a position to edges that are left out: a thousandth of what feasibility allows,
/// and it is charged to the certificate. Labelings whose weight vanishes then take no memory.
const LEFT_OUT: f64 = 1e-12;

impl ChainBlocks<'_> {
    /// Returns how many tables of pairs there are among the parts of a sequence.
    fn tables(&self, i: usize) -> usize {
        let pairs = self.data.truth(i).len().saturating_sub(1);
        if self.layout.pairs > 0 { pairs } else { pairs.min(1) }
    }

    /// Computes the marginals of `p(y) ∝ exp(Σ θ)`.
    fn marginals(&self, i: usize, theta: &[f64], scratch: &mut ChainScratch) {
        let labels = self.layout.labels;
        let (nodes, edges) = theta.split_at(self.data.truth(i).len() * labels);
        scratch.chain.run(Potentials { labels, nodes, edges });
    }
}

impl ExpectationBlocks for ChainBlocks<'_> {
    fn parts(&self, i: usize) -> usize {
        let labels = self.layout.labels;
        (self.data.truth(i).len() + self.tables(i) * labels) * labels
    }

    fn score_parts(&self, i: usize, w: &[f64], scores: &mut [f64], scratch: &mut ChainScratch) {
        let viterbi = &mut scratch.viterbi;
        viterbi.score(self.layout, w, self.sequence(i), Some(self.loss(i)));
        let (nodes, tables) = scores.split_at_mut(viterbi.nodes.len());
        nodes.copy_from_slice(&viterbi.nodes);
        let size = self.layout.labels * self.layout.labels;
        for (t, table) in tables.chunks_exact_mut(size).enumerate() {
            table.copy_from_slice(viterbi.transitions(self.layout, w, t + 1));
        }
    }

    fn expect(&self, i: usize, theta: &[f64], counts: &mut [f64], scratch: &mut ChainScratch) {
        self.marginals(i, theta, scratch);
        let chain = &scratch.chain;
        let (nodes, tables) = counts.split_at_mut(chain.all_labels().len());
        nodes.copy_from_slice(chain.all_labels());
        if self.layout.pairs > 0 {
            tables.copy_from_slice(chain.all_edges());
            return;
        }
        tables.fill(0.0);
        for table in chain.all_edges().chunks_exact(tables.len().max(1)) {
            tables.iter_mut().zip(table).for_each(|(sum, edge)| *sum += edge);
        }
    }

    fn prepare(&self, i: usize, at: &[f64], to: &[f64], scratch: &mut ChainScratch) {
        let (labels, length) = (self.layout.labels, self.data.truth(i).len());
        let size = labels * labels;
        let ChainScratch { d, active, edges, table, pairs, swaps, .. } = scratch;
        let difference = || at.iter().zip(to).map(|(at, to)| at - to);
        swaps.clear();
        active.clear();
        active.extend(0..length);
        d.clear();
        d.extend(difference().take(length * labels));
        pairs.clear();
        for (k, difference) in difference().skip(length * labels).enumerate() {
            table[k % size] += difference;
            if self.layout.pairs > 0 {
                let (y, next) = (k % size / labels, k % labels);
                pairs.push((edge_key(k / size, y as Label, next as Label), difference));
            }
        }
        edges.clear();
        edges.extend(table.iter_mut().map(std::mem::take).enumerate().filter(|&(_, d)| d != 0.0));
    }

    fn point_of(&self, i: usize, theta: &[f64], scratch: &mut ChainScratch) -> Mixture {
        self.marginals(i, theta, scratch);
        let (labels, length) = (self.layout.labels, self.data.truth(i).len());
        let least = LEFT_OUT / (labels * labels) as f64;
        let mut entries = Vec::new();
        for t in 0..length {
            if t + 1 < length {
                let edges = scratch.chain.edges(t).iter().enumerate();
                let key = |k: usize| edge_key(t, (k / labels) as Label, (k % labels) as Label);
                entries.extend(edges.filter(|(_, m)| **m > least).map(|(k, &m)| (key(k), m)));
            } else {
                let ends = scratch.chain.labels(t).iter().enumerate();
                let ends = ends.filter(|(_, m)| **m > least);
                entries.extend(ends.map(|(y, &m)| (edge_key(t, y as Label, END), m)));
            }
        }
        // Keys ascend in this order, so that there is always a mixture of them.
        Mixture::from_entries(entries).unwrap_or_else(|| self.start(i))
    }

    fn point_entries(&self, i: usize) -> usize {
        let (labels, length) = (self.layout.labels, self.data.truth(i).len());
        (length.saturating_sub(1) * labels + 1) * labels
    }
}
