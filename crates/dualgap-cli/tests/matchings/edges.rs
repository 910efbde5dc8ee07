//! Edge files: any matching problem, without words.

use super::rates;
use crate::common::{Desk, Dice, number};
use std::fmt::Write;

/// Graphs of four rows and four columns; the true column of a row has the larger feature, if noise does not hide it.
fn graphs(count: usize, seed: u64) -> (String, String) {
    let mut dice = Dice(seed);
    let (mut edges, mut links) = (String::new(), String::new());
    for _ in 0..count {
        let turn = dice.below(4);
        let mut true_links = Vec::new();
        for row in 0..4 {
            for column in 0..4 {
                let is = (row + turn) % 4 == column;
                let strength = f64::from(u8::from(is)) + dice.signed() / 3.0;
                let _ = writeln!(edges, "{row} {column} {} near:{strength} bias:1", u8::from(is));
                true_links.extend(is.then(|| format!("{row}-{column}")));
            }
        }
        edges.push('\n');
        let _ = writeln!(links, "{}", true_links.join(" "));
    }
    (edges, links)
}

#[test]
fn an_edge_file_is_trained_tested_predicted_and_certified() {
    let desk = Desk::new();
    desk.write("train.txt", graphs(20, 1).0);
    let (edges, links) = graphs(10, 2);
    desk.write("test.txt", &edges);
    let json = desk.train("matching train.txt --test test.txt --witness -o model");
    let predicted = desk.run("predict model test.txt").ok().stdout;
    assert!((number(&json["test"], "aer") - rates(&predicted, &links)[0]).abs() < 1e-12);
    assert!(number(&json["test"], "aer") < 0.2);
    assert_eq!(desk.certify("model", "train.txt")["certified"], true);
    desk.run("train matching train.txt --format edges --train-range 0..10 --witness -o part").ok();
    assert_eq!(desk.certify("part", "train.txt")["n"], 10);
    let text = desk.run("inspect model --data test.txt --pair 0").ok().stdout;
    assert!(text.contains("│ │ │ 3"), "{text}");
    let weights = desk.run("inspect model").ok().stdout;
    assert!(weights.contains("near"), "{weights}");
}
