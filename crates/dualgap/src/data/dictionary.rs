//! Names of features and their numbers.
//!
//! All names are one text, and a table of places with open addressing finds them: half a million names are three pieces of
//! memory, so that a model is loaded in a moment.

use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;
use std::sync::Arc;

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
pub struct Dictionary(Arc<Table>);

/// The names one after the other, and where to find each.
#[derive(Clone, Debug, Default)]
struct Table {
    text: String,
    /// The end of each name in the text.
    ends: Vec<usize>,
    /// Zero, or the number of a name plus one in the lower half and a part of its hash in the upper half. The length is a power
    /// of two, and a quarter is free at least.
    slots: Vec<u64>,
}

/// The part of a slot that has the number.
const NUMBER: u64 = u32::MAX as u64;

impl Table {
    fn name(&self, number: usize) -> Option<&str> {
        let end = *self.ends.get(number)?;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        Some(&self.text[start..end])
    }

    /// Returns the number of a name, or the free slot where it belongs. There must be a free one.
    #[inline]
    fn find(&self, name: &str, hash: u64) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            let slot = self.slots[place];
            if slot == 0 {
                return Err(place);
            }
            let number = (slot & NUMBER) as u32 - 1;
            if (slot ^ hash) & !NUMBER == 0 && self.name(number as usize) == Some(name) {
                return Ok(number);
            }
            place = (place + 1) & mask;
        }
    }

    /// Makes room for this many names in all.
    fn reserve(&mut self, names: usize) {
        let wanted = (names + names / 3 + 1).next_power_of_two().max(8);
        if wanted <= self.slots.len() {
            return;
        }
        self.slots = vec![0; wanted];
        let mask = wanted - 1;
        for number in 0..self.ends.len() {
            let hash = hash(self.name(number).unwrap_or_default());
            let mut place = hash as usize & mask;
            while self.slots[place] != 0 {
                place = (place + 1) & mask;
            }
            self.slots[place] = slot(hash, number);
        }
    }

    /// Returns the number of a name, which may be new.
    fn insert(&mut self, name: &str) -> u32 {
        if (self.ends.len() + 1) * 4 > self.slots.len() * 3 {
            self.reserve(2 * self.ends.len() + 1);
        }
        let hash = hash(name);
        self.find(name, hash).unwrap_or_else(|place| {
            let number = self.ends.len();
            self.slots[place] = slot(hash, number);
            self.text.push_str(name);
            self.ends.push(self.text.len());
            number as u32
        })
    }
}

#[inline]
fn hash(name: &str) -> u64 {
    FxBuildHasher.hash_one(name)
}

fn slot(hash: u64, number: usize) -> u64 {
    (hash & !NUMBER) | ((number as u64 + 1) & NUMBER)
}

impl Dictionary {
    /// Returns the number of features.
    pub fn len(&self) -> usize {
        self.0.ends.len()
    }

    /// Whether features have no names.
    pub fn is_empty(&self) -> bool {
        self.0.ends.is_empty()
    }

    /// The names, in order of their numbers.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        let mut start = 0;
        self.0.ends.iter().map(move |&end| {
            let name = &self.0.text[start..end];
            start = end;
            name
        })
    }

    /// Returns the name of a number.
    pub fn name(&self, number: usize) -> Option<&str> {
        self.0.name(number)
    }

    /// Returns the number of a name.
    #[inline]
    pub fn index(&self, name: &str) -> Option<u32> {
        if self.is_empty() {
            return None;
        }
        self.0.find(name, hash(name)).ok()
    }

    /// Returns the number of a name; a new name gets the next number.
    pub fn number(&mut self, name: &str) -> u32 {
        match self.index(name) {
            Some(number) => number,
            None => Arc::make_mut(&mut self.0).insert(name),
        }
    }

    /// Returns the first `count` names.
    #[must_use]
    pub fn first(&self, count: usize) -> Self {
        self.names().take(count).collect()
    }
}

/// Two dictionaries are equal if they have the same names under the same numbers.
impl PartialEq for Dictionary {
    fn eq(&self, other: &Self) -> bool {
        self.0.ends == other.0.ends && self.0.text == other.0.text
    }
}

impl Eq for Dictionary {}

/// Keeps the given order; a name that occurs again keeps its first number.
impl<S: AsRef<str>> FromIterator<S> for Dictionary {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let names = names.into_iter();
        let mut table = Table::default();
        table.reserve(names.size_hint().0);
        for name in names {
            table.insert(name.as_ref());
        }
        Self(Arc::new(table))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn numbers_are_places_and_clones_do_not_share_what_comes_later() {
        let mut first = Dictionary::default();
        assert_eq!(first.index("a"), None);
        assert_eq!([first.number("a"), first.number("b"), first.number("a")], [0, 1, 0]);
        let mut second = first.clone();
        assert_eq!((second.number("c"), second.len(), first.len()), (2, 3, 2));
        assert_eq!(first.index("c"), None);
        let swapped: Dictionary = ["b", "a"].into_iter().collect();
        assert_ne!(first, swapped);
        assert_eq!(second.first(1).names().collect::<Vec<_>>(), ["a"]);
        // The same text in other parts is not the same.
        let (joined, split): (Dictionary, Dictionary) =
            (["ab", "c"].into_iter().collect(), ["a", "bc"].into_iter().collect());
        assert_ne!(joined, split);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]
        #[test]
        fn names_are_found_as_in_a_map(
            names in prop::collection::vec("[a-cé]{0,4}", 0..300), others in prop::collection::vec("[a-dé]{0,4}", 20),
        ) {
            let mut map: HashMap<&str, u32> = HashMap::new();
            let mut grown = Dictionary::default();
            for name in &names {
                let next = map.len() as u32;
                let number = *map.entry(name).or_insert(next);
                prop_assert_eq!(grown.number(name), number);
            }
            let whole: Dictionary = names.iter().collect();
            prop_assert_eq!(&whole, &grown);
            prop_assert_eq!(whole.len(), map.len());
            for name in names.iter().chain(&others) {
                prop_assert_eq!(whole.index(name), map.get(&name[..]).copied());
                prop_assert_eq!(grown.index(name), map.get(&name[..]).copied());
            }
            for (number, name) in whole.names().enumerate() {
                prop_assert_eq!(whole.name(number), Some(name));
            }
            prop_assert_eq!(whole.name(map.len()), None);
        }
    }
}
