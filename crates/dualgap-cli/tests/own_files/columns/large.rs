//! Models of many features: their files are small, and are certified as stored.

use crate::common::forge::{ModelFile, Tensor};
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

/// The same file with all weights of features written out, zeros too; `None` if it has them so.
fn written_out(file: &[u8]) -> Option<Vec<u8>> {
    let mut model = ModelFile::parse(file);
    let places = model.tensors.remove("emissions.places")?.bytes;
    let values = model.tensors.remove("emissions.values").unwrap();
    let number = |bytes: &[u8]| match bytes.len() {
        4 => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
        _ => f64::from_le_bytes(bytes.try_into().unwrap()),
    };
    let mut values = values.bytes.chunks_exact(values.bytes.len() / values.shape[0]).map(number);
    let header = model.header();
    let side = |name: &str| header[name].as_u64().map(|side| side as usize);
    let labels = model.tensors["start"].shape[0];
    let features = side("features").unwrap();
    let mut dense = vec![0.0; features * labels];
    let (mut next, mut zeros, mut digits) = (0, 0, 0);
    for byte in places {
        zeros |= usize::from(byte & 0x7f) << digits;
        digits += 7;
        if byte < 0x80 {
            next += zeros;
            dense[next] = values.next().unwrap();
            (next, zeros, digits) = (next + 1, 0, 0);
        }
    }
    let bytes = dense.iter().flat_map(|x: &f64| x.to_le_bytes()).collect();
    let emissions = Tensor { dtype: "F64".into(), shape: vec![features, labels], bytes };
    model.tensors.insert("emissions".into(), emissions);
    Some(model.sealed())
}

// `predict` and `tag` have the weights of features without their zeros; the judge is a file that has them all, whose predictions
// go by the dense kernels.
#[test]
fn predictions_do_not_depend_on_how_weights_are_stored() {
    let desk = Desk::new();
    desk.write("train.txt", sentences());
    let unseen: String = sentences().lines().rev().map(|line| format!("{line}\n")).collect();
    desk.write("new.txt", unseen.trim_start());
    let mut compared = 0;
    for (line, asked) in [
        ("", &["", "--nbest 3"][..]),
        ("--loss log --l1 0.002", &["", "--nbest 3", "--marginals"]),
        ("--hash 12", &[""]),
        ("--forbid illegal", &["", "--nbest 3"]),
    ] {
        desk.train(&format!("chain train.txt {line} --passes 8 -o model"));
        let Some(dense) = written_out(&desk.read("model")) else { continue };
        desk.write("dense", dense);
        compared += 1;
        for asked in asked {
            let predict = |model: &str| {
                desk.run(&format!("predict {model} new.txt {asked} --quiet")).ok().stdout
            };
            assert_eq!(predict("model"), predict("dense"), "{line} {asked}");
        }
        let tag = |model: &str| {
            let line = format!("tag {model} new.txt --input columns --output json --quiet");
            desk.run(&line).ok().stdout
        };
        assert_eq!(tag("model"), tag("dense"), "{line}");
    }
    assert!(compared > 1, "{compared}");
}
