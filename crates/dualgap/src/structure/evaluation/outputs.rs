//! Comparison of the predicted numbers of several outputs with the true ones.
//!
//! ```text
//! RMSE   the root of the mean squared error, over all numbers of all examples
//! MAE    the mean absolute error, over all numbers of all examples
//! R²     1 − squared errors / squared distances of all numbers from the mean of their own output
//! ```

use super::numbers::{NumberErrors, mean_squared, variance, weighted_mean_squared};
use crate::data::Outputs;
use serde::Serialize;

/// How predicted numbers compare with the true ones, for each output and over all.
///
/// ```
/// # use dualgap::data::Outputs;
/// # use dualgap::structure::evaluation::OutputEvaluation;
/// let names = ["price", "weight"].map(String::from).to_vec();
/// let truth = Outputs::new(names, vec![1.0, 10.0, 3.0, 10.0])?;
/// let evaluation = OutputEvaluation::of(&truth, &[1.0, 10.0, 2.0, 11.0]);
/// let figures = evaluation.figures();
/// assert_eq!((figures.rmse, figures.mae, figures.r2), (0.5_f64.sqrt(), 0.5, Some(0.0)));
/// let (name, price) = evaluation.by_output().next().unwrap();
/// assert_eq!((name, price.mae, price.r2), ("price", 0.5, Some(0.5)));
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct OutputEvaluation {
    names: Vec<String>,
    errors: Vec<NumberErrors>,
    figures: OutputFigures,
}

/// The figures of an [`OutputEvaluation`] over all outputs; see the module's head.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OutputFigures {
    /// The number of examples.
    pub examples: usize,
    /// The number of outputs of an example.
    pub outputs: usize,
    /// The root of the mean squared error.
    pub rmse: f64,
    /// The mean absolute error.
    pub mae: f64,
    /// The fraction of the variance that the predictions explain; none if the truth has no variance.
    pub r2: Option<f64>,
    /// The root of the mean squared error, each example with its weight; none if examples have no weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighted_rmse: Option<f64>,
}

impl OutputEvaluation {
    /// Computes the errors of predictions, which are stored example by example.
    pub fn of(truth: &Outputs, predicted: &[f64]) -> Self {
        Self::weighted(truth, predicted, None)
    }

    /// Computes the errors of predictions, and their weighted mean if examples have weights.
    ///
    /// ```
    /// # use dualgap::data::Outputs;
    /// # use dualgap::structure::evaluation::OutputEvaluation;
    /// let names = ["price", "weight"].map(String::from).to_vec();
    /// let truth = Outputs::new(names, vec![1.0, 10.0, 3.0, 10.0])?;
    /// let evaluation = OutputEvaluation::weighted(&truth, &[1.0, 10.0, 2.0, 11.0], Some(&[3.0, 1.0]));
    /// assert_eq!(evaluation.figures().weighted_rmse, Some(0.5));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn weighted(truth: &Outputs, predicted: &[f64], weights: Option<&[f64]>) -> Self {
        let outputs = truth.names().len();
        let column = |values: &[f64], k: usize| -> Vec<f64> {
            values.iter().skip(k).step_by(outputs).copied().collect()
        };
        let (mut errors, mut squared, mut spread, mut absolute) = (Vec::new(), 0.0, 0.0, 0.0);
        let mut weighted = weights.map(|_| 0.0);
        for k in 0..outputs {
            let truth = column(truth.values(), k);
            let predicted = column(predicted, k);
            let one = NumberErrors::weighted(&truth, &predicted, weights);
            squared += mean_squared(&truth, &predicted);
            absolute += one.mae;
            spread += variance(&truth);
            if let (Some(sum), Some(weights)) = (&mut weighted, weights) {
                *sum += weighted_mean_squared(&truth, &predicted, weights);
            }
            errors.push(one);
        }
        let figures = OutputFigures {
            examples: truth.len(),
            outputs,
            rmse: (squared / outputs as f64).sqrt(),
            mae: absolute / outputs as f64,
            r2: (spread > 0.0).then(|| 1.0 - squared / spread),
            weighted_rmse: weighted.map(|sum| (sum / outputs as f64).sqrt()),
        };
        Self { names: truth.names().names().to_vec(), errors, figures }
    }

    /// Returns the figures over all outputs.
    pub fn figures(&self) -> OutputFigures {
        self.figures
    }

    /// Returns the errors of each output, in their order.
    pub fn by_output(&self) -> impl Iterator<Item = (&str, NumberErrors)> {
        self.names.iter().map(String::as_str).zip(self.errors.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The naive computation: one sum over all entries.
        #[test]
        fn the_figures_are_those_of_all_entries(rows in prop::collection::vec((prop::array::uniform3(-9.0..9.0_f64), prop::array::uniform3(-9.0..9.0_f64)), 2..9)) {
            let names = ["a", "b", "c"].map(String::from).to_vec();
            let flat = |rows: Vec<[f64; 3]>| rows.concat();
            let truth = Outputs::new(names, flat(rows.iter().map(|(t, _)| *t).collect())).unwrap();
            let said = flat(rows.iter().map(|(_, p)| *p).collect());
            let evaluation = OutputEvaluation::of(&truth, &said);
            let n = rows.len() as f64;
            let mean = |k: usize| rows.iter().map(|(t, _)| t[k]).sum::<f64>() / n;
            let (mut squared, mut absolute, mut around) = ([0.0; 3], [0.0; 3], [0.0; 3]);
            for (t, p) in &rows {
                for k in 0..3 {
                    squared[k] += (t[k] - p[k]).powi(2);
                    absolute[k] += (t[k] - p[k]).abs();
                    around[k] += (t[k] - mean(k)).powi(2);
                }
            }
            let sum = |terms: [f64; 3]| terms.iter().sum::<f64>();
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
            let all = evaluation.figures();
            prop_assert!(close(all.rmse, (sum(squared) / (3.0 * n)).sqrt()));
            prop_assert!(close(all.mae, sum(absolute) / (3.0 * n)));
            prop_assert!(close(all.r2.unwrap(), 1.0 - sum(squared) / sum(around)));
            for (k, (_, one)) in evaluation.by_output().enumerate() {
                prop_assert!(close(one.rmse, (squared[k] / n).sqrt()));
                prop_assert!(close(one.r2.unwrap(), 1.0 - squared[k] / around[k]));
            }
        }
    }
}
