//! Comparison of predicted label sets with the true ones.
//!
//! ```text
//! subset accuracy   the share of examples whose set is right as a whole
//! Hamming loss      the share of wrong answers, where every label asks of every example whether it is there
//! micro F1          2·right / (true + predicted), over all labels together
//! macro F1          the mean of the F1 of each label; 0 for a label that is neither true nor predicted anywhere
//! ```

use super::chunks::{Count, Scores};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How predicted sets compare with the true ones.
///
/// ```
/// # use dualgap::structure::evaluation::SetEvaluation;
/// let mut evaluation = SetEvaluation::of_labels(&["beach", "sunset"]);
/// evaluation.compare(["beach"], ["beach", "sunset"]);
/// evaluation.compare(["sunset"], ["sunset"]);
/// let figures = evaluation.figures();
/// assert_eq!((figures.subset_accuracy, figures.hamming_loss), (0.5, 0.25));
/// assert_eq!(figures.micro_f1, 0.8); // two right, of two true and three predicted
/// ```
#[derive(Clone, Debug, Default)]
pub struct SetEvaluation {
    examples: usize,
    right: usize,
    /// The number of labels that are in only one of the two sets of an example.
    wrong: usize,
    counts: BTreeMap<String, Count>,
    /// The weight of all examples, that of right sets, and that of wrong labels, if examples have weights.
    weighted: Option<[f64; 3]>,
}

/// The figures of a [`SetEvaluation`]; see the module's head.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SetFigures {
    /// The number of examples.
    pub examples: usize,
    /// The number of different labels of the model and of the data.
    pub labels: usize,
    /// The fraction of examples whose whole set is right.
    pub subset_accuracy: f64,
    /// The fraction of wrong decisions over all labels of all examples.
    pub hamming_loss: f64,
    /// The F1 of all labels together.
    pub micro_f1: f64,
    /// The mean F1 over labels.
    pub macro_f1: f64,
    /// The subset accuracy, each example with its weight; none if examples have no weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighted_subset_accuracy: Option<f64>,
    /// The Hamming loss, each example with its weight; none if examples have no weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighted_hamming_loss: Option<f64>,
}

impl SetEvaluation {
    /// Starts the evaluation of a model with these labels. Other labels in the truth count as well.
    pub fn of_labels<S: AsRef<str>>(names: &[S]) -> Self {
        let none = |name: &S| (name.as_ref().to_string(), Count::default());
        Self { counts: names.iter().map(none).collect(), ..Self::default() }
    }

