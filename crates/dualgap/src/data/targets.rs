//! Targets of examples: a class, a number, a label set, several numbers, or none.

use super::{Alphabet, Outputs, Sets};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The kind of target that a [`Recipe`](super::Recipe) reads from a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TargetKind {
    /// A name, one of several; a name that is a number is identified by its value.
    #[default]
    Class,
    /// A number.
    Number,
    /// Any number of names, separated by commas.
    Set,
    /// Several numbers.
    Outputs,
}

/// The targets of all examples.
///
/// ```
/// use dualgap::data::{Classes, Numbers, Targets};
/// let species = Targets::from(Classes::named(&["rose", "iris", "rose"]));
/// let prices = Targets::from(Numbers::new(vec![2.5, 7.0, -1.0])?);
/// assert_eq!((species.len(), prices.len(), Targets::None.len()), (Some(3), Some(3), None));
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Targets {
    /// No targets: rows to predict.
    #[default]
    None,
    /// One of several classes.
    Classes(Classes),
    /// A number.
    Numbers(Numbers),
    /// Any number of labels.
    Sets(Sets),
    /// Several numbers, each with a name.
    Outputs(Outputs),
}

impl Targets {
    /// Returns the number of examples, or `None` without targets, which match any number of rows.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> Option<usize> {
        match self {
            Self::None => None,
            Self::Classes(classes) => Some(classes.len()),
            Self::Numbers(numbers) => Some(numbers.values.len()),
            Self::Sets(sets) => Some(sets.len()),
            Self::Outputs(outputs) => Some(outputs.len()),
        }
    }

    /// Whether there are no targets.
    pub fn are_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// Returns the targets of the given examples in the given order.
    pub(super) fn select(&self, chosen: &[usize]) -> Self {
        match self {
            Self::None => Self::None,
            Self::Classes(classes) => Self::Classes(Classes {
                numbers: chosen.iter().map(|&i| classes.numbers[i]).collect(),
                alphabet: classes.alphabet.clone(),
            }),
            Self::Numbers(numbers) => {
                let values = chosen.iter().map(|&i| numbers.values[i]).collect();
                Self::Numbers(Numbers { values })
            }
            Self::Sets(sets) => Self::Sets(sets.select(chosen)),
            Self::Outputs(outputs) => Self::Outputs(outputs.select(chosen)),
        }
    }

    /// Describes the targets for an error message.
    fn describe(&self) -> &'static str {
        match self {
            Self::None => "the data are not labelled",
            Self::Classes(_) => "the targets of the data are classes",
            Self::Numbers(_) => "the targets of the data are numbers",
            Self::Sets(_) => "the targets of the data are sets of labels",
            Self::Outputs(_) => "the targets of the data are several numbers an example",
        }
    }

    /// Returns the error for code that needs targets of another kind.
    pub(super) fn unfit(&self, needed: &str) -> Error {
        Error::setting(format!("{}, and {needed} are needed", self.describe()))
    }
}

impl From<Classes> for Targets {
    fn from(classes: Classes) -> Self {
        Self::Classes(classes)
    }
}

impl From<Numbers> for Targets {
    fn from(numbers: Numbers) -> Self {
        Self::Numbers(numbers)
    }
}

impl From<Sets> for Targets {
    fn from(sets: Sets) -> Self {
        Self::Sets(sets)
    }
}

impl From<Outputs> for Targets {
    fn from(outputs: Outputs) -> Self {
        Self::Outputs(outputs)
    }
}

/// A class for every example, by its number in an alphabet.
///
/// ```
/// # use dualgap::data::Classes;
/// let classes = Classes::named(&["rose", "iris", "rose"]);
/// assert_eq!((classes.numbers(), classes.name(0)), (&[1, 0, 1][..], "rose"));
/// assert_eq!(classes.alphabet().names(), ["iris", "rose"]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Classes {
    numbers: Vec<u32>,
    alphabet: Alphabet,
}

impl Classes {
    /// Returns classes by their numbers in an alphabet, which may have names that no example has.
    pub fn new(numbers: Vec<u32>, alphabet: Alphabet) -> Result<Self> {
        if let Some(i) = numbers.iter().position(|&class| class as usize >= alphabet.len()) {
            return Err(Error::setting(format!(
                "example {i} has the class {}, and the alphabet has {}, from 0 on",
                numbers[i],
                alphabet.len()
            )));
        }
        Ok(Self { numbers, alphabet })
    }

