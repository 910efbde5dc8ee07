//! What a block is: one example's part of the dual, in whatever coordinates suit it.

use crate::Result;
use crate::linalg::{Accumulate, Measured};

/// What looking for the best corner found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The loss at the corner that was found.
    pub value: f64,
    /// No corner has a larger loss: `value` where the search is exact, infinite where nothing is known.
    pub bound: f64,
}

impl Found {
    /// An exact search: nothing is better than what was found.
    pub fn exact(value: f64) -> Self {
        Self { value, bound: value }
    }
}

/// The segment that a step goes along.
#[derive(Clone, Copy, Debug)]
pub struct Along {
    /// The rise of the block's term of the dual to the end of the segment, less the slope.
    pub gap: f64,
    /// `‖X_i (to − at)‖²`.
    pub curvature: f64,
    /// `mass_i / λ`.
    pub scale: f64,
    /// Whether w is still the one that the end of the segment was found at.
    pub fresh: bool,
}

/// A block's point, looked at from scratch for a certificate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Audit {
    /// The block's term of the dual, `dual_i(α_i)`.
    pub dual: Measured,
    /// What [`Blocks::add`] adds is within this distance (Euclidean) of `X_i α_i` for a point that is
    /// exactly feasible and has the dual term above: rounding in the point and in the sum.
    pub reach: f64,
}

/// The blocks of a dual problem. Solvers speak to this; users write an oracle or a loss, and an
/// adapter makes blocks of it.
///
/// A step on block i goes: [`aim`](Self::aim) at the current w, then
/// [`difference`](Self::difference) prepares `X_i (to − at)` in the scratch, of which
/// [`slope`](Self::slope), [`curvature`](Self::curvature) and [`displace`](Self::displace) then
/// speak, and last [`mix`](Self::mix) moves the point. All of it is free of allocation in the
/// steady state: buffers live in the scratch, of which every slot of a mini-batch has its own.
pub trait Blocks: Sync {
    /// What a step moves toward: an output, a dual value.
    type Corner: Clone + Default + Send;
    /// Where a block stands: a mixture of corners.
    type Point: Clone + Send + Sync;
    /// Buffers.
    type Scratch: Send;

    /// n, the number of blocks.
    fn len(&self) -> usize;

    /// Whether there is no block.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The dimension of v and w.
    fn dim(&self) -> usize;

    /// Fresh buffers.
    fn scratch(&self) -> Self::Scratch;

    /// How many oracle calls one search for a corner stands for.
    fn calls_per_step(&self) -> u64 {
        1
    }

    /// How often a block should have its turn, beside the others: [`super::Sampling::Importance`].
    fn importance(&self, _i: usize) -> f64 {
        1.0
    }

    /// A feasible point to start from.
    fn start(&self, i: usize) -> Self::Point;

    /// Finds the corner with the largest loss at w; the scratch keeps the block's scores.
    fn best_corner(
        &self,
        i: usize,
        w: &[f64],
        corner: &mut Self::Corner,
        scratch: &mut Self::Scratch,
    ) -> Result<Found>;

    /// Finds where a step from `at` is to go: the best corner, or whatever is better for a block that knows where
    /// it stands and its `scale = mass_i / λ`.
    fn aim(
        &self,
        i: usize,
        w: &[f64],
        _at: &Self::Point,
        _scale: f64,
        corner: &mut Self::Corner,
        scratch: &mut Self::Scratch,
    ) -> Result<()> {
        self.best_corner(i, w, corner, scratch).map(|_| ())
    }

    /// Brings the scores in the scratch up to date with a w that has moved since the corner was found;
    /// only those that [`slope`](Self::slope) needs for the prepared difference.
    fn rescore(&self, i: usize, w: &[f64], scratch: &mut Self::Scratch);

    /// Prepares `X_i (to − at)` in the scratch and returns by how much the dual term rises toward `to`.
    fn difference(
        &self,
        i: usize,
        at: &Self::Point,
        to: &Self::Corner,
        scratch: &mut Self::Scratch,
    ) -> f64;

    /// `⟨w, X_i (to − at)⟩` of the prepared difference, at the w of the scores in the scratch.
    fn slope(&self, i: usize, w: &[f64], scratch: &mut Self::Scratch) -> f64;

    /// `‖X_i (to − at)‖²` of the prepared difference.
    fn curvature(&self, i: usize, scratch: &mut Self::Scratch) -> f64;

    /// Adds `factor · X_i (to − at)` of the prepared difference.
    fn displace(
        &self,
        i: usize,
        factor: f64,
        out: &mut impl Accumulate,
        scratch: &mut Self::Scratch,
    );

    /// The step length toward the corner: the top of the dual's quadratic lower bound along the segment, which
    /// is exact where the block's term of the dual is linear and the link the identity.
    fn line_search(
        &self,
        _i: usize,
        _at: &Self::Point,
        _to: &Self::Corner,
        along: &Along,
        _scratch: &mut Self::Scratch,
    ) -> f64 {
        let Along { gap, curvature, scale, .. } = *along;
        if gap <= 0.0 {
            0.0
        } else if curvature > 0.0 {
            (gap / (scale * curvature)).min(1.0)
        } else {
            1.0
        }
    }

    /// `at ← at + γ (to − at)`.
    fn mix(&self, i: usize, gamma: f64, at: &mut Self::Point, to: &Self::Corner);

    /// `into ← into + share · (from − into)`: averages of points.
    fn blend(&self, i: usize, share: f64, into: &mut Self::Point, from: &Self::Point);

    /// Adds `factor · X_i α_i` at a point.
    fn add(
        &self,
        i: usize,
        at: &Self::Point,
        factor: f64,
        out: &mut impl Accumulate,
        scratch: &mut Self::Scratch,
    );

    /// Proves the point feasible and evaluates its dual term, trusting nothing that was carried along.
    fn audit(&self, i: usize, at: &Self::Point, scratch: &mut Self::Scratch) -> Result<Audit>;

    /// By how much rounding can make [`best_corner`](Self::best_corner) understate the largest loss at these
    /// weights, of which none is larger in magnitude than `largest_weight`.
    fn rounding(&self, i: usize, w: &[f64], largest_weight: f64) -> f64;
}
