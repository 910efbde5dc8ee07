//! A stored certificate, computed again from the data without trusting a number in the file.

use super::{Model, Provenance, Structure};
use crate::data::fingerprint::Fingerprint;
use crate::data::{Examples, Sequences, Vocabulary, fingerprint};
use crate::dual::{Problem, Witnessed};
use crate::linalg::Measured;
use crate::run::Certificate;
use crate::sdca::{Choice, Linear, Vector};
use crate::ssvm::{Chain, Costs, Multiclass};
use crate::term::{L2, Link, MulticlassLoss, PureL1, Regulariser, Unpenalised};
use crate::{Error, Result};

/// What the dual side of a verified certificate rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DualEvidence {
    /// A witness was proved feasible and its dual value computed.
    Witness,
    /// The file has no witness: the dual value is the word of the run that made it.
    Word,
}

/// A certificate that was checked.
#[derive(Clone, Copy, Debug)]
pub struct Verified {
    /// Computed again; the dual value only if there is a witness.
    pub certificate: Certificate,
    /// What the dual value rests on.
    pub evidence: DualEvidence,
}

/// Checks a multiclass model against its training data.
pub fn verify_examples(model: &Model, data: &Examples) -> Result<Verified> {
    let Structure::Multiclass { costs, loss } = &model.structure else {
        return Err(refused("the model is not one of independent examples"));
    };
    check_data(model, data, data.vocabulary(), 0, data.len())?;
    let costs = costs.clone().map_or(Costs::ZeroOne, Costs::Matrix);
    if *loss == MulticlassLoss::Hinge {
        return verify(model, &Multiclass::new(data, &costs)?);
    }
    verify(model, &Vector::new(data, &costs, *loss, Choice::I)?)
}

/// Checks a chain model against its training data.
pub fn verify_sequences(model: &Model, data: &Sequences) -> Result<Verified> {
    let Structure::Chain { hamming } = model.structure else {
        return Err(refused("the model is not one of sequences"));
    };
    check_data(model, data, data.vocabulary(), data.edge_features(), data.len())?;
    verify(model, &Chain::new(data, hamming)?)
}

/// Checks a linear model against its training data.
pub fn verify_linear(model: &Model, data: &Examples) -> Result<Verified> {
    let Structure::Linear { loss } = model.structure else {
        return Err(refused("the model is not a linear one"));
    };
    let names = Vocabulary { alphabet: &model.alphabet, ..data.vocabulary() };
    if loss.is_binary() && data.alphabet != model.alphabet {
        return Err(refused("the file has other classes than the data"));
    }
    check_data(model, data, names, 0, data.len())?;
    // The option decides how a point is reached, and nothing about the point.
    verify(model, &Linear::new(&data.rows, data.targets(loss.is_binary())?, loss, Choice::I)?)
}

fn refused(message: impl Into<String>) -> Error {
    Error::Refused {
        message: message.into(),
        remedy: "the certificate is worth nothing for this file and these data".into(),
    }
}

fn check_data(
    model: &Model,
    data: &impl Fingerprint,
    names: Vocabulary<'_>,
    pair_features: usize,
    examples: usize,
) -> Result<()> {
    let (stored, found) = (&model.provenance.fingerprint, fingerprint(data));
    if *stored != found
        || examples != model.provenance.examples
        || *names.alphabet != model.alphabet
    {
        return Err(Error::Refused {
            message: format!(
                "these are not the data the model was trained on: their fingerprint is {found}, \
                 and the model's is {stored}"
            ),
            remedy: "give the training file itself, unchanged".into(),
        });
    }
    // Another split of as many weights would be another model.
    if (names.features, pair_features) != (model.features, model.pair_features) {
        return Err(refused("the file has another number of features than the data"));
    }
    if *names.dictionary != model.dictionary {
        return Err(refused("the file has other names for its features than the data"));
    }
    Ok(())
}

fn verify<B: Witnessed>(model: &Model, blocks: &B) -> Result<Verified> {
    let Provenance { lambda, regulariser, .. } = model.provenance;
    let Regulariser { l1, nonnegative, free, .. } = regulariser;
    regulariser.check(blocks.dim())?;
    if lambda == 0.0 && l1 > 0.0 {
        verify_with(model, blocks, Unpenalised { link: PureL1 { nonnegative }, free }, l1)
    } else if regulariser.q_norm {
        verify_with(model, blocks, regulariser.q_norm(lambda, blocks.dim())?, lambda)
    } else if regulariser.is_plain() {
        verify_with(model, blocks, Unpenalised { link: L2, free }, lambda)
    } else {
        let link = regulariser.link(lambda)?;
        verify_with(model, blocks, Unpenalised { link, free }, lambda)
    }
}

fn verify_with<B: Witnessed, L: Link>(
    model: &Model,
    blocks: &B,
    link: L,
    lambda: f64,
) -> Result<Verified> {
    let weights = model.sample_weights.as_deref();
    let problem = Problem::new(blocks, link, lambda, weights)?;
    let stored = model.certificate;
    let primal = problem.primal(&model.weights)?;
    agree("primal", primal.value, stored.primal, stored.rounding_error)?;
    if stored.certified != primal.certified {
        return Err(refused("the file is wrong about whether its primal value is a bound"));
    }
    let (dual, evidence) = if let Some(witness) = &model.witness {
        let dual = problem.dual(&witness.points(blocks)?)?;
        agree("dual", dual.value, stored.dual, stored.rounding_error)?;
        (dual.value, DualEvidence::Witness)
    } else {
        let error = believable(stored.rounding_error, stored.dual);
        (Measured { value: stored.dual, error }, DualEvidence::Word)
    };
    Ok(Verified { certificate: Certificate::new(primal.value, dual, primal.certified)?, evidence })
}

/// A stored error bound is not trusted to excuse more than a millionth.
fn believable(stored_error: f64, value: f64) -> f64 {
    stored_error.min(1e-6 * value.abs())
}

/// The computed value and the stored one may differ by rounding and by nothing else.
fn agree(side: &str, computed: Measured, stored: f64, stored_error: f64) -> Result<()> {
    let allowed = computed.error + believable(stored_error, computed.value);
    if (computed.value - stored).abs() <= allowed {
        return Ok(());
    }
    Err(refused(format!(
        "the file claims a {side} value of {stored}, and the data give {}",
        computed.value
    )))
}
