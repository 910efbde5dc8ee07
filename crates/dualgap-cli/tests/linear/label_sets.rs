//! `train multilabel`: sets of labels, from the file to the proof of the gap and the figures of predictions.

use crate::common::forge::ModelFile;
use crate::common::{Desk, Dice, interval, number, overlap};
use std::collections::BTreeSet;
use std::fmt::Write;

type Set = BTreeSet<usize>;

/// Rows of five values with a set each, of the labels 1 to 4.
struct Sets {
    rows: Vec<[f64; 5]>,
    sets: Vec<Set>,
}

impl Sets {
    fn new(n: usize, seed: u64) -> Self {
        let mut dice = Dice(seed);
        let rows: Vec<[f64; 5]> = (0..n).map(|_| std::array::from_fn(|_| dice.signed())).collect();
        let mut there = |x: &[f64; 5], k: usize| x[k] + 0.3 * x[4] + 0.4 * dice.signed() > 0.2;
        let sets = rows.iter().map(|x| (1..5).filter(|&k| there(x, k - 1)).collect()).collect();
        Self { rows, sets }
    }

    /// A line without labels begins with a blank, or, every other time, with its first feature.
    fn libsvm(&self) -> String {
        let mut text = String::new();
        for (i, (row, set)) in self.rows.iter().zip(&self.sets).enumerate() {
            let features: Vec<String> =
                row.iter().enumerate().map(|(j, x)| format!("{}:{x}", j + 1)).collect();
            let blank = if set.is_empty() && i.is_multiple_of(2) { "" } else { " " };
            let _ = writeln!(text, "{}{blank}{}", joined(set), features.join(" "));
        }
        text
    }

    fn csv(&self) -> String {
        let mut text = String::from("a,b,c,d,e,topics\n");
        for (row, set) in self.rows.iter().zip(&self.sets) {
            let cells: Vec<String> = row.iter().map(f64::to_string).collect();
            let names: Vec<String> = set.iter().rev().map(|k| format!("topic {k}")).collect();
            let _ = writeln!(text, "{},\"{}\"", cells.join(","), names.join(", "));
        }
        text
    }
}

fn joined(set: &Set) -> String {
    set.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

const LINE: &str = "multilabel train.svm --mu 0.01 --loss logistic";
const L1: &str = "--ball l1 --radius 6";
const TRACE: &str = "--ball trace --radius 3";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("train.svm", Sets::new(60, 1).libsvm());
    desk.write("test.svm", Sets::new(40, 2).libsvm());
    desk.write("train.csv", Sets::new(60, 1).csv());
    desk
}

/// The sets that a model predicts.
fn predicted(desk: &Desk, data: &str) -> Vec<Set> {
    let told = desk.run(&format!("predict model {data}")).ok().stdout;
    let names = |line: &str| line.split(',').filter_map(|name| name.parse().ok()).collect();
    told.lines().map(names).collect()
}

#[test]
fn a_model_is_trained_told_and_proved_again() {
    let desk = desk();
    for (ball, scale) in [(L1, ""), (TRACE, ""), (L1, "--scale rms"), (TRACE, "--scale max")] {
        let line = format!("{LINE} {ball} {scale} --intercept --witness -o model");
        let json = desk.train(&line);
        assert_eq!((&json["task"], number(&json, "dim")), (&"multilabel".into(), 24.0));
        assert_eq!(json["ball"]["rank"].is_number(), ball == TRACE, "{json:#}");
        let proved = desk.certify("model", "train.svm");
        assert_eq!((&proved["dual_proved"], interval(&proved)), (&true.into(), interval(&json)));
        desk.run("certify model test.svm").refuses(&["fingerprint"]);
        let told = desk.run("inspect model").ok().stdout;
        assert!(told.contains("multilabel, 4 labels") && told.contains("logistic"), "{told}");
        let json = desk.run("inspect model --json --top 2").ok().json();
        assert_eq!(json["labels"], serde_json::json!(["1", "2", "3", "4"]));
        assert!(json["largest"].as_array().unwrap().len() <= 8);
    }
}

