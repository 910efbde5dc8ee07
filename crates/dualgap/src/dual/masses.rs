//! The masses of examples: what each counts in the mean loss.

use crate::linalg::Sum;
use crate::{Error, Result};
use dualgap_map::fetch;
use std::ops::Range;

/// The masses of examples, or their quotients by a number.
#[derive(Clone, Debug)]
pub enum Masses {
    /// All examples count the same. Vectors of them took 10 of the 133 MB of a run on 581,012 rows of a dozen entries.
    Alike { mass: f64, examples: usize },
    /// Every example has a weight of its own.
    Each(Vec<f64>),
}

impl Masses {
    /// Returns the [`masses`] of n examples.
    pub fn new(n: usize, weights: Option<&[f64]>) -> Result<Self> {
        Ok(match weights {
            Some(weights) => Self::Each(shares(n, weights)?),
            None => Self::Alike { mass: 1.0 / n as f64, examples: n },
        })
    }

    /// Returns `c_i / total`, the masses of some of the examples, where `total` is that of all.
    pub fn of_part(n: usize, weights: Option<&[f64]>, total: f64) -> Result<Self> {
        let own = match weights {
            // Checks the weights, and that they do not vanish beside each other.
            Some(weights) => shares(n, weights).map(|_| weights.iter().sum())?,
            None => n as f64,
        };
        if !(total.is_finite() && total >= own * (1.0 - 1e-9)) {
            return Err(Error::setting(format!(
                "the examples of a shard weigh {own}, and those of all shards together {total}: give the total of all shards"
            )));
        }
        let masses = match weights {
            Some(weights) => Self::Each(weights.iter().map(|c| c / total).collect()),
            None => Self::Alike { mass: 1.0 / total, examples: n },
        };
        let vanished = |mass: f64| mass > 0.0 && mass < f64::MIN_POSITIVE;
        if masses.iter().any(vanished) {
            return Err(Error::setting(
                "a sample weight is less than can be counted beside the others: leave the example out",
            ));
        }
        Ok(masses)
    }

    /// Returns the quotients by this number.
    pub fn over(&self, divisor: f64) -> Self {
        match self {
            Self::Alike { mass, examples } => {
                Self::Alike { mass: mass / divisor, examples: *examples }
            }
            Self::Each(masses) => Self::Each(masses.iter().map(|mass| mass / divisor).collect()),
        }
    }

    /// Returns that of example i.
    #[inline]
    pub fn of(&self, i: usize) -> f64 {
        match self {
            Self::Alike { mass, .. } => *mass,
            Self::Each(masses) => masses[i],
        }
    }

    /// Asks for that of example i ahead of its use.
    #[inline]
    pub fn fetch(&self, i: usize) {
        if let Self::Each(masses) = self {
            fetch(&masses[i]);
        }
    }

    /// Returns how many examples there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Alike { examples, .. } => *examples,
            Self::Each(masses) => masses.len(),
        }
    }

    /// Returns those of some neighbouring examples, in the buffer if need be, which has room for them.
    pub fn of_all<'m>(&'m self, range: Range<usize>, buffer: &'m mut [f64]) -> &'m [f64] {
        match self {
            Self::Alike { mass, .. } => {
                let some = &mut buffer[..range.len()];
                some.fill(*mass);
                some
            }
            Self::Each(masses) => &masses[range],
        }
    }

    /// Returns all of them in order.
    pub fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.len()).map(|i| self.of(i))
    }
}

/// Returns `c_i / Σ c`, the mass of each of n examples. A weight of two is the same as a duplicate.
pub fn masses(n: usize, weights: Option<&[f64]>) -> Result<Vec<f64>> {
    Ok(Masses::new(n, weights)?.iter().collect())
}

fn shares(n: usize, weights: &[f64]) -> Result<Vec<f64>> {
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

#[cfg(test)]
mod tests {
    use super::super::TOGETHER;
    use super::*;

    #[test]
    fn masses_are_shares_of_the_whole() {
        assert_eq!(masses(4, None).unwrap(), [0.25; 4]);
        assert_eq!(masses(2, Some(&[1.0, 3.0])).unwrap(), [0.25, 0.75]);
        assert!(masses(2, Some(&[1.0, -1.0])).is_err());
    }

    #[test]
    fn examples_without_weights_have_those_of_equal_weights() {
        for n in [1, 7, 200] {
            let (alike, each) =
                (Masses::new(n, None).unwrap(), Masses::new(n, Some(&vec![1.0; n])).unwrap());
            assert!(matches!((&alike, &each), (Masses::Alike { .. }, Masses::Each(_))));
            assert!(alike.iter().eq(each.iter()) && alike.iter().count() == n);
            let (alike, each) = (alike.over(0.3), each.over(0.3));
            let (mut some, mut others) = ([0.0; TOGETHER], [0.0; TOGETHER]);
            let range = n / 3..n.min(n / 3 + TOGETHER);
            assert_eq!(alike.of_all(range.clone(), &mut some), each.of_all(range, &mut others));
            assert_eq!(alike.of(n - 1).to_bits(), each.of(n - 1).to_bits());
        }
    }

    #[test]
    fn sample_weights_that_vanish_beside_the_others_are_refused() {
        let error = masses(2, Some(&[1e-200, 1e150])).unwrap_err().to_string();
        assert!(error.contains("sample weight 1"), "{error}");
        assert_eq!(masses(2, Some(&[0.0, 1e150])).unwrap(), [0.0, 1.0]);
        assert_eq!(masses(2, Some(&[5e-324, 5e-324])).unwrap(), [0.5, 0.5]);
    }
}
