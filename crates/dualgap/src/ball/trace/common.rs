//! What all methods in the trace ball share: one solver around whatever moves X, with the certificate of the corners of its
//! predictions.

use super::checkpoint::Way;
use super::{LowRankProblem, Map, Proving};
use crate::Result;
use crate::ball::{BestPair, Losses, Solution, Touched};
use crate::linalg::halt::never;
use crate::linalg::{Halted, LowRank};
use crate::run::{Certificate, Certified, Counters, Quota, Solver, Work};

/// A method: it moves an X.
pub(super) trait Moves<M: Map, L: Losses> {
    /// One step; returns what it looked at, or nothing if it was halted on its way: then it has not been taken, and a
    /// method whose runs are kept stands where it stood.
    fn step(
        &mut self,
        problem: &LowRankProblem<M, L>,
        halted: Halted<'_>,
    ) -> Result<Option<Looked>>;

    /// The X to certify, in the ball but for rounding.
    fn iterate(&mut self, problem: &LowRankProblem<M, L>) -> Result<LowRank>;

    /// A dual point of its own, if it has one; the corners of X else.
    fn alpha(&self) -> Option<&[f64]> {
        None
    }

    /// What was just certified.
    fn describe(&mut self, problem: &LowRankProblem<M, L>, told: Told<'_>) -> Result<()> {
        let _ = (problem, told);
        Ok(())
    }

    /// Whether certificates that stand still mean that nothing moves any more.
    fn may_stall(&self) -> bool {
        true
    }

    /// What the steps have touched, where that is counted.
    fn touched(&self) -> Option<Touched> {
        None
    }

    /// What was chosen, for people to read.
    fn tactics(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What a certification has found.
#[derive(Clone, Copy)]
pub(super) struct Told<'s> {
    pub gap: f64,
    /// Whether there has been a better dual point before this one.
    pub fell: bool,
    /// The best X so far.
    pub best: &'s LowRank,
}

/// What a step looked at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Looked {
    /// All of the data, for so many products with a vector.
    Products(u64),
    /// So many examples, for all that a method wants of them.
    Examples(u64),
}

/// The search for singular values is so much more exact than the gap was.
const BEYOND_GAP: f64 = 1e-3;

/// V is summed anew with compensation where the gap is not so many times its rounding.
const BEYOND_ROUNDING: f64 = 30.0;

/// The solver of a method.
pub(super) struct LowRankSolver<'p, M, L, D> {
    pub(super) problem: &'p LowRankProblem<M, L>,
    pub(super) moves: D,
    pub(super) best_pair: BestPair<LowRank>,
    /// How the dual value of the best pair was proved.
    pub(super) way: Way,
    /// That of the best pair.
    pub(super) gap: f64,
    /// The vectors of the last V.
    pub(super) warm: Option<LowRank>,
    /// Products that are not yet counted as work.
    pub(super) owed: u64,
    a: Vec<f64>,
    alpha: Vec<f64>,
}

impl<'p, M: Map, L: Losses, D: Moves<M, L>> LowRankSolver<'p, M, L, D> {
    pub fn new(problem: &'p LowRankProblem<M, L>, moves: D) -> Result<Self> {
        let numbers = vec![0.0; problem.numbers()];
        let best_pair = problem.best_pair()?;
        Ok(Self {
            gap: best_pair.certificate()?.gap(),
            best_pair,
            way: Way::of(&Proving::first()),
            problem,
            moves,
            warm: None,
            owed: 0,
            a: numbers.clone(),
            alpha: numbers,
        })
    }

    /// As many products as a certification costs.
    pub(super) fn products_per_pass(&self) -> u64 {
        self.problem.map().products_per_certificate().max(1)
    }
}

impl<M: Map, L: Losses, D: Moves<M, L>> Solver for LowRankSolver<'_, M, L, D> {
    type Model = Solution<LowRank>;

    fn calls_per_pass(&self) -> u64 {
        self.problem.map().len() as u64
    }

    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let (pass, all) = (self.calls_per_pass(), self.products_per_pass());
        let mut done = Work::default();
        while quota.allows(done, 1) {
            let Some(looked) = self.moves.step(self.problem, quota.halted)? else { break };
            let calls = match looked {
                Looked::Examples(count) => count,
                Looked::Products(products) => {
                    self.owed += products;
                    let calls = (self.owed * pass / all).max(1);
                    self.owed = self.owed.saturating_sub((calls * all).div_ceil(pass));
                    calls
                }
            };
            // What is begun is finished: one step may take more than is left.
            done += Work { steps: 1, oracle_calls: calls };
        }
        Ok(done)
    }

    fn certify(&mut self) -> Result<Certified> {
        self.certify_until(&never)
    }

    fn certify_until(&mut self, halted: Halted<'_>) -> Result<Certified> {
        let x = self.problem.bring_inside(self.moves.iterate(self.problem)?);
        let primal = self.problem.primal_at(&x, &mut self.a)?;
        match self.moves.alpha() {
            Some(alpha) => self.alpha.copy_from_slice(alpha),
            None => self.problem.corners(&self.a, &mut self.alpha),
        }
        // ‖V − R‖_2 is missed by the tolerance times about the threshold, or a few of them.
        let level = self.warm.as_ref().and_then(|v| v.s().first()).copied().unwrap_or(1.0);
        let fine = BEYOND_GAP * self.gap / (self.problem.radius() * level);
        let mut proving = Proving {
            tolerance: fine.clamp(*Proving::TOLERANCES.start(), *Proving::TOLERANCES.end()),
            tight: false,
            rank: x.rank() + 2,
            warm: self.warm.as_ref().or(Some(&x)),
        };
        let mut dual = self.problem.dual_until(&self.alpha, &proving, halted)?;
        if primal.value - dual.value.value < BEYOND_ROUNDING * dual.of_rounding && !halted() {
            (proving.tight, proving.tolerance) = (true, *Proving::TOLERANCES.start());
            dual = self.problem.dual_until(&self.alpha, &proving, halted)?;
        }
        let before = self.best_pair.dual();
        let certified = self.best_pair.certify((primal, &x), (dual.value, &self.alpha))?;
        if halted() {
            // What was found in a hurry is no place to go on from.
            return Ok(certified);
        }
        if self.best_pair.dual() != before {
            self.way = Way::of(&proving);
        }
        self.gap = certified.model.gap();
        self.warm = dual.ball.map(|ball| ball.top.found);
        let fell = certified.iterate.dual < certified.model.dual;
        let told = Told { gap: self.gap, fell, best: &self.best_pair.best().weights };
        self.moves.describe(self.problem, told)?;
        Ok(certified)
    }

    fn proved(&self) -> Option<Result<Certificate>> {
        Some(self.best_pair.certificate())
    }

    fn may_stall(&self) -> bool {
        self.moves.may_stall()
    }

    fn tactics(&self) -> Vec<String> {
        let mut tactics = self.moves.tactics();
        tactics.extend(self.moves.touched().map(Touched::describe));
        tactics
    }

    fn counters(&self) -> Counters {
        self.moves.touched().map(Touched::counters).unwrap_or_default()
    }

    /// They are in factors.
    fn weights(&self) -> &[f64] {
        &[]
    }

    fn into_model(self) -> Solution<LowRank> {
        self.best_pair.into_best()
    }
}
