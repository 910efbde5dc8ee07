//! Pure l1 problems of one output, `P(w) = Σ mass_i φ_i(⟨x_i, w⟩) + σ‖w‖₁`, certified as they are.
//!
//! Smooth losses are solved weight by weight (`methods/coordinates`); the others by dual steps around a centre that moves
//! (`dual/pure_l1`, which also says what the certificate is).

use super::LinearBlocks;
use crate::Result;
use crate::dual::pure_l1::check_pure_l1;
use crate::dual::{Begin, Blocks, Settings, Solution, train_around_centre};
use crate::methods::coordinates;
use crate::methods::newton::CurvedBlocks;
use crate::run::{Budget, Checkpoint, CheckpointSink, Observer, Report};
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
    if !blocks.is_curved() {
        let squares = blocks.largest_squared_norm();
        return train_around_centre(blocks, squares, settings, from, budget, observer, sink);
    }
    check_pure_l1(blocks.dim(), settings)?;
    let settings = &Settings { lambda: 0.0, ..settings.clone() };
    let (begin, own) = (
        from.map_or(Begin::Fresh, Begin::At),
        coordinates::CoordinateSettings { threads: settings.threads },
    );
    coordinates::train_from(blocks, settings, own, begin, budget, observer, sink)
}
