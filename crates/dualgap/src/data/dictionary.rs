//! Names of features and their numbers.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// Feature names in a fixed order; a feature's number is its place.
///
/// It is empty if features have only numbers, as in a LIBSVM file. Clones are cheap: they share the names until one
/// of them grows.
///
/// ```
/// # use dualgap::data::Dictionary;
/// let dictionary: Dictionary = ["age", "colour=red"].into_iter().collect();
/// assert_eq!((dictionary.index("colour=red"), dictionary.name(0)), (Some(1), Some("age")));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Dictionary(std::sync::Arc<IndexSet<String, FxBuildHasher>>);

impl Dictionary {
    /// Returns the number of features.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether features have no names.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names, in order of their numbers.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns the name of a number.
    pub fn name(&self, number: usize) -> Option<&str> {
        self.0.get_index(number).map(String::as_str)
    }

    /// Returns the number of a name.
    #[inline]
    pub fn index(&self, name: &str) -> Option<u32> {
        self.0.get_index_of(name).map(|number| number as u32)
    }

    /// Returns the number of a name; a new name gets the next number.
    pub fn number(&mut self, name: &str) -> u32 {
        match self.index(name) {
            Some(number) => number,
            None => std::sync::Arc::make_mut(&mut self.0).insert_full(name.into()).0 as u32,
        }
    }

    /// Returns the first `count` names.
    #[must_use]
    pub fn first(&self, count: usize) -> Self {
        self.names().take(count).collect()
    }
}

/// Two dictionaries are equal if they have the same names under the same numbers. (`IndexSet` ignores the order.)
impl PartialEq for Dictionary {
    fn eq(&self, other: &Self) -> bool {
        self.names().eq(other.names())
    }
}

impl Eq for Dictionary {}

/// Keeps the given order; a name that occurs again keeps its first number.
impl<S: Into<String>> FromIterator<S> for Dictionary {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        Self(std::sync::Arc::new(names.into_iter().map(Into::into).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_places_and_clones_do_not_share_what_comes_later() {
        let mut first = Dictionary::default();
        assert_eq!([first.number("a"), first.number("b"), first.number("a")], [0, 1, 0]);
        let mut second = first.clone();
        assert_eq!((second.number("c"), second.len(), first.len()), (2, 3, 2));
        assert_eq!(first.index("c"), None);
        let swapped: Dictionary = ["b", "a"].into_iter().collect();
        assert_ne!(first, swapped);
        assert_eq!(second.first(1).names().collect::<Vec<_>>(), ["a"]);
    }
}
