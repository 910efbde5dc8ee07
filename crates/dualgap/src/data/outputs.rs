//! Outputs: several named numbers per example instead of a label, such as a price and a weight.

use super::Alphabet;
use super::source::Complaint;
use crate::{Error, Result};

const REMEDY: &str = "a line begins with its numbers, with commas between them: 1.5,-2,0.25 1:0.5; \
                      take examples out that lack one";

/// The numbers of all examples, and their names.
///
/// ```
/// # use dualgap::data::{Examples, Outputs};
/// # use dualgap::linalg::Rows;
/// let names = ["price", "weight"].map(String::from).to_vec();
/// let outputs = Outputs::new(names, vec![1.5, 2.0, -3.0, 0.25])?;
/// assert_eq!((outputs.len(), outputs.of(1)), (2, &[-3.0, 0.25][..]));
/// let data = Examples::new(Rows::dense(&[vec![1.0], vec![2.0]])?, outputs)?;
/// assert_eq!(data.vocabulary().alphabet.names(), ["price", "weight"]);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Outputs {
    names: Alphabet,
    values: Vec<f64>,
}

impl Outputs {
    /// Returns outputs with distinct names and finite values, stored example by example.
    pub fn new(names: Vec<String>, values: Vec<f64>) -> Result<Self> {
        if names.is_empty() || !values.len().is_multiple_of(names.len()) {
            return Err(Error::setting(format!(
                "{} numbers cannot be shared among examples of {} each",
                values.len(),
                names.len()
            )));
        }
        if let Some(name) = twice(&names) {
            return Err(Error::setting(format!("two outputs are called `{name}`")));
        }
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            return Err(Error::setting(format!("a number to predict is {value}")));
        }
        Ok(Self { names: names.into(), values })
    }

    /// The names in their order.
    pub fn names(&self) -> &Alphabet {
        &self.names
    }

    /// The values, example by example.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the numbers of an example.
    pub fn of(&self, example: usize) -> &[f64] {
        &self.values[example * self.names.len()..][..self.names.len()]
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.values.len() / self.names.len()
    }

    /// Whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the outputs of the given examples in the given order.
    pub(super) fn select(&self, chosen: &[usize]) -> Self {
        let values = chosen.iter().flat_map(|&i| self.of(i).iter().copied()).collect();
        Self { names: self.names.clone(), values }
    }
}

/// Returns a name that occurs more than once.
pub(super) fn twice(names: &[String]) -> Option<&String> {
    let mut met = std::collections::HashSet::new();
    names.iter().find(|name| !met.insert(*name))
}

/// The numbers of all lines, the same number in each.
#[derive(Debug, Default)]
pub(super) struct NumberLines {
    /// The number of numbers in a line; the first line decides if it is not given.
    pub count: Option<usize>,
    pub values: Vec<f64>,
}

impl NumberLines {
    /// Parses a text such as `1.5,-2,0.25`.
    pub fn push(&mut self, text: &str) -> Result<(), Complaint> {
        let before = self.values.len();
        for one in text.split(',') {
            if one.is_empty() {
                return Err((format!("`{text}`: a number between commas is missing"), REMEDY));
            }
            match one.parse::<f64>() {
                // Adding zero turns −0 into 0.
                Ok(value) if value.is_finite() => self.values.push(value + 0.0),
                Ok(_) => return Err((format!("`{text}`: `{one}` is not finite"), REMEDY)),
                Err(_) => return Err((format!("`{text}`: `{one}` is not a number"), REMEDY)),
            }
        }
        let found = self.values.len() - before;
        match self.count {
            Some(count) if found != count => Err((
                format!("`{text}` has {found} numbers where {count} belong"),
                "every example has as many numbers as the first of the training data",
            )),
            None if found == 1 => Err((
                format!("`{text}` is a single number"),
                "one number an example is for regression; \
                 several have commas between them: 1.5,-2,0.25 1:0.5",
            )),
            _ => {
                self.count = Some(found);
                Ok(())
            }
        }
    }

    /// Returns the outputs with the known names, or with 1, 2, …
    pub fn outputs(self, known: Option<&Alphabet>) -> Result<Outputs> {
        let names = match known {
            Some(known) => known.names().to_vec(),
            None => (1..=self.count.unwrap_or(0)).map(|k| k.to_string()).collect(),
        };
        Outputs::new(names, self.values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(Outputs::new(names(&["a", "b"]), vec![1.0; 3]).is_err());
        assert!(Outputs::new(names(&["a", "a"]), vec![1.0; 4]).is_err());
        assert!(Outputs::new(Vec::new(), Vec::new()).is_err());
        assert!(Outputs::new(names(&["a", "b"]), vec![1.0, f64::NAN]).is_err());
        let outputs = Outputs::new(names(&["b", "a"]), vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(outputs.names().names(), ["b", "a"], "in the given order");
        assert_eq!(outputs.select(&[1]).values(), [3.0, 4.0]);
    }

    #[test]
    fn lines_that_are_not_as_many_numbers_are_refused() {
        for (bad, words) in [
            ("1,2", "has 2 numbers where 3 belong"),
            ("1", "has 1 numbers where 3 belong"),
            ("1,,2", "missing"),
            ("1,2,", "missing"),
            ("", "missing"),
            ("1,2,x", "`x` is not a number"),
            ("1,2,nan", "`nan` is not finite"),
            ("1,2,1e999", "`1e999` is not finite"),
            ("1:1", "`1:1` is not a number"),
        ] {
            let mut lines = NumberLines { count: Some(3), ..NumberLines::default() };
            let (message, _) = lines.push(bad).unwrap_err();
            assert!(message.contains(words), "{message}");
        }
        let (message, remedy) = NumberLines::default().push("1").unwrap_err();
        assert!(message.contains("single") && remedy.contains("for regression"));
    }

    proptest! {
        /// A certificate is about exactly the numbers of the file.
        #[test]
        fn numbers_are_read_as_they_were_written(values in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL, 2..6)) {
            let text: Vec<String> = values.iter().map(f64::to_string).collect();
            let mut lines = NumberLines::default();
            lines.push(&text.join(",")).unwrap();
            prop_assert_eq!(&lines.values, &values);
            prop_assert!(lines.values.iter().all(|x| *x != 0.0 || x.is_sign_positive()));
        }
    }
}
