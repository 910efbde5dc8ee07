//! Lanes: runs of visits that several threads make at the same time.
//!
//! ```text
//! round    the next blocks, so many for each lane
//! lane     visits its blocks one after the other, at the v of the round's beginning and its own changes
//! end      v ← v + changes of the first lane
//!          for each other lane:  kept if it still gains something beside those before it,
//!                                otherwise taken back, its points too
//! ```
//!
//! A lane l with changes Δ_l gains g_l at the v of the beginning, and g_l − λ⟨Δ_l, Δ⟩ after changes Δ of others. So one product
//! decides whether the lane is kept, and the dual never falls. A step takes account of all visits before it in its own lane, and of
//! none in the other lanes of the round. Where lanes lose much of their gains by that, they become shorter (`policy`).
//!
//! Every thread has a copy of v, in which it makes the changes of all lanes in their order. So the copies are equal bit for bit
//! after every round, and the result does not depend on the number of threads: one thread visits one lane after the other, and
//! takes its changes back in between.
//!
//! Threads meet every hundred microseconds or so. Where the cores have other work too, each meeting waits for the scheduler. When
//! the threads have waited for half of their time, the first one makes the next series alone; the result is the same.

mod policy;
#[cfg(test)]
mod tests;

pub use policy::LanePolicy;

use super::journal::Journal;
use super::visit::{Outcome, Slot, Visit, Visits, find};
use super::{Blocks, Primal, Problem, Step};
use crate::linalg::parallel;
use crate::linalg::together::{Gate, together};
use crate::term::Link;
use crate::{Error, Result};
use std::sync::{PoisonError, RwLock};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// The number of lanes. It is a number of the method, not of the machine.
pub const LANES: usize = 2;

/// The most series that one thread makes before another joins it again.
const MOST_ALONE: u32 = 256;

/// What lanes need besides the engine.
pub struct Lanes<B: Blocks, L> {
    pub policy: LanePolicy,
    /// The multiplications of a visit, if the blocks say how many a pass takes.
    work: Option<f64>,
    /// How threads are started.
    builder: fn() -> Builder,
    /// What every thread but the first has of its own.
    others: Vec<(Primal<L>, Slot<B>)>,
    /// The changes of every lane, for rounds of even and of odd number: while some still read those of a round, others are in
    /// the next one.
    changes: [Vec<RwLock<Change>>; 2],
    /// The series that one thread makes before another joins it again, and how many they will be when that was in vain.
    alone: u32,
    next_alone: u32,
}

/// The changes of a lane in one round.
struct Change {
    journal: Journal,
    /// `⟨v, Δ⟩` at the v of the beginning.
    product: f64,
    gain: f64,
}

/// A visit of a series, which has the block's point meanwhile.
pub struct Planned<P> {
    pub block: usize,
    /// An estimate of the multiplications.
    work: f64,
    pub point: P,
    /// The point before the visit, if the lane may be taken back.
    before: Option<P>,
    pub outcome: Outcome,
    pub gain: f64,
}

impl<P> Planned<P> {
    pub fn new(block: usize, work: f64, point: P) -> Self {
        Self { block, work, point, before: None, outcome: Outcome::default(), gain: 0.0 }
    }
}

/// What all threads know of a series.
struct Series<'e, 'a, B: Blocks, L> {
    problem: &'e Problem<'a, B, L>,
    visits: &'e B::Visits,
    cached: bool,
    /// Whether several threads share the lanes.
    shared: bool,
}

/// A lane of a round.
struct Lane<'e, P> {
    number: usize,
    /// The place of its first visit in the series.
    first: usize,
    visits: &'e mut [Planned<P>],
}

/// A thread, its copy of v and its lanes.
struct Worker<'e, B: Blocks, L> {
    primal: &'e mut Primal<L>,
    slot: &'e mut Slot<B>,
    /// Its lanes of every round.
    rounds: Vec<Vec<Lane<'e, B::Point>>>,
    /// The first visit that failed.
    failure: Option<(usize, Error)>,
    gained: f64,
    lost: f64,
    waited: Duration,
}

impl<B: Blocks, L: Link> Lanes<B, L> {
    /// Returns lanes in this state.
    pub fn new(blocks: &B, policy: LanePolicy) -> Self {
        let change = || Change { journal: Journal::new(blocks.dim()), product: 0.0, gain: 0.0 };
        let of_round = || (0..LANES).map(|_| RwLock::new(change())).collect();
        let work = blocks.workload().pass.map(|work| (work / blocks.len() as f64).max(1.0));
        Self {
            policy,
            work,
            builder: Builder::new,
            others: Vec::new(),
            changes: [of_round(), of_round()],
            alone: 0,
            next_alone: 1,
        }
    }

