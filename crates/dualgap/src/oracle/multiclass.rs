//! One label out of K: φ(x, y) = x ⊗ e_y, laid out feature-major.

use super::{Bound, Decoded, Extent, Oracle};
use crate::linalg::kernels::{add_scores, argmax};
use crate::linalg::{Accumulate, Row};
use crate::{Error, Result};
use std::marker::PhantomData;

/// What predicting one label for another costs.
///
/// ```
/// # use dualgap::oracle::Costs;
/// let costs = Costs::Matrix(vec![0.0, 1.0, 5.0, 0.0]); // missing class 1 is five times as bad
/// assert_eq!(costs.check(2)?.of(1, 0), 5.0);
/// assert!(Costs::Matrix(vec![1.0; 4]).check(2).is_err(), "a right answer costs nothing");
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Costs {
    /// Every mistake costs one.
    ZeroOne,
    /// `K × K`, row by row: the cost of each prediction under each truth.
    Matrix(Vec<f64>),
}

impl Costs {
    /// The costs for `classes` labels, or what is wrong with them.
    pub fn check(&self, classes: usize) -> Result<CheckedCosts> {
        let Self::Matrix(costs) = self else {
            return Ok(CheckedCosts { classes, matrix: None });
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
        Ok(CheckedCosts { classes, matrix: Some(costs.clone()) })
    }
}

/// Costs that were checked. The 0/1 loss takes no memory, however many labels there are.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedCosts {
    classes: usize,
    matrix: Option<Vec<f64>>,
}

impl CheckedCosts {
    /// What predicting `y` costs under this truth.
    #[inline]
    pub fn of(&self, truth: usize, y: usize) -> f64 {
        match &self.matrix {
            Some(matrix) => matrix[truth * self.classes + y],
            None => f64::from(u8::from(truth != y)),
        }
    }

    /// Puts the costs of all labels under this truth into `scores`.
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

    /// The largest cost.
    pub fn largest(&self) -> f64 {
        self.matrix.as_ref().map_or(1.0, |costs| costs.iter().fold(0.0, |a, &b| b.max(a)))
    }
}

/// The multiclass structure over borrowed rows.
///
/// ```
/// use dualgap::linalg::Row;
/// use dualgap::oracle::{Costs, Multiclass, Oracle};
/// let oracle = Multiclass::new(1, 2, &Costs::ZeroOne)?;
/// let found = oracle.decode(&[0.1, 0.3], &Row::Dense(&[1.0]), Some(&1), &mut Vec::new())?;
/// assert_eq!(found.output, 0); // 0.1 + 1 for the mistake beats 0.3
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Multiclass<'a> {
    features: usize,
    classes: usize,
    costs: CheckedCosts,
    rows: PhantomData<&'a ()>,
}

impl Multiclass<'_> {
    /// For rows with so many features and so many labels.
    pub fn new(features: usize, classes: usize, costs: &Costs) -> Result<Self> {
        Ok(Self { features, classes, costs: costs.check(classes)?, rows: PhantomData })
    }
}

impl<'a> Oracle for Multiclass<'a> {
    type Input = Row<'a>;
    type Output = u32;
    type Scratch = Vec<f64>;

    fn dim(&self) -> usize {
        self.features * self.classes
    }

    fn features(&self, x: &Row<'a>, y: &u32, out: &mut impl Accumulate) {
        for (f, x) in x.iter() {
            out.add(f * self.classes + *y as usize, x);
        }
    }

    fn loss(&self, _: &Row<'a>, truth: &u32, y: &u32) -> f64 {
        self.costs.of(*truth as usize, *y as usize)
    }

    fn extent(&self, x: &Row<'a>) -> Option<Extent> {
        Some(Extent { terms: x.stored(), norm1: x.norm1(), loss: self.costs.largest() })
    }

    fn decode(
        &self,
        w: &[f64],
        x: &Row<'a>,
        against: Option<&u32>,
        scores: &mut Vec<f64>,
    ) -> Result<Decoded<u32>> {
        if let Some(&truth) = against {
            self.costs.fill(truth as usize, scores);
        } else {
            scores.clear();
            scores.resize(self.classes, 0.0);
        }
        add_scores(*x, w, scores);
        Ok(Decoded { output: argmax(scores.iter().copied()).0 as u32, bound: Bound::Exact })
    }
}
