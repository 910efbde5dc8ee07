//! What a run prints: one JSON object, or a table that ends with what is certified.

use crate::common::exact::{Problem, decode};
use crate::common::forge::ModelFile;
use crate::common::{Desk, Table, Words, number};
use serde_json::Value;

/// A run that ends soon and certifies 1 %.
fn desk() -> (Desk, Table) {
    let (desk, data) = (Desk::new(), Table::new(30, 4, 3, 1));
    desk.write("data.svm", data.text());
    (desk, data)
}

#[test]
fn json_is_one_object_that_has_every_field() {
    let (desk, data) = desk();
    let run = desk.run("train multiclass data.svm --test data.svm --seed 7 --json").ok();
    assert_eq!(run.stderr, "");
    let json = run.json();
    for (field, value) in [
        ("task", Value::from("multiclass")),
        ("solver", "bcfw".into()),
        ("n", data.len().into()),
        ("dim", (data.features() * data.classes).into()),
        ("lambda", (1.0 / data.len() as f64).into()),
        ("certified", true.into()),
        ("stop", "gap_reached".into()),
        ("seed", 7.into()),
        ("version", env!("CARGO_PKG_VERSION").into()),
    ] {
        assert_eq!(json[field], value, "{field}");
    }
    for field in ["solve_seconds", "certify_seconds"] {
        assert!((0.0..60.0).contains(&number(&json, field)), "{field}");
    }
    let parts = number(&json, "solve_seconds") + number(&json, "certify_seconds");
    assert!((parts..60.0).contains(&number(&json, "fit_seconds")));
    let (primal, dual) = (number(&json, "primal"), number(&json, "dual"));
    assert_eq!(number(&json, "gap"), primal - dual);
    assert_eq!(number(&json, "relative_gap"), (primal - dual) / primal);
    assert!((0.0..1e-9).contains(&number(&json, "rounding_error")));
    assert_eq!(number(&json, "oracle_calls"), number(&json, "passes") * data.len() as f64);
}

#[test]
fn only_a_test_is_told_of_that_was_asked_for() {
    let (desk, _) = desk();
    assert_eq!(desk.train("multiclass data.svm").get("test"), None);
}

#[test]
fn the_numbers_are_those_of_the_weights_that_were_saved() {
    let (desk, data) = desk();
    let json = desk.train("multiclass data.svm --witness -o model");
    let exact = Problem::multiclass(&data, None, None, 1.0 / 30.0);
    exact.confirms(&json, &ModelFile::parse(&desk.read("model")));

    let words = Words::new(24, 1);
    desk.write("words.data", words.text());
    let json = desk.train("chain words.data --witness -o chain");
    let exact = Problem::chain(&words, true, None, 1.0 / 24.0);
    exact.confirms(&json, &ModelFile::parse(&desk.read("chain")));
}

#[test]
fn the_figures_of_a_multiclass_test_are_those_of_the_saved_weights() {
    let (desk, _) = desk();
    let unseen = Table::new(50, 4, 3, 99);
    desk.write("unseen.svm", unseen.text());
    let test = desk.train("multiclass data.svm --test unseen.svm -o model")["test"].clone();
    let weights = ModelFile::parse(&desk.read("model")).weights();
    let wrong = (0..50).filter(|&i| unseen.predict(i, &weights) != unseen.labels[i]).count();
    assert!((1..50).contains(&wrong), "a test that is neither perfect nor useless");
    for field in ["error", "hamming", "normalized_hamming", "sequence_error"] {
        assert!((number(&test, field) - wrong as f64 / 50.0).abs() < 1e-12, "{field}: {test:#}");
    }
    assert!((number(&test, "accuracy") - (50 - wrong) as f64 / 50.0).abs() < 1e-12);
    assert_eq!((&test["examples"], &test["labels"]), (&50.into(), &50.into()));
}

#[test]
fn the_figures_of_a_chain_test_are_those_of_the_saved_weights() {
    let (desk, unseen) = (Desk::new(), Words::new(30, 8));
    desk.write("words.data", Words::new(24, 1).text());
    desk.write("unseen.data", unseen.text());
    let test = desk.train("chain words.data --test unseen.data -o model")["test"].clone();
    let weights = ModelFile::parse(&desk.read("model")).weights();
    let mistakes: Vec<(usize, usize)> = unseen
        .0
        .iter()
        .map(|word| {
            let read = decode(word, &weights);
            let wrong = read.iter().zip(&word.letters).filter(|(read, truth)| read != truth);
            (wrong.count(), word.letters.len())
        })
        .collect();
    let labels: usize = mistakes.iter().map(|&(_, length)| length).sum();
    let wrong: usize = mistakes.iter().map(|&(wrong, _)| wrong).sum();
    assert!(wrong > 0 && wrong < labels, "a test that is neither perfect nor useless");
    let mean = |of: fn(&(usize, usize)) -> f64| mistakes.iter().map(of).sum::<f64>() / 30.0;
    for (field, expected) in [
        ("examples", 30.0),
        ("labels", labels as f64),
        ("error", wrong as f64 / labels as f64),
        ("accuracy", (labels - wrong) as f64 / labels as f64),
        ("hamming", mean(|&(wrong, _)| wrong as f64)),
        ("normalized_hamming", mean(|&(wrong, length)| wrong as f64 / length as f64)),
        ("sequence_error", mean(|&(wrong, _)| f64::from(u8::from(wrong > 0)))),
    ] {
        assert!((number(&test, field) - expected).abs() < 1e-12, "{field} {expected}: {test:#}");
    }
}

