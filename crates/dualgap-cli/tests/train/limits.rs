//! When a run ends, and with which exit code.

use crate::common::{Desk, Table, number};

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(30, 4, 3, 1).text());
    desk
}

#[test]
fn a_tolerance_that_is_reached_exits_with_0() {
    let desk = desk();
    for options in ["", "--tolerance 0.1", "--absolute-tolerance 0.01", "--tolerance 1e-4"] {
        let json = desk.train(&format!("multiclass data.svm {options}"));
        assert_eq!(json["stop"], "gap_reached", "{options}");
    }
    // Either of two tolerances is enough.
    let json = desk.train("multiclass data.svm --tolerance 1e-12 --absolute-tolerance 0.05");
    assert_eq!(json["stop"], "gap_reached");
    assert!(number(&json, "gap") <= 0.05);
}

#[test]
fn the_gap_is_within_the_tolerance_that_was_asked_for() {
    let desk = desk();
    for tolerance in [0.5, 0.05, 1e-3, 1e-5] {
        let json = desk.train(&format!("multiclass data.svm --tolerance {tolerance}"));
        let bound = number(&json, "gap") + number(&json, "rounding_error");
        assert!(bound <= tolerance * number(&json, "primal"), "{tolerance}: {json:#}");
        let json = desk.train(&format!("multiclass data.svm --absolute-tolerance {tolerance}"));
        let bound = number(&json, "gap") + number(&json, "rounding_error");
        assert!(bound <= tolerance, "{tolerance}: {json:#}");
    }
}

#[test]
fn the_default_tolerance_is_one_percent() {
    let desk = desk();
    desk.train("multiclass data.svm -o default");
    desk.train("multiclass data.svm --tolerance 0.01 -o given");
    assert_eq!(desk.read("default"), desk.read("given"));
    // A given absolute tolerance takes its place: this one is far looser.
    let json = desk.train("multiclass data.svm --absolute-tolerance 0.9");
    assert!(number(&json, "relative_gap") > 0.01, "{json:#}");
}

#[test]
fn a_limit_without_a_tolerance_exits_with_0() {
    let desk = desk();
    for (limit, stop) in [
        ("--passes 1", "pass_limit"),
        ("--oracle-calls 7", "oracle_limit"),
        ("--time 0", "time_limit"),
    ] {
        let json = desk.train(&format!("multiclass data.svm {limit}"));
        assert_eq!(json["stop"], stop);
        assert!(number(&json, "relative_gap") > 0.01, "the limit came first: {json:#}");
    }
}

#[test]
fn a_tolerance_that_was_given_and_not_reached_exits_with_1() {
    let desk = desk();
    for limit in ["--passes 1", "--oracle-calls 7", "--time 0"] {
        for tolerance in ["--tolerance 1e-9", "--absolute-tolerance 1e-9"] {
            let line = format!("train multiclass data.svm {limit} {tolerance} --json -o model");
            let json = desk.run(&line).exits(1).json();
            assert_ne!(json["stop"], "gap_reached");
            // The model is sound all the same, and saved.
            desk.certify("model", "data.svm");
        }
    }
}

#[test]
fn limits_of_work_are_kept_to_the_call() {
    let desk = desk();
    for passes in [0, 1, 2, 3, 5, 17] {
        for options in ["", "--batch 7", "--sampling uniform", "--solver fw", "--average suffix"] {
            let line = format!("multiclass data.svm --absolute-tolerance 0 {options}");
            // A tolerance of zero asks for none, so the limit is all that was asked for.
            let json = desk.train(&format!("{line} --passes {passes}"));
            assert_eq!(number(&json, "passes"), f64::from(passes), "{options}");
            assert_eq!(json["oracle_calls"], 30 * passes, "{options}");
            assert_eq!(json["stop"], "pass_limit", "{options}");
        }
    }
    for calls in [0, 1, 29, 31, 100] {
        for options in ["", "--batch 7"] {
            let json = desk.train(&format!("multiclass data.svm {options} --oracle-calls {calls}"));
            assert_eq!(
                (&json["oracle_calls"], &json["stop"]),
                (&calls.into(), &"oracle_limit".into())
            );
            assert_eq!(number(&json, "passes"), f64::from(calls) / 30.0);
        }
    }
}

#[test]
fn a_step_that_does_not_fit_into_the_limit_is_not_begun() {
    let desk = desk();
    // A step of batch Frank-Wolfe asks for all 30 examples.
    for (calls, done) in [(29, 0), (30, 30), (89, 60)] {
        let json = desk.train(&format!("multiclass data.svm --solver fw --oracle-calls {calls}"));
        assert_eq!((&json["oracle_calls"], &json["stop"]), (&done.into(), &"oracle_limit".into()));
    }
}

#[test]
fn the_tighter_of_two_limits_counts() {
    let desk = desk();
    let json = desk.train("multiclass data.svm --passes 2 --oracle-calls 45");
    assert_eq!((&json["oracle_calls"], &json["stop"]), (&45.into(), &"oracle_limit".into()));
    let json = desk.train("multiclass data.svm --passes 1 --oracle-calls 45");
    assert_eq!((&json["oracle_calls"], &json["stop"]), (&30.into(), &"pass_limit".into()));
}

#[test]
fn without_a_step_the_certificate_is_that_of_zero_weights() {
    let desk = desk();
    let json = desk.train("multiclass data.svm --passes 0");
    // Every example could be wrong, and nothing is known of the optimum but that it is not negative.
    assert_eq!((number(&json, "primal"), number(&json, "dual")), (1.0, 0.0));
}

#[test]
fn usage_errors_exit_with_2_and_print_no_result() {
    let desk = desk();
    for line in [
        "",
        "frobnicate",
        "train",
        "train multiclass",
        "train multiclass data.svm --frobnicate",
        "train multiclass data.svm --solver gauss",
        "train multiclass data.svm --hamming plain",
        "train chain data.svm --costs costs",
        "train multiclass data.svm --witness",
        "train multiclass data.svm --lambda 1 --c 1",
        "train multiclass data.svm --test data.svm --test-folds 0",
        "certify data.svm",
        "demo --passes 3",
    ] {
        let run = desk.run(line).exits(2);
        assert!(run.stdout.is_empty() && run.stderr.contains("--help"), "{run:#?}");
    }
}
