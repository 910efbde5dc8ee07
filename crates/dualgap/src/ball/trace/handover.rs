//! Ascent in blocks of examples, with a handover to all examples at once when the gap stalls: see `handover_policy.rs`.

use super::ascent::Ascent;
use super::blocks::Blocks;
use super::checkpoint::Resumes;
use super::common::{Looked, Moves, Told};
use super::{LowRankProblem, Map};
use crate::Result;
use crate::ball::handover_policy::HandoverPolicy;
use crate::ball::{Losses, Touched};
use crate::linalg::{Halted, LowRank};

/// Both methods. The second is built at the first handover.
pub(super) struct Handover<S> {
    blocks: Blocks<S>,
    all: Option<Ascent>,
    policy: HandoverPolicy,
}

impl<S> Handover<S> {
    /// Starts with blocks.
    pub fn new(blocks: Blocks<S>) -> Self {
        Self { blocks, all: None, policy: HandoverPolicy::new() }
    }

    /// Returns the ascent on all examples if it is the active method.
    fn second(&mut self) -> Option<&mut Ascent> {
        self.all.as_mut().filter(|_| self.policy.is_second())
    }
}

impl<M: Map, L: Losses> Moves<M, L> for Handover<L::Scratch> {
    fn step(
        &mut self,
        problem: &LowRankProblem<M, L>,
        halted: Halted<'_>,
    ) -> Result<Option<Looked>> {
        let looked = match self.second() {
            Some(all) => all.step(problem, halted)?,
            None => self.blocks.step(problem, halted)?,
        };
        let Some(looked) = looked else { return Ok(None) };
        let map = problem.map();
        self.policy.record_work(match looked {
            Looked::Examples(count) => count as f64 / map.len() as f64,
            Looked::Products(count) => count as f64 / map.products_per_certificate().max(1) as f64,
        });
        Ok(Some(looked))
    }

    fn iterate(&mut self, problem: &LowRankProblem<M, L>) -> Result<LowRank> {
        match self.second() {
            Some(all) => all.iterate(problem),
            None => self.blocks.iterate(problem),
        }
    }

    fn alpha(&self) -> Option<&[f64]> {
        if self.policy.is_second() { None } else { Moves::<M, L>::alpha(&self.blocks) }
    }

    fn describe(&mut self, problem: &LowRankProblem<M, L>, told: Told<'_>) -> Result<()> {
        if !self.policy.is_second() {
            self.blocks.describe(problem, told)?;
        }
        if self.policy.certified(told.gap) && self.policy.is_second() && self.all.is_none() {
            self.all = Some(Ascent::new(problem).beginning_at(problem, told.best.clone()));
        }
        Ok(())
    }

    fn may_stall(&self) -> bool {
        self.policy.may_stall()
    }

    fn touched(&self) -> Option<Touched> {
        let mut both = Moves::<M, L>::touched(&self.blocks)?;
        if let Some(more) = self.all.as_ref().and_then(Moves::<M, L>::touched) {
            both.add(more.entries as usize, more.selected as usize);
        }
        Some(both)
    }

    fn tactics(&self) -> Vec<String> {
        let mut tactics = Moves::<M, L>::tactics(&self.blocks);
        if let Some(all) = &self.all {
            tactics.push(self.policy.describe());
            tactics.extend(Moves::<M, L>::tactics(all));
        }
        tactics
    }
}

impl<M: Map, L: Losses> Resumes<M, L> for Handover<L::Scratch> {
    type State = (
        <Blocks<L::Scratch> as Resumes<M, L>>::State,
        Option<<Ascent as Resumes<M, L>>::State>,
        HandoverPolicy,
    );

    fn state(&self) -> Self::State {
        let all = self.all.as_ref().map(Resumes::<M, L>::state);
        (Resumes::<M, L>::state(&self.blocks), all, self.policy.clone())
    }

    fn resume(
        &mut self,
        problem: &LowRankProblem<M, L>,
        (blocks, all, policy): Self::State,
    ) -> bool {
        if !policy.is_sound(all.is_some()) || !self.blocks.resume(problem, blocks) {
            return false;
        }
        self.policy = policy;
        let Some(place) = all else { return true };
        let all = self.all.insert(Ascent::new(problem));
        all.resume(problem, place)
    }
}