/// Under a penalty every label is a binary problem of its own; so it is in a ball without an edge in sight.
#[test]
fn in_a_large_ball_the_optimum_is_the_sum_of_binary_ones() {
    let desk = desk();
    let sets = Sets::new(60, 1);
    let mut sum = (0.0, 0.0);
    for label in 1..5 {
        let mut one = Sets::new(60, 1).libsvm();
        one.clear();
        for (row, set) in sets.rows.iter().zip(&sets.sets) {
            let cells: String =
                row.iter().enumerate().map(|(j, x)| format!(" {}:{x}", j + 1)).collect();
            let _ = writeln!(one, "{}{cells}", i32::from(set.contains(&label)));
        }
        desk.write("one.svm", one);
        let json = desk.train("binary one.svm --loss logistic --lambda 0.01 --tolerance 1e-7");
        let (low, high) = interval(&json);
        sum = (sum.0 + low, sum.1 + high);
    }
    for ball in ["l1", "trace"] {
        let json = desk.train(&format!("{LINE} --ball {ball} --radius 1000 --tolerance 1e-7"));
        assert!(overlap(interval(&json), sum), "{ball}: {json:#} {sum:?}");
    }
}

/// Judged by a naive count over all examples and labels.
#[test]
fn the_figures_of_predictions_are_those_of_counting() {
    let desk = desk();
    let truth = Sets::new(40, 2).sets;
    for ball in [L1, TRACE] {
        let json = desk.train(&format!("{LINE} {ball} --test test.svm -o model"));
        let said = predicted(&desk, "test.svm");
        assert_eq!(said.len(), 40);
        let share = |count: usize, of: usize| count as f64 / of as f64;
        let all: Vec<(bool, bool, usize)> = (0..40)
            .flat_map(|i| (1..5).map(move |k| (i, k)))
            .map(|(i, k)| (truth[i].contains(&k), said[i].contains(&k), k))
            .collect();
        let f1 = |label: Option<usize>| {
            let of = |is: bool, says: bool| {
                let same = |&&(a, b, k): &&(bool, bool, usize)| {
                    (a, b) == (is, says) && label.is_none_or(|label| label == k)
                };
                all.iter().filter(same).count()
            };
            let right = of(true, true);
            if right == 0 {
                return 0.0;
            }
            let precision = share(right, right + of(false, true));
            let recall = share(right, right + of(true, false));
            2.0 * precision * recall / (precision + recall)
        };
        let expected = [
            ("subset_accuracy", share((0..40).filter(|&i| truth[i] == said[i]).count(), 40)),
            ("hamming_loss", share(all.iter().filter(|(is, says, _)| is != says).count(), 160)),
            ("micro_f1", f1(None)),
            ("macro_f1", (1..5).map(|k| f1(Some(k))).sum::<f64>() / 4.0),
        ];
        let told = desk.run("eval model test.svm --json").ok().json();
        for (name, value) in expected {
            assert!((number(&told, name) - value).abs() < 1e-12, "{name}: {value} {told:#}");
            assert!((number(&json["test"], name) - value).abs() < 1e-12, "{name}");
        }
        for k in 1..5 {
            let of = &told["labels_by_name"][k.to_string()];
            assert!((number(of, "f1") - f1(Some(k))).abs() < 1e-12);
        }
        let told = desk.run("eval model test.svm").ok().stdout;
        assert!(told.contains("hamming loss") && told.contains("macro F1"), "{told}");
    }
}

#[test]
fn scores_decide_and_probabilities_go_with_them() {
    let desk = desk();
    desk.train(&format!("{LINE} {TRACE} -o model"));
    let told = desk.run("predict model test.svm --scores --probabilities").ok().stdout;
    for line in told.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let numbers: Vec<f64> = cells[1..].iter().map(|cell| cell.parse().unwrap()).collect();
        let (scores, probabilities) = numbers.split_at(4);
        let set: Set = (1..5).filter(|&k| scores[k - 1] > 0.0).collect();
        assert_eq!(cells[0], joined(&set));
        for (score, p) in scores.iter().zip(probabilities) {
            assert!((p - 1.0 / (1.0 + (-score).exp())).abs() < 1e-15);
        }
    }
    desk.train(&format!("multilabel train.svm {L1} -o model"));
    desk.run("predict model test.svm --probabilities").refuses(&["--probabilities", "logistic"]);
}

