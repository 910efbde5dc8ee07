//! Ratings: who gave what how many points, one a line, for matrix completion.
//!
//! ```text
//! user item rating        between blanks or tabs, commas, or `::`; whatever follows a rating is left out
//! ```
//!
//! The first line may be a header: it is one if its third cell is no number. Users and items are names, whatever they look
//! like, and get numbers in the order in which they come.

use super::{Dictionary, Source};
use crate::Result;

/// Ratings with the names of those who gave them and of what they gave them to.
#[derive(Clone, Debug, Default)]
pub struct Ratings {
    /// The names of the users.
    pub users: Dictionary,
    /// The names of the items.
    pub items: Dictionary,
    /// The numbers of user and item, a rating each.
    pub places: Vec<(u32, u32)>,
    /// As they stand in the file.
    pub values: Vec<f64>,
}

const REMEDY: &str = "a line is `user item rating`, between blanks, tabs, commas or `::`";

impl Ratings {
    /// Reads a file; see the module's head.
    ///
    /// ```
    /// use dualgap::data::{Source, ratings::Ratings};
    /// let text = b"userId,movieId,rating\nann,7,4.5\nbob,7,3\n";
    /// let ratings = Ratings::read(Source::from_bytes("ratings", text)?)?;
    /// assert_eq!((ratings.users.len(), ratings.items.len()), (2, 1));
    /// assert_eq!((&ratings.places[..], ratings.mean()), (&[(0, 0), (1, 0)][..], 3.75));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn read(mut source: Source<'_>) -> Result<Self> {
        let mut ratings = Self::default();
        let mut first = true;
        while let Some(line) = source.next_line()? {
            let line = line.trim().to_string();
            if line.is_empty() {
                continue;
            }
            let header_is_allowed = std::mem::take(&mut first);
            let cells = cells(&line);
            let [user, item, rating, ..] = cells[..] else {
                let message = format!("{} cells where at least three belong", cells.len());
                return Err(source.error(message, REMEDY));
            };
            if user.is_empty() || item.is_empty() {
                return Err(source.error("a user or an item has no name", REMEDY));
            }
            match rating.parse::<f64>() {
                Ok(value) if value.is_finite() => {
                    let place = (ratings.users.number(user), ratings.items.number(item));
                    ratings.places.push(place);
                    ratings.values.push(value);
                }
                Err(_) if header_is_allowed => {}
                _ => return Err(source.error(format!("`{rating}` is no rating"), REMEDY)),
            }
        }
        if ratings.is_empty() {
            return Err(source.file_error("has no ratings", REMEDY));
        }
        Ok(ratings)
    }

    /// How many ratings.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Of all ratings; zero of none.
    pub fn mean(&self) -> f64 {
        let total = self.values.iter().copied().collect::<crate::linalg::Sum>().total().value;
        total / self.len().max(1) as f64
    }
}

/// The cells of a line. `::` goes before commas and these before blanks, so that names may have blanks where others part them.
fn cells(line: &str) -> Vec<&str> {
    if line.contains("::") {
        line.split("::").map(str::trim).collect()
    } else if line.contains(',') {
        line.split(',').map(str::trim).collect()
    } else if line.contains('\t') {
        line.split('\t').map(str::trim).collect()
    } else {
        line.split_ascii_whitespace().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Ratings> {
        Ratings::read(Source::from_bytes("ratings", text.as_bytes())?)
    }

    #[test]
    fn cells_may_be_parted_in_four_ways() {
        for text in [
            "u1 m2 3\nu2 m2 4.5 881250949\n",
            "u1\tm2\t3\t881\n\nu2\tm2\t4.5\n",
            "user,item,rating\nu1,m2,3\nu2, m2 ,4.5,9",
            "u1::m2::3::978300760\nu2::m2::4.5\r\n",
        ] {
            let Ratings { users, items, places, values } = read(text).unwrap();
            assert_eq!(users.names().collect::<Vec<_>>(), ["u1", "u2"], "{text}");
            assert_eq!(items.names().collect::<Vec<_>>(), ["m2"], "{text}");
            assert_eq!((&places[..], &values[..]), (&[(0, 0), (1, 0)][..], &[3.0, 4.5][..]));
        }
    }

    #[test]
    fn names_may_have_blanks_where_others_part_the_cells() {
        let ratings = read("ann lee\tthe end\t1\nann lee\tthe end, again\t2\n");
        // The second line has a comma, which parts it otherwise.
        assert!(ratings.unwrap_err().to_string().starts_with("ratings:2: "));
        let ratings = read("ann lee\tthe end\t1\n").unwrap();
        assert_eq!(ratings.users.name(0), Some("ann lee"));
    }

    #[test]
    fn mistakes_name_the_line() {
        for (text, what) in [
            ("a b\n", "ratings:1: 2 cells"),
            ("a b 1\nc d x\n", "ratings:2: `x` is no rating"),
            ("user item rating\nuser item rating\n", "ratings:2: `rating` is no rating"),
            ("a b nan\n", "ratings:1: `nan` is no rating"),
            ("a b inf\n", "ratings:1: `inf` is no rating"),
            ("a,,1\n", "ratings:1: a user or an item has no name"),
            ("", "ratings: has no ratings"),
            ("user item rating\n", "ratings: has no ratings"),
        ] {
            let message = read(text).unwrap_err().to_string();
            assert!(message.starts_with(what), "{message} is not {what}");
        }
    }
}
