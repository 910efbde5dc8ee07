//! Runs of exponentiated gradient: from the uniform distributions or from a checkpoint.

use super::expectation::ExpectationBlocks;
use super::settings::GradientSettings;
use super::solver::ExponentiatedGradient;
use crate::dual::{Begin, Solution};
use crate::linalg::memory::Need;
use crate::run::{Budget, CheckpointSink, Observer, Report, RunState, run_from};
use crate::term::Regulariser;
use crate::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Returns an error for a penalty that the method does not have.
pub fn check_penalty(regulariser: Regulariser) -> Result<()> {
    if !regulariser.is_plain() || regulariser.free.is_some() {
        return Err(Error::setting(
            "exponentiated gradient goes with the squared norm of all weights: leave out the l1 norm, nonnegative and \
             free weights, or take block-coordinate Frank-Wolfe",
        ));
    }
    Ok(())
}

/// Trains under `λ/2‖w‖²` from the uniform distributions.
pub fn train<B>(
    blocks: &B,
    lambda: f64,
    settings: &GradientSettings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Solution<B::Point>>>
where
    B: ExpectationBlocks<Point: Serialize + DeserializeOwned>,
{
    let (regulariser, begin) = (Regulariser::PLAIN, Begin::Fresh);
    train_from(blocks, lambda, regulariser, None, settings, begin, budget, observer, None)
}

/// [`train`] with sample weights, from a checkpoint if there is one; checkpoints go to the sink. Returns an error for any
/// other regulariser than `λ/2‖w‖²`, and for a beginning at given points.
///
/// ```
/// use dualgap::data::Sequences;
/// use dualgap::dual::Begin;
/// use dualgap::methods::exponentiated_gradient::{GradientSettings, train, train_from};
/// use dualgap::run::{Budget, InMemory};
/// use dualgap::structure::{ChainBlocks, Hamming};
/// use dualgap::term::Regulariser;
///
/// let names = ["noun", "verb"].map(String::from);
/// let words = [vec![vec![1.0, 0.0], vec![0.0, 1.0]], vec![vec![0.2, 0.9]]];
/// let data = Sequences::from_dense(&words, &[vec![0, 1], vec![1]], &names)?;
/// let blocks = ChainBlocks::new(&data, Hamming::Plain)?;
/// let (settings, plain, mut memory) = (GradientSettings::default(), Regulariser::PLAIN, InMemory::default());
/// let (budget, sink) = (Budget::passes(5), Some(&mut memory as _));
/// train_from(&blocks, 0.2, plain, None, &settings, Begin::Fresh, &budget, &mut (), sink)?;
/// let (budget, begin) = (Budget::passes(20), Begin::At(memory.last.unwrap()));
/// let more = train_from(&blocks, 0.2, plain, None, &settings, begin, &budget, &mut (), None)?;
/// let whole = train(&blocks, 0.2, &settings, &budget, &mut ())?;
/// assert_eq!(more.model.weights, whole.model.weights);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[allow(clippy::too_many_arguments)] // the problem, the method and the run, as every method of this floor has them
pub fn train_from<B>(
    blocks: &B,
    lambda: f64,
    regulariser: Regulariser,
    sample_weights: Option<&[f64]>,
    settings: &GradientSettings,
    begin: Begin<B::Point>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<B::Point>>>
where
    B: ExpectationBlocks<Point: Serialize + DeserializeOwned>,
{
    check_penalty(regulariser)?;
    check_memory(blocks, sink.is_some())?;
    let (solver, state) = match begin {
        Begin::Fresh => {
            let solver = ExponentiatedGradient::new(blocks, lambda, sample_weights, settings)?;
            (solver, RunState::default())
        }
        Begin::At(checkpoint) => {
            let state = checkpoint.state()?;
            let solver =
                ExponentiatedGradient::resumed(blocks, lambda, sample_weights, settings, state)?;
            (solver, checkpoint.run)
        }
        Begin::Points(_) => {
            return Err(Error::setting(
                "exponentiated gradient begins with the uniform distributions: leave out the warm start",
            ));
        }
    };
    run_from(solver, state, budget, observer, sink)
}

/// Returns an error if memory has no room for a run: besides weights in as many copies as in any run of the engine, θ and
/// the expected counts of all blocks, and in the end their points, with a key to each weight, and the witness made of them.
/// A checkpoint has θ in the state, in its bytes and in those of the file.
fn check_memory<B: ExpectationBlocks>(blocks: &B, stored: bool) -> Result<()> {
    let total = |numbers: &dyn Fn(usize) -> usize| -> usize {
        (0..blocks.len()).map(numbers).fold(0, usize::saturating_add)
    };
    let (parts, entries) = (total(&|i| blocks.parts(i)), total(&|i| blocks.point_entries(i)));
    let of_parts = parts.saturating_mul(if stored { 5 } else { 2 });
    let others = of_parts.saturating_add(entries.saturating_mul(4));
    Need { weights: blocks.dim(), copies: if stored { 10 } else { 7 }, others }.check()
}
