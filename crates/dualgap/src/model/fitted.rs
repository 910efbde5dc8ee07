//! A model: weights, what they mean, and the certificate they came with.

use super::evaluation::NumberErrors;
use super::{Centre, Evaluation, InBall};
use crate::Result;
use crate::data::{
    Alphabet, Dictionary, Examples, Recipe, Scaling, Sequence, Sequences, Vocabulary,
};
use crate::dual::{Acceleration, Average, Cache, Direction, Method, Sampling, Step, Witness};
use crate::linalg::kernels::{add_scores, argmax, score};
use crate::linalg::{LowRank, Row};
use crate::run::{Certificate, Stop};
use crate::structure::chain::{Layout, Viterbi};
use crate::structure::{Choice, Hamming};
use crate::term::{MulticlassLoss, Regulariser, ScalarLoss};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// What is predicted, and under which loss the model was trained.
#[derive(Clone, Debug, PartialEq)]
pub enum Structure {
    /// One label per example.
    Multiclass {
        /// `K × K`, row by row; every mistake costs 1 when absent.
        costs: Option<Vec<f64>>,
        /// Of the scores.
        loss: MulticlassLoss,
    },
    /// Any number of labels per example, each by the sign of a score of its own.
    MultiLabel {
        /// Of every score.
        loss: ScalarLoss,
    },
    /// Several numbers per example, each of a score of its own: the names of the labels are those of the outputs.
    MultiOutput {
        /// Of every number.
        loss: ScalarLoss,
    },
    /// One label per position of a sequence.
    Chain {
        /// How mistakes were counted.
        hamming: Hamming,
    },
    /// A number per example: a target, or for losses of two classes a score whose sign tells them apart.
    Linear {
        /// Under which the model was trained.
        loss: ScalarLoss,
    },
    /// A rating for a user and an item: the features of the model are its users.
    Completion {
        /// Under which the model was trained.
        loss: ScalarLoss,
        /// The names of the items.
        items: Dictionary,
        /// What is said of a pair before the weights.
        centre: Centre,
    },
}

/// How a model was made: the settings of the run, and how the run went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The program that trained it.
    pub program: String,
    /// The strength of the regulariser: λ, which is called μ in a ball.
    pub lambda: f64,
    /// What else is in it.
    #[serde(flatten)]
    pub regulariser: Regulariser,
    /// One block a step, or all.
    pub solver: Method,
    /// The step length.
    pub step: Step,
    /// Between what steps moved weight.
    #[serde(default)]
    pub direction: Direction,
    /// Whether corners that had been found were used again.
    #[serde(default)]
    pub cache: Cache,
    /// The order of the blocks.
    pub sampling: Sampling,
    /// Whether blocks whose visits changed nothing were visited less often.
    #[serde(default)]
    pub shrinking: bool,
    /// Whether there was acceleration, or might have been.
    #[serde(default)]
    pub acceleration: Acceleration,
    /// Which average of the iterates was returned.
    pub average: Average,
    /// How many corners were looked for at the same weights.
    pub batch: usize,
    /// Of the random order.
    pub seed: u64,
    /// The ball that the weights were kept in, if they were, and how. Of the settings above, the seed alone is
    /// about such a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ball: Option<InBall>,
    /// How the steps of a linear model were chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<Choice>,
    /// What the run divided the columns by: its certificate is that of the scaled problem, the weights are for
    /// the data as they are.
    #[serde(default, skip_serializing_if = "Scaling::is_none")]
    pub scale: Scaling,
    /// Why the run ended.
    pub stop: Stop,
    /// Passes over the data.
    pub passes: f64,
    /// Oracle calls for solving.
    pub oracle_calls: u64,
    /// Training examples.
    pub examples: usize,
    /// How the data file was read, and the features made; absent when they came from memory.
    pub recipe: Option<Recipe>,
    /// Of the training data.
    pub fingerprint: String,
}

/// A fitted model.
#[derive(Clone, Debug)]
pub struct Model {
    /// What is predicted.
    pub structure: Structure,
    /// The names of the labels, or of the outputs.
    pub alphabet: Alphabet,
    /// F, the number of features of a row.
    pub features: usize,
    /// The number of features of a pair of neighbouring labels, in a chain.
    pub pair_features: usize,
    /// The names of the features, or none: those of rows first, then those of pairs.
    pub dictionary: Dictionary,
    /// As the structure lays them out; empty where they are in factors.
    pub weights: Vec<f64>,
    /// The weights of a model in the trace ball, features down and labels across.
    pub low_rank: Option<LowRank>,
    /// Of exactly these weights.
    pub certificate: Certificate,
    /// How it was made.
    pub provenance: Provenance,
    /// What each training example counted, if not the same.
    pub sample_weights: Option<Vec<f64>>,
    /// The dual point behind the certificate, if it was kept.
    pub witness: Option<Witness>,
}

