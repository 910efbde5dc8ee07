//! The steps of the engine: one by one, by one loop over the blocks, in mini-batches, in lanes.

use super::Engine;
use crate::Result;
use crate::dual::lanes::Planned;
use crate::dual::sweep::{Noted, Sweep};
use crate::dual::visit::{Slot, Visit, Visits, find};
use crate::dual::{Blocks, Step};
use crate::linalg::parallel;
use crate::run::{Quota, Work};
use crate::term::Link;

impl<B: Blocks, L: Link> Engine<'_, B, L> {
    /// Finds the corner of the next block and steps on it: a mini-batch of one.
    #[inline]
    fn step_once(&mut self, cached: bool) -> Result<()> {
        let Self { problem, slots, order, primal, points, visits, fetches, .. } = self;
        let slot = &mut slots[0];
        slot.block = if cached { order.next_known() } else { order.next_block() };
        let view = primal.view(1.0, true);
        if let Some(i) = order.upcoming().filter(|_| *fetches) {
            problem.weighed.scales.fetch(i);
            problem.blocks.fetch(i, &points[i]);
        }
        let by_gaps = order.wants_gaps() && !cached;
        find(problem, &*visits, &points[slot.block], view, (cached, by_gaps), slot)?;
        self.visit(0, cached)
    }

    /// Visits the next blocks in one loop, if the blocks and the settings allow it; returns whether they do.
    fn sweep(&mut self, visits: u64) -> Result<bool> {
        let Self { problem, order, primal, points, gained, outlook, .. } = self;
        let plain = self.step == Step::LineSearch && self.averages.is_none();
        let Some(v) = primal.identical().filter(|_| plain && order.goes_in_runs()) else {
            return Ok(false);
        };
        let swept = problem.blocks.sweep(Sweep {
            order,
            points,
            v,
            scales: &problem.weighed.scales,
            masses: &problem.weighed.masses,
            noted: Noted::new(self.counts.then_some(gained), outlook.as_mut()),
            fetches: self.fetches,
            visits: visits as usize,
        })?;
        if swept {
            self.steps += visits;
        }
        Ok(swept)
    }

    /// Finds the corners of a mini-batch, all at the current w, then takes the steps in order.
    fn step_batch(&mut self, size: usize, cached: bool) -> Result<()> {
        let Self { problem, slots, order, primal, points, visits, .. } = self;
        let slots = &mut slots[..size];
        let view = primal.view(1.0, true);
        let by_gaps = order.wants_gaps() && !cached;
        let (problem, visits, points) = (&*problem, &*visits, &*points);
        for slot in &mut *slots {
            slot.block = if cached { order.next_known() } else { order.next_block() };
        }
        if !cached && size > 1 {
            problem.blocks.search_ahead(&mut slots.iter().map(|slot| slot.block), view.w)?;
        }
        let aim = |(): &mut (), _, slot: &mut _| {
            let slot: &mut Slot<B> = slot;
            find(problem, visits, &points[slot.block], view, (cached, by_gaps), slot)
        };
        parallel::map_mut(slots, || (), aim)?;
        (0..size).try_for_each(|place| self.visit(place, cached))
    }

    /// Steps on the block of a slot, after its corners have been found.
    #[inline]
    fn visit(&mut self, place: usize, cached: bool) -> Result<()> {
        let Self { problem, slots, primal, points, averages, visits, gained, .. } = self;
        let slot = &mut slots[place];
        let i = slot.block;
        let visit = Visit {
            problem,
            primal,
            at: &mut points[i],
            averages: averages.as_mut(),
            steps: self.steps,
            step: self.step,
            later: 0,
            // From the second slot on, earlier steps of this batch have moved w.
            fresh: place == 0,
            gained,
            counts: self.counts,
        };
        let outcome = visits.step(visit, slot, cached)?;
        visits.record(&outcome, problem.blocks.len() as u64);
        let moved = outcome.moved;
        primal.publish();
        if cached {
            self.order.passed(i, moved);
        } else {
            self.order.visited(i, moved, slot.gap);
        }
        self.steps += 1;
        if let Some(averages) = &mut self.averages {
            averages.taken(self.steps);
        }
        Ok(())
    }

    /// Makes the next visits in lanes, if there are some; returns how many.
    fn visit_in_lanes(&mut self, most: u64, cached: bool) -> Result<u64> {
        let Self { problem, slots, order, primal, points, visits, gained, .. } = self;
        let Some(lanes) = &mut self.lanes else { return Ok(0) };
        let most = lanes.ahead().min(most) as usize;
        if most == 0 {
            return Ok(0);
        }
        let (mut planned, mut work) = (Vec::with_capacity(most), 0.0);
        while planned.len() < most && !lanes.is_enough(planned.len(), work) {
            let i = if cached { order.next_known() } else { order.next_block() };
            let of_visit = visits.work(problem.blocks, i, &points[i], cached);
            planned.push(Planned::new(i, of_visit, std::mem::take(&mut points[i])));
            work += of_visit;
        }
        let count = planned.len() as u64;
        let done = lanes.run((problem, visits, cached), &mut planned, primal, &mut slots[0]);
        for Planned { block, point, outcome, gain, .. } in planned {
            points[block] = point;
            *gained += gain;
            visits.record(&outcome, problem.blocks.len() as u64);
            if cached {
                order.passed(block, outcome.moved);
            } else {
                order.visited(block, outcome.moved, 0.0);
            }
        }
        self.steps += count;
        done.map(|()| count)
    }

    /// Takes as many steps as the quota allows, and returns how many.
    pub(super) fn advance_in_pool(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let per_call = self.problem.blocks.calls_per_step();
        let mut done = Work::default();
        loop {
            let (cached, of_these) = self.visits.ahead();
            let calls = if cached { 0 } else { per_call };
            if !quota.allows(done, calls) {
                return Ok(done);
            }
            if !cached {
                self.order.ask_again();
            }
            let affordable = match calls {
                0 => u64::MAX,
                calls => (quota.oracle_calls - done.oracle_calls) / calls,
            };
            // No batch crosses the end of a pass: a run may end there, so all batches do.
            let blocks = self.problem.blocks.len() as u64;
            let steps_left_in_pass = blocks - self.steps % blocks;
            let size =
                affordable.min(steps_left_in_pass).min(of_these).min(quota.steps - done.steps);
            let size = size.min(self.order.known_ahead() as u64);
            let size = if self.slots.len() > 1 {
                let size = size.min(self.slots.len() as u64);
                self.step_batch(size as usize, cached)?;
                size
            } else {
                let in_lanes = self.visit_in_lanes(size, cached)?;
                if in_lanes > 0 {
                    done += Work { steps: in_lanes, oracle_calls: in_lanes * calls };
                    continue;
                }
                let most = quota.pause.saturating_sub(done.oracle_calls).div_ceil(calls.max(1));
                let size = size.min(most.max(1)).min(B::STEPS_PER_CHECK);
                if cached || !self.sweep(size)? {
                    (0..size).try_for_each(|_| self.step_once(cached))?;
                }
                if let Some(lanes) = &mut self.lanes {
                    lanes.policy.passed(size);
                }
                size
            };
            done += Work { steps: size, oracle_calls: size * calls };
        }
    }
}
