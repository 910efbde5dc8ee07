//! Which features a file has: those that a person finds who reads it.

use crate::common::Desk;
use crate::own_files::exported::Exported;
use crate::own_files::sentences::{Sentences, Token};
use std::collections::{BTreeMap, BTreeSet};

/// Words in capitals, with a hyphen and a digit, and with a letter of two bytes.
const TEXT: &str = "\
The DT B-NP
dog NN I-NP
barks VB O

the DT B-NP
Öl-7 NN I-NP
";

const TEMPLATES: &str = "\
# a comment, and then a blank line

U0:%x[0,0]
U1:%lower[-1,0]
U2:%shape[0,0]
U3:%prefix2[0,0]
U4:%suffix4[0,0]
U5:%x[0,1]/%x[1,1]
U6:
B
";

/// The features that the model has weights for must be these and no others. So much regularisation
/// leaves every example on the wrong side of the margin, and none of its features without a weight.
#[track_caller]
fn has(options: &str, expected: &str) {
    let desk = Desk::new();
    desk.write("train.txt", TEXT);
    desk.write("templates", TEMPLATES);
    let line = "chain train.txt --features templates --lambda 10 --passes 3 --tolerance 0 -o model";
    desk.train(&format!("{line} {options}"));
    let expected: BTreeSet<String> = expected.split_whitespace().map(String::from).collect();
    assert_eq!(Exported::of(&desk, "model").features("feature"), expected);
    let json = desk.run("inspect model --json").ok().json();
    assert_eq!(json["features"], expected.len());
    assert_eq!(json["pair_features"], 0);
    assert_eq!(json["labels"], serde_json::json!(["B-NP", "I-NP", "O"]));
}

#[test]
fn every_template_makes_a_feature_of_every_token() {
    has(
        "",
        // The look of dog, barks and the is the same, and affixes are of characters, not of bytes.
        "U0:The U0:dog U0:barks U0:the U0:Öl-7
         U1:_B-1 U1:the U1:dog
         U2:Xxx U2:xx U2:Xx-0
         U3:Th U3:do U3:ba U3:th U3:Öl
         U4: U4:arks U4:Öl-7
         U5:DT/NN U5:NN/VB U5:VB/_B+1 U5:NN/_B+1
         U6:",
    );
}

#[test]
fn rare_features_are_left_out() {
    has("--min-count 2", "U1:_B-1 U1:the U2:xx U4: U5:DT/NN U6:");
    has("--min-count 3", "U2:xx U4: U6:");
    has("--min-count 5", "U6:");
    let desk = Desk::new();
    desk.write("train.txt", TEXT);
    desk.write("templates", TEMPLATES);
    let run = desk.run("train chain train.txt --features templates --min-count 6");
    run.fails(&["train.txt", "no feature occurs 6 times", "--min-count"]);
}

#[test]
fn lower_case_is_for_all_cells_but_their_shape() {
    has(
        "--lowercase",
        "U0:the U0:dog U0:barks U0:öl-7
         U1:_B-1 U1:the U1:dog
         U2:Xxx U2:xx U2:Xx-0
         U3:th U3:do U3:ba U3:öl
         U4: U4:arks U4:öl-7
         U5:dt/nn U5:nn/vb U5:vb/_B+1 U5:nn/_B+1
         U6:",
    );
}

#[test]
fn counts_are_of_cells_in_lower_case_if_that_is_how_they_are_seen() {
    has("--lowercase --min-count 2", "U0:the U1:_B-1 U1:the U2:xx U3:th U4: U5:dt/nn U6:");
}

/// What stands so many tokens behind this one or before it, in the sentence or outside.
fn cell(sentence: &[Token], t: usize, offset: isize, column: usize) -> String {
    match t.checked_add_signed(offset) {
        None => format!("_B-{}", offset.unsigned_abs() - t),
        Some(at) if at >= sentence.len() => format!("_B+{}", at - sentence.len() + 1),
        Some(at) => sentence[at][column].into(),
    }
}

