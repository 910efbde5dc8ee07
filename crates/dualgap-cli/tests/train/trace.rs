//! `--trace`: every certification of a run, one JSON object a line.

use crate::common::{Desk, Table, Words, number};
use serde_json::Value;

fn lines(desk: &Desk) -> Vec<Value> {
    let text = String::from_utf8(desk.read("trace")).unwrap();
    assert!(text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_last_line_is_the_certificate_of_the_report() {
    let desk = Desk::new();
    desk.write("words.data", Words::new(30, 2).text());
    for options in ["", "--average weighted", "--step predefined", "--solver fw"] {
        let json = desk.train(&format!("chain words.data {options} --trace trace --passes 30"));
        let trace = lines(&desk);
        assert!(trace.len() > 1);
        let last = &trace[trace.len() - 1];
        for field in ["primal", "dual", "gap", "rounding_error", "passes", "oracle_calls"] {
            assert_eq!(last[field], json[field], "{field} with {options}");
        }
    }
}

#[test]
fn under_line_search_the_dual_never_falls_and_the_best_primal_never_rises() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(40, 5, 4, 3).text());
    desk.train("multiclass data.svm --solver bcfw --tolerance 1e-5 --trace trace");
    let trace = lines(&desk);
    assert!(trace.len() > 10);
    for pair in trace.windows(2) {
        let rounding = number(&pair[0], "rounding_error") + number(&pair[1], "rounding_error");
        assert!(number(&pair[1], "dual") >= number(&pair[0], "dual") - rounding, "{pair:#?}");
        assert!(number(&pair[1], "iterate_dual") >= number(&pair[0], "iterate_dual") - rounding);
        assert!(number(&pair[1], "primal") <= number(&pair[0], "primal"), "{pair:#?}");
        assert!(number(&pair[1], "oracle_calls") > number(&pair[0], "oracle_calls"));
    }
}

#[test]
fn every_line_is_a_certificate_of_the_same_optimum() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(40, 5, 4, 4).text());
    let mut best = (f64::NEG_INFINITY, f64::INFINITY);
    for options in ["--step predefined", "--average suffix", "--sampling uniform", "--solver fw"] {
        desk.train(&format!("multiclass data.svm {options} --passes 40 --trace trace"));
        for line in lines(&desk) {
            let error = number(&line, "rounding_error");
            best.0 = best.0.max(number(&line, "dual") - error);
            best.1 = best.1.min(number(&line, "primal") + error);
            assert!(best.0 <= best.1, "a dual value above a primal one: {line:#}");
        }
    }
}

#[test]
fn a_run_stops_at_the_first_certificate_within_its_tolerance() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(40, 5, 4, 5).text());
    for (options, tolerance) in [("", 0.01), ("--tolerance 0.001", 0.001)] {
        desk.train(&format!("multiclass data.svm {options} --trace trace"));
        let trace = lines(&desk);
        let reached = |line: &Value| {
            let bound = number(line, "gap") + number(line, "rounding_error");
            bound <= tolerance * number(line, "primal")
        };
        assert!(trace.len() > 1);
        assert_eq!(trace.iter().position(reached), Some(trace.len() - 1), "{options}");
    }
}

#[test]
fn tracing_does_not_change_the_result() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(40, 5, 4, 6).text());
    desk.train("multiclass data.svm -o plain");
    desk.train("multiclass data.svm -o traced --trace trace");
    assert_eq!(desk.read("plain"), desk.read("traced"));
}

#[test]
fn the_test_error_is_in_the_trace_if_asked_for_and_nothing_is_said_off_the_terminal() {
    let desk = Desk::new();
    desk.write("words.data", Words::new(60, 2).text());
    let line = "train chain words.data --train-folds 1-9 --test-folds 0 --passes 30 --trace trace";
    let run = desk.run(&format!("{line} --watch-test --json")).ok();
    assert_eq!(run.stderr, "");
    let (json, trace) = (run.json(), lines(&desk));
    // The last certification is of the model that is returned and tested.
    assert_eq!(trace[trace.len() - 1]["test_error"], json["test"]["error"]);
    assert!(trace.iter().all(|line| line["test_error"].is_f64()));
    desk.run(line).ok();
    assert!(lines(&desk).iter().all(|line| line["test_error"].is_null()));
    desk.run("train chain words.data --watch-test").refuses(&["--watch-test", "--test"]);
}
