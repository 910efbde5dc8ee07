//! Models that make mistakes, what `eval` says of them, and what is counted.

use super::counting::{Tally, conlleval};
use crate::common::{Desk, Dice};
use crate::own_files::sentences::Sentences;
use crate::own_files::{cells, column};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Every word has its own label, in no order: so predictions have chunks that begin with I, and types
/// that change within. Of the truth every fifth label or so is another one, two of which the training
/// data lack.
pub fn confused(n: usize, seed: u64, astray: bool) -> String {
    const WORDS: [(&str, &str); 5] =
        [("b", "B-NP"), ("i", "I-NP"), ("v", "B-VP"), ("w", "I-VP"), ("o", "O")];
    const ASTRAY: [&str; 7] = ["B-NP", "I-NP", "B-VP", "I-VP", "O", "B-PP", "I-PP"];
    let mut dice = Dice(seed);
    let mut text = String::new();
    for i in 0..n {
        for _ in 0..=i % 9 {
            let (word, label) = WORDS[dice.below(5)];
            let other = ASTRAY[dice.below(7)];
            let label = if astray && dice.below(5) == 0 { other } else { label };
            let _ = writeln!(text, "{word} {label}");
        }
        text.push('\n');
    }
    text
}

/// What was evaluated, what `eval --json` said, and the file that `predict` wrote.
pub struct Case {
    pub desk: Desk,
    pub told: Value,
    output: String,
}

impl Case {
    pub fn new(train: String, test: String, options: &str) -> Self {
        let desk = Desk::new();
        desk.write("train.txt", train);
        desk.write("test.txt", test);
        desk.train(&format!("chain train.txt {options} -o model"));
        let told = desk.run("eval model test.txt --json").ok().json();
        let output = desk.run("predict model test.txt").ok().stdout;
        Self { desk, told, output }
    }

    pub fn confused() -> Self {
        Self::new(confused(150, 1, false), confused(150, 2, true), "--passes 20")
    }

    /// Sentences with rules of which little was learnt.
    pub fn hasty() -> Self {
        let (train, test) = (Sentences::new(9, 1), Sentences::new(50, 2));
        Self::new(train.labelled(), test.labelled(), "--passes 1 --tolerance 0 --min-count 2")
    }

    /// The truth and the predictions.
    pub fn labels(&self) -> [Vec<Vec<&str>>; 2] {
        let width = cells(&self.output)[0][0].len();
        [width - 2, width - 1].map(|k| column(&self.output, k))
    }

    /// Sentence after sentence: how many labels are wrong, of how many.
    pub fn mistakes(&self) -> Vec<(usize, usize)> {
        let [truth, predicted] = self.labels();
        let sentences = truth.iter().zip(&predicted);
        let count = |(truth, predicted): (&Vec<&str>, &Vec<&str>)| {
            let wrong = truth.iter().zip(predicted).filter(|(a, b)| a != b).count();
            (wrong, truth.len())
        };
        sentences.map(count).collect()
    }

    pub fn by_label(&self) -> BTreeMap<String, Tally> {
        let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
        let [truth, predicted] = self.labels();
        for (truth, predicted) in truth.concat().into_iter().zip(predicted.concat()) {
            tallies.entry(truth.into()).or_default().truth += 1;
            tallies.entry(predicted.into()).or_default().predicted += 1;
            tallies.entry(truth.into()).or_default().right += usize::from(truth == predicted);
        }
        tallies
    }

    pub fn confusions(&self) -> BTreeMap<(&str, &str), usize> {
        let [truth, predicted] = self.labels();
        let mut counts = BTreeMap::new();
        for pair in truth.concat().into_iter().zip(predicted.concat()) {
            *counts.entry(pair).or_default() += 1;
        }
        counts
    }

    pub fn overall(&self) -> Tally {
        let [truth, predicted] = self.labels();
        conlleval(&truth, &predicted).values().fold(Tally::default(), |sum, one| Tally {
            truth: sum.truth + one.truth,
            predicted: sum.predicted + one.predicted,
            right: sum.right + one.right,
        })
    }
}
