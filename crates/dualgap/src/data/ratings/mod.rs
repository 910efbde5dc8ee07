//! Ratings of items by users, one per line, for matrix completion.
//!
//! ```text
//! user item rating        between `::`, tabs, commas or blanks; whatever follows a rating is left out
//! ```
//!
//! The first line decides the separator, and may be a header: it is one if its third cell is not a number. Users and
//! items are names, even if they look like numbers, and are numbered in order of appearance. With commas and tabs a
//! name may be in double quotes. The same pair may be rated more than once, and every rating counts.

mod lines;

use super::checks::{check_weights, select_weights};
use super::source::Complaint;
use super::{Dictionary, Source};
use crate::linalg::{Random, Sum};
use crate::{Error, Result};
use lines::Lines;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Pairs of a user and an item, by name and by number.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    pub(crate) users: Dictionary,
    pub(crate) items: Dictionary,
    /// The numbers of user and item, each in its dictionary.
    pub(crate) places: Vec<(u32, u32)>,
}

impl Pairs {
    /// Returns the number of pairs.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The names of the users.
    pub fn users(&self) -> &Dictionary {
        &self.users
    }

    /// The names of the items.
    pub fn items(&self) -> &Dictionary {
        &self.items
    }

    /// The numbers of user and item.
    pub fn places(&self) -> &[(u32, u32)] {
        &self.places
    }

    fn push(&mut self, user: &str, item: &str) {
        self.places.push((self.users.number(user), self.items.number(item)));
    }

    /// Returns the names of a pair of numbers.
    pub(super) fn names(&self, (user, item): (u32, u32)) -> (&str, &str) {
        let user = self.users.name(user as usize).unwrap_or_default();
        (user, self.items.name(item as usize).unwrap_or_default())
    }
}

/// Ratings, each for a pair.
#[derive(Clone, Debug, Default)]
pub struct Ratings {
    pub(crate) pairs: Pairs,
    /// The rating of each pair; empty if the pairs are only there to predict.
    pub(crate) values: Vec<f64>,
    weights: Option<Vec<f64>>,
}

/// How a file of ratings is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RatingsRecipe {
    /// The names of users and items in the header of the training file, if it has one: in a file of pairs without
    /// ratings no number shows whether the first line is a header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<(String, String)>,
    /// The ratings that are held out of training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out: Option<HeldOut>,
}

/// Some ratings of a file, drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldOut {
    /// The number of ratings.
    pub count: usize,
    /// The seed of the draw.
    pub seed: u64,
}

const REMEDY: &str = "a line is `user item rating`, between blanks, tabs, commas or `::`";

const PAIR_REMEDY: &str = "a line is `user item`, between blanks, tabs, commas or `::`";

