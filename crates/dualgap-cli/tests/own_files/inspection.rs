//! `inspect` tells what a model is and how it came about.

use crate::common::forge::ModelFile;
use crate::common::{Desk, Table, number};
use crate::own_files::exported::{Exported, Row};
use crate::own_files::sentences::Sentences;
use serde_json::{Value, json};

/// A chain with weights of every kind.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("train.txt", Sentences::new(30, 1).labelled());
    desk.write("templates", "U0:%x[0,0]\nU1:%x[-1,1]/%x[0,1]\nB1:%x[0,1]\n");
    desk
}

fn inspected(desk: &Desk, line: &str) -> Value {
    desk.run(&format!("inspect model --json {line}")).ok().json()
}

/// Trains with these options; every setting must be the one expected.
#[track_caller]
fn settings(options: &str, expected: &Value) {
    let desk = desk();
    desk.train(&format!("chain train.txt --features templates -o model {options}"));
    let told = inspected(&desk, "");
    for (name, value) in expected.as_object().unwrap() {
        let found = match &name[..] {
            "lambda" => &told["problem"]["penalty"]["lambda"],
            "stop" | "passes" | "oracle_calls" | "examples" => &told["provenance"][name],
            _ => &told["provenance"]["method"][name],
        };
        assert_eq!(found, value, "{name} {options}");
    }
}

#[test]
fn settings_are_those_of_the_command_line() {
    settings(
        "--passes 4 --tolerance 0",
        &json!({
            "lambda": 1.0 / 30.0, "solver": "bcfw", "step": "line-search", "sampling": "permuted",
            "average": "none", "batch": 1, "seed": 0, "stop": "pass_limit", "passes": 4.0,
            "oracle_calls": 120, "examples": 30,
        }),
    );
    settings(
        "--lambda 0.125 --sampling uniform --average weighted --batch 5 --seed 17 \
         --oracle-calls 45 --tolerance 0 --step predefined",
        &json!({
            "lambda": 0.125, "solver": "bcfw", "step": "predefined", "sampling": "uniform",
            "average": "weighted", "batch": 5, "seed": 17, "stop": "oracle_limit", "passes": 1.5,
            "oracle_calls": 45,
        }),
    );
    settings(
        "--c 2 --solver fw --average suffix --passes 2 --tolerance 0",
        &json!({ "lambda": 1.0 / 60.0, "solver": "fw", "average": "suffix", "oracle_calls": 60 }),
    );
    settings("--tolerance 0.5", &json!({ "stop": "gap_reached" }));
}

#[test]
fn how_the_file_was_read_is_told() {
    let desk = desk();
    let templates = String::from_utf8(desk.read("templates")).unwrap();
    let line = "chain train.txt --features templates --min-count 2 --lowercase --passes 1 -o model";
    desk.train(line);
    let recipe = inspected(&desk, "")["provenance"]["recipe"]["format"]["columns"].clone();
    assert_eq!(recipe["templates"], templates);
    assert_eq!((&recipe["min_count"], &recipe["lowercase"]), (&2.into(), &true.into()));
    assert_eq!(recipe["columns"], 3);
    let text = desk.run("inspect model").ok().stdout;
    assert!(text.contains("a column file"), "{text}");
}

