//! `train multioutput`: several numbers of every example, from the file to the proof of the gap and the errors of predictions.

use crate::common::forge::ModelFile;
use crate::common::{Desk, Dice, interval, number, overlap};
use std::fmt::Write;

/// Rows of four values with three numbers each.
struct Numbers {
    rows: Vec<[f64; 4]>,
    targets: Vec<[f64; 3]>,
}

impl Numbers {
    fn new(n: usize, seed: u64) -> Self {
        let mut dice = Dice(seed);
        let rows: Vec<[f64; 4]> = (0..n).map(|_| std::array::from_fn(|_| dice.signed())).collect();
        let mut target = |x: &[f64; 4], k: usize| {
            x[0] * (k as f64 - 0.5) + 2.0 * x[3] + x[k] / 3.0 + 0.3 * dice.signed()
        };
        let targets = rows.iter().map(|x| std::array::from_fn(|k| target(x, k))).collect();
        Self { rows, targets }
    }

    fn libsvm(&self) -> String {
        let mut text = String::new();
        for (row, y) in self.rows.iter().zip(&self.targets) {
            let _ = writeln!(text, "{}{}", joined(y), features(row));
        }
        text
    }

    /// With the numbers in two places, among the features.
    fn csv(&self) -> String {
        let mut text = String::from("a,price,b,\"weight, kg\",c,d,age\n");
        for ([a, b, c, d], [price, weight, age]) in self.rows.iter().zip(&self.targets) {
            let _ = writeln!(text, "{a},{price},{b},{weight},{c},{d},{age}");
        }
        text
    }
}

fn features(row: &[f64; 4]) -> String {
    row.iter().enumerate().map(|(j, x)| format!(" {}:{x}", j + 1)).collect()
}

fn joined(numbers: &[f64]) -> String {
    numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
}

const LINE: &str = "multioutput train.svm --mu 0.01";
const L1: &str = "--ball l1 --radius 5";
const TRACE: &str = "--ball trace --radius 2";
const LABEL: &str = "price,\"weight, kg\",age";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("train.svm", Numbers::new(50, 1).libsvm());
    desk.write("test.svm", Numbers::new(30, 2).libsvm());
    desk.write("train.csv", Numbers::new(50, 1).csv());
    desk
}

/// Trains on the table, whose columns cannot be named in one word.
fn train_csv(desk: &Desk, more: &str) -> serde_json::Value {
    let mut line = vec!["train", "multioutput", "train.csv", "--label", LABEL, "--json"];
    line.extend(more.split_whitespace());
    desk.run_with(&line).ok().json()
}

/// The numbers that a model predicts.
fn predicted(desk: &Desk, data: &str) -> Vec<Vec<f64>> {
    let told = desk.run(&format!("predict model {data}")).ok().stdout;
    let numbers = |line: &str| line.split(',').map(|number| number.parse().unwrap()).collect();
    told.lines().map(numbers).collect()
}

#[test]
fn a_model_is_trained_told_and_proved_again() {
    let desk = desk();
    for (ball, more) in
        [(L1, ""), (TRACE, "--loss huber --width 0.5"), (L1, "--scale rms"), (TRACE, "--scale max")]
    {
        let json = desk.train(&format!("{LINE} {ball} {more} --intercept --witness -o model"));
        assert_eq!((&json["task"], number(&json, "dim")), (&"multioutput".into(), 15.0));
        assert_eq!(json["ball"]["rank"].is_number(), ball == TRACE, "{json:#}");
        let proved = desk.certify("model", "train.svm");
        assert_eq!((&proved["dual_proved"], interval(&proved)), (&true.into(), interval(&json)));
        desk.run("certify model test.svm").refuses(&["fingerprint"]);
        let told = desk.run("inspect model").ok().stdout;
        let loss = if more.contains("huber") { "huber (width 0.5)" } else { "squared" };
        for words in ["multioutput, 3 outputs", "1, 2, 3", "of each output", loss] {
            assert!(told.contains(words), "{words}: {told}");
        }
        let json = desk.run("inspect model --json --top 2").ok().json();
        assert_eq!(json["labels"], serde_json::json!(["1", "2", "3"]));
    }
}

/// Without an edge in sight every number is a problem of its own.
#[test]
fn in_a_large_ball_the_optimum_is_the_sum_of_single_ones() {
    let desk = desk();
    let numbers = Numbers::new(50, 1);
    for loss in ["squared", "huber"] {
        let mut sum = (0.0, 0.0);
        for k in 0..3 {
            let line = |(row, y): (&[f64; 4], &[f64; 3])| format!("{}{}\n", y[k], features(row));
            let one: String = numbers.rows.iter().zip(&numbers.targets).map(line).collect();
            desk.write("one.svm", one);
            let single = "regression one.svm --lambda 0.01 --tolerance 1e-7";
            let (low, high) = interval(&desk.train(&format!("{single} --loss {loss}")));
            sum = (sum.0 + low, sum.1 + high);
        }
        for ball in ["l1", "trace"] {
            let line = format!("{LINE} --ball {ball} --radius 1000 --tolerance 1e-7 --loss {loss}");
            let json = desk.train(&line);
            assert!(overlap(interval(&json), sum), "{ball}: {json:#} {sum:?}");
        }
    }
}

