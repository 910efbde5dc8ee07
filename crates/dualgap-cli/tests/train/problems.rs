//! `certify` names the problem that it proved an answer to: all of it, and what makes it a trivial one.

use crate::common::forge::{ModelFile, sha256};
use crate::common::{Desk, Dice, Run, Table, Words, number};
use serde_json::{Value, json};
use std::fmt::Write;

/// A desk with data for every task, and the files that options name.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("two.svm", Table::new(40, 9, 2, 1).text());
    desk.write("three.svm", Table::new(30, 5, 3, 2).text());
    desk.write("numbers.svm", Table::new(30, 5, 9, 3).text());
    desk.write("words.data", Words::new(40, 4).text());
    desk.write(
        "train.txt",
        "The DT B\ndog NN I\nruns VB O\n\nThe DT B\nold JJ I\ncat NN I\n".repeat(3),
    );
    desk.write("templates", "U0:%x[0,0]\nU1:%x[-1,1]\n");
    desk.write("pairs", "U0:%x[0,0]\nU1:%x[-1,1]\nB1:%x[0,1]\n");
    let mut dice = Dice(5);
    let (mut csv, mut ratings) = (String::from("size,age,kind\n"), String::new());
    for i in 0..30 {
        let _ = writeln!(csv, "{},{},{}", dice.signed(), dice.below(3), ["a", "b"][i % 2]);
        let _ = writeln!(ratings, "user{} item{} {}", i % 6, i % 5, 3.0 + dice.signed());
    }
    desk.write("table.csv", csv);
    desk.write("ratings", ratings);
    // The same numbers in another order: only the whole list tells them apart.
    let counts: Vec<String> = (0..40).map(|i| format!("{}\n", 1 + i % 3)).collect();
    desk.write("counts", counts.concat());
    desk.write("turned", counts[1..].concat() + &counts[0]);
    desk.write("costs", "1 2 3\n1 0 1 2\n2 1 0 1\n3 2 1 0\n");
    desk.write("other-costs", "1 2 3\n1 0 1 2\n2 1 0 1\n3 1 2 0\n");
    desk
}

/// Trains and certifies: what `certify` says to machines.
#[track_caller]
fn certified(desk: &Desk, line: &str) -> Value {
    let run = desk.run(&format!("train {line} --passes 3 --tolerance 0 --witness -q -o model"));
    assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
    desk.certify("model", line.split(' ').nth(1).unwrap())
}

/// What it says to people, but for the numbers of the certificate.
fn told(desk: &Desk, line: &str) -> String {
    let data = line.split(' ').nth(1).unwrap();
    let text = desk.run(&format!("certify model {data}")).ok().stdout;
    text.lines().take_while(|line| !line.starts_with("  primal")).collect::<Vec<_>>().join("\n")
}

/// No two of these lines are about the same problem.
#[track_caller]
fn all_differ(lines: &[&str]) {
    let desk = desk();
    let mut seen: Vec<(&str, Value, String)> = Vec::new();
    for line in lines {
        let problem = certified(&desk, line)["problem"].clone();
        let text = told(&desk, line);
        for (other, its_problem, its_text) in &seen {
            assert_ne!(problem, *its_problem, "`{line}` and `{other}`");
            assert_ne!(text, *its_text, "`{line}` and `{other}`");
        }
        seen.push((line, problem, text));
    }
}

#[test]
fn every_option_of_two_classes_that_changes_the_problem_changes_what_is_said() {
    all_differ(&[
        "binary two.svm --lambda 0.1",
        "binary two.svm --lambda 0.1000000001",
        "binary two.svm --lambda 0.1 --loss squared-hinge",
        "binary two.svm --lambda 0.1 --loss logistic",
        "binary two.svm --lambda 0.1 --loss smooth-hinge",
        "binary two.svm --lambda 0.1 --loss smooth-hinge --width 0.5",
        "binary two.svm --lambda 0.1 --l1 0.01",
        "binary two.svm --lambda 0.1 --l1 0.02",
        "binary two.svm --lambda 0 --l1 0.02",
        "binary two.svm --lambda 0.1 --nonnegative",
        "binary two.svm --lambda 0.1 --q-norm",
        "binary two.svm --lambda 0.1 --intercept",
        "binary two.svm --lambda 0.1 --intercept=penalised",
        "binary two.svm --lambda 0.1 --scale max",
        "binary two.svm --lambda 0.1 --scale rms",
        "binary two.svm --lambda 0.1 --sample-weights counts",
        "binary two.svm --lambda 0.1 --sample-weights turned",
        "binary two.svm --lambda 0.1 --class-weights 1=3",
        "binary two.svm --lambda 0.1 --class-weights 2=3",
        "binary two.svm --lambda 0.1 --class-weights 2=3 --sample-weights counts",
        "binary two.svm --ball l1 --radius 1 --mu 0.1",
        "binary two.svm --ball l1 --radius 2 --mu 0.1",
        "binary two.svm --ball l1 --radius 2 --mu 0.2",
        "binary two.svm --ball l1 --radius 2 --mu 0.2 --intercept=penalised",
    ]);
}

