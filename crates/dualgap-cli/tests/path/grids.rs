//! Paths over σ and over radii: a certified model at every number of a grid.

use crate::common::{number, overlap};
use crate::path::{desk, models, walk};
use serde_json::Value;

const PATHS: [(&str, &str, &str); 5] = [
    ("regression numbers.svm --intercept --test numbers.svm", "--over l1 --count 6", "l1"),
    ("binary two.svm --loss logistic", "--over l1 --from 0.8max --to 0.02max --count 4", "l1"),
    ("regression numbers.svm", "--over l1 --to 0.01max --count 4 --lambda 0.1l1", "l1"),
    ("multiclass three.svm --loss softmax", "--over l1 --to 0.05max --count 3", "l1"),
    ("binary two.svm --loss logistic", "--ball l1 --from 0.5 --to 4 --count 4", "radius"),
];

#[test]
fn every_model_of_a_grid_is_certified_at_its_number_and_agrees_with_a_single_run() {
    for (task, grid, over) in PATHS {
        let desk = desk();
        let data = task.split(' ').nth(1).unwrap();
        let path = walk(&desk, &format!("{task} {grid} --tolerance 1e-4 --witness -o out"));
        assert_eq!((&path["complete"], &path["over"]), (&Value::from(true), &over.into()));
        let models = models(&path);
        let values: Vec<f64> = models.iter().map(|model| number(model, over)).collect();
        let simplest_first = |pair: &[f64]| (pair[0] > pair[1]) == (over == "l1");
        assert!(values.windows(2).all(simplest_first), "{values:?}");
        for model in models {
            assert!(number(model, "worst_gap") <= 1e-4, "{model}");
            assert_eq!(model["test_error"].is_number(), task.contains("--test"), "{model}");
            let rest = if over == "l1" {
                format!("--lambda {} --l1 {}", model["lambda"], model["l1"])
            } else {
                format!("--ball l1 --radius {}", model["radius"])
            };
            let single = desk.train(&format!("{task} {rest} --tolerance 1e-5"));
            let ends =
                |json: &Value| (number(json, "dual") - 1e-12, number(json, "primal") + 1e-12);
            assert!(overlap(ends(&single), ends(model)), "{single} {model}");
        }
        if grid.starts_with("--over l1 --count") {
            assert_eq!(models[0]["weights"], 1, "the intercept alone");
        }
        if grid.contains("0.1l1") {
            assert!(models.iter().all(|m| number(m, "lambda") == 0.1 * number(m, "l1")));
        }
        let proved = desk.certify("out", data);
        assert_eq!((&proved["over"], &proved["models"]), (&over.into(), &models.len().into()));
        let drawing = String::from_utf8(desk.read("out/path.svg")).unwrap();
        assert_eq!(drawing.matches("class=\"model\"").count(), models.len());

        // A number that is not that of the model is a lie.
        let text = String::from_utf8(desk.read("out/path.json")).unwrap();
        let first = values[0].to_string();
        desk.write("out/path.json", text.replace(&first, &(1.5 * values[0]).to_string()));
        desk.run(&format!("certify out {data}")).refuses(&["is not that of"]);
    }
}

#[test]
fn a_path_without_witnesses_is_no_proof_and_the_report_says_what_was_done() {
    let desk = desk();
    let run = desk.run("path regression numbers.svm --over l1 --count 3 -o out").ok();
    for word in ["Certified: at every l1", "nonzero", "l1"] {
        assert!(run.stdout.contains(word), "{}", run.stdout);
    }
    let proof = desk.run("certify out numbers.svm").exits(1);
    assert!(proof.stdout.contains("no witness"), "{}", proof.stdout);
    let table = String::from_utf8(desk.read("out/path.tsv")).unwrap();
    assert!(table.starts_with("l1\tlambda\t") && table.lines().count() == 4, "{table}");
}

#[test]
fn grids_that_make_no_sense_are_refused() {
    let desk = desk();
    for (options, word) in [
        ("--over l1 --l1 0.1", "--l1"),
        ("--over radius", "ball"),
        ("--over l1 --from 2max", "--from"),
        ("--from 0.1max", "l1"),
        ("--lambda 0.1", "--over l1"),
        ("--count 5", "--count"),
        ("--ball l1 --radius 2", "--radius"),
        ("--ball l1 --from 1max --to 2 --loss logistic", "radius"),
    ] {
        desk.run(&format!("path binary two.svm {options} -o out")).refuses(&[word]);
        assert!(!desk.path("out").exists() || desk.run("certify out two.svm").code != Some(0));
    }
    desk.run("path chain words.data --over l1 --ball l1 -o out").refuses(&["--ball"]);
}
