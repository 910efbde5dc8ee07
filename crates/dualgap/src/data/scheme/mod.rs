//! Label schemes: how the chunks of a sentence, such as names or noun phrases, are written as labels of its tokens.
//!
//! ```text
//!            Alex  is  going  to  Los  Angeles  Rams  games
//! bio        B-P   O   O      O   B-L  I-L      B-T   O      IOB2: every chunk begins with B
//! iob1       I-P   O   O      O   I-L  I-L      I-T   O      B only where a chunk follows one of its own type
//! bilou      U-P   O   O      O   B-L  L-L      U-T   O      L ends a chunk, U is one by itself
//! iobes      S-P   O   O      O   B-L  E-L      S-T   O      the same with E and S
//! ```
//!
//! Which label may follow which is a property of pairs, of the first and of the last label ([`Scheme::allows`]), so that a
//! chain can be kept from all others. A file that breaks its scheme here and there has chunks all the same: [`chunks`]
//! reads them as the CoNLL shared tasks do, and [`Scheme::convert`] writes them in any scheme.

mod chunks;
mod file;

pub use chunks::{Chunk, chunks, is_chunk_label};
pub use file::Rewritten;

use super::{Alphabet, Sequences};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// How chunks are written as labels; the module's head has an example of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Scheme {
    /// IOB2.
    Bio,
    /// IOB1.
    Iob1,
    /// Begin, inside, last, outside, unit.
    Bilou,
    /// BILOU with E and S in the place of L and U.
    Iobes,
}

/// The schemes that the labels of a model and of its files have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemeUse {
    /// The scheme that the model is trained in.
    pub model: Scheme,
    /// The scheme of the training file, in which predictions are written; unknown before it is read.
    #[serde(default)]
    pub file: Option<Scheme>,
}

/// The place of a label within its chunk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Outside,
    Begin,
    Inside,
    Last,
    Single,
}

/// What the labels of a data set have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recognised {
    /// The scheme that is broken least often.
    pub scheme: Scheme,
    /// How often it is broken.
    pub mistakes: usize,
    /// The first place where it is: a sequence, and a position, which is its length if it ends too early.
    pub first: Option<(usize, usize)>,
}

impl Scheme {
    /// All schemes. Of two that fit equally well, the earlier one is recognised.
    pub const ALL: [Self; 4] = [Self::Bio, Self::Iob1, Self::Bilou, Self::Iobes];

