//! The averages of the iterates, block by block and only where a block changes; see [`Average`].

use super::objective::Point;
use crate::dual::Average;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// x̄, and up to which step each of its blocks has been averaged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Averages {
    kind: Average,
    pub point: Point,
    covered: Vec<u64>,
}

impl Averages {
    pub fn new(kind: Average, start: &Point) -> Self {
        Self { kind, point: start.clone(), covered: vec![0; start.blocks()] }
    }

    /// Averages these blocks of `at` into x̄, for all iterates up to the k-th that are not averaged yet.
    pub fn cover(&mut self, blocks: Range<usize>, k: u64, at: &Point) {
        for i in blocks {
            let share = self.kind.share(self.covered[i], k);
            let span = at.span(i);
            if share > 0.0 {
                let mean = self.point.x[span.clone()].iter_mut();
                mean.zip(&at.x[span]).for_each(|(mean, x)| {
                    *mean = if share == 1.0 { *x } else { *mean + share * (x - *mean) };
                });
            }
            self.covered[i] = k;
        }
    }

    /// Whether these are valid averages of such points after `steps` steps: a state from a file may contain anything.
    pub fn is_sound(&self, kind: Average, like: &Point, steps: u64) -> bool {
        self.kind == kind
            && self.point.starts == like.starts
            && self.point.x.len() == like.x.len()
            && self.point.image.len() == like.image.len()
            && self.covered.len() == like.blocks()
            && self.covered.iter().all(|&covered| covered <= steps)
    }
}
