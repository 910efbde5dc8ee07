//! Runs: from the start, from given points or from a checkpoint.

use super::average::Averages;
use super::{Subgradient, SubgradientSettings};
use crate::dual::{Begin, Blocks, Solution, Witnessed};
use crate::linalg::memory::Need;
use crate::run::{Budget, CheckpointSink, Observer, Report, RunState, run, run_from};
use crate::term::Regulariser;
use crate::{Error, Result};

/// Trains from w = 0.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::methods::subgradient::{SubgradientSettings, train};
/// use dualgap::run::Budget;
/// use dualgap::structure::MulticlassBlocks;
/// use dualgap::term::{Costs, Regulariser};
/// let rows = [vec![1.0, 0.1], vec![0.2, 1.0], vec![-1.0, -0.9]];
/// let data = Examples::from_dense(&rows, &["a", "b", "c"])?;
/// let blocks = MulticlassBlocks::new(&data, &Costs::ZeroOne)?;
/// let (settings, budget) = (SubgradientSettings::default(), Budget::relative(0.01));
/// let report = train(&blocks, 0.1, Regulariser::PLAIN, None, &settings, &budget, &mut ())?;
/// assert!(report.certificate.relative_gap() <= 0.01);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn train<B: Blocks>(
    blocks: &B,
    lambda: f64,
    regulariser: Regulariser,
    sample_weights: Option<&[f64]>,
    settings: &SubgradientSettings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Solution<B::Point>>> {
    check(blocks, regulariser, settings, false)?;
    run(Subgradient::new(blocks, lambda, sample_weights, settings)?, budget, observer)
}

/// [`train`] from any beginning; checkpoints go to the sink. A run that begins at given dual points goes on as if its first
/// pass had found them: at their weights, and with the steps of a second pass.
#[allow(clippy::too_many_arguments)] // the problem, how to solve it, and how to run: none of them has a struct of its own
pub fn train_from<B: Witnessed>(
    blocks: &B,
    lambda: f64,
    regulariser: Regulariser,
    sample_weights: Option<&[f64]>,
    settings: &SubgradientSettings,
    begin: Begin<B::Point>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<B::Point>>> {
    check(blocks, regulariser, settings, sink.is_some())?;
    let (method, state) = match begin {
        Begin::Fresh => {
            (Subgradient::new(blocks, lambda, sample_weights, settings)?, RunState::default())
        }
        Begin::Points(points) => (
            Subgradient::at(blocks, lambda, sample_weights, settings, points)?,
            RunState::default(),
        ),
        Begin::At(checkpoint) => {
            let state = checkpoint.state()?;
            let method = Subgradient::resumed(blocks, lambda, sample_weights, settings, state)?;
            (method, checkpoint.run)
        }
    };
    run_from(method, state, budget, observer, sink)
}

/// Returns an error for a penalty that the method does not have.
pub fn check_penalty(regulariser: Regulariser) -> Result<()> {
    if !regulariser.is_plain() || regulariser.free.is_some() {
        return Err(Error::setting(
            "subgradient steps are for the penalty λ/2‖w‖² of all weights alone, without an l1 norm, a q-norm, nonnegative \
             or free weights",
        ));
    }
    Ok(())
}

/// Returns an error for settings that no run supports, and if memory has no room for the weights and points.
fn check<B: Blocks>(
    blocks: &B,
    regulariser: Regulariser,
    settings: &SubgradientSettings,
    stored: bool,
) -> Result<()> {
    settings.check()?;
    check_penalty(regulariser)?;
    // u, w, the best weights, v of the two means and of the shadow; a direction of the shadow and its weights; a compensated
    // sum with its rounded value; for a checkpoint the state, its bytes, and the bytes of the file.
    let copies = 11 + Averages::copies(settings.average) + if stored { 3 } else { 0 };
    // The two means of the corners, and the shadow.
    let others = blocks.numbers().saturating_mul(3);
    Need { weights: blocks.dim(), copies, others }.check()
}