    /// Returns the name of the scheme.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bio => "BIO",
            Self::Iob1 => "IOB1",
            Self::Bilou => "BILOU",
            Self::Iobes => "IOBES",
        }
    }

    /// Returns the mark and the type of a label, or `None` if it is none of this scheme.
    fn parse(self, label: &str) -> Option<(Mark, &str)> {
        if label == "O" {
            return Some((Mark::Outside, ""));
        }
        let (mark, kind) = label.split_once('-').filter(|(_, kind)| !kind.is_empty())?;
        let mark = match (self, mark) {
            (_, "B") => Mark::Begin,
            (_, "I") => Mark::Inside,
            (Self::Bilou, "L") | (Self::Iobes, "E") => Mark::Last,
            (Self::Bilou, "U") | (Self::Iobes, "S") => Mark::Single,
            _ => return None,
        };
        Some((mark, kind))
    }

    /// Whether a label may follow another: without the first, whether it may begin a sequence; without the second, end it.
    ///
    /// ```
    /// use dualgap::data::Scheme;
    /// assert!(Scheme::Bio.allows(Some("B-NP"), Some("I-NP")));
    /// assert!(!Scheme::Bio.allows(Some("O"), Some("I-NP")));
    /// assert!(!Scheme::Bilou.allows(Some("B-NP"), None));
    /// ```
    pub fn allows(self, before: Option<&str>, next: Option<&str>) -> bool {
        let ends = (Mark::Outside, "");
        let before = before.map_or(Some(ends), |label| self.parse(label));
        let next = next.map_or(Some(ends), |label| self.parse(label));
        let (Some(before), Some(next)) = (before, next) else { return false };
        let open = matches!(before.0, Mark::Begin | Mark::Inside);
        let same = open && before.1 == next.1;
        match self {
            Self::Bio => next.0 != Mark::Inside || same,
            Self::Iob1 => next.0 != Mark::Begin || same,
            Self::Bilou | Self::Iobes => {
                let goes_on = matches!(next.0, Mark::Inside | Mark::Last);
                if open { goes_on && same } else { !goes_on }
            }
        }
    }

    /// Returns the first position whose label may not stand there, or the length if the last one may not be the last.
    pub fn first_mistake<S: AsRef<str>>(self, labels: &[S]) -> Option<usize> {
        self.all_mistakes(labels).next()
    }

    fn all_mistakes<S: AsRef<str>>(self, labels: &[S]) -> impl Iterator<Item = usize> {
        let label = |t: usize| labels.get(t).map(AsRef::as_ref);
        let places = if labels.is_empty() { 0..0 } else { 0..labels.len() + 1 };
        places.filter(move |&t| !self.allows(t.checked_sub(1).and_then(label), label(t)))
    }

    /// Returns the labels of the same chunks in this scheme. The labels may be of any scheme, or break it.
    ///
    /// ```
    /// use dualgap::data::Scheme;
    /// let labels = ["B-NP", "I-NP", "B-VP", "O"];
    /// assert_eq!(Scheme::Bilou.convert(&labels), ["B-NP", "L-NP", "U-VP", "O"]);
    /// assert_eq!(Scheme::Iob1.convert(&labels), ["I-NP", "I-NP", "I-VP", "O"]);
    /// ```
    pub fn convert<S: AsRef<str>>(self, labels: &[S]) -> Vec<String> {
        let mut new = vec!["O".to_string(); labels.len()];
        let mut before: Option<Chunk<'_>> = None;
        for chunk @ (start, end, kind) in chunks(labels) {
            let follows = before.is_some_and(|(_, last, same)| last == start && same == kind);
            for (t, label) in new.iter_mut().enumerate().take(end).skip(start) {
                let (first, last) = (t == start, t + 1 == end);
                let mark = match self {
                    Self::Iob1 if first && follows => 'B',
                    Self::Iob1 => 'I',
                    Self::Bilou if first && last => 'U',
                    Self::Iobes if first && last => 'S',
                    Self::Bilou if last => 'L',
                    Self::Iobes if last => 'E',
                    _ => {
                        if first {
                            'B'
                        } else {
                            'I'
                        }
                    }
                };
                *label = format!("{mark}-{kind}");
            }
            before = Some(chunk);
        }
        new
    }

    /// Recognises the scheme of labelled sequences: the one that they break least often. `None` if their labels are not
    /// those of chunks.
    ///
    /// ```
    /// use dualgap::data::{Scheme, Sequences};
    /// let names = ["B-X", "I-X", "O"].map(String::from);
    /// let data = Sequences::from_dense(&[vec![vec![1.0]; 4]], &[vec![2, 0, 1, 2]], &names)?;
    /// let found = Scheme::recognise(&data).unwrap();
    /// assert_eq!((found.scheme, found.mistakes), (Scheme::Bio, 0));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn recognise(data: &Sequences) -> Option<Recognised> {
        let names = data.alphabet().names();
        let mut used = vec![false; names.len()];
        data.labels().iter().for_each(|&label| used[usize::from(label)] = true);
        let typed = |k: usize| is_chunk_label(&names[k]);
        let mut there = (0..names.len()).filter(|&k| used[k]);
        if !there.clone().all(|k| typed(k) || names[k] == "O") || !there.any(typed) {
            return None;
        }
        let found = Self::ALL.map(|scheme| scheme.mistakes(data));
        found.into_iter().min_by_key(|found| found.mistakes)
    }

    /// Counts how often labelled sequences break the scheme.
    pub fn mistakes(self, data: &Sequences) -> Recognised {
        let names = data.alphabet().names();
        let end = names.len();
        // Every pair of labels is looked up once; the last row and column are the ends of a sequence.
        let label = |k: usize| names.get(k).map(String::as_str);
        let allowed: Vec<bool> = (0..(end + 1) * (end + 1))
            .map(|pair| self.allows(label(pair / (end + 1)), label(pair % (end + 1))))
            .collect();
        let mut found = Recognised { scheme: self, mistakes: 0, first: None };
        for i in 0..data.len() {
            let truth = data.truth(i);
            let mut before = end;
            let labels = truth.iter().map(|&label| usize::from(label)).chain([end]);
            for (t, next) in labels.enumerate().take_while(|_| !truth.is_empty()) {
                if !allowed[before * (end + 1) + next] {
                    found.mistakes += 1;
                    found.first.get_or_insert((i, t));
                }
                before = next;
            }
        }
        found
    }

    /// Describes a place where sequences break the scheme, by its line if they come from a file.
    ///
    /// ```
    /// use dualgap::data::{ColumnRecipe, Scheme, Source};
    /// let text = b"a O\nb I-X\nc I-X\n\nd B-X\n";
    /// let (data, _) = ColumnRecipe::default().read_training(Source::from_bytes("demo", text)?)?;
    /// let found = Scheme::Bio.mistakes(&data);
    /// assert_eq!(Scheme::Bio.describe_mistake(&data, found.first.unwrap()), "line 2: I-X after O is not BIO");
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn describe_mistake(
        self,
        data: &Sequences,
        (sequence, position): (usize, usize),
    ) -> String {
        let truth = data.truth(sequence);
        let name = |t: usize| truth.get(t).map(|&y| &data.alphabet().names()[usize::from(y)][..]);
        let before = position.checked_sub(1).and_then(name);
        let what = match (before, name(position)) {
            (_, Some(label)) if self.parse(label).is_none() => label.to_string(),
            (Some(before), Some(label)) => format!("{label} after {before}"),
            (None, Some(label)) => format!("{label} at the beginning of a sentence"),
            (Some(before), None) => format!("{before} at the end of a sentence"),
            (None, None) => "an empty sentence".into(),
        };
        let last = position.min(truth.len().saturating_sub(1));
        let place = match data.line(data.starts()[sequence] + last) {
            Some(line) => format!("line {line}"),
            None => format!("sequence {}, position {}", sequence + 1, last + 1),
        };
        format!("{place}: {what} is not {}", self.name())
    }
}

