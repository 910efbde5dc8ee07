//! Forward-backward on a chain: the marginals of a distribution over all labelings, and its partition function.
//!
//! With a score a_t(y) for each label of a position and s_t(y, y') for each pair of labels at t and t + 1,
//!
//! ```text
//! p(y) ∝ exp(Σ_t a_t(y_t) + Σ_t s_t(y_t, y_{t+1}))
//!
//! b_T(y) = a_T(y),    b_t(y) = a_t(y) + log Σ_{y'} exp(s_t(y, y') + b_{t+1}(y'))              backward
//! p_t(y' | y) ∝ exp(s_t(y, y') + b_{t+1}(y')),    p_1(y) ∝ exp(b_1(y)),    log Z = log Σ_y exp(b_1(y))
//! μ_t(y, y') = μ_t(y) p_t(y' | y),    μ_{t+1}(y') = Σ_y μ_t(y, y'),    μ_1 = p_1              forward
//! ```
//!
//! The backward pass is in logarithms, and every exponential is taken relative to the largest of its row, so that no score
//! is too large or too small. Where pairs have the same scores at every position, their exponentials are taken once, which
//! leaves K of them to a position in the place of K². The forward pass multiplies conditional probabilities: the labels that leave a position are
//! those that arrive there, up to the rounding of one sum, so that the marginals are feasible as a dual point.

use crate::structure::fitted::softmax;

/// The scores of pairs may differ by this much for their exponentials to be taken once. Then the sums of a row are at least
/// exp(−600) of the largest term that there could be, and what underflows in them is less than 1e-47 of it.
const WIDEST: f64 = 600.0;

/// The scores of a chain's labels and pairs of labels.
#[derive(Clone, Copy, Debug)]
pub struct Potentials<'a> {
    /// K.
    pub labels: usize,
    /// `T × K`: the score of each label at each position.
    pub nodes: &'a [f64],
    /// The scores of the labels at t and t + 1, by the label at t: `K × K` if they are the same at every position,
    /// else `(T − 1) × K × K`.
    pub edges: &'a [f64],
}

impl Potentials<'_> {
    /// Returns the scores of the labels at t and t + 1.
    fn edges_at(&self, t: usize) -> &[f64] {
        let size = self.labels * self.labels;
        if self.edges.len() == size { self.edges } else { &self.edges[t * size..(t + 1) * size] }
    }
}

fn largest(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The marginals of a chain, which [`run`](Self::run) computes.
///
/// ```
/// use dualgap::structure::{ForwardBackward, Potentials};
/// // Two positions, two labels: equal labels have a score of log 3, so that each such labeling has weight 3 of 8.
/// let equal = 3_f64.ln();
/// let potentials = Potentials { labels: 2, nodes: &[0.0; 4], edges: &[equal, 0.0, 0.0, equal] };
/// let mut chain = ForwardBackward::default();
/// let log_partition = chain.run(potentials);
/// assert!((log_partition - 8_f64.ln()).abs() < 1e-15);
/// assert!((chain.edges(0)[0] - 3.0 / 8.0).abs() < 1e-15);
/// assert!((chain.labels(1)[0] - 0.5).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ForwardBackward {
    /// K.
    labels: usize,
    /// `T × K`: μ_t(y).
    nodes: Vec<f64>,
    /// `(T − 1) × K × K`: μ_t(y, y'); between the two passes p_t(y' | y).
    edges: Vec<f64>,
    /// b of two neighbouring positions.
    here: Vec<f64>,
    beyond: Vec<f64>,
    /// exp(s(y, y') − the largest), if it is the same at every position, and exp(b_{t+1}(y') − the largest).
    pairs: Vec<f64>,
    weights: Vec<f64>,
}

impl ForwardBackward {
    /// Computes the marginals, and returns log Z: zero for an empty sequence.
    pub fn run(&mut self, potentials: Potentials<'_>) -> f64 {
        let k = potentials.labels;
        let length = potentials.nodes.len() / k;
        self.labels = k;
        self.nodes.resize(length * k, 0.0);
        self.edges.resize(length.saturating_sub(1) * k * k, 0.0);
        if length == 0 {
            return 0.0;
        }
        let log_partition = self.backward(potentials, length);
        self.forward();
        log_partition
    }

