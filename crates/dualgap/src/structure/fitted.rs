//! The weights of a model and their names: what prediction needs.

use super::{Names, Support};
use crate::linalg::kernels::{add_scores, argmax, score};
use crate::linalg::{LowRank, PackedRows, Row, Rows, parallel};
use crate::{Error, Result, Setting};
use std::sync::Arc;

/// The weights of a model, dense or in factors, and what they are the weights of.
#[derive(Clone, Copy, Debug)]
pub struct Fitted<'a> {
    /// The names and sizes.
    pub names: &'a Names,
    /// The weights in the order of the structure; empty if they are stored as factors.
    pub weights: &'a [f64],
    /// The weights of a model in the trace ball, with features as rows and labels as columns.
    pub low_rank: Option<&'a LowRank>,
    /// The inputs that the weights are coefficients of, under a kernel.
    pub support: Option<&'a Support>,
    /// The weights of the rows of [`Structure::packs`](super::Structure::packs), if a model was loaded only to predict: those in
    /// `weights` are the others then.
    pub packed: Option<&'a Arc<PackedRows>>,
}

impl Fitted<'_> {
    /// Returns the score of a row under weights of one output; features that the model does not know are ignored.
    pub fn score(&self, row: Row<'_>) -> f64 {
        score(self.known(row, &mut (Vec::new(), Vec::new())), self.weights)
    }

    /// Returns the scores of all labels for a row; features that the model does not know are ignored.
    pub fn scores(&self, row: Row<'_>) -> Vec<f64> {
        let mut scores = vec![0.0; self.names.alphabet.len()];
        let mut buffer = (Vec::new(), Vec::new());
        let row = self.known(row, &mut buffer);
        if let Some(x) = self.low_rank {
            x.scores(row, &mut scores, &mut Vec::new());
            return scores;
        }
        let emissions = &self.weights[..self.names.features * scores.len()];
        add_scores(row, emissions, &mut scores);
        scores
    }

    /// Returns the label with the largest score.
    pub fn best(&self, row: Row<'_>) -> usize {
        argmax(self.scores(row)).0
    }

    /// Calls `work` for every row, on the threads of the current pool, and returns the results in order.
    pub fn each<T: Send>(&self, rows: &Rows, work: impl Fn(Row<'_>) -> T + Sync) -> Result<Vec<T>> {
        parallel::map(rows.len(), || (), |(), i| Ok(work(rows.row(i))))
    }

    /// Returns the row without features that the model does not know.
    fn known<'r>(&self, row: Row<'r>, buffer: &'r mut (Vec<u32>, Vec<f64>)) -> Row<'r> {
        let features = self.names.features;
        let beyond = match row.indices() {
            Some(indices) => indices.last().is_some_and(|&last| last as usize >= features),
            None => row.stored() > features,
        };
        if !beyond {
            return row;
        }
        for (j, x) in row.iter().filter(|&(j, _)| j < features) {
            buffer.0.push(j as u32);
            buffer.1.push(x);
        }
        Row::Sparse { indices: &buffer.0, values: &buffer.1 }
    }
}

/// A table of numbers: a row for each example, a column for each output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The number of columns.
    pub columns: usize,
    /// The numbers, row by row.
    pub values: Vec<f64>,
}

impl Table {
    /// Returns a table of rows that all have this length.
    pub(crate) fn of(columns: usize, rows: &[Vec<f64>]) -> Self {
        Self { columns, values: rows.concat() }
    }

    /// Returns a row.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.columns..(i + 1) * self.columns]
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// Returns the logistic function of a score: the probability of the second of two classes.
pub(crate) fn logistic(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

/// Replaces scores by their softmax, the probabilities of the classes, and returns `log Σ exp` of the scores.
pub(crate) fn softmax(scores: &mut [f64]) -> f64 {
    let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for score in &mut *scores {
        *score = (*score - top).exp();
        sum += *score;
    }
    scores.iter_mut().for_each(|score| *score /= sum);
    top + sum.ln()
}

/// Returns the error of models whose predictions have no scores behind them, or are scores themselves.
pub(crate) fn no_scores() -> Error {
    Error::setting(format!(
        "{} is for models of binary, regression, multiclass and multilabel",
        Setting::Scores
    ))
}

/// Returns the error of models whose loss is that of no probabilities.
pub(crate) fn no_probabilities() -> Error {
    Error::setting(format!(
        "{} is for models of the logistic loss and softmax; others have none",
        Setting::Probabilities
    ))
}
