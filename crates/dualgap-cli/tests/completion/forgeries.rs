//! Files that somebody wrote who wants to be believed.

use crate::common::forge::ModelFile;
use crate::completion::{csv, desk, triples};

#[test]
fn forged_models_are_refused() {
    let desk = desk();
    let line = "completion ratings.csv --radius 4 --centre effects --passes 2 --holdout 0.1";
    desk.train(&format!("{line} --witness -o model"));
    desk.certify("model", "ratings.csv");
    let file = ModelFile::parse(&desk.read("model"));
    let refuses = |forged: &ModelFile, words: &[&str]| {
        desk.write("forged", forged.sealed());
        desk.run("certify forged ratings.csv").refuses(words);
    };
    let header = |change: &dyn Fn(&mut serde_json::Value), words: &[&str]| {
        refuses(&file.with_header(|h| change(h)), words);
    };
    header(&|h| h["task"]["penalty"]["ball"]["radius"] = 1.0.into(), &["not in the ball"]);
    header(&|h| h["task"]["penalty"]["ball"]["radius"] = 9.0.into(), &["dual"]);
    header(&|h| h["task"]["penalty"]["ball"]["name"] = "l1".into(), &["`weights`"]);
    for forged in file.with_other_penalties() {
        refuses(&forged, &["`weights`"]);
    }
    header(&|h| h["task"]["penalty"]["mu"] = 0.5.into(), &["value of"]);
    header(&|h| h["certificate"]["dual"] = 1e9.into(), &["dual"]);
    header(&|h| h["task"]["structure"]["mean"] = 3.0.into(), &["than the data give"]);
    header(&|h| h["task"]["structure"]["centre"] = "mean".into(), &["value of"]);
    header(
        &|h| h["task"]["structure"]["loss"] = serde_json::json!({"name": "huber", "width": 1.0}),
        &[],
    );
    header(&|h| h["task"]["structure"]["loss"] = serde_json::json!({"name": "hinge"}), &[]);
    header(&|h| h["structure"] = "linear".into(), &[]);
    header(&|h| h["features"] = 3.into(), &[]);
    header(&|h| h["labels"] = serde_json::json!(["a"]), &["names"]);
    let format = |h: &mut serde_json::Value| h["provenance"]["recipe"]["format"].take();
    header(&|h| drop(format(h)), &[]);
    header(&|h| h["provenance"]["recipe"]["format"] = "libsvm".into(), &["something else"]);
    for held_out in ["seed", "count"] {
        let of = |h: &mut serde_json::Value| {
            h["provenance"]["recipe"]["format"]["ratings"]["held_out"][held_out] = 3.into();
        };
        header(&of, &["not the data"]);
    }
    let all = serde_json::json!(1_000_000_000_u64);
    let of = |h: &mut serde_json::Value| {
        h["provenance"]["recipe"]["format"]["ratings"]["held_out"]["count"] = all.clone();
    };
    header(&of, &["held out"]);

    for tensor in ["low_rank.u", "low_rank.s", "low_rank.v", "centre.users", "centre.items"] {
        let numbers = file.floats(tensor);
        let with = |change: &dyn Fn(&f64) -> f64| {
            let mut forged = file.clone();
            forged.set_floats(tensor, &numbers.iter().map(change).collect::<Vec<_>>());
            forged
        };
        let part = if tensor.starts_with("low") { "not in the ball" } else { "than the data give" };
        refuses(&with(&|x| 9.0 * x), &[part]);
        refuses(&with(&|_| f64::NAN), &[tensor]);
        let mut without = file.clone();
        without.tensors.remove(tensor);
        refuses(&without, &[tensor]);
        let mut shape = file.clone();
        shape.tensors.get_mut(tensor).unwrap().shape.insert(0, 1);
        refuses(&shape, &[tensor]);
    }
    for (tensor, missing) in [("items.text", "items.text"), ("names.text", "must have a name")] {
        let mut forged = file.clone();
        let text = &mut forged.tensors.get_mut(tensor).unwrap().bytes;
        let last = text.len() - 1;
        text[last] = b'x';
        refuses(&forged, &["other"]);
        forged.tensors.get_mut(tensor).unwrap().bytes[last] = 0xff;
        refuses(&forged, &["no text"]);
        forged.tensors.remove(tensor);
        refuses(&forged, &[missing]);
    }
    let mut witness = file.floats("witness.weights");
    witness[0] += 0.125;
    let mut forged = file.clone();
    forged.set_floats("witness.weights", &witness);
    refuses(&forged, &["dual"]);
}

#[test]
fn altered_ratings_are_refused() {
    let desk = desk();
    desk.train("completion ratings.csv --radius 4 --passes 2 --witness -o model");
    let all = triples(70, 1);
    let refuses = |change: &dyn Fn(&mut crate::completion::Triples)| {
        let mut changed = all.clone();
        change(&mut changed);
        desk.write("changed.csv", csv(&changed));
        desk.run("certify model changed.csv").fails(&["not the data"]);
    };
    refuses(&|all| all[5].2 += 0.001);
    refuses(&|all| all[5].0 = "somebody".into());
    refuses(&|all| all[5].1 = "film 0".into());
    refuses(&|all| all.swap(20, 40));
    refuses(&|all| all.truncate(69));
    refuses(&|all| all.push(all[0].clone()));
}
