//! What a model knows by name, and what it does not.

use super::{Alphabet, Dictionary};

/// What a model knows by name: its labels and its features.
#[derive(Clone, Copy, Debug)]
pub struct Vocabulary<'a> {
    /// The names of the classes, labels or outputs.
    pub alphabet: &'a Alphabet,
    /// The names of the features, or none.
    pub dictionary: &'a Dictionary,
    /// How many of the features are of a label on its own; the rest are of pairs.
    pub features: usize,
}

impl Vocabulary<'_> {
    /// The names that are known, with those that are new behind them; and the new ones on their own.
    pub(super) fn beside(
        &self,
        names: impl IntoIterator<Item = String>,
    ) -> (Alphabet, Vec<String>) {
        let all = self.alphabet.extended(names);
        let new = all.names()[self.alphabet.len()..].to_vec();
        (all, new)
    }
}

/// What a data set has that a model did not see in training.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unseen {
    /// How often a feature was met, ...
    pub met: u64,
    /// ... and how often it was one that the model does not know: those are left out.
    pub features: u64,
    /// Labels that the model can never predict, by name.
    pub labels: Vec<String>,
}
