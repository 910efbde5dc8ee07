//! Precision, recall and F1 of chunks, exactly as the CoNLL shared tasks count them: a predicted chunk is right when a true
//! chunk has the same first and last token and the same type. [`chunks`] says what is a chunk.

use crate::data::chunks;
use crate::data::scheme::is_chunk_label;
use serde::Serialize;
use std::collections::BTreeMap;

/// How often something is in the truth, in the prediction, and in both: a label, or chunks of one type or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// In the truth.
    pub truth: usize,
    /// In the prediction.
    pub predicted: usize,
    /// In both.
    pub right: usize,
}

/// The scores that the shared tasks report, as fractions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scores {
    /// The fraction of the predicted ones that are right.
    pub precision: f64,
    /// The fraction of the true ones that are predicted.
    pub recall: f64,
    /// The harmonic mean of precision and recall.
    pub f1: f64,
    /// The number of true ones.
    pub support: usize,
}

impl Count {
    /// Returns precision, recall and F1; a ratio with a denominator of zero is zero.
    pub fn figures(self) -> Scores {
        let ratio = |a: usize, b: usize| if b == 0 { 0.0 } else { a as f64 / b as f64 };
        Scores {
            precision: ratio(self.right, self.predicted),
            recall: ratio(self.right, self.truth),
            f1: ratio(2 * self.right, self.truth + self.predicted),
            support: self.truth,
        }
    }
}

/// Chunk counts over all sequences, by type.
#[derive(Clone, Debug, Default)]
pub struct ChunkEvaluation {
    by_type: BTreeMap<String, Count>,
}

impl ChunkEvaluation {
    /// Whether the labels look like chunk labels: each is `O` or a known mark with a type, and at least one has a
    /// type.
    pub fn applies<S: AsRef<str>>(labels: &[S]) -> bool {
        labels.iter().all(|label| label.as_ref() == "O" || is_chunk_label(label.as_ref()))
            && labels.iter().any(|label| is_chunk_label(label.as_ref()))
    }

    /// Counts the chunks of one sequence.
    pub fn compare<S: AsRef<str>>(&mut self, truth: &[S], predicted: &[S]) {
        let (truth, predicted) = (chunks(truth), chunks(predicted));
        let mut count = |kind: &str, what: fn(&mut Count) -> &mut usize| {
            *what(self.by_type.entry(kind.into()).or_default()) += 1;
        };
        truth.iter().for_each(|chunk| count(chunk.2, |c| &mut c.truth));
        predicted.iter().for_each(|chunk| count(chunk.2, |c| &mut c.predicted));
        // Both lists are sorted by first token.
        let mut rest = truth.as_slice();
        for chunk in &predicted {
            while rest.first().is_some_and(|first| first.0 < chunk.0) {
                rest = &rest[1..];
            }
            if rest.first() == Some(chunk) {
                count(chunk.2, |c| &mut c.right);
            }
        }
    }

    /// Returns the counts of each type.
    pub fn by_type(&self) -> impl Iterator<Item = (&str, Count)> {
        self.by_type.iter().map(|(kind, &count)| (kind.as_str(), count))
    }

    /// Returns the counts of all types together.
    pub fn overall(&self) -> Count {
        let mut all = Count::default();
        for count in self.by_type.values() {
            all.truth += count.truth;
            all.predicted += count.predicted;
            all.right += count.right;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The shared task's way of counting: one walk over both sequences, with a flag for "in a chunk that is right
    /// so far". Written from its rules for marks B, I, O and E, independently of `chunks`.
    #[allow(clippy::unnested_or_patterns)] // one pair of marks after the other, as in the rules
    fn streaming(truth: &[&str], predicted: &[&str]) -> Count {
        let part = |label: &str| -> (String, String) {
            match label.split_once('-') {
                Some((mark, kind)) => (mark.into(), kind.into()),
                None => (label.into(), String::new()),
            }
        };
        let ends = |prev: &(String, String), now: &(String, String)| {
            let pair = (prev.0.as_str(), now.0.as_str());
            matches!(
                pair,
                ("B", "B")
                    | ("B", "O")
                    | ("I", "B")
                    | ("I", "O")
                    | ("E", "E")
                    | ("E", "I")
                    | ("E", "O")
                    | ("E", "B")
            ) || (prev.0 != "O" && prev.1 != now.1)
        };
        let starts = |prev: &(String, String), now: &(String, String)| {
            let pair = (prev.0.as_str(), now.0.as_str());
            now.0 == "B"
                || matches!(pair, ("E", "E") | ("E", "I") | ("O", "E") | ("O", "I"))
                || (now.0 != "O" && prev.1 != now.1)
        };
        let outside = || ("O".to_string(), String::new());
        let (mut count, mut in_correct) = (Count::default(), false);
        let (mut last_truth, mut last_predicted) = (outside(), outside());
        let end = ["O"];
        for (truth, predicted) in truth.iter().chain(&end).zip(predicted.iter().chain(&end)) {
            let (truth, predicted) = (part(truth), part(predicted));
            if in_correct {
                let (a, b) = (ends(&last_truth, &truth), ends(&last_predicted, &predicted));
                if a && b && last_truth.1 == last_predicted.1 {
                    in_correct = false;
                    count.right += 1;
                } else if a != b || truth.1 != predicted.1 {
                    in_correct = false;
                }
            }
            let (a, b) = (starts(&last_truth, &truth), starts(&last_predicted, &predicted));
            if a && b && truth.1 == predicted.1 {
                in_correct = true;
            }
            count.truth += usize::from(a);
            count.predicted += usize::from(b);
            (last_truth, last_predicted) = (truth, predicted);
        }
        count
    }

    fn labels() -> impl Strategy<Value = Vec<&'static str>> {
        prop::collection::vec(
            prop::sample::select(vec!["O", "B-A", "I-A", "E-A", "B-B", "I-B", "E-B"]),
            12,
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn chunks_are_counted_as_in_the_shared_task(truth in labels(), predicted in labels(), length in 0_usize..12) {
            let (truth, predicted) = (&truth[..length], &predicted[..length]);
            let mut evaluation = ChunkEvaluation::default();
            evaluation.compare(truth, predicted);
            prop_assert_eq!(evaluation.overall(), streaming(truth, predicted), "{:?} {:?}", truth, predicted);
        }
    }

    #[test]
    fn the_odd_cases_are_those_of_the_shared_task() {
        assert_eq!(chunks(&["I-NP", "I-NP"]), [(0, 2, "NP")]);
        assert_eq!(chunks(&["O", "I-NP", "B-NP"]), [(1, 2, "NP"), (2, 3, "NP")]);
        assert_eq!(chunks(&["B-NP", "I-VP"]), [(0, 1, "NP"), (1, 2, "VP")]);
        assert_eq!(
            chunks(&["S-A", "S-A", "B-A", "E-A", "I-A"]),
            [(0, 1, "A"), (1, 2, "A"), (2, 4, "A"), (4, 5, "A")]
        );
        assert!(chunks(&["O", "O"]).is_empty());
    }

    #[test]
    fn chunk_labels_are_told_from_other_labels() {
        assert!(ChunkEvaluation::applies(&["O", "B-NP", "I-NP"]));
        assert!(!ChunkEvaluation::applies(&["O", "NN"]));
        assert!(!ChunkEvaluation::applies(&["O"]));
        assert!(!ChunkEvaluation::applies(&["a", "b"]));
    }
}
