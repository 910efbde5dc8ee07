//! Means, standard errors, which λ is chosen, and the model of all data.

use crate::common::{Desk, Dice, Run, Table, Words, number};
use std::collections::BTreeMap;

/// The table file, by the names of its columns.
fn columns(desk: &Desk, name: &str) -> BTreeMap<String, Vec<String>> {
    let text = String::from_utf8(desk.read(name)).unwrap();
    let cells = |line: &str| line.split('\t').map(String::from).collect::<Vec<_>>();
    let mut lines = text.lines().map(cells);
    let names = lines.next().unwrap();
    let rows: Vec<Vec<String>> = lines.collect();
    assert!(rows.iter().all(|row| row.len() == names.len()), "{text}");
    let column = |k: usize| rows.iter().map(|row| row[k].clone()).collect();
    names.iter().enumerate().map(|(k, name)| (name.clone(), column(k))).collect()
}

fn numbers(cells: &[String]) -> Vec<f64> {
    cells.iter().map(|cell| cell.parse().unwrap()).collect()
}

/// Noisy data for every task, and how many folds there are.
const LINES: [(&str, usize); 4] = [
    ("binary two.svm --folds 7", 7),
    ("regression numbers.svm --folds 4 --intercept", 4),
    ("multiclass three.svm --seed 9", 5),
    ("chain words.data --given-folds --count 7", 10),
];

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("two.svm", Table::new(60, 8, 2, 1).text());
    desk.write("three.svm", Table::new(60, 5, 3, 2).text());
    desk.write("words.data", Words::new(40, 1).text());
    let mut dice = Dice(3);
    let row = |_| {
        let x: Vec<f64> = (0..6).map(|_| dice.signed()).collect();
        let pairs: String = x.iter().enumerate().map(|(j, x)| format!(" {}:{x}", j + 1)).collect();
        format!("{}{pairs}\n", x[0] - x[1] + 1.5 * dice.signed())
    };
    desk.write("numbers.svm", (0..40).map(row).collect::<String>());
    desk
}

#[test]
fn means_errors_and_marks_follow_from_the_folds() {
    let desk = desk();
    let mut differ = 0;
    for (line, folds) in LINES {
        let json = desk.run(&format!("cv {line} --table table --json")).ok().json();
        let by_rule = desk.run(&format!("cv {line} --one-standard-error --table other --json"));
        let by_rule = by_rule.ok().json();
        let table = columns(&desk, "table");
        let metric = json["metric"].as_str().unwrap();
        let (means, lambdas) = (numbers(&table[metric]), numbers(&table["lambda"]));
        let standard_errors = numbers(&table["standard_error"]);
        assert_eq!(lambdas.len(), 7);
        assert!(lambdas.is_sorted_by(|a, b| a > b), "from the largest to the smallest");
        for k in 0..7 {
            let errors: Vec<f64> =
                (1..=folds).map(|f| table[&format!("{metric}_{f}")][k].parse().unwrap()).collect();
            let mean = errors.iter().sum::<f64>() / folds as f64;
            // Half the mean square of all differences of two folds is the variance, whatever the mean.
            let pairs = errors.iter().flat_map(|a| errors.iter().map(move |b| (a - b).powi(2)));
            let pairs = pairs.sum::<f64>() / 2.0 / (folds * (folds - 1)) as f64;
            assert!((means[k] - mean).abs() < 1e-12);
            assert!((standard_errors[k] - (pairs / folds as f64).sqrt()).abs() < 1e-12);
            assert_eq!(number(&json["candidates"][k], "error"), means[k]);
            assert!(number(&json["candidates"][k], "relative_gap") <= 0.01);
        }
        let least = means.iter().copied().fold(f64::INFINITY, f64::min);
        let best = means.iter().position(|&mean| mean <= least * (1.0 + 1e-12)).unwrap();
        let most = least + standard_errors[best];
        let simplest = means.iter().position(|&mean| mean <= most * (1.0 + 1e-12)).unwrap();
        differ += usize::from(simplest != best);
        assert_eq!(
            (number(&json, "best"), number(&json, "chosen")),
            (lambdas[best], lambdas[best])
        );
        assert_eq!(number(&by_rule, "best"), lambdas[best]);
        assert_eq!(number(&by_rule, "chosen"), lambdas[simplest], "{line}");
        let marks = |name: &str| columns(&desk, name)["mark"].clone();
        assert_eq!(marks("table").iter().filter(|mark| !mark.is_empty()).count(), 1);
        assert_eq!(marks("table")[best], "best, chosen");
        assert!(
            marks("other")[best].starts_with("best")
                && marks("other")[simplest].ends_with("chosen")
        );
    }
    assert!(differ > 0, "the rule of one standard error never makes a difference here");
}

