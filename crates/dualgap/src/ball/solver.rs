//! The solver around every method in a ball: it counts the work, certifies, holds the best pair, and stores and resumes
//! runs.
//!
//! A resumed run does not trust its checkpoint: it checks that the state of the method is valid for this problem, and
//! proves both values of the best pair again. It proves the dual value with the settings of the first proof, which
//! gives the same bits.

use super::problem::{Design, Known};
use super::{BallProblem, Losses, Solution, Touched, Weights};
use crate::linalg::Halted;
use crate::linalg::halt::never;
use crate::run::{
    BestPair, Budget, Certificate, Certified, Checkpoint, CheckpointSink, Counters, Observer,
    Quota, Report, Resumable, Solver, Work, run, run_from,
};
use crate::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A method that moves X.
pub(super) trait Moves<M: Design, L: Losses> {
    /// Takes one step; returns its work, or none if it was halted before the end. A method that has checkpoints then
    /// leaves its state unchanged.
    fn step(&mut self, problem: &BallProblem<M, L>, halted: Halted<'_>) -> Result<Option<Looked>>;

    /// Receives the number of calls that the steps of one part of the run took, without those that are counted step by
    /// step.
    fn record_calls(&mut self, problem: &BallProblem<M, L>, calls: u64) {
        let _ = (problem, calls);
    }

    /// Returns the X to certify, which is in the ball up to rounding; `dual` belongs to the method's own dual point, if
    /// that comes first.
    fn iterate(
        &mut self,
        problem: &BallProblem<M, L>,
        dual: Option<&M::Dual>,
    ) -> Result<M::Weights>;

    /// Returns the method's own dual point; without one, the solver certifies with the corners of X's predictions.
    fn alpha(&self) -> Option<&[f64]> {
        None
    }

    /// Receives the result of a certification.
    fn certified(&mut self, problem: &BallProblem<M, L>, told: Told<'_, M>) -> Result<()> {
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

impl<M: Design, L: Losses> Moves<M, L> for &mut dyn Moves<M, L> {
    fn step(&mut self, problem: &BallProblem<M, L>, halted: Halted<'_>) -> Result<Option<Looked>> {
        (**self).step(problem, halted)
    }

    fn record_calls(&mut self, problem: &BallProblem<M, L>, calls: u64) {
        (**self).record_calls(problem, calls);
    }

    fn iterate(
        &mut self,
        problem: &BallProblem<M, L>,
        dual: Option<&M::Dual>,
    ) -> Result<M::Weights> {
        (**self).iterate(problem, dual)
    }

    fn alpha(&self) -> Option<&[f64]> {
        (**self).alpha()
    }

    fn certified(&mut self, problem: &BallProblem<M, L>, told: Told<'_, M>) -> Result<()> {
        (**self).certified(problem, told)
    }

    fn may_stall(&self) -> bool {
        (**self).may_stall()
    }

    fn touched(&self) -> Option<Touched> {
        (**self).touched()
    }

    fn tactics(&self) -> Vec<String> {
        (**self).tactics()
    }
}

/// A method that can resume from a checkpoint.
pub(super) trait Resumes<M: Design, L: Losses>: Moves<M, L> {
    /// The state of the method.
    type State: Serialize + DeserializeOwned;

    /// Returns all that a run needs to resume.
    fn state(&self) -> Self::State;

    /// Resumes from this state; returns whether it is valid for this problem.
    fn resume(&mut self, problem: &BallProblem<M, L>, state: Self::State) -> Result<bool>;
}

/// The result of a certification, for the method.
pub(super) struct Told<'s, M: Design> {
    pub gap: f64,
    /// Whether an earlier dual point was better than this one.
    pub fell: bool,
    /// The best pair so far.
    pub best: (&'s M::Weights, &'s [f64]),
    /// The pair that was certified, with the predictions of X.
    pub x: &'s M::Weights,
    pub a: &'s [f64],
    pub alpha: &'s [f64],
    pub dual: &'s M::Dual,
}

/// The work of a step.
// Only the methods of the trace ball count in these units.
#[cfg_attr(not(feature = "low-rank"), expect(dead_code))]
#[derive(Clone, Copy, Debug)]
pub(super) enum Looked {
    /// This many products with a vector, each of which reads all of the data.
    Products(u64),
    /// This many visits of an example.
    Examples(u64),
    /// This many oracle calls, which the method has counted itself.
    Calls(u64),
}

/// The solver around a method.
pub(super) struct BallSolver<'p, M: Design, L, D> {
    problem: &'p BallProblem<M, L>,
    pub(super) moves: D,
    pub(super) best_pair: BestPair<M::Weights, f64>,
    /// How the dual value of the best pair was proved.
    way: M::Way,
    /// The gap of the best pair.
    gap: f64,
    /// What the last proof found, to start the next one from.
    warm: Option<M::Weights>,
    /// Products that are not yet counted as oracle calls.
    owed: u64,
    a: Vec<f64>,
    alpha: Vec<f64>,
}

/// The gap of a pair that has weights, as every pair here has from the beginning.
fn gap<W>(pair: &BestPair<W, f64>) -> Result<f64> {
    let certificate = pair.certificate().transpose()?;
    Ok(certificate.map_or(f64::INFINITY, |certificate| certificate.gap()))
}

/// The gap of the pair that a run begins with.
pub(super) fn first_gap<M: Design, L: Losses>(problem: &BallProblem<M, L>) -> Result<f64> {
    gap(&problem.first_pair()?)
}

impl<'p, M: Design, L: Losses, D: Moves<M, L>> BallSolver<'p, M, L, D> {
    pub fn new(problem: &'p BallProblem<M, L>, moves: D) -> Result<Self> {
        let numbers = vec![0.0; problem.numbers()];
        let best_pair = problem.first_pair()?;
        Ok(Self {
            gap: gap(&best_pair)?,
            best_pair,
            way: M::first_way(),
            problem,
            moves,
            warm: None,
            owed: 0,
            a: numbers.clone(),
            alpha: numbers,
        })
    }
}

impl<M: Design, L: Losses, D: Moves<M, L>> Solver for BallSolver<'_, M, L, D> {
    type Model = Solution<M::Weights>;

