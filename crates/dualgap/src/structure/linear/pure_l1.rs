//! Pure l1 problems of one output, `P(w) = Σ mass_i φ_i(⟨x_i, w⟩) + σ‖w‖₁`, certified as they are.
//!
//! Smooth losses are solved weight by weight (`coordinates.rs`); the others by dual steps around a centre that moves
//! (`dual/pure_l1`, which also says what the certificate is).

use super::LinearBlocks;
use super::coordinates::Coordinates;
use crate::Result;
use crate::dual::problem::masses;
use crate::dual::pure_l1::{CHECKPOINT_COPIES, L1Certificate, check_pure_l1};
use crate::dual::{Blocks, Settings, Solution, train_around_centre};
use crate::linalg::memory::Need;
use crate::run::{Budget, Checkpoint, CheckpointSink, Observer, Report, run_from};
use crate::term::Loss;

/// Trains with `σ‖w‖₁` alone; the settings' λ is not used.
///
/// ```
/// use dualgap::linalg::Rows;
/// use dualgap::run::Budget;
/// use dualgap::dual::Settings;
/// use dualgap::structure::{Choice, LinearBlocks, train_pure_l1};
/// use dualgap::term::{Regulariser, ScalarLoss};
/// let rows = Rows::dense(&[vec![1.0, 0.1], vec![0.0, 0.1], vec![-1.0, 0.1]])?;
/// let blocks = LinearBlocks::new(&rows, vec![1.0, 0.0, -1.0], ScalarLoss::Squared, Choice::I)?;
/// let regulariser = Regulariser { l1: 0.1, ..Regulariser::default() };
/// let settings = Settings { regulariser, ..Settings::default() };
/// let report = train_pure_l1(&blocks, &settings, &Budget::relative(1e-8), &mut ())?;
/// // The soft threshold of the least squares solution, by hand.
/// assert!((report.model.weights[0] - (1.0 - 0.15)).abs() < 1e-4);
/// assert_eq!(report.model.weights[1], 0.0);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn train_pure_l1<L: Loss>(
    blocks: &LinearBlocks<'_, L>,
    settings: &Settings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Solution<f64>>> {
    train_pure_l1_from(blocks, settings, None, budget, observer, None)
}

/// [`train_pure_l1`] from the checkpoint of an earlier run, if there was one; checkpoints go to the sink.
pub fn train_pure_l1_from<L: Loss>(
    blocks: &LinearBlocks<'_, L>,
    settings: &Settings,
    from: Option<Checkpoint>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<f64>>> {
    if blocks.loss().smoothness() == 0.0 {
        let squares = blocks.largest_squared_norm();
        return train_around_centre(blocks, squares, settings, from, budget, observer, sink);
    }
    check_pure_l1(blocks.dim(), settings)?;
    // The number of copies was measured: coordinate descent also stores the matrix by columns.
    let copies = 10 + if sink.is_some() { CHECKPOINT_COPIES } else { 0 };
    Need { weights: blocks.dim(), copies, others: 2 * blocks.rows().stored() }.check()?;
    let begin = from.as_ref().map(|from| from.run.clone()).unwrap_or_default();
    let certificate = L1Certificate::new(blocks, settings)?;
    let masses = masses(blocks.len(), settings.sample_weights.as_deref())?;
    let mut solver = Coordinates::new(blocks, certificate, masses, settings)?;
    if let Some(from) = from {
        solver.resume(from.state()?)?;
    }
    run_from(solver, begin, budget, observer, sink)
}
