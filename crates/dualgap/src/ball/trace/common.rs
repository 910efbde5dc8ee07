//! The common part of all methods in the trace ball: one solver around each method, which certifies X with the method's
//! own dual point, or with the corners of its predictions.

use super::checkpoint::Way;
use super::{LowRankProblem, Map, Proving};
use crate::Result;
use crate::ball::{BestPair, Losses, Solution, Touched};
use crate::linalg::halt::never;
use crate::linalg::{Halted, LowRank};
use crate::run::{Certificate, Certified, Counters, Quota, Solver, Work};

/// A method that moves X.
pub(super) trait Moves<M: Map, L: Losses> {
    /// Takes one step; returns its work, or none if it was halted before the end. A method that has checkpoints then
    /// leaves its state unchanged.
    fn step(
        &mut self,
        problem: &LowRankProblem<M, L>,
        halted: Halted<'_>,
    ) -> Result<Option<Looked>>;

    /// Returns the X to certify, which is in the ball up to rounding.
    fn iterate(&mut self, problem: &LowRankProblem<M, L>) -> Result<LowRank>;

    /// Returns the method's own dual point; without one, the solver certifies with the corners of X's predictions.
    fn alpha(&self) -> Option<&[f64]> {
        None
    }

    /// Receives the result of a certification.
    fn describe(&mut self, problem: &LowRankProblem<M, L>, told: Told<'_>) -> Result<()> {
        let _ = (problem, told);
        Ok(())
    }

    /// Whether the run may stop because its certificates no longer improve.
    fn may_stall(&self) -> bool {
        true
    }

    /// What the steps have touched, if the method counts it.
    fn touched(&self) -> Option<Touched> {
        None
    }

    /// Describes the choices of the method, for the report.
    fn tactics(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The result of a certification, for the method.
#[derive(Clone, Copy)]
pub(super) struct Told<'s> {
    pub gap: f64,
    /// Whether an earlier dual point was better than this one.
    pub fell: bool,
    /// The best X so far.
    pub best: &'s LowRank,
}

/// The work of a step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Looked {
    /// This many products with a vector, each of which reads all of the data.
    Products(u64),
    /// This many visits of an example.
    Examples(u64),
}

/// The error of the search for singular values, relative to the last gap: small, so that it hardly adds to the next
/// gap; a smaller one costs products.
const BEYOND_GAP: f64 = 1e-3;

/// V is summed anew with compensation if the gap is less than this many times the effect of V's rounding.
const BEYOND_ROUNDING: f64 = 30.0;

/// The solver around a method.
pub(super) struct LowRankSolver<'p, M, L, D> {
    pub(super) problem: &'p LowRankProblem<M, L>,
    pub(super) moves: D,
    pub(super) best_pair: BestPair<LowRank>,
    /// How the dual value of the best pair was proved.
    pub(super) way: Way,
    /// The gap of the best pair.
    pub(super) gap: f64,
    /// The singular vectors of the last V.
    pub(super) warm: Option<LowRank>,
    /// Products that are not yet counted as oracle calls.
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

    /// The number of products that count as a pass: the cost of a certification.
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
            // A step is not interrupted at the quota: it may take more work than is left.
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
        // The search errs in ‖V − R‖_2 by about the tolerance times the largest singular value.
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
            // The result of a halted search is too rough to continue from.
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

    /// Empty: the weights are in factors.
    fn weights(&self) -> &[f64] {
        &[]
    }

    fn into_model(self) -> Solution<LowRank> {
        self.best_pair.into_best()
    }
}
