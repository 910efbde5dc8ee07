//! Small models: what `compress` claims is what `certify` proves.

use crate::common::forge::ModelFile;
use crate::common::{Desk, Dice, Table, number};
use std::fmt::Write;

/// Sentences of many words, so that the model has thousands of features.
fn sentences() -> String {
    let mut dice = Dice(5);
    let mut text = String::new();
    for _ in 0..120 {
        for _ in 0..5 {
            let (word, label) = (dice.below(700), ["B-X", "I-X", "O"][dice.below(3)]);
            let _ = writeln!(text, "w{word:03}{} {label}", ["a", "b"][word % 2]);
        }
        text.push('\n');
    }
    text
}

#[test]
fn what_is_claimed_of_a_small_model_is_proved_from_the_file() {
    let desk = Desk::new();
    desk.write("train.txt", sentences());
    for (line, itself) in [("", false), ("--loss log", true)] {
        desk.train(&format!(
            "chain train.txt {line} --lambda 2/n --tolerance 0.01 --witness -o model"
        ));
        for (bits, keep) in [(8, 0.99), (16, 0.999), (32, 0.9), (64, 0.99), (8, 1.0)] {
            let line = format!("compress model train.txt --bits {bits} --keep {keep} --json -o");
            let told = desk.run(&format!("{line} small --witness")).ok().json();
            let (before, after) = (&told["before"], &told["after"]);
            assert!(bits > 16 || number(after, "bytes") < number(before, "bytes"), "{told}");
            assert!(number(after, "nonzero_weights") <= number(before, "nonzero_weights"));
            assert_eq!(number(after, "dual"), number(before, "dual"));
            let proved = desk.certify("small", "train.txt");
            assert_eq!(proved["certified"], true);
            for name in ["primal", "dual", "gap_bound"] {
                assert_eq!(number(&proved, name), number(after, name), "{name} {bits} {keep}");
            }
            // Without its witness the file needs that of the first model, unless it proves itself.
            desk.run(&format!("{line} bare")).ok();
            assert!(desk.read("bare").len() < desk.read("small").len());
            let bare = desk.run("certify bare train.txt --json").exits(i32::from(!itself)).json();
            assert_eq!(number(&bare, "primal"), number(after, "primal"));
            if itself {
                let run = desk.run("certify bare train.txt --witness model");
                run.refuses(&["proves itself"]);
            } else {
                let lent = desk.run("certify bare train.txt --witness model --json").ok().json();
                assert_eq!(number(&lent, "gap_bound"), number(after, "gap_bound"));
            }
            // All else can be done with it.
            desk.run("eval bare train.txt").ok();
            desk.run("inspect bare").ok();
            let labels = desk.run("predict bare train.txt").ok().stdout;
            assert_eq!(labels, desk.run("predict small train.txt").ok().stdout);
        }
    }
}

#[test]
fn integers_are_stored_and_read_as_they_were() {
    let desk = Desk::new();
    desk.write("train.txt", sentences());
    desk.train("chain train.txt --loss log --lambda 2/n --tolerance 0.01 -o model");
    desk.run("compress model train.txt -o small --keep 0.99").ok();
    let small = desk.read("small");
    let file = ModelFile::parse(&small);
    assert_eq!(file.header()["format_version"], 4);
    assert!(file.tensors.contains_key("emissions.integers"));
    assert!(!file.tensors.contains_key("emissions.values"));
    // Once small, compression has nothing to change: a file of the same bytes, but for what it rounds away next.
    desk.run("compress small train.txt --keep 1 -o again").ok();
    assert_eq!(desk.read("again"), small);
    // Every 50th weight that is left is a multiple of its scale.
    let weights = desk.run("inspect small --weights -").ok().stdout;
    assert!(weights.lines().count() > 100);
}

#[test]
fn every_kind_of_model_becomes_small_or_says_why_not() {
    let desk = Desk::new();
    desk.write("classes.svm", Table::new(60, 90, 3, 7).text());
    desk.write("two.svm", Table::new(60, 90, 2, 8).text());
    for (task, data) in [
        ("multiclass", "classes.svm"),
        ("multiclass --loss softmax", "classes.svm"),
        ("binary --loss logistic", "two.svm"),
        ("binary --loss hinge --intercept", "two.svm"),
        ("binary --loss squared-hinge --nonnegative", "two.svm"),
        ("regression", "two.svm"),
        ("binary --ball l1 --radius 2", "two.svm"),
        ("multiclass --ball trace --radius 2", "classes.svm"),
        ("multiclass --kernel rbf", "classes.svm"),
    ] {
        let (name, rest) = task.split_once(' ').unwrap_or((task, ""));
        desk.train(&format!("{name} {data} {rest} --tolerance 0.01 --witness -o model"));
        let told = desk
            .run(&format!("compress model {data} --keep 0.999 --witness --json -o small"))
            .ok()
            .json();
        let proved = desk.certify("small", data);
        let gap = number(&told["after"], "gap_bound");
        assert!((number(&proved, "gap_bound") - gap).abs() <= 1e-9 * gap.abs(), "{task}: {proved}");
        desk.run(&format!("eval small {data}")).ok();
    }
    desk.train("binary two.svm --ball simplex --radius 2 --tolerance 0.1 --witness -o model");
    desk.run("compress model two.svm -o small").refuses(&["simplex", "radius"]);
}

#[test]
fn what_cannot_be_compressed_is_refused() {
    let desk = Desk::new();
    desk.write("train.txt", sentences());
    desk.write("other.txt", sentences().replacen("B-X", "O", 1));
    desk.train("chain train.txt --lambda 0.1 -o bare");
    desk.train("chain train.txt --lambda 0.1 --witness -o model");
    desk.train("chain train.txt --lambda 0.2 --witness -o stronger");
    desk.run("compress bare train.txt -o small").refuses(&["--witness"]);
    desk.run("compress model other.txt -o small").fails(&["not the data"]);
    desk.run("compress model train.txt -o model").fails(&["overwritten"]);
    for line in ["--bits 7", "--bits 0", "--keep 0", "--keep 1.1", "--keep nan"] {
        desk.run(&format!("compress model train.txt -o small {line}")).exits(2);
    }
    assert!(!desk.files().contains(&"small".to_string()), "nothing is written");
    desk.run("certify bare train.txt --witness stronger").fails(&["another problem"]);
    desk.run("certify bare train.txt --witness bare").fails(&["no witness"]);
    desk.run("certify bare train.txt --witness model").exits(0);
}
