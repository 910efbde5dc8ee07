//! What a block is: one example's part of the dual, in whatever coordinates suit it.
//!
//! - [`Blocks`]: what all blocks can do; [`ActiveSetBlocks`] and [`InterceptBlocks`]: what some can do besides.
//! - `values`: what blocks say of their work and their data, what a step sees of the rest of the problem, and what searches and audits
//!   return.

mod values;

pub(crate) use values::TOGETHER;
pub use values::{Audit, Found, Locality, Quality, View, Workload};

use super::intercept::Intercept;
use super::masses::Masses;
use super::shrinking::Pace;
use super::visit::Visits;
use super::{ActiveSet, FreeIntercept, Sweep};
use crate::Result;
use crate::linalg::Accumulate;
use std::borrow::Borrow;

/// The blocks of a dual problem: a point for each, its best corner, a step and an audit. Solvers work with this trait;
/// users write an oracle or a loss, and an adapter makes blocks of it. What only some blocks can do has traits of its
/// own, [`ActiveSetBlocks`] and [`InterceptBlocks`], and the types [`Visits`](Self::Visits) and
/// [`Intercept`](Self::Intercept) name which of them these blocks implement, so that the engine compiles for them what
/// they support and nothing else.
///
/// A step on block i calls [`aim`](Self::aim) at the current w, then [`step_length`](Self::step_length), for which
/// [`difference`](Self::difference) prepares `X_i (to − at)` in the scratch. [`slope`](Self::slope),
/// [`curvature`](Self::curvature) and [`displace`](Self::displace) refer to this prepared difference. At last
/// [`mix`](Self::mix) moves the point. None of this needs to allocate in the steady state: buffers live in the scratch,
/// and every slot of a mini-batch has its own.
pub trait Blocks: Sized + Sync {
    /// Whether [`aim`](Self::aim) and [`step_length`](Self::step_length) use the factor of the weights, as links that
    /// couple all weights require.
    const SEES_FACTOR: bool = false;

    /// After how many steps the engine looks whether it is to stop: more than one for blocks whose steps take less time than
    /// the look.
    const STEPS_PER_CHECK: u64 = 1;

    /// Whether visits may go in lanes: a visit takes long beside a look at its changes, and its search may be called from several
    /// threads.
    const LANES: bool = false;

    /// How the engine visits these blocks: [`Plain`](super::Plain), or [`ActiveSet`] for blocks that
    /// implement [`ActiveSetBlocks`].
    type Visits: Visits<Self>;
    /// Whether a weight may go without a penalty: [`NoIntercept`](super::NoIntercept), or
    /// [`FreeIntercept`] for blocks that implement [`InterceptBlocks`].
    type Intercept: Intercept<Self>;
    /// What a step moves toward: an output, a dual value.
    type Corner: Clone + Default + Send;
    /// The dual point of a block: a mixture of corners.
    type Point: Clone + Default + Send + Sync;
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

