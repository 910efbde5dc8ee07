//! Paths that are proved again, and forged ones that are not.

use crate::common::forge::ModelFile;
use crate::common::{Desk, number};
use crate::path::{desk, models, walk};
use serde_json::{Value, json};

/// A desk with a path of at least three models and their witnesses.
fn walked() -> (Desk, Value) {
    let desk = desk();
    let path = walk(&desk, "binary two.svm --from 1 --to 0.01 --witness -o out");
    assert!(models(&path).len() > 2);
    (desk, path)
}

#[test]
fn a_path_is_proved_for_people_too() {
    let (desk, _) = walked();
    let run = desk.run("certify out two.svm").ok();
    assert!(run.stdout.contains("Certified: at every lambda from 1 down to 0.01"), "{run:#?}");
}

// Each forger writes another path.json; none gets more out of it than the data allow.
#[test]
fn a_forged_claim_is_refused() {
    let (desk, path) = walked();
    let forged = |forge: &dyn Fn(&mut Value), words: &[&str]| {
        let mut path = path.clone();
        forge(&mut path);
        desk.write("out/path.json", path.to_string());
        desk.run("certify out two.svm").refuses(words);
    };
    let from = number(&models(&path)[1], "from");
    forged(&|path| path["models"][1]["from"] = json!(0.99 * from), &["not proved"]);
    forged(&|path| path["models"][1]["to"] = json!(2.0), &["not proved"]);
    forged(&|path| path["models"][1]["from"] = json!(1e-300), &["not proved"]);
    forged(&|path| path["models"][1]["from"] = json!(-1.0), &["positive"]);
    forged(&|path| path["covered_from"] = json!(0.001), &["between"]);
    forged(&|path| path["to"] = json!(2.0), &["between"]);
    forged(&|path| path["tolerance"] = json!({ "relative": 0.001 }), &["not proved"]);
    forged(&|path| path["tolerance"] = json!({ "relative": 1.5 }), &["tolerance"]);
    forged(&|path| drop(path["models"].as_array_mut().unwrap().remove(1)), &["between"]);
    forged(&|path| path["models"].as_array_mut().unwrap().swap(0, 1), &["between"]);
    forged(&|path| path["models"] = json!([]), &["without models"]);
    forged(
        &|path| path["models"][1]["file"] = json!("../out/model-002.dualgap"),
        &["names a model"],
    );
    forged(&|path| path["models"][1]["file"] = json!("nothing.dualgap"), &["nothing.dualgap"]);
    forged(&|path| *path = json!({ "models": 3 }), &["path.json"]);
}

#[test]
fn other_models_or_other_data_are_refused() {
    let (desk, _) = walked();
    desk.run("certify out two-test.svm").refuses(&["refused"]);
    // A model of the same data under another loss has no place in the path.
    desk.run("path binary two.svm --loss logistic --from 1 --to 0.01 --witness -o other").ok();
    let honest = desk.read("out/model-002.dualgap");
    std::fs::copy(desk.path("other/model-002.dualgap"), desk.path("out/model-002.dualgap"))
        .unwrap();
    desk.run("certify out two.svm").refuses(&["another problem"]);
    desk.write("out/model-002.dualgap", &honest[..honest.len() - 1]);
    desk.run("certify out two.svm").refuses(&["model-002.dualgap"]);
    desk.write("out/model-002.dualgap", &honest);
    desk.run("certify out two.svm").ok();
    std::fs::remove_file(desk.path("out/path.json")).unwrap();
    desk.run("certify out two.svm").fails(&["path.json"]);
}

// The primal values are verified all the same: models of other data or with other values are refused.
#[test]
fn without_witnesses_nothing_is_proved_of_a_path() {
    let desk = desk();
    let path = walk(&desk, "binary two.svm --from 1 --to 0.01 -o out");
    let run = desk.run("certify out two.svm").exits(1);
    let last = run.stdout.lines().last().unwrap();
    assert!(last.starts_with("Verified: the primal values."), "{last}");
    assert!(!run.stdout.contains("Certified:"), "{}", run.stdout);
    let json = desk.run("certify out two.svm --json").exits(1).json();
    assert_eq!((&json["verified"], &json["certified"]), (&false.into(), &false.into()));
    assert_eq!(number(&json, "without_witness"), models(&path).len() as f64);
    assert_eq!(json["remarks"][0]["kind"], "no_witness");

    desk.run("certify out two-test.svm").refuses(&["refused"]);
    desk.run("path binary two.svm --loss logistic --from 1 --to 0.01 -o other").ok();
    let honest = desk.read("out/model-002.dualgap");
    desk.write("out/model-002.dualgap", desk.read("other/model-002.dualgap"));
    desk.run("certify out two.svm").fails(&["model-002.dualgap", "another problem"]);
    let file = ModelFile::parse(&honest);
    let forged = file.with_header(|header| header["certificate"]["primal"] = json!(0.001));
    desk.write("out/model-002.dualgap", forged.sealed());
    desk.run("certify out two.svm").refuses(&["claims a primal value"]);
}

#[test]
fn one_model_without_a_witness_is_enough_to_prove_nothing() {
    let (desk, _) = walked();
    assert_eq!(desk.certify("out", "two.svm")["problem"]["penalty"]["lambda"], Value::Null);
    let mut bare = ModelFile::parse(&desk.read("out/model-002.dualgap"));
    bare.tensors.retain(|name, _| !name.starts_with("witness."));
    desk.write("out/model-002.dualgap", bare.sealed());
    assert_eq!(desk.certify("out", "two.svm")["without_witness"], 1);
}
