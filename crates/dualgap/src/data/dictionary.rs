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
    /// Zero, or the number of a name plus one in as many of the lower bits as that takes, and a part of its hash in the others:
    /// a table of half a million names stays in the second cache. The length is a power of two, and a quarter is free at least.
    slots: Vec<u32>,
}

impl Table {
    fn name(&self, number: usize) -> Option<&str> {
        let end = *self.ends.get(number)?;
        Some(&self.text[self.start(number)..end])
    }

    fn start(&self, number: usize) -> usize {
        if number == 0 { 0 } else { self.ends[number - 1] }
    }

    /// The place where the search for a name begins, and also the lower bits of a slot.
    fn mask(&self) -> u32 {
        (self.slots.len() - 1) as u32
    }

    /// Returns the number of a name, or the free slot where it belongs. There must be a free one.
    #[inline]
    fn find(&self, name: &str, hash: u64) -> Result<u32, usize> {
        let mask = self.mask();
        let mut place = (hash as u32 & mask) as usize;
        loop {
            let slot = self.slots[place];
            if slot == 0 {
                return Err(place);
            }
            let number = (slot & mask).wrapping_sub(1);
            if (slot ^ upper(hash)) & !mask == 0 && self.name(number as usize) == Some(name) {
                return Ok(number);
            }
            place = (place + 1) & mask as usize;
        }
    }

    /// Makes room for this many names in all.
    fn reserve(&mut self, names: usize) {
        let wanted = (names + names / 3 + 1).next_power_of_two().max(8);
        if wanted <= self.slots.len() {
            return;
        }
        self.slots = vec![0; wanted];
        let mask = self.mask();
        let mut start = 0;
        for (number, &end) in self.ends.iter().enumerate() {
            let hash = hash(&self.text[std::mem::replace(&mut start, end)..end]);
            let mut place = (hash as u32 & mask) as usize;
            while self.slots[place] != 0 {
                place = (place + 1) & mask as usize;
            }
            self.slots[place] = slot(hash, number, mask);
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
            self.slots[place] = slot(hash, number, self.mask());
            self.text.push_str(name);
            self.ends.push(self.text.len());
            number as u32
        })
    }
}

/// So many names are entered into a table together: as many as a processor waits for at once, more or less.
const TOGETHER: usize = 32;

#[inline]
fn hash(name: &str) -> u64 {
    FxBuildHasher.hash_one(name)
}

/// The half of a hash that does not decide where the search begins.
fn upper(hash: u64) -> u32 {
    (hash >> 32) as u32
}

fn slot(hash: u64, number: usize, mask: u32) -> u32 {
    (upper(hash) & !mask) | ((number as u32).wrapping_add(1) & mask)
}

/// Several names that are looked up together: the memory that one waits for is fetched while the others wait for theirs.
#[derive(Clone, Debug, Default)]
pub struct Lookup {
    text: String,
    ends: Vec<usize>,
    hashes: Vec<u64>,
    /// The slot where the search for each name begins, and the ends of the name that it has.
    slots: Vec<u32>,
    bounds: Vec<(usize, usize)>,
}

impl Lookup {
    /// Adds the name that `write` appends to the text it is given.
    #[inline]
    pub fn push(&mut self, write: impl FnOnce(&mut String)) {
        let start = self.text.len();
        write(&mut self.text);
        self.hashes.push(hash(&self.text[start..]));
        self.ends.push(self.text.len());
    }

    /// Hands over the numbers of the names in order, and forgets the names.
    pub fn find(&mut self, dictionary: &Dictionary, mut each: impl FnMut(Option<u32>)) {
        let table = &*dictionary.0;
        if table.ends.is_empty() {
            self.ends.iter().for_each(|_| each(None));
        } else {
            self.find_in(table, each);
        }
        self.text.clear();
        self.ends.clear();
        self.hashes.clear();
    }