impl Ratings {
    /// Reads a file; see the module's head.
    ///
    /// ```
    /// use dualgap::data::{Ratings, Source};
    /// let text = b"userId,movieId,rating\nann,7,4.5\nbob,7,3\n";
    /// let ratings = Ratings::read(Source::from_bytes("ratings", text)?)?;
    /// assert_eq!((ratings.pairs().users().len(), ratings.pairs().items().len()), (2, 1));
    /// assert_eq!((ratings.pairs().places(), ratings.mean()), (&[(0, 0), (1, 0)][..], 3.75));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn read(source: Source<'_>) -> Result<Self> {
        RatingsRecipe::default().read(source).map(|(ratings, _)| ratings)
    }

    /// Returns ratings from memory.
    ///
    /// ```
    /// use dualgap::data::Ratings;
    /// let ratings = Ratings::from_triples(&[("ann", "tea", 4.0), ("bob", "tea", 2.0)])?;
    /// assert_eq!(ratings.mean(), 3.0);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn from_triples(triples: &[(&str, &str, f64)]) -> Result<Self> {
        let mut ratings = Self::default();
        for &(user, item, value) in triples {
            if !value.is_finite() {
                return Err(Error::setting(format!("the rating of {item} by {user} is {value}")));
            }
            ratings.pairs.push(user, item);
            ratings.values.push(value);
        }
        Ok(ratings)
    }

    /// Returns pairs without ratings, to predict.
    pub fn from_pairs(pairs: &[(&str, &str)]) -> Self {
        let mut all = Pairs::default();
        pairs.iter().for_each(|&(user, item)| all.push(user, item));
        all.into()
    }

    /// Whether the pairs have ratings, and are not only there to predict.
    pub fn are_rated(&self) -> bool {
        self.values.len() == self.pairs.len()
    }

    /// The pairs that are rated, or to rate.
    pub fn pairs(&self) -> &Pairs {
        &self.pairs
    }

    /// The ratings, in the order of the file.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the given ratings in the given order. It drops the names that occur only in the others.
    #[must_use]
    pub fn select(&self, chosen: &[usize]) -> Self {
        let mut part = Self::default();
        for &i in chosen {
            let (user, item) = self.pairs.names(self.pairs.places[i]);
            part.pairs.push(user, item);
            part.values.extend(self.values.get(i));
        }
        part.weights = select_weights(self.weights.as_ref(), chosen);
        part
    }

    /// Sets the training weight of each rating, a nonnegative number. The centre of the ratings does not depend on it.
    pub fn with_weights(self, weights: Vec<f64>) -> Result<Self> {
        check_weights(&weights, self.len())?;
        Ok(Self { weights: Some(weights), ..self })
    }

    /// The weight of each rating, unless all are the same.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Returns the number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns the mean of all ratings; zero without ratings.
    pub fn mean(&self) -> f64 {
        let total = self.values.iter().copied().collect::<Sum>().total().value;
        total / self.len().max(1) as f64
    }

    /// Returns the ratings to train on and those that are held out, both in the order of the file. Each part drops
    /// the names that occur only in the other.
    ///
    /// ```
    /// use dualgap::data::Ratings;
    /// use dualgap::data::HeldOut;
    /// let all = Ratings::from_triples(&[("ann", "tea", 4.0), ("bob", "tea", 2.0), ("bob", "milk", 5.0)])?;
    /// let (train, held_out) = all.split(HeldOut { count: 1, seed: 7 })?;
    /// assert_eq!((train.len(), held_out.len()), (2, 1));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn split(&self, held_out: HeldOut) -> Result<(Self, Self)> {
        let HeldOut { count, seed } = held_out;
        if count >= self.len() {
            let all = self.len();
            return Err(Error::setting(format!(
                "{count} ratings cannot be held out of {all}: some must be left to train on"
            )));
        }
        let mut order: Vec<usize> = (0..self.len()).collect();
        Random::new(seed).shuffle(&mut order);
        let mut held = vec![false; self.len()];
        order[..count].iter().for_each(|&i| held[i] = true);
        let part = |wanted: bool| {
            let chosen: Vec<usize> = (0..self.len()).filter(|&i| held[i] == wanted).collect();
            self.select(&chosen)
        };
        Ok((part(false), part(true)))
    }
}

impl From<Pairs> for Ratings {
    fn from(pairs: Pairs) -> Self {
        Self { pairs, values: Vec::new(), weights: None }
    }
}

impl RatingsRecipe {
    /// Returns all ratings of a file, and the recipe with the names of its header.
    pub fn read(&self, mut source: Source<'_>) -> Result<(Ratings, Self)> {
        let mut ratings = Ratings::default();
        let mut recipe = Self { header: None, ..self.clone() };
        let mut lines = Lines::default();
        while let Some(line) = source.next_line()? {
            let taken = lines.cells(line).and_then(|cells| take(&cells, &mut ratings));
            match taken {
                Ok(None) => {}
                Ok(Some(header)) if lines.count == 1 => recipe.header = Some(header),
                Ok(Some(_)) => {
                    let message = "has no number in the place of its rating";
                    return Err(source.error(message, REMEDY));
                }
                Err((message, remedy)) => return Err(source.error(message, remedy)),
            }
        }
        if ratings.is_empty() {
            return Err(source.file_error("has no ratings", REMEDY));
        }
        Ok((ratings, recipe))
    }

