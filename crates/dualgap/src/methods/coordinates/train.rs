//! Runs: from the start, from given weights or points, or from a checkpoint.

use super::{CoordinateSettings, Coordinates, squares};
use crate::dual::{self, Begin, Solution};
use crate::linalg::memory::Need;
use crate::methods::newton::CurvedBlocks;
use crate::run::{Budget, CheckpointSink, Observer, Report, RunState, run_from};
use crate::term::Regulariser;
use crate::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Trains from any beginning; λ (zero for the l1 norm alone), σ, the weight without penalty and the sample weights are those of
/// `problem`. Checkpoints go to the sink. A run that begins at given dual points begins at their weights,
/// which they have only if λ is not zero.
pub fn train_from<B: CurvedBlocks>(
    blocks: &B,
    problem: &dual::Settings,
    settings: CoordinateSettings,
    begin: Begin<B::Point>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<B::Point>>>
where
    B::Point: Serialize + DeserializeOwned,
{
    let mut solver = made(blocks, problem, settings, sink.is_some())?;
    let state = match begin {
        Begin::Fresh => RunState::default(),
        Begin::Points(points) => {
            solver.begin_at_points(&points)?;
            RunState::default()
        }
        Begin::At(checkpoint) => {
            solver.resume(checkpoint.state()?)?;
            checkpoint.run
        }
    };
    run_from(solver, state, budget, observer, sink)
}

/// [`train_from`] that begins at these weights, one for each of the problem's.
pub fn train_at<B: CurvedBlocks>(
    blocks: &B,
    problem: &dual::Settings,
    settings: CoordinateSettings,
    weights: Vec<f64>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<B::Point>>>
where
    B::Point: Serialize + DeserializeOwned,
{
    let mut solver = made(blocks, problem, settings, sink.is_some())?;
    solver.begin_at(weights)?;
    run_from(solver, RunState::default(), budget, observer, sink)
}

/// Returns an error for a penalty that the method does not have.
pub fn check_penalty(regulariser: Regulariser) -> Result<()> {
    if !(regulariser.l1 > 0.0 && regulariser.l1.is_finite()) {
        return Err(Error::setting(
            "coordinate descent is for penalties with an l1 norm: give a positive σ, or take another method",
        ));
    }
    if regulariser.q_norm {
        return Err(Error::setting("coordinate descent is not for the q-norm: take dual ascent"));
    }
    Ok(())
}

fn made<'a, B: CurvedBlocks>(
    blocks: &'a B,
    problem: &dual::Settings,
    settings: CoordinateSettings,
    keeps: bool,
) -> Result<Coordinates<'a, B>> {
    check_penalty(problem.regulariser)?;
    if !(problem.lambda >= 0.0 && problem.lambda.is_finite()) {
        return Err(Error::setting("λ must not be negative"));
    }
    problem.regulariser.check(blocks.dim())?;
    // The weights, their slopes, those of a trial and of the certificate, each with a compensated copy; the columns, dense
    // ones with their zeros, or a matrix that is no larger than the data; the predictions, slopes and curvatures of the examples.
    let copies = 10 + if keeps { 3 } else { 0 };
    let predictions = blocks.len().saturating_mul(blocks.outputs());
    let entries = if squares::pays(blocks) {
        2 * blocks.dim().saturating_mul(blocks.dim())
    } else {
        3 * blocks.inputs().stored()
    };
    let others = entries.saturating_add(predictions.saturating_mul(16));
    Need { weights: blocks.dim(), copies, others }.check()?;
    let threads = settings.threads;
    Coordinates::new(blocks, &dual::Settings { threads, ..problem.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_soft_threshold_of_its_least_squares() -> crate::Result<()> {
        use crate::linalg::Rows;
        use crate::structure::{Choice, LinearBlocks};
        use crate::term::{Regulariser, ScalarLoss};
        let rows = Rows::dense(&[vec![1.0, 0.1], vec![0.0, 0.1], vec![-1.0, 0.1]])?;
        let blocks =
            LinearBlocks::new(&rows, vec![1.0, 0.0, -1.0], ScalarLoss::Squared, Choice::I)?;
        let regulariser = Regulariser { l1: 0.1, ..Regulariser::default() };
        let problem = dual::Settings { lambda: 0.0, regulariser, ..dual::Settings::default() };
        let report = train_from(
            &blocks,
            &problem,
            CoordinateSettings::default(),
            Begin::Fresh,
            &Budget::relative(1e-8),
            &mut (),
            None,
        )?;
        // The soft threshold of the least squares solution, by hand.
        assert!((report.model.weights[0] - (1.0 - 0.15)).abs() < 1e-12);
        assert_eq!(report.model.weights[1], 0.0);
        Ok(())
    }
}
