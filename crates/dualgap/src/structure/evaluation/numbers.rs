//! Comparison of predicted numbers with the true ones.

use serde::Serialize;

/// How predicted numbers compare with the true ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NumberErrors {
    /// The number of examples.
    pub examples: usize,
    /// The root of the mean squared error.
    pub rmse: f64,
    /// The mean absolute error.
    pub mae: f64,
    /// The fraction of the variance that the predictions explain; none if the truth has no variance.
    pub r2: Option<f64>,
    /// The root of the mean squared error, each with the weight of its example; none if examples have no weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighted_rmse: Option<f64>,
}

impl NumberErrors {
    /// Computes the errors of predictions.
    ///
    /// ```
    /// # use dualgap::structure::evaluation::NumberErrors;
    /// let errors = NumberErrors::of(&[1.0, 3.0], &[1.0, 2.0]);
    /// assert_eq!((errors.mae, errors.r2), (0.5, Some(0.5)));
    /// ```
    pub fn of(truth: &[f64], predicted: &[f64]) -> Self {
        let absolute: f64 = truth.iter().zip(predicted).map(|(t, p)| (t - p).abs()).sum();
        let (squared, variance) = (mean_squared(truth, predicted), variance(truth));
        Self {
            examples: truth.len(),
            rmse: squared.sqrt(),
            mae: absolute / truth.len().max(1) as f64,
            r2: (variance > 0.0).then(|| 1.0 - squared / variance),
            weighted_rmse: None,
        }
    }

    /// Computes the errors of predictions, and their weighted mean if examples have weights.
    ///
    /// ```
    /// # use dualgap::structure::evaluation::NumberErrors;
    /// let errors = NumberErrors::weighted(&[1.0, 3.0], &[1.0, 1.0], Some(&[3.0, 1.0]));
    /// assert_eq!((errors.mae, errors.weighted_rmse), (1.0, Some(1.0)));
    /// ```
    pub fn weighted(truth: &[f64], predicted: &[f64], weights: Option<&[f64]>) -> Self {
        let weighted = weights.map(|weights| weighted_mean_squared(truth, predicted, weights));
        Self { weighted_rmse: weighted.map(f64::sqrt), ..Self::of(truth, predicted) }
    }
}

/// Returns the mean of the squared differences, each with its weight.
pub(super) fn weighted_mean_squared(truth: &[f64], predicted: &[f64], weights: &[f64]) -> f64 {
    let squares = truth.iter().zip(predicted).map(|(t, p)| (t - p) * (t - p));
    let sum: f64 = squares.zip(weights).map(|(square, weight)| square * weight).sum();
    sum / weights.iter().sum::<f64>()
}

/// Returns the mean of the squared differences.
pub(super) fn mean_squared(truth: &[f64], predicted: &[f64]) -> f64 {
    let squares = truth.iter().zip(predicted).map(|(t, p)| (t - p) * (t - p));
    squares.sum::<f64>() / truth.len().max(1) as f64
}

/// Returns the mean squared distance of numbers from their mean.
pub(super) fn variance(numbers: &[f64]) -> f64 {
    let n = numbers.len().max(1) as f64;
    let centre = numbers.iter().sum::<f64>() / n;
    numbers.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / n
}
