//! `--lambda 0 --l1 σ`: the l1 problem itself, certified.

use crate::common::forge::ModelFile;
use crate::common::{Desk, Dice, interval, number, overlap};
use std::fmt::Write;

/// Columns that do not overlap: every weight is a soft threshold of its own least squares solution.
#[test]
fn the_lasso_of_columns_apart_is_a_soft_threshold() {
    let desk = Desk::new();
    let targets = [3.0_f64, -2.0, 0.4, 1.0];
    let text: String =
        targets.iter().enumerate().map(|(j, y)| format!("{y} {}:{}\n", j + 1, j + 1)).collect();
    desk.write("apart.svm", text);
    let sigma = 0.3;
    let run = "regression apart.svm --lambda 0 --l1 0.3 --tolerance 1e-10 --witness -o model";
    let json = desk.train(run);
    let tsv = desk.run("inspect model --weights -").ok().stdout;
    let mut expected = 0.0;
    for (j, y) in targets.iter().enumerate() {
        // ¼·½(xw − y)² + σ|w| with x = j + 1
        let x = (j + 1) as f64;
        let w = y.signum() * (y.abs() / x - 4.0 * sigma / (x * x)).max(0.0);
        expected += 0.25 * 0.5 * (x * w - y).powi(2) + sigma * w.abs();
        let row = format!("feature\t{}\t", j + 1);
        let found = tsv.lines().find(|line| line.starts_with(&row));
        let found: f64 =
            found.map_or(0.0, |line| line.rsplit('\t').next().unwrap().parse().unwrap());
        assert!((found - w).abs() < 1e-5, "weight {}: {found} and not {w}", j + 1);
    }
    let (low, high) = interval(&json);
    assert!(low <= expected + 1e-12 && expected <= high + 1e-12, "{expected}: {json:#}");
    assert_eq!(desk.certify("model", "apart.svm")["dual_proved"], true);
}

/// Two features of two classes, with some noise.
fn noisy(desk: &Desk) {
    let mut dice = Dice(5);
    let mut text = String::new();
    for _ in 0..40 {
        let (a, b) = (dice.signed(), dice.signed());
        let class = if a + 0.3 * b + 0.5 * dice.signed() > 0.0 { 1 } else { -1 };
        let _ = writeln!(text, "{class} 1:{a} 2:{b} 3:{}", dice.signed());
    }
    desk.write("noisy.svm", text);
}

#[test]
fn every_loss_is_certified_and_close_to_a_small_lambda() {
    let desk = Desk::new();
    noisy(&desk);
    let binary = ["hinge", "smooth-hinge", "squared-hinge", "logistic"].map(|l| ("binary", l));
    let regression =
        ["squared", "absolute", "epsilon-insensitive", "huber"].map(|l| ("regression", l));
    for (task, loss) in binary.into_iter().chain(regression) {
        for more in ["", " --nonnegative"] {
            let line = format!("{task} noisy.svm --loss {loss} --l1 0.02{more}");
            let pure =
                desk.train(&format!("{line} --lambda 0 --tolerance 0.01 --witness -o model"));
            assert_eq!(desk.certify("model", "noisy.svm")["dual_proved"], true, "{line}");
            // λ/2‖w‖² adds at most what it is at the weights of the other problem: nearly nothing.
            let small = desk.train(&format!("{line} --lambda 1e-5 --tolerance 0.01"));
            let (low, high) = interval(&small);
            assert!(overlap(interval(&pure), (low - 1e-3, high)), "{line}: {pure:#} {small:#}");
        }
    }
}

#[test]
fn a_sigma_that_is_too_large_leaves_nothing() {
    let desk = Desk::new();
    noisy(&desk);
    for loss in ["hinge", "logistic"] {
        let line = format!("binary noisy.svm --loss {loss} --lambda 0 --l1 10 --tolerance 1e-6");
        let json = desk.train(&format!("{line} -o model"));
        let at_zero = if loss == "hinge" { 1.0 } else { 2.0_f64.ln() };
        assert!((number(&json, "primal") - at_zero).abs() < 1e-12, "{json:#}");
        assert_eq!(desk.run("inspect model --weights -").ok().stdout.lines().count(), 1);
    }
}

#[test]
fn what_a_pure_l1_run_cannot_do_is_said() {
    let desk = Desk::new();
    noisy(&desk);
    let line = "train binary noisy.svm --lambda 0 --l1 0.1";
    desk.train("binary noisy.svm --witness -o old");
    desk.run(&format!("{line} --warm-start old")).refuses(&["lambda"]);
    desk.run("train binary noisy.svm --lambda 0").refuses(&["--lambda", "--l1"]);
    desk.run("train multiclass noisy.svm --lambda 0").refuses(&["--lambda", "--l1"]);
    let slack = "train multiclass noisy.svm --lambda 0 --l1 0.1 --rescale slack";
    desk.run(slack).refuses(&["--lambda", "margin"]);
}