#[test]
fn every_option_of_numbers_that_changes_the_problem_changes_what_is_said() {
    all_differ(&[
        "regression numbers.svm --lambda 0.1",
        "regression numbers.svm --lambda 0.1 --loss absolute",
        "regression numbers.svm --lambda 0.1 --loss epsilon-insensitive",
        "regression numbers.svm --lambda 0.1 --loss epsilon-insensitive --epsilon 0.2",
        "regression numbers.svm --lambda 0.1 --loss huber",
        "regression numbers.svm --lambda 0.1 --loss huber --width 2",
        "completion ratings --radius 2",
        "completion ratings --radius 3",
        "completion ratings --radius 2 --centre none",
        "completion ratings --radius 2 --centre mean",
        "completion ratings --radius 2 --holdout 0.2",
        "completion ratings --radius 2 --holdout 0.2 --seed 7",
    ]);
}

#[test]
fn every_option_of_several_classes_that_changes_the_problem_changes_what_is_said() {
    all_differ(&[
        "multiclass three.svm --lambda 0.1",
        "multiclass three.svm --lambda 0.1 --costs costs",
        "multiclass three.svm --lambda 0.1 --costs other-costs",
        "multiclass three.svm --lambda 0.1 --rescale slack",
        "multiclass three.svm --lambda 0.1 --rescale slack --costs costs",
        "multiclass three.svm --lambda 0.1 --loss softmax",
        "multiclass three.svm --lambda 0.1 --loss smooth-hinge",
        "multiclass three.svm --lambda 0.1 --loss smooth-hinge --width 2",
        "multiclass three.svm --lambda 0.1 --intercept",
        "multiclass three.svm --lambda 0.1 --class-weights 1=3",
        "multiclass three.svm --ball l1 --radius 1 --mu 0.1",
        "multiclass three.svm --ball trace --radius 1 --mu 0.1",
        "multiclass three.svm --ball trace --radius 2 --mu 0.1",
        "multiclass words.data --lambda 0.1",
        "multiclass table.csv --lambda 0.1",
        "multiclass table.csv --lambda 0.1 --categorical age",
        "multiclass table.csv --lambda 0.1 --label age",
    ]);
}

#[test]
fn every_option_of_chains_that_changes_the_problem_changes_what_is_said() {
    all_differ(&[
        "chain words.data --lambda 0.1",
        "chain words.data --lambda 0.1 --hamming plain",
        "chain words.data --lambda 0.1 --rescale slack",
        "chain words.data --lambda 0.1 --beam 3",
        "chain words.data --lambda 0.1 --beam 4",
        "chain words.data --lambda 0.1 --train-folds 1-4",
        "chain words.data --lambda 0.1 --train-folds 0-4",
        "chain words.data --lambda 0.1 --sample-weights counts",
        "chain words.data --lambda 0.1 --sample-weights turned",
        "chain train.txt --lambda 0.1",
        "chain train.txt --lambda 0.1 --features paper-conll2000",
        "chain train.txt --lambda 0.1 --features templates",
        "chain train.txt --lambda 0.1 --features pairs",
        "chain train.txt --lambda 0.1 --min-count 2",
        "chain train.txt --lambda 0.1 --lowercase",
        "chain train.txt --lambda 0.1 --columns 0,2",
    ]);
}

#[test]
fn how_a_problem_is_solved_is_no_part_of_it() {
    let desk = desk();
    for (line, others) in [
        (
            "binary two.svm --lambda 0.1 --loss smooth-hinge",
            ["--seed 7", "--option iii", "--average weighted"],
        ),
        ("multiclass three.svm --lambda 0.1", ["--solver bcfw", "--batch 4", "--seed 7"]),
        (
            "multiclass three.svm --ball l1 --radius 1 --mu 0.1",
            ["--solver apg", "--seed 7", "--solver pdbfw"],
        ),
    ] {
        let problem = certified(&desk, line)["problem"].clone();
        for other in others {
            assert_eq!(certified(&desk, &format!("{line} {other}"))["problem"], problem, "{other}");
        }
    }
}