    fn calls_per_pass(&self) -> u64 {
        self.problem.len() as u64
    }

    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let (pass, all) = (self.calls_per_pass(), self.problem.map().products_per_pass());
        let (mut done, mut counted) = (Work::default(), 0);
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
                Looked::Calls(calls) => {
                    counted += calls;
                    calls
                }
            };
            // A step is not interrupted at the quota: it may take more work than is left.
            done += Work { steps: 1, oracle_calls: calls };
        }
        self.moves.record_calls(self.problem, counted);
        Ok(done)
    }

    fn certify(&mut self) -> Result<Certified> {
        self.certify_until(&never)
    }

    fn certify_until(&mut self, halted: Halted<'_>) -> Result<Certified> {
        let problem = self.problem;
        let own = self.moves.alpha();
        own.into_iter().for_each(|alpha| self.alpha.copy_from_slice(alpha));
        let has_own = own.is_some();
        let mut known = Known { primal: None, gap: self.gap, warm: self.warm.as_ref() };
        let first = if has_own && M::DUAL_FIRST {
            Some(M::prove(problem, &self.alpha, &known, halted)?)
        } else {
            None
        };
        let x = self.moves.iterate(problem, first.as_ref().map(|proved| &proved.dual))?;
        let x = problem.map().brought_inside(x, problem.radius());
        let primal = problem.primal_at(&x, &mut self.a)?;
        if !has_own {
            problem.corners(&self.a, &mut self.alpha);
        }
        known.primal = Some((&x, primal.value));
        let proved = match first {
            Some(proved) => proved,
            None => M::prove(problem, &self.alpha, &known, halted)?,
        };
        let before = self.best_pair.dual;
        let certified = self.best_pair.certify((primal, &x), (proved.value, &self.alpha))?;
        if halted() {
            // The result of a halted search is too rough to continue from.
            return Ok(certified);
        }
        if self.best_pair.dual != before {
            self.way = proved.way;
        }
        self.gap = certified.model.gap();
        self.warm = proved.warm;
        let best = self.best_pair.best_weights().zip(self.best_pair.points());
        let told = Told {
            gap: self.gap,
            fell: certified.iterate.dual < certified.model.dual,
            best: best.unwrap_or((&x, &self.alpha)),
            x: &x,
            a: &self.a,
            alpha: &self.alpha,
            dual: &proved.dual,
        };
        self.moves.certified(problem, told)?;
        Ok(certified)
    }

    fn proved(&self) -> Option<Result<Certificate>> {
        self.best_pair.certificate()
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

    fn weights(&self) -> &[f64] {
        self.best_pair.best_weights().map_or(&[], Weights::plain)
    }

    fn into_model(self) -> Solution<M::Weights> {
        let shape = self.problem.map().shape();
        self.best_pair.into_solution(|| Weights::zero(shape), Vec::new())
    }
}