    /// Counts the sets of one example.
    pub fn compare<'a>(
        &mut self,
        truth: impl IntoIterator<Item = &'a str>,
        predicted: impl IntoIterator<Item = &'a str>,
    ) {
        let truth: BTreeSet<&str> = truth.into_iter().collect();
        let predicted: BTreeSet<&str> = predicted.into_iter().collect();
        for name in truth.union(&predicted) {
            let (is, said) = (truth.contains(name), predicted.contains(name));
            let count = self.counts.entry((*name).into()).or_default();
            count.truth += usize::from(is);
            count.predicted += usize::from(said);
            count.right += usize::from(is && said);
            self.wrong += usize::from(is != said);
        }
        self.examples += 1;
        self.right += usize::from(truth == predicted);
    }

    /// Counts the sets of one example, which has this weight.
    ///
    /// ```
    /// # use dualgap::structure::evaluation::SetEvaluation;
    /// let mut evaluation = SetEvaluation::of_labels(&["beach", "sunset"]);
    /// evaluation.compare_weighted(["beach"], ["beach", "sunset"], 3.0);
    /// evaluation.compare_weighted(["sunset"], ["sunset"], 1.0);
    /// let figures = evaluation.figures();
    /// assert_eq!((figures.subset_accuracy, figures.weighted_subset_accuracy), (0.5, Some(0.25)));
    /// assert_eq!(figures.weighted_hamming_loss, Some(0.375)); // three of four half wrong
    /// ```
    pub fn compare_weighted<'a>(
        &mut self,
        truth: impl IntoIterator<Item = &'a str>,
        predicted: impl IntoIterator<Item = &'a str>,
        weight: f64,
    ) {
        let (right, wrong) = (self.right, self.wrong);
        self.compare(truth, predicted);
        let [all, sets, labels] = self.weighted.get_or_insert_default();
        *all += weight;
        *sets += weight * (self.right - right) as f64;
        *labels += weight * (self.wrong - wrong) as f64;
    }

    /// Returns all figures.
    pub fn figures(&self) -> SetFigures {
        let labels = self.counts.len();
        let share = |part: f64, of: usize| part / of.max(1) as f64;
        let all = self.counts.values().fold(Count::default(), |all, one| Count {
            truth: all.truth + one.truth,
            predicted: all.predicted + one.predicted,
            right: all.right + one.right,
        });
        let each = self.counts.values().map(|count| count.figures().f1);
        SetFigures {
            examples: self.examples,
            labels,
            subset_accuracy: share(self.right as f64, self.examples),
            hamming_loss: share(self.wrong as f64, self.examples * labels),
            micro_f1: all.figures().f1,
            macro_f1: share(each.sum(), labels),
            weighted_subset_accuracy: self.weighted.map(|[all, sets, _]| sets / all),
            weighted_hamming_loss: self
                .weighted
                .map(|[all, _, wrong]| wrong / (all * labels.max(1) as f64)),
        }
    }

    /// Returns precision, recall and F1 of each label, by name.
    pub fn by_label(&self) -> impl Iterator<Item = (&str, Scores)> {
        self.counts.iter().map(|(name, count)| (name.as_str(), count.figures()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(set: &[bool]) -> impl Iterator<Item = &'static str> {
        const NAMES: [&str; 4] = ["a", "b", "c", "d"];
        set.iter().zip(NAMES).filter(|(is, _)| **is).map(|(_, name)| name)
    }

    proptest! {
        /// The naive computation: one decision for every example and every label.
        #[test]
        fn the_figures_are_those_of_counting_answers(sets in prop::collection::vec((prop::array::uniform4(any::<bool>()), prop::array::uniform4(any::<bool>())), 1..12)) {
            let mut evaluation = SetEvaluation::of_labels(&["a", "b", "c", "d"]);
            sets.iter().for_each(|(truth, said)| evaluation.compare(names(truth), names(said)));
            let figures = evaluation.figures();
            let n = sets.len() as f64;
            let whole = sets.iter().filter(|(truth, said)| truth == said).count() as f64;
            prop_assert_eq!(figures.subset_accuracy, whole / n);
            let answers = |k: usize, is: bool, says: bool| {
                sets.iter().filter(|(truth, said)| truth[k] == is && said[k] == says).count() as f64
            };
            let sum = |is, says| (0..4).map(|k| answers(k, is, says)).sum::<f64>();
            let wrong = sum(true, false) + sum(false, true);
            prop_assert_eq!(figures.hamming_loss, wrong / (4.0 * n));
            let harmonic = |right: f64, missed: f64, invented: f64| {
                if right == 0.0 {
                    return 0.0;
                }
                let (precision, recall) = (right / (right + invented), right / (right + missed));
                2.0 * precision * recall / (precision + recall)
            };
            let micro = harmonic(sum(true, true), sum(true, false), sum(false, true));
            prop_assert!((figures.micro_f1 - micro).abs() < 1e-12);
            let of = |k| harmonic(answers(k, true, true), answers(k, true, false), answers(k, false, true));
            let mean = (0..4).map(of).sum::<f64>() / 4.0;
            prop_assert!((figures.macro_f1 - mean).abs() < 1e-12);
        }
    }

    #[test]
    fn labels_that_the_model_does_not_know_are_missed() {
        let mut evaluation = SetEvaluation::of_labels(&["a"]);
        evaluation.compare(["a", "new"], ["a"]);
        let figures = evaluation.figures();
        assert_eq!((figures.labels, figures.hamming_loss, figures.macro_f1), (2, 0.5, 0.5));
    }
}