#[test]
fn a_table_ends_with_a_sentence_that_says_what_is_certified() {
    let (desk, _) = desk();
    let run = desk.run("train multiclass data.svm").ok();
    assert_eq!(run.stderr, "");
    let last = run.stdout.lines().last().unwrap();
    assert!(last.starts_with("Certified: the objective of this model is at most "), "{last}");
    assert!(
        last.contains(" above the optimum (") && last.ends_with("The tolerance of 1 % is reached."),
        "{last}"
    );

    let run = desk.run("train multiclass data.svm --passes 1 --tolerance 1e-9").exits(1);
    let last = run.stdout.lines().last().unwrap();
    assert!(last.starts_with("Certified: ") && last.contains("NOT reached"), "{last}");
}

/// The number before `after` in the closing sentence.
fn told(sentence: &str, before: &str, after: &str) -> f64 {
    let (_, rest) = sentence.split_once(before).unwrap();
    rest.split_once(after).unwrap().0.parse().unwrap_or_else(|_| panic!("{sentence}"))
}

#[test]
fn the_bound_in_the_sentence_is_never_below_the_one_that_was_certified() {
    let (desk, _) = desk();
    for passes in (1..60).step_by(3) {
        let line = format!("train multiclass data.svm --tolerance 0 --passes {passes}");
        let sentence = desk.run(&line).ok().stdout;
        let json = desk.run(&format!("{line} --json")).ok().json();
        let bound = number(&json, "gap") + number(&json, "rounding_error");
        let absolute = told(&sentence, "is at most ", " above the optimum");
        assert!((bound..1.02 * bound).contains(&absolute), "{bound}: {sentence}");
    }
}

#[test]
fn the_percentage_in_the_sentence_is_never_below_the_one_that_was_certified() {
    let (desk, _) = desk();
    for passes in (1..60).step_by(3) {
        let line = format!("train multiclass data.svm --tolerance 0 --passes {passes}");
        let sentence = desk.run(&line).ok().stdout;
        let json = desk.run(&format!("{line} --json")).ok().json();
        let bound = number(&json, "gap") + number(&json, "rounding_error");
        let share = 100.0 * bound / number(&json, "primal");
        let (_, sentence) = sentence.split_once("Certified").unwrap();
        let percent = told(sentence, "(", " % of the objective)");
        assert!((share..1.2 * share).contains(&percent), "{share} %: {sentence}");
    }
}

#[test]
fn a_quiet_run_prints_nothing_but_the_json_that_was_asked_for() {
    let (desk, _) = desk();
    let run = desk.run("train multiclass data.svm --quiet -o model").ok();
    assert_eq!((&run.stdout[..], &run.stderr[..]), ("", ""));
    desk.certify("model", "data.svm");
    assert!(desk.run("train multiclass data.svm -q --json").ok().json().is_object());
}

#[test]
fn what_is_saved_can_be_certified_and_nothing_else_is_left_behind() {
    let (desk, _) = desk();
    let json = desk.train("multiclass data.svm --witness -o model");
    let checked = desk.certify("model", "data.svm");
    assert_eq!((&checked["verified"], &checked["dual_proved"]), (&true.into(), &true.into()));
    for field in ["n", "lambda", "fingerprint"] {
        assert_eq!(checked[field], json[field], "{field}");
    }
    let error = number(&json, "rounding_error") + number(&checked, "rounding_error");
    for field in ["primal", "dual"] {
        assert!((number(&checked, field) - number(&json, field)).abs() <= error, "{field}");
    }
    let run = desk.run("certify model data.svm").ok();
    let last = run.stdout.lines().last().unwrap();
    assert!(last.starts_with("Certified: ") && last.contains(" above the optimum ("), "{last}");
    assert_eq!(desk.files(), ["data.svm", "model"]);
}

#[test]
fn help_and_version_are_no_errors() {
    let desk = Desk::new();
    for line in ["--help", "train --help", "train chain --help", "certify -h", "demo --help"] {
        let run = desk.run(line).ok();
        assert!(run.stdout.contains("Usage: dualgap") && run.stderr.is_empty(), "{run:#?}");
    }
    let version = desk.run("--version").ok().stdout;
    assert_eq!(version, format!("dualgap {}\n", env!("CARGO_PKG_VERSION")));
}