/// The state of a solver in a checkpoint.
#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "S: DeserializeOwned, W: DeserializeOwned, Y: DeserializeOwned"))]
pub(super) struct Memory<S, W, Y> {
    place: S,
    best: Solution<W>,
    way: Y,
    warm: Option<W>,
    owed: u64,
}

/// The error for a checkpoint that does not belong to the run.
pub(super) fn other_state() -> Error {
    Error::setting("the state is not one of this problem and these settings")
}

impl<M: Design, L: Losses, D: Resumes<M, L>> BallSolver<'_, M, L, D> {
    /// Resumes from a checkpoint; proves the values that a certificate will rest on again.
    fn resume(&mut self, memory: <Self as Resumable>::State) -> Result<()> {
        let Memory { place, best, way, warm, owed } = memory;
        let (problem, map) = (self.problem, self.problem.map());
        let sound = warm.as_ref().is_none_or(|warm| warm.fits(map.shape()))
            && map.is_sound(&way)
            && owed <= map.products_per_pass()
            && best.weights.fits(map.shape())
            && problem.contains(&best.weights)
            && self.moves.resume(problem, place)?;
        if !sound {
            return Err(other_state());
        }
        self.best_pair = problem.proved(best, &way)?;
        self.gap = gap(&self.best_pair)?;
        (self.way, self.warm, self.owed) = (way, warm, owed);
        Ok(())
    }
}

impl<M: Design, L: Losses, D: Resumes<M, L>> Resumable for BallSolver<'_, M, L, D> {
    type State = Memory<D::State, M::Weights, M::Way>;

    fn state(&self) -> Self::State {
        let (best, shape) = (self.best_pair.clone(), self.problem.map().shape());
        Memory {
            place: self.moves.state(),
            best: best.into_solution(|| Weights::zero(shape), Vec::new()),
            way: self.way.clone(),
            warm: self.warm.clone(),
            owed: self.owed,
        }
    }
}

/// What a run needs beside the problem and the method: where it begins, when it ends, who observes it, and where its
/// checkpoints go.
pub struct Session<'s, 'k> {
    /// The checkpoint that it begins from; without one it begins anew.
    pub from: Option<Checkpoint>,
    /// When it ends.
    pub budget: &'s Budget,
    /// Who observes it.
    pub observer: &'s mut dyn Observer,
    /// Where its checkpoints go.
    pub sink: Option<&'k mut dyn CheckpointSink>,
}

impl Session<'_, '_> {
    /// Runs the training loop with a method that has no checkpoints. The solver around it is compiled once for all such methods.
    pub(super) fn run<M: Design, L: Losses>(
        self,
        problem: &BallProblem<M, L>,
        mut moves: impl Moves<M, L>,
    ) -> Result<Report<Solution<M::Weights>>> {
        let moves: &mut dyn Moves<M, L> = &mut moves;
        run(BallSolver::new(problem, moves)?, self.budget, self.observer)
    }

    /// Runs the training loop with this method, from the checkpoint if there is one.
    pub(super) fn resume<M: Design, L: Losses, D: Resumes<M, L>>(
        self,
        problem: &BallProblem<M, L>,
        moves: D,
    ) -> Result<Report<Solution<M::Weights>>> {
        let mut solver = BallSolver::new(problem, moves)?;
        let begin = self.from.as_ref().map(|from| from.run.clone()).unwrap_or_default();
        if let Some(from) = self.from {
            solver.resume(from.state()?)?;
        }
        run_from(solver, begin, self.budget, self.observer, self.sink)
    }
}
