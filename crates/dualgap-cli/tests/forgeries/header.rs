//! What the header says, changed with and without a seal that fits.

use crate::common::forge::{ModelFile, penalties};
use crate::forgeries::{Case, with_certificate};
use serde_json::{Value, json};

/// The file with a part of its header's text exchanged and the old seal kept.
fn scratched(file: &ModelFile, from: &str, to: &str) -> Vec<u8> {
    assert!(file.header.contains(from), "{from}");
    ModelFile { header: file.header.replacen(from, to, 1), ..file.clone() }.bytes()
}

#[test]
fn a_header_that_was_altered_does_not_fit_its_seal() {
    for case in Case::both() {
        let certificate = &case.honest.header()["certificate"];
        for name in ["primal", "dual", "rounding_error"] {
            let text = certificate[name].to_string();
            let file = scratched(&case.honest, &text, "0.125");
            case.certify(&file).fails(&["forged", "seal"]);
        }
        for (from, to) in [
            ("\"lambda\":0.125", "\"lambda\":0.250"),
            ("\"certified\":true", "\"certified\":false"),
            ("\"format_version\":2", "\"format_version\":1"),
            ("\"seed\":0", "\"seed\":1"),
            ("{", "{ "),
        ] {
            case.refused(&scratched(&case.honest, from, to), &["forged", "seal"]);
        }
        let other_seal = ModelFile { seal: "0".repeat(64), ..case.honest.clone() };
        case.refused(&other_seal.bytes(), &["forged", "seal"]);
    }
}

#[test]
fn a_certificate_that_claims_too_much_is_refused_even_under_a_fitting_seal() {
    for case in Case::both() {
        for raised in [1e-9, 1e-3, 1.0, 1e300] {
            let file = with_certificate(&case.honest, "dual", |dual| dual + raised);
            case.refused(&file.sealed(), &["refused", "claims a dual value"]);
            let file = with_certificate(&case.honest, "primal", |primal| primal - raised);
            case.refused(&file.sealed(), &["refused", "claims a primal value"]);
        }
        // A gap of nothing at all.
        let primal = case.honest.header()["certificate"]["primal"].as_f64().unwrap();
        let file = with_certificate(&case.honest, "dual", |_| primal);
        case.refused(&file.sealed(), &["refused", "claims a dual value"]);
    }
}

#[test]
fn a_large_rounding_error_excuses_nothing() {
    for case in Case::both() {
        let honest = case.certify(&case.honest.sealed()).ok().json();
        for error in [1e-3, 1.0, 1e300] {
            let lax = with_certificate(&case.honest, "rounding_error", |_| error);
            for name in ["primal", "dual"] {
                let file = with_certificate(&lax, name, |value| value * (1.0 + 1e-5));
                case.refused(&file.sealed(), &["refused", &format!("claims a {name} value")]);
            }
            // By itself it is not believed either: what is printed is computed.
            let run = case.certify(&lax.sealed());
            if run.code == Some(0) {
                assert_eq!(run.json(), honest);
            } else {
                run.refuses(&["refused"]);
            }
        }
    }
}

#[test]
fn without_a_witness_a_dual_value_above_the_primal_is_refused_whatever_the_rounding_error() {
    for case in Case::both() {
        let bare = without_witness(&case.honest);
        let primal = bare.header()["certificate"]["primal"].as_f64().unwrap();
        let file = with_certificate(&bare, "dual", |_| 1.5 * primal);
        let file = with_certificate(&file, "rounding_error", |_| primal);
        case.refused(&file.sealed(), &[]);
    }
}

#[test]
fn another_lambda_is_refused_even_under_a_fitting_seal() {
    for case in Case::both() {
        for lambda in [0.25, 0.0625, 0.125 * (1.0 + 1e-6), 1e-300, 1e300] {
            let file = case.honest.with_header(|header| {
                header["task"]["penalty"]["lambda"] = lambda.into();
            });
            case.refused(&file.sealed(), &[]);
        }
        for bad in [json!(0), json!(-1), json!(null), json!("1/n")] {
            let file = case.honest.with_header(|header| header["task"]["penalty"]["lambda"] = bad);
            case.refused(&file.sealed(), &[]);
        }
    }
}

#[test]
fn another_kind_of_penalty_is_refused_even_under_a_fitting_seal() {
    for case in Case::both() {
        for file in case.honest.with_other_penalties() {
            case.refused(&file.sealed(), &[]);
        }
        for name in ["", "Ridge", "elastic_net"] {
            let file = case.honest.with_header(|h| h["task"]["penalty"]["name"] = name.into());
            case.refused(&file.sealed(), &["forged", "task"]);
        }
    }
}

