//! The names and sizes of a model, which it has from its training data.

use crate::container::{Fault, Reader, Tensor};
use crate::data::{Alphabet, Dictionary, Vocabulary};
use crate::linalg::memory::reserve_check;
use crate::{Error, Result};
use std::collections::HashSet;

/// What a model keeps of its training data besides the weights: what it predicts and what its features are, by name.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::structure::{Multiclass, Structure};
/// let data = Examples::from_dense(&[vec![1.0, 2.0], vec![2.0, 0.0]], &["no", "yes"])?;
/// let names = Multiclass::default().names(&data)?;
/// assert_eq!((names.alphabet.names(), names.features), (&["no".into(), "yes".into()][..], 2));
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    /// The names of the labels, or of the outputs; empty for numbers.
    pub alphabet: Alphabet,
    /// F, the number of features of a row. A structure of the user's own has here the number of its weights.
    pub features: usize,
    /// The number of features of a pair of neighbouring labels, in a chain.
    pub pair_features: usize,
    /// The names of the features, those of rows first, then those of pairs; empty if they have none.
    pub dictionary: Dictionary,
}

impl Names {
    /// Returns the names of a vocabulary.
    pub fn of(vocabulary: Vocabulary<'_>) -> Self {
        Self {
            alphabet: vocabulary.alphabet.clone(),
            features: vocabulary.features,
            pair_features: 0,
            dictionary: vocabulary.dictionary.clone(),
        }
    }

    /// Returns names without labels and without names of features, for this number of weights.
    pub fn none(weights: usize) -> Self {
        Self { features: weights, ..Self::default() }
    }

    /// Returns the names for reading other data.
    pub fn vocabulary(&self) -> Vocabulary<'_> {
        Vocabulary {
            alphabet: &self.alphabet,
            dictionary: &self.dictionary,
            features: self.features,
        }
    }

    /// Returns an error if the data give other names than the file has.
    pub(crate) fn check_equal(&self, of_data: &Self) -> Result<()> {
        let refused = |message: &str| Error::Refused {
            message: message.into(),
            remedy: "the certificate is worth nothing for this file and these data".into(),
            source: None,
        };
        if of_data.alphabet != self.alphabet {
            return Err(refused("the file has other names for what it predicts than the data"));
        }
        // The same number of weights with another number of features is another model.
        if (of_data.features, of_data.pair_features) != (self.features, self.pair_features) {
            return Err(refused("the file has another number of features than the data"));
        }
        if of_data.dictionary != self.dictionary {
            return Err(refused("the file has other names for its features than the data"));
        }
        Ok(())
    }

    /// Whether no two labels have the same name.
    pub(crate) fn are_distinct(&self) -> bool {
        let names = self.alphabet.names();
        names.iter().collect::<HashSet<_>>().len() == names.len()
    }
}

/// Writes names as tensors: their concatenated text, and the end of each.
pub(crate) fn put_names(put: &mut dyn FnMut(&str, Tensor), name: &str, names: &Dictionary) {
    let text: String = names.names().collect();
    let ends = names.names().scan(0, |end, name| {
        *end += name.len() as u64;
        Some(*end)
    });
    put(&format!("{name}.ends"), Tensor::u64(&ends.collect::<Vec<_>>()));
    put(&format!("{name}.text"), Tensor::bytes(text.into_bytes()));
}

/// Reads distinct names, `count` of them if that is given.
pub(crate) fn take_names(
    file: &Reader<'_>,
    which: &str,
    count: Option<usize>,
) -> Result<Dictionary, Fault> {
    let text = std::str::from_utf8(file.bytes(&format!("{which}.text"))?)
        .map_err(|_| format!("has {which} that are no text"))?;
    let ends = file.u64(&format!("{which}.ends"))?;
    // Each name needs its text, its place in a table, and its hash.
    reserve_check(12 * ends.len())?;
    let (mut start, count) = (0, count.unwrap_or(ends.len()));
    let names: Option<Vec<&str>> = ends
        .into_iter()
        .map(|end| {
            let end = usize::try_from(end).ok()?;
            text.get(std::mem::replace(&mut start, end)..end)
        })
        .collect();
    let dictionary: Dictionary = names.unwrap_or_default().into_iter().collect();
    if dictionary.len() != count || start != text.len() {
        let of = if which == "names" { "features" } else { which };
        return Err(format!("does not have distinct names for its {count} {of}").into());
    }
    Ok(dictionary)
}