#[test]
fn weights_of_classes_are_told_where_the_examples_of_a_class_weigh_the_same() {
    let desk = desk();
    let told = certified(&desk, "multiclass three.svm --lambda 0.1 --class-weights 1=3,3=0.5");
    let weights = &told["problem"]["example_weights"];
    assert_eq!(weights["by_class"], json!({ "1": 3.0, "2": 1.0, "3": 0.5 }));
    assert_eq!((number(weights, "smallest"), number(weights, "largest")), (0.5, 3.0));
    assert_eq!(told["remarks"], json!([]));
    let line = "binary two.svm --lambda 0.1 --class-weights 1=2 --sample-weights counts";
    let weights = certified(&desk, line)["problem"]["example_weights"].clone();
    assert_eq!(weights["by_class"], Value::Null);
    assert_eq!((number(&weights, "smallest"), number(&weights, "largest")), (1.0, 6.0));
    // The digest is that of the products; the file has the weights of the examples and of the classes.
    let file = ModelFile::parse(&desk.read("model"));
    assert_eq!(
        file.header()["task"]["class_weights"],
        json!({ "named": [["1", 2.0], ["2", 1.0]] })
    );
    let text = String::from_utf8(desk.read("two.svm")).unwrap();
    let of_class = text.lines().map(|line| if line.starts_with("1 ") { 2.0 } else { 1.0 });
    let products = file.floats("sample_weights").into_iter().zip(of_class).map(|(a, b)| a * b);
    let bytes: Vec<u8> = products.flat_map(f64::to_le_bytes).collect();
    assert_eq!(weights["digest"], sha256(&bytes));
    let line = "binary two.svm --lambda 0.1 --sample-weights counts";
    let weights = certified(&desk, line)["problem"]["example_weights"].clone();
    let file = ModelFile::parse(&desk.read("model"));
    assert_eq!(weights["digest"], file.header()["digests"]["sample_weights"]);
    assert_eq!(
        certified(&desk, "binary two.svm --lambda 0.1")["problem"]["example_weights"],
        Value::Null
    );
}

// What the file says of the columns is not what the data are read by, so it is not what is told either.
#[test]
fn the_columns_that_are_told_are_those_of_the_data() {
    let desk = desk();
    let honest = certified(&desk, "multiclass table.csv --lambda 0.1");
    let file = ModelFile::parse(&desk.read("model")).with_header(|header| {
        header["provenance"]["recipe"]["format"]["csv"]["columns"][0]["name"] = "income".into();
    });
    desk.write("forged", file.sealed());
    assert_eq!(desk.certify("forged", "table.csv"), honest);
    let text = desk.run("certify forged table.csv").ok().stdout;
    assert!(text.contains("numbers: size, age") && !text.contains("income"), "{text}");
}

/// The kinds of what is remarked.
fn kinds(json: &Value) -> Vec<&str> {
    let remarks = json["remarks"].as_array().unwrap();
    remarks.iter().map(|remark| remark["kind"].as_str().unwrap()).collect()
}

#[test]
fn trivial_problems_are_pointed_out() {
    let desk = desk();
    desk.write("free", "1 2 3\n1 0 0 0\n2 0 0 0\n3 0 0 0\n");
    desk.write("some", "1 2 3\n1 0 1 0\n2 1 0 1\n3 1 1e-12 0\n");
    desk.write("small", "1 2 3\n1 0 1e-10 1e-10\n2 1e-10 0 1e-10\n3 1e-10 1e-10 0\n");
    let few: String = (0..30).map(|i| if i < 2 { "1\n" } else { "1e-12\n" }).collect();
    desk.write("few", few);
    let line = "multiclass three.svm --lambda 0.1";
    for (options, expected, words) in [
        ("--costs free", &["no_costs"][..], &["no mistake costs anything"][..]),
        ("--costs some", &["zero_costs"], &["2 of 6 mistakes cost nothing"]),
        ("--costs small", &["small_costs"], &["no mistake costs more than 1e-10"]),
        (
            "--sample-weights few",
            &["light_examples", "light_classes"],
            &["28 of 30 examples weigh less", "the class 3 weighs less"],
        ),
        (
            "--class-weights 2=1e-11,3=0",
            &["light_examples", "light_classes"],
            &["(10 of them nothing)", "the classes 2, 3 weigh less"],
        ),
        ("--costs costs --class-weights 2=0.001", &[], &[]),
    ] {
        let json = certified(&desk, &format!("{line} {options}"));
        // An optimum of zero, or next to it, may also be proved to the last digit.
        let found: Vec<&str> =
            kinds(&json).into_iter().filter(|kind| *kind != "rounding").collect();
        assert_eq!(found, expected, "{options}");
        let text = desk.run("certify model three.svm").ok().stdout;
        assert_eq!(text.matches("Note: ").count(), expected.len(), "{text}");
        for word in words {
            assert!(text.contains(word), "{word}: {text}");
            assert!(json["remarks"].to_string().contains(word), "{word}: {json}");
        }
    }
}

