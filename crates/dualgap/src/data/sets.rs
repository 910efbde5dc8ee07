//! Label sets: any number of labels for each example, possibly none.
//!
//! In a file a set is a list of names separated by commas, `beach,sunset`; the empty set is the empty text.

use super::Alphabet;
use super::labels::Labels;
use super::source::Complaint;
use crate::{Error, Result};

const REMEDY: &str = "a set of labels has every name once, with commas between them: beach,sunset";

/// A label set for every example.
///
/// ```
/// # use dualgap::data::Sets;
/// let sets = Sets::named(&[vec!["sunset", "beach"], vec![], vec!["beach"]])?;
/// assert_eq!(sets.alphabet().names(), ["beach", "sunset"]);
/// assert_eq!((sets.of(0), sets.of(1)), (&[0, 1][..], &[][..]));
/// assert_eq!(sets.names(2).collect::<Vec<_>>(), ["beach"]);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sets {
    alphabet: Alphabet,
    /// Example `i` has the labels `starts[i]..starts[i + 1]`, ascending.
    starts: Vec<usize>,
    labels: Vec<u32>,
}

impl Sets {
    /// Returns sets of labels given by number, in any order. The alphabet may have names that no example has; no
    /// name may be empty or have a comma, because a file could not distinguish it from two names.
    pub fn new<S: AsRef<[u32]>>(sets: &[S], alphabet: Alphabet) -> Result<Self> {
        if let Some(name) = alphabet.names().iter().find(|name| !is_name(name)) {
            return Err(Error::setting(format!(
                "a label of sets is called `{name}`: its name must not be empty, begin or end with a blank, or have a comma"
            )));
        }
        let (mut starts, mut labels) = (vec![0], Vec::new());
        for (i, set) in sets.iter().enumerate() {
            let mut set = set.as_ref().to_vec();
            set.sort_unstable();
            if let Some(label) = set.last().filter(|&&label| label as usize >= alphabet.len()) {
                return Err(Error::setting(format!(
                    "example {i} has the label {label}, and the alphabet has {}, from 0 on",
                    alphabet.len()
                )));
            }
            if let Some(pair) = set.windows(2).find(|pair| pair[0] == pair[1]) {
                let name = &alphabet.names()[pair[0] as usize];
                return Err(Error::setting(format!("example {i} has the label `{name}` twice")));
            }
            labels.extend(set);
            starts.push(labels.len());
        }
        Ok(Self { alphabet, starts, labels })
    }

    /// Returns sets of labels given by name; the alphabet is in their natural order.
    pub fn named<S: AsRef<str>>(sets: &[Vec<S>]) -> Result<Self> {
        let names = sets.iter().flatten().map(|name| name.as_ref().to_string());
        let alphabet = Alphabet::new(names);
        let number = |name: &S| alphabet.index(name.as_ref()).map(|k| k as u32);
        let numbers: Vec<Vec<u32>> =
            sets.iter().map(|set| set.iter().filter_map(number).collect()).collect();
        Self::new(&numbers, alphabet)
    }

    /// Returns sets in the spelling of [`parse_set`], whose names are all in the alphabet.
    pub(super) fn spelled(labels: &Labels, alphabet: Alphabet) -> Result<Self> {
        let number = |name: &str| alphabet.index(name).map(|k| k as u32);
        let each: Vec<Vec<u32>> =
            labels.names().map(|set| split(&set).filter_map(number).collect()).collect();
        let sets: Vec<&Vec<u32>> = labels.places().iter().map(|&set| &each[set as usize]).collect();
        Self::new(&sets, alphabet)
    }

    /// The names of the labels.
    pub fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// Returns the labels of an example, ascending.
    pub fn of(&self, example: usize) -> &[u32] {
        &self.labels[self.starts[example]..self.starts[example + 1]]
    }

    /// Returns the names of an example's labels, in the order of the alphabet.
    pub fn names(&self, example: usize) -> impl Iterator<Item = &str> {
        self.of(example).iter().map(|&label| self.alphabet.names()[label as usize].as_str())
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns, example by example, 1 for each label that it has and −1 for the others, and the names of the labels:
    /// those that occur, in their natural order.
    ///
    /// ```
    /// # use dualgap::data::Sets;
    /// let sets = Sets::named(&[vec!["beach", "sunset"], vec![], vec!["beach"]])?;
    /// let (signs, labels) = sets.signs();
    /// assert_eq!(labels.names(), ["beach", "sunset"]);
    /// assert_eq!(signs, [1.0, 1.0, -1.0, -1.0, 1.0, -1.0]);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn signs(&self) -> (Vec<f64>, Alphabet) {
        let mut met = vec![false; self.alphabet.len()];
        self.labels.iter().for_each(|&label| met[label as usize] = true);
        let names = self.alphabet.names();
        let used = names.iter().zip(&met).filter(|(_, met)| **met).map(|(name, _)| name.clone());
        let alphabet = Alphabet::new(used);
        let places: Vec<Option<usize>> = names.iter().map(|name| alphabet.index(name)).collect();
        let mut signs = vec![-1.0; self.len() * alphabet.len()];
        for i in 0..self.len() {
            for place in self.of(i).iter().filter_map(|&label| places[label as usize]) {
                signs[i * alphabet.len() + place] = 1.0;
            }
        }
        (signs, alphabet)
    }

