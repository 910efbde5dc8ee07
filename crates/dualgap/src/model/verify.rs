//! Verification: recomputes a stored certificate from the data without trusting a number in the file.

use super::fit::linear_targets;
use super::sides::{Sides, refused, sides};
use super::{Model, Provenance, Structure, ball, multi_output, scaled};
use crate::ball::{Classes, PerOutput};
use crate::data::fingerprint::Fingerprint;
use crate::data::{Alphabet, Examples, Factors, Format, Sequences, Vocabulary, fingerprint};
use crate::dual::{self, Witnessed};
use crate::linalg::Measured;
use crate::run::{Certificate, Reach};
use crate::structure::{ChainBlocks, Choice, LinearBlocks, MulticlassBlocks, ScoreBlocks};
use crate::term::{Costs, MulticlassLoss, ScalarLoss};
use crate::{Error, Result, Setting};

/// The evidence for the dual value of a verified certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DualEvidence {
    /// The witness is feasible, and its dual value was computed.
    Witness,
    /// The file has no witness: the dual value is only the claim of the run that made it.
    Word,
}

/// A certificate that was verified.
#[derive(Clone, Copy, Debug)]
pub struct Verified {
    /// The recomputed certificate; its dual value is recomputed only if there is a witness.
    pub certificate: Certificate,
    /// The evidence for the dual value.
    pub evidence: DualEvidence,
}

/// Verifies the certificate of a multiclass model against its training data.
pub fn verify_examples(model: &Model, data: &Examples) -> Result<Verified> {
    prove_examples(model, data, &OfTheFile)
}

/// Verifies the certificate of a chain model against its training data.
pub fn verify_sequences(model: &Model, data: &Sequences) -> Result<Verified> {
    prove_sequences(model, data, &OfTheFile)
}

/// Verifies the certificate of a linear model against its training data.
pub fn verify_linear(model: &Model, data: &Examples) -> Result<Verified> {
    prove_linear(model, data, &OfTheFile)
}

/// Verifies the certificate of a multi-label model against its training data.
pub fn verify_labels(model: &Model, data: &Examples) -> Result<Verified> {
    prove_labels(model, data, &OfTheFile)
}

/// Verifies the certificate of a multi-output model against its training data.
pub fn verify_outputs(model: &Model, data: &Examples) -> Result<Verified> {
    prove_outputs(model, data, &OfTheFile)
}

/// Returns the bound that a multiclass model and its witness prove at every λ, computed from its training data.
pub fn reach_examples(model: &Model, data: &Examples) -> Result<Reach> {
    prove_examples(model, data, &AtEveryLambda)
}

/// Returns the bound that a chain model and its witness prove at every λ, computed from its training data.
pub fn reach_sequences(model: &Model, data: &Sequences) -> Result<Reach> {
    prove_sequences(model, data, &AtEveryLambda)
}

/// Returns the bound that a linear model and its witness prove at every λ, computed from its training data.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::model::{fit_linear, reach_linear};
/// use dualgap::run::{Budget, Interval, Tolerance};
/// use dualgap::dual::Settings;
/// use dualgap::structure::Choice;
/// use dualgap::term::ScalarLoss;
///
/// let data = Examples::from_dense_numbers(&[vec![1.0], vec![2.0], vec![3.0]], &[2.0, 4.0, 6.0])?;
/// let settings = Settings { lambda: 0.1, ..Settings::default() };
/// let budget = Budget::relative(0.001);
/// let fitted = fit_linear(&data, ScalarLoss::Squared, Choice::I, &settings, &budget, &mut ())?;
/// let reach = reach_linear(&fitted.model, &data)?;
/// let proved = reach.interval(Interval::new(1e-3, 10.0)?, Tolerance::Relative(0.01)).unwrap();
/// assert!(proved.from < 0.1 && proved.to > 0.1, "the model will do for other λ too");
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn reach_linear(model: &Model, data: &Examples) -> Result<Reach> {
    prove_linear(model, data, &AtEveryLambda)
}

/// A statement to prove about a model, after the check that the data are its training data.
trait Proof {
    type Of;

    fn of<B: Witnessed>(&self, model: &Model, blocks: &B, factors: &Factors) -> Result<Self::Of>;

    /// Proves the statement for a model whose weights are constrained to a ball.
    fn in_ball(&self, model: &Model, sides: &dyn Sides, factors: &Factors) -> Result<Self::Of>;
}

/// Proves the stored certificate.
struct OfTheFile;

impl Proof for OfTheFile {
    type Of = Verified;

