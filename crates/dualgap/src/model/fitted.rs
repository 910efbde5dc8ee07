//! A model: weights, what they mean, and their certificate.

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

/// What the model predicts, and the loss that it was trained under.
#[derive(Clone, Debug, PartialEq)]
pub enum Structure {
    /// One label per example.
    Multiclass {
        /// The cost matrix, `K × K`, row by row; without one every mistake costs 1.
        costs: Option<Vec<f64>>,
        /// The loss of the scores.
        loss: MulticlassLoss,
    },
    /// Any number of labels per example, each decided by the sign of its own score.
    MultiLabel {
        /// The loss of each score.
        loss: ScalarLoss,
    },
    /// Several numbers per example, each with its own score: the names of the labels are those of the outputs.
    MultiOutput {
        /// The loss of each number.
        loss: ScalarLoss,
    },
    /// One label per position of a sequence.
    Chain {
        /// How mistakes are counted.
        hamming: Hamming,
    },
    /// A number per example: a target, or under losses of two classes a score whose sign decides between them.
    Linear {
        /// The training loss.
        loss: ScalarLoss,
    },
    /// A rating for a user and an item: the features of the model are its users.
    Completion {
        /// The training loss.
        loss: ScalarLoss,
        /// The names of the items.
        items: Dictionary,
        /// The prediction for a pair without the weights.
        centre: Centre,
    },
}

/// How a model was made: the settings of the run and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The program that trained the model.
    pub program: String,
    /// The strength of the regulariser: λ, which is called μ in a ball.
    pub lambda: f64,
    /// The other parts of the regulariser.
    #[serde(flatten)]
    pub regulariser: Regulariser,
    /// The solver: one block a step, or all of them.
    pub solver: Method,
    /// The step length.
    pub step: Step,
    /// The corners between which a step moves weight.
    #[serde(default)]
    pub direction: Direction,
    /// Whether steps used corners that were found before.
    #[serde(default)]
    pub cache: Cache,
    /// The order of the blocks.
    pub sampling: Sampling,
    /// Whether the run used shrinking: fewer visits to blocks whose last visits changed nothing.
    #[serde(default)]
    pub shrinking: bool,
    /// Whether the run used acceleration, or was allowed to.
    #[serde(default)]
    pub acceleration: Acceleration,
    /// Which average of the iterates was returned.
    pub average: Average,
    /// The number of corners that the oracle finds at the same weights.
    pub batch: usize,
    /// The seed of the random order.
    pub seed: u64,
    /// The ball that constrains the weights, if any, and its solver. Of the settings above only the seed applies to
    /// such a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ball: Option<InBall>,
    /// How Prox-SDCA chose its steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<Choice>,
    /// What the run divided the columns by: the certificate is that of the scaled problem, the weights are for the
    /// unscaled data.
    #[serde(default, skip_serializing_if = "Scaling::is_none")]
    pub scale: Scaling,
    /// Why the run ended.
    pub stop: Stop,
    /// The number of passes over the data.
    pub passes: f64,
    /// The number of oracle calls of the solver.
    pub oracle_calls: u64,
    /// The number of training examples.
    pub examples: usize,
    /// How the data file was read and the features made; absent if the data came from memory.
    pub recipe: Option<Recipe>,
    /// The fingerprint of the training data.
    pub fingerprint: String,
}

/// A fitted model.
#[derive(Clone, Debug)]
pub struct Model {
    /// What the model predicts.
    pub structure: Structure,
    /// The names of the labels, or of the outputs.
    pub alphabet: Alphabet,
    /// F, the number of features of a row.
    pub features: usize,
    /// The number of features of a pair of neighbouring labels, in a chain.
    pub pair_features: usize,
    /// The names of the features, those of rows first, then those of pairs; empty if they have none.
    pub dictionary: Dictionary,
    /// The weights in the order of the structure; empty if they are stored as factors.
    pub weights: Vec<f64>,
    /// The weights of a model in the trace ball, with features as rows and labels as columns.
    pub low_rank: Option<LowRank>,
    /// The certificate of exactly these weights.
    pub certificate: Certificate,
    /// How the model was made.
    pub provenance: Provenance,
    /// The weight of each training example, unless all are the same.
    pub sample_weights: Option<Vec<f64>>,
    /// The dual point behind the certificate, if it was stored.
    pub witness: Option<Witness>,
}

impl Model {
    /// Returns the names of the labels and the features, for reading other data.
    pub fn vocabulary(&self) -> Vocabulary<'_> {
        Vocabulary {
            alphabet: &self.alphabet,
            dictionary: &self.dictionary,
            features: self.features,
        }
    }

    /// Returns the layout of a chain's weights.
    pub fn layout(&self) -> Layout {
        let (features, labels, pairs) = (self.features, self.alphabet.len(), self.pair_features);
        Layout { features, labels, pairs }
    }

    /// Returns the prediction of a linear model for a row; features that the model does not know are ignored.
    pub fn score_row(&self, row: Row<'_>) -> f64 {
        score(self.known(row, &mut (Vec::new(), Vec::new())), &self.weights)
    }

    /// Returns the label of a row; features that the model does not know are ignored.
    ///
    /// For a chain this is the best label of the row by itself, and for a multi-label model the one with the largest
    /// score.
    pub fn predict_row(&self, row: Row<'_>) -> usize {
        if let Structure::Linear { .. } = self.structure {
            return usize::from(self.score_row(row) > 0.0);
        }
        argmax(self.class_scores(row)).0
    }

    /// Returns the scores of all labels for a row by itself; features that the model does not know are ignored.
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

    /// Returns the row without features that the model does not know.
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

    /// Returns the predictions of a linear model; features that the model does not know are ignored.
    pub fn scores(&self, data: &Examples) -> Vec<f64> {
        (0..data.len()).into_par_iter().map(|i| self.score_row(data.rows().row(i))).collect()
    }

    /// Returns the labels of examples; features that the model does not know are ignored.
    pub fn predict_examples(&self, data: &Examples) -> Vec<usize> {
        (0..data.len()).into_par_iter().map(|i| self.predict_row(data.rows().row(i))).collect()
    }

    /// Returns the labels of sequences; features that the model does not know are ignored.
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

    /// Returns the labels of a sequence whose features the model knows, all of them.
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

    /// Compares predictions on examples with their classes.
    pub fn evaluate_examples(&self, data: &Examples) -> Result<Evaluation> {
        let classes = data.classes()?;
        let mut evaluation = Evaluation::default();
        // A model of numbers has no names, and its predictions are no labels.
        let name = |label: usize| self.alphabet.names().get(label).map_or("", String::as_str);
        for (i, predicted) in self.predict_examples(data).into_iter().enumerate() {
            evaluation.compare(&[classes.name(i)], &[name(predicted)]);
        }
        Ok(evaluation)
    }

    /// Compares predicted numbers with those of the data.
    pub fn evaluate_numbers(&self, data: &Examples) -> Result<NumberErrors> {
        Ok(NumberErrors::of(data.numbers()?, &self.scores(data)))
    }

    /// Compares predictions on sequences with their labels.
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