#[test]
fn a_table_and_a_libsvm_file_are_the_same_problem() {
    let desk = desk();
    let svm = desk.train(&format!("{LINE} {L1} --tolerance 1e-6"));
    let line = LINE.replace("train.svm", "train.csv");
    let csv = desk.train(&format!("{line} {L1} --tolerance 1e-6 --witness -o model"));
    assert!(overlap(interval(&svm), interval(&csv)), "{svm:#} {csv:#}");
    desk.certify("model", "train.csv");
    let header = ModelFile::parse(&desk.read("model")).header();
    assert_eq!(header["labels"], serde_json::json!(["topic 1", "topic 2", "topic 3", "topic 4"]));
    desk.write("new.csv", "e,d,c,b,a\n0,0,0,0,1\n0,0,0,0,-1\n");
    assert_eq!(desk.run("predict model new.csv").ok().stdout.lines().count(), 2);
    desk.run("eval model new.csv").fails(&["no labels"]);
}

#[test]
fn labels_that_are_only_in_test_data_are_told_and_count_as_missed() {
    let desk = desk();
    let test: String = Sets::new(40, 2).libsvm().replacen("1,", "1,9,", 1);
    assert!(test.contains("1,9,"));
    desk.write("more.svm", test);
    let told = desk.run(&format!("train {LINE} {L1} --test more.svm -o model")).ok().stdout;
    assert!(told.contains("the label 9, which is never predicted"), "{told}");
    let json = desk.run("eval model more.svm --json").ok().json();
    assert_eq!(json["unseen_labels"], serde_json::json!(["9"]));
    assert_eq!(
        (number(&json, "labels"), number(&json["labels_by_name"]["9"], "recall")),
        (5.0, 0.0)
    );
    // Sets that training did not have are made of labels that it had.
    let json = desk.run("eval model test.svm --json").ok().json();
    assert_eq!(json["unseen_labels"], serde_json::json!([]));
}

#[test]
fn lines_without_labels_are_read_and_predicted() {
    let desk = desk();
    desk.train(&format!("{LINE} {L1} -o model"));
    desk.write("bare.svm", "1:1 2:0.5\n 3:1\n");
    assert_eq!(desk.run("predict model bare.svm").ok().stdout.lines().count(), 2);
    desk.run("eval model bare.svm").fails(&["no labels"]);
    desk.run(&format!("train {LINE} {L1} --test bare.svm")).fails(&["bare.svm", "no labels"]);
}

/// A list of numbers alone could be the line of a table: those below it tell.
#[test]
fn a_file_may_begin_with_a_set_without_features() {
    let desk = desk();
    desk.write("first.svm", "1,2\n2,3 # c\n1 1:1\n2 2:1\n");
    let told = desk.run(&format!("train multilabel first.svm {L1}")).ok().stdout;
    assert!(told.contains("LIBSVM file"), "{told}");
    desk.write("first.csv", "1,2\n2,3\n1,1\n");
    let told = desk.run("train multiclass first.csv").ok().stdout;
    assert!(told.contains("csv file"), "{told}");
}

#[test]
fn a_run_is_watched_and_kept() {
    let desk = desk();
    // Where nothing moves any more, the last weights and the best ones predict the same.
    let watched = "--tolerance 1e-9 --test test.svm --watch-test --trace trace";
    let json = desk.train(&format!("{LINE} {L1} {watched}"));
    let trace = String::from_utf8(desk.read("trace")).unwrap();
    let last: serde_json::Value = serde_json::from_str(trace.lines().last().unwrap()).unwrap();
    assert_eq!(number(&last, "test_error"), number(&json["test"], "hamming_loss"));
    for (ball, run) in [(TRACE, "trace.run"), (L1, "l1.run")] {
        desk.resumes(&format!("{LINE} {ball} --tolerance 0"), run);
    }
}