    /// Returns μ_t(y) of all labels.
    pub fn labels(&self, t: usize) -> &[f64] {
        &self.nodes[t * self.labels..(t + 1) * self.labels]
    }

    /// Returns μ_t(y, y') of the labels at t and t + 1, by the label at t.
    pub fn edges(&self, t: usize) -> &[f64] {
        let size = self.labels * self.labels;
        &self.edges[t * size..(t + 1) * size]
    }

    /// Returns μ_t(y) of all positions, `T × K`.
    pub fn all_labels(&self) -> &[f64] {
        &self.nodes
    }

    /// Returns μ_t(y, y') of all neighbouring positions, `(T − 1) × K × K`.
    pub fn all_edges(&self) -> &[f64] {
        &self.edges
    }

    /// Leaves p_t(y' | y) in the edges and p_1 in the first labels.
    fn backward(&mut self, potentials: Potentials<'_>, length: usize) -> f64 {
        let largest_pair = self.share_pairs(potentials, length);
        let Self { labels, nodes, edges, here, beyond, pairs, weights } = self;
        let k = *labels;
        let scores = |t: usize| &potentials.nodes[t * k..(t + 1) * k];
        beyond.clear();
        beyond.extend_from_slice(scores(length - 1));
        here.resize(k, 0.0);
        for t in (0..length - 1).rev() {
            let rows = edges[t * k * k..(t + 1) * k * k].chunks_exact_mut(k);
            let of_labels = here.iter_mut().zip(scores(t));
            if let Some(pair) = largest_pair {
                let top = largest(beyond);
                weights.clear();
                weights.extend(beyond.iter().map(|b| (b - top).exp()));
                for ((row, pairs), (b, a)) in rows.zip(pairs.chunks_exact(k)).zip(of_labels) {
                    row.iter_mut()
                        .zip(pairs.iter().zip(&*weights))
                        .for_each(|(p, (e, w))| *p = e * w);
                    let sum: f64 = row.iter().sum();
                    row.iter_mut().for_each(|p| *p /= sum);
                    *b = a + (pair + top + sum.ln());
                }
            } else {
                let pairs = potentials.edges_at(t).chunks_exact(k);
                for ((row, pairs), (b, a)) in rows.zip(pairs).zip(of_labels) {
                    row.iter_mut()
                        .zip(pairs.iter().zip(&*beyond))
                        .for_each(|(p, (s, b))| *p = s + b);
                    *b = a + softmax(row);
                }
            }
            std::mem::swap(here, beyond);
        }
        nodes[..k].copy_from_slice(beyond);
        softmax(&mut nodes[..k])
    }

    /// Takes the exponentials of pairs that have the same scores at every position, and returns the largest score; `None`
    /// if they differ, or are too far apart.
    fn share_pairs(&mut self, potentials: Potentials<'_>, length: usize) -> Option<f64> {
        let shared = potentials.edges.len() == potentials.labels * potentials.labels;
        let top = largest(potentials.edges);
        let least = potentials.edges.iter().copied().fold(f64::INFINITY, f64::min);
        let near = top - least <= WIDEST;
        if length < 2 || !shared || !near {
            return None;
        }
        self.pairs.clear();
        self.pairs.extend(potentials.edges.iter().map(|s| (s - top).exp()));
        Some(top)
    }

