//! Models of earlier programs: files of format version 1, and recipes that did not say that numbers are predicted.
//!
//! The files of `version1` were written by the last program of that version.

use crate::common::Desk;
use crate::common::forge::ModelFile;
use crate::linear::numbers::weights;
use serde_json::{Value, json};

/// The models, each with its data and the number of lines that it predicts.
const MODELS: [(&str, &str, usize); 9] = [
    ("binary", "two.svm", 6),
    ("lasso", "numbers.svm", 6),
    ("q-norm", "numbers.svm", 6),
    ("multiclass", "three.svm", 6),
    ("trace", "three.svm", 6),
    ("chain", "words.txt", 10),
    ("multilabel", "sets.svm", 6),
    ("multioutput", "several.svm", 6),
    ("completion", "ratings.csv", 10),
];

/// A desk with all files of `version1`.
fn desk() -> Desk {
    let (desk, folder) =
        (Desk::new(), concat!(env!("CARGO_MANIFEST_DIR"), "/tests/linear/version1"));
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), desk.path(entry.file_name().to_str().unwrap())).unwrap();
    }
    desk
}

fn file(desk: &Desk, name: &str) -> ModelFile {
    let file = ModelFile::parse(&desk.read(&format!("{name}.v1")));
    assert_eq!(file.header()["format_version"], 1);
    file
}

#[test]
fn models_of_version_1_predict_and_are_certified() {
    let desk = desk();
    for (name, data, lines) in MODELS {
        let model = format!("{name}.v1");
        let told = desk.certify(&model, data);
        assert_eq!(told["certified"], true, "{name}");
        let header = file(&desk, name).header();
        let (old, problem) = (&header["provenance"], &told["problem"]);
        assert_eq!(told["primal"], header["certificate"]["primal"], "{name}");
        assert_eq!(told["lambda"], old["lambda"], "{name}");
        assert_eq!(told["fingerprint"], old["fingerprint"], "{name}");
        if old["ball"].is_null() {
            assert_eq!(problem["penalty"]["l1"], old["l1"], "{name}");
            assert_eq!(problem["penalty"]["nonnegative"], old["nonnegative"], "{name}");
            assert_eq!(problem["penalty"]["free"], old["free"], "{name}");
        } else {
            assert_eq!(problem["ball"]["radius"], old["ball"]["radius"], "{name}");
            assert_eq!(problem["ball"]["mu"], old["lambda"], "{name}");
        }
        if !header["task"]["loss"].is_null() {
            assert_eq!(problem["loss"], header["task"]["loss"], "{name}");
        }
        let predicted = desk.run(&format!("predict {model} {data}")).ok().stdout;
        assert_eq!(predicted.lines().count(), lines, "{name}: {predicted}");
        desk.run(&format!("eval {model} {data} --json")).ok();
        desk.run(&format!("inspect {model}")).ok();
        let told = desk.run(&format!("inspect {model} --json")).ok().json();
        let family = if old["ball"].is_null() { "dual" } else { "ball" };
        assert_eq!(told["provenance"]["method"]["family"], family, "{name}");
        assert_eq!(told["provenance"]["method"]["seed"], 0, "{name}");
    }
}

/// The weights of a file of version 1 are those that it is used by.
#[test]
fn scores_of_version_1_are_those_of_its_weights() {
    let desk = desk();
    let stored = file(&desk, "binary").floats("weights");
    assert_eq!(weights(&desk, "binary.v1", 4), stored);
    let scores = desk.run("predict binary.v1 two.svm --scores").ok().stdout;
    // The second line is `-1 1:-1 2:0.25`, and the last weight is the intercept.
    let own = -stored[0] + 0.25 * stored[1] + stored[3];
    let told: f64 = scores.lines().nth(1).unwrap().split('\t').nth(1).unwrap().parse().unwrap();
    assert!((told - own).abs() < 1e-12, "{told} {own}");
}

