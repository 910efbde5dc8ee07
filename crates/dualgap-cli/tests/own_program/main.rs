//! A structure that is written outside the workspace has everything that a built-in one has: `examples/own-structure`, with
//! one file for the structure, one struct of options, and one line that registers it. Its sources are compiled here too,
//! as an example of this package and as a module of these tests, so that dualgap is not compiled again for it;
//! `make lint` compares its lock file.

#[path = "../../../../examples/own-structure/src/structure.rs"]
mod structure;

use crate::common::{Desk, Run};
use dualgap::data::DataSet;
use dualgap::run::{Budget, Interval, Tolerance};
use dualgap::structure::{OracleCheck, OwnExamples, OwnStructure, check_own_oracle};
use dualgap::task::{DualEvidence, Model, PathPlan, Plan, Task, TrialPlan};
use dualgap::term::Penalty;
use std::fmt::Write;
use structure::Segmentation;

const LENGTH: u32 = 6;
const SEGMENTS: Segmentation = Segmentation { width: 2, labels: 3, segments: 2 };
const SHAPE: &str = "--width 2 --labels 3 --segments 2";

/// The example, which is compiled beside the tests.
fn program() -> std::path::PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().parent().unwrap().join("examples/segments")
}

fn run(desk: &Desk, line: &str) -> Run {
    desk.run_program(&program(), &line.split_whitespace().collect::<Vec<_>>())
}

/// Signals with one change, from a label to another; the first number of a position follows its label, up to noise.
fn signals() -> Vec<(Vec<Vec<f64>>, Vec<u8>)> {
    let signal = |i: u32| {
        let (change, before, after) = (1 + i % (LENGTH - 1), (i % 3) as u8, (i / 3 % 3) as u8);
        let label = |t: u32| if t < change { before } else { after };
        let noise = |t: u32| f64::from((7 * i + 5 * t) % 11) / 11.0 - 0.5;
        let x = (0..LENGTH).map(|t| vec![f64::from(label(t)) - 1.0 + 0.8 * noise(t), 1.0]);
        (x.collect(), (0..LENGTH).map(label).collect())
    };
    (0..24).map(signal).collect()
}

/// All labelings with at most two segments.
fn labelings() -> Vec<Vec<u8>> {
    let all = (0..3_u32.pow(LENGTH))
        .map(|k| -> Vec<u8> { (0..LENGTH).map(|t| (k / 3_u32.pow(t) % 3) as u8).collect() });
    let changes = |y: &[u8]| y.windows(2).filter(|pair| pair[0] != pair[1]).count();
    all.filter(|y| changes(y) <= 1).collect()
}

fn write_data(desk: &Desk) {
    let mut text = String::new();
    for (x, y) in signals() {
        let _ = writeln!(text, "[{x:?}, {y:?}]");
    }
    desk.write("signals.txt", text);
}

#[test]
fn its_oracle_keeps_the_contract() {
    let all = |_: &Vec<Vec<f64>>| Some(labelings());
    let check = OracleCheck { all: Some(&all), ..OracleCheck::default() };
    let checked = check_own_oracle(&SEGMENTS, &signals(), &check);
    checked.passed().unwrap();
    assert_eq!(checked.best, checked.decoded);
    // 3 without a change, and 6 pairs of labels for each of 5 places.
    assert_eq!(checked.pairs, 24 * 33);
}

