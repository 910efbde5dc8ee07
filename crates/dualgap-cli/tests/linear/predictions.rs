//! Predictions, scores, probabilities and errors, computed again from the weights.

use crate::common::{Desk, number};
use crate::linear::numbers::{BINARY, Numbers, REGRESSION, weights};

fn cells(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split('\t').collect()).collect()
}

fn close(told: &str, own: f64) -> bool {
    (told.parse::<f64>().unwrap() - own).abs() < 1e-12 * (1.0 + own.abs())
}

#[test]
fn binary_labels_scores_and_accuracy_are_those_of_the_weights() {
    let desk = Desk::new();
    let (train, test) = (Numbers::of("binary", 1), Numbers::of("binary", 2));
    desk.write("train.svm", train.text());
    desk.write("test.svm", test.text());
    desk.write("new.svm", test.unlabelled());
    for (k, loss) in BINARY.into_iter().enumerate() {
        let intercept = if k % 2 == 0 { "--intercept" } else { "" };
        let json =
            desk.train(&format!("binary train.svm {loss} {intercept} --test test.svm -o model"));
        let w = weights(&desk, "model", 3 + usize::from(k % 2 == 0));
        let scores: Vec<f64> = (0..40).map(|i| test.score(i, &w)).collect();
        let told = desk.run("predict model test.svm --scores").ok().stdout;
        for (cells, &score) in cells(&told).iter().zip(&scores) {
            assert_eq!(cells[0], if score > 0.0 { "1" } else { "-1" }, "{loss}");
            assert!(close(cells[1], score), "{loss}: {cells:?} {score}");
        }
        // Labels of the data are not needed, and change nothing.
        assert_eq!(told, desk.run("predict model new.svm --scores").ok().stdout);
        let labels: Vec<&str> = told.lines().map(|line| line.split('\t').next().unwrap()).collect();
        let plain = desk.run("predict model new.svm").ok().stdout;
        assert!(plain.lines().eq(labels.iter().copied()));

        let right = labels.iter().zip(&test.names).filter(|(a, b)| *a == b).count();
        let eval = desk.run("eval model test.svm --json").ok().json();
        assert!((number(&eval, "accuracy") - right as f64 / 40.0).abs() < 1e-12, "{loss}");
        let error = number(&json["test"], "error");
        assert!((error - (1.0 - right as f64 / 40.0)).abs() < 1e-12, "{loss}");
        desk.run("eval model new.svm").refuses(&["no labels"]);
    }
}

#[test]
fn probabilities_are_those_of_the_second_class() {
    let desk = Desk::new();
    let data = Numbers::of("binary", 1);
    desk.write("data.svm", data.text());
    desk.train("binary data.svm --loss logistic --intercept -o model");
    let w = weights(&desk, "model", 4);
    let told = desk.run("predict model data.svm --probabilities").ok().stdout;
    let both = desk.run("predict model data.svm --scores --probabilities").ok().stdout;
    for (i, (one, two)) in cells(&told).iter().zip(cells(&both)).enumerate() {
        let p = 1.0 / (1.0 + (-data.score(i, &w)).exp());
        assert!(close(one[1], p), "{one:?} {p}");
        assert_eq!(one[0] == "1", p > 0.5);
        assert_eq!((two[0], two[2]), (one[0], one[1]));
    }
}

#[test]
fn numbers_and_their_errors_are_those_of_the_weights() {
    let desk = Desk::new();
    let (train, test) = (Numbers::of("regression", 1), Numbers::of("regression", 2));
    desk.write("train.svm", train.text());
    desk.write("test.svm", test.text());
    for (k, loss) in REGRESSION.into_iter().enumerate() {
        let intercept = if k % 2 == 0 { "--intercept" } else { "" };
        let json = desk
            .train(&format!("regression train.svm {loss} {intercept} --test test.svm -o model"));
        let w = weights(&desk, "model", 3 + usize::from(k % 2 == 0));
        let numbers: Vec<f64> = (0..40).map(|i| test.score(i, &w)).collect();
        let told = desk.run("predict model test.svm").ok().stdout;
        for (line, &number) in told.lines().zip(&numbers) {
            assert!(close(line, number), "{loss}: {line} {number}");
        }
        let off = || numbers.iter().zip(&test.targets).map(|(a, b)| a - b);
        let squared = off().map(|r| r * r).sum::<f64>() / 40.0;
        let mean = test.targets.iter().sum::<f64>() / 40.0;
        let variance = test.targets.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / 40.0;
        let own = [
            ("rmse", squared.sqrt()),
            ("mae", off().map(f64::abs).sum::<f64>() / 40.0),
            ("r2", 1.0 - squared / variance),
        ];
        let eval = desk.run("eval model test.svm --json").ok().json();
        for (name, own) in own {
            assert!((number(&eval, name) - own).abs() < 1e-12, "{loss} {name}: {own} {eval:#}");
            assert!((number(&json["test"], name) - own).abs() < 1e-12, "{loss} {name}");
        }
        assert_eq!(eval["examples"], 40);
        desk.run("eval model test.svm").ok();
    }
}

#[test]
fn features_that_training_had_not_seen_are_left_out_beside_an_intercept() {
    let desk = Desk::new();
    for task in ["binary", "regression"] {
        let data = Numbers::of(task, 7);
        desk.write("data.svm", data.text());
        let wider: String = data.text().lines().map(|line| format!("{line} 4:9 5:-7\n")).collect();
        desk.write("wider.svm", wider);
        desk.train(&format!("{task} data.svm --intercept -o model"));
        let (narrow, wide) = (
            desk.run("predict model data.svm --scores"),
            desk.run("predict model wider.svm --scores"),
        );
        assert_eq!(narrow.ok().stdout, wide.ok().stdout, "{task}");
    }
}