impl Model {
    /// The names of its labels and features: what other data are read with.
    pub fn vocabulary(&self) -> Vocabulary<'_> {
        Vocabulary {
            alphabet: &self.alphabet,
            dictionary: &self.dictionary,
            features: self.features,
        }
    }

    /// Where the weights of a chain lie.
    pub fn layout(&self) -> Layout {
        let (features, labels, pairs) = (self.features, self.alphabet.len(), self.pair_features);
        Layout { features, labels, pairs }
    }

    /// The prediction of a linear model for a row, whatever is beyond the known features left out.
    pub fn score_row(&self, row: Row<'_>) -> f64 {
        score(self.known(row, &mut (Vec::new(), Vec::new())), &self.weights)
    }

    /// The label of a row, whatever is beyond the known features left out.
    ///
    /// For a chain this is the best label of the row on its own, and where there may be several the likeliest.
    pub fn predict_row(&self, row: Row<'_>) -> usize {
        if let Structure::Linear { .. } = self.structure {
            return usize::from(self.score_row(row) > 0.0);
        }
        argmax(self.class_scores(row)).0
    }

    /// The scores of all labels for a row on its own, whatever is beyond the known features left out.
    pub fn class_scores(&self, row: Row<'_>) -> Vec<f64> {
        let mut scores = vec![0.0; self.alphabet.len()];
        if let Some(x) = &self.low_rank {
            let mut buffer = (Vec::new(), Vec::new());
            x.scores(self.known(row, &mut buffer), &mut scores, &mut Vec::new());
            return scores;
        }
        let emissions = &self.weights[..self.features * scores.len()];
        add_scores(self.known(row, &mut (Vec::new(), Vec::new())), emissions, &mut scores);
        scores
    }

    /// The row without features that the model has not seen.
    fn known<'r>(&self, row: Row<'r>, buffer: &'r mut (Vec<u32>, Vec<f64>)) -> Row<'r> {
        let beyond = match row {
            Row::Sparse { indices, .. } => {
                indices.last().is_some_and(|&last| last as usize >= self.features)
            }
            Row::Dense(values) => values.len() > self.features,
        };
        if !beyond {
            return row;
        }
        for (j, x) in row.iter().filter(|&(j, _)| j < self.features) {
            buffer.0.push(j as u32);
            buffer.1.push(x);
        }
        Row::Sparse { indices: &buffer.0, values: &buffer.1 }
    }

    /// The predictions of a linear model, whatever is beyond the known features left out.
    pub fn scores(&self, data: &Examples) -> Vec<f64> {
        (0..data.len()).into_par_iter().map(|i| self.score_row(data.rows().row(i))).collect()
    }

    /// The labels of examples, whatever is beyond the known features left out.
    pub fn predict_examples(&self, data: &Examples) -> Vec<usize> {
        (0..data.len()).into_par_iter().map(|i| self.predict_row(data.rows().row(i))).collect()
    }

    /// The labels of sequences, whatever is beyond the known features left out.
    pub fn predict_sequences(&self, data: &Sequences) -> Vec<Vec<usize>> {
        let narrowed;
        let beyond =
            data.rows().width() > self.features || data.edge_features() > self.pair_features;
        let data = if beyond {
            narrowed = data.narrowed(self.features, self.pair_features);
            &narrowed
        } else {
            data
        };
        (0..data.len()).into_par_iter().map(|i| self.predict_sequence(data.sequence(i))).collect()
    }

    /// The labels of a sequence that has the features of the model and no others.
    fn predict_sequence(&self, x: Sequence<'_>) -> Vec<usize> {
        let Structure::Chain { .. } = self.structure else {
            return (0..x.len()).map(|t| self.predict_row(x.row(t))).collect();
        };
        let layout = self.layout();
        let (mut viterbi, mut best) = (Viterbi::default(), Vec::new());
        viterbi.score(layout, &self.weights, x, None);
        viterbi.decode(layout, &self.weights, &mut best);
        best.into_iter().map(usize::from).collect()
    }

    /// Predictions on examples beside their classes.
    pub fn evaluate_examples(&self, data: &Examples) -> Result<Evaluation> {
        let classes = data.classes()?;
        let mut evaluation = Evaluation::default();
        // A model of numbers has no names, and no prediction of its is a label.
        let name = |label: usize| self.alphabet.names().get(label).map_or("", String::as_str);
        for (i, predicted) in self.predict_examples(data).into_iter().enumerate() {
            evaluation.compare(&[classes.name(i)], &[name(predicted)]);
        }
        Ok(evaluation)
    }

    /// Predicted numbers beside those of the data.
    pub fn evaluate_numbers(&self, data: &Examples) -> Result<NumberErrors> {
        Ok(NumberErrors::of(data.numbers()?, &self.scores(data)))
    }

    /// Predictions on sequences beside their labels.
    pub fn evaluate_sequences(&self, data: &Sequences) -> Evaluation {
        let mut evaluation = Evaluation::default();
        for (i, predicted) in self.predict_sequences(data).iter().enumerate() {
            let truth: Vec<&String> =
                data.truth(i).iter().map(|&y| &data.alphabet().names()[y as usize]).collect();
            let predicted: Vec<&String> =
                predicted.iter().map(|&y| &self.alphabet.names()[y]).collect();
            evaluation.compare(&truth, &predicted);
        }
        evaluation
    }
}
