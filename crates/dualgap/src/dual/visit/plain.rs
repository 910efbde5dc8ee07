//! Visits that call the oracle and step toward what it found.

use super::definition::{Outcome, Slot, Visit, Visits};
use crate::Result;
use crate::dual::cache_policy::{CachePolicy, no_cache};
use crate::dual::{Blocks, Cache, Direction, Settings, View};
use crate::term::Link;

/// Every visit calls the oracle and steps toward the corner or the point that it found.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl<B: Blocks> Visits<B> for Plain {
    const KNOWS_CORNERS: bool = false;

    type Corners = ();

    fn policy(_: u64) -> Option<CachePolicy> {
        None
    }

    fn planned(settings: &Settings, _: Option<CachePolicy>) -> Result<Self> {
        settings.direction(false)?;
        if settings.cache == Cache::On { Err(no_cache()) } else { Ok(Self) }
    }

    fn current_policy(&self) -> Option<&CachePolicy> {
        None
    }

    fn direction(&self) -> Direction {
        Direction::Toward
    }

    fn ahead(&self) -> (bool, u64) {
        (false, u64::MAX)
    }

    fn spares_much(&self) -> bool {
        false
    }

    #[inline]
    fn aim(
        &self,
        blocks: &B,
        at: &B::Point,
        view: &View<'_>,
        _: bool,
        slot: &mut Slot<B>,
    ) -> Result<()> {
        blocks.aim(slot.block, at, view, &mut slot.to, &mut slot.scratch)
    }

    #[inline]
    fn look_over(&self, _: &B, _: &B::Point, _: &[f64], _: bool, _: &mut Slot<B>) {}

    #[inline]
    fn step<L: Link>(
        &self,
        visit: Visit<'_, '_, B, L>,
        slot: &mut Slot<B>,
        _: bool,
    ) -> Result<Outcome> {
        visit.toward(slot).map(Outcome::moved)
    }

    #[inline]
    fn record(&mut self, _: &Outcome, _: u64) {}

    fn tidy(&self, _: &B, _: &mut [B::Point]) {}
}
