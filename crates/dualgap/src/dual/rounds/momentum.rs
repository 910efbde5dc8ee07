//! What acceleration adds to λ, and when it begins.

use crate::dual::problem::masses;
use crate::dual::{Acceleration, Average, Blocks, Method, Settings, Step};

/// Acceleration may pay where λ' would be so many times λ.
const WORTH_IT: f64 = 2.0;

/// λ'/λ to begin with, where no smoothness says how much is needed.
const RATIO: f64 = 16.0;

/// Where blocks take steps between corners and the condition number is so large, acceleration begins at once.
const AT_ONCE: f64 = 32.0;

/// Passes of plain steps before they are judged where losses have corners: their gaps shrink less steadily.
const UNSTEADY: f64 = 4.0;

/// The rounds move one point step by step: averages and batch steps are another matter.
pub(in crate::dual) fn possible(settings: &Settings) -> bool {
    settings.method == Method::Bcfw
        && settings.step == Step::LineSearch
        && settings.average == Average::None
}

/// What acceleration adds to λ, and whether it begins at once or when plain steps are seen to be slow.
#[derive(Clone, Copy, Debug)]
pub(in crate::dual) struct Momentum {
    pub kappa: f64,
    pub at_once: bool,
    /// How many passes of plain steps show how slow they are.
    pub window: f64,
}

/// Acceleration as it may be worth it for these settings.
pub(in crate::dual) fn momentum<B: Blocks>(blocks: &B, settings: &Settings) -> Option<Momentum> {
    let (lambda, smooth) = (settings.lambda, blocks.smoothness());
    let masses = masses(blocks.len(), settings.sample_weights.as_deref()).ok()?;
    let squares = masses.iter().enumerate().map(|(i, mass)| mass * blocks.importance(i).powi(2));
    let counted = masses.iter().filter(|&&mass| mass > 0.0).count();
    // SDCA takes about 1 + R²/(γλn) passes for a digit, where γ is the smoothness.
    let condition = squares.sum::<f64>() / (lambda * counted as f64);
    let on = match settings.acceleration {
        Acceleration::Off => return None,
        Acceleration::On => true,
        Acceleration::Auto => false,
    };
    let (ratio, at_once) = if smooth > 0.0 {
        // With λ' the second term is one.
        (condition / smooth, on)
    } else {
        (RATIO, on || (B::FACES && condition >= AT_ONCE))
    };
    let worth_it =
        on || B::FACES || condition >= WORTH_IT * if smooth > 0.0 { smooth } else { 1.0 };
    let kappa = (ratio - 1.0) * lambda;
    let window = if smooth > 0.0 { 1.0 } else { UNSTEADY };
    let sensible = worth_it && kappa > 0.0 && kappa.is_finite();
    (possible(settings) && sensible).then_some(Momentum { kappa, at_once, window })
}
