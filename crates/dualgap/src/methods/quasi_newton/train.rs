//! Runs: from zero, from given weights or from a checkpoint.

use super::solver::State;
use super::{QuasiNewton, SmoothProblem};
use crate::Result;
use crate::linalg::memory::Need;
use crate::run::{Budget, Checkpoint, CheckpointSink, Observer, Report, RunState, run_from};

/// Where a run starts.
pub enum Start {
    /// At w = 0.
    Fresh,
    /// At these weights.
    Weights(Vec<f64>),
    /// At a checkpoint.
    At(Checkpoint),
}

/// Trains; checkpoints go to the sink. The result does not depend on the number of threads (0: all cores).
pub fn train_from<P: SmoothProblem>(
    problem: &P,
    threads: usize,
    start: Start,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Vec<f64>>> {
    // Six pairs of 32 bits, the diagonal, two weights and gradients, the direction, its change and its trial, the best weights.
    Need { weights: problem.dim(), copies: 16, others: 0 }.check()?;
    let mut solver = QuasiNewton::new(problem, threads)?;
    let state = match start {
        Start::Fresh => RunState::default(),
        Start::Weights(w) => {
            solver.begin_at(w);
            RunState::default()
        }
        Start::At(checkpoint) => {
            solver.resume(State::of(&checkpoint)?)?;
            checkpoint.run
        }
    };
    run_from(solver, state, budget, observer, sink)
}