    fn of<B: Witnessed>(&self, model: &Model, blocks: &B, factors: &Factors) -> Result<Verified> {
        verify(model, &*sides(model, blocks)?, factors)
    }

    fn in_ball(&self, model: &Model, sides: &dyn Sides, factors: &Factors) -> Result<Verified> {
        verify(model, sides, factors)
    }
}

/// Proves a bound at every λ from the weights and the witness.
struct AtEveryLambda;

impl Proof for AtEveryLambda {
    type Of = Reach;

    fn of<B: Witnessed>(&self, model: &Model, blocks: &B, factors: &Factors) -> Result<Reach> {
        let Provenance { lambda, regulariser, .. } = model.provenance;
        if lambda == 0.0 {
            return Err(Error::setting("pure l1 has no λ: its model is not one of several"));
        }
        let Some(witness) = &model.witness else {
            return Err(Error::setting(format!(
                "without its witness a model proves nothing at another λ: train it with {}",
                Setting::Witness
            )));
        };
        let weights = factors.scaled(&model.weights);
        let points = witness.points(blocks)?;
        dual::reach(blocks, regulariser, model.sample_weights.as_deref(), &weights, &points)
    }

    fn in_ball(&self, _: &Model, _: &dyn Sides, _: &Factors) -> Result<Reach> {
        Err(Error::setting("a model in a ball is for its own μ and radius, and for no others"))
    }
}

fn prove_examples<P: Proof>(model: &Model, data: &Examples, proof: &P) -> Result<P::Of> {
    let Structure::Multiclass { costs, loss } = &model.structure else {
        return Err(refused("the model is not one of independent examples"));
    };
    check_data(model, data, data.vocabulary(), 0, data.len())?;
    let costs = costs.clone().map_or(Costs::ZeroOne, Costs::Matrix);
    let (factors, data) = scaled::apply(model.provenance.scale, data)?;
    if let Some(within) = model.provenance.ball {
        let classes = data.classes()?;
        let losses = Classes::new(*loss, classes.numbers(), classes.alphabet().len(), &costs)?;
        return proof.in_ball(model, &*ball::sides(model, within, data.rows(), losses)?, &factors);
    }
    if *loss == MulticlassLoss::Hinge {
        return proof.of(model, &MulticlassBlocks::new(&data, &costs)?, &factors);
    }
    proof.of(model, &ScoreBlocks::new(&data, &costs, *loss, Choice::I)?, &factors)
}

fn prove_sequences<P: Proof>(model: &Model, data: &Sequences, proof: &P) -> Result<P::Of> {
    let Structure::Chain { hamming } = model.structure else {
        return Err(refused("the model is not one of sequences"));
    };
    if !model.provenance.scale.is_none() {
        return Err(refused(
            "the file says that columns were scaled, and those of sequences never are",
        ));
    }
    if model.provenance.ball.is_some() {
        return Err(refused("the file names a ball, and the weights of chains are kept in none"));
    }
    check_data(model, data, data.vocabulary(), data.edge_features(), data.len())?;
    proof.of(model, &ChainBlocks::new(data, hamming)?, &Factors::default())
}

fn prove_linear<P: Proof>(model: &Model, data: &Examples, proof: &P) -> Result<P::Of> {
    let Structure::Linear { loss } = model.structure else {
        return Err(refused("the model is not a linear one"));
    };
    let names = Vocabulary { alphabet: &model.alphabet, ..data.vocabulary() };
    if loss.is_binary() && *data.vocabulary().alphabet != model.alphabet {
        return Err(refused("the file has other classes than the data"));
    }
    check_data(model, data, names, 0, data.len()).map_err(|error| spelled(model, loss, error))?;
    let (factors, data) = scaled::apply(model.provenance.scale, data)?;
    let targets = linear_targets(&data, loss)?;
    if let Some(within) = model.provenance.ball {
        let losses = PerOutput::new(loss, targets, 1)?;
        return proof.in_ball(model, &*ball::sides(model, within, data.rows(), losses)?, &factors);
    }
    // The option decides how a run reaches its point, and does not affect the value of a point.
    proof.of(model, &LinearBlocks::new(data.rows(), targets, loss, Choice::I)?, &factors)
}

/// Adds a hint to an error: earlier versions identified the numbers of column files by their spelling, and so did
/// the fingerprints of their data.
fn spelled(model: &Model, loss: ScalarLoss, error: Error) -> Error {
    let format = model.provenance.recipe.as_ref().map(|recipe| &recipe.format);
    match error {
        Error::Refused { message, remedy }
            if !loss.is_binary() && matches!(format, Some(Format::Columns(_))) =>
        {
            let remedy = format!(
                "{remedy}; a model that an earlier version has trained on numbers spelled as 1.50 or +2 is to be trained again"
            );
            Error::Refused { message, remedy }
        }
        other => other,
    }
}

