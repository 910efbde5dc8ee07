//! Regularised linear models by proximal stochastic dual coordinate ascent.
//!
//! ```text
//! P(w) = Σ mass_i φ_i(⟨x_i, w⟩) + λ g(w),     D(α) = −Σ mass_i φ_i*(−α_i) − λ g*(v),     v = (1/λ) Σ mass_i x_i α_i
//! ```
//!
//! The engine is that of the structural SVMs; a block is one number, the dual variable of its example. The paper's
//! options differ in how far a step moves it.

mod at_zero;
mod balance;
mod blocks;
pub(crate) mod definition;
mod pure_l1;

pub(crate) use blocks::smooth_needs_no_lipschitz;
pub use blocks::{Choice, LinearBlocks};
pub use definition::Linear;
pub use pure_l1::{train_pure_l1, train_pure_l1_from};

use crate::Result;
use crate::dual::{self, Begin, Settings, Solution};
use crate::run::{Budget, Observer, Report};
use crate::term::Loss;

/// Trains a linear model, with the regulariser that the settings name.
///
/// ```
/// use dualgap::dual::Settings;
/// use dualgap::linalg::Rows;
/// use dualgap::run::Budget;
/// use dualgap::structure::{Choice, LinearBlocks, train_linear};
/// use dualgap::term::ScalarLoss;
/// let rows = Rows::dense(&[vec![1.0, 0.2], vec![0.8, 0.1], vec![-1.0, 0.3]])?;
/// let blocks = LinearBlocks::new(&rows, vec![1.0, 1.0, -1.0], ScalarLoss::Logistic, Choice::I)?;
/// let settings = Settings { lambda: 0.1, ..Settings::default() };
/// let report = train_linear(&blocks, &settings, &Budget::relative(1e-6), &mut ())?;
/// assert!(report.certificate.relative_gap() <= 1e-6);
/// assert!(report.model.weights[0] > 0.0);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn train_linear<L: Loss>(
    blocks: &LinearBlocks<'_, L>,
    settings: &Settings,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<Report<Solution<f64>>> {
    if settings.regulariser.q_norm {
        return dual::train_q_norm_from(blocks, settings, Begin::Fresh, budget, observer, None);
    }
    dual::train_from(blocks, settings, Begin::Fresh, budget, observer, None)
}
