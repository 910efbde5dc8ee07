//! The buffers of a chain block: scores, and the prepared difference of two points.

use super::edges::{END, edge_of};
use super::face::Face;
use super::forward_backward::ForwardBackward;
use crate::dual::Mixture;
use crate::linalg::SparseVec;
use crate::structure::chain::{Label, Viterbi};

/// The buffers of a chain block.
#[derive(Debug, Default)]
pub struct ChainScratch {
    pub(super) viterbi: Viterbi,
    pub(super) path: Vec<Label>,
    /// Marginals, for exponentiated gradient steps.
    pub(super) chain: ForwardBackward,
    /// `T × K`, the difference of the label marginals.
    pub(super) d: Vec<f64>,
    /// The positions where d is not zero.
    pub(super) active: Vec<usize>,
    /// The difference of the transitions, summed over positions: index and value.
    pub(super) edges: Vec<(usize, f64)>,
    /// `K × K`, all zero between calls: the table in which `edges` are summed.
    pub(super) table: Vec<f64>,
    pub(super) touched: Vec<usize>,
    /// Only if pairs have features: the differences of edges one by one, by their keys.
    pub(super) pairs: Vec<(u64, f64)>,
    pub(super) image: SparseVec,
    pub(super) row: Vec<f64>,
    pub(super) face: Face,
    /// For a difference between two labelings: the positions where they differ, with the old and the new label. d holds
    /// the same.
    pub(super) swaps: Vec<(usize, Label, Label)>,
    /// −⟨d, losses⟩, the rise of the dual term.
    pub(super) rise: f64,
}

impl ChainScratch {
    pub(super) fn new(labels: usize, viterbi: Viterbi) -> Self {
        Self { table: vec![0.0; labels * labels], viterbi, ..Self::default() }
    }

    /// Calls `visit` for each edge of the prepared difference if pairs have features: with the edge's position, its
    /// index in a table of transitions, and its value.
    pub fn for_each_pair(&self, labels: usize, mut visit: impl FnMut(usize, usize, f64)) {
        for &(key, d) in &self.pairs {
            let (t, y, next) = edge_of(key);
            visit(t, y as usize * labels + next as usize, d);
        }
    }

    /// Prepares `at − to` for a labeling given by its keys.
    pub fn subtract(
        &mut self,
        labels: usize,
        length: usize,
        at: &Mixture,
        to: impl Iterator<Item = u64> + Clone,
        negligible: f64,
        pairs_have_features: bool,
    ) {
        let Self { d, active, edges, table, touched, pairs, swaps, .. } = self;
        swaps.clear();
        d.clear();
        d.resize(length * labels, 0.0);
        let corner = to.map(|key| (key, -1.0));
        pairs.clear();
        if pairs_have_features {
            let inner = |&(key, _): &(u64, f64)| edge_of(key).2 != END;
            pairs.extend(at.iter().chain(corner.clone()).filter(inner));
            pairs.sort_unstable_by_key(|&(key, _)| key); // each comes once or twice
            pairs.dedup_by(|later, kept| {
                let same = later.0 == kept.0;
                kept.1 += if same { later.1 } else { 0.0 };
                same
            });
            pairs.retain(|&(_, d)| d.abs() > negligible);
        }
        for (key, weight) in at.iter().chain(corner) {
            let (t, y, next) = edge_of(key);
            d[t * labels + y as usize] += weight;
            if next != END {
                let edge = y as usize * labels + next as usize;
                if table[edge] == 0.0 {
                    touched.push(edge);
                }
                table[edge] += weight;
            }
        }
        edges.clear();
        for edge in touched.drain(..) {
            let value = std::mem::take(&mut table[edge]);
            if value.abs() > negligible {
                edges.push((edge, value));
            }
        }
        active.clear();
        for (t, d) in d.chunks_exact_mut(labels).enumerate() {
            if d.iter().any(|d| d.abs() > negligible) {
                active.push(t);
            } else {
                d.fill(0.0);
            }
        }
    }

    /// Prepares `from − to` for two labelings given by their keys.
    pub fn swap(
        &mut self,
        labels: usize,
        truth: &[Label],
        from: &[u64],
        to: &[u64],
        pairs_have_features: bool,
    ) {
        let Self { d, active, edges, pairs, swaps, .. } = self;
        d.clear();
        d.resize(truth.len() * labels, 0.0);
        active.clear();
        edges.clear();
        pairs.clear();
        swaps.clear();
        for (&from, &to) in from.iter().zip(to).filter(|(from, to)| from != to) {
            let ((t, left, left_next), (_, new, new_next)) = (edge_of(from), edge_of(to));
            if left != new {
                active.push(t);
                swaps.push((t, left, new));
                d[t * labels + left as usize] = 1.0;
                d[t * labels + new as usize] = -1.0;
            }
            if left_next != END {
                edges.push((left as usize * labels + left_next as usize, 1.0));
                edges.push((new as usize * labels + new_next as usize, -1.0));
                if pairs_have_features {
                    pairs.extend([(from, 1.0), (to, -1.0)]);
                }
            }
        }
        edges.sort_unstable_by_key(|&(edge, _)| edge);
        edges.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            kept.1 += if same { later.1 } else { 0.0 };
            same
        });
    }
}
