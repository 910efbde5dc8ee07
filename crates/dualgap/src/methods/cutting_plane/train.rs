//! Runs of cutting planes: from the start, from given points or from a checkpoint.

use super::settings::CuttingPlaneSettings;
use super::solver::CuttingPlane;
use crate::dual::{Begin, Blocks, Solution, Witnessed};
use crate::linalg::memory::Need;
use crate::run::{Budget, CheckpointSink, Observer, Report, RunState, run, run_from};
use crate::term::Regulariser;
use crate::{Error, Result};

/// Trains by cutting planes, from the blocks' starting points. The regulariser is `λ/2‖w‖²` and nothing else.
///
/// ```
/// use dualgap::linalg::Row;
/// use dualgap::methods::cutting_plane::{CuttingPlaneSettings, Slacks, train};
/// use dualgap::run::Budget;
/// use dualgap::structure::{MulticlassOracle, OracleBlocks};
/// use dualgap::term::{Costs, Regulariser};
/// let oracle = MulticlassOracle::new(2, 3, &Costs::ZeroOne)?;
/// let examples = [(Row::Dense(&[1.0, 0.0]), 0), (Row::Dense(&[0.0, 1.0]), 1), (Row::Dense(&[-1.0, -1.0]), 2)];
/// let blocks = OracleBlocks::new(&oracle, &examples)?;
/// for slacks in [Slacks::One, Slacks::Each] {
///     let settings = CuttingPlaneSettings { slacks, ..CuttingPlaneSettings::default() };
///     let report =
///         train(&blocks, 0.1, Regulariser::PLAIN, None, &settings, &Budget::relative(1e-9), &mut ())?;
///     assert!(report.certificate.relative_gap_bound() <= 1e-9);
/// }
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn train<B: Blocks>(
    blocks: &B,
    lambda: f64,
    regulariser: Regulariser,
    sample_weights: Option<&[f64]>,
    settings: &CuttingPlaneSettings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Solution<B::Point>>> {
    check(blocks, regulariser, false)?;
    let points = (0..blocks.len()).map(|i| blocks.start(i)).collect();
    let solver = CuttingPlane::at(blocks, lambda, sample_weights, *settings, points)?;
    run(solver, budget, observer)
}

/// [`train`] from any beginning; checkpoints go to the sink. A run from given points has them as its first plane.
#[allow(clippy::too_many_arguments)] // the problem has four parts, and the run five
pub fn train_from<B: Witnessed>(
    blocks: &B,
    lambda: f64,
    regulariser: Regulariser,
    sample_weights: Option<&[f64]>,
    settings: &CuttingPlaneSettings,
    begin: Begin<B::Point>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<B::Point>>> {
    check(blocks, regulariser, sink.is_some())?;
    let at = |points| CuttingPlane::at(blocks, lambda, sample_weights, *settings, points);
    let (solver, state) = match begin {
        Begin::Fresh => {
            let start = (0..blocks.len()).map(|i| blocks.start(i)).collect();
            (at(start)?, RunState::default())
        }
        Begin::Points(points) => (at(points)?, RunState::default()),
        Begin::At(checkpoint) => {
            let state = checkpoint.state()?;
            let solver = CuttingPlane::resumed(blocks, lambda, sample_weights, *settings, state)?;
            (solver, checkpoint.run)
        }
    };
    run_from(solver, state, budget, observer, sink)
}

/// Returns an error for a penalty that the method does not have.
pub fn check_penalty(regulariser: Regulariser) -> Result<()> {
    if !regulariser.is_plain() || regulariser.free.is_some() {
        return Err(Error::setting(
            "cutting planes go with the penalty λ/2‖w‖² alone: without an l1 norm, the q-norm, weights that must not \
             be negative, and weights without a penalty",
        ));
    }
    Ok(())
}

/// Returns an error for a regulariser that the master problem does not have, or if memory has no room for the weights:
/// w, the change of a joint step, the best weights, the planes of the beginning and a compensated sum; and for a
/// checkpoint the state, its bytes, and the bytes of the file. Room for further planes is looked for as they come.
fn check<B: Blocks>(blocks: &B, regulariser: Regulariser, stored: bool) -> Result<()> {
    check_penalty(regulariser)?;
    let (copies, points) = if stored { (10, 6) } else { (7, 3) };
    let others = blocks.numbers().saturating_mul(points);
    Need { weights: blocks.dim(), copies, others }.check()
}
