//! The corners that an oracle has found, and the dual point of a block: a mixture of them.

use crate::linalg::SparseVec;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A corner: an output, its loss, and its difference vector. Only the adapter makes planes, from the oracle's results, so
/// that a point cannot contain what no oracle has returned. Those of a checkpoint are believed until the run ends, and
/// its certificate is then computed with new ones.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plane<Y> {
    /// i.
    pub(super) example: usize,
    pub(super) output: Y,
    /// L_i(y).
    pub(super) loss: f64,
    /// ψ_i(y) = φ(x_i, y_i) − φ(x_i, y), times L_i(y) where the slack is rescaled.
    pub(super) psi: SparseVec,
    /// A bound on the distance of `psi` from the exact vector, due to rounding.
    pub(super) off: f64,
}

impl<Y> Plane<Y> {
    /// y.
    pub fn output(&self) -> &Y {
        &self.output
    }

    /// L_i(y).
    pub fn loss(&self) -> f64 {
        self.loss
    }
}

/// The dual point of a block: corners with their weights, and the mixture of their vectors.
#[derive(Debug, Serialize, Deserialize)]
#[serde(
    bound(serialize = "Y: Clone + Serialize", deserialize = "Y: Deserialize<'de>"),
    from = "Stored<Y>",
    into = "Stored<Y>"
)]
pub struct OraclePoint<Y> {
    /// Corners and weights; the weights add up to one.
    pub corners: Vec<(Arc<Plane<Y>>, f64)>,
    /// Corners that have lost their weight, and how many shifts ago: later steps may use them again.
    pub(super) spare: Vec<(Arc<Plane<Y>>, u8)>,
    pub(super) psi: SparseVec,
    pub(super) loss: f64,
}

/// A point in a checkpoint. Corners that points share are stored more than once.
#[derive(Serialize, Deserialize)]
struct Stored<Y> {
    corners: Vec<(Plane<Y>, f64)>,
    spare: Vec<(Plane<Y>, u8)>,
    psi: SparseVec,
    loss: f64,
}

impl<Y> From<Stored<Y>> for OraclePoint<Y> {
    fn from(stored: Stored<Y>) -> Self {
        let Stored { corners, spare, psi, loss } = stored;
        let corners = corners.into_iter().map(|(plane, weight)| (Arc::new(plane), weight));
        let spare = spare.into_iter().map(|(plane, shifts)| (Arc::new(plane), shifts));
        Self { corners: corners.collect(), spare: spare.collect(), psi, loss }
    }
}

impl<Y: Clone> From<OraclePoint<Y>> for Stored<Y> {
    fn from(point: OraclePoint<Y>) -> Self {
        let OraclePoint { corners, spare, psi, loss } = point;
        let corners = corners.iter().map(|(plane, weight)| (Plane::clone(plane), *weight));
        let spare = spare.iter().map(|(plane, shifts)| (Plane::clone(plane), *shifts));
        Self { corners: corners.collect(), spare: spare.collect(), psi, loss }
    }
}

// Not derived: an output need not have a default.
impl<Y> Default for OraclePoint<Y> {
    fn default() -> Self {
        let (corners, spare, psi) = (Vec::new(), Vec::new(), SparseVec::default());
        Self { corners, spare, psi, loss: 0.0 }
    }
}

// Not derived: the corners are shared, so outputs need not be cloned.
impl<Y> Clone for OraclePoint<Y> {
    fn clone(&self) -> Self {
        let Self { corners, spare, psi, loss } = self;
        Self { corners: corners.clone(), spare: spare.clone(), psi: psi.clone(), loss: *loss }
    }
}

/// What rounding may leave of a weight that was removed completely; such a weight counts as zero.
const REST: f64 = 1e-15;

impl<Y: Eq> OraclePoint<Y> {
    /// Adds to the weight of a corner, or takes from it if `amount` is negative.
    pub(super) fn weigh(&mut self, plane: &Arc<Plane<Y>>, amount: f64) {
        let known = self.corners.iter().position(|(known, _)| known.output == plane.output);
        let Some(place) = known else {
            self.spare.retain(|(known, _)| known.output != plane.output);
            self.corners.push((Arc::clone(plane), amount));
            return;
        };
        let weight = &mut self.corners[place].1;
        *weight += amount;
        if *weight <= REST && amount < 0.0 {
            let (plane, _) = self.corners.remove(place);
            self.spare.push((plane, 0));
        }
    }

    /// Recomputes the mixture of the corners' vectors and losses.
    pub(super) fn remix(&mut self) {
        let mut psi = SparseVec::default();
        for (plane, weight) in &self.corners {
            plane.psi.add_to(*weight, &mut psi);
        }
        psi.settle();
        self.psi = psi;
        self.loss = self.corners.iter().map(|(plane, weight)| weight * plane.loss).sum();
    }

    /// `self ← (1 − share) self + share · (corners, psi, loss)`.
    pub(super) fn move_toward<'c>(
        &mut self,
        share: f64,
        corners: impl Iterator<Item = (&'c Arc<Plane<Y>>, f64)>,
        psi: &SparseVec,
        loss: f64,
    ) where
        Y: 'c,
    {
        let keep = 1.0 - share;
        if keep <= 0.0 {
            self.corners.clear();
        }
        self.corners.iter_mut().for_each(|(_, weight)| *weight *= keep);
        corners.for_each(|(plane, weight)| self.weigh(plane, share * weight));
        self.psi = SparseVec::combined(keep, &self.psi, share, psi);
        self.loss = keep * self.loss + share * loss;
    }
}