#[test]
fn the_model_is_that_of_training_with_the_chosen_lambda() {
    let desk = desk();
    for (line, _) in LINES {
        let options = "--tolerance 0.003 --witness --json";
        let cv = desk.run(&format!("cv {line} {options} -o chosen")).ok().json();
        let (task, file) = line.split_once(' ').unwrap();
        let (file, rest) = file.split_once(" --").unwrap();
        // Of the options of the line, training has the seed and the intercept.
        let seed = if rest.contains("seed 9") { "--seed 9" } else { "" };
        let intercept = if rest.contains("intercept") { "--intercept" } else { "" };
        let lambda = number(&cv, "chosen");
        let train = desk.train(&format!(
            "{task} {file} {seed} {intercept} --tolerance 0.003 --witness --lambda {lambda} -o trained"
        ));
        assert!(desk.read("chosen") == desk.read("trained"), "{line}");
        for field in ["primal", "dual", "lambda", "passes", "fingerprint", "stop", "n"] {
            assert_eq!(cv["refit"][field], train[field], "{line}: {field}");
        }
        assert_eq!(desk.certify("chosen", file)["dual_proved"], true);
    }
}

#[test]
fn without_output_and_test_nothing_is_trained_on_all_data() {
    let desk = desk();
    assert!(desk.run("cv binary two.svm --json").ok().json()["refit"].is_null());
    let tested = desk.run("cv binary two.svm --test two.svm --json").ok().json();
    assert_eq!(tested["refit"]["test"]["examples"], 60);
    for (options, certified) in [("", false), ("--test two.svm", true), ("-o model", true)] {
        let out = desk.run(&format!("cv binary two.svm {options}")).ok().stdout;
        assert_eq!(
            (out.contains("-o MODEL trains"), out.contains("Certified")),
            (!certified, certified)
        );
    }
}

#[test]
fn the_table_marks_the_chosen_lambda_and_the_certificate_follows() {
    let desk = desk();
    let out = desk.run("cv multiclass three.svm --one-standard-error -o model").ok().stdout;
    assert_eq!(out.matches("chosen").count(), 1, "{out}");
    assert!(out.contains("5 folds of 60 examples") && out.contains("evenly"), "{out}");
    assert!(out.lines().last().unwrap().starts_with("Certified: "), "{out}");
    assert_eq!(desk.run("cv multiclass three.svm --quiet -o model").ok().stdout, "");
}

#[test]
fn a_best_lambda_at_the_edge_is_told() {
    let desk = desk();
    let told =
        |run: Run| run.ok().stdout.lines().find(|l| l.contains("go on beyond")).map(String::from);
    // What is twice the feature is predicted the better the less the weight is held back.
    let text: String = (1..21).map(|i| format!("{} 1:{i}\n", 2 * i)).collect();
    desk.write("twice.svm", text);
    let line = "cv regression twice.svm --lambdas 1000,1e-3,100";
    let json = desk.run(&format!("{line} --json")).ok().json();
    assert_eq!((number(&json, "best"), &json["edge"]), (1e-3, &"smallest".into()), "{json:#}");
    let smallest = told(desk.run(line)).unwrap();
    assert!(smallest.contains("smallest") && smallest.contains("--to"), "{smallest}");
    // Numbers that do not depend on the features are best predicted by next to no weights.
    let text: String = (0..20).map(|i| format!("{} 1:{}\n", i % 2, 1 + i / 2 % 2)).collect();
    desk.write("noise.svm", text);
    let grid = "cv regression noise.svm --intercept --from 1e3 --to 1e-3 --count 3";
    assert_eq!(desk.run(&format!("{grid} --json")).ok().json()["edge"], "largest");
    assert!(told(desk.run(grid)).unwrap().contains("--from"));
    assert_eq!(told(desk.run("cv binary two.svm --lambdas 1e-3")), None, "one has no edge");
}

