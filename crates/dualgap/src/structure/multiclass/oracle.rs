//! One label out of K: φ(x, y) = x ⊗ e_y, laid out feature-major.

use crate::Result;
use crate::linalg::kernels::{add_scores, argmax};
use crate::linalg::{Accumulate, Row};
use crate::structure::own::{Bound, Decoded, Extent, Oracle, StoredOutputs};
use crate::term::{CheckedCosts, Costs};
use std::marker::PhantomData;

/// The multiclass structure over borrowed rows.
///
/// ```
/// use dualgap::linalg::Row;
/// use dualgap::structure::{MulticlassOracle, Oracle};
/// use dualgap::term::Costs;
/// let oracle = MulticlassOracle::new(1, 2, &Costs::ZeroOne)?;
/// let found = oracle.decode(&[0.1, 0.3], &Row::Dense(&[1.0]), Some(&1), &mut Vec::new())?;
/// assert_eq!(found.output, 0); // 0.1 + 1 for the mistake beats 0.3
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MulticlassOracle<'a> {
    features: usize,
    classes: usize,
    costs: CheckedCosts,
    rows: PhantomData<&'a ()>,
}

impl MulticlassOracle<'_> {
    /// Returns the oracle for rows with this many features and labels.
    pub fn new(features: usize, classes: usize, costs: &Costs) -> Result<Self> {
        Ok(Self { features, classes, costs: costs.check(classes)?, rows: PhantomData })
    }
}

impl<'a> Oracle for MulticlassOracle<'a> {
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

    fn radius(&self, x: &Row<'a>) -> Option<f64> {
        Some(x.squared_norm().sqrt())
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

    fn decode_slack(
        &self,
        w: &[f64],
        x: &Row<'a>,
        truth: &u32,
        scores: &mut Vec<f64>,
    ) -> Result<Decoded<u32>> {
        scores.clear();
        scores.resize(self.classes, 0.0);
        add_scores(*x, w, scores);
        let right = scores[*truth as usize];
        let (mut output, mut top) = (*truth, 0.0);
        for (y, score) in scores.iter().enumerate() {
            let loss = self.costs.of(*truth as usize, y) * (1.0 + score - right);
            if loss > top {
                (output, top) = (y as u32, loss);
            }
        }
        Ok(Decoded { output, bound: Bound::Exact })
    }
}

impl StoredOutputs for MulticlassOracle<'_> {
    fn is_output(&self, _: &Row<'_>, y: &u32) -> bool {
        (*y as usize) < self.classes
    }
}
