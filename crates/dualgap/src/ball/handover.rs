//! Ascent on the dual, with a handover to gradients of all examples when the gap stalls.
//!
//! Ascent example by example is fast, but each step is about one example: where a few rows are far longer than the
//! others, or all rows are long compared with the weights that the ball allows, it can need very many steps. Gradients
//! of all examples do not have this problem. When the gap of the active method stalls, the other one takes over; the
//! patience doubles each time both have run, so a run never takes much longer than the faster method alone would.

use super::problem::Design;
use super::solver::{Looked, Moves, Resumes, Told};
use super::{BallProblem, Losses, Touched};
use crate::Result;
use crate::linalg::Halted;
use serde::{Deserialize, Serialize};

/// A method that can take over.
pub(super) trait TakesOver<M: Design, L: Losses>: Resumes<M, L> + Sized {
    /// Starts from an X in the ball, or from zero.
    fn begin(problem: &BallProblem<M, L>, x: Option<&M::Weights>) -> Result<Self>;
}

/// Both methods. The second is built at the first handover.
pub(super) struct Handover<A, B> {
    first: A,
    second: Option<B>,
    policy: HandoverPolicy,
}

impl<A, B> Handover<A, B> {
    /// Starts with the first method.
    pub fn new(first: A) -> Self {
        Self { first, second: None, policy: HandoverPolicy::new() }
    }

    /// Returns the second method if it is the active one.
    fn active_second(&mut self) -> Option<&mut B> {
        self.second.as_mut().filter(|_| self.policy.is_second())
    }
}

impl<M: Design, L: Losses, A: Resumes<M, L>, B: TakesOver<M, L>> Moves<M, L> for Handover<A, B> {
    fn step(&mut self, problem: &BallProblem<M, L>, halted: Halted<'_>) -> Result<Option<Looked>> {
        let looked = match self.active_second() {
            Some(second) => second.step(problem, halted)?,
            None => self.first.step(problem, halted)?,
        };
        match looked {
            Some(Looked::Examples(count)) => {
                self.policy.record_work(count as f64 / problem.len() as f64);
            }
            Some(Looked::Products(count)) => {
                self.policy.record_work(count as f64 / problem.map().products_per_pass() as f64);
            }
            Some(Looked::Calls(_)) | None => {}
        }
        Ok(looked)
    }

    fn record_calls(&mut self, problem: &BallProblem<M, L>, calls: u64) {
        match self.active_second() {
            Some(second) => second.record_calls(problem, calls),
            None => self.first.record_calls(problem, calls),
        }
        self.policy.record_work(calls as f64 / problem.len() as f64);
    }

    fn iterate(
        &mut self,
        problem: &BallProblem<M, L>,
        dual: Option<&M::Dual>,
    ) -> Result<M::Weights> {
        match self.active_second() {
            Some(second) => second.iterate(problem, dual),
            None => self.first.iterate(problem, dual),
        }
    }

    fn alpha(&self) -> Option<&[f64]> {
        match &self.second {
            Some(second) if self.policy.is_second() => second.alpha(),
            _ => self.first.alpha(),
        }
    }

    fn certified(&mut self, problem: &BallProblem<M, L>, told: Told<'_, M>) -> Result<()> {
        let (gap, best) = (told.gap, told.best);
        match self.active_second() {
            Some(second) => second.certified(problem, told)?,
            None => self.first.certified(problem, told)?,
        }
        // Without features there is no gradient to hand over to.
        let (rows, columns) = problem.map().shape();
        let handed = rows > 0 && columns > 0 && self.policy.certified(gap);
        if handed && self.policy.is_second() && self.second.is_none() {
            self.second = Some(B::begin(problem, Some(best.0))?);
        }
        Ok(())
    }

    fn may_stall(&self) -> bool {
        self.policy.may_stall()
    }

    fn touched(&self) -> Option<Touched> {
        let mut both = self.first.touched()?;
        if let Some(more) = self.second.as_ref().and_then(B::touched) {
            both.add(more.entries as usize, more.selected as usize);
        }
        Some(both)
    }

    fn tactics(&self) -> Vec<String> {
        let mut tactics = self.first.tactics();
        if let Some(second) = &self.second {
            tactics.push(self.policy.describe());
            tactics.extend(second.tactics());
        }
        tactics
    }
}

impl<M: Design, L: Losses, A: Resumes<M, L>, B: TakesOver<M, L>> Resumes<M, L> for Handover<A, B> {
    type State = (A::State, Option<B::State>, HandoverPolicy);

