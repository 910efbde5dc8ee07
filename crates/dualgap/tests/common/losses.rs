//! The losses and their conjugates by their formulas, to 32 digits.

use super::wide::{Wide, exp, ln, wide};
use dualgap::term::ScalarLoss;

pub fn x_ln_x(x: Wide) -> Wide {
    if x > Wide::ZERO { x * ln(x) } else { Wide::ZERO }
}

/// φ(a).
pub fn phi(loss: ScalarLoss, a: Wide, y: f64) -> Wide {
    let (short, r) = ((Wide::ONE - wide(y) * a).max(Wide::ZERO), (a - wide(y)).abs());
    let half = wide(0.5);
    match loss {
        ScalarLoss::Hinge => short,
        ScalarLoss::SmoothHinge { width } if short >= wide(width) => short - half * wide(width),
        ScalarLoss::SmoothHinge { width } => half * short * short / wide(width),
        ScalarLoss::SquaredHinge => short * short,
        ScalarLoss::Absolute => r,
        ScalarLoss::EpsilonInsensitive { epsilon } => (r - wide(epsilon)).max(Wide::ZERO),
        ScalarLoss::Huber { width } if r > wide(width) => wide(width) * (r - half * wide(width)),
        ScalarLoss::Squared | ScalarLoss::Huber { .. } => half * r * r,
        ScalarLoss::Logistic => {
            let m = wide(y) * a;
            ln(Wide::ONE + exp(-m.abs())) + (-m).max(Wide::ZERO)
        }
    }
}

/// −φ*(−α).
pub fn dual_term(loss: ScalarLoss, alpha: Wide, y: f64) -> Wide {
    let (linear, half) = (alpha * wide(y), wide(0.5));
    match loss {
        ScalarLoss::Hinge | ScalarLoss::Absolute => linear,
        ScalarLoss::SmoothHinge { width } => linear - half * wide(width) * alpha * alpha,
        ScalarLoss::SquaredHinge => linear - wide(0.25) * alpha * alpha,
        ScalarLoss::EpsilonInsensitive { epsilon } => linear - wide(epsilon) * alpha.abs(),
        ScalarLoss::Squared | ScalarLoss::Huber { .. } => linear - half * alpha * alpha,
        ScalarLoss::Logistic => -(x_ln_x(linear) + x_ln_x(Wide::ONE - linear)),
    }
}
