//! The two sides of a model's certificate, its primal and its dual value, computed from the data. Training, stored
//! files and verification all use this code.

use crate::ball::trace::{Map, Proving};
use crate::ball::{Problem as BallProblem, Table};
use crate::data::Factors;
use crate::dual::problem::PrimalValue;
use crate::dual::{Problem, Witness, Witnessed};
use crate::linalg::{LowRank, Measured, Operator, Rows};
use crate::run::Certificate;
use crate::structure::in_ball::{StoredLosses, points};
use crate::structure::{Fitted, LinearBlocks};
use crate::term::ball::l1;
use crate::term::{Ball, L2, Link, Loss, Penalty, PureL1, Regulariser, Unpenalised};
use crate::{Error, Result};

/// The primal and the dual value of a certificate, for any penalty.
pub(super) trait Sides {
    /// Returns the primal value at the weights of a model, which are for the unscaled data.
    fn primal(&self, fitted: Fitted<'_>, factors: &Factors) -> Result<PrimalValue>;
    /// Returns the dual value of a witness, or an error if it is infeasible.
    fn dual(&self, witness: &Witness) -> Result<Measured>;
}

/// Recomputes the certificate of weights and witness.
pub(super) fn certificate(
    fitted: Fitted<'_>,
    witness: &Witness,
    sides: &dyn Sides,
    factors: &Factors,
) -> Result<Certificate> {
    let primal = sides.primal(fitted, factors)?;
    Certificate::new(primal.value, sides.dual(witness)?, primal.certified)
}

/// Returns the error for a file with a false claim.
pub(super) fn refused(message: impl Into<String>) -> Error {
    Error::Refused {
        message: message.into(),
        remedy: "the certificate is worth nothing for this file and these data".into(),
    }
}

struct OfBlocks<'a, B, L> {
    blocks: &'a B,
    problem: Problem<'a, B, L>,
}

impl<'a, B: Witnessed, L: Link + 'a> OfBlocks<'a, B, L> {
    fn boxed(
        blocks: &'a B,
        link: L,
        lambda: f64,
        weights: Option<&[f64]>,
    ) -> Result<Box<dyn Sides + 'a>> {
        Ok(Box::new(Self { blocks, problem: Problem::new(blocks, link, lambda, weights)? }))
    }
}

impl<B: Witnessed, L: Link> Sides for OfBlocks<'_, B, L> {
    fn primal(&self, fitted: Fitted<'_>, factors: &Factors) -> Result<PrimalValue> {
        self.problem.primal(&factors.scaled(fitted.weights))
    }

    fn dual(&self, witness: &Witness) -> Result<Measured> {
        Ok(self.problem.dual(&witness.points(self.blocks)?)?.value)
    }
}

/// Returns the λ and the other terms of a penalty, or an error if a file names what there is not.
fn regulariser<B: Witnessed>(penalty: Penalty, blocks: &B) -> Result<(f64, Regulariser)> {
    let Some((lambda, regulariser)) = penalty.regulariser() else {
        return Err(refused("the file names a ball for a problem under a penalty"));
    };
    regulariser.check(blocks.dim())?;
    Ok((lambda, regulariser))
}

/// Returns the sides of a problem under a ridge.
pub(super) fn sides<'a, B: Witnessed>(
    penalty: Penalty,
    weights: Option<&[f64]>,
    blocks: &'a B,
) -> Result<Box<dyn Sides + 'a>> {
    let (lambda, regulariser) = regulariser(penalty, blocks)?;
    if regulariser.is_plain() {
        OfBlocks::boxed(blocks, L2, lambda, weights)
    } else {
        OfBlocks::boxed(blocks, regulariser.link(lambda)?, lambda, weights)
    }
}

/// Returns the sides of a problem of one output, which knows more penalties.
pub(super) fn linear_sides<'a, L: Loss>(
    penalty: Penalty,
    weights: Option<&[f64]>,
    blocks: &'a LinearBlocks<'_, L>,
) -> Result<Box<dyn Sides + 'a>> {
    let (lambda, regulariser) = regulariser(penalty, blocks)?;
    let Regulariser { l1, nonnegative, free, .. } = regulariser;
    match penalty {
        Penalty::Lasso { .. } => {
            let link = Unpenalised { link: PureL1 { nonnegative }, free };
            OfBlocks::boxed(blocks, link, l1, weights)
        }
        Penalty::QNorm { .. } => {
            let link = regulariser.q_norm(lambda, crate::dual::Blocks::dim(blocks))?;
            OfBlocks::boxed(blocks, link, lambda, weights)
        }
        _ if regulariser.is_plain() => {
            OfBlocks::boxed(blocks, Unpenalised { link: L2, free }, lambda, weights)
        }
        _ => {
            let link = Unpenalised { link: regulariser.link(lambda)?, free };
            OfBlocks::boxed(blocks, link, lambda, weights)
        }
    }
}

