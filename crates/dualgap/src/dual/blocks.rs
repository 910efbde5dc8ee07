//! What a block is: one example's part of the dual, in whatever coordinates suit it.

use crate::Result;
use crate::linalg::{Accumulate, Measured};
use crate::term::Norm;

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

/// What a step on a block sees of the rest of the problem.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The weights, but for the factor.
    pub w: &'a [f64],
    /// The weights are `factor · w`. It is one unless the link moves every weight with every step, and then
    /// the engine has made sure that the blocks look at it ([`Blocks::SEES_FACTOR`]).
    pub factor: f64,
    /// `mass_i / λ`.
    pub scale: f64,
    /// `scale · ‖X_i z‖²` in this norm bounds the dual's curvature along z. The Euclidean norm is never smaller.
    pub norm: Norm,
    /// Whether w is still the one that was aimed at.
    pub fresh: bool,
}

/// A block's point, looked at from scratch for a certificate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Audit {
    /// The block's term of the dual, `dual_i(α_i)`.
    pub dual: Measured,
    /// What [`Blocks::add`] adds for a factor of one is within this distance (Euclidean) of `X_i α_i` for a point that is
    /// exactly feasible and has the dual term above: rounding in the point and in the sum.
    pub reach: f64,
    /// With any other factor `add` is within `factor · reach`, and this times [`UNDERFLOW`](crate::linalg::UNDERFLOW): what
    /// is lost where the factor has underflowed, or a product with it does. At least `‖X_i α_i‖` and, for each product,
    /// what it is multiplied by afterwards.
    pub span: f64,
}

/// The blocks of a dual problem. Solvers speak to this; users write an oracle or a loss, and an
/// adapter makes blocks of it.
///
/// A step on block i goes: [`aim`](Self::aim) at the current w, then [`step_length`](Self::step_length), for
/// which [`difference`](Self::difference) prepares `X_i (to − at)` in the scratch, of which
/// [`slope`](Self::slope), [`curvature`](Self::curvature) and [`displace`](Self::displace) then
/// speak, and last [`mix`](Self::mix) moves the point. All of it is free of allocation in the
/// steady state: buffers live in the scratch, of which every slot of a mini-batch has its own.
pub trait Blocks: Sync {
    /// Whether [`aim`](Self::aim) and [`step_length`](Self::step_length) look at the factor of the weights.
    const SEES_FACTOR: bool = false;

    /// Whether a point knows the corners that it is a mixture of, so that weight can be taken from one of them:
    /// what [`recall`](Self::recall), [`extremes`](Self::extremes), [`weight`](Self::weight),
    /// [`between`](Self::between), [`shift`](Self::shift) and [`follow`](Self::follow) are for.
    const FACES: bool = false;

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

    /// How many numbers the points of all blocks begin with, for an estimate of the memory that a run needs.
    fn numbers(&self) -> usize {
        self.len()
    }

    /// Fresh buffers.
    fn scratch(&self) -> Self::Scratch;

    /// How many oracle calls one search for a corner stands for.
    fn calls_per_step(&self) -> u64 {
        1
    }

    /// How often a block should have its turn, beside the others: [`super::Sampling::Importance`]. Where the loss
    /// is smooth, the length of the block's input.
    fn importance(&self, _i: usize) -> f64 {
        1.0
    }

    /// The work of looking for a block's best corner, in multiplications or what takes as long: by this number it
    /// is decided whether corners that are known already are worth more steps.
    fn oracle_work(&self, _i: usize) -> f64 {
        1.0
    }

    /// The work of [`recall`](Self::recall), and of a step between corners that are known, in the same unit.
    fn face_work(&self, _i: usize, _at: &Self::Point) -> [f64; 2] {
        [1.0; 2]
    }

