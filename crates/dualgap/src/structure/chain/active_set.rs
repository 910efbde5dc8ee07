//! The active set of a chain block: the edges that have weight in its marginals, and steps between labelings made of them.

use super::blocks::{ChainBlocks, ChainScratch};
use super::edges::{END, edge_of};
use crate::dual::{ActiveSetBlocks, Mixture};
use crate::linalg::Row;
use crate::linalg::kernels::add_scaled;
use crate::structure::chain::Label;
use crate::structure::prox_sdca::Radius;

/// The cost of fetching a feature's weights from memory, in multiplications.
const GATHER: f64 = 8.0;

impl ActiveSetBlocks for ChainBlocks<'_> {
    fn score_active_set(&self, i: usize, at: &Mixture, w: &[f64], scratch: &mut ChainScratch) {
        let ChainScratch { viterbi, .. } = scratch;
        let (x, labels) = (self.sequence(i), self.layout.labels);
        if self.layout.pairs > 0 || 2 * at.len() > x.len() * labels {
            viterbi.score(self.layout, w, x, Some(self.loss(i)));
            return;
        }
        viterbi.score_transitions(self.layout, w);
        viterbi.nodes.resize(x.len() * labels, 0.0);
        let mut before = None;
        for (key, _) in at.iter() {
            let (t, y, _) = edge_of(key);
            if before.replace((t, y)) != Some((t, y)) {
                viterbi.score_label(self.layout, w, x, self.loss(i), t, y);
            }
        }
    }

    fn extremes(
        &self,
        _: usize,
        at: &Mixture,
        w: &[f64],
        worst: &mut Vec<u64>,
        best: &mut Vec<u64>,
        scratch: &mut ChainScratch,
    ) {
        let ChainScratch { face, viterbi, .. } = scratch;
        let transitions = |t| viterbi.transitions(self.layout, w, t);
        face.search(self.layout.labels, at, &viterbi.nodes, transitions);
        face.worst(worst);
        face.best(best);
    }

    fn weight(&self, _: usize, at: &Mixture, corner: &Vec<u64>) -> f64 {
        at.least(corner)
    }

    fn between(&self, i: usize, from: &Vec<u64>, to: &Vec<u64>, scratch: &mut ChainScratch) -> f64 {
        let (truth, cost) = self.loss(i);
        scratch.swap(self.layout.labels, truth, from, to, self.layout.pairs > 0);
        let costs = |t: usize, y: Label| if y == truth[t] { 0.0 } else { cost };
        let rise = |&(t, left, new): &(usize, Label, Label)| costs(t, new) - costs(t, left);
        scratch.rise = scratch.swaps.iter().map(rise).sum();
        scratch.rise
    }

    fn shift(&self, _: usize, amount: f64, at: &mut Mixture, from: &Vec<u64>, to: &Vec<u64>) {
        at.shift(amount, from, to);
    }

    fn follow(&self, i: usize, w: &[f64], own: Option<f64>, scratch: &mut ChainScratch) {
        let (x, labels) = (self.sequence(i), self.layout.labels);
        let ChainScratch { viterbi, active, d, .. } = scratch;
        let gram = self.shapes[i].geometry.gram_rows();
        let (Some(factor), 0, Some(gram)) = (own, self.layout.pairs, gram) else {
            viterbi.score(self.layout, w, x, Some(self.loss(i)));
            return;
        };
        viterbi.score_transitions(self.layout, w);
        for &t in &*active {
            let d = &d[t * labels..(t + 1) * labels];
            for (s, nodes) in viterbi.nodes.chunks_exact_mut(labels).enumerate() {
                // A position shares its start and end weights only with itself.
                let ends = u8::from(t == 0) + u8::from(t + 1 == x.len());
                let ends = if s == t { f64::from(ends) } else { 0.0 };
                add_scaled(d, factor * (gram.product(s, t) + ends), nodes);
            }
        }
    }

    /// Replaces the point by the chain with the same first labels and the same conditional next labels.
    fn tidy(&self, i: usize, at: &mut Mixture) {
        let (labels, length) = (self.layout.labels, self.data.truth(i).len());
        let mut leaving = vec![0.0; labels * length];
        for (key, weight) in at.iter() {
            let (t, y, _) = edge_of(key);
            leaving[t * labels + y as usize] += weight;
        }
        let first: f64 = leaving.iter().take(labels).sum();
        let mut arriving: Vec<f64> = vec![0.0; labels * length];
        arriving.iter_mut().zip(&leaving).take(labels).for_each(|(to, out)| *to = out / first);
        at.rescale(|key, weight| {
            let (t, y, next) = edge_of(key);
            let here = t * labels + y as usize;
            let factor = arriving[here] / leaving[here];
            if next != END {
                arriving[(t + 1) * labels + next as usize] += factor * weight;
            }
            factor
        });
    }

    fn oracle_work(&self, i: usize) -> f64 {
        let (labels, length) = (self.layout.labels as f64, self.data.truth(i).len() as f64);
        let scores = self.shapes[i].features as f64 * (labels + GATHER);
        let search = match self.beam {
            // Two numbers a label and kept label, and the largest transitions once.
            Some(beam) if (beam.width as f64) < labels => {
                2.0 * length * beam.width as f64 * labels + labels * labels
            }
            _ => length * labels * labels,
        };
        self.oracle_work.unwrap_or(scores + search) + self.spread
    }

    fn cached_work(&self, i: usize, at: &Mixture) -> [f64; 2] {
        let (edges, labels) = (at.len() as f64, self.layout.labels as f64);
        let length = self.data.truth(i).len() as f64;
        let per_position = edges / length.max(1.0);
        let features = self.shapes[i].features as f64;
        // Scoring label by label takes twice as long as scoring all labels of a feature in a row.
        let scores = features * (2.0 * per_position + GATHER);
        [scores + self.spread, 24.0 * edges + 8.0 * length * labels + 4.0 * features]
    }
}

impl Radius for ChainBlocks<'_> {
    /// The vectors of all positions add up at most, those of start and end have a one each, and a transition may come at
    /// every position but the first.
    fn radius(&self, i: usize) -> Option<f64> {
        let x = self.sequence(i);
        let length = |row: Row<'_>| row.squared_norm().sqrt();
        let nodes: f64 = (0..x.len()).map(|t| length(x.row(t))).sum();
        let pairs: f64 = (1..x.len()).map(|t| length(x.edge(t))).sum();
        let transitions = x.len().saturating_sub(1) as f64;
        Some((nodes * nodes + 2.0 + transitions * transitions + pairs * pairs).sqrt())
    }
}