#[test]
fn what_is_no_set_is_refused_with_its_line() {
    let desk = desk();
    for (set, words) in [
        ("1,,2", ["bad.svm:2", "`1,,2`"]),
        ("1,", ["bad.svm:2", "`1,`"]),
        (",1", ["bad.svm:2", "`,1`"]),
        ("1,2,1", ["bad.svm:2", "twice"]),
        ("1,1.0", ["bad.svm:2", "twice"]),
        ("1,x", ["bad.svm:2", "`x`"]),
        ("1,nan", ["bad.svm:2", "`nan`"]),
    ] {
        desk.write("bad.svm", format!("1,2 1:1\n{set} 1:1 2:1\n2 2:1\n"));
        desk.run(&format!("train multilabel bad.svm {L1}")).fails(&words);
        let cell = set.replace('x', "");
        desk.write("bad.csv", format!("a,y\n1,\"1,2\"\n2,\"{cell}\"\n3,2\n"));
        if set != "1,nan" {
            desk.run(&format!("train multilabel bad.csv {L1}")).fails(&["bad.csv"]);
        }
    }
    for (text, words) in [
        ("1 1:1\n 1:2\n1 2:1\n", ["single label", "binary"]),
        (" 1:1\n2:1\n", ["no labels at all", "1,3"]),
    ] {
        desk.write("few.svm", text);
        desk.run(&format!("train multilabel few.svm {L1}")).fails(&words);
    }
    // Sets are not classes.
    desk.run("train multiclass train.svm").fails(&["is not a label", "multi-label models"]);
}

#[test]
fn what_does_not_go_with_label_sets_is_refused() {
    let desk = desk();
    desk.run("train multilabel train.svm").refuses(&["--ball", "--radius"]);
    desk.run("train multilabel train.svm --lambda 0.1").refuses(&["--ball", "--radius"]);
    for loss in ["hinge", "softmax", "squared"] {
        desk.run(&format!("train multilabel train.svm {L1} --loss {loss}")).refuses(&["logistic"]);
    }
    desk.run(&format!("train multilabel train.svm {L1} --loss logistic --width 1"))
        .refuses(&["--width"]);
    desk.run(&format!("train {LINE} {TRACE} --watch-test --test test.svm"))
        .refuses(&["--watch-test"]);
    for command in ["cv multilabel train.svm", "path multilabel train.svm -o folder"] {
        desk.run(command).refuses(&["--ball", "several outputs"]);
    }
}

#[test]
fn forged_models_are_refused() {
    let desk = desk();
    for ball in [L1, TRACE] {
        desk.train(&format!("{LINE} {ball} --passes 2 --witness -o model"));
        let file = ModelFile::parse(&desk.read("model"));
        let refuses = |forged: &ModelFile, words: &[&str]| {
            desk.write("forged", forged.sealed());
            desk.run("certify forged train.svm").refuses(words);
        };
        refuses(&file.with_header(|h| h["structure"] = "multiclass".into()), &[]);
        refuses(
            &file.with_header(|h| {
                h["task"]["structure"]["loss"] = serde_json::json!({"name": "squared"});
            }),
            &[],
        );
        refuses(
            &file.with_header(|h| h["labels"] = serde_json::json!(["1", "2", "4", "3"])),
            &["data"],
        );
        refuses(&file.with_header(|h| h["labels"] = serde_json::json!(["1"])), &["labels"]);
        refuses(
            &file.with_header(|h| h["task"]["penalty"]["ball"]["radius"] = 0.01.into()),
            &["ball"],
        );
        for forged in file.with_other_penalties() {
            refuses(&forged, &[]);
        }
        refuses(&file.with_header(|h| h["provenance"]["recipe"]["label_sets"] = false.into()), &[]);
        let mut forged = file.clone();
        let alpha = file.floats("witness.weights").iter().map(|x| -x).collect::<Vec<_>>();
        forged.set_floats("witness.weights", &alpha);
        refuses(&forged, &[]);
    }
}
