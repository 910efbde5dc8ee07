//! A step on a block that knows its corners: toward the best corner, away from the worst, or from the worst to the
//! best.

use super::cache_policy::Tally;
use super::{Blocks, Direction, Primal, Problem};
use crate::term::Link;
use crate::{Error, Result};

/// The workspace of one visit in a mini-batch.
pub(super) struct Slot<B: Blocks> {
    pub block: usize,
    /// The corner that the step goes to, and the corner that loses weight.
    pub to: B::Corner,
    pub from: B::Corner,
    /// A buffer for the best of the known corners.
    pub known: B::Corner,
    /// The block's gap, if the sampling uses it.
    pub gap: f64,
    pub scratch: B::Scratch,
}

impl<B: Blocks> Slot<B> {
    pub fn new(blocks: &B) -> Self {
        Self {
            block: 0,
            to: B::Corner::default(),
            from: B::Corner::default(),
            known: B::Corner::default(),
            gap: 0.0,
            scratch: blocks.scratch(),
        }
    }

    /// Finds the worst and the best of the point's corners, by the scores in the scratch.
    pub fn look_over(&mut self, blocks: &B, at: &B::Point, w: &[f64]) {
        let Self { block, from, known, scratch, .. } = self;
        blocks.extremes(*block, at, w, from, known, scratch);
    }
}

/// A step that was taken.
pub(super) struct Taken {
    /// The gap along its direction.
    pub gap: f64,
    /// A lower bound on the rise of the dual.
    pub gain: f64,
    /// The factor with which the difference was added to v.
    pub factor: f64,
}

/// Away steps start only from corners with at most this weight. From a heavier one, the step toward the best corner
/// gains more. A step away from half of the weight at most doubles the other weights, and with them the rounding error
/// of their sum.
const HALF: f64 = 0.5;

/// Further steps at a visit end when the gap falls below this share of the first. A smaller share solves a block more
/// accurately, at weights that the steps of other blocks will change.
const WORTH_A_STEP: f64 = 0.1;

/// What a step needs besides its slot and its point.
pub(super) struct Mover<'e, 'a, B, L> {
    pub problem: &'e Problem<'a, B, L>,
    pub direction: Direction,
    pub primal: &'e mut Primal<L>,
    /// Whether the scores in the scratch belong to the current w, apart from the block's own steps.
    pub fresh: bool,
}

impl<B: Blocks, L: Link> Mover<'_, '_, B, L> {
    /// Takes one step on the slot's block; returns `None` if no step gains anything.
    pub fn step(&mut self, slot: &mut Slot<B>, at: &mut B::Point) -> Result<Option<Taken>> {
        let Self { problem, primal, fresh, .. } = self;
        let Slot { block, to, from, scratch, .. } = slot;
        let (i, blocks) = (*block, problem.blocks);
        // Looked up now and not when the corner was found: a batch may contain the same block twice.
        let weight = match self.direction {
            Direction::Auto | Direction::Toward => 0.0,
            Direction::Away | Direction::Pairwise => blocks.weight(i, at, from),
        };
        let (scale, w) = (problem.scales[i], primal.view(1.0, true).w);
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
            let message = format!("the gap of example {i} is no number");
            return Err(Error::Unsound { message });
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
        if pairwise {
            blocks.shift(i, gamma, at, from, to);
        } else {
            blocks.mix(i, signed, at, if backwards { from } else { to });
            if backwards {
                // An away step may scale small weights up, and the rounding error of their sum with them.
                blocks.tidy(i, at);
            }
        }
        let gain = problem.masses[i] * gamma * (gap - 0.5 * gamma * curvature);
        Ok(Some(Taken { gap, gain, factor: signed * scale }))
    }

    /// Takes up to `depth` further steps between known corners; returns their gain and work.
    pub fn further(
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
            slot.look_over(blocks, at, w);
            std::mem::swap(&mut slot.to, &mut slot.known);
            tally.work += blocks.face_work(i, at)[1];
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