    /// Returns classes by their names; the alphabet is in their natural order.
    pub fn named<S: AsRef<str>>(names: &[S]) -> Self {
        let alphabet = Alphabet::new(names.iter().map(|name| name.as_ref().to_string()));
        let numbers = names.iter().filter_map(|name| alphabet.index(name.as_ref()));
        Self { numbers: numbers.map(|k| k as u32).collect(), alphabet }
    }

    /// The class of each example.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// The names of the classes.
    pub fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// Returns the name of an example's class.
    pub fn name(&self, example: usize) -> &str {
        &self.alphabet.names()[self.numbers[example] as usize]
    }

    /// The number of examples.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are no examples.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Converts names to the numbers that they spell, for data that were read as names.
    ///
    /// ```
    /// # use dualgap::data::Classes;
    /// assert_eq!(Classes::named(&["2.5", "7"]).to_numbers()?.values(), [2.5, 7.0]);
    /// assert!(Classes::named(&["many"]).to_numbers().is_err());
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn to_numbers(&self) -> Result<Numbers> {
        // A name that no example has need not be a number.
        let values: Vec<Option<f64>> =
            self.alphabet.names().iter().map(|name| number(name)).collect();
        let value = |&class: &u32| {
            values[class as usize].ok_or_else(|| {
                let name = &self.alphabet.names()[class as usize];
                Error::setting(format!("the label {name} is no number"))
            })
        };
        Ok(Numbers { values: self.numbers.iter().map(value).collect::<Result<_>>()? })
    }
}

/// Parses a text as a finite number; −0 becomes 0.
pub(super) fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite()).map(|value| value + 0.0)
}

/// A number for every example.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    values: Vec<f64>,
}

impl Numbers {
    /// Returns the numbers, or an error if one is not finite.
    ///
    /// ```
    /// # use dualgap::data::Numbers;
    /// assert_eq!(Numbers::new(vec![1.5, -2.0])?.values(), [1.5, -2.0]);
    /// let message = Numbers::new(vec![1.5, f64::NAN]).unwrap_err().to_string();
    /// assert_eq!(message, "the number to predict of example 1 is NaN");
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn new(values: Vec<f64>) -> Result<Self> {
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(Self { values }),
            Some(i) => Err(Error::setting(format!(
                "the number to predict of example {i} is {}",
                values[i]
            ))),
        }
    }

    /// The number of each example.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_target_is_refused() {
        let alphabet = Alphabet::new(["a", "b"].map(String::from));
        let error = Classes::new(vec![0, 1, 2], alphabet.clone()).unwrap_err().to_string();
        assert!(error.starts_with("example 2 has the class 2"), "{error}");
        assert!(Classes::new(vec![0, 0], alphabet).is_ok(), "a class may be without examples");
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Numbers::new(vec![0.0, bad]).is_err());
        }
    }

    #[test]
    fn names_are_numbers_where_an_example_has_them() {
        let alphabet = Alphabet::from(["many", "3", "-0"].map(String::from).to_vec());
        let classes = Classes::new(vec![2, 1, 1], alphabet).unwrap();
        let numbers = classes.to_numbers().unwrap();
        assert_eq!(numbers.values(), [0.0, 3.0, 3.0]);
        assert!(numbers.values()[0].is_sign_positive());
        assert!(Classes::named(&["inf"]).to_numbers().is_err());
    }

    #[test]
    fn targets_are_chosen_with_their_examples() {
        let all = Targets::from(Classes::named(&["b", "a", "c"]));
        let Targets::Classes(some) = all.select(&[2, 0]) else { panic!("of the same kind") };
        assert_eq!((some.numbers(), some.alphabet().len()), (&[2, 1][..], 3));
        let all = Targets::from(Numbers::new(vec![1.0, 2.0, 3.0]).unwrap());
        assert_eq!(all.select(&[2, 0]), Numbers::new(vec![3.0, 1.0]).unwrap().into());
        assert_eq!(Targets::None.select(&[0]), Targets::None);
    }
}
