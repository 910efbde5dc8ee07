//! Names of labels and their numbers.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Label names in a fixed order; a label's number is its place.
///
/// ```
/// # use dualgap::data::Alphabet;
/// let alphabet = Alphabet::new(["10", "9", "-1", "9"].map(String::from));
/// assert_eq!(alphabet.names(), ["-1", "9", "10"]); // numbers by value, words by letter
/// assert_eq!(alphabet.index("9"), Some(1));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct Alphabet {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Alphabet {
    /// Returns the distinct names in their natural order: by value if all are numbers, else alphabetically.
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        let mut names: Vec<String> = names.into_iter().collect();
        names.sort_unstable();
        names.dedup();
        let values: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
        if let Some(values) = values {
            let mut pairs: Vec<(f64, String)> = values.into_iter().zip(names).collect();
            pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
            names = pairs.into_iter().map(|(_, name)| name).collect();
        }
        Self::from(names)
    }

    /// Returns the alphabet with the new names appended.
    ///
    /// ```
    /// # use dualgap::data::Alphabet;
    /// let alphabet = Alphabet::new(["no", "yes"].map(String::from));
    /// let more = alphabet.extended(["maybe", "no"].map(String::from));
    /// assert_eq!(more.names(), ["no", "yes", "maybe"]);
    /// ```
    #[must_use]
    pub fn extended(&self, more: impl IntoIterator<Item = String>) -> Self {
        let new = Self::new(more.into_iter().filter(|name| self.index(name).is_none()));
        Self::from(self.names.iter().cloned().chain(new.names).collect::<Vec<_>>())
    }

    /// The empty alphabet, of data without names.
    pub(crate) fn none() -> &'static Self {
        static NONE: LazyLock<Alphabet> = LazyLock::new(|| Alphabet::from(Vec::new()));
        &NONE
    }

    /// The names, in order of their numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the number of a name.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// Returns the number of labels.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no labels.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// Keeps the given order.
impl From<Vec<String>> for Alphabet {
    fn from(names: Vec<String>) -> Self {
        let numbers = names.iter().enumerate().map(|(k, name)| (name.clone(), k)).collect();
        Self { names, numbers }
    }
}

impl From<Alphabet> for Vec<String> {
    fn from(alphabet: Alphabet) -> Self {
        alphabet.names
    }
}
