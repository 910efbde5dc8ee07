//! The same by hand: files split by the test, trained on and evaluated one by one.

use crate::common::{Desk, Dice, Table, Words, number};
use dualgap::data::Folds;
use serde_json::Value;
use std::fmt::Write;

/// What λ are tried, in no order and one of them twice.
const LAMBDAS: [f64; 4] = [0.02, 0.5, 0.004, 0.5];

/// The same from the largest to the smallest.
const FALLING: [f64; 3] = [0.5, 0.02, 0.004];

/// A task whose data can be split: the lines of the file for some of its examples.
struct Split<'a> {
    /// `binary`, and such.
    task: &'a str,
    options: &'a str,
    /// The examples of each fold.
    folds: Vec<Vec<usize>>,
    text: &'a dyn Fn(&[usize]) -> String,
    sample_weights: Option<&'a [f64]>,
    /// Which figure of `eval` is the error.
    figure: &'a str,
}

impl Split<'_> {
    /// Writes a part of the data and returns the options that name it.
    fn write(&self, desk: &Desk, name: &str, examples: &[usize]) -> String {
        desk.write(name, (self.text)(examples));
        let Some(weights) = self.sample_weights else { return name.into() };
        let lines: String = examples.iter().map(|&i| format!("{}\n", weights[i])).collect();
        desk.write(&format!("{name}.weights"), lines);
        format!("{name} --sample-weights {name}.weights")
    }

    /// Every fold at every λ, each model beginning with the one before: error, passes, relative gap.
    fn by_hand(&self, desk: &Desk) -> Vec<Vec<(f64, f64, f64)>> {
        let fold = |k: usize| {
            let others = self.folds.iter().enumerate().filter(|(other, _)| *other != k);
            let mut rest: Vec<usize> = others.flat_map(|(_, fold)| fold).copied().collect();
            rest.sort_unstable();
            let train = self.write(desk, "rest", &rest);
            self.write(desk, "held-out", &self.folds[k]);
            let mut warm = String::new();
            let attempt = |(j, lambda): (usize, &f64)| {
                let (task, options) = (self.task, self.options);
                let json = desk.train(&format!(
                    "{task} {train} {options} --lambda {lambda} --witness -o model-{j}{warm}"
                ));
                warm = format!(" --warm-start model-{j}");
                let eval = desk.run(&format!("eval model-{j} held-out --json")).ok().json();
                let error = number(&eval, self.figure);
                (error, number(&json, "passes"), number(&json, "relative_gap"))
            };
            FALLING.iter().enumerate().map(attempt).collect()
        };
        (0..self.folds.len()).map(fold).collect()
    }

    /// Compares all of it with what `cv` says of the whole file.
    fn agrees(&self, cv_options: &str) -> Value {
        let desk = Desk::new();
        let mut all = self.folds.concat();
        all.sort_unstable();
        let whole = self.write(&desk, "whole", &all);
        let lambdas = LAMBDAS.map(|lambda| lambda.to_string()).join(",");
        let (task, options) = (self.task, self.options);
        let line = format!("cv {task} {whole} {options} {cv_options} --lambdas {lambdas} --json");
        let json = desk.run(&line).ok().json();
        assert_eq!((&json["n"], &json["folds"]), (&all.len().into(), &self.folds.len().into()));
        let candidates = json["candidates"].as_array().unwrap();
        assert_eq!(candidates.len(), FALLING.len());
        let by_hand = self.by_hand(&desk);
        for (j, candidate) in candidates.iter().enumerate() {
            assert_eq!(number(candidate, "lambda"), FALLING[j]);
            for (k, trials) in by_hand.iter().enumerate() {
                assert_eq!(candidate["fold_errors"][k].as_f64(), Some(trials[j].0), "{j} {k}");
            }
            let passes: f64 = by_hand.iter().map(|trials| trials[j].1).sum();
            let expected = passes / self.folds.len() as f64;
            assert!((number(candidate, "passes") - expected).abs() < 1e-9, "{candidate:#}");
            let worst = by_hand.iter().map(|trials| trials[j].2).fold(0.0, f64::max);
            assert_eq!(number(candidate, "relative_gap"), worst);
        }
        json
    }
}

/// The folds as the library deals them; its own tests judge how.
fn dealt(folds: &Folds) -> Vec<Vec<usize>> {
    (0..folds.count()).map(|fold| folds.inside(fold)).collect()
}

fn stratified(data: &Table, count: usize, seed: u64) -> Vec<Vec<usize>> {
    let labels: Vec<u32> = data.labels.iter().map(|&label| label as u32).collect();
    dealt(&Folds::stratified(&labels, count, seed).unwrap())
}

#[test]
fn two_classes_with_weights_of_examples_and_classes() {
    // Three of four examples are of the second class, so that balanced weights depend on the fold.
    let all = Table::new(60, 5, 2, 3);
    let kept: Vec<usize> = (0..60).filter(|i| i % 2 == 1 || i % 6 == 0).collect();
    let data = all.select(&kept);
    let mut dice = Dice(5);
    let weights: Vec<f64> = kept.iter().map(|_| 1.0 + dice.below(4) as f64).collect();
    Split {
        task: "binary",
        options: "--loss logistic --class-weights balanced --intercept --tolerance 1e-3 --seed 2",
        folds: stratified(&data, 3, 2),
        text: &|chosen| data.select(chosen).text(),
        sample_weights: Some(&weights),
        figure: "error",
    }
    .agrees("--folds 3");
}