#[test]
fn the_text_tells_the_settings_too() {
    let desk = desk();
    desk.train(
        "chain train.txt --lambda 0.125 --seed 17 --passes 2 --hamming plain --tolerance 0 \
                --average weighted --witness -o model",
    );
    let text = desk.run("inspect model").ok().stdout;
    for words in [
        "chain, 5 labels",
        "the number of wrong labels",
        "0.125",
        "seed 17",
        "2 passes",
        "weighted average",
        "30 examples",
        "bcfw",
        "the gap can be proved again",
        "its passes were used up",
        "Certified: ",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    desk.train("chain train.txt --passes 2 --hamming normalized -o model");
    let text = desk.run("inspect model").ok().stdout;
    assert!(text.contains("the fraction of wrong labels") && text.contains("not stored"), "{text}");
}

#[test]
fn the_certificate_is_the_one_that_training_printed() {
    let desk = desk();
    desk.write("data.svm", Table::new(30, 4, 3, 1).text());
    desk.write("costs", "1 2 3\n1 0 1 2\n2 1 0 1\n3 2 1 0\n");
    for line in [
        "chain train.txt --passes 3 --tolerance 0 --witness",
        "chain train.txt --tolerance 0.2",
        "multiclass data.svm --passes 7 --average weighted",
        "multiclass data.svm --costs costs --solver fw --passes 4",
    ] {
        let printed = desk.train(&format!("{line} -o model"));
        let told = inspected(&desk, "");
        for field in ["primal", "dual", "rounding_error", "certified"] {
            assert_eq!(told["certificate"][field], printed[field], "{field}: {line}");
        }
        for field in ["stop", "passes", "oracle_calls", "fingerprint"] {
            assert_eq!(told["provenance"][field], printed[field], "{field}: {line}");
        }
        for field in ["solver", "seed"] {
            assert_eq!(told["provenance"]["method"][field], printed[field], "{field}: {line}");
        }
        assert_eq!(told["problem"]["penalty"]["lambda"], printed["lambda"]);
        assert_eq!(told["provenance"]["examples"], printed["n"]);
        assert_eq!((&told["task"], &told["dim"]), (&printed["task"], &printed["dim"]));
        assert_eq!(told["has_witness"], line.contains("--witness"));
        assert_eq!(told["provenance"]["program"], format!("dualgap {}", env!("CARGO_PKG_VERSION")));
    }
}

/// Magnitudes of the weights that satisfy the condition, the largest first.
fn magnitudes(exported: &Exported, wanted: impl Fn(&Row) -> bool) -> Vec<f64> {
    let mut all: Vec<f64> =
        exported.rows.iter().filter(|row| wanted(row)).map(|row| row.weight.abs()).collect();
    all.sort_by(|a, b| b.total_cmp(a));
    all
}

/// The largest weights as `inspect --json` tells them; each must be one of those exported.
#[track_caller]
fn largest(told: &Value, exported: &Exported) -> Vec<Row> {
    let rows = told["largest"].as_array().unwrap().iter().map(|row| {
        let name = |field: &str| row.get(field).map_or("", |x| x.as_str().unwrap()).to_string();
        let [kind, feature, from, label] = ["kind", "feature", "from", "label"].map(name);
        let weight = number(row, "weight");
        assert_eq!(exported.weight(&kind, &feature, &from, &label), weight, "{row}");
        Row { kind, feature, from, label, weight }
    });
    rows.collect()
}

#[test]
fn the_weights_that_are_shown_are_the_largest() {
    let desk = desk();
    desk.train("chain train.txt --features templates --passes 10 -o model");
    let exported = Exported::of(&desk, "model");
    for top in [1, 3, 5, 1000] {
        let option = if top == 5 { String::new() } else { format!("--top {top}") };
        let told = inspected(&desk, &option);
        let shown = largest(&told, &exported);
        for label in ["B-NP", "B-VP", "I-NP", "I-VP", "O"] {
            let of_label = |row: &Row| row.kind == "feature" && row.label == label;
            let mut expected = magnitudes(&exported, of_label);
            expected.truncate(top);
            let shown = shown.iter().filter(|row| of_label(row)).map(|row| row.weight.abs());
            assert_eq!(shown.collect::<Vec<_>>(), expected, "{top} {label}");
        }
        let of_pair = |row: &Row| row.kind != "feature";
        let mut expected = magnitudes(&exported, of_pair);
        expected.truncate(2 * top);
        let shown = shown.iter().filter(|row| of_pair(row)).map(|row| row.weight.abs());
        assert_eq!(shown.collect::<Vec<_>>(), expected, "{top}");
    }
}

#[test]
fn the_text_shows_the_same_weights() {
    let desk = desk();
    desk.train("chain train.txt --features templates --passes 10 -o model");
    let shown = largest(&inspected(&desk, "--top 3"), &Exported::of(&desk, "model"));
    let text = desk.run("inspect model --top 3").ok().stdout;
    let (_, text) = text.split_once("The largest weights of each label:").unwrap();
    let mut lines = text.lines().filter_map(|line| {
        let (number, what) = line.trim().split_once("  ")?;
        Some((number.parse::<f64>().ok()?, what))
    });
    for Row { kind, feature, from, label, weight } in shown {
        let (number, what) = lines.next().unwrap();
        assert!((number - weight).abs() <= 1e-5 * weight.abs(), "{number} {weight}");
        let expected = match &kind[..] {
            "feature" => feature,
            "start" => format!("begins with {label}"),
            "end" => format!("ends with {label}"),
            "transition" => format!("{from} → {label}"),
            _ => format!("{from} → {label}  at {feature}"),
        };
        assert_eq!(what, expected);
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn no_weights_are_shown_if_none_are_asked_for() {
    let desk = desk();
    desk.train("chain train.txt --passes 2 -o model");
    assert_eq!(inspected(&desk, "--top 0")["largest"], json!([]));
    let text = desk.run("inspect model --top 0").ok().stdout;
    assert!(text.contains("Certified") && !text.contains("largest"), "{text}");
    desk.run("inspect model --top -1").exits(2);
}

#[test]
fn an_export_has_every_weight_that_is_not_zero() {
    let desk = desk();
    desk.write("data.svm", Table::new(30, 4, 3, 1).text());
    for line in [
        "chain train.txt --features templates --passes 10",
        "chain train.txt --passes 2",
        "multiclass train.txt --format columns --passes 2",
        "multiclass data.svm --passes 5",
    ] {
        desk.train(&format!("{line} -o model"));
        let told = inspected(&desk, "--weights weights.tsv");
        let table = String::from_utf8(desk.read("weights.tsv")).unwrap();
        assert_eq!(desk.run("inspect model --weights -").ok().stdout, table);
        let rows = Exported::parse(&table).rows;
        assert!(rows.iter().all(|row| row.weight != 0.0));
        let (dim, zeros) = (number(&told, "dim"), number(&told, "zero_weights"));
        assert_eq!(rows.len() as f64, dim - zeros, "{line}");
        // In the order of the file, to the last bit.
        let file = ModelFile::parse(&desk.read("model"));
        let mut stored = file.weights();
        if file.tensors.contains_key("pairs") {
            stored.extend(file.floats("pairs"));
        }
        assert_eq!(stored.len() as f64, dim);
        let stored: Vec<f64> = stored.into_iter().filter(|&w| w != 0.0).collect();
        assert_eq!(rows.iter().map(|row| row.weight).collect::<Vec<_>>(), stored, "{line}");
        let labels = told["labels"].as_array().unwrap().len() as f64;
        let (features, pairs) = (number(&told, "features"), number(&told, "pair_features"));
        let chain = f64::from(u8::from(line.starts_with("chain")));
        let edges = chain * (2.0 * labels + labels * labels * (1.0 + pairs));
        assert_eq!(dim, features * labels + edges, "{line}");
    }
}

#[test]
fn an_export_to_a_file_is_told_of() {
    let desk = desk();
    desk.train("chain train.txt --passes 2 -o model");
    let text = desk.run("inspect model --weights weights.tsv").ok().stdout;
    assert!(text.contains("weights.tsv") && text.contains("Certified"), "{text}");
    assert_eq!(desk.files(), ["model", "templates", "train.txt", "weights.tsv"]);
    desk.run("inspect model --weights missing/weights.tsv")
        .fails(&["missing", "folder does not exist"]);
    desk.run("inspect model --weights .").fails(&["not a plain file"]);
    desk.run("inspect model --weights - --json").refuses(&["standard output"]);
}

#[test]
fn a_model_is_not_overwritten_by_what_is_made_from_it() {
    let desk = desk();
    desk.train("chain train.txt --passes 2 --witness -o model");
    let model = desk.read("model");
    desk.run("inspect model --weights model").fails(&["model", "overwritten"]);
    desk.run("predict model train.txt -o ./model").fails(&["model", "overwritten"]);
    assert_eq!(desk.read("model"), model);
}
