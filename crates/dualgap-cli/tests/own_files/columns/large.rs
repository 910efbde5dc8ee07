//! Models of many features: their files are small, and are certified as stored.

use crate::common::forge::ModelFile;
use crate::common::{Desk, number};
use std::fmt::Write;

/// Sentences of words that hardly occur twice, a verb at the end.
fn sentences() -> String {
    let mut text = String::new();
    for i in 0..300 {
        for t in 0..5 {
            let word = format!("{:x}", (i * 5 + t) * 7919 + 100_000);
            // Many labels, of which every feature meets a few.
            let label = format!("{}-{}", ["B", "I"][t % 2], i % 12);
            let _ = writeln!(text, "{word} {} {label}", ["NN", "VB"][t / 4]);
        }
        text.push('\n');
    }
    text
}

#[test]
fn a_large_model_is_stored_in_few_bytes_and_certified_as_stored() {
    let desk = Desk::new();
    desk.write("train.txt", sentences());
    let json = desk.train("chain train.txt --witness -o model");
    let dim = number(&json, "dim") as usize;
    let file = desk.read("model");
    let model = ModelFile::parse(&file);
    assert_eq!(model.header()["format_version"], 3);
    assert!(model.tensors.contains_key("emissions.places") && dim > 16_384, "{dim}");
    let bytes = |name: &str| model.tensors[name].bytes.len();
    let nonzero = number(&json, "nonzero_weights") as usize;
    assert!(bytes("emissions.values") <= 4 * nonzero, "32 bits each");
    assert!(bytes("emissions.values") + bytes("emissions.places") < 8 * dim / 3);
    // What is proved is the gap of the rounded weights: the report says the same as the file.
    let proved = desk.certify("model", "train.txt");
    assert_eq!(proved["dual_proved"], true);
    assert_eq!(number(&proved, "primal"), number(&json, "primal"));
    let weights = desk.run("inspect model --weights -").ok().stdout;
    let stored = weights.lines().skip(1).filter_map(|line| line.rsplit('\t').next());
    let stored: Vec<f64> = stored.map(|cell| cell.parse().unwrap()).collect();
    assert!(stored.len() > 1000 && stored.iter().all(|&x| f64::from(x as f32) == x));
}
