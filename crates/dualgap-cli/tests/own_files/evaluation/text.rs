//! What `eval` prints for people.

use super::case::Case;
use super::counting::conlleval;
use crate::common::{Dice, number};
use std::collections::BTreeMap;

/// The words of the line that begins with this one.
fn line<'t>(text: &'t str, first: &str) -> Vec<&'t str> {
    let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.find(|words| words.first() == Some(&first)).unwrap_or_else(|| panic!("{first}: {text}"))
}

/// Whether a word is this number, up to its last digit.
#[track_caller]
fn rounds(word: &str, number: f64) {
    let told: f64 = word.trim_matches(['(', ')', ',', ';']).parse().unwrap();
    assert!((told - number).abs() < 0.005 + 1e-9, "{word} {number}");
}

#[test]
fn the_text_has_the_same_numbers_rounded() {
    for case in [Case::confused(), Case::hasty()] {
        let text = case.desk.run("eval model test.txt").ok().stdout;
        let told = |field| number(&case.told, field);
        let words = line(&text, "accuracy");
        rounds(words[1], 100.0 * told("accuracy"));
        assert_eq!(words[4], case.told["labels"].to_string());
        let words = line(&text, "sequences");
        rounds(words[1], 100.0 * (1.0 - told("sequence_error")));
        assert_eq!(words[4], case.told["examples"].to_string());
        let words = line(&text, "hamming");
        rounds(words[1], told("hamming"));
        rounds(words[6], told("normalized_hamming"));
        let [precision, recall, f1] = case.overall().scores();
        // chunk F1 … (precision …, recall …)
        let words = text.lines().find(|line| line.trim().starts_with("chunk F1")).unwrap();
        let words: Vec<&str> = words.split_whitespace().collect();
        rounds(words[2], 100.0 * f1);
        rounds(words[4], 100.0 * precision);
        rounds(words[6], 100.0 * recall);
        let [truth, predicted] = case.labels();
        for (name, tally) in conlleval(&truth, &predicted).into_iter().chain(case.by_label()) {
            let words = line(&text, &name);
            tally.scores().iter().zip(&words[1..]).for_each(|(x, word)| rounds(word, 100.0 * x));
            assert_eq!(words[4], tally.truth.to_string());
        }
    }
}

#[test]
fn a_small_confusion_matrix_is_shown_whole() {
    let case = Case::confused();
    let text = case.desk.run("eval model test.txt").ok().stdout;
    let (_, matrix) = text.split_once("truth in rows, prediction in columns\n").unwrap();
    let mut lines = matrix.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let names = lines.next().unwrap();
    assert_eq!(names, case.by_label().keys().collect::<Vec<_>>());
    let counted = case.confusions();
    for (truth, words) in names.iter().zip(lines) {
        let row = names.iter().map(|name| counted.get(&(truth, name)).unwrap_or(&0).to_string());
        assert_eq!(words[0], *truth);
        assert_eq!(words[1..], row.collect::<Vec<_>>());
    }
}

#[test]
fn of_a_large_one_the_most_frequent_mistakes_are_shown() {
    let mut dice = Dice(3);
    let mut text = |astray: bool| -> String {
        let line = |_| {
            let word = dice.below(20);
            let label = if astray && dice.below(3) == 0 { dice.below(6) } else { word };
            format!("w{word} l{label}\n\n")
        };
        (0..600).map(line).collect()
    };
    let case = Case::new(text(false), text(true), "--passes 5");
    assert!(case.told.get("chunks").is_none(), "no chunks without labels of chunks");
    let shown = case.desk.run("eval model test.txt").ok().stdout;
    let (_, list) = shown.split_once("mistakes, truth → prediction\n").unwrap();
    let mistakes: BTreeMap<(&str, &str), usize> =
        case.confusions().into_iter().filter(|((a, b), _)| a != b).collect();
    let mut counts: Vec<usize> = mistakes.values().copied().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let mut told = Vec::new();
    for line in list.lines().filter(|line| line.contains('→')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let n: usize = words[3].parse().unwrap();
        assert_eq!(mistakes[&(words[0], words[2])], n, "{line}");
        told.push(n);
    }
    assert!(!told.is_empty() && told.len() < counts.len());
    assert_eq!(told, counts[..told.len()]);
    let rest = format!("and {} rarer ones", counts.len() - told.len());
    assert!(list.contains(&rest), "{rest}: {list}");
}
