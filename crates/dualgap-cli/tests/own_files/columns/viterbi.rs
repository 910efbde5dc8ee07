//! The exported weights are the model: the labels of `predict` are the best ones under them.

use crate::common::{Desk, number};
use crate::own_files::cells;
use crate::own_files::exported::{Exported, Position};
use crate::own_files::sentences::{Sentences, Token};

const LABELS: [&str; 5] = ["B-NP", "B-VP", "I-NP", "I-VP", "O"];

/// Trains with these options, and looks at every sentence of a test file.
#[track_caller]
fn confirm(options: &str) {
    let desk = Desk::new();
    desk.write("train.txt", Sentences::new(40, 1).labelled());
    desk.write("test.txt", Sentences::new(40, 2).labelled().replace("cat", "unheard-of"));
    desk.write("templates", "U0:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\nU2:\n");
    desk.train(&format!("chain train.txt --features templates -o model {options}"));
    let exported = Exported::of(&desk, "model");
    let output = desk.run("predict model test.txt").ok().stdout;
    let mut wrong = 0;
    for sentence in cells(&output) {
        let word = |t: usize| sentence[t][0];
        let position = |t: usize| {
            let before = if t == 0 { "_B-1" } else { word(t - 1) };
            let names =
                [format!("U0:{}", word(t)), format!("U1:{before}/{}", word(t)), "U2:".into()];
            Position { features: names.map(|name| (name, 1.0)).into(), ..Position::default() }
        };
        let positions: Vec<Position> = (0..sentence.len()).map(position).collect();
        let predicted: Vec<&str> = sentence.iter().map(|token| token[3]).collect();
        exported.confirms(&positions, &predicted, &LABELS);
        wrong += sentence.iter().filter(|token| token[2] != token[3]).count();
    }
    assert!(wrong > 0, "sentences that are easy say nothing of transitions");
}

#[test]
fn labels_are_the_best_ones_under_the_exported_weights() {
    confirm("--passes 20");
}

#[test]
fn whichever_average_and_method_the_weights_come_from() {
    confirm("--passes 3 --tolerance 0 --average weighted");
    confirm("--passes 3 --tolerance 0 --average suffix --hamming plain");
    confirm("--passes 5 --tolerance 0 --solver fw");
}

/// Features of the tag, which may be made more than once, and of the pair of tags.
fn tagged(sentence: &[Token], times: f64, pairs: bool) -> Vec<Position> {
    let position = |t: usize| {
        let tag = sentence[t][1];
        let pair = (pairs && t > 0).then(|| format!("B0:{}/{tag}", sentence[t - 1][1]));
        Position { features: vec![(format!("U0:{tag}"), times)], pairs: pair.into_iter().collect() }
    };
    (0..sentence.len()).map(position).collect()
}

#[test]
fn the_primal_value_is_that_of_the_exported_weights() {
    let (desk, sentences) = (Desk::new(), Sentences::new(40, 1));
    desk.write("train.txt", sentences.labelled());
    for (templates, times, pairs) in [
        ("U0:%x[0,1]\n", 1.0, false),
        // A feature that two templates make counts twice.
        ("U0:%x[0,1]\nU0:%x[0,1]\n", 2.0, false),
        ("U0:%x[0,1]\nB0:%x[-1,1]/%x[0,1]\n", 1.0, true),
    ] {
        desk.write("templates", templates);
        let line = "chain train.txt --features templates --lambda 0.5/n --passes 4 --tolerance 0 \
                    --hamming normalized";
        let json = desk.train(&format!("{line} -o model"));
        let exported = Exported::of(&desk, "model");
        let losses = sentences.0.iter().map(|sentence| {
            let truth: Vec<&str> = sentence.iter().map(|token| token[2]).collect();
            exported.hinge(&tagged(sentence, times, pairs), &truth, &LABELS)
        });
        let primal = losses.sum::<f64>() / 40.0 + exported.regulariser(0.5 / 40.0);
        let told = number(&json, "primal");
        assert!((told - primal).abs() < 1e-9 + number(&json, "rounding_error"), "{told} {primal}");
    }
}
