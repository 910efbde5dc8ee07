//! The corners that a chain's point is a mixture of: Viterbi's algorithm over the edges that carry weight.

use super::edges::{END, edge_key, edge_of};
use crate::dual::Mixture;
use crate::structure::chain::Label;

/// The best and the worst labeling of a face, and how they were reached.
#[derive(Debug, Default)]
pub(super) struct Face {
    labels: usize,
    /// Per position and label: the best and the worst score that leads there, and from which label.
    best: Vec<Reached>,
    worst: Vec<Reached>,
    /// The labels that the best and the worst end with.
    ends: (Label, Label),
}

#[derive(Clone, Copy, Debug)]
struct Reached {
    score: f64,
    from: Label,
}

impl Face {
    /// Searches all labelings whose edges all carry weight.
    pub fn search<'t>(
        &mut self,
        labels: usize,
        at: &Mixture,
        nodes: &[f64],
        transitions: impl Fn(usize) -> &'t [f64],
    ) {
        self.labels = labels;
        let Self { best, worst, .. } = self;
        let reset = |reached: &mut Vec<Reached>, score: f64| {
            reached.clear();
            reached.resize(nodes.len(), Reached { score, from: END });
        };
        reset(best, f64::NEG_INFINITY);
        reset(worst, f64::INFINITY);
        let mut ends = [(f64::NEG_INFINITY, 0), (f64::INFINITY, 0)];
        for (key, weight) in at.iter() {
            if weight <= 0.0 {
                continue;
            }
            let (t, y, next) = edge_of(key);
            let here = t * labels + y as usize;
            if t == 0 {
                best[here].score = nodes[here];
                worst[here].score = nodes[here];
            }
            let (high, low) = (best[here].score, worst[here].score);
            if next == END {
                if high > ends[0].0 {
                    ends[0] = (high, y);
                }
                if low < ends[1].0 {
                    ends[1] = (low, y);
                }
                continue;
            }
            let there = (t + 1) * labels + next as usize;
            let edge = transitions(t + 1)[y as usize * labels + next as usize] + nodes[there];
            if high + edge > best[there].score {
                best[there] = Reached { score: high + edge, from: y };
            }
            if low + edge < worst[there].score {
                worst[there] = Reached { score: low + edge, from: y };
            }
        }
        self.ends = (ends[0].1, ends[1].1);
    }

    /// Writes the keys of the best labeling.
    pub fn best(&self, keys: &mut Vec<u64>) {
        trace(self.labels, &self.best, self.ends.0, keys);
    }

    /// Writes the keys of the worst labeling.
    pub fn worst(&self, keys: &mut Vec<u64>) {
        trace(self.labels, &self.worst, self.ends.1, keys);
    }
}

/// Traces a labeling back from its last label.
fn trace(labels: usize, reached: &[Reached], last: Label, keys: &mut Vec<u64>) {
    let length = reached.len() / labels;
    keys.clear();
    keys.resize(length, 0);
    let (mut y, mut next) = (last, END);
    for t in (0..length).rev() {
        keys[t] = edge_key(t, y, next);
        next = y;
        let from = reached[t * labels + y as usize].from;
        // No label precedes the first position; at others one is missing only if rounding has removed a whole edge.
        y = if from == END { y } else { from };
    }
}
