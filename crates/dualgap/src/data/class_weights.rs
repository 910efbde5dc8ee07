//! Class weights: weights of examples that depend on their class.
//!
//! With c_i the sample weight of example i (1 without any) and r_y the weight of class y, example i has the weight
//!
//! ```text
//! c_i · r_{y_i},        balanced: r_y = Σ c_i / (K · Σ_{i: y_i = y} c_i)
//! ```
//!
//! so that balanced classes have equal total weight, and the total weight of all examples does not change. K is the
//! number of classes with a positive weight.

use super::{Alphabet, Classes, Examples};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Weights of classes; see the module's head for the formula.
///
/// ```
/// use dualgap::data::{ClassWeights, Examples};
///
/// let rows = vec![vec![1.0]; 4];
/// let data = Examples::from_dense(&rows, &["no", "no", "no", "yes"])?;
/// let balanced = ClassWeights::Balanced.examples(&data, None)?;
/// assert_eq!(balanced, [2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 2.0]);
///
/// let named = ClassWeights::Named(vec![("yes".into(), 5.0)]);
/// assert_eq!(named.examples(&data, Some(&[1.0, 2.0, 1.0, 2.0]))?, [1.0, 2.0, 1.0, 10.0]);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ClassWeights {
    /// All classes have the same total weight.
    Balanced,
    /// Weights by class name; a class that is not named has the weight 1.
    Named(Vec<(String, f64)>),
}

impl ClassWeights {
    /// Returns the weight of each example, for a run. It multiplies `sample_weights`, or without them the weights of
    /// the data.
    pub fn examples(&self, data: &Examples, sample_weights: Option<&[f64]>) -> Result<Vec<f64>> {
        self.weigh(data.classes()?, sample_weights.or(data.weights()))
    }

    /// Returns the weight of each example of these classes: its sample weight times that of its class.
    pub fn weigh(&self, classes: &Classes, sample_weights: Option<&[f64]>) -> Result<Vec<f64>> {
        let (counts, factors) = self.factors(classes, sample_weights)?;
        let each = classes.numbers().iter().zip(&counts);
        let weights: Vec<f64> = each.map(|(&y, c)| c * factors[y as usize]).collect();
        let total: f64 = weights.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            return Err(Error::setting(format!(
                "with their class weights the examples count {total} in all; some class that has \
                 examples must count, and the sum must be a number"
            )));
        }
        Ok(weights)
    }

    /// Returns the same weights with every class named, so that they no longer depend on the data.
    ///
    /// ```
    /// use dualgap::data::{ClassWeights, Classes};
    /// let classes = Classes::named(&["no", "no", "no", "yes"]);
    /// let named = ClassWeights::Balanced.resolve(&classes, None)?;
    /// let expected = vec![("no".into(), 2.0 / 3.0), ("yes".into(), 2.0)];
    /// assert_eq!(named, ClassWeights::Named(expected));
    /// assert_eq!(named.weigh(&classes, None)?, ClassWeights::Balanced.weigh(&classes, None)?);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn resolve(&self, classes: &Classes, sample_weights: Option<&[f64]>) -> Result<Self> {
        let (_, factors) = self.factors(classes, sample_weights)?;
        Ok(Self::Named(classes.alphabet().names().iter().cloned().zip(factors).collect()))
    }

    /// Returns the sample weight of each example, and the weight of each class.
    fn factors(
        &self,
        classes: &Classes,
        sample_weights: Option<&[f64]>,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let n = classes.len();
        let counts = sample_weights.map_or_else(|| vec![1.0; n], <[f64]>::to_vec);
        if counts.len() != n {
            let weights = counts.len();
            return Err(Error::setting(format!(
                "there are {weights} sample weights for {n} examples"
            )));
        }
        let factors = match self {
            Self::Balanced => balanced(classes, &counts),
            Self::Named(named) => by_name(named, classes.alphabet())?,
        };
        Ok((counts, factors))
    }
}