/// The sides of a problem in the l1 ball.
pub(super) struct L1Sides<'a, L> {
    pub problem: BallProblem<Table<'a>, L>,
}

/// Returns the sides of a problem in the l1 ball.
pub(super) fn l1_sides<'a, L: StoredLosses>(
    ball: Ball,
    mu: f64,
    weights: Option<&[f64]>,
    rows: &'a Rows,
    losses: L,
) -> Result<L1Sides<'a, L>> {
    Ok(L1Sides { problem: BallProblem::l1(rows, losses, mu, ball.radius(), weights)? })
}

impl<L: StoredLosses> Sides for L1Sides<'_, L> {
    fn primal(&self, fitted: Fitted<'_>, factors: &Factors) -> Result<PrimalValue> {
        let weights = factors.scaled(fitted.weights).into_owned();
        let value = self.problem.primal(&weights)?;
        if value.value == f64::INFINITY && !l1::contains(&weights, self.problem.radius()) {
            return Err(refused("the weights are not in the ball that the file names"));
        }
        Ok(PrimalValue { value, certified: true })
    }

    fn dual(&self, witness: &Witness) -> Result<Measured> {
        Ok(self.problem.dual(&points(self.problem.losses(), witness)?)?.value)
    }
}

/// The sides of a problem in the trace ball, for any map from the matrix to the predictions.
pub(super) struct LowRankSides<M, L> {
    pub problem: BallProblem<M, L>,
}

impl<M: Map, L: StoredLosses> LowRankSides<M, L> {
    pub fn new(ball: Ball, mu: f64, weights: Option<&[f64]>, map: M, losses: L) -> Result<Self> {
        Ok(Self { problem: BallProblem::new(map, losses, mu, ball.radius(), weights)? })
    }

    /// Returns the weights for the unscaled data. Scaling and unscaling round, so it shrinks them until they are in
    /// the ball.
    pub fn raw_inside(&self, x: &LowRank, factors: &Factors) -> Result<LowRank> {
        if factors.are_none() {
            return Ok(x.clone());
        }
        let (rows, columns) = self.problem.map().shape();
        let u = factors.raw(x.u()).into_owned();
        let mut raw = LowRank::new(rows, columns, u, x.s().to_vec(), x.v().to_vec())?;
        let mut margin = 2.0 * f64::EPSILON;
        while !self.problem.contains(&as_trained(&raw, factors)?) {
            if margin > 1.0 {
                return Ok(LowRank::zero(rows, columns)); // which is in every ball
            }
            raw = raw.scaled(1.0 - margin);
            margin *= 2.0;
        }
        Ok(raw)
    }
}

/// Returns the weights for the scaled data, as the run had them.
fn as_trained(x: &LowRank, factors: &Factors) -> Result<LowRank> {
    let u = factors.scaled(x.u()).into_owned();
    LowRank::new(x.rows(), x.columns(), u, x.s().to_vec(), x.v().to_vec())
}

impl<M: Map, L: StoredLosses> Sides for LowRankSides<M, L> {
    fn primal(&self, fitted: Fitted<'_>, factors: &Factors) -> Result<PrimalValue> {
        let Some(x) = fitted.low_rank else {
            return Err(refused("the file names the trace ball, and has no weights in factors"));
        };
        let x = as_trained(x, factors)?;
        if !self.problem.contains(&x) {
            return Err(refused("the weights are not in the ball that the file names"));
        }
        Ok(PrimalValue { value: self.problem.primal(&x)?, certified: true })
    }

    /// The search for singular values may end elsewhere on another machine, so its tolerance counts as an error.
    fn dual(&self, witness: &Witness) -> Result<Measured> {
        let alpha = points(self.problem.losses(), witness)?;
        let proving = Proving::default();
        let found = self.problem.dual(&alpha, &proving)?;
        let top = found.ball.as_ref().and_then(|ball| ball.top.found.s().first().copied());
        let searched = 4.0 * proving.tolerance * self.problem.radius() * top.unwrap_or(0.0);
        Ok(Measured { error: found.value.error + searched, ..found.value })
    }
}