    /// Returns an example's set in its normal spelling: its names in their own natural order.
    pub(super) fn spelling(&self, example: usize) -> String {
        Alphabet::new(self.names(example).map(String::from)).names().join(",")
    }

    /// Returns the sets of the given examples in the given order, with the same alphabet.
    pub(super) fn select(&self, chosen: &[usize]) -> Self {
        let (mut starts, mut labels) = (vec![0], Vec::new());
        for &i in chosen {
            labels.extend_from_slice(self.of(i));
            starts.push(labels.len());
        }
        Self { alphabet: self.alphabet.clone(), starts, labels }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.trim() == name && !name.contains(',')
}

/// Splits a set into its names.
fn split(set: &str) -> impl Iterator<Item = &str> {
    set.split(',').map(str::trim).filter(move |_| !set.trim().is_empty())
}

/// Returns a set in its normal spelling; `name` returns that of a name.
pub(super) fn parse_set(
    set: &str,
    name: impl Fn(&str) -> Result<String, Complaint>,
) -> Result<String, Complaint> {
    let names: Vec<String> = split(set)
        .map(|one| match one {
            "" => Err((format!("`{set}`: a name between commas is empty"), REMEDY)),
            one => name(one),
        })
        .collect::<Result<_, _>>()?;
    let count = names.len();
    let set_of = Alphabet::new(names);
    if set_of.len() < count {
        return Err((format!("`{set}`: a label is there twice"), REMEDY));
    }
    Ok(set_of.names().join(","))
}

/// Returns the set under other names.
#[cfg(feature = "csv")]
pub(super) fn renamed(set: &str, name: impl Fn(&str) -> String) -> String {
    // The parser of the set finds names that have become equal.
    split(set).map(name).collect::<Vec<_>>().join(",")
}

/// Returns the distinct names of all sets.
pub(super) fn names<S: AsRef<str>>(sets: impl IntoIterator<Item = S>) -> Vec<String> {
    let mut names = Vec::new();
    for set in sets {
        names.extend(split(set.as_ref()).map(String::from));
    }
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn plain(set: &str) -> Result<String, Complaint> {
        parse_set(set, |name| Ok(name.into()))
    }

    #[test]
    fn a_set_has_one_spelling() {
        for (set, expected) in
            [("", ""), (" ", ""), ("b,a", "a,b"), ("10, 9", "9,10"), (" x y ", "x y"), ("a", "a")]
        {
            assert_eq!(plain(set).unwrap(), expected);
        }
    }

    #[test]
    fn what_is_no_set_is_refused() {
        for bad in [",", "a,", ",a", "a,,b", "a, ,b", "a,a", "a,b, a"] {
            let (message, _) = plain(bad).unwrap_err();
            assert!(message.contains(bad), "{message}");
        }
        for bad in ["", "a,b", " a", "a\n"] {
            assert!(Sets::named(&[vec!["c", bad]]).is_err(), "{bad}");
        }
        assert!(Sets::named(&[vec!["a"], vec!["b", "a", "b"]]).is_err());
        let alphabet = || Alphabet::new(["a", "b"].map(String::from));
        assert!(Sets::new(&[vec![1, 0], vec![2]], alphabet()).is_err());
        assert!(Sets::new(&[vec![1, 1]], alphabet()).is_err());
        assert_eq!(Sets::new(&[vec![1, 0]], alphabet()).unwrap().of(0), [0, 1]);
    }

    #[test]
    fn labels_that_no_example_has_are_no_targets() {
        let all = Sets::named(&[vec!["x", "10"], vec!["9"], vec![]]).unwrap();
        assert_eq!(all.alphabet().names(), ["10", "9", "x"]);
        let some = all.select(&[2, 1]);
        assert_eq!((some.len(), some.alphabet()), (2, all.alphabet()));
        let (signs, alphabet) = some.signs();
        assert_eq!((&signs[..], alphabet.names()), (&[-1.0, 1.0][..], &["9".to_string()][..]));
        let (signs, alphabet) = all.select(&[2]).signs();
        assert!(signs.is_empty() && alphabet.is_empty());
    }

    /// A fingerprint depends on the sets themselves and not on other names of the data.
    #[test]
    fn the_names_of_a_set_are_spelled_in_their_own_order() {
        let sets = Sets::named(&[vec!["10", "9"], vec!["x"]]).unwrap();
        assert_eq!((sets.spelling(0), sets.spelling(1)), ("9,10".into(), "x".into()));
    }

    proptest! {
        #[test]
        fn signs_say_who_is_in_which_set(sets in prop::collection::vec(prop::collection::btree_set(0_usize..6, 0..4), 1..9)) {
            let named = |set: &BTreeSet<usize>| set.iter().rev().map(|k| format!("l{k}")).collect();
            let named: Vec<Vec<String>> = sets.iter().map(named).collect();
            let (signs, alphabet) = Sets::named(&named).unwrap().signs();
            let all: BTreeSet<usize> = sets.iter().flatten().copied().collect();
            prop_assert_eq!(alphabet.len(), all.len());
            prop_assert_eq!(signs.len(), all.len() * sets.len());
            for (i, set) in sets.iter().enumerate() {
                for (column, k) in all.iter().enumerate() {
                    let expected = if set.contains(k) { 1.0 } else { -1.0 };
                    prop_assert_eq!(signs[i * all.len() + column], expected);
                }
            }
        }
    }
}
