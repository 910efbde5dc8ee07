//! Independent examples: rows and their targets.

use super::checks::{check_finite, check_names, check_weights, select_weights};
use super::one_print::OnePrint;
use super::{
    Alphabet, Classes, Dictionary, Numbers, Outputs, Sequences, Sets, Targets, Vocabulary,
};
use crate::linalg::Rows;
use crate::{Error, Result};
use std::iter::repeat_n;

/// Rows with a target each, or unlabelled rows to predict.
///
/// ```
/// # use dualgap::data::Examples;
/// let data = Examples::from_dense(&[vec![1.0], vec![2.0]], &["no", "yes"])?;
/// assert_eq!((data.len(), data.classes()?.numbers()), (2, &[0, 1][..]));
/// assert!(data.numbers().is_err());
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Examples {
    pub(super) rows: Rows,
    pub(super) targets: Targets,
    pub(super) dictionary: Dictionary,
    pub(super) weights: Option<Vec<f64>>,
    pub(super) print: OnePrint,
}

impl Examples {
    /// Returns the examples, or an error if rows and targets do not match.
    ///
    /// ```
    /// # use dualgap::data::{Examples, Numbers};
    /// # use dualgap::linalg::Rows;
    /// let rows = || Rows::dense(&[vec![1.0], vec![2.0]]);
    /// let data = Examples::new(rows()?, Numbers::new(vec![2.5, 7.0])?)?;
    /// assert_eq!(data.numbers()?, [2.5, 7.0]);
    /// assert!(Examples::new(rows()?, Numbers::new(vec![2.5])?).is_err());
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn new(rows: Rows, targets: impl Into<Targets>) -> Result<Self> {
        let targets = targets.into();
        if let Some(count) = targets.len().filter(|&count| count != rows.len()) {
            return Err(Error::setting(format!(
                "there are {} rows, and targets of {count} examples",
                rows.len()
            )));
        }
        check_finite(&rows)?;
        let (dictionary, print) = (Dictionary::default(), OnePrint::default());
        Ok(Self { rows, targets, dictionary, weights: None, print })
    }

    /// Returns the same examples with other rows, without the names of their features, which a run does not need.
    pub(super) fn over(&self, rows: Rows) -> Self {
        let (dictionary, print) = (Dictionary::default(), OnePrint::default());
        let (targets, weights) = (self.targets.clone(), self.weights.clone());
        Self { rows, targets, dictionary, weights, print }
    }

    /// Returns unlabelled rows to predict.
    pub fn unlabelled(rows: Rows) -> Result<Self> {
        Self::new(rows, Targets::None)
    }

    /// Returns examples from dense rows and the names of their classes.
    pub fn from_dense(rows: &[Vec<f64>], labels: &[&str]) -> Result<Self> {
        Self::new(Rows::dense(rows)?, Classes::named(labels))
    }

    /// Returns examples from dense rows and their numeric targets.
    pub fn from_dense_numbers(rows: &[Vec<f64>], numbers: &[f64]) -> Result<Self> {
        Self::new(Rows::dense(rows)?, Numbers::new(numbers.to_vec())?)
    }

    /// Sets the names of the features; the first of them are those of the columns.
    pub fn with_dictionary(self, dictionary: Dictionary) -> Result<Self> {
        check_names(&dictionary, self.rows.width())?;
        Ok(Self { dictionary, ..self })
    }

    /// Stores inputs that are full with their zeros: see [`Rows::densify_if_full`].
    pub(crate) fn densify_if_full(&mut self) {
        self.rows.densify_if_full();
    }

    /// Appends a feature that is always 1, for an intercept. If features have names, so has this one: `(constant)`.
    ///
    /// ```
    /// # use dualgap::data::Examples;
    /// let data = Examples::from_dense(&[vec![3.0], vec![2.0]], &["no", "yes"])?.with_constant();
    /// assert_eq!((data.rows().width(), data.rows().row(0).get(1)), (2, 1.0));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    #[must_use]
    pub fn with_constant(mut self) -> Self {
        self.rows.append_constant();
        self.print = OnePrint::default();
        if !self.dictionary.is_empty() {
            self.dictionary.number("(constant)");
        }
        self
    }

