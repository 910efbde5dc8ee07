//! The costs of mistakes: one each, or from a table.

use crate::{Error, Result};

/// The cost of predicting one label in the place of another.
///
/// ```
/// # use dualgap::term::Costs;
/// let costs = Costs::Matrix(vec![0.0, 1.0, 5.0, 0.0]); // missing class 1 is five times as bad
/// assert_eq!(costs.check(2)?.of(1, 0), 5.0);
/// assert!(Costs::Matrix(vec![1.0; 4]).check(2).is_err(), "a right answer costs nothing");
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Costs {
    /// Every mistake costs one.
    #[default]
    ZeroOne,
    /// `K × K`, row by row: the cost of each prediction under each truth.
    Matrix(Vec<f64>),
}

impl Costs {
    /// Returns the costs for `classes` labels, or an error if the matrix is invalid.
    pub fn check(&self, classes: usize) -> Result<CheckedCosts> {
        let Self::Matrix(costs) = self else {
            return Ok(CheckedCosts { classes, matrix: None, largest: 1.0 });
        };
        if Some(costs.len()) != classes.checked_mul(classes) {
            return Err(Error::setting(format!(
                "a cost matrix for {classes} labels has {classes} times as many entries, not {}",
                costs.len()
            )));
        }
        for (k, &cost) in costs.iter().enumerate() {
            let (truth, y) = (k / classes, k % classes);
            if !(cost >= 0.0 && cost.is_finite()) {
                return Err(Error::setting(format!(
                    "the cost of label {y} under truth {truth} is {cost}; costs are not negative"
                )));
            }
            if truth == y && cost != 0.0 {
                return Err(Error::setting(format!(
                    "label {y} costs {cost} when it is right; the diagonal of a cost matrix is zero"
                )));
            }
        }
        let largest = costs.iter().fold(0.0, |a, &b| b.max(a));
        Ok(CheckedCosts { classes, matrix: Some(costs.clone()), largest })
    }
}

/// Checked costs. The 0/1 loss takes no memory, however many labels there are.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedCosts {
    classes: usize,
    matrix: Option<Vec<f64>>,
    /// Stored, because certificates ask for it at every example.
    largest: f64,
}

impl CheckedCosts {
    /// Returns the cost of predicting `y` if the label is `truth`.
    #[inline]
    pub fn of(&self, truth: usize, y: usize) -> f64 {
        match &self.matrix {
            Some(matrix) => matrix[truth * self.classes + y],
            None => f64::from(u8::from(truth != y)),
        }
    }

    /// Writes the costs of all predictions for the label `truth` to `scores`.
    #[inline]
    pub fn fill(&self, truth: usize, scores: &mut Vec<f64>) {
        scores.clear();
        if let Some(matrix) = &self.matrix {
            scores.extend_from_slice(&matrix[truth * self.classes..(truth + 1) * self.classes]);
        } else {
            scores.resize(self.classes, 1.0);
            scores[truth] = 0.0;
        }
    }

    /// Returns the largest cost.
    pub fn largest(&self) -> f64 {
        self.largest
    }
}
