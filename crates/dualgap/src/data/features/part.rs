//! The sentences of a file that are worked on at a time, and how they are put together.

use crate::data::labels::Labels;
use crate::data::{Dictionary, Unseen};

/// The number of sentences of a part: large enough that few features are new in the next one.
pub(super) const PART: usize = 1000;

/// The sentences of one part, with features numbered within it.
#[derive(Default)]
pub(super) struct Part {
    pub dictionary: Dictionary,
    /// For each token, the number of its features and then the features.
    pub features: Vec<u32>,
    /// The same for the pair of a token and the one before; empty without templates for pairs.
    pub edges: Vec<u32>,
    /// Empty if the file has none.
    pub labels: Labels,
    pub lengths: Vec<usize>,
    /// The line of every token.
    pub lines: Vec<u32>,
    pub unseen: Unseen,
}

impl Part {
    /// Appends a part whose features have the same numbers.
    pub fn append(&mut self, later: Self) {
        self.features.extend(later.features);
        self.edges.extend(later.edges);
        self.labels.append(&later.labels);
        self.lengths.extend(later.lengths);
        self.lines.extend(later.lines);
        self.unseen.met += later.unseen.met;
        self.unseen.features += later.unseen.features;
    }
}

/// Appends a part to the others, and counts how often its features occur.
pub(super) fn merge(part: Part, all: &mut Part, counts: &mut Vec<u32>) {
    let numbers: Vec<u32> =
        part.dictionary.names().map(|name| all.dictionary.number(name)).collect();
    counts.resize(all.dictionary.len(), 0);
    for (from, to) in [(&part.features, &mut all.features), (&part.edges, &mut all.edges)] {
        to.reserve_exact(from.len()); // twice as much as is needed would be a large part of all memory
        for token in tokens(from) {
            to.push(token.len() as u32);
            for &feature in token {
                let number = numbers[feature as usize];
                counts[number as usize] += 1;
                to.push(number);
            }
        }
    }
    all.labels.append(&part.labels);
    all.lengths.extend(part.lengths);
    all.lines.extend(part.lines);
}

/// Iterates over the features of each token.
pub(super) fn tokens(features: &[u32]) -> impl Iterator<Item = &[u32]> {
    let mut rest = features;
    std::iter::from_fn(move || {
        let (&count, after) = rest.split_first()?;
        let (token, after) = after.split_at(count as usize);
        rest = after;
        Some(token)
    })
}
