//! Runs: from the start, from given points or from a checkpoint.

use super::blocks::CurvedBlocks;
use super::{Newton, NewtonSettings};
use crate::dual::{self, Begin, Solution};
use crate::linalg::memory::Need;
use crate::run::{Budget, CheckpointSink, Observer, Progress, Report, RunState, run_from};
use crate::term::Regulariser;
use crate::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Trains from any beginning; λ, the weight without penalty and the sample weights are those of `problem`. Checkpoints go to the sink. A run that begins at given dual points begins at their weights.
pub fn train_from<B: CurvedBlocks>(
    blocks: &B,
    problem: &dual::Settings,
    settings: &NewtonSettings,
    begin: Begin<B::Point>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<B::Point>>>
where
    B::Point: Serialize + DeserializeOwned,
{
    check(blocks, problem)?;
    let (solver, state) = begun(blocks, problem, settings, begin)?;
    run_from(solver, state, budget, observer, sink)
}

/// Returns the solver at this beginning.
fn begun<'a, B: CurvedBlocks>(
    blocks: &'a B,
    problem: &dual::Settings,
    settings: &NewtonSettings,
    begin: Begin<B::Point>,
) -> Result<(Newton<'a, B>, RunState)>
where
    B::Point: DeserializeOwned,
{
    let mut solver = Newton::new(blocks, problem, settings)?;
    let state = match begin {
        Begin::Fresh => RunState::default(),
        Begin::Points(points) => {
            solver.begin_at(&points);
            RunState::default()
        }
        Begin::At(checkpoint) => {
            solver.resume(checkpoint.state()?)?;
            checkpoint.run
        }
    };
    Ok((solver, state))
}

/// [`train_from`] in the place of another solver, whose checkpoints are told apart from those of this one.
pub fn train_instead<B: CurvedBlocks>(
    blocks: &B,
    problem: &dual::Settings,
    settings: &NewtonSettings,
    begin: Begin<B::Point>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<B::Point>>>
where
    B::Point: Serialize + DeserializeOwned,
{
    check(blocks, problem)?;
    let (solver, mut state) = begun(blocks, problem, settings, begin)?;
    state.handed_over = true;
    run_from(solver, state, budget, observer, sink)
}

/// [`train_from`] that begins at these weights, one for each of the problem's.
pub fn train_at<B: CurvedBlocks>(
    blocks: &B,
    problem: &dual::Settings,
    settings: &NewtonSettings,
    weights: Vec<f64>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<B::Point>>>
where
    B::Point: Serialize + DeserializeOwned,
{
    check(blocks, problem)?;
    let mut solver = Newton::new(blocks, problem, settings)?;
    solver.begin_at_weights(weights)?;
    run_from(solver, RunState::default(), budget, observer, sink)
}

/// Goes on where another solver of the same problem has ended, as one run: its passes, seconds and certifications count, and
/// the observer does not receive them again.
pub fn train_after<B: CurvedBlocks>(
    blocks: &B,
    problem: &dual::Settings,
    settings: &NewtonSettings,
    before: Report<Solution<B::Point>>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<B::Point>>>
where
    B::Point: Serialize + DeserializeOwned,
{
    check(blocks, problem)?;
    let mut solver = Newton::new(blocks, problem, settings)?;
    let (model, before) = before.split();
    solver.begin_after(model)?;
    let mut observer = Later { left: before.history.len(), observer };
    let mut tactics = before.tactics.clone();
    tactics.push(format!("handed over after {:.0} passes", before.passes));
    let report = run_from(solver, before.into_state(), budget, &mut observer, sink)?;
    tactics.extend(report.tactics);
    Ok(Report { tactics, ..report })
}

/// An observer that does not receive the certifications of an earlier part again.
struct Later<'a> {
    left: usize,
    observer: &'a mut dyn Observer,
}

impl Observer for Later<'_> {
    fn certified(&mut self, progress: &Progress, weights: &[f64]) -> Result<()> {
        if self.left > 0 {
            self.left -= 1;
            return Ok(());
        }
        self.observer.certified(progress, weights)
    }

    fn advanced(&mut self, passes: f64) {
        self.observer.advanced(passes);
    }

    fn hands_over(&mut self) -> bool {
        self.observer.hands_over()
    }

    fn checkpoint_failed(&mut self, error: &Error) -> bool {
        self.observer.checkpoint_failed(error)
    }
}

/// Returns an error for a penalty that the method does not have.
pub fn check_penalty(regulariser: Regulariser) -> Result<()> {
    if !regulariser.is_plain() {
        return Err(Error::setting(
            "Newton's method is for the penalty λ/2‖w‖², without an l1 norm, a q-norm or nonnegative weights",
        ));
    }
    Ok(())
}

fn check<B: CurvedBlocks>(blocks: &B, problem: &dual::Settings) -> Result<()> {
    check_penalty(problem.regulariser)?;
    // w, the best weights, the gradient, the direction and its trial; conjugate gradients have four more.
    let others = blocks.numbers().saturating_mul(6);
    Need { weights: blocks.dim(), copies: 12, others }.check()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_very_different_sizes_take_few_steps() -> crate::Result<()> {
        use crate::linalg::Rows;
        use crate::structure::{Choice, LinearBlocks};
        use crate::term::ScalarLoss;
        let rows = Rows::dense(&[vec![1.0, 2000.0], vec![0.8, -1000.0], vec![-1.0, 3000.0]])?;
        let blocks =
            LinearBlocks::new(&rows, vec![1.0, 1.0, -1.0], ScalarLoss::Logistic, Choice::I)?;
        let problem = dual::Settings { lambda: 1e-6, ..dual::Settings::default() };
        let report = train_from(
            &blocks,
            &problem,
            &NewtonSettings::default(),
            Begin::Fresh,
            &Budget::relative(1e-9),
            &mut (),
            None,
        )?;
        assert!(report.certificate.relative_gap() <= 1e-9 && report.work.steps < 40);
        Ok(())
    }
}