/// Judged by sums over all examples of what `predict` writes.
#[test]
fn the_errors_of_predictions_are_those_of_the_numbers() {
    let desk = desk();
    let truth = Numbers::new(30, 2).targets;
    for ball in [L1, TRACE] {
        let json = desk.train(&format!("{LINE} {ball} --test test.svm -o model"));
        let said = predicted(&desk, "test.svm");
        assert_eq!((said.len(), said[0].len()), (30, 3));
        let off = |i: usize, k: usize| said[i][k] - truth[i][k];
        let sum = |f: &dyn Fn(usize) -> f64| (0..30).map(f).sum::<f64>();
        let mean = |k: usize| sum(&|i| truth[i][k]) / 30.0;
        let squared = |k: usize| sum(&|i| off(i, k).powi(2));
        let absolute = |k: usize| sum(&|i| off(i, k).abs());
        let around = |k: usize| sum(&|i| (truth[i][k] - mean(k)).powi(2));
        let told = desk.run("eval model test.svm --json").ok().json();
        for told in [&told, &json["test"]] {
            assert_eq!((number(told, "examples"), number(told, "outputs")), (30.0, 3.0));
            let close = |json: &serde_json::Value, name: &str, value: f64| {
                assert!((number(json, name) - value).abs() < 1e-12, "{name}: {value} {json:#}");
            };
            let all = |f: &dyn Fn(usize) -> f64| (0..3).map(f).sum::<f64>();
            close(told, "rmse", (all(&squared) / 90.0).sqrt());
            close(told, "mae", all(&absolute) / 90.0);
            close(told, "r2", 1.0 - all(&squared) / all(&around));
            for k in 0..3 {
                let one = &told["outputs_by_name"][(k + 1).to_string()];
                close(one, "rmse", (squared(k) / 30.0).sqrt());
                close(one, "mae", absolute(k) / 30.0);
                close(one, "r2", 1.0 - squared(k) / around(k));
            }
        }
        let table = desk.run("eval model test.svm").ok().stdout;
        let summary = desk.run(&format!("train {LINE} {ball} --test test.svm")).ok().stdout;
        for text in [table, summary] {
            let words = ["30 examples of 3 numbers", "of the variance", "RMSE", "MAE", "\n  3  "];
            assert!(words.iter().all(|word| text.contains(word)), "{text}");
        }
    }
}

#[test]
fn a_table_and_a_libsvm_file_are_the_same_problem() {
    let desk = desk();
    let svm = desk.train(&format!("{LINE} {L1} --tolerance 1e-6 -o svm"));
    let csv = train_csv(&desk, &format!("--mu 0.01 {L1} --tolerance 1e-6 --witness -o model"));
    assert_eq!(interval(&svm), interval(&csv), "the same numbers to the last bit");
    desk.certify("model", "train.csv");
    let header = ModelFile::parse(&desk.read("model")).header();
    assert_eq!(header["labels"], serde_json::json!(["price", "weight, kg", "age"]));
    let told = desk.run("inspect model").ok().stdout;
    assert!(told.contains("price, \"weight, kg\", age"), "{told}");
    // A header in another order, other separators, and the columns that are to be predicted left out.
    let mut bare = String::from("d|c|b|a\n");
    for [a, b, c, d] in Numbers::new(30, 2).rows {
        let _ = writeln!(bare, "{d}|{c}|{b}|{a}");
    }
    desk.write("bare.csv", bare);
    let said = desk.run("predict model bare.csv").ok().stdout;
    assert_eq!(said, desk.run("predict svm test.svm").ok().stdout);
    desk.run("eval model bare.csv").fails(&["bare.csv", "no labels"]);
    desk.write("some.csv", "a,b,c,d,price\n1,1,1,1,1\n");
    desk.run("predict model some.csv").fails(&["`weight, kg`", "`price`", "or none"]);
    desk.write("test.csv", Numbers::new(30, 2).csv());
    let told = desk.run("eval model test.csv --json").ok().json();
    let other = desk.run("eval svm test.svm --json").ok().json();
    assert_eq!((&told["rmse"], &told["r2"]), (&other["rmse"], &other["r2"]));
    assert_eq!(told["outputs_by_name"]["weight, kg"], other["outputs_by_name"]["2"]);
}

