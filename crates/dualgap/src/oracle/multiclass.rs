//! One label out of K: φ(x, y) = x ⊗ e_y, laid out feature-major.

use super::{Bound, Decoded, Oracle};
use crate::linalg::kernels::add_scores;
use crate::linalg::{Accumulate, Row};
use crate::{Error, Result};
use std::marker::PhantomData;

/// What predicting one label for another costs.
///
/// ```
/// # use dualgap::oracle::Costs;
/// let costs = Costs::Matrix(vec![0.0, 1.0, 5.0, 0.0]); // missing class 1 is five times as bad
/// assert_eq!(costs.check(2)?.of(2, 1)[0], 5.0);
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
    /// The costs as a full matrix for `classes` labels, or what is wrong with them.
    pub fn check(&self, classes: usize) -> Result<CostMatrix> {
        let Self::Matrix(costs) = self else {
            let cost = |k: usize| f64::from(u8::from(k / classes != k % classes));
            return Ok(CostMatrix((0..classes * classes).map(cost).collect()));
        };
        if costs.len() != classes * classes {
            return Err(Error::setting(format!(
                "a cost matrix for {classes} labels has {} entries, not {}",
                classes * classes,
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
        Ok(CostMatrix(costs.clone()))
    }
}

/// A cost matrix that was checked.
#[derive(Clone, Debug, PartialEq)]
pub struct CostMatrix(Vec<f64>);

impl CostMatrix {
    /// The costs of all predictions under this truth.
    #[inline]
    pub fn of(&self, classes: usize, truth: usize) -> &[f64] {
        &self.0[truth * classes..(truth + 1) * classes]
    }

    /// All entries, row by row.
    pub fn entries(&self) -> &[f64] {
        &self.0
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
    costs: CostMatrix,
    rows: PhantomData<&'a ()>,
}

impl Multiclass<'_> {
    /// For rows with so many features and so many labels.
    pub fn new(features: usize, classes: usize, costs: &Costs) -> Result<Self> {
        Ok(Self { features, classes, costs: costs.check(classes)?, rows: PhantomData })
    }
}

/// The first of the largest: ties are broken the same way everywhere.
#[inline]
pub(crate) fn argmax(scores: impl IntoIterator<Item = f64>) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (y, score) in scores.into_iter().enumerate() {
        if score > best.1 {
            best = (y, score);
        }
    }
    best
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
        self.costs.of(self.classes, *truth as usize)[*y as usize]
    }

    fn decode(
        &self,
        w: &[f64],
        x: &Row<'a>,
        against: Option<&u32>,
        scores: &mut Vec<f64>,
    ) -> Result<Decoded<u32>> {
        scores.clear();
        match against {
            Some(&truth) => scores.extend(self.costs.of(self.classes, truth as usize)),
            None => scores.resize(self.classes, 0.0),
        }
        add_scores(*x, w, scores);
        Ok(Decoded { output: argmax(scores.iter().copied()).0 as u32, bound: Bound::Exact })
    }
}