/// `gap_bound` and its share are what `gap`, `rounding_error` and `primal` say.
#[track_caller]
fn adds_up(json: &Value) {
    let bound = number(json, "gap") + number(json, "rounding_error");
    assert_eq!(number(json, "gap_bound"), bound, "{json:#}");
    assert_eq!(number(json, "relative_gap_bound"), bound / number(json, "primal"), "{json:#}");
}

/// The number that the closing sentence quotes.
fn quoted(run: &Run) -> f64 {
    let (_, rest) = run.stdout.split_once("is at most ").expect("a sentence");
    rest.split_once(" above the optimum").unwrap().0.parse().unwrap()
}

#[test]
fn every_certificate_has_a_bound_with_its_rounding() {
    let desk = desk();
    for line in [
        "binary two.svm --lambda 0.1",
        "regression numbers.svm --lambda 1",
        "multiclass three.svm --ball trace --radius 1 --mu 0.1",
        "chain words.data --lambda 0.1",
    ] {
        let options = "--tolerance 0.01 --witness --trace trace -o model";
        adds_up(&desk.train(&format!("{line} {options}")));
        let trace = String::from_utf8(desk.read("trace")).unwrap();
        trace.lines().for_each(|line| adds_up(&serde_json::from_str(line).unwrap()));
        let data = line.split(' ').nth(1).unwrap();
        let json = desk.certify("model", data);
        adds_up(&json);
        let (told, bound) =
            (quoted(&desk.run(&format!("certify model {data}")).ok()), number(&json, "gap_bound"));
        assert!((bound..1.02 * bound).contains(&told), "{told} {bound}");
    }
    let path = desk.run("path binary two.svm --from 1 --to 0.1 -o path --json").ok().json();
    path["models"].as_array().unwrap().iter().for_each(adds_up);
    let cv = desk.run("cv binary two.svm --folds 2 --lambdas 0.1 --json").ok().json();
    let candidate = &cv["candidates"][0];
    assert!(number(candidate, "relative_gap_bound") > number(candidate, "relative_gap"));
    assert!(number(candidate, "relative_gap_bound") <= 0.01, "{candidate}");
    assert!(number(candidate, "gap_bound") > 0.0);
}

#[test]
fn rounding_that_exceeds_the_gap_is_said_to() {
    let desk = desk();
    let line = "regression numbers.svm --lambda 1 --solver bcfw --witness -o model";
    let words = "the rounding bound is larger than the gap itself";
    for (options, expected) in [("--tolerance 0 --passes 3000", true), ("--tolerance 0.1", false)] {
        let run = desk.run(&format!("train {line} {options}"));
        assert_eq!(run.stdout.contains(words), expected, "{run:#?}");
        let json = desk.run(&format!("train {line} {options} --json")).json();
        assert_eq!(number(&json, "rounding_error") > number(&json, "gap"), expected, "{json:#}");
        for json in [json, desk.certify("model", "numbers.svm")] {
            assert_eq!(kinds(&json).contains(&"rounding"), expected, "{json:#}");
            adds_up(&json);
        }
        let run = desk.run("certify model numbers.svm").ok();
        assert_eq!(run.stdout.contains(words), expected, "{run:#?}");
        assert!(quoted(&run) > 0.0, "{run:#?}");
    }
}

#[test]
fn what_has_no_witness_is_verified_and_not_certified() {
    let desk = desk();
    for line in [
        "binary two.svm",
        "multiclass three.svm",
        "multiclass three.svm --ball l1 --radius 1",
        "chain words.data",
        "completion ratings --radius 2",
    ] {
        let data = line.split(' ').nth(1).unwrap();
        desk.train(&format!("{line} --witness -o proved"));
        desk.train(&format!("{line} -o bare"));
        desk.run(&format!("certify proved {data}")).ok();
        let run = desk.run(&format!("certify bare {data}")).exits(1);
        assert!(run.stdout.contains("the word of the training run"), "{run:#?}");
        assert!(!run.stdout.contains("Certified"), "{run:#?}");
        let (proved, bare) = (desk.certify("proved", data), desk.certify("bare", data));
        assert_eq!((&proved["certified"], &bare["certified"]), (&true.into(), &false.into()));
        assert_eq!(proved["problem"], bare["problem"]);
        assert!(kinds(&bare).contains(&"no_witness") && !kinds(&proved).contains(&"no_witness"));
    }
}