#[test]
fn a_method_that_cannot_have_made_the_model_is_refused() {
    for case in Case::both() {
        for (penalty, method) in penalties().into_iter().filter(|(p, _)| p["name"] == "ball") {
            let file = case.honest.with_header(|h| h["provenance"]["method"] = method.clone());
            case.refused(&file.sealed(), &["forged", "method"]);
            let file = file.with_header(|h| h["task"]["penalty"] = penalty);
            case.refused(&file.sealed(), &[]);
        }
        for bad in [json!(null), json!("dual"), json!({}), json!({"family": "dual"})] {
            let file = case.honest.with_header(|h| h["provenance"]["method"] = bad);
            case.refused(&file.sealed(), &["forged", "header"]);
        }
    }
}

/// Every structure that this program knows, and some that it does not.
#[test]
fn another_structure_is_refused_even_under_a_fitting_seal() {
    for case in Case::both() {
        let own = case.honest.header()["structure"].clone();
        let known = ["linear", "multiclass", "chain", "multilabel", "multioutput", "completion"];
        for name in known.into_iter().filter(|name| own != *name) {
            let file = case.honest.with_header(|h| h["structure"] = name.into());
            case.refused(&file.sealed(), &[]);
        }
        for name in ["", "Chain", "tree"] {
            let file = case.honest.with_header(|h| h["structure"] = name.into()).sealed();
            let words = ["forged", &format!("`{name}`"), "does not know"];
            case.certify(&file).fails(&words);
            for command in ["predict forged", "eval forged"] {
                case.desk.run(&format!("{command} {}", case.data)).fails(&words);
            }
            case.desk.run("inspect forged").fails(&words);
            case.desk.run("inspect forged --json").fails(&words);
        }
        for bad in [json!(null), json!(["chain"]), json!(1)] {
            let file = case.honest.with_header(|h| h["structure"] = bad);
            case.refused(&file.sealed(), &["forged", "header"]);
        }
    }
}

/// What the task of a file says beyond its penalty.
#[test]
fn another_task_is_refused_even_under_a_fitting_seal() {
    let case = Case::multiclass();
    let weights = |classes: Value| {
        case.honest.with_header(|h| h["task"]["class_weights"] = json!({"named": classes}))
    };
    case.certify(&weights(json!([["1", 1.0], ["2", 1.0]])).sealed()).ok();
    let refused = ["refused", "claims a primal value"];
    case.refused(&weights(json!([["1", 2.0]])).sealed(), &refused);
    case.refused(&weights(json!([["3", 0.5], ["1", 1.0]])).sealed(), &refused);
    for bad in [
        json!([["1", -1.0]]),
        json!([["1", "2"]]),
        json!([["9", 2.0]]),
        json!([["1", 0.0], ["2", 0.0], ["3", 0.0]]),
        json!([["1", 1e300], ["2", 1e300]]),
        json!({"1": 2.0}),
    ] {
        case.refused(&weights(bad).sealed(), &[]);
    }
    for bad in [json!("evenly"), json!(2.0), json!({"named": null})] {
        let file = case.honest.with_header(|h| h["task"]["class_weights"] = bad);
        case.refused(&file.sealed(), &["forged", "task"]);
    }
    // Weights that are resolved in no file.
    let file = case.honest.with_header(|h| h["task"]["class_weights"] = "balanced".into());
    case.refused(&file.sealed(), &[]);
    for loss in [json!({"name": "softmax"}), json!({"name": "smooth_hinge", "width": 1.0})] {
        let file = case.honest.with_header(|h| h["task"]["structure"]["loss"] = loss);
        case.refused(&file.sealed(), &[]);
    }
    let case = Case::chain();
    for scaling in ["max", "rms", "median"] {
        let file = case.honest.with_header(|h| h["task"]["scaling"] = scaling.into());
        case.refused(&file.sealed(), &[]);
    }
    let classes = json!({"named": [["a", 2.0]]});
    let file = case.honest.with_header(|h| h["task"]["class_weights"] = classes);
    case.refused(&file.sealed(), &[]);
}

#[test]
fn a_newer_file_asks_for_a_newer_program() {
    for case in Case::both() {
        for version in [5, 6, u32::MAX] {
            // Whatever else a newer file may look like.
            let text = format!("{{\"format_version\":{version},\"task\":[1,2,3]}}");
            let file = case.honest.with_header_text(&text).bytes();
            case.refused(&file, &["forged", &version.to_string(), "use a newer dualgap"]);
        }
    }
    let case = Case::multiclass();
    for bad in [json!(0), json!(-1), json!("1"), json!(1.5), json!(1e300)] {
        let file = case.honest.with_header(|header| header["format_version"] = bad.clone());
        case.refused(&file.bytes(), &["forged", "version"]);
    }
}

