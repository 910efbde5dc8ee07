//! Whose turn it is: all examples in a random order, pass after pass, but for those that hardly change.
//!
//! The paper moves the k examples that change most. Here the examples that hardly changed at their last visits sleep for
//! a few passes, which is the same greedy choice without a look at all of them.

use crate::linalg::Random;
use serde::{Deserialize, Serialize};

/// A change below this share of the mean change is hardly one.
const HARDLY: f64 = 0.02;

/// Who has hardly changed again and again sleeps for all but one in 2^this passes.
const DEEPEST: u8 = 3;

/// The order of a pass, and who sleeps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Shrinking {
    order: Vec<u32>,
    turn: usize,
    pass: u64,
    idle: Vec<u8>,
    changes: Changes,
    random: Random,
}

/// What the visits of a pass added up to.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Changes {
    sum: f64,
    curvature: f64,
    visits: f64,
    /// Of the pass before.
    mean: f64,
    mean_curvature: f64,
}

impl Shrinking {
    /// Of so many examples, before the first pass.
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

    /// Whether turns that came from elsewhere are those of so many examples.
    pub fn is_sound(&self, examples: usize) -> bool {
        let mut order = self.order.clone();
        order.sort_unstable();
        order.into_iter().eq(0..examples as u32)
            && self.turn <= examples
            && self.idle.len() == examples
            && self.idle.iter().all(|&idle| idle <= DEEPEST)
    }

    /// The next example that is awake, if the pass has one more.
    pub fn next(&mut self) -> Option<usize> {
        let rest = &self.order[self.turn..];
        // Sleepers wake in turns.
        let awake = |&i: &u32| {
            self.pass.wrapping_add(u64::from(i)) & ((1 << self.idle[i as usize]) - 1) == 0
        };
        let found = rest.iter().position(awake);
        self.turn += found.map_or(rest.len(), |at| at + 1);
        found.map(|at| rest[at] as usize)
    }

    /// Begins the next pass; says whether there was a visit in the last one.
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

    /// Takes note of how much an example changed, and of the curvature it met.
    pub fn note(&mut self, i: usize, change: f64, curvature: f64) {
        let Self { changes, idle, .. } = self;
        changes.sum += change;
        changes.curvature += curvature;
        changes.visits += 1.0;
        idle[i] = if change <= HARDLY * changes.mean { (idle[i] + 1).min(DEEPEST) } else { 0 };
    }

    /// The mean curvature that the examples of the last whole pass met.
    pub fn mean_curvature(&self) -> f64 {
        self.changes.mean_curvature
    }
}
