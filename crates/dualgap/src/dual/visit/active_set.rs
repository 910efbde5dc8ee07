//! Visits to blocks that know their corners: steps toward the best corner, away from the worst, or from the worst to the
//! best, with the oracle or without.

use super::definition::{Outcome, Slot, Visit, Visits};
use super::toward::no_number;
use crate::Result;
use crate::dual::cache_policy::{CachePolicy, Tally, Use, no_cache};
use crate::dual::{ActiveSetBlocks, Cache, Direction, Primal, Problem, Settings, Step, View};
use crate::linalg::parallel;
use crate::term::Link;

/// A visit may step away from a known corner or between two of them, and without the oracle as long as that pays.
#[derive(Clone, Debug)]
pub struct ActiveSet {
    direction: Direction,
    cache: Use,
    policy: CachePolicy,
}

/// Two of the corners that a point is a mixture of.
#[derive(Debug, Default)]
pub struct KnownCorners<C> {
    /// The worst, which loses weight.
    from: C,
    /// A buffer for the best.
    best: C,
}

impl ActiveSet {
    /// Whether a step may take weight from a single corner.
    fn leaves(&self) -> bool {
        self.direction != Direction::Toward
    }
}

impl<B: ActiveSetBlocks> Visits<B> for ActiveSet {
    const KNOWS_CORNERS: bool = true;

    type Corners = KnownCorners<B::Corner>;

    fn policy(blocks: u64) -> Option<CachePolicy> {
        Some(CachePolicy::new(blocks))
    }

    fn planned(settings: &Settings, policy: Option<CachePolicy>) -> Result<Self> {
        let direction = settings.direction(true)?;
        let cache = match settings.cache {
            Cache::On if settings.step == Step::Predefined => return Err(no_cache()),
            Cache::On => Use::Once,
            Cache::Auto if direction == Direction::Toward => Use::Never,
            Cache::Auto if B::RECALLS => Use::Paying,
            Cache::Auto => Use::AtVisits,
            Cache::Off => Use::Never,
        };
        let policy = policy.ok_or_else(no_cache)?;
        Ok(Self { direction, cache, policy })
    }

    fn current_policy(&self) -> Option<&CachePolicy> {
        Some(&self.policy)
    }

    fn direction(&self) -> Direction {
        self.direction
    }

    fn ahead(&self) -> (bool, u64) {
        match self.cache {
            Use::Never => (false, u64::MAX),
            Use::AtVisits => (false, self.policy.ahead().1),
            Use::Paying | Use::Once => self.policy.ahead(),
        }
    }

    fn spares_much(&self) -> bool {
        self.cache != Use::Never && self.policy.spares_much()
    }

    fn work(&self, blocks: &B, i: usize, at: &B::Point, cached: bool) -> f64 {
        let [again, known] = blocks.cached_work(i, at);
        known + if cached { again } else { blocks.oracle_work(i) }
    }

    fn aim(
        &self,
        blocks: &B,
        at: &B::Point,
        view: &View<'_>,
        cached: bool,
        slot: &mut Slot<B>,
    ) -> Result<()> {
        if cached {
            blocks.score_active_set(slot.block, at, view.w, &mut slot.scratch);
            return Ok(());
        }
        blocks.aim(slot.block, at, view, &mut slot.to, &mut slot.scratch)
    }

    fn look_over(&self, blocks: &B, at: &B::Point, w: &[f64], cached: bool, slot: &mut Slot<B>) {
        if cached || self.leaves() {
            find_extremes(blocks, at, w, slot);
        }
        if cached {
            std::mem::swap(&mut slot.to, &mut slot.known.best);
        }
    }

    fn step<L: Link>(
        &self,
        visit: Visit<'_, '_, B, L>,
        slot: &mut Slot<B>,
        cached: bool,
    ) -> Result<Outcome> {
        if !self.leaves() && self.cache == Use::Never {
            return visit.toward(slot).map(Outcome::moved);
        }
        let Visit { problem, primal, at, averages, steps, later, fresh, gained, .. } = visit;
        let blocks = problem.blocks;
        if let Some(averages) = averages {
            averages.cover(blocks, slot.block, steps, at);
        }
        let mut mover = Mover { problem, direction: self.direction, primal, fresh };
        if self.cache == Use::Never {
            let taken = mover.step(slot, at)?;
            *gained += taken.as_ref().map_or(0.0, |taken| taken.gain);
            return Ok(Outcome::moved(taken.is_some()));
        }
        let mut first = Tally { gain: 0.0, work: self.work(blocks, slot.block, at, cached) };
        let mut further = Tally::default();
        let taken = mover.step(slot, at)?;
        let moved = taken.is_some();
        if let Some(taken) = taken {
            first.gain = taken.gain;
            further = mover.further(slot, at, self.policy.depth(later), taken)?;
        }
        *gained += first.gain + further.gain;
        Ok(Outcome { moved, tallies: Some([first, further]) })
    }

    fn record(&mut self, outcome: &Outcome, blocks: u64) {
        if let Some([first, further]) = outcome.tallies {
            self.policy.visited(first, further, blocks, self.cache);
        }
    }

    fn tidy(&self, blocks: &B, points: &mut [B::Point]) {
        if self.leaves() {
            let tidy = |(): &mut (), i: usize, at: &mut B::Point| {
                blocks.tidy(i, at);
                Ok(())
            };
            // The closure never returns an error.
            let _ = parallel::map_mut(points, || (), tidy);
        }
    }
}