#[test]
fn forged_models_of_version_1_are_refused() {
    let desk = desk();
    for (name, data, _) in MODELS {
        let honest = file(&desk, name);
        let refused = |place: &str, value: Value| {
            let (object, field) = place.rsplit_once('/').unwrap();
            let forged = honest.with_header(|header| {
                header.pointer_mut(object).unwrap()[field] = value;
            });
            desk.write("forged", forged.sealed());
            desk.run(&format!("certify forged {data}")).refuses(&[]);
        };
        refused("/provenance/lambda", 0.7.into());
        refused("/provenance/lambda", json!(null));
        refused("/provenance/l1", 0.3.into());
        refused("/provenance/q_norm", json!(name != "q-norm"));
        refused("/provenance/fingerprint", "0".into());
        refused("/provenance/examples", 5.into());
        refused("/certificate/dual", 0.9.into());
        refused("/task/name", if name == "chain" { "multiclass" } else { "chain" }.into());
        refused("/task/name", "tree".into());
        if honest.header()["provenance"]["ball"].is_null() {
            refused("/provenance/ball", json!({"name": "l1", "radius": 1.0}));
        } else {
            refused("/provenance/ball", json!(null));
            refused("/provenance/ball/radius", 0.01.into());
            refused("/provenance/ball/name", "l2".into());
        }
        if name != "chain" {
            refused("/task/loss", json!({"name": "epsilon_insensitive", "epsilon": 0.1}));
        }
    }
    let honest = file(&desk, "binary");
    for scale in [json!("rms"), json!("none")] {
        let forged = honest.with_header(|header| header["provenance"]["scale"] = scale);
        desk.write("forged", forged.sealed());
        desk.run("certify forged two.svm").refuses(&["refused"]);
    }
    let mut forged = file(&desk, "multiclass");
    let counts: Vec<f64> = forged.floats("sample_weights").iter().map(|c| c * c).collect();
    forged.set_floats("sample_weights", &counts);
    desk.write("forged", forged.sealed());
    desk.run("certify forged three.svm").refuses(&["refused", "primal"]);
}

/// Recipes did not say at first that numbers are predicted.
#[test]
fn older_models_of_numbers_predict_and_are_certified() {
    let desk = desk();
    for name in ["lasso", "q-norm"] {
        let older = file(&desk, name).with_header(|header| {
            let recipe = header["provenance"]["recipe"].as_object_mut().unwrap();
            assert_eq!(recipe.remove("numbers"), Some(true.into()));
            let mut fields: Vec<&str> = recipe.keys().map(String::as_str).collect();
            fields.sort_unstable();
            assert_eq!(fields, ["constant", "folds", "format"]);
        });
        desk.write("older", older.sealed());
        for command in ["certify", "predict", "eval"] {
            let of = |model: &str| desk.run(&format!("{command} {model} numbers.svm")).ok().stdout;
            let model = format!("{name}.v1");
            assert_eq!(of(&model), of("older").replace(" older", &format!(" {model}")));
        }
    }
}

/// A fingerprint is of what the data are: numbers by their value.
#[test]
fn the_fingerprint_of_numbers_does_not_depend_on_their_spelling() {
    let desk = Desk::new();
    desk.write("n.svm", "2.50 1:1\n+4 1:2\n-0 1:3\n");
    desk.write("same.svm", "2.5 1:1\n4.0 1:2\n0 1:3\n");
    desk.write("other.svm", "2.5 1:1\n4.5 1:2\n0 1:3\n");
    desk.train("regression n.svm --lambda 0.1 --tolerance 1e-6 --witness -o model");
    desk.certify("model", "same.svm");
    desk.run("certify model other.svm").fails(&["not the data"]);
}

#[test]
fn what_is_no_number_is_refused_with_its_line() {
    let desk = Desk::new();
    for (file, text, words) in [
        ("n.svm", "2 1:1\nmany 1:2\n", ["n.svm:2", "`many`"]),
        ("n.csv", "x,y\n1,2\n2,4\n3,many\n", ["n.csv:4", "`many`"]),
        ("n.txt", "a 2\n\nb many\n", ["n.txt:3", "`many`"]),
    ] {
        desk.write(file, text);
        let format = if file == "n.txt" { " --format columns" } else { "" };
        desk.run(&format!("train regression {file} --lambda 0.1{format}")).fails(&words);
    }
}
