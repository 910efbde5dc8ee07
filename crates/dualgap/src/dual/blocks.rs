//! What a block is: one example's part of the dual, in whatever coordinates suit it.

use crate::Result;
use crate::linalg::{Accumulate, Measured};
use crate::term::Norm;

/// The result of a search for the best corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The loss at the corner that was found.
    pub value: f64,
    /// An upper bound on the loss of all corners: `value` if the search is exact, infinite if nothing is known.
    pub bound: f64,
}

impl Found {
    /// Returns the result of an exact search: no corner is better than the one found.
    pub fn exact(value: f64) -> Self {
        Self { value, bound: value }
    }
}

/// What a step on a block sees of the rest of the problem.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The weights up to the factor.
    pub w: &'a [f64],
    /// The weights are `factor · w`. The factor is one unless the link changes every weight with every step; then the
    /// engine has made sure that the blocks use it ([`Blocks::SEES_FACTOR`]).
    pub factor: f64,
    /// `mass_i / λ`.
    pub scale: f64,
    /// `scale · ‖X_i z‖²` in this norm bounds the dual's curvature along z. The Euclidean norm is never smaller.
    pub norm: Norm,
    /// Whether w is still the same as when the block aimed.
    pub fresh: bool,
}

/// What a certificate needs to know of a block's point, computed from scratch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Audit {
    /// The block's term of the dual, `dual_i(α_i)`.
    pub dual: Measured,
    /// With a factor of one, [`Blocks::add`] adds a vector within this Euclidean distance of `X_i α_i`, for a point
    /// that is exactly feasible and has the dual term above. The distance covers rounding in the point and in the sum.
    pub reach: f64,
    /// With any other factor, `add` is within `factor · reach` plus this times [`UNDERFLOW`](crate::linalg::UNDERFLOW),
    /// which covers what is lost if the factor or a product with it underflows. It is at least `‖X_i α_i‖` plus, for
    /// each product, what multiplies it afterwards.
    pub span: f64,
}

/// The blocks of a dual problem. Solvers work with this trait; users write an oracle or a loss, and an adapter makes
/// blocks of it.
///
/// A step on block i calls [`aim`](Self::aim) at the current w, then [`step_length`](Self::step_length), for which
/// [`difference`](Self::difference) prepares `X_i (to − at)` in the scratch. [`slope`](Self::slope),
/// [`curvature`](Self::curvature) and [`displace`](Self::displace) refer to this prepared difference. At last
/// [`mix`](Self::mix) moves the point. None of this needs to allocate in the steady state: buffers live in the scratch,
/// and every slot of a mini-batch has its own.
pub trait Blocks: Sync {
    /// Whether [`aim`](Self::aim) and [`step_length`](Self::step_length) use the factor of the weights.
    const SEES_FACTOR: bool = false;

    /// Whether a point knows the corners that it is a mixture of, so that a step can take weight from one of them. Such
    /// blocks implement [`recall`](Self::recall), [`extremes`](Self::extremes), [`weight`](Self::weight),
    /// [`between`](Self::between), [`shift`](Self::shift) and [`follow`](Self::follow).
    const FACES: bool = false;

    /// What a step moves toward: an output, a dual value.
    type Corner: Clone + Default + Send;
    /// The dual point of a block: a mixture of corners.
    type Point: Clone + Send + Sync;
    /// Buffers.
    type Scratch: Send;

    /// Returns n, the number of blocks.
    fn len(&self) -> usize;

    /// Whether there is no block.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the dimension of v and w.
    fn dim(&self) -> usize;

    /// Returns how many numbers the starting points of all blocks have, to estimate the memory that a run needs.
    fn numbers(&self) -> usize {
        self.len()
    }

    /// Returns new buffers.
    fn scratch(&self) -> Self::Scratch;

    /// Returns how many oracle calls one search for a corner counts as.
    fn calls_per_step(&self) -> u64 {
        1
    }

    /// Returns how often [`super::Sampling::Importance`] should visit the block, relative to the others. For smooth
    /// losses this is the length of the block's input.
    fn importance(&self, _i: usize) -> f64 {
        1.0
    }

    /// Returns the work of one search for a block's best corner, in multiplications or what takes as long. The cache
    /// policy uses it to decide whether known corners are worth more steps.
    fn oracle_work(&self, _i: usize) -> f64 {
        1.0
    }

    /// Returns the work of [`recall`](Self::recall), and of a step between known corners, in the same unit.
    fn face_work(&self, _i: usize, _at: &Self::Point) -> [f64; 2] {
        [1.0; 2]
    }