    /// Multiplies the conditional probabilities from the first position on.
    fn forward(&mut self) {
        let Self { labels, nodes, edges, .. } = self;
        let k = *labels;
        for (t, table) in edges.chunks_exact_mut(k * k).enumerate() {
            let (before, after) = nodes.split_at_mut((t + 1) * k);
            let (from, to) = (&before[t * k..], &mut after[..k]);
            to.fill(0.0);
            for (row, weight) in table.chunks_exact_mut(k).zip(from) {
                for (p, to) in row.iter_mut().zip(&mut *to) {
                    *p *= weight;
                    *to += *p;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every labeling with its score, summed without any of the code above.
    fn enumerated(
        labels: usize,
        length: usize,
        potentials: Potentials<'_>,
    ) -> Vec<(Vec<usize>, f64)> {
        let shared = potentials.edges.len() == labels * labels;
        let of = |code: usize| {
            let y: Vec<usize> = (0..length).map(|t| code / labels.pow(t as u32) % labels).collect();
            let nodes: f64 = (0..length).map(|t| potentials.nodes[t * labels + y[t]]).sum();
            let edge = |t: usize| {
                let table = if shared { 0 } else { t };
                potentials.edges[(table * labels + y[t]) * labels + y[t + 1]]
            };
            let edges: f64 = (1..length).map(|t| edge(t - 1)).sum();
            (y, nodes + edges)
        };
        (0..labels.pow(length as u32)).map(of).collect()
    }

    /// Scores of ordinary size, and such that exponentials overflow and underflow.
    fn score() -> impl Strategy<Value = f64> {
        prop_oneof![3 => -2.0..2.0_f64, 1 => prop_oneof![Just(-1e3), Just(1e3), -1e3..1e3_f64]]
    }

    proptest! {
        #[test]
        fn marginals_are_those_of_all_labelings_one_by_one(
            labels in 1_usize..4,
            length in 1_usize..5,
            shared in any::<bool>(),
            scores in prop::collection::vec(score(), 3 * 4 + 3 * 9),
        ) {
            let size = labels * labels;
            let tables = if shared { 1 } else { length - 1 };
            let (nodes, edges) = scores.split_at(12);
            let potentials =
                Potentials { labels, nodes: &nodes[..length * labels], edges: &edges[..tables * size] };
            let mut chain = ForwardBackward::default();
            // Buffers of another shape must leave no trace.
            chain.run(Potentials { labels: 2, nodes: &[1.0; 12], edges: &[0.5; 4] });
            let log_partition = chain.run(potentials);

            let all = enumerated(labels, length, potentials);
            let top = all.iter().map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = all.iter().map(|(_, score)| (score - top).exp()).sum();
            // A score of thousands is rounded in its twelfth digit behind the point.
            prop_assert!((log_partition - top - total.ln()).abs() < 1e-11);
            let weight = |at: &dyn Fn(&[usize]) -> bool| -> f64 {
                let some = all.iter().filter(|(y, _)| at(y));
                some.map(|(_, score)| (score - top).exp()).sum::<f64>() / total
            };
            for t in 0..length {
                for y in 0..labels {
                    let right = weight(&|labeling: &[usize]| labeling[t] == y);
                    prop_assert!((chain.labels(t)[y] - right).abs() < 1e-11);
                    for next in 0..if t + 1 < length { labels } else { 0 } {
                        let right = weight(&|labeling: &[usize]| labeling[t..t + 2] == [y, next]);
                        prop_assert!((chain.edges(t)[y * labels + next] - right).abs() < 1e-11);
                    }
                }
            }
        }

        // What a dual point has to satisfy, also where nearly all labelings have weights that underflow.
        #[test]
        fn labels_agree_from_edge_to_edge(
            labels in 1_usize..6,
            length in 1_usize..8,
            scores in prop::collection::vec(-1e3..1e3_f64, 5 * 7 + 25),
        ) {
            let (nodes, edges) = scores.split_at(35);
            let (nodes, edges) = (&nodes[..length * labels], &edges[..labels * labels]);
            let mut chain = ForwardBackward::default();
            let log_partition = chain.run(Potentials { labels, nodes, edges });
            prop_assert!(log_partition.is_finite());
            prop_assert!((chain.labels(0).iter().sum::<f64>() - 1.0).abs() < 1e-14);
            for t in 1..length {
                let table = chain.edges(t - 1);
                for y in 0..labels {
                    let leaving: f64 = table[y * labels..(y + 1) * labels].iter().sum();
                    let arriving: f64 = table.iter().skip(y).step_by(labels).sum();
                    prop_assert!((leaving - chain.labels(t - 1)[y]).abs() < 1e-14);
                    prop_assert!((arriving - chain.labels(t)[y]).abs() < 1e-14);
                    prop_assert!(arriving >= 0.0);
                }
            }
        }
    }

    #[test]
    fn an_empty_sequence_has_one_labeling() {
        let nothing = Potentials { labels: 3, nodes: &[], edges: &[0.0; 9] };
        assert_eq!(ForwardBackward::default().run(nothing), 0.0);
    }
}
