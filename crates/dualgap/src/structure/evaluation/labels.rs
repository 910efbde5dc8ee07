//! Comparison of predicted labels with the true ones.

use super::calibration::SequenceCalibration;
use super::chunks::{ChunkEvaluation, Count};
use serde::Serialize;
use std::collections::BTreeMap;

/// How predictions compare with the truth. A single label is a sequence of length one.
///
/// ```
/// # use dualgap::structure::evaluation::LabelEvaluation;
/// let mut evaluation = LabelEvaluation::default();
/// evaluation.compare(&["c", "a", "t"], &["c", "o", "t"]);
/// evaluation.compare(&["a"], &["a"]);
/// assert_eq!(evaluation.accuracy(), 0.75);
/// assert_eq!(evaluation.hamming(), 0.5); // one wrong label in two sequences
/// assert_eq!(evaluation.most_confused(), [("a", "o", 1)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct LabelEvaluation {
    sequences: usize,
    wrong_sequences: usize,
    labels: usize,
    wrong: usize,
    wrong_fractions: f64,
    /// How often each true label was predicted as each label, right predictions included.
    pairs: BTreeMap<(String, String), usize>,
    chunks: ChunkEvaluation,
    /// The weight of all examples and that of wrong labels, if examples have weights.
    weighted: Option<(f64, f64)>,
    log_loss: Option<f64>,
    calibration: Option<SequenceCalibration>,
}

/// The figures of an [`LabelEvaluation`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LabelFigures {
    /// The number of sequences, or of examples.
    pub examples: usize,
    /// The number of labels in all of them.
    pub labels: usize,
    /// The fraction of labels that are right.
    pub accuracy: f64,
    /// The fraction of labels that are wrong.
    pub error: f64,
    /// The mean number of wrong labels in a sequence.
    pub hamming: f64,
    /// The mean fraction of wrong labels in a sequence.
    pub normalized_hamming: f64,
    /// The fraction of sequences with any wrong label.
    pub sequence_error: f64,
    /// The fraction of labels that are wrong, each with the weight of its example; none if examples have no weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighted_error: Option<f64>,
    /// The mean of −log p over the true labels, with the weights of the examples; none if the model has no
    /// probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_loss: Option<f64>,
}

impl LabelEvaluation {
    /// Counts the labels of one sequence.
    pub fn compare<S: AsRef<str>>(&mut self, truth: &[S], predicted: &[S]) {
        let mut wrong = 0;
        for (truth, predicted) in truth.iter().zip(predicted) {
            let (truth, predicted) = (truth.as_ref(), predicted.as_ref());
            wrong += usize::from(truth != predicted);
            *self.pairs.entry((truth.into(), predicted.into())).or_insert(0) += 1;
        }
        self.chunks.compare(truth, predicted);
        self.sequences += 1;
        self.wrong_sequences += usize::from(wrong > 0);
        self.labels += truth.len();
        self.wrong += wrong;
        self.wrong_fractions += wrong as f64 / truth.len().max(1) as f64;
    }

    /// Counts the labels of one sequence, which has this weight.
    ///
    /// ```
    /// # use dualgap::structure::evaluation::LabelEvaluation;
    /// let mut evaluation = LabelEvaluation::default();
    /// evaluation.compare_weighted(&["a"], &["a"], 3.0);
    /// evaluation.compare_weighted(&["a"], &["b"], 1.0);
    /// let figures = evaluation.figures();
    /// assert_eq!((figures.error, figures.weighted_error), (0.5, Some(0.25)));
    /// ```
    pub fn compare_weighted<S: AsRef<str>>(&mut self, truth: &[S], predicted: &[S], weight: f64) {
        let before = self.wrong;
        self.compare(truth, predicted);
        let (all, wrong) = self.weighted.get_or_insert((0.0, 0.0));
        *all += weight * truth.len() as f64;
        *wrong += weight * (self.wrong - before) as f64;
    }

    /// Adds the mean of −log p over the true labels.
    #[must_use]
    pub fn with_log_loss(self, log_loss: f64) -> Self {
        Self { log_loss: Some(log_loss), ..self }
    }

    /// Adds how well the probabilities of a model of sequences are calibrated.
    #[must_use]
    pub fn with_calibration(self, calibration: Option<SequenceCalibration>) -> Self {
        Self { calibration, ..self }
    }

    /// Returns how well the probabilities are calibrated, if that was computed.
    pub fn calibration(&self) -> Option<&SequenceCalibration> {
        self.calibration.as_ref()
    }

    /// Returns the fraction of labels that are right.
    pub fn accuracy(&self) -> f64 {
        1.0 - self.error()
    }

    /// Returns the fraction of labels that are wrong.
    pub fn error(&self) -> f64 {
        self.wrong as f64 / self.labels.max(1) as f64
    }

    /// Returns the mean number of wrong labels in a sequence.
    pub fn hamming(&self) -> f64 {
        self.wrong as f64 / self.sequences.max(1) as f64
    }

    /// Returns all figures.
    pub fn figures(&self) -> LabelFigures {
        let sequences = self.sequences.max(1) as f64;
        LabelFigures {
            examples: self.sequences,
            labels: self.labels,
            accuracy: self.accuracy(),
            error: self.error(),
            hamming: self.hamming(),
            normalized_hamming: self.wrong_fractions / sequences,
            sequence_error: self.wrong_sequences as f64 / sequences,
            weighted_error: self.weighted.map(|(all, wrong)| wrong / all),
            log_loss: self.log_loss,
        }
    }

    /// Returns (truth, prediction, count) for every pair that occurs, right predictions included, sorted by name.
    pub fn confusions(&self) -> impl Iterator<Item = (&str, &str, usize)> {
        self.pairs.iter().map(|((truth, predicted), &n)| (truth.as_str(), predicted.as_str(), n))
    }

    /// Returns, for every label that occurs, how often it is in the truth, in the prediction, and in both.
    ///
    /// ```
    /// # use dualgap::structure::evaluation::LabelEvaluation;
    /// let mut evaluation = LabelEvaluation::default();
    /// evaluation.compare(&["a", "a", "b"], &["a", "b", "b"]);
    /// let a = evaluation.by_label()["a"].figures();
    /// assert_eq!((a.precision, a.recall), (1.0, 0.5));
    /// ```
    pub fn by_label(&self) -> BTreeMap<&str, Count> {
        let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
        for (truth, predicted, n) in self.confusions() {
            counts.entry(truth).or_default().truth += n;
            counts.entry(predicted).or_default().predicted += n;
            if truth == predicted {
                counts.entry(truth).or_default().right += n;
            }
        }
        counts
    }

    /// Returns the chunk counts, if the labels are chunk labels.
    pub fn chunks(&self) -> Option<&ChunkEvaluation> {
        let labels: Vec<&str> = self.by_label().into_keys().collect();
        ChunkEvaluation::applies(&labels).then_some(&self.chunks)
    }

    /// Returns (truth, prediction, count) of every mistake, the most frequent first.
    pub fn most_confused(&self) -> Vec<(&str, &str, usize)> {
        let mut all: Vec<_> =
            self.confusions().filter(|(truth, predicted, _)| truth != predicted).collect();
        all.sort_by_key(|&(.., n)| std::cmp::Reverse(n));
        all
    }
}