    /// Returns the pairs of a file with or without ratings. Its first line is a header if it equals that of the
    /// training file, or if its third cell is a word.
    ///
    /// ```
    /// use dualgap::data::{RatingsRecipe, Source};
    /// let recipe = RatingsRecipe { header: Some(("who".into(), "what".into())), held_out: None };
    /// let pairs = recipe.read_pairs(Source::from_bytes("pairs", b"who,what\nann,tea\nbob,tea,?\n")?)?;
    /// assert_eq!(pairs.users().names().collect::<Vec<_>>(), ["ann", "bob"]);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn read_pairs(&self, mut source: Source<'_>) -> Result<Pairs> {
        let mut pairs = Pairs::default();
        let mut lines = Lines::default();
        while let Some(line) = source.next_line()? {
            let taken = lines.cells(line).and_then(|cells| {
                if cells.is_empty() || (lines.count == 1 && self.is_header(&cells)) {
                    return Ok(());
                }
                let (user, item) = named(&cells, PAIR_REMEDY)?;
                pairs.push(user, item);
                Ok(())
            });
            taken.map_err(|(message, remedy)| source.error(message, remedy))?;
        }
        if pairs.is_empty() {
            return Err(source.file_error("has no pairs of a user and an item", PAIR_REMEDY));
        }
        Ok(pairs)
    }

    fn is_header(&self, cells: &[Cow<'_, str>]) -> bool {
        let known = self
            .header
            .as_ref()
            .is_some_and(|(user, item)| cells.len() >= 2 && cells[0] == *user && cells[1] == *item);
        let is_word =
            |cell: &str| cell.parse::<f64>().is_err() && cell.contains(char::is_alphabetic);
        known || cells.get(2).is_some_and(|cell| is_word(cell))
    }
}