    /// γ, where the blocks' losses are (1/γ)-smooth; zero where they are not.
    fn smoothness(&self) -> f64 {
        0.0
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
    /// it stands and how the dual curves.
    fn aim(
        &self,
        i: usize,
        _at: &Self::Point,
        view: &View<'_>,
        corner: &mut Self::Corner,
        scratch: &mut Self::Scratch,
    ) -> Result<()> {
        self.best_corner(i, view.w, corner, scratch).map(|_| ())
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

    /// Prepares the difference, and tells the step length toward the corner: the top of the dual's quadratic lower
    /// bound along the segment, which is exact where the block's term of the dual is linear and the link the
    /// identity. Zero where nothing can be gained, and no number where the gap is none.
    fn step_length(
        &self,
        i: usize,
        at: &Self::Point,
        to: &Self::Corner,
        view: &View<'_>,
        scratch: &mut Self::Scratch,
    ) -> f64 {
        let rise = self.difference(i, at, to, scratch);
        if !view.fresh {
            self.rescore(i, view.w, scratch);
        }
        let gap = rise - self.slope(i, view.w, scratch);
        if gap.is_nan() {
            return gap;
        }
        if gap <= 0.0 {
            return 0.0;
        }
        self.share_of_segment(gap, i, view, scratch)
    }

    /// How far to go along the prepared difference, whose gap is positive.
    fn share_of_segment(
        &self,
        gap: f64,
        i: usize,
        view: &View<'_>,
        scratch: &mut Self::Scratch,
    ) -> f64 {
        let curvature = self.curvature(i, scratch);
        if curvature > 0.0 { (gap / (view.scale * curvature)).min(1.0) } else { 1.0 }
    }

    /// The block's gap at the scores in the scratch, at which `corner` was found.
    fn gap(
        &self,
        i: usize,
        at: &Self::Point,
        w: &[f64],
        corner: &Self::Corner,
        scratch: &mut Self::Scratch,
    ) -> f64 {
        let rise = self.difference(i, at, corner, scratch);
        rise - self.slope(i, w, scratch)
    }

    /// `at ← at + γ (to − at)`. Where points know their corners γ may be negative, if the point has the weight.
    fn mix(&self, i: usize, gamma: f64, at: &mut Self::Point, to: &Self::Corner);

    /// Computes the scores of those corners that the point is a mixture of, without looking for others.
    fn recall(&self, i: usize, _at: &Self::Point, w: &[f64], scratch: &mut Self::Scratch) {
        self.follow(i, w, None, scratch);
    }

    /// Finds the worst and the best of the corners that the point is a mixture of, at the scores in the scratch.
    fn extremes(
        &self,
        _i: usize,
        _at: &Self::Point,
        _w: &[f64],
        _worst: &mut Self::Corner,
        _best: &mut Self::Corner,
        _scratch: &mut Self::Scratch,
    ) {
    }

    /// How much weight can be taken from a corner.
    fn weight(&self, _i: usize, _at: &Self::Point, _corner: &Self::Corner) -> f64 {
        0.0
    }

    /// [`difference`](Self::difference) between two corners: prepares `X_i (to − from)`.
    fn between(
        &self,
        _i: usize,
        _from: &Self::Corner,
        _to: &Self::Corner,
        _scratch: &mut Self::Scratch,
    ) -> f64 {
        0.0
    }

    /// `at ← at + amount (to − from)`, for which the point has the weight.
    fn shift(
        &self,
        _i: usize,
        _amount: f64,
        _at: &mut Self::Point,
        _from: &Self::Corner,
        _to: &Self::Corner,
    ) {
    }

    /// Brings all scores in the scratch up to date with a w that has moved. Where the block's own last
    /// [`displace`](Self::displace) alone has moved it, and w with it, `own` is its factor, and the difference is
    /// still prepared.
    fn follow(&self, i: usize, w: &[f64], _own: Option<f64>, scratch: &mut Self::Scratch) {
        self.rescore(i, w, scratch);
    }

    /// Makes good what many small steps have lost of the point's feasibility to rounding.
    fn tidy(&self, _i: usize, _at: &mut Self::Point) {}

    /// `into ← into + share · (from − into)`: averages of points.
    fn blend(&self, i: usize, share: f64, into: &mut Self::Point, from: &Self::Point);

    /// Points near these at which `Σ mass_i X_i α_i` is zero in this column, but for rounding: what the dual asks
    /// for where a weight is not penalised. None where these blocks cannot tell.
    fn balanced(
        &self,
        _points: &[Self::Point],
        _masses: &[f64],
        _column: usize,
    ) -> Option<Vec<Self::Point>> {
        None
    }

    /// The best value of one weight beside these others, if the blocks can tell.
    fn best_free(&self, _w: &[f64], _masses: &[f64], _column: usize) -> Option<f64> {
        None
    }

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