/// Finds the worst and the best of the point's corners, by the scores in the scratch.
fn find_extremes<B: ActiveSetBlocks>(blocks: &B, at: &B::Point, w: &[f64], slot: &mut Slot<B>) {
    let Slot { block, known, scratch, .. } = slot;
    blocks.extremes(*block, at, w, &mut known.from, &mut known.best, scratch);
}

/// A step that was taken.
struct Taken {
    /// The gap along its direction.
    gap: f64,
    /// A lower bound on the rise of the dual.
    gain: f64,
    /// The factor with which the difference was added to v.
    factor: f64,
}

/// Away steps start only from corners with at most this weight. From a heavier one, the step toward the best corner
/// gains more. A step away from half of the weight at most doubles the other weights, and with them the rounding error
/// of their sum.
const HALF: f64 = 0.5;

/// Further steps at a visit end when the gap falls below this share of the first. A smaller share solves a block more
/// accurately, at weights that the steps of other blocks will change.
const WORTH_A_STEP: f64 = 0.1;

/// What a step between known corners needs besides its slot and its point.
struct Mover<'e, 'a, B, L> {
    problem: &'e Problem<'a, B, L>,
    direction: Direction,
    primal: &'e mut Primal<L>,
    /// Whether the scores in the scratch belong to the current w, apart from the block's own steps.
    fresh: bool,
}

impl<B: ActiveSetBlocks, L: Link> Mover<'_, '_, B, L> {
    /// Takes one step on the slot's block; returns `None` if no step gains anything.
    fn step(&mut self, slot: &mut Slot<B>, at: &mut B::Point) -> Result<Option<Taken>> {
        let Self { problem, primal, fresh, .. } = self;
        let Slot { block, to, known: KnownCorners { from, .. }, scratch, .. } = slot;
        let (i, blocks) = (*block, problem.blocks);
        // Looked up now and not when the corner was found: a batch may contain the same block twice.
        let weight = match self.direction {
            Direction::Auto | Direction::Toward => 0.0,
            Direction::Away | Direction::Pairwise => blocks.weight(i, at, from),
        };
        let (scale, w) = (problem.weighed.scales.of(i), primal.view(1.0, true).w);
        let pairwise = self.direction == Direction::Pairwise;
        let gap_toward = |corner: Option<&B::Corner>, scratch: &mut B::Scratch| {
            let rise = match corner {
                Some(corner) => blocks.difference(i, at, corner, scratch),
                None => blocks.between(i, from, to, scratch),
            };
            if !*fresh {
                blocks.rescore(i, w, scratch);
            }
            rise - blocks.slope(i, w, scratch)
        };
        let mut backwards = false;
        let gap = match self.direction {
            Direction::Pairwise => gap_toward(None, scratch),
            Direction::Away if weight <= HALF => {
                let away = -gap_toward(Some(from), scratch);
                let toward = gap_toward(Some(to), scratch);
                backwards = away > toward;
                if backwards { -gap_toward(Some(from), scratch) } else { toward }
            }
            Direction::Auto | Direction::Toward | Direction::Away => gap_toward(Some(to), scratch),
        };
        if gap.is_nan() {
            return Err(no_number(i));
        }
        let most = match (pairwise, backwards) {
            (true, _) => weight,
            (false, true) => weight / (1.0 - weight),
            (false, false) => 1.0,
        };
        if gap <= 0.0 || most <= 0.0 {
            return Ok(None);
        }
        let curvature = scale * blocks.curvature(i, scratch);
        let gamma = if curvature > 0.0 { (gap / curvature).min(most) } else { most };
        let signed = if backwards { -gamma } else { gamma };
        blocks.displace(i, signed * scale, *primal, scratch);
        primal.settle();
        if !*fresh {
            // The next step at this visit reads its scores anew.
            primal.publish();
        }
        if pairwise {
            blocks.shift(i, gamma, at, from, to);
        } else {
            blocks.mix(i, signed, at, if backwards { from } else { to });
            if backwards {
                // An away step may scale small weights up, and the rounding error of their sum with them.
                blocks.tidy(i, at);
            }
        }
        let gain = problem.weighed.masses.of(i) * gamma * (gap - 0.5 * gamma * curvature);
        Ok(Some(Taken { gap, gain, factor: signed * scale }))
    }

    /// Takes up to `depth` further steps between known corners; returns their gain and work.
    fn further(
        &mut self,
        slot: &mut Slot<B>,
        at: &mut B::Point,
        depth: u32,
        mut last: Taken,
    ) -> Result<Tally> {
        let (i, blocks, first) = (slot.block, self.problem.blocks, last.gap);
        let mut tally = Tally::default();
        for _ in 0..depth {
            let w = self.primal.view(1.0, true).w;
            let own = L::IDENTITY.then_some(last.factor);
            blocks.follow(i, w, own, &mut slot.scratch);
            find_extremes(blocks, at, w, slot);
            std::mem::swap(&mut slot.to, &mut slot.known.best);
            tally.work += blocks.cached_work(i, at)[1];
            let Some(taken) = self.step(slot, at)? else { break };
            tally.gain += taken.gain;
            if taken.gap < WORTH_A_STEP * first {
                break;
            }
            last = taken;
        }
        Ok(tally)
    }
}