#[test]
fn from_the_library_it_is_saved_proved_again_and_chosen() {
    let data = OwnExamples::new(signals());
    let task = Task::new(OwnStructure::new(SEGMENTS), Penalty::ridge(0.02));
    let model = task.fit(&data, Plan::new(Budget::relative(1e-4))).unwrap().model;
    let desk = Desk::new();
    model.save(&desk.path("m")).unwrap();
    let read = Model::<OwnStructure<Segmentation>>::load(&desk.path("m")).unwrap();
    let proved = read.certify(&data).unwrap();
    assert_eq!(proved.evidence, DualEvidence::Witness);
    assert!(proved.certificate.relative_gap() <= 1e-4);
    // Examples that weigh nothing have no mean loss.
    let weights = (0..24).map(f64::from).collect();
    let light = OwnExamples::new(signals()).with_weights(weights).unwrap();
    assert!(read.evaluate(&light).unwrap().error() < 0.1);
    assert!(read.evaluate(&light.subset(&[0])).is_err());
    let wanted = PathPlan::new(Interval::new(0.1, 1.0).unwrap(), Tolerance::Relative(0.05));
    let covered = task.path(&data, &wanted, |_| None, |_| Ok(())).unwrap();
    assert_eq!(covered.from, Some(0.1));
    let (folds, plan) = (task.folds(&data, 3, 0).unwrap(), TrialPlan::new(Budget::relative(0.01)));
    let found = task.cross_validate(&data, &folds, &[0.01, 100.0], &plan, || ()).unwrap().unwrap();
    assert_eq!(found.candidates[found.best()].value, 0.01);
}

#[test]
fn a_structure_of_ones_own_trains_proves_predicts_and_evaluates() {
    let desk = Desk::new();
    write_data(&desk);
    let train = format!("train segments signals.txt {SHAPE} --lambda 0.02 --json");
    let trained = run(&desk, &format!("{train} --tolerance 1e-4 --witness -o m")).ok().json();
    assert!(trained["relative_gap"].as_f64().unwrap() <= 1e-4);
    let proved = run(&desk, "certify m signals.txt --json").ok().json();
    assert_eq!((&proved["certified"], &proved["dual_proved"]), (&true.into(), &true.into()));
    assert_eq!(proved["problem"]["oracle"]["segments"], 2);
    let inspected = run(&desk, "inspect m --json").ok().json();
    assert_eq!((&inspected["task"], &inspected["dim"]), (&"segments".into(), &6.into()));

    // The primal value is that of brute force over all labelings, and no other weights around are better.
    let primal = proved["primal"].as_f64().unwrap();
    let labelings = labelings();
    let objective = |w: &[f64]| -> f64 {
        let score = |x: &[Vec<f64>], y: &[u8]| -> f64 {
            let at = |(x, &y): (&Vec<f64>, &u8)| {
                let place = 2 * usize::from(y);
                w[place] * x[0] + w[place + 1] * x[1]
            };
            x.iter().zip(y).map(at).sum()
        };
        let losses = signals().into_iter().map(|(x, truth)| {
            let worst = labelings.iter().map(|y| {
                let wrong = truth.iter().zip(y).filter(|(a, b)| a != b).count();
                wrong as f64 / f64::from(LENGTH) + score(&x, y)
            });
            worst.fold(f64::NEG_INFINITY, f64::max) - score(&x, &truth)
        });
        let squares: f64 = w.iter().map(|w| w * w).sum();
        losses.sum::<f64>() / 24.0 + 0.01 * squares
    };
    let exported = run(&desk, "inspect m --weights -").ok().stdout;
    let mut weights = vec![0.0; 6];
    for line in exported.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        weights[cells[1].parse::<usize>().unwrap() - 1] = cells[4].parse().unwrap();
    }
    assert!((objective(&weights) - primal).abs() < 1e-9, "{primal}");
    for j in 0..6 {
        for step in [-0.3, -0.03, 0.03, 0.3] {
            let mut other = weights.clone();
            other[j] += step;
            assert!(objective(&other) >= primal - 2e-4 * primal, "weight {j} by {step}");
        }
    }
    // All solvers find the same optimum.
    for solver in ["bcfw", "fw", "bcfw --average weighted", "auto --direction away --cache on"] {
        let other = run(&desk, &format!("{train} --tolerance 0.01 --solver {solver}")).ok().json();
        let found = other["primal"].as_f64().unwrap();
        assert!((found - primal).abs() <= 0.0105 * primal, "{solver}: {found} and {primal}");
    }

    // Predictions are what the evaluation counts.
    let predicted = run(&desk, "predict m signals.txt").ok().stdout;
    let evaluated = run(&desk, "eval m signals.txt --json").ok().json();
    let lines = predicted.lines().zip(signals());
    let wrong = lines.map(|(line, (_, truth))| {
        let y: Vec<u8> = serde_json::from_str(line).unwrap();
        y.iter().zip(&truth).filter(|(a, b)| a != b).count()
    });
    let share = wrong.sum::<usize>() as f64 / f64::from(24 * LENGTH);
    assert!((evaluated["loss"].as_f64().unwrap() - share).abs() < 1e-12 && share < 0.1, "{share}");
    desk.write("new.txt", "[[[-1, 1], [-1, 1], [1, 1]], null]\n[[[0, 1]], null]\n");
    assert_eq!(run(&desk, "predict m new.txt").ok().stdout, "[0, 0, 2]\n[1]\n");
}