fn prove_labels<P: Proof>(model: &Model, data: &Examples, proof: &P) -> Result<P::Of> {
    let Structure::MultiLabel { loss } = model.structure else {
        return Err(refused("the model is not one of sets of labels"));
    };
    let (targets, alphabet) = data.sets()?.signs();
    prove_each(model, data, loss, targets, &alphabet, proof)
}

fn prove_outputs<P: Proof>(model: &Model, data: &Examples, proof: &P) -> Result<P::Of> {
    let Structure::MultiOutput { loss } = model.structure else {
        return Err(refused("the model is not one of several numbers"));
    };
    let outputs = multi_output::of(data)?;
    prove_each(model, data, loss, outputs.values().to_vec(), outputs.names(), proof)
}

/// Proves a statement about a model of several outputs under one loss for each output; `alphabet` has their names in
/// the data.
fn prove_each<P: Proof>(
    model: &Model,
    data: &Examples,
    loss: ScalarLoss,
    targets: Vec<f64>,
    alphabet: &Alphabet,
    proof: &P,
) -> Result<P::Of> {
    let Some(within) = model.provenance.ball else {
        return Err(refused("the file names no ball, and weights of its task are kept in one"));
    };
    check_data(model, data, Vocabulary { alphabet, ..data.vocabulary() }, 0, data.len())?;
    let (factors, data) = scaled::apply(model.provenance.scale, data)?;
    let losses = PerOutput::new(loss, targets, alphabet.len())?;
    proof.in_ball(model, &*ball::sides(model, within, data.rows(), losses)?, &factors)
}

pub(super) fn check_data(
    model: &Model,
    data: &impl Fingerprint,
    names: Vocabulary<'_>,
    pair_features: usize,
    examples: usize,
) -> Result<()> {
    let (stored, found) = (&model.provenance.fingerprint, fingerprint(data));
    if *stored != found || examples != model.provenance.examples {
        return Err(Error::Refused {
            message: format!(
                "these are not the data the model was trained on: their fingerprint is {found}, \
                 and the model's is {stored}"
            ),
            remedy: "give the training file itself, unchanged".into(),
        });
    }
    if *names.alphabet != model.alphabet {
        return Err(refused("the file has other names for what it predicts than the data"));
    }
    // The same number of weights with another number of features is another model.
    if (names.features, pair_features) != (model.features, model.pair_features) {
        return Err(refused("the file has another number of features than the data"));
    }
    if *names.dictionary != model.dictionary {
        return Err(refused("the file has other names for its features than the data"));
    }
    Ok(())
}

pub(super) fn verify(model: &Model, sides: &dyn Sides, factors: &Factors) -> Result<Verified> {
    let stored = model.certificate;
    let primal = sides.primal(model, factors)?;
    agree("primal", primal.value, stored.primal, &stored)?;
    if stored.certified != primal.certified {
        return Err(refused("the file is wrong about whether its primal value is a bound"));
    }
    let (dual, evidence) = if let Some(witness) = &model.witness {
        let dual = sides.dual(witness)?;
        agree("dual", dual, stored.dual, &stored)?;
        (dual, DualEvidence::Witness)
    } else {
        let error = believable(stored.rounding_error, stored.dual);
        (Measured { value: stored.dual, error }, DualEvidence::Word)
    };
    Ok(Verified { certificate: Certificate::new(primal.value, dual, primal.certified)?, evidence })
}

/// Limits a stored error bound to a millionth of the value: a file could claim any bound to excuse a false value.
fn believable(stored_error: f64, value: f64) -> f64 {
    stored_error.min(1e-6 * value.abs())
}

/// Checks that the computed and the stored value differ only by rounding. The computed error bound is limited too: a
/// file could name a problem whose rounding is so large that any value would pass.
fn agree(side: &str, computed: Measured, stored: f64, file: &Certificate) -> Result<()> {
    let scale = computed.value.abs().max(file.primal.abs()).max(file.dual.abs());
    let allowed =
        computed.error.min(1e-6 * scale) + believable(file.rounding_error, computed.value);
    if (computed.value - stored).abs() <= allowed {
        return Ok(());
    }
    Err(refused(format!(
        "the file claims a {side} value of {stored}, and the data give {}",
        computed.value
    )))
}
