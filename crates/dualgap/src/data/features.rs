//! From columns to rows: feature strings are made by templates, counted, and given numbers.
//!
//! Sentences are read in portions. A portion is split into parts of a fixed size whose features are made and
//! numbered in parallel, and the parts are then put together in order: the numbers are those of first
//! occurrence in the file, whatever the number of threads. The text itself is dropped portion by portion.

use super::columns::{ColumnReader, Sentence};
use super::templates::{Pad, Templates};
use super::{Alphabet, Sequences, Source};
use crate::linalg::Rows;
use crate::{Error, Result};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// How columns become features.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnRecipe {
    /// The templates as text, see [`super::templates`].
    pub templates: String,
    /// What stands in for tokens outside the sentence.
    pub pad: Pad,
    /// Features that occur less often in the training data are left out.
    pub min_count: u32,
}

/// The features of Lacoste-Julien et al. (2013) for CoNLL-2000: words in lower case and parts of speech.
const PAPER_CONLL2000: &str = "\
U00:%lower[-2,0]
U01:%lower[-1,0]
U02:%lower[0,0]
U03:%lower[1,0]
U04:%lower[2,0]
U05:%lower[-1,0]|%lower[0,0]
U06:%lower[0,0]|%lower[1,0]
U10:%x[-2,1]
U11:%x[-1,1]
U12:%x[0,1]
U13:%x[1,1]
U14:%x[2,1]
U15:%x[-2,1]|%x[-1,1]
U16:%x[-1,1]|%x[0,1]
U17:%x[0,1]|%x[1,1]
U18:%x[1,1]|%x[2,1]
U20:%x[-2,1]|%x[-1,1]|%x[0,1]
U21:%x[-1,1]|%x[0,1]|%x[1,1]
U22:%x[0,1]|%x[1,1]|%x[2,1]
U99:
B
";

impl ColumnRecipe {
    /// The preset of this name.
    pub fn preset(name: &str) -> Option<Self> {
        (name == "paper-conll2000").then(|| Self {
            templates: PAPER_CONLL2000.into(),
            pad: Pad::One,
            min_count: 3,
        })
    }

    /// Reasonable features for a file with so many columns, the last of which is the label: words around,
    /// their shape and affixes, and the other columns around.
    pub fn standard(columns: usize) -> Self {
        let mut templates = String::new();
        let mut add = |name: &str, body: &str| {
            templates.extend(["U", name, ":", body, "\n"]);
        };
        for offset in -2..=2 {
            add(&format!("w{offset}"), &format!("%lower[{offset},0]"));
        }
        add("w-1w0", "%lower[-1,0]|%lower[0,0]");
        add("w0w1", "%lower[0,0]|%lower[1,0]");
        add("form", "%x[0,0]");
        for offset in -1..=1 {
            add(&format!("shape{offset}"), &format!("%shape[{offset},0]"));
        }
        for n in 1..=4 {
            add(&format!("prefix{n}"), &format!("%prefix{n}[0,0]"));
            add(&format!("suffix{n}"), &format!("%suffix{n}[0,0]"));
        }
        for c in 1..columns.saturating_sub(1) {
            for offset in -2..=2 {
                add(&format!("c{c}.{offset}"), &format!("%x[{offset},{c}]"));
            }
            for offset in -2..=1 {
                let next = offset + 1;
                add(&format!("c{c}.{offset}{next}"), &format!("%x[{offset},{c}]|%x[{next},{c}]"));
            }
            add(&format!("c{c}.tri"), &format!("%x[-1,{c}]|%x[0,{c}]|%x[1,{c}]"));
        }
        add("bias", "");
        templates.push_str("B\n");
        Self { templates, pad: Pad::ByDistance, min_count: 1 }
    }

    fn parse(&self) -> Result<Templates> {
        Templates::parse(&self.templates).map_err(|(line, message)| Error::Line {
            file: "the templates".into(),
            line,
            message,
            remedy: "a template is a line such as U00:%x[0,0]".into(),
        })
    }
}

