//! Small sentences: a word, a tag and a chunk label in every line.

use crate::common::Dice;

/// Words by their tag.
const WORDS: [(&str, &[&str]); 5] = [
    ("DT", &["the", "The", "a", "every"]),
    ("JJ", &["old", "green", "7th"]),
    ("NN", &["dog", "cat", "Übung", "tree", "river"]),
    ("VB", &["sees", "likes", "runs"]),
    ("IN", &["in", "of", "near"]),
];

/// Which tags may follow a tag, the first of a sentence among them.
fn next(tag: &str) -> &'static [&'static str] {
    match tag {
        "DT" => &["JJ", "NN"],
        "JJ" => &["JJ", "NN", "NN"],
        "NN" => &["VB", "IN", "DT"],
        "VB" => &["VB", "DT", "NN", "IN"],
        _ => &["DT", "NN"],
    }
}

/// A noun phrase begins with its determiner, or where no noun phrase was; so do verbs, and prepositions
/// are outside.
fn label(before: &str, tag: &str) -> &'static str {
    match (before, tag) {
        (_, "IN") => "O",
        ("VB", "VB") => "I-VP",
        (_, "VB") => "B-VP",
        ("DT" | "JJ", _) => "I-NP",
        _ => "B-NP",
    }
}

/// Word, tag and label.
pub type Token = [&'static str; 3];

#[derive(Clone)]
pub struct Sentences(pub Vec<Vec<Token>>);

impl Sentences {
    /// One to eight tokens each.
    pub fn new(n: usize, seed: u64) -> Self {
        let mut dice = Dice(seed);
        let sentence = |i: usize| {
            let mut before = "";
            let token = |_| {
                let tags = next(before);
                let tag = tags[dice.below(tags.len())];
                let words = WORDS.iter().find(|(name, _)| *name == tag).unwrap().1;
                let token = [words[dice.below(words.len())], tag, label(before, tag)];
                before = tag;
                token
            };
            (0..=i % 8).map(token).collect()
        };
        Self((0..n).map(sentence).collect())
    }

    /// As a file of the first `columns` columns.
    pub fn text(&self, columns: usize, separator: &str) -> String {
        let line = |token: &Token| token[..columns].join(separator) + "\n";
        self.0.iter().map(|sentence| sentence.iter().map(line).collect::<String>() + "\n").collect()
    }

    /// Words, tags and labels with a space between them.
    pub fn labelled(&self) -> String {
        self.text(3, " ")
    }
}
