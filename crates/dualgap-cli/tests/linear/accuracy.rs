//! `--accuracy ε --bound B`: the pure l1 problem to an accuracy that is known beforehand.

use crate::common::{Desk, Dice, interval, number};
use std::fmt::Write;

fn noisy(desk: &Desk, features: usize) {
    let mut dice = Dice(9);
    let mut text = String::new();
    for _ in 0..30 {
        let x: Vec<f64> = (0..features).map(|_| dice.signed()).collect();
        let class = if x[0] - 0.5 * x[1] + 0.4 * dice.signed() > 0.0 { 1 } else { -1 };
        let entries: Vec<String> =
            x.iter().enumerate().map(|(j, x)| format!("{}:{x}", j + 1)).collect();
        let _ = writeln!(text, "{class} {}", entries.join(" "));
    }
    desk.write("noisy.svm", text);
}

/// The objective of the l1 problem at the weights of a model: the primal value less what was added.
fn l1_value(desk: &Desk, json: &serde_json::Value, features: usize) -> f64 {
    let tsv = desk.run("inspect model --weights -").ok().stdout;
    let weights = tsv.lines().skip(1).map(|line| line.rsplit('\t').next().unwrap().parse::<f64>());
    let weights: Vec<f64> = weights.map(Result::unwrap).collect();
    let added = if json["q_norm"] == true {
        let p = (features as f64).ln();
        let (q, c) = (p / (p - 1.0), 2.0_f64.exp() * (p - 1.0));
        let powers: f64 = weights.iter().map(|w| w.abs().powf(q)).sum();
        0.5 * c * powers.powf(2.0 / q)
    } else {
        0.5 * weights.iter().map(|w| w * w).sum::<f64>()
    };
    number(json, "primal") - number(json, "lambda") * added
}

#[test]
fn the_l1_problem_is_solved_to_the_accuracy_that_was_asked_for() {
    let (desk, features) = (Desk::new(), 12);
    noisy(&desk, features);
    for (task, loss) in [("binary", "logistic"), ("binary", "hinge"), ("regression", "squared")] {
        let line = format!("{task} noisy.svm --loss {loss} --l1 0.05");
        let (low, high) = interval(&desk.train(&format!("{line} --lambda 0 --tolerance 1e-6")));
        for options in ["", " --q-norm", " --bound 4", " --q-norm --bound 6"] {
            let json = desk.train(&format!("{line} --accuracy 0.01{options} -o model"));
            let guarantee = &json["l1_guarantee"];
            let accuracy = number(guarantee, "accuracy");
            assert!(accuracy <= 0.01 * (1.0 + 1e-9), "{line}{options}: {json:#}");
            let value = l1_value(&desk, &json, features);
            assert!(
                value >= low - 1e-9 && value <= high + accuracy,
                "{line}{options}: {value} {high}"
            );
            // λ is that of the paper, with the constant mended.
            let bound = number(guarantee, "bound");
            let c = if options.contains("q-norm") {
                2.0_f64.exp() * ((features as f64).ln() - 1.0)
            } else {
                1.0
            };
            let lambda = 0.01 / (c * bound * bound);
            assert!((number(&json, "lambda") / lambda - 1.0).abs() < 1e-12, "{json:#}");
            if !options.contains("bound") {
                let at_zero = match loss {
                    "logistic" => 2.0_f64.ln(),
                    "hinge" => 1.0,
                    _ => 0.5,
                };
                assert!((bound * 0.05 / at_zero - 1.0).abs() < 1e-12, "{json:#}");
            }
        }
    }
    // Classes, too.
    let json = desk.train("multiclass noisy.svm --l1 0.05 --accuracy 0.05 --bound 3 -o model");
    let best = desk.train("multiclass noisy.svm --l1 0.05 --lambda 0 --tolerance 1e-4");
    assert!(l1_value(&desk, &json, features) <= interval(&best).1 + 0.05, "{json:#}");
}

#[test]
fn what_an_accuracy_does_not_go_with_is_said() {
    let desk = Desk::new();
    noisy(&desk, 3);
    let line = "train binary noisy.svm --accuracy 0.01";
    desk.run(line).refuses(&["--accuracy", "--l1"]);
    for (options, words) in [
        ("--l1 0.1 --lambda 0.1", "--lambda"),
        ("--l1 0.1 --c 1", "--c"),
        ("--l1 0.1 --tolerance 0.1", "--tolerance"),
        ("--l1 0.1 --bound 0", "--bound"),
        ("--l1 0.1 --bound 1e200", "lambda"),
        ("--l1 0.1 --q-norm", "eight"),
        ("--ball l1 --radius 1", "--accuracy"),
    ] {
        desk.run(&format!("{line} {options}")).refuses(&[words]);
    }
    let slack = "train multiclass noisy.svm --l1 0.1 --rescale slack --accuracy 0.1";
    desk.run(slack).refuses(&["--accuracy", "margin"]);
    desk.run("train binary noisy.svm --l1 0.1 --bound 2").refuses(&["--accuracy"]);
    desk.run("train binary noisy.svm --l1 0.1 --accuracy 0").refuses(&["--accuracy"]);
}