fn balanced(classes: &Classes, counts: &[f64]) -> Vec<f64> {
    let mut of_class = vec![0.0; classes.alphabet().len()];
    for (&y, c) in classes.numbers().iter().zip(counts) {
        of_class[y as usize] += c;
    }
    let total: f64 = of_class.iter().sum();
    let present = of_class.iter().filter(|&&weight| weight > 0.0).count() as f64;
    // A class of weight zero stays at zero with any factor.
    of_class.iter().map(|&of| if of > 0.0 { total / (present * of) } else { 1.0 }).collect()
}

fn by_name(named: &[(String, f64)], alphabet: &Alphabet) -> Result<Vec<f64>> {
    let mut weights = vec![None; alphabet.len()];
    for (name, weight) in named {
        let Some(class) = alphabet.index(name) else {
            return Err(Error::setting(format!(
                "there is no class `{name}` to be weighted; the classes are: {}",
                alphabet.names().join(" ")
            )));
        };
        if !(*weight >= 0.0 && weight.is_finite()) {
            return Err(Error::setting(format!(
                "the weight of class `{name}` is {weight}; it must be a number that is not negative"
            )));
        }
        if weights[class].replace(*weight).is_some() {
            return Err(Error::setting(format!(
                "class `{name}` has two weights; name every class at most once"
            )));
        }
    }
    Ok(weights.into_iter().map(|weight| weight.unwrap_or(1.0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(labels: &[&str]) -> Examples {
        Examples::from_dense(&vec![vec![1.0]; labels.len()], labels).unwrap()
    }

    fn named(weights: &[(&str, f64)]) -> ClassWeights {
        ClassWeights::Named(weights.iter().map(|(name, w)| (name.to_string(), *w)).collect())
    }

    #[test]
    fn balanced_classes_count_the_same_and_all_examples_what_they_did() {
        let data = data(&["a", "b", "b", "c", "b", "c"]);
        let counts = [0.5, 1.0, 2.0, 4.0, 0.0, 0.25];
        let weights = ClassWeights::Balanced.examples(&data, Some(&counts)).unwrap();
        for class in 0..3 {
            let labels = data.classes().unwrap().numbers();
            let of = labels.iter().zip(&weights).filter(|(y, _)| **y == class);
            let sum: f64 = of.map(|(_, c)| c).sum();
            assert!((sum - 7.75 / 3.0).abs() < 1e-12, "{sum}");
        }
    }

    #[test]
    fn a_class_whose_examples_count_nothing_is_no_class() {
        let (with, without) = (data(&["a", "b", "b", "c"]), data(&["a", "b", "b"]));
        let weights = ClassWeights::Balanced.examples(&with, Some(&[1.0, 1.0, 1.0, 0.0])).unwrap();
        let fewer = ClassWeights::Balanced.examples(&without, None).unwrap();
        assert_eq!((&weights[..3], weights[3]), (&fewer[..], 0.0));
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_words() {
        let data = data(&["a", "b=c"]);
        for (weights, words) in [
            (named(&[("d", 1.0)]), "no class `d`"),
            (named(&[("a", 1.0), ("a", 1.0)]), "two weights"),
            (named(&[("a", -1.0)]), "`a` is -1"),
            (named(&[("b=c", f64::NAN)]), "`b=c` is NaN"),
            (named(&[("a", f64::INFINITY)]), "`a` is inf"),
            (named(&[("a", 0.0), ("b=c", 0.0)]), "count 0 in all"),
            (named(&[("a", f64::MAX), ("b=c", f64::MAX)]), "count inf in all"),
        ] {
            let message = weights.examples(&data, None).unwrap_err().to_string();
            assert!(message.contains(words), "{message}");
        }
        assert!(ClassWeights::Balanced.examples(&data, Some(&[1.0])).is_err());
        assert!(ClassWeights::Balanced.examples(&data, Some(&[0.0, 0.0])).is_err());
    }
}
