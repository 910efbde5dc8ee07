//! Both sides of a model's certificate, computed from the data: what a run, a file and a proof rest on alike.

use super::{Model, Provenance};
use crate::data::Factors;
use crate::dual::problem::PrimalValue;
use crate::dual::{Problem, Witness, Witnessed};
use crate::linalg::Measured;
use crate::run::Certificate;
use crate::term::{L2, Link, PureL1, Regulariser, Unpenalised};
use crate::{Error, Result};

/// Both sides of a certificate, whatever the regulariser.
pub(super) trait Sides {
    /// Of the weights of a model, which are for the data before they were divided by the factors.
    fn primal(&self, model: &Model, factors: &Factors) -> Result<PrimalValue>;
    /// After the witness is proved feasible.
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

/// Of the problem that a model says it was trained on.
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

/// The certificate of a model's own weights and witness, computed anew.
pub(super) fn certificate(
    model: &Model,
    witness: &Witness,
    sides: &dyn Sides,
    factors: &Factors,
) -> Result<Certificate> {
    let primal = sides.primal(model, factors)?;
    Certificate::new(primal.value, sides.dual(witness)?, primal.certified)
}

/// What a file is told that claims what is not so.
pub(super) fn refused(message: impl Into<String>) -> Error {
    Error::Refused {
        message: message.into(),
        remedy: "the certificate is worth nothing for this file and these data".into(),
    }
}
