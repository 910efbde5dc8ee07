//! A problem at zero weights: from which strength of the l1 penalty on they stay zero.
//!
//! With the free weight, if there is one, at its best value, and −α_i a subgradient of loss i there, zero weights are
//! optimal under `σ‖w‖₁` as soon as σ is at least
//!
//! ```text
//! σ_max = max_j |Σ mass_i X_i α_i|_j        over the penalised weights; without the bars if none may be negative
//! ```
//!
//! λ does not matter, because the gradient of `λ/2‖w‖²` is zero at zero. If the losses are smooth at zero weights, there is
//! one α, and σ_max is the smallest such σ. If they have corners there (the hinge at a free intercept, several
//! classes under the hinge), α is one of many, and σ_max may be larger than the smallest.

use crate::Result;
use crate::dual::{Problem, Witnessed};
use crate::term::{L2, Regulariser};

/// What a problem is like at zero weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AtZero {
    /// The mean loss, at the best value of the free weight.
    pub loss: f64,
    /// The dual norm of its gradient: σ_max for weights by themselves; the largest entry or singular value in a ball. It is
    /// zero if no weight lowers the loss.
    pub slope: f64,
}

/// Returns what a problem is like at zero weights, from points that are subgradients of the losses there, with the opposite
/// sign.
pub(super) fn at_zero<B: Witnessed>(
    blocks: &B,
    weights: Option<&[f64]>,
    regulariser: Regulariser,
    points: &[B::Point],
) -> Result<AtZero> {
    let dual = Problem::new(blocks, L2, 1.0, weights)?.dual(points)?;
    let Regulariser { nonnegative, free, .. } = regulariser;
    let size = |(j, &v): (usize, &f64)| match free {
        Some(free) if free.column == j => 0.0,
        _ if nonnegative => v,
        _ => v.abs(),
    };
    let slope = dual.v.iter().enumerate().map(size).fold(0.0, f64::max);
    // D(α) is the loss at zero, less the square that it has been given here.
    let square = dual.v.iter().map(|v| v * v).sum::<f64>() / 2.0;
    Ok(AtZero { loss: dual.value.value + square, slope })
}
