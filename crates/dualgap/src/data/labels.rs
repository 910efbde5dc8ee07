//! Labels as a file has them: names in order of appearance, which get numbers once all are known.

use super::{Alphabet, Dictionary};

/// Whether all names are numbers.
pub(super) fn are_numbers(names: &[String]) -> bool {
    names.iter().all(|name| name.parse().is_ok_and(f64::is_finite))
}

/// A label for every example or position, by its name.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    /// The distinct names in order of appearance.
    names: Dictionary,
    /// For each example or position, the place of its name.
    numbers: Vec<u32>,
}

impl Labels {
    pub fn push(&mut self, name: &str) {
        self.numbers.push(self.names.number(name));
    }

    pub fn append(&mut self, later: &Self) {
        let numbers: Vec<u32> = later.names.names().map(|name| self.names.number(name)).collect();
        self.numbers.extend(later.numbers.iter().map(|&label| numbers[label as usize]));
    }

    /// The distinct names in order of appearance.
    pub fn names(&self) -> impl Iterator<Item = String> + '_ {
        self.names.names().map(String::from)
    }

    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Whether there are no labels or, for sets, only empty ones.
    pub fn are_none(&self) -> bool {
        self.names.names().all(str::is_empty)
    }

    /// For each example or position, the place of its name.
    pub fn places(&self) -> &[u32] {
        &self.numbers
    }

    /// Returns the labels under other names; labels with equal new names are merged.
    #[cfg(any(test, feature = "csv"))]
    pub fn renamed(self, name: impl Fn(&str) -> String) -> Self {
        let mut names = Dictionary::default();
        let numbers: Vec<u32> = self.names.names().map(|old| names.number(&name(old))).collect();
        let renumbered = self.numbers.into_iter().map(|label| numbers[label as usize]);
        Self { numbers: renumbered.collect(), names }
    }

    /// Returns the numbers of the labels in an alphabet that has them all.
    pub fn numbered(&self, alphabet: &Alphabet) -> Vec<u32> {
        let places: Vec<u32> =
            self.names.names().filter_map(|name| alphabet.index(name)).map(|k| k as u32).collect();
        self.numbers.iter().map(|&label| places[label as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_numbered_by_any_alphabet_and_keep_their_order() {
        let (mut labels, mut later) = (Labels::default(), Labels::default());
        ["b", "a", "b"].iter().for_each(|name| labels.push(name));
        ["c", "a"].iter().for_each(|name| later.push(name));
        labels.append(&later);
        let alphabet = Alphabet::new(labels.names());
        assert_eq!(labels.numbered(&alphabet), [1, 0, 1, 2, 0]);
        let merged = labels.renamed(|name| if name == "c" { "a".into() } else { name.into() });
        assert_eq!(merged.names().collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(merged.numbered(&alphabet), [1, 0, 1, 0, 0]);
    }
}
