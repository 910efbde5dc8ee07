//! Labels that are sets of names: any number of them for each example, none included.
//!
//! A set is one label like any other to whoever reads or holds it: its names in their natural order, with commas
//! between them, `beach,sunset`. The empty set is the empty name. Only here they are taken apart.

use super::source::Complaint;
use super::{Alphabet, Examples};
use crate::{Error, Result};

const REMEDY: &str = "a set of labels has every name once, with commas between them: beach,sunset";

/// The names of a set.
fn split(set: &str) -> impl Iterator<Item = &str> {
    set.split(',').map(str::trim).filter(move |_| !set.trim().is_empty())
}

/// The one spelling of a set; `name` gives that of a name.
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

/// The same set under other names.
pub(super) fn renamed(set: &str, name: impl Fn(&str) -> String) -> String {
    // Two names that have become one are found when the set is taken apart.
    split(set).map(name).collect::<Vec<_>>().join(",")
}

/// Every name that is in one of the sets.
pub(super) fn names<S: AsRef<str>>(sets: impl IntoIterator<Item = S>) -> Vec<String> {
    let mut names = Vec::new();
    for set in sets {
        names.extend(split(set.as_ref()).map(String::from));
    }
    names.sort_unstable();
    names.dedup();
    names
}

impl Examples {
    /// The labels as sets of names: for every example a 1 where it has the label and a −1 where it has not, example
    /// after example, and the names in order. No name is empty, and none is twice in a set.
    ///
    /// ```
    /// # use dualgap::data::Examples;
    /// let rows = [vec![1.0], vec![2.0], vec![3.0]];
    /// let data = Examples::from_dense(&rows, &["beach,sunset", "", "beach"])?;
    /// let (targets, labels) = data.label_sets()?;
    /// assert_eq!(labels.names(), ["beach", "sunset"]);
    /// assert_eq!(targets, [1.0, 1.0, -1.0, -1.0, 1.0, -1.0]);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn label_sets(&self) -> Result<(Vec<f64>, Alphabet)> {
        // Of the names in the alphabet, some may be those of no example.
        let mut met = vec![false; self.alphabet.len()];
        self.labels.iter().for_each(|&set| met[set as usize] = true);
        let sets = self.alphabet.names();
        let used = || sets.iter().zip(&met).filter(|(_, met)| **met).map(|(set, _)| set);
        for set in used() {
            parse_set(set, |name| Ok(name.into()))
                .map_err(|(message, remedy)| Error::setting(format!("{message}; {remedy}")))?;
        }
        let alphabet = Alphabet::new(names(used()));
        let mut targets = vec![-1.0; self.len() * alphabet.len()];
        let places: Vec<Vec<usize>> = sets
            .iter()
            .map(|set| split(set).filter_map(|name| alphabet.index(name)).collect())
            .collect();
        if !alphabet.is_empty() {
            for (row, &set) in targets.chunks_exact_mut(alphabet.len()).zip(&self.labels) {
                places[set as usize].iter().for_each(|&place| row[place] = 1.0);
            }
        }
        Ok((targets, alphabet))
    }

    /// The names in the label of an example, where labels are sets.
    ///
    /// ```
    /// # use dualgap::data::Examples;
    /// let data = Examples::from_dense(&[vec![1.0], vec![2.0]], &["beach,sunset", ""])?;
    /// assert_eq!(data.label_set(0).collect::<Vec<_>>(), ["beach", "sunset"]);
    /// assert_eq!(data.label_set(1).count(), 0);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn label_set(&self, example: usize) -> impl Iterator<Item = &str> {
        split(&self.alphabet.names()[self.labels[example] as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            let data = Examples::from_dense(&[vec![1.0]], &[bad]).unwrap();
            assert!(data.label_sets().is_err(), "{bad}");
        }
    }

    #[test]
    fn without_any_label_there_are_no_targets() {
        let data = Examples::from_dense(&[vec![1.0], vec![1.0]], &["", ""]).unwrap();
        let (targets, alphabet) = data.label_sets().unwrap();
        assert!(targets.is_empty() && alphabet.is_empty());
    }

    proptest! {
        #[test]
        fn targets_say_who_is_in_which_set(sets in prop::collection::vec(prop::collection::btree_set(0_usize..6, 0..4), 1..9)) {
            let text = |set: &std::collections::BTreeSet<usize>| {
                set.iter().map(|k| format!("l{k}")).collect::<Vec<_>>().join(",")
            };
            let names: Vec<String> = sets.iter().map(text).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let data = Examples::from_dense(&vec![vec![1.0]; sets.len()], &names).unwrap();
            let (targets, alphabet) = data.label_sets().unwrap();
            let all: std::collections::BTreeSet<usize> = sets.iter().flatten().copied().collect();
            prop_assert_eq!(alphabet.len(), all.len());
            prop_assert_eq!(targets.len(), all.len() * sets.len());
            for (i, set) in sets.iter().enumerate() {
                for (column, k) in all.iter().enumerate() {
                    let expected = if set.contains(k) { 1.0 } else { -1.0 };
                    prop_assert_eq!(targets[i * all.len() + column], expected);
                }
            }
        }
    }
}
