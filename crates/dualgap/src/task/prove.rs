//! Verification: recomputes a stored certificate from the data without trusting a number in the file.

use super::Model;
use crate::data::{DataSet, Factors, Format, TargetKind};
use crate::dual::Witness;
use crate::dual::problem::PrimalValue;
use crate::linalg::Measured;
use crate::run::{Basis, Certificate, Reach};
use crate::structure::Structure;
use crate::structure::posed::{Posing, Solvable, refused};
use crate::term::Penalty;
use crate::{Error, Result, Setting};

/// The evidence for the dual value of a verified certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

impl<S: Structure> Model<S> {
    /// Verifies the certificate against the training data: recomputes it without trusting a number in the model.
    pub fn certify(&self, data: &S::Data) -> Result<Verified> {
        prove(self, data, |posed, factors| certify(self, posed, factors))
    }

    /// Returns the bound that the model and its witness prove at every λ, computed from its training data.
    ///
    /// ```
    /// use dualgap::data::Examples;
    /// use dualgap::run::{Budget, Interval, Tolerance};
    /// use dualgap::structure::Linear;
    /// use dualgap::task::{Plan, Task};
    /// use dualgap::term::{Penalty, ScalarLoss};
    ///
    /// let data = Examples::from_dense_numbers(&[vec![1.0], vec![2.0], vec![3.0]], &[2.0, 4.0, 6.0])?;
    /// let task = Task::new(Linear::new(ScalarLoss::Squared), Penalty::ridge(0.1));
    /// let model = task.fit(&data, Plan::new(Budget::relative(0.001)))?.model;
    /// let reach = model.reach(&data)?;
    /// let proved = reach.interval(Interval::new(1e-3, 10.0)?, Tolerance::Relative(0.01)).unwrap();
    /// assert!(proved.from < 0.1 && proved.to > 0.1, "the model will do for other λ too");
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn reach(&self, data: &S::Data) -> Result<Reach> {
        if self.task.penalty.lambda().is_none() {
            return Err(Error::setting(match self.task.penalty {
                Penalty::Ball { .. } => {
                    "a model in a ball is for its own μ and radius, and for no others"
                }
                _ => "pure l1 has no λ: its model is not one of several",
            }));
        }
        let Some(witness) = &self.witness else {
            return Err(Error::setting(format!(
                "without its witness a model proves nothing at another λ: train it with {}",
                Setting::Witness
            )));
        };
        prove(self, data, |posed, factors| posed.reach(&factors.scaled(&self.weights), witness))
    }
}

/// Returns the primal value at the weights of a model, computed from its training data.
pub(super) fn primal<S: Structure>(model: &Model<S>, data: &S::Data) -> Result<PrimalValue> {
    prove(model, data, |posed, factors| {
        posed.sides()?.primal(model.fitted(), model.witness.as_ref(), factors)
    })
}

/// Poses the problem that a model says it solves, after the check that the data are its training data, and proves
/// something about it.
pub(super) fn prove<S: Structure, R>(
    model: &Model<S>,
    data: &S::Data,
    proof: impl FnOnce(&dyn Solvable, &Factors) -> Result<R>,
) -> Result<R> {
    let task = &model.task;
    check_data(model, data)?;
    task.check().map_err(|error| {
        refused(format!("the file names another problem: {error}")).caused_by(error)
    })?;
    task.structure.check(&model.names)?;
    let weights = task.weigh(data, model.sample_weights.as_deref())?;
    let (factors, scaled) =
        data.scaled(task.scaling).map_err(|error| refused(error.to_string()).caused_by(error))?;
    let posing = Posing { penalty: task.penalty, weights: weights.as_deref(), choice: None };
    proof(task.structure.pose(&scaled, &posing)?.solvable(), &factors)
}

/// Returns an error unless these are the data that the model was trained on, with the names that it has.
fn check_data<S: Structure>(model: &Model<S>, data: &S::Data) -> Result<()> {
    let stored = &model.provenance.fingerprint;
    let found = data.fingerprint_like(stored);
    if *stored != found || data.len() != model.provenance.examples {
        let mut remedy = "give the training file itself, unchanged".to_string();
        // Earlier versions identified the numbers of column files by their spelling.
        if let Some(recipe) = &model.provenance.recipe
            && recipe.target == TargetKind::Number
            && matches!(recipe.format, Format::Columns(_))
        {
            remedy += "; a model that an earlier version has trained on numbers spelled as 1.50 or +2 is to be trained again";
        }
        return Err(Error::Refused {
            message: format!(
                "these are not the data the model was trained on: their fingerprint is {found}, \
                 and the model's is {stored}"
            ),
            remedy,
            source: None,
        });
    }
    let structure = &model.task.structure;
    model.names.check_equal(&structure.names(data)?)?;
    if *structure != structure.clone().resolve(data)? {
        return Err(refused("the file has other numbers or names than the data give"));
    }
    Ok(())
}

/// Proves the stored certificate.
fn certify<S: Structure>(
    model: &Model<S>,
    posed: &dyn Solvable,
    factors: &Factors,
) -> Result<Verified> {
    let (stored, sides) = (model.certificate, &*posed.sides()?);
    let primal = sides.primal(model.fitted(), model.witness.as_ref(), factors)?;
    let paired = matches!(stored.basis, Basis::Multiplicative(_)) && stored.certified;
    if paired && model.witness.is_none() {
        // The bound is one of the weights together with the dual point. What was found without it must be below.
        let found = Measured { value: primal.value.value.max(stored.primal), ..primal.value };
        agree("primal", found, stored.primal, &stored)?;
    } else {
        agree("primal", primal.value, stored.primal, &stored)?;
        if stored.certified != primal.certified {
            return Err(refused("the file is wrong about whether its primal value is a bound"));
        }
        if stored.basis != primal.basis {
            return Err(refused("the file is wrong about what its primal value rests on"));
        }
    }
    let (dual, evidence) = if let Some(witness) = &model.witness {
        let dual = sides.dual(witness)?;
        agree("dual", dual, stored.dual, &stored)?;
        (dual, DualEvidence::Witness)
    } else if let Some(own) = own_witness(model, posed, factors)? {
        // A run returns the certificate of its weights and their own dual point. If the file claims another, this is what is
        // proved.
        (sides.dual(&own)?, DualEvidence::Witness)
    } else {
        let error = believable(stored.rounding_error, stored.dual);
        (Measured { value: stored.dual, error }, DualEvidence::Word)
    };
    Ok(Verified { certificate: primal.certificate(dual)?, evidence })
}

/// Returns the dual point that the weights are by themselves, if they are one.
pub(super) fn own_witness<S: Structure>(
    model: &Model<S>,
    posed: &dyn Solvable,
    factors: &Factors,
) -> Result<Option<Witness>> {
    if posed.proves_itself() {
        posed.subgradients(&factors.scaled(&model.weights))
    } else {
        Ok(None)
    }
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