#[test]
fn lambda_over_n_counts_all_examples_and_weights() {
    let desk = desk();
    let weights: String = (0..60).map(|i| format!("{}\n", 1 + i % 3)).collect();
    desk.write("weights", weights);
    let line = "cv binary two.svm --sample-weights weights --lambdas 6/n,0.3 --json";
    let json = desk.run(line).ok().json();
    assert_eq!(number(&json["candidates"][1], "lambda"), 6.0 / 120.0);
    let grid = desk.run("cv binary two.svm --json").ok().json();
    let lambda = |k: usize| number(&grid["candidates"][k], "lambda");
    assert_eq!((lambda(0), lambda(6)), (100.0 / 60.0, 0.1 / 60.0));
}

#[test]
fn pure_l1_may_be_one_of_them() {
    let desk = desk();
    let line = "cv regression numbers.svm --l1 0.05 --intercept --lambdas 0.1,0 --json -o model";
    let json = desk.run(line).ok().json();
    assert_eq!(number(&json["candidates"][1], "lambda"), 0.0);
    assert!(number(&json["candidates"][1], "relative_gap") <= 0.01);
}

#[test]
fn standard_input_is_read_like_a_file() {
    let desk = desk();
    let mut program = assert_cmd::Command::new(crate::common::program());
    let piped = program.args(["cv", "binary", "-"]).write_stdin(desk.read("two.svm"));
    let piped = String::from_utf8(piped.output().unwrap().stdout).unwrap();
    assert_eq!(piped, desk.run("cv binary two.svm").ok().stdout);
}

#[test]
fn a_limit_in_passes_is_one_for_every_model() {
    let desk = desk();
    let line = "cv chain words.data --folds 3 --lambdas 0.01,0.001 --passes 2 -o model";
    let json = desk.run(&format!("{line} --json")).ok().json();
    for candidate in json["candidates"].as_array().unwrap() {
        assert_eq!((number(candidate, "passes"), &candidate["reached"]), (2.0, &false.into()));
    }
    assert_eq!(json["refit"]["stop"], "pass_limit");
    // Whoever asks for a tolerance as well is told that it was not reached.
    let run = desk.run(&format!("{line} --tolerance 1e-3")).exits(1);
    assert!(run.stdout.contains("6 of 6 models are NOT within the tolerance of 0.1 %"), "{run:#?}");
    assert!(desk.path("model").exists());
}

#[test]
fn under_a_limit_every_lambda_is_trained_as_if_it_were_alone() {
    let desk = desk();
    let cv = |lambdas: &str| {
        let line = format!("cv chain words.data --folds 3 --passes 2 --lambdas {lambdas} --json");
        let json = desk.run(&line).ok().json();
        json["candidates"].as_array().unwrap().last().unwrap().clone()
    };
    let (after, alone) = (cv("0.1,0.001"), cv("0.001"));
    for field in ["lambda", "error", "fold_errors", "relative_gap", "gap_bound"] {
        assert_eq!(after[field], alone[field], "{field}");
    }
}

#[test]
fn every_number_is_told_as_it_is_done() {
    let desk = desk();
    let line = "cv chain words.data --folds 3 --lambdas 0.1,0.01 --tolerance 0.1";
    let run = desk.run(line).ok();
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{run:#?}");
    for (line, lambda) in lines.iter().zip(["lambda 0.100000: ", "lambda 0.0100000: "]) {
        assert!(line.starts_with(lambda) && line.contains("error "), "{line}");
    }
    assert!(desk.run(&format!("{line} --quiet")).ok().stderr.is_empty());
}

#[test]
fn the_default_grid_of_chains_is_short_and_ends_where_it_gets_no_better() {
    let desk = desk();
    let line = "cv chain words.data --folds 3 --tolerance 0.1 --json";
    let json = desk.run(line).ok().json();
    let candidates = json["candidates"].as_array().unwrap();
    let errors: Vec<f64> = candidates.iter().map(|candidate| number(candidate, "error")).collect();
    let better = |k: usize| errors[k] < errors[..k].iter().copied().fold(f64::INFINITY, f64::min);
    assert!(errors.len() <= 4 && (1..errors.len() - 1).all(better), "{errors:?}");
    let last = better(errors.len() - 1);
    assert_eq!(json["end"], if last || errors.len() == 4 { "complete" } else { "no_better" });
    // A list is tried to its end.
    let all = desk.run(&format!("{line} --lambdas 100/n,10/n,1/n,0.1/n")).ok().json();
    assert_eq!(all["candidates"].as_array().unwrap().len(), 4);
    assert_eq!(all["chosen_by"], "error");
}