/// Names of features and their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dictionary {
    names: Vec<String>,
    numbers: FxHashMap<String, u32>,
}

impl Dictionary {
    /// How many features there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// In order of their numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of a feature.
    pub fn index(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.into());
        self.numbers.insert(name.into(), number);
        number
    }
}

/// In the given order.
impl From<Vec<String>> for Dictionary {
    fn from(names: Vec<String>) -> Self {
        let numbers = names.iter().enumerate().map(|(k, name)| (name.clone(), k as u32)).collect();
        Self { names, numbers }
    }
}

/// A data set and what its features are called.
#[derive(Clone, Debug)]
pub struct Extracted {
    /// The sentences as sequences of rows.
    pub sequences: Sequences,
    /// The names of the features.
    pub dictionary: Dictionary,
}

/// Sentences of one part, with features numbered within it.
#[derive(Default)]
struct Part {
    dictionary: Dictionary,
    /// Token after token: how many features it has, then which.
    features: Vec<u32>,
    labels: Vec<String>,
    lengths: Vec<usize>,
}

/// Sentences of a part: enough that few features are new in the next one.
const PART: usize = 1000;

/// Sentences that are in memory as text at the same time.
const PORTION: usize = 8 * PART;

/// Reads training data: the last column is the label.
///
/// ```
/// use dualgap::data::{ColumnRecipe, Source, features::read_training};
/// let text = b"He PRP B-NP\nruns VBZ B-VP\n\nShe PRP B-NP\nruns VBZ B-VP\n";
/// let recipe = ColumnRecipe::standard(3);
/// let training = read_training(Source::from_bytes("demo", text), &recipe)?;
/// assert_eq!(training.sequences.len(), 2);
/// assert!(training.dictionary.index("Uw0:runs").is_some());
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn read_training(source: Source<'_>, recipe: &ColumnRecipe) -> Result<Extracted> {
    let templates = recipe.parse()?;
    let mut all = Part::default();
    let mut counts: Vec<u32> = Vec::new();
    for_each_portion(source, &templates, |sentences| {
        let make = |part: &[Sentence]| extract(part, &templates, recipe.pad, None);
        let parts: Vec<Part> = sentences.par_chunks(PART).map(make).collect();
        for part in parts {
            let numbers: Vec<u32> =
                part.dictionary.names.iter().map(|name| all.dictionary.number(name)).collect();
            counts.resize(all.dictionary.len(), 0);
            for token in tokens(&part.features) {
                all.features.push(token.len() as u32);
                for &feature in token {
                    let number = numbers[feature as usize];
                    counts[number as usize] += 1;
                    all.features.push(number);
                }
            }
            all.labels.extend(part.labels);
            all.lengths.extend(part.lengths);
        }
        Ok(())
    })?;
    // What is too rare goes, and the rest moves up.
    let mut kept = Vec::new();
    let new: Vec<Option<u32>> = std::mem::take(&mut all.dictionary.names)
        .into_iter()
        .zip(&counts)
        .map(|(name, &count)| {
            (count >= recipe.min_count).then(|| {
                kept.push(name);
                kept.len() as u32 - 1
            })
        })
        .collect();
    let alphabet = Alphabet::new(distinct(&all.labels));
    let sequences = assemble(&all, alphabet, kept.len(), |feature| new[feature as usize])?;
    Ok(Extracted { sequences, dictionary: Dictionary::from(kept) })
}

/// Reads other data with the features and labels of a training set. Features it does not have are left out;
/// labels it does not have are put behind those it has.
pub fn read_known(
    source: Source<'_>,
    recipe: &ColumnRecipe,
    dictionary: &Dictionary,
    alphabet: &Alphabet,
) -> Result<Sequences> {
    let templates = recipe.parse()?;
    let mut all = Part::default();
    for_each_portion(source, &templates, |sentences| {
        let make = |part: &[Sentence]| extract(part, &templates, recipe.pad, Some(dictionary));
        for part in sentences.par_chunks(PART).map(make).collect::<Vec<Part>>() {
            all.features.extend(part.features);
            all.labels.extend(part.labels);
            all.lengths.extend(part.lengths);
        }
        Ok(())
    })?;
    let unknown = distinct(&all.labels).filter(|label| alphabet.index(label).is_none());
    let names: Vec<String> = alphabet.names().iter().cloned().chain(unknown).collect();
    assemble(&all, Alphabet::from(names), dictionary.len(), Some)
}

