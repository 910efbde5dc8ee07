//! Templates for pairs of labels that depend on a cell.

use crate::common::{Desk, Dice, number};
use crate::own_files::cells;
use crate::own_files::exported::{Exported, Position};
use std::fmt::Write;

/// Each sentence begins with a token that names its label. From then on the label turns where the
/// second cell is `x` and stays where it is `k`: no token on its own tells anything, nor do pairs of
/// labels alone.
fn turns(n: usize, seed: u64) -> String {
    let mut dice = Dice(seed);
    let mut text = String::new();
    for i in 0..n {
        let mut left = dice.below(2) == 0;
        let label = |left: bool| if left { "left" } else { "right" };
        let _ = writeln!(text, "w{} {} {}", dice.below(3), label(left), label(left));
        for _ in 0..2 + i % 5 {
            let turn = dice.below(2) == 0;
            left ^= turn;
            let cell = if turn { "x" } else { "k" };
            let _ = writeln!(text, "w{} {cell} {}", dice.below(3), label(left));
        }
        text.push('\n');
    }
    text
}

/// Trained with and without the template.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("train.txt", turns(60, 1));
    desk.write("test.txt", turns(60, 2));
    desk.write("pairs", "U0:%x[0,1]\nB01:%x[0,1]\n");
    desk.write("plain", "U0:%x[0,1]\nB\n");
    for name in ["pairs", "plain"] {
        let line =
            format!("chain train.txt --features {name} --lambda 0.1/n --witness --passes 300");
        desk.train(&format!("{line} -o {name}.model"));
    }
    desk
}

#[test]
fn labels_that_only_pairs_can_tell_apart_are_learnt_with_them_and_not_without() {
    let desk = desk();
    let accuracy = |model: &str| {
        number(&desk.run(&format!("eval {model} test.txt --json")).ok().json(), "accuracy")
    };
    assert_eq!(accuracy("pairs.model"), 1.0);
    assert!(accuracy("plain.model") < 0.9);
}

#[test]
fn the_witness_of_a_model_with_pairs_is_accepted() {
    let desk = desk();
    let checked = desk.certify("pairs.model", "train.txt");
    assert_eq!((&checked["verified"], &checked["dual_proved"]), (&true.into(), &true.into()));
    assert!(number(&checked, "dual") <= number(&checked, "primal"));
}

#[test]
fn more_templates_make_the_optimum_no_worse() {
    let desk = desk();
    let certificate = |model: &str| desk.certify(model, "train.txt");
    let (with, without) = (certificate("pairs.model"), certificate("plain.model"));
    // A model without pairs is one with pairs whose weights are zero.
    assert!(number(&with, "dual") <= number(&without, "primal"));
}

#[test]
fn the_exported_weights_have_the_pairs() {
    let desk = desk();
    let with = Exported::of(&desk, "pairs.model");
    // The first token of a sentence makes no pair.
    let names: Vec<String> = with.features("pair").into_iter().collect();
    assert_eq!(names, ["B01:k", "B01:x"]);
    assert!(Exported::of(&desk, "plain.model").features("pair").is_empty());
    for (model, pairs) in [("pairs.model", 2), ("plain.model", 0)] {
        let json = desk.run(&format!("inspect {model} --json")).ok().json();
        assert_eq!((&json["features"], &json["pair_features"]), (&4.into(), &pairs.into()));
        // Two labels: features, first and last labels, pairs on their own and with a cell.
        assert_eq!(json["dim"], 4 * 2 + 2 + 2 + 4 + pairs * 4);
    }
    // It must pay to turn at x and to stay at k, wherever one comes from.
    let edge = |cell: &str, from: &str, to: &str| {
        with.weight("transition", "", from, to)
            + with.weight("pair", &format!("B01:{cell}"), from, to)
            + with.weight("feature", &format!("U0:{cell}"), "", to)
    };
    let around = |cell: &str| edge(cell, "left", "right") + edge(cell, "right", "left");
    let stay = |cell: &str| edge(cell, "left", "left") + edge(cell, "right", "right");
    assert!(around("x") > stay("x") && around("k") < stay("k"));
}

#[test]
fn labels_with_pairs_are_the_best_ones_under_the_exported_weights() {
    let desk = desk();
    for name in ["pairs", "plain"] {
        let exported = Exported::of(&desk, &format!("{name}.model"));
        let output = desk.run(&format!("predict {name}.model test.txt")).ok().stdout;
        for sentence in cells(&output) {
            let positions: Vec<Position> = sentence
                .iter()
                .enumerate()
                .map(|(t, token)| Position {
                    features: vec![(format!("U0:{}", token[1]), 1.0)],
                    pairs: (t > 0).then(|| format!("B01:{}", token[1])).into_iter().collect(),
                })
                .collect();
            let labels: Vec<&str> = sentence.iter().map(|token| token[3]).collect();
            exported.confirms(&positions, &labels, &["left", "right"]);
        }
    }
}

#[test]
fn rare_features_of_pairs_are_left_out_like_others() {
    let desk = Desk::new();
    // `k` is met twice by a pair, `x` once; a first token makes none.
    desk.write("train.txt", "k k a\nk k a\nx x b\n\nx x b\nk k a\n");
    desk.write("templates", "U0:\nB0:%x[0,1]\n");
    for (least, names) in [(1, vec!["B0:k", "B0:x"]), (2, vec!["B0:k"]), (3, vec![])] {
        let line = format!("chain train.txt --features templates --min-count {least}");
        desk.train(&format!("{line} --lambda 1 --passes 5 --tolerance 0 -o model"));
        let found: Vec<String> =
            Exported::of(&desk, "model").features("pair").into_iter().collect();
        assert_eq!(found, names);
        assert_eq!(desk.run("inspect model --json").ok().json()["pair_features"], names.len());
    }
}

#[test]
fn examples_on_their_own_have_no_pairs() {
    let desk = desk();
    let line = "train multiclass train.txt --format columns --features pairs";
    desk.run(line).fails(&["train.txt", "pairs", "train a chain"]);
    desk.run("train multiclass train.txt --format columns --features plain --passes 1").ok();
}