#[test]
fn what_the_file_says_about_itself_must_fit_its_tensors_and_the_data() {
    for case in Case::both() {
        let changes: [(&str, Value); 10] = [
            ("/features", 5.into()),
            ("/features", u64::MAX.into()),
            ("/labels", json!(["1", "2"])),
            ("/labels", json!(["1", "2", "2"])),
            ("/labels", json!(["x", "y", "z"])),
            ("/labels", json!([])),
            ("/provenance/examples", 11.into()),
            ("/provenance/examples", u64::MAX.into()),
            ("/provenance/fingerprint", "0".into()),
            ("/certificate/certified", false.into()),
        ];
        for (place, value) in changes {
            let file = case.honest.with_header(|header| {
                *header.pointer_mut(place).unwrap() = value.clone();
            });
            case.refused(&file.sealed(), &[]);
        }
    }
    let case = Case::chain();
    let plain = json!({"hamming": "plain"});
    let file = case.honest.with_header(|header| header["task"]["structure"] = plain);
    case.refused(&file.sealed(), &["refused", "claims a primal value"]);
    let file = case.honest.with_header(|header| header["structure"] = "multiclass".into());
    case.refused(&file.sealed(), &["`weights`"]);
}

#[test]
fn a_part_that_was_left_out_is_noticed() {
    for case in Case::both() {
        for name in case.honest.tensors.keys() {
            let mut file = case.honest.clone();
            file.tensors.remove(name);
            // The header still names it …
            case.refused(&file.bytes(), &["forged", &format!("`{name}`")]);
            // … and without it the numbers are of another problem, or of none. A witness can be left
            // out, but not a part of one.
            if name != "witness.starts" {
                case.refused(&file.sealed(), &[]);
            }
        }
    }
}

fn without_witness(file: &ModelFile) -> ModelFile {
    let mut file = file.clone();
    file.tensors.retain(|name, _| !name.starts_with("witness."));
    file
}

#[test]
fn without_a_witness_the_dual_is_said_to_be_the_word_of_the_run() {
    for case in Case::both() {
        let bare = without_witness(&case.honest);
        let json = case.certify(&bare.sealed()).exits(1).json();
        assert_eq!((&json["verified"], &json["dual_proved"]), (&true.into(), &false.into()));
        assert_eq!(
            (&json["certified"], &json["remarks"][0]["kind"]),
            (&false.into(), &"no_witness".into())
        );
        let run = case.desk.run(&format!("certify forged {}", case.data)).exits(1);
        assert!(run.stdout.contains("the word of the training run"), "{}", run.stdout);
        let last = run.stdout.lines().last().unwrap();
        assert!(last.starts_with("Verified: the primal value."), "{last}");
        assert!(!run.stdout.contains("Certified:"), "{}", run.stdout);

        // The primal value is still checked, and a dual above it still makes no sense.
        let file = with_certificate(&bare, "primal", |primal| 0.9 * primal);
        case.refused(&file.sealed(), &["refused", "claims a primal value"]);
        let file = with_certificate(&bare, "dual", |dual| dual + 1.0);
        case.refused(&file.sealed(), &["no certificate"]);
    }
}

#[test]
fn training_without_a_witness_leaves_none() {
    let case = Case::multiclass();
    case.desk.train("multiclass data.svm -o bare");
    let bare = ModelFile::parse(&case.desk.read("bare"));
    assert!(bare.tensors.keys().all(|name| !name.starts_with("witness")));
    assert_eq!(case.desk.certify("bare", "data.svm")["dual_proved"], false);
}

#[test]
fn a_header_that_makes_no_sense_is_refused() {
    let case = Case::multiclass();
    for version in [1, 2, 3, 4] {
        let start = format!("{{\"format_version\":{version}");
        let (open, close) = ("[".repeat(200_000), "]".repeat(200_000));
        for text in [
            format!("{start}}}"),
            format!("{start},\"x\":{open}{close}}}"),
            format!("{start},\"labels\":{open}"),
            format!("{start},\"task\":[],\"provenance\":[]}}"),
            format!("{start},\"task\":{{}},\"provenance\":{{}}}}"),
        ] {
            case.refused(&case.honest.with_header_text(&text).bytes(), &["forged"]);
        }
    }
    for text in ["{}", "[]", "null", "1", "\"\""] {
        case.refused(&case.honest.with_header_text(text).bytes(), &["forged"]);
    }
    for name in
        ["format_version", "structure", "task", "labels", "certificate", "provenance", "digests"]
    {
        let file = case.honest.with_header(|header| {
            header.as_object_mut().unwrap().remove(name);
        });
        case.refused(&file.bytes(), &["forged"]);
    }
    let memory = case.honest.with_header(|header| header["provenance"]["recipe"] = Value::Null);
    case.refused(&memory.sealed(), &["forged", "trained from memory"]);
    let folds = json!({"format": "libsvm", "folds": [1]});
    let folds = case.honest.with_header(|header| header["provenance"]["recipe"] = folds);
    case.refused(&folds.sealed(), &["data.svm", "folds"]);
}

#[test]
fn fields_and_tensors_of_a_later_program_are_left_alone() {
    for case in Case::both() {
        let honest = case.certify(&case.honest.sealed()).ok().json();
        let mut file = case.honest.with_header(|header| header["colour"] = "blue".into());
        let start = file.tensors["sample_weights"].clone();
        file.tensors.insert("later".into(), start);
        assert_eq!(case.certify(&file.sealed()).ok().json(), honest);
    }
}
