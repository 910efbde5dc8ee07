//! What a run suggests about its problem: in the words of the program, once, and with options that it takes.

use crate::common::{Desk, Dice};
use serde_json::Value;
use std::fmt::Write;

/// A positive example in twenty, with features that say little.
fn rare() -> String {
    let mut dice = Dice(5);
    let mut text = String::new();
    for i in 0..200 {
        let label = if i % 20 == 0 { 1 } else { -1 };
        let (a, b) = (1 + dice.below(5), 6 + dice.below(5));
        let _ = writeln!(text, "{label} {a}:1 {b}:1");
    }
    text
}

/// Columns whose sizes differ by a factor of some thousands, and labels that they do not quite explain.
fn uneven() -> String {
    let mut dice = Dice(6);
    let mut text = String::new();
    for _ in 0..300 {
        let x: Vec<f64> = (0..8).map(|_| dice.signed()).collect();
        let label = if x[0] + x[5] + dice.signed() > 0.1 { 1 } else { -1 };
        let _ = write!(text, "{label}");
        for (k, x) in x.iter().enumerate() {
            let _ = write!(text, " {}:{}", k + 1, 3.3_f64.powf(k as f64) * x);
        }
        let _ = writeln!(text);
    }
    text
}

#[test]
fn an_intercept_is_suggested_by_its_option_and_then_no_more() {
    let desk = Desk::new();
    desk.write("rare.svm", rare());
    let line = "binary rare.svm --lambda 0.1 --tolerance 1e-4";
    let text = desk.run(&format!("train {line}")).ok().stdout;
    assert_eq!(
        text.matches("Note: --intercept would lower the objective by ").count(),
        1,
        "{text}"
    );
    let told = desk.train(line);
    let of_intercept = |told: &Value| -> Option<Value> {
        let remarks = told["remarks"].as_array().unwrap();
        remarks.iter().find(|remark| remark["kind"] == "intercept").cloned()
    };
    let remark = of_intercept(&told).expect("an intercept is suggested");
    assert!(remark["text"].as_str().unwrap().starts_with("--intercept would"), "{told}");
    let with = desk.train(&format!("{line} --intercept"));
    assert_eq!(of_intercept(&with), None);
    assert!(with["primal"].as_f64().unwrap() < 0.9 * told["primal"].as_f64().unwrap());
    let text = desk.run(&format!("train {line} --intercept")).ok().stdout;
    assert!(!text.contains("Note:"), "{text}");
}

#[test]
fn a_scale_is_suggested_once_by_an_option_that_the_program_takes() {
    let desk = Desk::new();
    desk.write("uneven.svm", uneven());
    let line = "train binary uneven.svm --lambda 1e-6 --tolerance 1e-12";
    // A short run says so at its end, a long one while it is under way.
    for (passes, early) in [(20, false), (200, true)] {
        let run = desk.run(&format!("{line} --passes {passes}"));
        let (text, told) = (&run.stdout, &run.stderr);
        assert_eq!(text.contains("--scale=rms divides"), !early, "{text}");
        assert_eq!(told.contains("--scale=rms divides"), early, "{told}");
        let scaled = desk.run(&format!("{line} --passes {passes} --scale=rms"));
        assert!(!scaled.stdout.contains("--scale="), "{}", scaled.stdout);
        assert!(!scaled.stderr.contains("--scale="), "{}", scaled.stderr);
    }
}