    /// Returns γ if the blocks' losses are (1/γ)-smooth, and zero if they are not smooth.
    fn smoothness(&self) -> f64 {
        0.0
    }

    /// Returns a feasible point to start from.
    fn start(&self, i: usize) -> Self::Point;

    /// Finds the corner with the largest loss at w, and leaves the block's scores in the scratch.
    fn best_corner(
        &self,
        i: usize,
        w: &[f64],
        corner: &mut Self::Corner,
        scratch: &mut Self::Scratch,
    ) -> Result<Found>;

    /// Finds the target of a step from `at`: the best corner, or a better point if the block can find one from its
    /// current point and the curvature of the dual.
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

    /// Updates the scores in the scratch to a w that has moved since the corner was found; only those that
    /// [`slope`](Self::slope) needs for the prepared difference.
    fn rescore(&self, i: usize, w: &[f64], scratch: &mut Self::Scratch);

    /// Prepares `X_i (to − at)` in the scratch and returns by how much the dual term rises toward `to`.
    fn difference(
        &self,
        i: usize,
        at: &Self::Point,
        to: &Self::Corner,
        scratch: &mut Self::Scratch,
    ) -> f64;

    /// Returns `⟨w, X_i (to − at)⟩` of the prepared difference, at the w of the scores in the scratch.
    fn slope(&self, i: usize, w: &[f64], scratch: &mut Self::Scratch) -> f64;

    /// Returns `‖X_i (to − at)‖²` of the prepared difference.
    fn curvature(&self, i: usize, scratch: &mut Self::Scratch) -> f64;

    /// Adds `factor · X_i (to − at)` of the prepared difference.
    fn displace(
        &self,
        i: usize,
        factor: f64,
        out: &mut impl Accumulate,
        scratch: &mut Self::Scratch,
    );

    /// Prepares the difference, and returns the step length toward the corner: the maximiser of the dual's quadratic
    /// lower bound along the segment, which is exact if the block's dual term is linear and the link is the identity.
    /// Returns zero if nothing can be gained, and NaN if the gap is NaN.
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

    /// Returns the step length along the prepared difference, whose gap is positive.
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

    /// Returns the block's gap at the scores in the scratch, by which `corner` was found.
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

    /// `at ← at + γ (to − at)`. If points know their corners, γ may be negative as far as the corner has weight.
    fn mix(&self, i: usize, gamma: f64, at: &mut Self::Point, to: &Self::Corner);

    /// Computes the scores of the corners that the point is a mixture of, without a search for others.
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

    /// Returns how much weight can be taken from a corner.
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

    /// `at ← at + amount (to − from)`; the point must have that much weight on `from`.
    fn shift(
        &self,
        _i: usize,
        _amount: f64,
        _at: &mut Self::Point,
        _from: &Self::Corner,
        _to: &Self::Corner,
    ) {
    }

    /// Updates all scores in the scratch to a w that has moved. If only the block's own last
    /// [`displace`](Self::displace) has moved v, and w by as much, `own` is its factor and the difference is still
    /// prepared.
    fn follow(&self, i: usize, w: &[f64], _own: Option<f64>, scratch: &mut Self::Scratch) {
        self.rescore(i, w, scratch);
    }

    /// Restores the feasibility that a point has lost to rounding in many small steps.
    fn tidy(&self, _i: usize, _at: &mut Self::Point) {}

    /// `into ← into + share · (from − into)`: averages of points.
    fn blend(&self, i: usize, share: f64, into: &mut Self::Point, from: &Self::Point);

    /// Returns points near these at which `Σ mass_i X_i α_i` is zero in this column up to rounding, as the dual
    /// requires if the weight is not penalised. Returns `None` if these blocks cannot compute them.
    fn balanced(
        &self,
        _points: &[Self::Point],
        _masses: &[f64],
        _column: usize,
    ) -> Option<Vec<Self::Point>> {
        None
    }

    /// Returns the best value of one weight with the others fixed, or `None` if these blocks cannot compute it.
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

    /// Proves the point feasible and evaluates its dual term from scratch, without trust in any running value.
    fn audit(&self, i: usize, at: &Self::Point, scratch: &mut Self::Scratch) -> Result<Audit>;

    /// Returns a bound on how much rounding can make [`best_corner`](Self::best_corner) understate the largest loss at
    /// these weights, none of which is larger in magnitude than `largest_weight`.
    fn rounding(&self, i: usize, w: &[f64], largest_weight: f64) -> f64;
}
