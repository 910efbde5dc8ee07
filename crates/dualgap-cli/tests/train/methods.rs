//! Every method certifies what it returns, and all of them the same optimum.

use crate::common::exact::Problem;
use crate::common::forge::ModelFile;
use crate::common::{Desk, Table, Words, interval, number, overlap};
use serde_json::Value;

/// Every value of every option that chooses a method, and some that meet.
const METHODS: [&str; 17] = [
    "--solver bcfw",
    "--solver fw",
    "--step line-search",
    "--step predefined",
    "--sampling permuted",
    "--sampling uniform",
    "--sampling cyclic",
    "--average none",
    "--average weighted",
    "--average suffix",
    "--batch 5",
    "--solver fw --step predefined --average weighted",
    "--step predefined --average suffix --sampling uniform --batch 3",
    "--average weighted --batch 7 --sampling cyclic",
    "--solver ssg",
    "--solver ssg --average weighted --sampling uniform",
    "--solver subgradient --average suffix:0.5",
];

/// Large enough for the slowest of them to come near the optimum.
const LAMBDA: f64 = 0.25;

/// Trains by every method; each certificate must hold by definition and again under `certify`, and
/// no two may contradict each other.
fn every_method(desk: &Desk, task: &str, data: &str, exact: &Problem) {
    let line = format!("{task} {data} --lambda {LAMBDA}");
    let tight = desk.train(&format!("{line} --tolerance 1e-3"));
    for method in METHODS {
        let json = desk.train(&format!("{line} {method} --passes 200 --witness -o model"));
        assert!(overlap(interval(&json), interval(&tight)), "{method}: {json:#} {tight:#}");
        assert!(number(&json, "relative_gap") < 0.2, "{method} has learnt something: {json:#}");
        exact.confirms(&json, &ModelFile::parse(&desk.read("model")));
        let checked = desk.certify("model", data);
        assert_eq!(checked["dual_proved"], true, "{method}");
        exact.confirms(&checked, &ModelFile::parse(&desk.read("model")));
    }
}

#[test]
fn every_multiclass_method_certifies_the_same_optimum() {
    let (desk, data) = (Desk::new(), Table::new(40, 5, 4, 11));
    desk.write("data.svm", data.text());
    let exact = Problem::multiclass(&data, None, None, LAMBDA);
    every_method(&desk, "multiclass", "data.svm", &exact);
}

#[test]
fn every_chain_method_certifies_the_same_optimum() {
    let (desk, data) = (Desk::new(), Words::new(28, 11));
    desk.write("words.data", data.text());
    for (hamming, normalized) in [("normalized", true), ("plain", false)] {
        let exact = Problem::chain(&data, normalized, None, LAMBDA);
        every_method(&desk, &format!("chain --hamming {hamming}"), "words.data", &exact);
    }
}

#[test]
fn the_report_names_the_solver_and_the_file_keeps_all_settings() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(20, 3, 2, 12).text());
    let options = "--solver fw --step predefined --sampling cyclic --average suffix --batch 3 \
                   --seed 18446744073709551615 --lambda 0.125 --passes 4";
    let json = desk.train(&format!("multiclass data.svm {options} -o model"));
    assert_eq!(json["solver"], "fw");
    assert_eq!(json["seed"], u64::MAX);
    let header = ModelFile::parse(&desk.read("model")).header();
    for (field, value) in [
        ("family", Value::from("dual")),
        ("solver", "fw".into()),
        ("step", "predefined".into()),
        ("sampling", "cyclic".into()),
        ("average", "suffix".into()),
        ("batch", 3.into()),
        ("seed", u64::MAX.into()),
    ] {
        assert_eq!(header["provenance"]["method"][field], value, "{field}");
    }
    assert_eq!(header["task"]["penalty"]["lambda"], 0.125);
    for (field, value) in [
        ("stop", Value::from("pass_limit")),
        ("passes", 4.0.into()),
        ("oracle_calls", 80.into()),
        ("examples", 20.into()),
    ] {
        assert_eq!(header["provenance"][field], value, "{field}");
    }
}

#[test]
fn averages_and_step_rules_are_different_methods() {
    let desk = Desk::new();
    desk.write("data.svm", Table::new(40, 5, 4, 13).text());
    let mut primals: Vec<f64> = ["", "--average weighted", "--average suffix", "--step predefined"]
        .iter()
        .map(|options| {
            number(&desk.train(&format!("multiclass data.svm {options} --passes 3")), "primal")
        })
        .collect();
    primals.sort_by(f64::total_cmp);
    primals.dedup();
    assert_eq!(primals.len(), 4);
}