    fn state(&self) -> Self::State {
        (self.first.state(), self.second.as_ref().map(B::state), self.policy.clone())
    }

    fn resume(
        &mut self,
        problem: &BallProblem<M, L>,
        (first, second, policy): Self::State,
    ) -> Result<bool> {
        if !policy.is_sound(second.is_some()) || !self.first.resume(problem, first)? {
            return Ok(false);
        }
        self.policy = policy;
        match second {
            Some(place) => self.second.insert(B::begin(problem, None)?).resume(problem, place),
            None => Ok(true),
        }
    }
}

/// The initial patience: the number of passes over which the gap has to fall by the factor [`ENOUGH`]. A smaller one
/// switches while the ascent still converges; a larger one wastes passes where it does not.
const FIRST: f64 = 24.0;

/// The gap stalls if, after as many passes as the patience, it is still above this share of what it was.
const ENOUGH: f64 = 0.25;

/// Which method is active, and how its gap has fallen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct HandoverPolicy {
    second: bool,
    passes: f64,
    /// The certified gap at the time when `passes` was last reset.
    gap: f64,
    patience: f64,
    handed: u32,
    /// Consecutive periods of patience in which the gap did not fall at all.
    still: u32,
}

impl HandoverPolicy {
    /// Starts with the first method.
    pub fn new() -> Self {
        Self {
            second: false,
            passes: 0.0,
            gap: f64::INFINITY,
            patience: FIRST,
            handed: 0,
            still: 0,
        }
    }

    /// Whether the second method is active.
    pub fn is_second(&self) -> bool {
        self.second
    }

    /// Whether there has been a handover, so that both methods have run.
    pub fn is_shared(&self) -> bool {
        self.handed > 0
    }

    /// Whether the run may stop because its certificates no longer improve: only after both methods have tried.
    pub fn may_stall(&self) -> bool {
        self.still >= 2
    }

    /// Records work of the active method.
    pub fn record_work(&mut self, passes: f64) {
        self.passes += passes;
    }

    /// Records a certified gap; returns whether the active method hands over to the other.
    pub fn certified(&mut self, gap: f64) -> bool {
        if self.gap.is_finite() && self.passes < self.patience {
            return false;
        }
        let slow = gap > ENOUGH * self.gap;
        self.still = if gap < self.gap { 0 } else { self.still.saturating_add(1) };
        (self.passes, self.gap) = (0.0, gap);
        if slow {
            (self.second, self.handed) = (!self.second, self.handed.saturating_add(1));
            self.patience *= if self.second { 1.0 } else { 2.0 };
        }
        slow
    }

    /// Whether a policy from a checkpoint is valid for a run in which the second method exists, or does not.
    pub fn is_sound(&self, has_second: bool) -> bool {
        self.passes >= 0.0
            && !self.gap.is_nan()
            && self.patience >= FIRST
            && self.is_shared() == has_second
            && (has_second || !self.second)
    }

    /// A sentence for the report.
    pub fn describe(&self) -> String {
        format!("handed over to gradients of all examples, or back, {} times", self.handed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_gets_on_keeps_its_turn_and_who_does_not_hands_over() {
        let mut policy = HandoverPolicy::new();
        assert!(!policy.certified(1.0), "nothing to compare with");
        policy.record_work(FIRST - 1.0);
        assert!(!policy.certified(1.0), "too early");
        policy.record_work(1.0);
        assert!(!policy.certified(ENOUGH) && !policy.is_shared());
        policy.record_work(FIRST);
        assert!(policy.certified(0.9 * ENOUGH) && policy.is_second());
        policy.record_work(FIRST);
        assert!(policy.certified(0.8 * ENOUGH) && !policy.is_second(), "back again");
        policy.record_work(FIRST);
        assert!(!policy.certified(0.8 * ENOUGH), "now it has twice as long");
        policy.record_work(FIRST);
        assert!(policy.certified(0.8 * ENOUGH) && policy.is_second() && !policy.may_stall());
        policy.record_work(2.0 * FIRST);
        assert!(
            policy.certified(0.8 * ENOUGH) && policy.may_stall(),
            "neither of them has moved it"
        );
        policy.record_work(4.0 * FIRST);
        assert!(policy.certified(0.7 * ENOUGH) && !policy.may_stall());
        assert!(
            policy.is_sound(true)
                && !policy.is_sound(false)
                && HandoverPolicy::new().is_sound(false)
        );
    }
}