#[test]
fn several_classes_on_scaled_columns() {
    let data = Table::new(48, 6, 3, 8);
    for options in ["", "--loss softmax --scale rms", "--average weighted --intercept"] {
        Split {
            task: "multiclass",
            options,
            folds: stratified(&data, 4, 0),
            text: &|chosen| data.select(chosen).text(),
            sample_weights: None,
            figure: "error",
        }
        .agrees("--folds 4");
    }
}

#[test]
fn numbers_under_an_elastic_net() {
    let mut dice = Dice(4);
    let rows: Vec<String> = (0..40)
        .map(|_| {
            let x: Vec<f64> = (0..4).map(|_| dice.signed()).collect();
            let y = 2.0 * x[0] - x[1] + 3.0 + 0.2 * dice.signed();
            format!("{y} 1:{} 2:{} 3:{} 4:{}\n", x[0], x[1], x[2], x[3])
        })
        .collect();
    let json = Split {
        task: "regression",
        options: "--l1 0.01 --intercept --scale max",
        folds: dealt(&Folds::plain(40, 5, 0).unwrap()),
        text: &|chosen| chosen.iter().map(|&i| rows[i].as_str()).collect(),
        sample_weights: None,
        figure: "rmse",
    }
    .agrees("");
    assert_eq!(json["metric"], "rmse");
}

#[test]
fn words_in_the_folds_that_the_file_gives_them() {
    let words = Words::new(40, 3);
    let of_fold = |fold: usize| (0..40).filter(move |i| i % 10 == fold).collect();
    Split {
        task: "chain",
        options: "--tolerance 0.05",
        folds: (0..10).map(of_fold).collect(),
        text: &|chosen| Words(chosen.iter().map(|&i| words.0[i].clone()).collect()).text(),
        sample_weights: None,
        figure: "error",
    }
    .agrees("--given-folds");
}

#[test]
fn letters_stay_with_the_fold_of_their_word() {
    let words = Words::new(30, 6);
    let desk = Desk::new();
    desk.write("words", words.text());
    let line = "cv multiclass words --given-folds --train-folds 2,5,7 --lambdas 0.1 --json";
    let json = desk.run(line).ok().json();
    assert_eq!(
        (&json["folds"], &json["n"]),
        (&3.into(), &words.in_folds(&[2, 5, 7]).apart().len().into())
    );
    for (k, (fold, rest)) in [(2, "5,7"), (5, "2,7"), (7, "2,5")].into_iter().enumerate() {
        let by_hand = desk.train(&format!(
            "multiclass words --train-folds {rest} --test-folds {fold} --lambda 0.1"
        ));
        assert_eq!(json["candidates"][0]["fold_errors"][k], by_hand["test"]["error"]);
    }
}

/// Sentences whose chunks are easy to find but for some noise.
fn sentences(count: usize, seed: u64) -> Vec<String> {
    let mut dice = Dice(seed);
    let sentence = |_| {
        let mut text = String::new();
        for _ in 0..=dice.below(3) {
            let noun = ["dog", "cat", "pound", "market"][dice.below(4)];
            let _ = writeln!(text, "The DT B-NP\n{noun} NN I-NP");
            let label = if dice.below(4) == 0 { "B-VP" } else { "O" };
            let _ = writeln!(text, "runs VBZ {label}");
        }
        text + "\n"
    };
    (0..count).map(sentence).collect()
}

#[test]
fn chunks_have_their_mean_f1_beside_the_error() {
    let (desk, sentences) = (Desk::new(), sentences(24, 1));
    desk.write("whole", sentences.concat());
    let json = desk.run("cv chain whole --folds 3 --lambdas 0.05 --json").ok().json();
    let folds = Folds::plain(24, 3, 0).unwrap();
    let text = |chosen: Vec<usize>| chosen.iter().map(|&i| &sentences[i][..]).collect::<String>();
    let mut sum = 0.0;
    for fold in 0..3 {
        desk.write("rest", text(folds.outside(fold)));
        desk.write("held-out", text(folds.inside(fold)));
        let by_hand = desk.train("chain rest --test held-out --lambda 0.05");
        assert_eq!(json["candidates"][0]["fold_errors"][fold], by_hand["test"]["error"]);
        sum += number(&by_hand["test"]["chunks"], "f1");
    }
    assert!((number(&json["candidates"][0], "f1") - sum / 3.0).abs() < 1e-12);
    let table = desk.run("cv chain whole --folds 3 --lambdas 0.05").ok().stdout;
    assert!(table.contains(&format!("{:.2}", 100.0 * sum / 3.0)), "{table}");
    assert!(table.contains("largest mean F1 of chunks"), "{table}");
    assert_eq!(json["chosen_by"], "f1");
}