#[test]
fn a_longer_file_has_as_many_features_as_are_counted_in_it() {
    let (desk, sentences) = (Desk::new(), Sentences::new(80, 5));
    desk.write("train.txt", sentences.labelled());
    desk.write("templates", "Ua:%x[-2,0]\nUb:%x[-1,1]|%x[0,0]|%x[2,1]\nUc:%lower[1,0]\n");
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for sentence in &sentences.0 {
        for t in 0..sentence.len() {
            let word = |offset| cell(sentence, t, offset, 0);
            let tag = |offset| cell(sentence, t, offset, 1);
            let next = word(1);
            let next = if next.starts_with('_') { next } else { next.to_lowercase() };
            let both = format!("Ub:{}|{}|{}", tag(-1), word(0), tag(2));
            for name in [format!("Ua:{}", word(-2)), both, format!("Uc:{next}")] {
                *counts.entry(name).or_default() += 1;
            }
        }
    }
    for least in [1, 2, 5, 20] {
        let line = format!("chain train.txt --features templates --min-count {least} --passes 2");
        desk.train(&format!("{line} --tolerance 0 -o model"));
        let kept: BTreeSet<String> =
            counts.iter().filter(|&(_, &n)| n >= least).map(|(name, _)| name.clone()).collect();
        let json = desk.run("inspect model --json").ok().json();
        assert_eq!(json["features"], kept.len(), "{least}");
        assert!(Exported::of(&desk, "model").features("feature").is_subset(&kept), "{least}");
    }
}

#[test]
fn the_file_of_templates_is_not_needed_any_more_once_a_model_is_there() {
    let desk = Desk::new();
    desk.write("train.txt", TEXT);
    desk.write("templates", TEMPLATES);
    desk.train("chain train.txt --features templates --witness -o model");
    std::fs::remove_file(desk.path("templates")).unwrap();
    desk.run("predict model train.txt").ok();
    desk.run("eval model train.txt").ok();
    assert_eq!(desk.certify("model", "train.txt")["dual_proved"], true);
}

#[test]
fn the_features_of_the_paper_leave_out_what_occurs_less_than_three_times() {
    let desk = Desk::new();
    desk.write("train.txt", format!("{TEXT}\n{TEXT}"));
    desk.train("chain train.txt --features paper-conll2000 --lambda 10 --passes 3 -o model");
    let features = Exported::of(&desk, "model").features("feature");
    // Four times the word "the" in lower case, and no other word; four times DT, and NN.
    assert!(features.contains("U02:the") && features.contains("U12:DT"), "{features:?}");
    assert!(features.contains("U12:NN") && features.contains("U16:DT|NN"), "{features:?}");
    assert!(features.contains("U11:_PAD") && features.contains("U99:"), "{features:?}");
    assert!(!features.contains("U02:dog") && !features.contains("U12:VB"), "{features:?}");
    let words = features.iter().filter(|name| name.starts_with("U02:"));
    assert_eq!(words.collect::<Vec<_>>(), ["U02:the"]);
}

#[test]
fn features_are_counted_in_the_whole_file_however_long() {
    let desk = Desk::new();
    // Sentences of one token, one in seven hundred of which is rare.
    let word = |i: usize| match i % 700 {
        0 => "rare b",
        i if i % 2 == 0 => "even a",
        _ => "odd b",
    };
    desk.write("train.txt", (0..10_000).map(|i| format!("{}\n\n", word(i))).collect::<String>());
    desk.write("templates", "U0:%x[0,0]\n");
    let times = (0..10_000).step_by(700).count();
    for (least, features) in [(times, 3), (times + 1, 2)] {
        let line = format!("chain train.txt --features templates --min-count {least}");
        desk.train(&format!("{line} --passes 1 --tolerance 0 -o model"));
        assert_eq!(desk.run("inspect model --json").ok().json()["features"], features);
    }
}