#[test]
fn a_kept_run_goes_on_bit_for_bit() {
    let desk = Desk::new();
    noisy(&desk);
    for (k, loss) in ["logistic", "hinge", "squared-hinge --intercept", "hinge --intercept"]
        .into_iter()
        .enumerate()
    {
        let line = format!("binary noisy.svm --loss {loss} --lambda 0 --l1 0.02");
        let whole = desk.train_on(&format!("{line} --passes 6 --witness -o whole"));
        desk.train_on(&format!("{line} --passes 3 --checkpoint run{k} --checkpoint-every 1"));
        let again = desk.train_on(&format!("{line} --passes 6 --resume run{k} --witness -o again"));
        assert_eq!(desk.read("whole"), desk.read("again"), "{loss}");
        assert_eq!(whole["dual"], again["dual"], "{loss}");
        let other = format!("{line} --passes 6 --resume run{k}").replace("0.02", "0.03");
        desk.run(&format!("train {other} --tolerance 0")).refuses(&["its sigma is 0.02"]);
    }
}

// A certification moves such solvers, so one more of them would leave a mark.
#[test]
fn a_run_that_had_reached_its_tolerance_goes_on_bit_for_bit() {
    let desk = Desk::new();
    noisy(&desk);
    for (k, line) in [
        "--loss hinge --lambda 0 --l1 0.02",
        "--loss hinge --lambda 0 --l1 0.02 --intercept",
        "--loss logistic --lambda 0 --l1 0.02",
        "--loss hinge --lambda 1e-3 --intercept --acceleration on",
        "--loss logistic --lambda 1e-4 --intercept",
    ]
    .into_iter()
    .enumerate()
    {
        let line = format!("binary noisy.svm {line} --passes 5000");
        desk.train(&format!("{line} --tolerance 1e-5 --witness -o whole"));
        for (j, first) in ["0.3", "0.03", "0.003"].into_iter().enumerate() {
            desk.train(&format!("{line} --tolerance {first} --checkpoint run{k}{j}"));
            desk.train(&format!("{line} --tolerance 1e-5 --resume run{k}{j} --witness -o again"));
            assert_eq!(desk.read("whole"), desk.read("again"), "{line} {first}");
        }
    }
}

// Scaling into the feasible set leaves a little of the gap, which no run must wait for.
#[test]
fn a_tolerance_beyond_what_rounding_allows_ends_the_run() {
    let desk = Desk::new();
    noisy(&desk);
    for loss in ["hinge", "logistic"] {
        let line = format!("train binary noisy.svm --loss {loss} --lambda 0 --l1 0.02");
        desk.run(&format!("{line} --tolerance 1e-15 --passes 1000000")).exits(1);
    }
}

/// Whatever is wrong with a certificate of the l1 problem is found from the data.
#[test]
fn forged_models_are_refused() {
    let desk = Desk::new();
    noisy(&desk);
    for loss in ["logistic", "hinge"] {
        let line = format!("binary noisy.svm --loss {loss} --lambda 0 --l1 0.02 --tolerance 0.01");
        desk.train(&format!("{line} --witness -o model"));
        let model = ModelFile::parse(&desk.read("model"));
        // A wrong weight, and a dual point that is no longer feasible or no longer the one of the value.
        let changes = [("weights", 1.5), ("witness.weights", 1.2), ("witness.weights", 0.8)];
        for (tensor, factor) in changes {
            let mut forged = model.clone();
            let values: Vec<f64> = forged.floats(tensor).iter().map(|x| factor * x).collect();
            forged.set_floats(tensor, &values);
            desk.write("forged", forged.sealed());
            desk.run("certify forged noisy.svm").refuses(&[]);
        }
        // A dual value that was never reached.
        let closer = model.with_header(|header| {
            let primal = header["certificate"]["primal"].clone();
            header["certificate"]["dual"] = primal;
        });
        desk.write("forged", closer.sealed());
        desk.run("certify forged noisy.svm").refuses(&["dual"]);
    }
}

/// Classes and words under the l1 norm alone: certified, forged in vain, and kept bit for bit.
#[test]
fn structures_have_a_pure_l1_problem_too() {
    let desk = Desk::new();
    noisy(&desk);
    desk.write("words", "x A\nx B\ny B\n\ny B\nx A\n\nz C\nx A\ny B\n\nz C\nz C\n\n");
    for (k, (task, data)) in [
        ("multiclass noisy.svm", "noisy.svm"),
        ("multiclass noisy.svm --loss smooth-hinge --nonnegative", "noisy.svm"),
        ("multiclass noisy.svm --loss softmax", "noisy.svm"),
        ("chain words", "words"),
    ]
    .into_iter()
    .enumerate()
    {
        let line = format!("{task} --lambda 0 --l1 0.02");
        let json = desk.train(&format!("{line} --tolerance 0.01 --witness -o model"));
        assert_eq!(desk.certify("model", data)["dual_proved"], true, "{json:#}");
        // A small λ adds at most what it is at the weights of the other problem.
        let small = desk.train(&format!("{task} --l1 0.02 --lambda 1e-3 --tolerance 0.01"));
        let (low, high) = interval(&small);
        assert!(overlap(interval(&json), (low - 0.05, high)), "{line}: {json:#} {small:#}");
        let model = ModelFile::parse(&desk.read("model"));
        let closer = model.with_header(|header| {
            let primal = header["certificate"]["primal"].clone();
            header["certificate"]["dual"] = primal;
        });
        desk.write("forged", closer.sealed());
        desk.run(&format!("certify forged {data}")).refuses(&["dual"]);

        desk.train_on(&format!("{line} --passes 6 --witness -o whole"));
        desk.train_on(&format!("{line} --passes 3 --checkpoint run{k} --checkpoint-every 1"));
        desk.train_on(&format!("{line} --passes 6 --resume run{k} --witness -o again"));
        assert_eq!(desk.read("whole"), desk.read("again"), "{task}");
    }
}
