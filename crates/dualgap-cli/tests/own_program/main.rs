//! A structure that is written outside the library has a program with every command: `examples/ordinal`, which has one
//! file for the structure, one struct of options, and one line that registers it.

use crate::common::{Desk, Run};
use std::fmt::Write;

/// The example, which is compiled beside the tests.
fn program() -> std::path::PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().parent().unwrap().join("examples/ordinal")
}

fn run(desk: &Desk, line: &str) -> Run {
    desk.run_program(&program(), &line.split_whitespace().collect::<Vec<_>>())
}

/// Points along a line with noise: their level grows with the first number.
fn write_data(desk: &Desk) {
    let mut text = String::new();
    for i in 0..40_u32 {
        let (a, b) = (f64::from(i) / 10.0 - 2.0, f64::from((i * 7) % 11) / 11.0);
        let level = ((a + 0.6 * (b - 0.5) + 2.0).clamp(0.0, 3.9)).floor();
        let _ = writeln!(text, "{level} {a} {b}");
    }
    desk.write("levels.txt", text);
}

const SHAPE: &str = "--levels 4 --width 2";

#[test]
fn a_structure_of_ones_own_trains_proves_predicts_and_evaluates() {
    let desk = Desk::new();
    write_data(&desk);
    let line = format!(
        "train ordinal levels.txt {SHAPE} --lambda 0.02 --tolerance 1e-4 --witness -o m --json"
    );
    let trained = run(&desk, &line).ok().json();
    assert!(trained["relative_gap"].as_f64().unwrap() <= 1e-4);
    let proved = run(&desk, "certify m levels.txt --json").ok().json();
    assert_eq!((&proved["certified"], &proved["dual_proved"]), (&true.into(), &true.into()));
    assert_eq!(proved["problem"]["oracle"]["levels"], 4);
    let inspected = run(&desk, "inspect m --json").ok().json();
    assert_eq!((&inspected["task"], &inspected["dim"]), (&"ordinal".into(), &6.into()));

    // The optimum is better than any of many other weights: P(w) by brute force over all levels.
    let primal = proved["primal"].as_f64().unwrap();
    let data: Vec<(u32, [f64; 2])> = String::from_utf8(desk.read("levels.txt"))
        .unwrap()
        .lines()
        .map(|line| {
            let cells: Vec<f64> = line.split(' ').map(|cell| cell.parse().unwrap()).collect();
            (cells[0] as u32, [cells[1], cells[2]])
        })
        .collect();
    let objective = |w: &[f64]| -> f64 {
        let score =
            |x: &[f64; 2], y: u32| f64::from(y) * (w[0] * x[0] + w[1] * x[1]) + w[2 + y as usize];
        let losses = data.iter().map(|(truth, x)| {
            let worst = (0..4).map(|y| f64::from(truth.abs_diff(y)) + score(x, y));
            worst.fold(f64::NEG_INFINITY, f64::max) - score(x, *truth)
        });
        let squares: f64 = w.iter().map(|w| w * w).sum();
        losses.sum::<f64>() / data.len() as f64 + 0.01 * squares
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

    // Predictions are the levels with the largest scores.
    let predicted = run(&desk, "predict m levels.txt").ok().stdout;
    let evaluated = run(&desk, "eval m levels.txt --json").ok().json();
    let off: u32 = predicted
        .lines()
        .zip(&data)
        .map(|(line, (truth, _))| truth.abs_diff(line.parse().unwrap()))
        .sum();
    assert!((evaluated["loss"].as_f64().unwrap() - f64::from(off) / 40.0).abs() < 1e-12);
    assert!(off < 12, "{off}");
    desk.write("new.txt", "? 1.9 0.5\n? -2 0.5\n");
    assert_eq!(run(&desk, "predict m new.txt").ok().stdout, "3\n0\n");
}

#[test]
fn its_runs_resume_and_start_from_other_models() {
    let desk = Desk::new();
    write_data(&desk);
    let base = format!("train ordinal levels.txt {SHAPE} --lambda 0.02 --tolerance 0 --witness");
    run(&desk, &format!("{base} --passes 12 -o whole")).ok();
    run(&desk, &format!("{base} --passes 5 -o half --checkpoint run.ck --checkpoint-every 1")).ok();
    run(&desk, &format!("{base} --passes 12 -o resumed --resume run.ck")).ok();
    assert_eq!(desk.read("whole"), desk.read("resumed"));
    let warm = format!(
        "train ordinal levels.txt {SHAPE} --lambda 0.02 --tolerance 1e-3 --warm-start whole --json"
    );
    let passes = |line: &str| run(&desk, line).ok().json()["passes"].as_f64().unwrap();
    let cold = format!("train ordinal levels.txt {SHAPE} --lambda 0.02 --tolerance 1e-3 --json");
    assert!(passes(&warm) < passes(&cold));
}

#[test]
fn it_has_paths_and_cross_validations() {
    let desk = Desk::new();
    write_data(&desk);
    let line = format!(
        "path ordinal levels.txt {SHAPE} --from 1 --to 0.1 --tolerance 0.05 --witness -o path --json"
    );
    let path = run(&desk, &line).ok().json();
    assert_eq!(path["complete"], true);
    let proved = run(&desk, "certify path levels.txt --json").ok().json();
    assert_eq!(proved["certified"], true);
    let line = format!("cv ordinal levels.txt {SHAPE} --folds 4 --lambdas 0.01,10 -o best --json");
    let found = run(&desk, &line).ok().json();
    assert_eq!(found["chosen"], 0.01);
    assert_eq!(found["candidates"].as_array().unwrap().len(), 2);
    run(&desk, "eval best levels.txt").ok();
}

#[test]
fn what_is_forged_or_unknown_is_refused() {
    let desk = Desk::new();
    write_data(&desk);
    run(&desk, &format!("train ordinal levels.txt {SHAPE} --witness -o m")).ok();
    // The program without the structure knows what it is that it does not know.
    let stranger = desk.run("certify m levels.txt");
    assert_eq!(stranger.code, Some(2));
    assert!(stranger.stderr.contains("`ordinal`"), "{}", stranger.stderr);
    desk.write("other.txt", "0 1 2\n3 2 1\n");
    assert_eq!(run(&desk, "certify m other.txt").code, Some(2));
    desk.write("bad.txt", "0 1 2\n7 2 1\n");
    let bad = run(&desk, &format!("train ordinal bad.txt {SHAPE}"));
    assert_eq!(bad.code, Some(2));
    assert!(bad.stderr.contains("bad.txt:2:"), "{}", bad.stderr);
    let ball = run(&desk, &format!("train ordinal levels.txt {SHAPE} --ball l1 --radius 1"));
    assert_eq!(ball.code, Some(2));
}