    /// Has the first thread make the next series alone.
    #[cfg(test)]
    pub fn set_alone(&mut self, series: u32) {
        self.alone = series;
    }

    /// Has no other thread start.
    #[cfg(test)]
    pub fn refuse_threads(&mut self) {
        self.builder = || Builder::new().stack_size(1 << 60);
    }

    /// Returns how many of the next visits go in lanes at most.
    pub fn ahead(&self) -> u64 {
        self.policy.ahead(LANES as u64, self.work)
    }

    /// Whether a series ends after so many visits with this work. Where the blocks do not say how many multiplications a pass takes,
    /// what each visit takes is known once it is planned.
    pub fn is_enough(&self, visits: usize, work: f64) -> bool {
        self.work.is_none()
            && visits.is_multiple_of(LANES * self.policy.length())
            && work > policy::WORK
    }

    /// Makes these visits.
    pub fn run(
        &mut self,
        (problem, visits, cached): (&Problem<'_, B, L>, &B::Visits, bool),
        planned: &mut [Planned<B::Point>],
        primal: &mut Primal<L>,
        slot: &mut Slot<B>,
    ) -> Result<()> {
        let (blocks, length) = (problem.blocks, self.policy.length());
        let threads = if self.alone > 0 { 1 } else { parallel::threads().min(LANES) };
        self.alone = self.alone.saturating_sub(1);
        let series = Series { problem, visits, cached, shared: threads > 1 };
        while self.others.len() + 1 < threads {
            let own = Primal::new(&problem.link, vec![0.0; blocks.dim()]);
            self.others.push((own, Slot::new(blocks)));
        }
        let others = &mut self.others[..threads - 1];
        primal.equal(others.iter_mut().map(|(own, _)| own));
        let others = others.iter_mut().map(|(primal, slot)| (primal, slot));
        let mut workers: Vec<Worker<'_, B, L>> = std::iter::once((&mut *primal, &mut *slot))
            .chain(others)
            .map(|(primal, slot)| Worker {
                primal,
                slot,
                rounds: Vec::new(),
                failure: None,
                gained: 0.0,
                lost: 0.0,
                waited: Duration::ZERO,
            })
            .collect();
        let mut first = 0;
        for mut round in planned.chunks_mut(LANES * length) {
            workers.iter_mut().for_each(|worker| worker.rounds.push(Vec::new()));
            let work: f64 = round.iter().map(|planned| planned.work).sum();
            for lane in 0..LANES {
                let count = count_for(round, work / LANES as f64);
                let count = if lane + 1 == LANES { round.len() } else { count };
                let (visits, rest) = round.split_at_mut(count);
                round = rest;
                if let Some(lanes) = workers[lane % threads].rounds.last_mut() {
                    lanes.push(Lane { number: lane, first, visits });
                }
                first += count;
            }
        }
        let (changes, begin) = (&self.changes, Instant::now());
        let work = |worker: &mut Worker<'_, B, L>, gate: &Gate| worker.run(&series, changes, gate);
        if together(self.builder, &mut workers, &work).is_err() {
            // There are no more threads for now, and of two lanes none has begun: one thread makes the same visits.
            drop(workers);
            self.alone = MOST_ALONE;
            return self.run((problem, visits, cached), planned, primal, slot);
        }
        let failed = workers.iter_mut().filter_map(|worker| worker.failure.take());
        if let Some((_, error)) = failed.min_by_key(|&(visit, _)| visit) {
            return Err(error);
        }
        if threads > 1 {
            workers.iter_mut().for_each(|worker| worker.primal.is_equal());
            let waited: Duration = workers.iter().map(|worker| worker.waited).sum();
            let in_vain = waited > begin.elapsed() * threads as u32 / 2;
            self.alone = if in_vain { self.next_alone } else { 0 };
            self.next_alone = if in_vain { (2 * self.next_alone).min(MOST_ALONE) } else { 1 };
        }
        let Worker { gained, lost, .. } = workers[0];
        self.policy.learn(gained, lost, blocks.len() as u64);
        Ok(())
    }
}

/// Returns how many of these visits have this much work.
fn count_for<P>(planned: &[Planned<P>], work: f64) -> usize {
    let mut left = work;
    let fits = |planned: &&Planned<P>| {
        left -= planned.work;
        left + 0.5 * planned.work > 0.0
    };
    planned.iter().take_while(fits).count()
}

impl<B: Blocks, L: Link> Worker<'_, B, L> {
    fn run(
        &mut self,
        series: &Series<'_, '_, B, L>,
        changes: &[Vec<RwLock<Change>>; 2],
        gate: &Gate,
    ) {
        for (round, mut lanes) in std::mem::take(&mut self.rounds).into_iter().enumerate() {
            let changes = &changes[round % 2];
            let failed = self.failure.is_some();
            // Backwards: the changes of the first lane stay in v. So its failure, which comes before that of another lane in the order
            // of the visits, replaces it.
            for lane in lanes.iter_mut().rev() {
                // Nobody else has the changes of this lane, so the lock is free; and after a panic they are of no use.
                let mut change =
                    changes[lane.number].write().unwrap_or_else(PoisonError::into_inner);
                self.visit(series, lane, &mut change, failed);
            }
            let begin = Instant::now();
            if !gate.meet() {
                return;
            }
            self.waited += begin.elapsed();
            for (number, change) in changes.iter().enumerate() {
                let change = change.read().unwrap_or_else(PoisonError::into_inner);
                let mut own = lanes.iter_mut().filter(|lane| lane.number == number);
                let own = own.next();
                let lost = self.keep(series.problem.lambda, number, &change, own.is_some());
                match (own, lost) {
                    (Some(lane), None) => lane.visits.iter_mut().for_each(Planned::take_back),
                    (Some(lane), Some(lost)) => {
                        // The gain of the lane as a whole is known, and not what of it each visit has lost.
                        if let Some(first) = lane.visits.first_mut() {
                            first.gain -= lost;
                        }
                    }
                    (None, _) => {}
                }
            }
        }
    }