/// Adds the rating of a line or, if its cell is not a number, returns the first two cells as a possible header.
fn take(
    cells: &[Cow<'_, str>],
    ratings: &mut Ratings,
) -> Result<Option<(String, String)>, Complaint> {
    if cells.is_empty() {
        return Ok(None);
    }
    let Some(rating) = cells.get(2) else {
        return Err(("has no rating: there is no third cell".into(), REMEDY));
    };
    match rating.parse::<f64>() {
        Ok(value) if value.is_finite() => {
            let (user, item) = named(cells, REMEDY)?;
            ratings.pairs.push(user, item);
            ratings.values.push(value);
            Ok(None)
        }
        Ok(_) => Err((format!("the rating `{rating}` is not finite"), REMEDY)),
        Err(_) => Ok(Some((cells[0].to_string(), cells[1].to_string()))),
    }
}

/// Returns the names in the first two cells.
fn named<'c>(
    cells: &'c [Cow<'_, str>],
    remedy: &'static str,
) -> Result<(&'c str, &'c str), Complaint> {
    match cells {
        [user, item, ..] if !user.is_empty() && !item.is_empty() => Ok((user, item)),
        [_, _, ..] => Err(("a user or an item has no name".into(), remedy)),
        _ => Err(("has a single cell, and a pair has two".into(), remedy)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source<'_> {
        Source::from_bytes("ratings", text.as_bytes()).unwrap()
    }

    fn read(text: &str) -> Result<Ratings> {
        Ratings::read(source(text))
    }

    fn names(dictionary: &Dictionary) -> Vec<&str> {
        dictionary.names().collect()
    }

    #[test]
    fn cells_may_be_parted_in_four_ways() {
        for text in [
            "u1 m2 3\nu2   m2 4.5 881250949\n",
            "u1\tm2\t3\t881\n\nu2\tm2\t4.5\n",
            "user,item,rating\nu1,m2,3\nu2, m2 ,4.5,9",
            "u1::m2::3::978300760\nu2::m2::4.5\r\n",
            "\u{feff}u1 m2 3\nu2 m2 45e-1\n",
        ] {
            let Ratings { pairs, values, .. } = read(text).unwrap();
            assert_eq!((names(&pairs.users), names(&pairs.items)), (vec!["u1", "u2"], vec!["m2"]));
            assert_eq!((&pairs.places[..], &values[..]), (&[(0, 0), (1, 0)][..], &[3.0, 4.5][..]));
        }
    }

    #[test]
    fn names_may_hold_what_does_not_part_the_cells() {
        let pairs = read("ann lee\tthe end\t1\nann lee\tthe end, again\t2\n").unwrap().pairs;
        assert_eq!(names(&pairs.users), ["ann lee"]);
        assert_eq!(names(&pairs.items), ["the end", "the end, again"]);
        let pairs = read("a:b::c,d::1\n").unwrap().pairs;
        assert_eq!((names(&pairs.users), names(&pairs.items)), (vec!["a:b"], vec!["c,d"]));
    }

    #[test]
    fn names_may_be_in_quotes() {
        let text = "7,\"Good, Bad\",5\n7, \"say \"\"hi\"\"\" ,\"4\"\n\"7\",plain,3,\"odd\n";
        let Ratings { pairs, values, .. } = read(text).unwrap();
        assert_eq!(names(&pairs.users), ["7"]);
        assert_eq!(names(&pairs.items), ["Good, Bad", "say \"hi\"", "plain"]);
        assert_eq!(values, [5.0, 4.0, 3.0]);
    }

    #[test]
    fn the_same_pair_may_be_rated_twice() {
        let Ratings { pairs, values, .. } = read("a b 1\na b 2\n").unwrap();
        assert_eq!((&pairs.places[..], &values[..]), (&[(0, 0), (0, 0)][..], &[1.0, 2.0][..]));
    }

    #[test]
    fn mistakes_name_the_line() {
        for (text, what) in [
            ("a b\n", "ratings:1: has no rating"),
            ("a b 1\n\na\n", "ratings:3: has no rating"),
            ("a b 1\nc d x\n", "ratings:2: has no number"),
            ("user item rating\nuser item rating\n", "ratings:2: has no number"),
            ("a,b,\n", "ratings: has no ratings"),
            ("a,b,1\na,b,\n", "ratings:2: has no number"),
            ("a b nan\n", "ratings:1: the rating `nan` is not finite"),
            ("a b inf\n", "ratings:1: the rating `inf` is not finite"),
            ("a b 1\na b 1e999\n", "ratings:2: the rating `1e999` is not finite"),
            ("a,,1\n", "ratings:1: a user or an item has no name"),
            ("a,b,1\n,b,1\n", "ratings:2: a user or an item has no name"),
            ("a,\"b,1\n", "ratings:1: a double quote is opened"),
            ("a,\"b\"c,1\n", "ratings:1: something follows"),
            ("", "ratings: has no ratings"),
            ("user item rating\n", "ratings: has no ratings"),
        ] {
            let message = read(text).unwrap_err().to_string();
            assert!(message.starts_with(what), "{message} is not {what}");
        }
    }

    #[test]
    fn pairs_need_no_rating_and_may_have_anything_in_its_place() {
        let pairs = |recipe: &RatingsRecipe, text| {
            let pairs = recipe.read_pairs(source(text)).unwrap();
            names(&pairs.users).join(" ")
        };
        let plain = RatingsRecipe::default();
        assert_eq!(pairs(&plain, "ann tea\nbob tea 5\n"), "ann bob");
        assert_eq!(pairs(&plain, "ann,tea,?\nbob,tea,\n"), "ann bob");
        assert_eq!(pairs(&plain, "user,item,rating\nbob,tea\n"), "bob");
        let (_, recipe) = plain.read(source("user,item,rating\nann,tea,3\n")).unwrap();
        assert_eq!(recipe.header, Some(("user".into(), "item".into())));
        assert_eq!(pairs(&recipe, "user\titem\nbob\ttea\n"), "bob");
        assert_eq!(pairs(&plain, "user\titem\nbob\ttea\n"), "user bob");
        for (text, what) in [
            ("ann\n", "pairs:1: has a single cell"),
            ("ann,\n", "pairs:1: a user or an item has no name"),
            ("", "pairs: has no pairs"),
        ] {
            let source = Source::from_bytes("pairs", text.as_bytes()).unwrap();
            let message = plain.read_pairs(source).unwrap_err().to_string();
            assert!(message.starts_with(what), "{message} is not {what}");
        }
    }

    #[test]
    fn a_split_shares_out_every_rating_once_and_the_seed_decides_how() {
        let text: String = (0..50).map(|i| format!("u{} m{} {i}\n", i % 7, i % 11)).collect();
        let all = read(&text).unwrap();
        let (train, held) = all.split(HeldOut { count: 20, seed: 3 }).unwrap();
        assert_eq!((train.len(), held.len()), (30, 20));
        let mut values: Vec<f64> = train.values.iter().chain(&held.values).copied().collect();
        values.sort_by(f64::total_cmp);
        assert_eq!(values, all.values);
        for part in [&train, &held] {
            assert!(part.values.is_sorted());
            for (&place, &value) in part.pairs.places.iter().zip(&part.values) {
                let i = value as usize;
                let expected = (format!("u{}", i % 7), format!("m{}", i % 11));
                let (user, item) = part.pairs.names(place);
                assert_eq!((user, item), (&expected.0[..], &expected.1[..]));
            }
        }
        let again = |seed| all.split(HeldOut { count: 20, seed }).unwrap().0.values;
        assert_eq!(again(3), train.values);
        assert_ne!(again(4), train.values);
        assert!(all.split(HeldOut { count: 50, seed: 3 }).is_err());
    }
}
