//! The names that a model knows, and what it does not know.

use super::{Alphabet, Dictionary};

/// The names of a model's labels and features.
#[derive(Clone, Copy, Debug)]
pub struct Vocabulary<'a> {
    /// The names of the classes, labels or outputs.
    pub alphabet: &'a Alphabet,
    /// The names of the features; empty if they have none.
    pub dictionary: &'a Dictionary,
    /// The number of features of single labels; the rest belong to pairs.
    pub features: usize,
}

impl Vocabulary<'_> {
    /// Returns the known names followed by the new ones, and the new ones separately.
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
    /// How often any feature occurs.
    pub met: u64,
    /// How often a feature occurs that the model does not know; these are left out.
    pub features: u64,
    /// The names of labels that the model never predicts.
    pub labels: Vec<String>,
}