#[test]
fn lines_without_numbers_are_read_and_predicted() {
    let desk = desk();
    desk.train(&format!("{LINE} {L1} -o model"));
    desk.write("bare.svm", "1:1 2:0.5\n 3:1\n");
    assert_eq!(predicted(&desk, "bare.svm").len(), 2);
    desk.run("eval model bare.svm").fails(&["no labels"]);
    desk.run(&format!("train {LINE} {L1} --test bare.svm")).fails(&["bare.svm", "no labels"]);
    desk.write("two.svm", "1,2 1:1\n");
    desk.run("predict model two.svm").fails(&["two.svm:1", "2 numbers where 3 belong"]);
    // An example may be without features, also the first one.
    desk.write("zero.svm", "1,2\n2,1 1:1\n0,1 2:1\n");
    desk.train("multioutput zero.svm --ball l1 --radius 1");
}

#[test]
fn sample_weights_count_like_duplicates() {
    let desk = desk();
    let text = Numbers::new(50, 1).libsvm();
    let twice: String =
        text.lines().enumerate().map(|(i, line)| format!("{line}\n").repeat(1 + i % 2)).collect();
    desk.write("twice.svm", twice);
    desk.write("counts", (0..50).map(|i| format!("{}\n", 1 + i % 2)).collect::<String>());
    for ball in [L1, TRACE] {
        let end = format!("{ball} --tolerance 1e-7");
        let weighed =
            desk.train(&format!("{LINE} {end} --sample-weights counts --witness -o model"));
        let line = LINE.replace("train.svm", "twice.svm");
        let written = desk.train(&format!("{line} {end}"));
        assert!(overlap(interval(&weighed), interval(&written)), "{ball}");
        desk.certify("model", "train.svm");
    }
}

#[test]
fn a_run_is_watched_and_kept() {
    let desk = desk();
    let watched = "--tolerance 1e-9 --test test.svm --watch-test --trace trace";
    let json = desk.train(&format!("{LINE} {L1} {watched}"));
    let trace = String::from_utf8(desk.read("trace")).unwrap();
    let last: serde_json::Value = serde_json::from_str(trace.lines().last().unwrap()).unwrap();
    let (watched, told) = (number(&last, "test_error"), number(&json["test"], "rmse"));
    assert!((watched - told).abs() < 1e-4 * told, "{watched} {told}");
    for (ball, run) in [(TRACE, "trace.run"), (L1, "l1.run")] {
        desk.resumes(&format!("{LINE} {ball} --tolerance 0"), run);
    }
    desk.run(&format!("train {LINE} {L1} --loss huber --resume l1.run")).fails(&["loss"]);
}

#[test]
fn what_are_not_several_numbers_is_refused_with_its_line() {
    let desk = desk();
    for (numbers, words) in [
        ("1,,2", ["bad.svm:2", "missing"]),
        ("1,2,", ["bad.svm:2", "missing"]),
        ("1,2", ["bad.svm:2", "has 2 numbers where 3 belong"]),
        ("1", ["bad.svm:2", "has 1 numbers where 3 belong"]),
        ("1,2,3,4", ["bad.svm:2", "has 4 numbers where 3 belong"]),
        ("1,2,x", ["bad.svm:2", "`x`"]),
        ("1,2,nan", ["bad.svm:2", "`nan` is not finite"]),
        ("1,-inf,2", ["bad.svm:2", "`-inf` is not finite"]),
        ("", ["bad.svm:2", "`1:1`"]),
    ] {
        desk.write("bad.svm", format!("1,2,3 1:1\n{numbers} 1:1 2:1\n2,3,4 2:1\n"));
        desk.run(&format!("train multioutput bad.svm {L1}")).fails(&words);
    }
    desk.write("one.svm", "1 1:1\n2 1:2\n");
    desk.run(&format!("train multioutput one.svm {L1}")).fails(&[
        "one.svm:1",
        "single number",
        "is for regression",
    ]);
    desk.write("none.svm", "# nothing\n");
    desk.run(&format!("train multioutput none.svm {L1}")).fails(&["no examples"]);
    desk.run("train regression train.svm").fails(&["is not a finite number", "multi-output"]);

    let table = "x,a,b\n1,2,3\n4,5,6\n";
    for (text, label, words) in [
        (table, "--label a,z", ["t.csv", "no column `z`"]),
        (table, "--label a,a", ["`a` twice", "--label"]),
        (table, "--label a", ["single number", "is for regression"]),
        (table, "", ["which", "--label price,weight"]),
        (table, "--label x,a,b", ["no column to predict by", "--label"]),
        (table, "--label a,b --categorical b", ["`b`", "--categorical"]),
        ("x,a,b\n1,2,3\n4,,6\n", "--label a,b", ["t.csv:3", "`a`"]),
        ("x,a,b\n1,2,3\n4,5,NA\n", "--label a,b", ["t.csv:3", "`b`"]),
        ("x,a,b\n1,2,3\n4,5,inf\n", "--label a,b", ["t.csv:3", "`inf` in the column `b`"]),
        ("x,a,b\n1,red,3\n", "--label a,b", ["t.csv:2", "`red` in the column `a`"]),
    ] {
        desk.write("t.csv", text);
        desk.run(&format!("train multioutput t.csv {label} {L1}")).fails(&words);
    }
    desk.write("t.txt", "a\tb\tB\n\nc\td\tO\n");
    desk.run(&format!("train multioutput t.txt {L1}")).fails(&["one label a line"]);
}

