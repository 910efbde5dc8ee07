//! Checkpoints of runs in the trace ball.
//!
//! A resumed run does not trust its checkpoint: it checks that the state of the method is valid for this problem, and
//! proves both values of the best pair again. It proves the dual value with the settings of the first proof, which
//! gives the same bits.

use super::common::{LowRankSolver, Moves};
use super::{LowRankProblem, Map, Proving};
use crate::ball::{Losses, Solution};
use crate::linalg::LowRank;
use crate::run::{Budget, Checkpoint, CheckpointSink, Observer, Report, Resumable, run_from};
use crate::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A method that can resume from a checkpoint.
pub(super) trait Resumes<M: Map, L: Losses>: Moves<M, L> {
    /// The state of the method.
    type State: Serialize + DeserializeOwned;

    /// Returns all that a run needs to resume.
    fn state(&self) -> Self::State;

    /// Resumes from this state; returns whether it is valid for this problem.
    fn resume(&mut self, problem: &LowRankProblem<M, L>, state: Self::State) -> bool;
}

/// The settings with which a dual value was proved: a proof with the same settings gives the same bits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Way {
    tolerance: f64,
    tight: bool,
    rank: usize,
    warm: Option<LowRank>,
}

impl Way {
    pub fn of(proving: &Proving<'_>) -> Self {
        let &Proving { tolerance, tight, rank, warm } = proving;
        Self { tolerance, tight, rank, warm: warm.cloned() }
    }

    fn proving(&self) -> Proving<'_> {
        let &Self { tolerance, tight, rank, ref warm } = self;
        Proving { tolerance, tight, rank, warm: warm.as_ref() }
    }
}

/// The state of a solver in a checkpoint.
#[derive(Serialize, Deserialize)]
pub(super) struct Memory<S> {
    place: S,
    best: Solution<LowRank>,
    way: Way,
    warm: Option<LowRank>,
    owed: u64,
}

impl<M: Map, L: Losses, D: Resumes<M, L>> LowRankSolver<'_, M, L, D> {
    /// Resumes from a checkpoint; proves the values that a certificate will rest on again.
    pub fn resume(&mut self, memory: Memory<D::State>) -> Result<()> {
        let Memory { place, best, way, warm, owed } = memory;
        let problem = self.problem;
        let fits = |x: &Option<LowRank>| x.as_ref().is_none_or(|x| problem.fits(x));
        let sound = fits(&warm)
            && fits(&way.warm)
            && Proving::TOLERANCES.contains(&way.tolerance)
            && owed <= self.products_per_pass()
            && problem.fits(&best.weights)
            && problem.contains(&best.weights)
            && self.moves.resume(problem, place);
        if !sound {
            return Err(Error::setting("the state is not one of this problem and these settings"));
        }
        self.best_pair = problem.proved(best, &way.proving())?;
        self.gap = self.best_pair.certificate()?.gap();
        (self.way, self.warm, self.owed) = (way, warm, owed);
        Ok(())
    }
}

impl<M: Map, L: Losses, D: Resumes<M, L>> Resumable for LowRankSolver<'_, M, L, D> {
    type State = Memory<D::State>;

    fn state(&self) -> Memory<D::State> {
        Memory {
            place: self.moves.state(),
            best: self.best_pair.best().clone(),
            way: self.way.clone(),
            warm: self.warm.clone(),
            owed: self.owed,
        }
    }
}

/// Runs the training loop with this method, from a checkpoint if one is given.
pub(super) fn run_solver_from<M: Map, L: Losses, D: Resumes<M, L>>(
    problem: &LowRankProblem<M, L>,
    moves: D,
    from: Option<Checkpoint>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<LowRank>>> {
    let mut solver = LowRankSolver::new(problem, moves)?;
    let begin = from.as_ref().map(|from| from.run.clone()).unwrap_or_default();
    if let Some(from) = from {
        solver.resume(from.state()?)?;
    }
    run_from(solver, begin, budget, observer, sink)
}
