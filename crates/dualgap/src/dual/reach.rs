//! Computes a [`Reach`]: the parts of the primal and the dual value that do not depend on λ, each from scratch.

use super::{Blocks, Problem};
use crate::Result;
use crate::linalg::{Measured, Sum};
use crate::run::Reach;
use crate::term::{Link, PureL1, Regulariser, Unpenalised};

/// Returns what weights and dual points prove at every λ under this regulariser, or an error if a point is infeasible.
///
/// ```
/// use dualgap::dual::{Blocks, reach};
/// use dualgap::linalg::Rows;
/// use dualgap::structure::{Choice, LinearBlocks};
/// use dualgap::term::{Regulariser, ScalarLoss};
///
/// let rows = Rows::dense(&[vec![1.0], vec![2.0]])?;
/// let blocks = LinearBlocks::new(&rows, vec![1.0, 3.0].into(), ScalarLoss::Squared, Choice::I)?;
/// let points: Vec<_> = (0..2).map(|i| blocks.start(i)).collect();
/// let reach = reach(&blocks, Regulariser::PLAIN, None, &[0.0], &points)?;
/// assert_eq!(reach.fixed.value, 2.5); // ½(½·1² + ½·3²)
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn reach<B: Blocks>(
    blocks: &B,
    regulariser: Regulariser,
    sample_weights: Option<&[f64]>,
    weights: &[f64],
    points: &[B::Point],
) -> Result<Reach> {
    regulariser.check(blocks.dim())?;
    let whole = regulariser;
    let square = Regulariser { l1: 0.0, ..whole };
    let at = (sample_weights, weights, points);
    // At λ = 1, σ/λ is σ to the last bit, v is s, and no part needs to be rescaled.
    if whole.q_norm {
        let links = (whole.q_norm(1.0, blocks.dim())?, square.q_norm(1.0, blocks.dim())?);
        return measured(blocks, links, whole, at);
    }
    measured(blocks, (whole.link(1.0)?, square.link(1.0)?), whole, at)
}

fn measured<B: Blocks, L: Link>(
    blocks: &B,
    (link, square): (L, L),
    Regulariser { l1, nonnegative, free, .. }: Regulariser,
    (sample_weights, weights, points): (Option<&[f64]>, &[f64], &[B::Point]),
) -> Result<Reach> {
    let problem = Problem::new(blocks, link, 1.0, sample_weights)?;
    let loss = problem.mean_loss(weights, points)?;
    let mut fixed = Sum::default();
    fixed.add_measured(loss.value);
    if l1 > 0.0 {
        let norm = Unpenalised { link: PureL1 { nonnegative }, free }.value(weights);
        fixed.add_measured(norm.scaled(l1));
    }
    let square = Unpenalised { link: square, free }.value(weights);

    let found = problem.mean_dual(points)?;
    let (mut s, distance) = (found.v, found.distance);
    let mut dual = Sum::default();
    dual.add_measured(found.mean.total());
    if let Some(free) = free {
        // λ·bound·|s_j/λ|: the part of a free weight is the same at every λ.
        let own = std::mem::replace(&mut s[free.column], 0.0).abs();
        let known = Measured { value: own, error: distance };
        dual.add_measured(known.scaled(-free.bound));
    }
    let conjugate = problem.link().conjugate_near(&s, distance);
    Ok(Reach {
        fixed: fixed.total(),
        square,
        dual: dual.total(),
        conjugate,
        certified: loss.certified,
        basis: loss.basis,
    })
}