    /// Returns how much work the blocks are. Nothing but time depends on it, and the order in which sums are rounded.
    fn workload(&self) -> Workload {
        Workload::default()
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

    /// Returns how soon shrinking leaves these blocks out.
    fn pace(&self) -> Pace {
        Pace::Patient
    }

    /// Returns how visits go through memory.
    fn locality(&self) -> Locality {
        Locality::default()
    }

    /// Asks for the data of a block that will be visited soon, and for its point, so that they are in the cache by then.
    #[inline]
    fn fetch(&self, _i: usize, _at: &Self::Point) {}

    /// Visits the blocks of a sweep, each as [`aim`](Self::aim), [`step_length`](Self::step_length), [`displace`](Self::displace)
    /// and [`mix`](Self::mix) would, to the last bit; returns whether it did. Blocks whose visits take long have no need of it.
    fn sweep(&self, _: Sweep<'_, Self::Point>) -> Result<bool> {
        Ok(false)
    }

    /// Returns γ if the blocks' losses are (1/γ)-smooth, and zero if they are not smooth.
    fn smoothness(&self) -> f64 {
        0.0
    }

    /// Returns what is promised of [`best_corner`](Self::best_corner) where it has no bound.
    fn quality(&self) -> Quality {
        Quality::Exact
    }

    /// Returns an error if a corner that the point knows refutes what a search at these weights has claimed. The searches
    /// of built-in structures claim nothing that their points could refute.
    fn challenge(
        &self,
        _i: usize,
        _at: &Self::Point,
        _w: &[f64],
        _corner: &Self::Corner,
        _found: &Found,
    ) -> Result<()> {
        Ok(())
    }

    /// Announces that the next searches of these blocks are all at w, for blocks that find several corners at once faster
    /// than one by one. The searches themselves follow as ever.
    fn search_ahead(&self, _blocks: &mut dyn Iterator<Item = usize>, _w: &[f64]) -> Result<()> {
        Ok(())
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

    /// Finds the corner with the largest loss at `w / divisor`, for methods that rescale all weights in every step and
    /// keep the divisor apart, so that a step need not touch them all. Returns false if the blocks search at plain
    /// weights only. The scores in the scratch are of no use afterwards.
    fn corner_at_quotient(
        &self,
        _i: usize,
        _w: &[f64],
        _divisor: f64,
        _corner: &mut Self::Corner,
        _scratch: &mut Self::Scratch,
    ) -> Result<bool> {
        Ok(false)
    }

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

    /// `at ← at + γ (to − at)`. For blocks with an active set, γ may be negative as far as the corner has weight.
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

    /// Proves the point feasible and evaluates its dual term from scratch, without trust in any running value.
    fn audit(&self, i: usize, at: &Self::Point, scratch: &mut Self::Scratch) -> Result<Audit>;

    /// Audits neighbouring blocks, of which this is the first: writes the values of their terms of the dual, the errors of
    /// these, reaches and spans. Every slice has a place for each point, of which there are at most 64.
    fn audits<P: Borrow<Self::Point>>(
        &self,
        first: usize,
        points: &[P],
        [values, errors, reaches, spans]: [&mut [f64]; 4],
        scratch: &mut Self::Scratch,
    ) -> Result<()> {
        for (k, at) in points.iter().enumerate() {
            let Audit { dual, reach, span } = self.audit(first + k, at.borrow(), scratch)?;
            (values[k], errors[k], reaches[k], spans[k]) = (dual.value, dual.error, reach, span);
        }
        Ok(())
    }

    /// Writes the largest losses of at most 64 neighbouring blocks, of which this is the first, at weights that may each be off by so much, and
    /// bounds on how much less they may be than the exact ones. Returns false if several blocks are not searched at once, if the
    /// largest are not always found, or if a point may [refute](Self::challenge) what was found.
    fn exact_losses(
        &self,
        _first: usize,
        _w: &[f64],
        _off: f64,
        [_values, _errors]: [&mut [f64]; 2],
    ) -> bool {
        false
    }

    /// Returns a bound on how much rounding can make [`best_corner`](Self::best_corner) understate the largest loss at
    /// these weights, none of which is larger in magnitude than `largest_weight`.
    fn rounding(&self, i: usize, w: &[f64], largest_weight: f64) -> f64;

    /// Returns the largest loss at w and a bound on how much rounding can make it understate that loss, as
    /// [`best_corner`](Self::best_corner) and [`rounding_near`](Self::rounding_near) do, for blocks that have both from one
    /// look at their input. The corner is of use only to [`challenge`](Self::challenge): blocks that refute nothing may leave
    /// it as it is.
    fn largest_loss(
        &self,
        i: usize,
        w: &[f64],
        (largest_weight, off): (f64, f64),
        corner: &mut Self::Corner,
        scratch: &mut Self::Scratch,
    ) -> Result<(Found, f64)> {
        let found = self.best_corner(i, w, corner, scratch)?;
        Ok((found, self.rounding_near(i, w, largest_weight, off)))
    }

    /// Returns the same bound for weights of which each may be off by this much. Blocks that do not say what that does to
    /// their loss have no bound then.
    fn rounding_near(&self, i: usize, w: &[f64], largest_weight: f64, off: f64) -> f64 {
        if off == 0.0 { self.rounding(i, w, largest_weight) } else { f64::INFINITY }
    }
}

/// Blocks whose points know the corners that they are mixtures of, their active set. A step can take weight from one of
/// these corners (away and pairwise steps), and steps between them need no oracle (cached steps).
pub trait ActiveSetBlocks: Blocks<Visits = ActiveSet> {
    /// Whether it takes less work to score known corners than to search for the best of all. Where it does not, a visit without
    /// the oracle is one with it that nobody counts: passes of such visits are made only if the settings ask for them.
    const RECALLS: bool = true;

    /// Returns the work of one search for a block's best corner, in multiplications or what takes as long. The cache
    /// policy uses it to decide whether known corners are worth more steps.
    fn oracle_work(&self, i: usize) -> f64;

    /// Returns the work of [`recall`](Self::score_active_set), and of a step between known corners, in the same unit.
    fn cached_work(&self, i: usize, at: &Self::Point) -> [f64; 2];

    /// Computes the scores of the corners that the point is a mixture of, without a search for others.
    fn score_active_set(&self, i: usize, at: &Self::Point, w: &[f64], scratch: &mut Self::Scratch);

    /// Finds the worst and the best of the corners that the point is a mixture of, at the scores in the scratch. The best may be a
    /// corner that the point does not have yet, where the scores of all corners are at hand.
    fn extremes(
        &self,
        i: usize,
        at: &Self::Point,
        w: &[f64],
        worst: &mut Self::Corner,
        best: &mut Self::Corner,
        scratch: &mut Self::Scratch,
    );

    /// Returns how much weight can be taken from a corner.
    fn weight(&self, i: usize, at: &Self::Point, corner: &Self::Corner) -> f64;

    /// [`difference`](Blocks::difference) between two corners: prepares `X_i (to − from)`.
    fn between(
        &self,
        i: usize,
        from: &Self::Corner,
        to: &Self::Corner,
        scratch: &mut Self::Scratch,
    ) -> f64;

    /// `at ← at + amount (to − from)`; the point must have that much weight on `from`.
    fn shift(
        &self,
        i: usize,
        amount: f64,
        at: &mut Self::Point,
        from: &Self::Corner,
        to: &Self::Corner,
    );

    /// Updates all scores in the scratch to a w that has moved. If only the block's own last
    /// [`displace`](Blocks::displace) has moved v, and w by as much, `own` is its factor and the difference is still
    /// prepared.
    fn follow(&self, i: usize, w: &[f64], own: Option<f64>, scratch: &mut Self::Scratch);

    /// Restores the feasibility that a point has lost to rounding in many small steps.
    fn tidy(&self, i: usize, at: &mut Self::Point);
}

/// Blocks of which one weight may go without a penalty: an intercept, which the dual then requires to be balanced.
pub trait InterceptBlocks: Blocks<Intercept = FreeIntercept> {
    /// Returns points near these at which `Σ mass_i X_i α_i` is zero in this column up to rounding, as the dual
    /// requires if the weight is not penalised. Returns `None` if an entry of the column is negative.
    fn balanced(
        &self,
        points: &[Self::Point],
        masses: &Masses,
        column: usize,
    ) -> Option<Vec<Self::Point>>;

    /// Returns the best value of one weight with the others fixed.
    fn best_free(&self, w: &[f64], masses: &Masses, column: usize) -> f64;
}
