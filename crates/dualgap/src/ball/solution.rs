//! What a run in a ball ends with, and the counts of its work.

use crate::run::{self, Counters};
use serde::{Deserialize, Serialize};

/// The result of a run: X, feature by feature, c numbers for each, or in factors; it is proved to be in the ball. α,
/// example by example, c numbers for each, is the witness of the dual value.
pub(crate) type Solution<W = Vec<f64>> = run::Solution<f64, W>;

/// Counts of work beyond the number of steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Touched {
    /// Entries of A that steps read or used.
    pub entries: u64,
    /// Numbers of V and X that selections and projections read.
    pub selected: u64,
}

impl Touched {
    pub(in crate::ball) fn add(&mut self, entries: usize, selected: usize) {
        self.entries = self.entries.saturating_add(entries as u64);
        self.selected = self.selected.saturating_add(selected as u64);
    }

    pub(in crate::ball) fn describe(self) -> String {
        let Self { entries, selected } = self;
        format!("{entries} entries of the data touched, {selected} numbers looked at to project")
    }

    pub(in crate::ball) fn counters(self) -> Counters {
        [("entries_touched", self.entries), ("numbers_selected", self.selected)].into()
    }
}