    /// Visits the blocks of a lane, unless a round before has failed. Its changes go from v into `change`; those of the first lane
    /// stay in v as well.
    fn visit(
        &mut self,
        series: &Series<'_, '_, B, L>,
        lane: &mut Lane<'_, B::Point>,
        change: &mut Change,
        failed: bool,
    ) {
        change.gain = 0.0;
        let notes = lane.number > 0 || series.shared;
        if notes {
            change.journal.begin(self.primal.v());
            self.primal.keep(Some(std::mem::take(&mut change.journal)));
        }
        if !failed {
            let may_be_taken_back = lane.number > 0;
            for (planned, later) in lane.visits.iter_mut().zip(lane.first..) {
                if may_be_taken_back {
                    planned.before = Some(planned.point.clone());
                }
                if let Err(error) = self.step(series, planned, later) {
                    self.failure = Some((later, error));
                    break;
                }
                change.gain += planned.gain;
            }
        }
        if notes {
            change.journal = self.primal.keep(None).unwrap_or_default();
        }
        match self.primal.identical() {
            Some(v) if lane.number > 0 => change.product = change.journal.take_back(v),
            Some(v) if notes => change.journal.end(v),
            _ => {}
        }
    }

    /// Visits a block.
    fn step(
        &mut self,
        series: &Series<'_, '_, B, L>,
        planned: &mut Planned<B::Point>,
        later: usize,
    ) -> Result<()> {
        let &Series { problem, visits, cached, .. } = series;
        self.slot.block = planned.block;
        let view = self.primal.view(1.0, true);
        find(problem, visits, &planned.point, view, (cached, false), self.slot)?;
        let visit = Visit {
            problem,
            primal: &mut *self.primal,
            at: &mut planned.point,
            averages: None,
            steps: 0,
            step: Step::LineSearch,
            later: later as u64,
            fresh: true,
            gained: &mut planned.gain,
            counts: true,
        };
        planned.outcome = visits.step(visit, self.slot, cached)?;
        Ok(())
    }

    /// Makes the changes of a lane, unless it loses more to those before it than it gains. Returns what it loses, or `None` if its
    /// changes were not made.
    fn keep(&mut self, lambda: f64, number: usize, change: &Change, own: bool) -> Option<f64> {
        let v = self.primal.identical()?;
        self.gained += change.gain;
        if number == 0 {
            if !own {
                change.journal.copy_to(v);
            }
            return Some(0.0);
        }
        let lost = lambda * (change.journal.dot(v) - change.product);
        self.lost += lost;
        let keeps = lost <= change.gain;
        if keeps {
            change.journal.repeat(v);
        }
        keeps.then_some(lost)
    }
}

impl<P> Planned<P> {
    /// Undoes the visit. Its block has moved and would move again.
    fn take_back(&mut self) {
        if let Some(before) = self.before.take() {
            self.point = before;
        }
        self.gain = 0.0;
        self.outcome.lose();
    }
}