#[test]
fn what_does_not_go_with_several_numbers_is_refused() {
    let desk = desk();
    desk.run("train multioutput train.svm").refuses(&["--ball", "--radius", "one output"]);
    for loss in ["absolute", "epsilon-insensitive", "logistic"] {
        desk.run(&format!("train multioutput train.svm {L1} --loss {loss}"))
            .refuses(&["squared", "huber"]);
    }
    desk.run(&format!("train multioutput train.svm {L1} --width 1")).refuses(&["--width"]);
    desk.run(&format!("train multioutput train.svm {L1} --label a,b")).refuses(&["--label", "csv"]);
    desk.run(&format!("train {LINE} {TRACE} --watch-test --test test.svm"))
        .refuses(&["--watch-test"]);
    for command in ["cv multioutput train.svm", "path multioutput train.svm -o folder"] {
        desk.run(command).refuses(&["--ball", "several outputs"]);
    }
    desk.train(&format!("{LINE} {L1} -o model"));
    desk.run("predict model test.svm --scores").refuses(&["--scores"]);
    desk.run("predict model test.svm --probabilities").refuses(&["--probabilities"]);
}

#[test]
fn forged_models_are_refused() {
    let desk = desk();
    for ball in [L1, TRACE] {
        let more = format!("--mu 0.01 {ball} --passes 2 --witness -o model");
        train_csv(&desk, &more);
        let file = ModelFile::parse(&desk.read("model"));
        let refuses = |forged: &ModelFile, words: &[&str]| {
            desk.write("forged", forged.sealed());
            desk.run("certify forged train.csv").refuses(words);
        };
        let header = |change: &dyn Fn(&mut serde_json::Value)| file.with_header(|h| change(h));
        let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        for task in ["multiclass", "multilabel", "linear", "completion"] {
            refuses(&header(&|h| h["structure"] = task.into()), &[]);
        }
        for loss in [r#"{"name":"logistic"}"#, r#"{"name":"huber","width":0.1}"#] {
            refuses(&header(&|h| h["task"]["structure"]["loss"] = json(loss)), &[]);
        }
        for names in [r#"["weight, kg","price","age"]"#, r#"["a","b","c"]"#] {
            refuses(&header(&|h| h["labels"] = json(names)), &["data"]);
        }
        refuses(&header(&|h| h["labels"] = json(r#"["price"]"#)), &["outputs"]);
        // Names and columns together: the numbers are then others.
        refuses(
            &header(&|h| {
                h["labels"] = json(r#"["weight, kg","price","age"]"#);
                h["provenance"]["recipe"]["format"]["csv"]["label"] =
                    "\"weight, kg\",price,age".into();
            }),
            &["fingerprint"],
        );
        refuses(&header(&|h| h["task"]["penalty"]["ball"]["radius"] = 0.01.into()), &["ball"]);
        for forged in file.with_other_penalties() {
            refuses(&forged, &[]);
        }
        refuses(&header(&|h| h["task"]["penalty"]["mu"] = 0.02.into()), &[]);
        refuses(&header(&|h| h["provenance"]["recipe"]["outputs"] = false.into()), &[]);
        let tensor = if ball == TRACE { "low_rank.s" } else { "weights" };
        for (name, factor) in [("witness.weights", -1.0), (tensor, 0.5), (tensor, 2.0)] {
            let mut forged = file.clone();
            let changed: Vec<f64> = file.floats(name).iter().map(|x| factor * x).collect();
            forged.set_floats(name, &changed);
            refuses(&forged, &[]);
        }
    }
}

#[test]
fn two_results_need_two_files() {
    let desk = desk();
    let line = format!("train {LINE} {L1} --passes 1");
    desk.run(&format!("{line} -o one --trace one")).fails(&["one", "two results"]);
    desk.run(&format!("{line} -o one --checkpoint ./one")).fails(&["one", "two results"]);
    desk.run(&format!("{line} -o one --trace two")).ok();
    assert!(!desk.read("one").is_empty() && !desk.read("two").is_empty());
}
