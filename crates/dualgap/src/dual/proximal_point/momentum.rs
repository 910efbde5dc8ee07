//! Chooses κ, which acceleration adds to λ, and when acceleration begins.

use crate::dual::problem::Masses;
use crate::dual::visit::Visits;
use crate::dual::{Acceleration, Algorithm, Average, Blocks, Settings, Step};

/// Acceleration is considered if λ' would be at least this many times λ: closer to λ, it has little to gain.
const WORTH_IT: f64 = 2.0;

/// The initial λ'/λ for losses that are not smooth, where no condition number determines it; the rounds then adapt it.
const RATIO: f64 = 16.0;

/// From this condition number on, acceleration begins at once for blocks that know their corners.
const AT_ONCE: f64 = 32.0;

/// Passes of plain steps before they are judged under losses that are not smooth, whose gap shrinks less steadily;
/// smooth losses need one pass.
const UNSTEADY: f64 = 4.0;

/// Whether the settings allow rounds, which move the current point by line search: no averages, no batch Frank-Wolfe.
pub(in crate::dual) fn possible(settings: &Settings) -> bool {
    settings.method == Algorithm::Bcfw
        && settings.step == Step::LineSearch
        && settings.average == Average::None
}

/// How to accelerate: the κ to add to λ, and whether to begin at once or when plain steps turn out to be slow.
#[derive(Clone, Copy, Debug)]
pub(in crate::dual) struct Momentum {
    pub kappa: f64,
    pub at_once: bool,
    /// The passes of plain steps after which they are judged.
    pub window: f64,
}

/// Returns how to accelerate, or `None` if the settings rule it out or it cannot pay.
pub(in crate::dual) fn momentum<B: Blocks>(blocks: &B, settings: &Settings) -> Option<Momentum> {
    let (lambda, smooth) = (settings.lambda, blocks.smoothness());
    let masses = Masses::new(blocks.len(), settings.sample_weights.as_deref()).ok()?;
    let squares = masses.iter().enumerate().map(|(i, mass)| mass * blocks.importance(i).powi(2));
    let counted = masses.iter().filter(|&mass| mass > 0.0).count();
    // SDCA takes about 1 + R²/(γλn) passes for a digit, where γ is the smoothness.
    let condition = squares.sum::<f64>() / (lambda * counted as f64);
    let on = match settings.acceleration {
        Acceleration::Off => return None,
        Acceleration::On => true,
        Acceleration::Auto => false,
    };
    let (ratio, at_once) = if smooth > 0.0 {
        // This λ' makes the second term one.
        (condition / smooth, on)
    } else {
        (RATIO, on || (B::Visits::KNOWS_CORNERS && condition >= AT_ONCE))
    };
    let worth_it = on
        || B::Visits::KNOWS_CORNERS
        || condition >= WORTH_IT * if smooth > 0.0 { smooth } else { 1.0 };
    let kappa = (ratio - 1.0) * lambda;
    let window = if smooth > 0.0 { 1.0 } else { UNSTEADY };
    let sensible = worth_it && kappa > 0.0 && kappa.is_finite();
    (possible(settings) && sensible).then_some(Momentum { kappa, at_once, window })
}
