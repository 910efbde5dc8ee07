//! What a model knows by name, and what it does not.

use super::{Alphabet, Dictionary};

/// What a model knows by name: its labels and its features.
#[derive(Clone, Copy, Debug)]
pub struct Vocabulary<'a> {
    /// The names of the labels.
    pub alphabet: &'a Alphabet,
    /// The names of the features, or none.
    pub dictionary: &'a Dictionary,
    /// How many of the features are of a label on its own; the rest are of pairs.
    pub features: usize,
}

impl Vocabulary<'_> {
    /// The alphabet of data without labels, all of which are its first: it has one, whatever the model has.
    pub(super) fn unlabelled(&self) -> Alphabet {
        if self.alphabet.is_empty() {
            Alphabet::from(vec!["?".to_string()])
        } else {
            self.alphabet.clone()
        }
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
