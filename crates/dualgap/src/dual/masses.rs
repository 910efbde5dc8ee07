//! The masses of examples: what each counts in the mean loss.

use crate::linalg::Sum;
use crate::{Error, Result};

/// Returns `c_i / Σ c`, the mass of each of n examples. A weight of two is the same as a duplicate.
pub fn masses(n: usize, weights: Option<&[f64]>) -> Result<Vec<f64>> {
    let Some(weights) = weights else {
        return Ok(vec![1.0 / n as f64; n]);
    };
    if weights.len() != n {
        return Err(Error::setting(format!(
            "there are {} sample weights for {n} examples",
            weights.len()
        )));
    }
    if let Some(i) = weights.iter().position(|c| !(*c >= 0.0 && c.is_finite())) {
        return Err(Error::setting(format!(
            "sample weight {} is {}; weights are not negative",
            i + 1,
            weights[i]
        )));
    }
    let total = weights.iter().copied().collect::<Sum>().total().value;
    if !(total > 0.0 && total.is_finite()) {
        return Err(Error::setting(format!("the sample weights add up to {total}")));
    }
    let masses: Vec<f64> = weights.iter().map(|c| c / total).collect();
    // A quotient that underflows has no known relative error.
    let vanished = |(c, mass): (&f64, &f64)| *c > 0.0 && *mass < f64::MIN_POSITIVE;
    if let Some(i) = weights.iter().zip(&masses).position(vanished) {
        return Err(Error::setting(format!(
            "sample weight {} is {:e} of a total of {total:e}, which is less than can be counted; leave the example \
             out, or give it a weight of 0",
            i + 1,
            weights[i]
        )));
    }
    Ok(masses)
}

/// Returns `c_i / total`, the masses of some of the examples, where `total` is that of all.
pub(super) fn masses_of_part(n: usize, weights: Option<&[f64]>, total: f64) -> Result<Vec<f64>> {
    let own = match weights {
        // Checks the weights, and that they do not vanish beside each other.
        Some(weights) => masses(n, Some(weights)).map(|_| weights.iter().sum())?,
        None => n as f64,
    };
    if !(total.is_finite() && total >= own * (1.0 - 1e-9)) {
        return Err(Error::setting(format!(
            "the examples of a shard weigh {own}, and those of all shards together {total}: give the total of all shards"
        )));
    }
    let masses: Vec<f64> = match weights {
        Some(weights) => weights.iter().map(|c| c / total).collect(),
        None => vec![1.0 / total; n],
    };
    let vanished = |mass: &f64| *mass > 0.0 && *mass < f64::MIN_POSITIVE;
    if masses.iter().any(vanished) {
        return Err(Error::setting(
            "a sample weight is less than can be counted beside the others: leave the example out",
        ));
    }
    Ok(masses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masses_are_shares_of_the_whole() {
        assert_eq!(masses(4, None).unwrap(), [0.25; 4]);
        assert_eq!(masses(2, Some(&[1.0, 3.0])).unwrap(), [0.25, 0.75]);
        assert!(masses(2, Some(&[1.0, -1.0])).is_err());
    }

    #[test]
    fn sample_weights_that_vanish_beside_the_others_are_refused() {
        let error = masses(2, Some(&[1e-200, 1e150])).unwrap_err().to_string();
        assert!(error.contains("sample weight 1"), "{error}");
        assert_eq!(masses(2, Some(&[0.0, 1e150])).unwrap(), [0.0, 1.0]);
        assert_eq!(masses(2, Some(&[5e-324, 5e-324])).unwrap(), [0.5, 0.5]);
    }
}