    // One loop for each thing that is waited for: none of them has to be there before the loop goes on.
    fn find_in(&mut self, table: &Table, mut each: impl FnMut(Option<u32>)) {
        let Self { text, ends, hashes, slots, bounds } = self;
        let mask = table.mask();
        slots.clear();
        slots.extend(hashes.iter().map(|&hash| table.slots[(hash as u32 & mask) as usize]));
        bounds.clear();
        bounds.extend(slots.iter().map(|slot| {
            let number = (slot & mask).saturating_sub(1) as usize;
            (table.start(number), table.ends[number])
        }));
        let mut start = 0;
        for (((&end, &hash), &slot), &(from, to)) in
            ends.iter().zip(&*hashes).zip(&*slots).zip(&*bounds)
        {
            let name = &text[std::mem::replace(&mut start, end)..end];
            let same = (slot ^ upper(hash)) & !mask == 0 && slot & mask != 0;
            each(if same && table.text.as_bytes()[from..to] == *name.as_bytes() {
                Some((slot & mask) - 1)
            } else if slot == 0 {
                None
            } else {
                table.find(name, hash).ok()
            });
        }
    }
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

    /// Returns the names that end at these places of a text, each where the one before ends, or `None` if two of them are the
    /// same or one is not within the text.
    pub(crate) fn of_text(text: String, ends: Vec<usize>) -> Option<Self> {
        let mut table = Table { text, ..Table::default() };
        table.reserve(ends.len());
        let (mask, mut start) = (table.mask(), 0);
        let mut hashes = [0; TOGETHER];
        for (part, some) in ends.chunks(TOGETHER).enumerate() {
            // The slots of several names are asked for before the first of them is needed: waiting for one after the other took
            // most of the time.
            let (mut from, mut asked) = (start, 0);
            for (hash_of, &end) in hashes.iter_mut().zip(some) {
                *hash_of = hash(table.text.get(std::mem::replace(&mut from, end)..end)?);
                asked |= table.slots[(*hash_of as u32 & mask) as usize];
            }
            std::hint::black_box(asked);
            for (k, (&hash, &end)) in hashes.iter().zip(some).enumerate() {
                let name = table.text.get(std::mem::replace(&mut start, end)..end)?;
                let mut place = (hash as u32 & mask) as usize;
                loop {
                    let slot = table.slots[place];
                    if slot == 0 {
                        break;
                    }
                    if (slot ^ upper(hash)) & !mask == 0 {
                        let other = (slot & mask).wrapping_sub(1) as usize;
                        let from = if other == 0 { 0 } else { ends[other - 1] };
                        if table.text.get(from..ends[other])? == name {
                            return None;
                        }
                    }
                    place = (place + 1) & mask as usize;
                }
                table.slots[place] = slot(hash, part * TOGETHER + k, mask);
            }
        }
        if start != table.text.len() {
            return None;
        }
        table.ends = ends;
        Some(Self(Arc::new(table)))
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
            let mut together = Lookup::default();
            let asked: Vec<&String> = names.iter().chain(&others).collect();
            for dictionary in [&whole, &Dictionary::default()] {
                asked.iter().for_each(|name| together.push(|text| text.push_str(name)));
                let mut found = Vec::new();
                together.find(dictionary, |number| found.push(number));
                prop_assert!(found.iter().copied().eq(asked.iter().map(|name| dictionary.index(name))));
            }
            let (text, ends): (String, Vec<usize>) = (whole.0.text.clone(), whole.0.ends.clone());
            let read = Dictionary::of_text(text.clone(), ends.clone());
            prop_assert_eq!(read.as_ref(), Some(&whole));
            let read = read.unwrap_or_default();
            prop_assert!(asked.iter().all(|name| read.index(name) == whole.index(name)));
            for twin in whole.names() {
                let longer = [&ends[..], &[text.len() + twin.len()]].concat();
                let (again, more) = (text.clone() + twin, text.clone() + twin + "+");
                prop_assert!(Dictionary::of_text(again, longer.clone()).is_none());
                prop_assert!(Dictionary::of_text(more, longer).is_none());
            }
            prop_assert!(Dictionary::of_text(text + "+", ends).is_none());
            for (number, name) in whole.names().enumerate() {
                prop_assert_eq!(whole.name(number), Some(name));
            }
            prop_assert_eq!(whole.name(map.len()), None);
        }
    }

    #[test]
    fn several_names_are_looked_up_together() {
        let dictionary: Dictionary = ["age", "colour=red"].into_iter().collect();
        let mut names = Lookup::default();
        names.push(|text| text.push_str("colour=red"));
        names.push(|text| text.push_str("size"));
        let mut found = Vec::new();
        names.find(&dictionary, |number| found.push(number));
        assert_eq!(found, [Some(1), None]);
    }
}
