//! The active set of a user's oracle: the corners that it has found, with weight and without, and steps between them.

use super::blocks::OracleBlocks;
use super::oracle::Oracle;
use super::plane::Plane;
use super::rescaling::Rescaling;
use crate::dual::ActiveSetBlocks;
use crate::linalg::SparseVec;
use crate::structure::prox_sdca::Radius;
use std::sync::Arc;

/// A corner without weight stays in the cache for this many shifts of its block. A larger number may save oracle calls,
/// a smaller one saves memory and the work of scoring.
const KEPT: u8 = 10;

impl<O: Oracle> ActiveSetBlocks for OracleBlocks<'_, O> {
    // There are no stored scores: `extremes` scores the corners.
    fn score_active_set(&self, _: usize, _: &Self::Point, _: &[f64], _: &mut Self::Scratch) {}

    fn follow(&self, _: usize, _: &[f64], _: Option<f64>, _: &mut Self::Scratch) {}

    fn extremes(
        &self,
        _: usize,
        at: &Self::Point,
        w: &[f64],
        worst: &mut Self::Corner,
        best: &mut Self::Corner,
        _: &mut Self::Scratch,
    ) {
        let score = |plane: &Plane<_>| plane.loss - plane.psi.dot(w);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (plane, _) in at.corners.iter().filter(|(_, weight)| *weight > 0.0) {
            let score = score(plane);
            if score < low {
                low = score;
                *worst = Some(Arc::clone(plane));
            }
            if score > high {
                high = score;
                *best = Some(Arc::clone(plane));
            }
        }
        for (plane, _) in &at.spare {
            let score = score(plane);
            if score > high {
                high = score;
                *best = Some(Arc::clone(plane));
            }
        }
    }

    fn weight(&self, _: usize, at: &Self::Point, corner: &Self::Corner) -> f64 {
        let Some(corner) = corner else { return 0.0 };
        let known = at.corners.iter().find(|(plane, _)| plane.output == corner.output);
        known.map_or(0.0, |&(_, weight)| weight)
    }

    fn between(
        &self,
        _: usize,
        from: &Self::Corner,
        to: &Self::Corner,
        scratch: &mut Self::Scratch,
    ) -> f64 {
        let (Some(from), Some(to)) = (from, to) else { return 0.0 };
        scratch.difference = SparseVec::combined(1.0, &to.psi, -1.0, &from.psi);
        to.loss - from.loss
    }

    fn shift(
        &self,
        _: usize,
        amount: f64,
        at: &mut Self::Point,
        from: &Self::Corner,
        to: &Self::Corner,
    ) {
        let (Some(from), Some(to)) = (from, to) else { return };
        at.spare.retain_mut(|(_, shifts)| {
            *shifts += 1;
            *shifts <= KEPT
        });
        at.weigh(from, -amount);
        at.weigh(to, amount);
        at.psi = SparseVec::combined(1.0, &at.psi, -amount, &from.psi);
        at.psi = SparseVec::combined(1.0, &at.psi, amount, &to.psi);
        at.loss += amount * (to.loss - from.loss);
    }

    fn tidy(&self, _: usize, at: &mut Self::Point) {
        let total: f64 = at.corners.iter().map(|(_, weight)| weight).sum();
        at.corners.iter_mut().for_each(|(_, weight)| *weight /= total);
        at.remix();
    }

    fn oracle_work(&self, i: usize) -> f64 {
        self.oracle.work(&self.examples[i].0)
    }

    fn cached_work(&self, _: usize, at: &Self::Point) -> [f64; 2] {
        let planes = at.corners.iter().map(|(plane, _)| plane);
        let planes = planes.chain(at.spare.iter().map(|(plane, _)| plane));
        let stored: usize = planes.map(|plane| plane.psi.entries().len()).sum();
        [0.0, 2.0 * stored as f64 + 6.0 * at.psi.entries().len() as f64]
    }
}

impl<O: Oracle> Radius for OracleBlocks<'_, O> {
    fn radius(&self, i: usize) -> Option<f64> {
        let x = &self.examples[i].0;
        let radius = self.oracle.radius(x)?;
        match self.rescaling {
            Rescaling::Margin => Some(radius),
            // Corners are as far from the truth as the largest loss times twice the radius, on any side of it.
            Rescaling::Slack => Some(2.0 * radius * self.oracle.extent(x)?.loss),
        }
    }
}
