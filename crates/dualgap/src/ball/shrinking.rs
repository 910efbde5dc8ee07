//! The order of visits: every pass visits the examples in a new random order, and skips those that hardly change.
//!
//! The paper moves the k examples that change most. Shrinking skips the examples that hardly changed at their last
//! visits for a few passes, which approximates that greedy choice without computing the change of every example.

use crate::linalg::Random;
use serde::{Deserialize, Serialize};

/// A visit counts as idle if its change is at most this share of the mean change of the pass before. A larger share
/// skips more visits, and delays steps that would still help.
const HARDLY: f64 = 0.02;

/// An example whose visits stay idle is visited in one of 2^this passes, so that a run notices when it changes again.
const DEEPEST: u8 = 3;

/// The order of a pass, and how idle each example is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Shrinking {
    order: Vec<u32>,
    turn: usize,
    pass: u64,
    idle: Vec<u8>,
    changes: Changes,
    random: Random,
}

/// Sums over the visits of this pass.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Changes {
    sum: f64,
    curvature: f64,
    visits: f64,
    /// The means of the pass before.
    mean: f64,
    mean_curvature: f64,
}

impl Shrinking {
    /// The state before the first pass.
    pub fn new(examples: usize, seed: u64) -> Self {
        Self {
            order: (0..examples as u32).collect(),
            turn: examples,
            pass: 0,
            idle: vec![0; examples],
            changes: Changes::default(),
            random: Random::new(seed),
        }
    }

    /// Whether a state from a checkpoint is valid for this number of examples.
    pub fn is_sound(&self, examples: usize) -> bool {
        let mut order = self.order.clone();
        order.sort_unstable();
        order.into_iter().eq(0..examples as u32)
            && self.turn <= examples
            && self.idle.len() == examples
            && self.idle.iter().all(|&idle| idle <= DEEPEST)
    }

    /// Returns the next example that this pass visits, or none at its end.
    pub fn next(&mut self) -> Option<usize> {
        let rest = &self.order[self.turn..];
        // The index is part of the test, so that idle examples spread over the passes.
        let awake = |&i: &u32| {
            self.pass.wrapping_add(u64::from(i)) & ((1 << self.idle[i as usize]) - 1) == 0
        };
        let found = rest.iter().position(awake);
        self.turn += found.map_or(rest.len(), |at| at + 1);
        found.map(|at| rest[at] as usize)
    }

    /// Begins the next pass; returns whether the last one had a visit.
    pub fn begin_pass(&mut self) -> bool {
        self.random.shuffle(&mut self.order);
        (self.turn, self.pass) = (0, self.pass.wrapping_add(1));
        let Changes { sum, curvature, visits, .. } = self.changes;
        if visits > 0.0 {
            let (mean, mean_curvature) = (sum / visits, curvature / visits);
            self.changes = Changes { mean, mean_curvature, ..Changes::default() };
        }
        visits > 0.0
    }

    /// Records how much an example changed, and the curvature that its step met.
    pub fn note(&mut self, i: usize, change: f64, curvature: f64) {
        let Self { changes, idle, .. } = self;
        changes.sum += change;
        changes.curvature += curvature;
        changes.visits += 1.0;
        idle[i] = if change <= HARDLY * changes.mean { (idle[i] + 1).min(DEEPEST) } else { 0 };
    }

    /// The mean curvature that the visits of the last complete pass met.
    pub fn mean_curvature(&self) -> f64 {
        self.changes.mean_curvature
    }
}
