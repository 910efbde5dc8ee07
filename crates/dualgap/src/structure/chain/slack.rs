//! Slack rescaling of chains: the best labeling for every number of errors.
//!
//! The rescaled loss of a labeling with k errors is c·k (1 + its score − the score of the truth), which grows with the score for
//! every k. So the number of errors so far joins the state of Viterbi's algorithm,
//!
//! ```text
//! f_t(k, y') = max_y f_{t−1}(k − [y' ≠ truth_t], y) + transition[y, y'] + a_t(y')
//! ```
//!
//! and the largest of the T + 1 products is the answer: T times the work of Viterbi's algorithm.

use super::oracle::{ChainLayout, Label, Viterbi};
use crate::linalg::kernels::{argmax, max_plus};
use std::ops::Range;

/// Returns the place of the table of position t: those before it have 2, 3, … numbers of errors.
fn place(t: usize) -> usize {
    t * (t + 3) / 2
}

/// Returns how many numbers the tables of a sequence have.
pub(super) fn numbers(length: usize, labels: usize) -> usize {
    // The product of two neighbours is even, so nothing is lost; beyond memory, any large number will do.
    length.saturating_mul(length + 3).saturating_mul(labels) / 2
}

impl Viterbi {
    /// Writes the labeling with the largest rescaled loss for the node scores, which have no losses in them, into `best`,
    /// and returns that loss. Errors cost `cost` each.
    pub fn decode_slack(
        &mut self,
        layout: ChainLayout,
        w: &[f64],
        (truth, cost): (&[Label], f64),
        best: &mut Vec<Label>,
    ) -> f64 {
        let k = layout.labels;
        best.clear();
        best.extend_from_slice(truth);
        if truth.is_empty() {
            return 0.0;
        }
        let mut tables = std::mem::take(&mut self.counted);
        self.count_errors(layout, w, truth, &mut tables);
        let last = truth.len() - 1;
        let right = self.path_score(layout, w, truth);
        let (mut errors, mut top) = (0, 0.0);
        for count in 1..=truth.len() {
            let score = argmax(tables[row(k, last, count)].iter().copied()).1;
            let loss = (count as f64 * cost) * (1.0 + score - right);
            if loss > top {
                (errors, top) = (count, loss);
            }
        }
        if errors > 0 {
            let mut y = argmax(tables[row(k, last, errors)].iter().copied()).0;
            best[last] = y as Label;
            for t in (1..truth.len()).rev() {
                errors -= usize::from(y != truth[t] as usize);
                let from = &tables[row(k, t - 1, errors)];
                let transitions = self.transitions(layout, w, t);
                y = argmax(from.iter().enumerate().map(|(x, f)| f + transitions[x * k + y])).0;
                best[t - 1] = y as Label;
            }
        }
        self.counted = tables;
        top
    }

    /// Fills the tables of all positions; what no labeling reaches is −∞.
    fn count_errors(&self, layout: ChainLayout, w: &[f64], truth: &[Label], tables: &mut Vec<f64>) {
        let k = layout.labels;
        tables.clear();
        tables.resize(numbers(truth.len(), k), f64::NEG_INFINITY);
        let mut arriving = vec![0.0; k];
        for (t, &right) in truth.iter().enumerate() {
            let nodes = &self.nodes[t * k..(t + 1) * k];
            let (done, rest) = tables.split_at_mut(place(t) * k);
            for before in 0..=t {
                if t > 0 {
                    let from = &done[row(k, t - 1, before)];
                    max_plus(from, self.transitions(layout, w, t), &mut arriving);
                }
                for (y, (arriving, node)) in arriving.iter().zip(nodes).enumerate() {
                    let count = before + usize::from(y != right as usize);
                    rest[count * k + y] = arriving + node;
                }
            }
        }
    }
}

/// Returns the range of the scores of all labels at position t after this many errors.
fn row(labels: usize, t: usize, errors: usize) -> Range<usize> {
    let first = (place(t) + errors) * labels;
    first..first + labels
}
