//! Every loss, regulariser and option: what is certified is true of the weights, and proved again.

use crate::common::{Desk, interval, number, overlap};
use crate::linear::numbers::{BINARY, Numbers, REGRESSION, option, weights};

const REGULARISERS: [&str; 7] = [
    "",
    "--l1 0.02",
    "--nonnegative",
    "--l1 0.02 --nonnegative",
    "--intercept --l1 0.01",
    "--intercept --nonnegative",
    "--intercept=penalised --l1 0.01",
];

fn tasks() -> impl Iterator<Item = (&'static str, &'static str)> {
    let binary = BINARY.into_iter().map(|loss| ("binary", loss));
    binary.chain(REGRESSION.into_iter().map(|loss| ("regression", loss)))
}

#[test]
fn every_loss_is_certified_and_proved_under_every_regulariser() {
    let desk = Desk::new();
    for (task, loss) in tasks() {
        let data = Numbers::of(task, 5);
        desk.write("data.svm", data.text());
        for regulariser in REGULARISERS {
            let line = format!("{task} data.svm {loss} {regulariser} --lambda 0.05");
            let json = desk.train(&format!("{line} --tolerance 1e-6 --witness -o model"));
            let width = 3 + usize::from(regulariser.contains("--intercept"));
            let w = weights(&desk, "model", width);
            let l1 = option(regulariser, "--l1").unwrap_or(0.0);
            // What a free intercept would cost is not part of the objective.
            let free = regulariser.contains("--intercept ");
            let objective = |w: &[f64]| {
                let b = if free { w[3] } else { 0.0 };
                data.objective(loss, 0.05, l1, w) - 0.025 * b * b - l1 * b.abs()
            };
            let own = objective(&w);
            assert!((own - number(&json, "primal")).abs() < 1e-12, "{line}: {own} {json:#}");
            assert!(
                !line.contains("--nonnegative") || w[..3].iter().all(|&w| w >= 0.0),
                "{line}: {w:?}"
            );
            assert!(number(&json, "gap") <= 1e-6 * own, "{line}");
            // No weights nearby are better than the certificate allows.
            let error = number(&json, "rounding_error");
            for j in 0..width {
                for step in [-0.3, -0.01, 0.01, 0.3] {
                    let mut other = w.clone();
                    other[j] += step;
                    if line.contains("--nonnegative") && j < 3 && other[j] < 0.0 {
                        continue;
                    }
                    let value = objective(&other);
                    assert!(value >= number(&json, "dual") - error, "{line}");
                }
            }
            let checked = desk.certify("model", "data.svm");
            assert_eq!(
                (&checked["verified"], &checked["dual_proved"]),
                (&true.into(), &true.into())
            );
            assert!(overlap(interval(&checked), interval(&json)), "{line}");
        }
    }
}

#[test]
fn every_option_and_method_certifies_the_same_optimum() {
    let desk = Desk::new();
    for (task, loss) in tasks() {
        desk.write("data.svm", Numbers::of(task, 8).text());
        let line = format!("{task} data.svm {loss} --lambda 0.1");
        let tight = interval(&desk.train(&format!("{line} --tolerance 1e-7")));
        let smooth = ["hinge", "absolute", "epsilon-insensitive"]
            .iter()
            .all(|kind| !loss.starts_with(&format!("--loss {kind}")));
        let mut ways = vec![
            "--option i",
            "--option ii",
            "--option iii",
            "--option iv",
            "--option i --sampling uniform --average suffix",
            "--option iii --batch 4 --average weighted",
            "--solver fw",
        ];
        ways.extend(smooth.then_some("--option v"));
        for way in ways {
            let json = desk.train(&format!("{line} {way} --passes 200"));
            assert!(overlap(interval(&json), tight), "{line} {way}: {json:#}");
            assert!(number(&json, "relative_gap") < 0.05, "{line} {way}: {json:#}");
        }
    }
}

#[test]
fn strong_l1_leaves_few_weights_and_stronger_none() {
    let desk = Desk::new();
    for task in ["binary", "regression"] {
        desk.write("data.svm", Numbers::of(task, 3).text());
        let zeros = |l1: &str| {
            desk.train(&format!("{task} data.svm --l1 {l1} --tolerance 1e-5 -o model"));
            weights(&desk, "model", 3).iter().filter(|&&w| w == 0.0).count()
        };
        assert_eq!((zeros("0"), zeros("1000")), (0, 3), "{task}");
        assert!(zeros("0.05") <= zeros("0.15"), "{task}");
    }
}

// The constant is a feature like any other, if asked for: writing it into the file is the same.
#[test]
fn a_penalised_intercept_is_a_feature_that_is_always_one() {
    let desk = Desk::new();
    for task in ["binary", "regression"] {
        let data = Numbers::of(task, 4);
        desk.write("data.svm", data.text());
        let with: String = data.text().lines().map(|line| format!("{line} 4:1\n")).collect();
        desk.write("with.svm", with);
        let line = "--lambda 0.05 --tolerance 1e-8 --witness";
        let own = desk.train(&format!("{task} data.svm {line} --intercept=penalised -o own"));
        let written = desk.train(&format!("{task} with.svm {line} -o written"));
        assert_eq!(own["primal"], written["primal"], "{task}");
        assert_eq!(weights(&desk, "own", 4), weights(&desk, "written", 4));
        // Certified from the file without the constant, which is added again.
        assert_eq!(desk.certify("own", "data.svm")["dual_proved"], true);
        desk.run("certify own with.svm").exits(2);
        desk.run("certify written data.svm").exits(2);
    }
}

#[test]
fn weights_of_examples_and_checkpoints_go_with_linear_models() {
    let desk = Desk::new();
    for task in ["binary", "regression"] {
        let data = Numbers::of(task, 6);
        let lines: Vec<String> = data.text().lines().map(String::from).collect();
        let twice: String =
            lines.iter().chain(&lines[..20]).map(|line| format!("{line}\n")).collect();
        desk.write("data.svm", data.text());
        desk.write("twice.svm", twice);
        desk.write(
            "counts",
            (0..40).map(|i| if i < 20 { "2\n" } else { "1\n" }).collect::<String>(),
        );
        let line = "--lambda 0.05 --tolerance 1e-7";
        let weighted = desk.train(&format!("{task} data.svm {line} --sample-weights counts"));
        let repeated = desk.train(&format!("{task} twice.svm {line}"));
        assert!(overlap(interval(&weighted), interval(&repeated)), "{task}");
        assert!((number(&weighted, "primal") - number(&repeated, "primal")).abs() < 1e-6);

        let kept = format!("{task} data.svm --lambda 0.01 --tolerance 0 --option iii");
        desk.train(&format!("{kept} --passes 4 --checkpoint {task}.run"));
        desk.train(&format!("{kept} --passes 9 --resume {task}.run --witness -o resumed"));
        desk.train(&format!("{kept} --passes 9 --witness -o whole"));
        assert_eq!(desk.read("resumed"), desk.read("whole"), "{task}");
        let warm = desk.train(&format!("{task} data.svm --lambda 0.011 --warm-start whole"));
        assert!(number(&warm, "relative_gap") <= 0.01);
    }
}