impl std::str::FromStr for Scheme {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match &name.to_ascii_lowercase()[..] {
            "bio" | "iob2" => Ok(Self::Bio),
            "iob1" | "iob" => Ok(Self::Iob1),
            "bilou" => Ok(Self::Bilou),
            "iobes" | "bioes" => Ok(Self::Iobes),
            _ => Err(Error::setting(format!(
                "`{name}` is no label scheme: they are bio (iob2), iob1, bilou and iobes (bioes)"
            ))),
        }
    }
}

impl Sequences {
    /// Returns the sequences with the labels of the same chunks in another scheme. Labels that `known` has keep their
    /// numbers there.
    ///
    /// ```
    /// use dualgap::data::{Scheme, Sequences};
    /// let names = ["B-X", "I-X", "O"].map(String::from);
    /// let data = Sequences::from_dense(&[vec![vec![1.0]; 3]], &[vec![0, 1, 2]], &names)?;
    /// let data = data.in_scheme(Scheme::Bilou, None)?;
    /// assert_eq!(data.alphabet().names(), ["B-X", "L-X", "O"]);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn in_scheme(self, scheme: Scheme, known: Option<&Alphabet>) -> Result<Self> {
        if !self.is_labelled() {
            return Ok(self);
        }
        let names = self.alphabet().names();
        let mut labels: Vec<String> = Vec::with_capacity(self.labels().len());
        for i in 0..self.len() {
            let own: Vec<&str> =
                self.truth(i).iter().map(|&y| &names[usize::from(y)][..]).collect();
            labels.extend(scheme.convert(&own));
        }
        let mut distinct = labels.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let alphabet = match known {
            Some(known) => known.extended(distinct),
            None => Alphabet::new(distinct),
        };
        let number = |name: &String| alphabet.index(name).and_then(|k| u16::try_from(k).ok());
        let numbers: Option<Vec<u16>> = labels.iter().map(number).collect();
        let numbers =
            numbers.ok_or_else(|| Error::setting("there are more labels than a chain can have"))?;
        Ok(self.relabelled(numbers, alphabet))
    }
}

#[cfg(test)]
mod tests;
