//! What a kind of visits has to say, and what a visit works with.

use crate::Result;
use crate::dual::average::Averages;
use crate::dual::cache_policy::{CachePolicy, Tally};
use crate::dual::{Blocks, Direction, Primal, Problem, Settings, Step, View};
use crate::term::Link;

/// The workspace of one visit in a mini-batch.
pub struct Slot<B: Blocks> {
    pub block: usize,
    /// The corner that the step goes to.
    pub to: B::Corner,
    /// Corners that this kind of visit needs besides.
    pub known: <B::Visits as Visits<B>>::Corners,
    /// The block's gap, if the sampling uses it.
    pub gap: f64,
    pub scratch: B::Scratch,
}

impl<B: Blocks> Slot<B> {
    pub fn new(blocks: &B) -> Self {
        Self {
            block: 0,
            to: B::Corner::default(),
            known: <B::Visits as Visits<B>>::Corners::default(),
            gap: 0.0,
            scratch: blocks.scratch(),
        }
    }
}

/// What a visit needs besides its slot.
pub struct Visit<'e, 'a, B: Blocks, L> {
    pub problem: &'e Problem<'a, B, L>,
    pub primal: &'e mut Primal<L>,
    /// The point of the block.
    pub at: &'e mut B::Point,
    pub(in crate::dual) averages: Option<&'e mut Averages<B::Point>>,
    /// k, the number of steps so far.
    pub steps: u64,
    pub step: Step,
    /// How many visits that are not recorded yet come before this one.
    pub later: u64,
    /// Whether the scores in the scratch belong to the current w.
    pub fresh: bool,
    /// The running sum of the dual gains of the steps. Steps toward a point are counted only if `counts` is set.
    pub gained: &'e mut f64,
    pub counts: bool,
}

/// What came of a visit.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Whether the point changed.
    pub moved: bool,
    /// The gain and work of the first step, and of the further ones, if the visits have a cache policy that wants to know.
    pub(in crate::dual) tallies: Option<[Tally; 2]>,
}

impl Outcome {
    pub(in crate::dual) fn moved(moved: bool) -> Self {
        Self { moved, tallies: None }
    }

    /// Forgets what the visit has gained: it is taken back, but its work was done.
    pub(in crate::dual) fn lose(&mut self) {
        self.tallies.iter_mut().flatten().for_each(|tally| tally.gain = 0.0);
    }
}

/// How the engine visits blocks. The module is private, so [`Plain`] and [`ActiveSet`] are all there are.
pub trait Visits<B: Blocks>: Sized + Send + Sync {
    /// Whether blocks know the corners that their points are mixtures of.
    const KNOWS_CORNERS: bool;

    /// The corners that a visit needs besides the target of its step.
    type Corners: Default + Send;

    /// Returns the cache policy at the start of a run over this many blocks, if these visits have one.
    fn policy(blocks: u64) -> Option<CachePolicy>;

    /// Returns the visits that the settings ask for, in the state of this policy; or an error if these blocks do not
    /// support them. The policy is present if [`policy`](Self::policy) returns one.
    fn planned(settings: &Settings, policy: Option<CachePolicy>) -> Result<Self>;

    /// Returns the cache policy in its current state.
    fn current_policy(&self) -> Option<&CachePolicy>;

    /// Returns from which corners to which a step moves weight.
    fn direction(&self) -> Direction;

    /// Returns whether the next visits go without the oracle, and how many of them.
    fn ahead(&self) -> (bool, u64);

    /// Whether the next visits are cached and an oracle pass takes much more work than a cached one.
    fn spares_much(&self) -> bool;

    /// Returns about how many multiplications a visit takes.
    fn work(&self, _blocks: &B, _i: usize, _at: &B::Point, _cached: bool) -> f64 {
        1.0
    }

    /// Finds the target of a step, or only the scores of known corners if the visit is `cached`.
    fn aim(
        &self,
        blocks: &B,
        at: &B::Point,
        view: &View<'_>,
        cached: bool,
        slot: &mut Slot<B>,
    ) -> Result<()>;

    /// Finds the known corners that the visit needs, by the scores in the scratch.
    fn look_over(&self, blocks: &B, at: &B::Point, w: &[f64], cached: bool, slot: &mut Slot<B>);

    /// Steps on the block of the slot.
    fn step<L: Link>(
        &self,
        visit: Visit<'_, '_, B, L>,
        slot: &mut Slot<B>,
        cached: bool,
    ) -> Result<Outcome>;

    /// Records what came of a visit, one of so many blocks.
    fn record(&mut self, outcome: &Outcome, blocks: u64);

    /// Restores the feasibility that points have lost to rounding, if steps take weight from corners.
    fn tidy(&self, blocks: &B, points: &mut [B::Point]);
}

/// Finds the corners that a visit needs, and the gap of its block if the order uses it.
#[inline]
pub(in crate::dual) fn find<B: Blocks, L: Link>(
    problem: &Problem<'_, B, L>,
    visits: &B::Visits,
    at: &B::Point,
    view: View<'_>,
    (cached, by_gaps): (bool, bool),
    slot: &mut Slot<B>,
) -> Result<()> {
    let blocks = problem.blocks;
    let view = View { scale: problem.weighed.scales.of(slot.block), ..view };
    visits.aim(blocks, at, &view, cached, slot)?;
    if by_gaps {
        let gap = blocks.gap(slot.block, at, view.w, &slot.to, &mut slot.scratch);
        slot.gap = problem.weighed.masses.of(slot.block) * gap;
    }
    visits.look_over(blocks, at, view.w, cached, slot);
    Ok(())
}
