//! Checks of data sets: their numbers, their names, and the weights of their examples.

use super::Dictionary;
use crate::linalg::Rows;
use crate::{Error, Result};

/// Returns an error unless these can be the weights of n examples.
pub(crate) fn check_weights(weights: &[f64], n: usize) -> Result<()> {
    if weights.len() != n {
        let count = weights.len();
        return Err(Error::setting(format!("there are {count} sample weights for {n} examples")));
    }
    if let Some(i) = weights.iter().position(|weight| !(*weight >= 0.0 && weight.is_finite())) {
        return Err(Error::setting(format!(
            "the sample weight of example {i} is {}; it must be a number that is not negative",
            weights[i]
        )));
    }
    let total: f64 = weights.iter().sum();
    if n > 0 && !(total > 0.0 && total.is_finite()) {
        return Err(Error::setting(format!(
            "the sample weights add up to {total}: some example must count, and the sum must be a number"
        )));
    }
    Ok(())
}

/// Returns the weights of the given examples in the given order.
pub(super) fn select_weights(weights: Option<&Vec<f64>>, chosen: &[usize]) -> Option<Vec<f64>> {
    weights.map(|weights| chosen.iter().map(|&i| weights[i]).collect())
}

/// Returns an error if a feature is not finite: it would make every sum meaningless.
pub(super) fn check_finite(rows: &Rows) -> Result<()> {
    match (0..rows.len()).find(|&i| rows.row(i).iter().any(|(_, x)| !x.is_finite())) {
        Some(i) => Err(Error::setting(format!("row {i} has a value that is not finite"))),
        None => Ok(()),
    }
}

/// Returns an error unless all features have names or none has.
pub(super) fn check_names(dictionary: &Dictionary, features: usize) -> Result<()> {
    if dictionary.is_empty() || dictionary.len() >= features {
        return Ok(());
    }
    Err(Error::setting(format!("{} names are too few for {features} features", dictionary.len())))
}