    /// Sets the training weight of each example, a nonnegative number. Without weights all examples count the same.
    ///
    /// ```
    /// # use dualgap::data::Examples;
    /// let data = Examples::from_dense(&[vec![1.0], vec![2.0]], &["no", "yes"])?;
    /// let data = data.with_weights(vec![1.0, 2.5])?;
    /// assert_eq!(data.select(&[1]).weights(), Some(&[2.5][..]));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn with_weights(self, weights: Vec<f64>) -> Result<Self> {
        check_weights(&weights, self.len())?;
        Ok(Self { weights: Some(weights), ..self })
    }

    /// The weight of each example, unless all are the same.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// One row per example.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The targets.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// The names of the features; empty if they have none.
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// Returns the classes, or an error if the targets are of another kind.
    pub fn classes(&self) -> Result<&Classes> {
        match &self.targets {
            Targets::Classes(classes) => Ok(classes),
            other => Err(other.unfit("classes")),
        }
    }

    /// Returns the numbers, or an error if the targets are of another kind.
    pub fn numbers(&self) -> Result<&[f64]> {
        match &self.targets {
            Targets::Numbers(numbers) => Ok(numbers.values()),
            other => Err(other.unfit("numbers")),
        }
    }

    /// Returns the label sets, or an error if the targets are of another kind.
    pub fn sets(&self) -> Result<&Sets> {
        match &self.targets {
            Targets::Sets(sets) => Ok(sets),
            other => Err(other.unfit("sets of labels")),
        }
    }

    /// Returns the outputs, or an error if the targets are of another kind.
    pub fn outputs(&self) -> Result<&Outputs> {
        match &self.targets {
            Targets::Outputs(outputs) => Ok(outputs),
            other => Err(other.unfit("several numbers an example")),
        }
    }

    /// Returns −1 and 1 for the first and the second of two classes.
    ///
    /// ```
    /// # use dualgap::data::Examples;
    /// let data = Examples::from_dense(&[vec![1.0], vec![2.0]], &["2.5", "7"])?;
    /// assert_eq!(data.signs()?, [-1.0, 1.0]);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn signs(&self) -> Result<Vec<f64>> {
        let classes = self.classes()?;
        let count = classes.alphabet().len();
        if count != 2 {
            return Err(Error::setting(format!(
                "there must be two classes, and the data have {count}"
            )));
        }
        Ok(classes.numbers().iter().map(|&class| [-1.0, 1.0][class as usize]).collect())
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the names of the classes, labels or outputs, and of the features. Numbers have no names.
    pub fn vocabulary(&self) -> Vocabulary<'_> {
        Vocabulary {
            alphabet: match &self.targets {
                Targets::None | Targets::Numbers(_) => Alphabet::none(),
                Targets::Classes(classes) => classes.alphabet(),
                Targets::Sets(sets) => sets.alphabet(),
                Targets::Outputs(outputs) => outputs.names(),
            },
            dictionary: &self.dictionary,
            features: self.rows.width(),
        }
    }

    /// Returns the same examples with one feature each, its own: the inputs of a problem under a kernel.
    pub(crate) fn one_hot(&self) -> Self {
        let rows = Rows::identity(self.len());
        let (dictionary, print) = (Dictionary::default(), OnePrint::default());
        Self { rows, dictionary, print, ..self.clone() }
    }

    /// Returns the given examples in the given order, with the same alphabet, features and weights.
    ///
    /// ```
    /// # use dualgap::data::Examples;
    /// let data = Examples::from_dense(&[vec![1.0], vec![2.0]], &["no", "yes"])?;
    /// let second = data.select(&[1]);
    /// assert_eq!(second.classes()?.numbers(), [1]);
    /// assert_eq!(second.classes()?.alphabet(), data.classes()?.alphabet());
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    #[must_use]
    pub fn select(&self, chosen: &[usize]) -> Self {
        Self {
            rows: self.rows.select(chosen.iter().copied()),
            targets: self.targets.select(chosen),
            dictionary: self.dictionary.clone(),
            weights: select_weights(self.weights.as_ref(), chosen),
            print: OnePrint::default(),
        }
    }
}

/// Every position becomes an example with the weight of its sequence; features of label pairs are dropped.
impl From<Sequences> for Examples {
    fn from(sequences: Sequences) -> Self {
        let targets = sequences.classes().map_or(Targets::None, Targets::Classes);
        let lengths = sequences.starts().windows(2).map(|ends| ends[1] - ends[0]);
        let weights = sequences.weights().map(|weights| {
            weights.iter().zip(lengths).flat_map(|(&weight, t)| repeat_n(weight, t)).collect()
        });
        let dictionary = sequences.dictionary;
        Self {
            dictionary: match sequences.edges {
                Some(_) => dictionary.first(sequences.rows.width()),
                None => dictionary,
            },
            rows: sequences.rows,
            targets,
            weights,
            print: OnePrint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let rows = || Rows::dense(&[vec![1.0], vec![2.0]]).unwrap();
        assert!(Examples::from_dense(&[vec![f64::INFINITY]], &["a"]).is_err());
        assert!(Examples::from_dense(&[vec![1.0], vec![1.0]], &["a"]).is_err());
        assert!(Examples::from_dense_numbers(&[vec![1.0]], &[f64::NAN]).is_err());
        assert!(Examples::from_dense_numbers(&[vec![1.0]], &[1.0, 2.0]).is_err());
        assert!(Examples::new(rows(), Sets::named(&[vec!["a"]]).unwrap()).is_err());
        let outputs = Outputs::new(vec!["a".into()], vec![1.0; 3]).unwrap();
        assert!(Examples::new(rows(), outputs).is_err());
        let wide = Examples::unlabelled(Rows::dense(&[vec![1.0; 3]]).unwrap()).unwrap();
        assert!(wide.clone().with_dictionary(["a", "b"].into_iter().collect()).is_err());
        assert!(wide.with_dictionary(["a", "b", "c"].into_iter().collect()).is_ok());
    }

    #[test]
    fn targets_of_another_kind_are_told() {
        let named = Examples::from_dense(&[vec![1.0]], &["1"]).unwrap();
        let message = named.numbers().unwrap_err().to_string();
        assert_eq!(message, "the targets of the data are classes, and numbers are needed");
        assert!(named.sets().is_err() && named.outputs().is_err() && named.signs().is_err());
        let bare = Examples::unlabelled(Rows::dense(&[vec![1.0]]).unwrap()).unwrap();
        assert_eq!((bare.len(), bare.vocabulary().alphabet.len()), (1, 0));
        assert!(bare.classes().unwrap_err().to_string().contains("not labelled"));
        assert!(bare.select(&[0, 0]).targets().are_none());
    }
}
