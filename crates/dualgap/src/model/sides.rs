//! The two sides of a model's certificate, its primal and its dual value, computed from the data. Training, stored
//! files and verification all use this code.

use super::{Model, Provenance};
use crate::data::Factors;
use crate::dual::problem::PrimalValue;
use crate::dual::{Problem, Witness, Witnessed};
use crate::linalg::Measured;
use crate::run::Certificate;
use crate::term::{L2, Link, PureL1, Regulariser, Unpenalised};
use crate::{Error, Result};

/// The primal and the dual value of a certificate, for any regulariser.
pub(super) trait Sides {
    /// Returns the primal value at the weights of a model, which are for the unscaled data.
    fn primal(&self, model: &Model, factors: &Factors) -> Result<PrimalValue>;
    /// Returns the dual value of a witness, or an error if it is infeasible.
    fn dual(&self, witness: &Witness) -> Result<Measured>;
}

struct Of<'a, B, L> {
    blocks: &'a B,
    problem: Problem<'a, B, L>,
}

impl<B: Witnessed, L: Link> Sides for Of<'_, B, L> {
    fn primal(&self, model: &Model, factors: &Factors) -> Result<PrimalValue> {
        self.problem.primal(&factors.scaled(&model.weights))
    }

    fn dual(&self, witness: &Witness) -> Result<Measured> {
        Ok(self.problem.dual(&witness.points(self.blocks)?)?.value)
    }
}

/// Returns the sides for the problem that a model says it was trained on.
pub(super) fn sides<'a, B: Witnessed>(model: &Model, blocks: &'a B) -> Result<Box<dyn Sides + 'a>> {
    fn of<'a, B: Witnessed, L: Link + 'a>(
        model: &Model,
        blocks: &'a B,
        link: L,
        lambda: f64,
    ) -> Result<Box<dyn Sides + 'a>> {
        let weights = model.sample_weights.as_deref();
        Ok(Box::new(Of { blocks, problem: Problem::new(blocks, link, lambda, weights)? }))
    }
    let Provenance { lambda, regulariser, .. } = model.provenance;
    let Regulariser { l1, nonnegative, free, .. } = regulariser;
    regulariser.check(blocks.dim())?;
    if lambda == 0.0 && regulariser.q_norm {
        return Err(refused("the file names a q-norm, and no lambda for it"));
    }
    if lambda == 0.0 && l1 > 0.0 {
        of(model, blocks, Unpenalised { link: PureL1 { nonnegative }, free }, l1)
    } else if regulariser.q_norm {
        of(model, blocks, regulariser.q_norm(lambda, blocks.dim())?, lambda)
    } else if regulariser.is_plain() {
        of(model, blocks, Unpenalised { link: L2, free }, lambda)
    } else {
        of(model, blocks, Unpenalised { link: regulariser.link(lambda)?, free }, lambda)
    }
}

/// Recomputes the certificate of a model's weights and witness.
pub(super) fn certificate(
    model: &Model,
    witness: &Witness,
    sides: &dyn Sides,
    factors: &Factors,
) -> Result<Certificate> {
    let primal = sides.primal(model, factors)?;
    Certificate::new(primal.value, sides.dual(witness)?, primal.certified)
}

/// Returns the error for a file with a false claim.
pub(super) fn refused(message: impl Into<String>) -> Error {
    Error::Refused {
        message: message.into(),
        remedy: "the certificate is worth nothing for this file and these data".into(),
    }
}