fn distinct(labels: &[String]) -> impl Iterator<Item = String> + '_ {
    labels.iter().collect::<std::collections::BTreeSet<_>>().into_iter().cloned()
}

/// The features of token after token.
fn tokens(features: &[u32]) -> impl Iterator<Item = &[u32]> {
    let mut rest = features;
    std::iter::from_fn(move || {
        let (&count, after) = rest.split_first()?;
        let (token, after) = after.split_at(count as usize);
        rest = after;
        Some(token)
    })
}

/// Reads portion by portion.
fn for_each_portion(
    source: Source<'_>,
    templates: &Templates,
    mut take: impl FnMut(&[Sentence]) -> Result<()>,
) -> Result<()> {
    let mut reader = ColumnReader::new(source);
    let mut portion = Vec::new();
    let mut any = false;
    loop {
        let sentence = reader.next_sentence()?;
        let ended = sentence.is_none();
        if let Some(sentence) = sentence {
            let needed = templates.columns() + 1; // and the label
            if !any && sentence.width() < needed {
                return Err(reader.source().file_error(
                    format!("has {} columns, and {needed} are needed", sentence.width()),
                    "the templates name the columns from 0 on; the label comes last",
                ));
            }
            any = true;
            portion.push(sentence);
        }
        if portion.len() == PORTION || ended {
            take(&portion)?;
            portion.clear();
        }
        if ended {
            break;
        }
    }
    if any {
        return Ok(());
    }
    Err(reader.source().file_error(
        "has no sentences",
        "a column file has one token a line and an empty line after each sentence",
    ))
}

/// Makes the features of a part. With a dictionary, only those that it knows.
fn extract(
    sentences: &[Sentence],
    templates: &Templates,
    pad: Pad,
    known: Option<&Dictionary>,
) -> Part {
    let mut part = Part::default();
    let mut buffer = String::new();
    for sentence in sentences {
        for t in 0..sentence.len() {
            let count = part.features.len();
            part.features.push(0);
            let Part { dictionary, features, .. } = &mut part;
            templates.features(sentence, t, pad, &mut buffer, |feature| match known {
                None => features.push(dictionary.number(feature)),
                Some(known) => features.extend(known.index(feature)),
            });
            features[count] = (features.len() - count - 1) as u32;
            part.labels.push(sentence.cell(t, sentence.width() - 1).into());
        }
        part.lengths.push(sentence.len());
    }
    part
}

