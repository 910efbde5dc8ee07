//! The best pair of a run of the engine: [`BestPair`] with plain weights and the points of the blocks.

use super::Blocks;
use super::problem::{PrimalValue, Problem};
use crate::Result;
use crate::linalg::Measured;
use crate::run::{BestPair, Solution};
use crate::term::Link;

impl<P> Solution<Vec<P>> {
    /// Splits the point of the joined blocks into one point per block.
    pub(super) fn parted(self) -> Solution<P> {
        Solution { weights: self.weights, points: self.points.into_iter().flatten().collect() }
    }
}

/// The best pair of a run.
pub(crate) type Best<P> = BestPair<Vec<f64>, P>;

impl<P: Clone> Best<P> {
    /// Returns the best weights, if there are any yet.
    pub fn weights(&self) -> Option<&[f64]> {
        self.best_weights().map(Vec::as_slice)
    }

    /// Stores weights if they are better: a certified upper bound beats a value that bounds nothing.
    pub fn offer_primal(&mut self, primal: PrimalValue, weights: impl FnOnce() -> Vec<f64>) {
        self.offer_weights(primal.value, (primal.certified, primal.basis), weights);
    }

    /// Stores weights and the points that they come from if their gap is smaller.
    pub fn offer_pair(
        &mut self,
        primal: PrimalValue,
        weights: Vec<f64>,
        dual: Measured,
        points: &[P],
    ) {
        let PrimalValue { value, certified, basis } = primal;
        let gap = |primal: Measured, dual: Measured| {
            primal.value + primal.error - (dual.value - dual.error)
        };
        let better = self.primal.as_ref().is_none_or(|(best, was_certified, _)| {
            (!certified, gap(value, dual)) < (!was_certified, gap(*best, self.dual))
        });
        if better {
            (self.primal, self.basis) = (Some((value, certified, weights)), basis);
            self.dual = dual;
            self.points = Some(points.to_vec());
        }
    }

    /// Recomputes both values from the stored weights and points.
    pub fn prove<B: Blocks<Point = P>, L: Link>(
        &mut self,
        problem: &Problem<'_, B, L>,
    ) -> Result<()> {
        if let Some(points) = &self.points {
            self.dual = problem.dual(points)?.value;
        }
        if let Some((value, certified, w)) = &mut self.primal {
            let primal = match &self.points {
                Some(points) => problem.primal_at(w, points)?,
                None => problem.primal(w)?,
            };
            (*value, *certified) = (primal.value, primal.certified);
            self.basis = primal.basis;
        }
        Ok(())
    }

    /// Whether the weights have the right dimension, and points are stored if they should be: a state from a file may
    /// contain anything.
    pub fn is_sound(&self, dim: usize, keeps_points: bool) -> bool {
        self.points.is_some() == keeps_points
            && self.weights().is_none_or(|w| w.len() == dim && w.iter().all(|w| w.is_finite()))
    }
}
