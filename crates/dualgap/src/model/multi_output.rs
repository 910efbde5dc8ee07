//! Models of several outputs: several numbers for each example.
//!
//! Every output has its own prediction. The objective is the sum of the losses of the predictions, so in a ball of
//! the whole matrix the outputs share the radius:
//!
//! ```text
//! P(X) = mean of Σ_k loss(⟨x_k, a⟩, y_k) + μ/2‖X‖²      for ‖X‖ ≤ r
//! ```

use super::fit::Plan;
use super::{InBall, Model, OutputEvaluation, Structure, ball};
use crate::ball::PerOutput;
use crate::data::{Examples, Outputs};
use crate::linalg::Row;
use crate::run::Report;
use crate::term::ScalarLoss;
use crate::{Error, Result};
use rayon::prelude::*;

/// Trains a model of several numbers in a ball; it uses the same settings as
/// [`fit_linear_in_ball`](super::fit_linear_in_ball). The targets are the [`Outputs`] of the data.
///
/// ```
/// use dualgap::data::{Examples, Outputs};
/// use dualgap::linalg::Rows;
/// use dualgap::model::{InBall, Plan, fit_outputs_in_ball, verify_outputs};
/// use dualgap::run::Budget;
/// use dualgap::dual::Settings;
/// use dualgap::term::ScalarLoss;
///
/// let rows = Rows::dense(&[vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0]])?;
/// let names = ["price", "weight"].map(String::from).to_vec();
/// let outputs = Outputs::new(names, vec![2.0, 0.5, 1.0, -0.5, 3.0, 0.0])?;
/// let data = Examples::new(rows, outputs)?;
/// let (settings, budget) = (Settings { lambda: 1e-6, ..Settings::default() }, Budget::relative(1e-4));
/// let nobody = &mut ();
/// let plan = Plan::new(&settings, &budget, nobody);
/// let model = fit_outputs_in_ball(&data, ScalarLoss::Squared, InBall::trace(5.0), plan)?.model;
/// assert_eq!(model.alphabet.names(), ["price", "weight"]);
/// assert!((model.predict_outputs(data.rows().row(2))[0] - 3.0).abs() < 0.01);
/// verify_outputs(&model, &data)?;
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn fit_outputs_in_ball(
    data: &Examples,
    loss: ScalarLoss,
    within: InBall,
    plan: Plan<'_, Examples>,
) -> Result<Report<Model>> {
    if loss.is_binary() {
        return Err(Error::setting(
            "outputs are numbers: take a loss of numbers, such as the squared loss",
        ));
    }
    let outputs = of(data)?;
    let error = |model: &Model, test: &Examples| {
        model.evaluate_outputs(test).map_or(f64::NAN, |evaluation| evaluation.figures().rmse)
    };
    let names = outputs.names();
    let losses = PerOutput::new(loss, outputs.values().to_vec(), names.len())?;
    ball::fit_each(data, Structure::MultiOutput { loss }, losses, names, within, plan, error)
}

/// Returns the outputs of the data, or an error unless there are several.
pub(super) fn of(data: &Examples) -> Result<&Outputs> {
    match data.outputs()? {
        outputs if outputs.names().len() > 1 => Ok(outputs),
        _ => Err(Error::setting(
            "the data have not several numbers an example: one is for models of regression",
        )),
    }
}

impl Model {
    /// Returns the predictions for a row, in the order of the outputs; features that the model does not know are
    /// ignored.
    pub fn predict_outputs(&self, row: Row<'_>) -> Vec<f64> {
        self.class_scores(row)
    }

    /// Compares predicted numbers with those of the data; see [`Outputs`].
    pub fn evaluate_outputs(&self, data: &Examples) -> Result<OutputEvaluation> {
        let outputs = of(data)?;
        if outputs.names() != &self.alphabet {
            return Err(Error::setting("the data have other outputs than the model"));
        }
        let predicted: Vec<Vec<f64>> = (0..data.len())
            .into_par_iter()
            .map(|i| self.predict_outputs(data.rows().row(i)))
            .collect();
        Ok(OutputEvaluation::of(outputs, &predicted.concat()))
    }
}