/// Rows of the features that have a number, and labels by the alphabet.
fn assemble(
    part: &Part,
    alphabet: Alphabet,
    width: usize,
    number: impl Fn(u32) -> Option<u32>,
) -> Result<Sequences> {
    let mut rows = Rows::sparse();
    let mut row: Vec<(u32, f64)> = Vec::new();
    for token in tokens(&part.features) {
        row.clear();
        row.extend(token.iter().filter_map(|&feature| number(feature)).map(|j| (j, 1.0)));
        row.sort_unstable_by_key(|&(j, _)| j);
        // A feature that two templates make counts twice.
        row.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            kept.1 += if same { later.1 } else { 0.0 };
            same
        });
        rows.push_sparse(&row);
    }
    rows.fit_width(width);
    let labels = part
        .labels
        .iter()
        .map(|label| alphabet.index(label).and_then(|k| u16::try_from(k).ok()))
        .collect::<Option<Vec<u16>>>()
        .ok_or_else(|| Error::setting("there are more labels than a chain can have"))?;
    let mut starts = vec![0];
    starts.extend(part.lengths.iter().scan(0, |end, length| {
        *end += length;
        Some(*end)
    }));
    Sequences::new(rows, labels, starts, alphabet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    const TEXT: &str = "The DT B\ndog NN I\nruns VB O\n\nthe DT B\ncat NN I\n\nRun VB O\n";

    fn source(text: &str) -> Source<'_> {
        Source::from_bytes("columns", text.as_bytes())
    }

    fn recipe(min_count: u32) -> ColumnRecipe {
        let templates = "U0:%lower[0,0]\nU1:%x[-1,1]|%x[0,1]\nU2:\n".into();
        ColumnRecipe { templates, pad: Pad::One, min_count }
    }

    /// The features of every token, written out by hand for the templates above.
    fn by_hand() -> Vec<[String; 3]> {
        let mut all = Vec::new();
        for sentence in TEXT.split("\n\n") {
            let mut before = "_PAD";
            for line in sentence.lines() {
                let cells: Vec<&str> = line.split(' ').collect();
                all.push([
                    format!("U0:{}", cells[0].to_lowercase()),
                    format!("U1:{before}|{}", cells[1]),
                    "U2:".to_string(),
                ]);
                before = cells[1];
            }
        }
        all
    }

    #[test]
    fn rows_have_the_features_that_occur_often_enough() {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        by_hand().into_iter().flatten().for_each(|name| *counts.entry(name).or_default() += 1);
        for min_count in 1..4 {
            let Extracted { sequences, dictionary } =
                read_training(source(TEXT), &recipe(min_count)).unwrap();
            let frequent: BTreeSet<&String> =
                counts.iter().filter(|(_, n)| **n >= min_count).map(|(name, _)| name).collect();
            assert_eq!(dictionary.names().iter().collect::<BTreeSet<_>>(), frequent);
            assert_eq!(sequences.rows.width(), frequent.len());
            for (t, expected) in by_hand().iter().enumerate() {
                let found: BTreeSet<&String> = sequences
                    .rows
                    .row(t)
                    .iter()
                    .map(|(j, x)| {
                        assert_eq!(x, 1.0);
                        &dictionary.names()[j]
                    })
                    .collect();
                let kept = expected.iter().filter(|name| frequent.contains(name)).collect();
                assert_eq!(found, kept);
            }
        }
    }

    #[test]
    fn known_features_keep_their_numbers_and_new_labels_come_last() {
        let training = read_training(source(TEXT), &recipe(1)).unwrap();
        let Extracted { sequences, dictionary } = &training;
        let again = read_known(source(TEXT), &recipe(1), dictionary, &sequences.alphabet).unwrap();
        assert_eq!(again, *sequences);
        let other = "A XX NEW\n";
        let data = read_known(source(other), &recipe(1), dictionary, &sequences.alphabet).unwrap();
        assert_eq!(data.alphabet.names()[data.labels[0] as usize], "NEW");
        assert_eq!(data.alphabet.names()[..3], *sequences.alphabet.names());
        let row: Vec<_> = data.rows.row(0).iter().map(|(j, _)| &dictionary.names()[j]).collect();
        assert_eq!(row, ["U2:"]);
    }

    #[test]
    fn too_few_columns_and_bad_templates_are_told() {
        let error = read_training(source("a b\n"), &recipe(1)).unwrap_err().to_string();
        assert!(error.contains("has 2 columns, and 3 are needed"), "{error}");
        let bad = ColumnRecipe { templates: "U0:%z[0,0]".into(), ..recipe(1) };
        assert!(read_training(source(TEXT), &bad).unwrap_err().to_string().contains("%z[0,0]"));
        assert!(read_training(source("\n"), &recipe(1)).is_err());
    }

    #[test]
    fn the_presets_can_be_used() {
        let preset = ColumnRecipe::preset("paper-conll2000").unwrap();
        assert_eq!(preset.parse().unwrap().len(), 20); // 19 templates and a constant
        assert!(ColumnRecipe::preset("no such preset").is_none());
        for columns in 2..5 {
            let templates = ColumnRecipe::standard(columns).parse().unwrap();
            assert_eq!(templates.columns(), columns - 1);
        }
    }
}
