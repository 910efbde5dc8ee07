//! Comparison of predictions with the truth.
//!
//! - `labels`: a label, or a sequence of them; `chunks`: the same for chunk labels.
//! - `numbers`: a number; `outputs`: several numbers.
//! - `sets`: a set of labels; `links`: a matching.

mod calibration;
pub(crate) mod chunks;
mod labels;
mod links;
mod numbers;
mod outputs;
mod sets;

pub use calibration::{Bin, Calibration, SequenceCalibration};
pub use chunks::{ChunkEvaluation, Count, Scores};
pub use labels::{LabelEvaluation, LabelFigures};
pub use links::{LinkEvaluation, LinkFigures};
pub use numbers::NumberErrors;
pub use outputs::{OutputEvaluation, OutputFigures};
pub use sets::{SetEvaluation, SetFigures};

use serde::{Deserialize, Serialize};

/// How a model's predictions compare with the truth.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Evaluation {
    /// Labels, or sequences of them.
    Labels(Box<LabelEvaluation>),
    /// Numbers.
    Numbers(NumberErrors),
    /// Label sets.
    Sets(SetEvaluation),
    /// Several numbers each.
    Outputs(OutputEvaluation),
    /// Ratings.
    Ratings(RatingErrors),
    /// Matchings.
    Links(LinkEvaluation),
    /// The figures of a user's own structure, by name.
    Own {
        /// The error by which models are compared.
        error: f64,
        /// All figures that there are to show.
        figures: Vec<(String, f64)>,
    },
}

/// What the error by which models are compared is: [`Evaluation::error`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// A share of all answers, from 0 to 1.
    Share,
    /// The root mean square of the errors of numbers, in the units of the targets.
    RootMeanSquare,
    /// A number of which no more is known, such as the mean of a user's own loss.
    #[default]
    Number,
}

impl ErrorKind {
    /// Returns the name of the error in a table.
    pub fn name(self) -> &'static str {
        match self {
            Self::RootMeanSquare => "rmse",
            Self::Share | Self::Number => "error",
        }
    }
}

/// How predicted ratings compare with the true ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RatingErrors {
    /// The errors of the model.
    #[serde(flatten)]
    pub errors: NumberErrors,
    /// The errors of the mean training rating, if it were predicted for every pair; none if the model does not know it.
    #[serde(skip)]
    pub of_mean: Option<NumberErrors>,
    /// What the model does not know.
    pub unknown: Strangers,
}

/// Counts of the names that a model of ratings does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Strangers {
    /// Pairs with an unknown user, an unknown item, or both.
    pub pairs: usize,
    /// Unknown users.
    pub users: usize,
    /// Unknown items.
    pub items: usize,
}

impl Evaluation {
    /// Returns the error by which models are compared: the fraction of wrong labels, of wrong answers about labels of
    /// sets, the alignment error rate of matchings, or the root mean squared error of numbers.
    pub fn error(&self) -> f64 {
        match self {
            Self::Labels(evaluation) => evaluation.error(),
            Self::Numbers(errors) => errors.rmse,
            Self::Sets(evaluation) => evaluation.figures().hamming_loss,
            Self::Outputs(evaluation) => evaluation.figures().rmse,
            Self::Ratings(ratings) => ratings.errors.rmse,
            Self::Links(evaluation) => evaluation.figures().aer,
            Self::Own { error, .. } => *error,
        }
    }

    /// Returns the F1 of chunks, if the labels are chunk labels.
    pub fn f1(&self) -> Option<f64> {
        match self {
            Self::Labels(evaluation) => {
                evaluation.chunks().map(|chunks| chunks.overall().figures().f1)
            }
            _ => None,
        }
    }

    /// Returns the comparison of labels, or `None` if the predictions are something else.
    pub fn labels(&self) -> Option<&LabelEvaluation> {
        match self {
            Self::Labels(evaluation) => Some(evaluation),
            _ => None,
        }
    }

    /// Returns the errors of numbers, or `None` if the predictions are something else.
    pub fn numbers(&self) -> Option<&NumberErrors> {
        match self {
            Self::Numbers(errors) => Some(errors),
            Self::Ratings(ratings) => Some(&ratings.errors),
            _ => None,
        }
    }

    /// Returns the comparison of label sets, or `None` if the predictions are something else.
    pub fn sets(&self) -> Option<&SetEvaluation> {
        match self {
            Self::Sets(evaluation) => Some(evaluation),
            _ => None,
        }
    }

    /// Returns the comparison of matchings, or `None` if the predictions are something else.
    pub fn links(&self) -> Option<&LinkEvaluation> {
        match self {
            Self::Links(evaluation) => Some(evaluation),
            _ => None,
        }
    }

    /// Returns the comparison of several numbers, or `None` if the predictions are something else.
    pub fn outputs(&self) -> Option<&OutputEvaluation> {
        match self {
            Self::Outputs(evaluation) => Some(evaluation),
            _ => None,
        }
    }
}

/// The smallest probability that a logarithm is taken of: a truth that a model held to be impossible would otherwise make
/// the mean infinite.
const LEAST: f64 = f64::EPSILON;

/// Returns the weighted mean of −log p over the probabilities of the true labels; zero if no example has weight.
pub(crate) fn log_loss(truths: impl Iterator<Item = f64>, weights: Option<&[f64]>) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for (i, p) in truths.enumerate() {
        let weight = weights.map_or(1.0, |weights| weights[i]);
        sum -= weight * p.max(LEAST).ln();
        total += weight;
    }
    // Without any example that counts there is nothing to lose.
    if total > 0.0 { sum / total } else { 0.0 }
}
