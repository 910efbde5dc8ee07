//! Labels and chunks, counted one by one.

use crate::common::number;
use serde_json::Value;
use std::collections::BTreeMap;

/// How often something is true, predicted, and both.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    pub truth: usize,
    pub predicted: usize,
    pub right: usize,
}

impl Tally {
    /// Precision, recall and F1, which are zero where nothing is counted.
    pub fn scores(self) -> [f64; 3] {
        let share = |part: usize, all: usize| if all == 0 { 0.0 } else { part as f64 / all as f64 };
        let (p, r) = (share(self.right, self.predicted), share(self.right, self.truth));
        [p, r, if p + r == 0.0 { 0.0 } else { 2.0 * p * r / (p + r) }]
    }

    #[track_caller]
    pub fn confirms(self, told: &Value) {
        for (field, expected) in ["precision", "recall", "f1"].into_iter().zip(self.scores()) {
            assert!((number(told, field) - expected).abs() < 1e-12, "{field} {self:?} {told:#}");
        }
        assert_eq!(told["support"], self.truth);
    }
}

/// Mark and type of a label, as the script of the CoNLL shared tasks takes it apart.
fn parts(label: &str) -> (&str, &str) {
    label.split_once('-').unwrap_or((label, ""))
}

/// The script's `endOfChunk`, for marks B, I and O.
fn ends(before: (&str, &str), now: (&str, &str)) -> bool {
    matches!((before.0, now.0), ("B" | "I", "B" | "O")) || (before.0 != "O" && before.1 != now.1)
}

/// The script's `startOfChunk`, for marks B, I and O.
fn starts(before: (&str, &str), now: (&str, &str)) -> bool {
    now.0 == "B" || (before.0, now.0) == ("O", "I") || (now.0 != "O" && before.1 != now.1)
}

/// Chunks by type, counted in one walk over the tokens as the script does it; a sentence ends with a
/// token that is outside.
pub fn conlleval(truth: &[Vec<&str>], predicted: &[Vec<&str>]) -> BTreeMap<String, Tally> {
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let outside = ("O", "");
    let mut last = [outside; 2];
    let mut in_correct = false;
    let tokens = truth.iter().zip(predicted).flat_map(|(truth, predicted)| {
        let pairs = truth.iter().zip(predicted).map(|(a, b)| [parts(a), parts(b)]);
        pairs.chain([[outside; 2]])
    });
    for now in tokens {
        let end = [0, 1].map(|k| ends(last[k], now[k]));
        let start = [0, 1].map(|k| starts(last[k], now[k]));
        if in_correct {
            if end == [true; 2] && last[0].1 == last[1].1 {
                in_correct = false;
                tallies.entry(last[0].1.into()).or_default().right += 1;
            } else if end[0] != end[1] || now[0].1 != now[1].1 {
                in_correct = false;
            }
        }
        if start == [true; 2] && now[0].1 == now[1].1 {
            in_correct = true;
        }
        if start[0] {
            tallies.entry(now[0].1.into()).or_default().truth += 1;
        }
        if start[1] {
            tallies.entry(now[1].1.into()).or_default().predicted += 1;
        }
        last = now;
    }
    tallies
}