#[test]
fn its_runs_resume_and_start_from_other_models() {
    let desk = Desk::new();
    write_data(&desk);
    let base = format!("train segments signals.txt {SHAPE} --lambda 0.02 --tolerance 0 --witness");
    run(&desk, &format!("{base} --passes 12 -o whole")).ok();
    run(&desk, &format!("{base} --passes 5 -o half --checkpoint run.ck --checkpoint-every 1")).ok();
    run(&desk, &format!("{base} --passes 12 -o resumed --resume run.ck")).ok();
    assert_eq!(desk.read("whole"), desk.read("resumed"));
    let passes = |line: &str| run(&desk, line).ok().json()["passes"].as_f64().unwrap();
    let cold = format!("train segments signals.txt {SHAPE} --lambda 0.02 --tolerance 1e-3 --json");
    assert!(passes(&format!("{cold} --warm-start whole")) < passes(&cold));
}

#[test]
fn it_has_paths_and_cross_validations() {
    let desk = Desk::new();
    write_data(&desk);
    let line = format!(
        "path segments signals.txt {SHAPE} --from 1 --to 0.1 --tolerance 0.05 --witness -o path --json"
    );
    let path = run(&desk, &line).ok().json();
    assert_eq!(path["complete"], true);
    let proved = run(&desk, "certify path signals.txt --json").ok().json();
    assert_eq!(proved["certified"], true);
    let line =
        format!("cv segments signals.txt {SHAPE} --folds 4 --lambdas 0.01,100 -o best --json");
    let found = run(&desk, &line).ok().json();
    assert_eq!(found["chosen"], 0.01);
    assert_eq!(found["candidates"].as_array().unwrap().len(), 2);
    // It has no classes, and nobody but itself knows whether its losses are shares of anything.
    let told = run(&desk, &line.replace("-o best --json", "--table table")).ok();
    assert!(told.stdout.contains("4 folds of 24 examples, dealt at random\n"), "{told:#?}");
    let errors: Vec<&str> = told.stderr.lines().filter(|line| line.contains(": error ")).collect();
    assert!(errors.len() == 2 && errors.iter().all(|line| !line.contains('%')), "{errors:?}");
    run(&desk, "eval best signals.txt").ok();
}

#[test]
fn what_is_forged_or_unknown_is_refused() {
    let desk = Desk::new();
    write_data(&desk);
    run(&desk, &format!("train segments signals.txt {SHAPE} --witness -o m")).ok();
    // The program without the structure knows what it is that it does not know.
    let stranger = desk.run("certify m signals.txt");
    assert_eq!(stranger.code, Some(2));
    assert!(stranger.stderr.contains("`segments`"), "{}", stranger.stderr);
    desk.write("other.txt", "[[[1, 2]], [0]]\n[[[2, 1]], [1]]\n");
    assert_eq!(run(&desk, "certify m other.txt").code, Some(2));
    // A label that is none, and more segments than there may be.
    for bad in ["[[[2, 1]], [7]]", "[[[2, 1], [1, 1], [0, 1]], [0, 1, 0]]", "[[[2, 1]], []]", "{}"]
    {
        desk.write("bad.txt", format!("[[[1, 2]], [0]]\n{bad}\n"));
        let run = run(&desk, &format!("train segments bad.txt {SHAPE}"));
        assert_eq!(run.code, Some(2));
        assert!(run.stderr.contains("bad.txt:2:"), "{}", run.stderr);
    }
    let ball = run(&desk, &format!("train segments signals.txt {SHAPE} --ball l1 --radius 1"));
    assert_eq!(ball.code, Some(2));
}
