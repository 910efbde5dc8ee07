//! Models of label sets: any number of labels for each example.
//!
//! Every label has its own score, and is in the set if the score is positive. The objective is the sum of the losses
//! of the scores, so in a ball of the whole matrix the labels share the radius:
//!
//! ```text
//! P(X) = mean of Σ_k loss(⟨x_k, a⟩, ±1) + μ/2‖X‖²      for ‖X‖ ≤ r
//! ```

use super::fit::Plan;
use super::{InBall, Model, SetEvaluation, Structure, ball};
use crate::ball::PerOutput;
use crate::data::Examples;
use crate::linalg::Row;
use crate::run::Report;
use crate::term::ScalarLoss;
use crate::{Error, Result};
use rayon::prelude::*;

/// Trains a model of label sets in a ball; it uses the same settings as
/// [`fit_linear_in_ball`](super::fit_linear_in_ball). The targets of the data are [`Sets`](crate::data::Sets).
///
/// ```
/// use dualgap::data::{Examples, Sets};
/// use dualgap::linalg::Rows;
/// use dualgap::model::{InBall, Plan, fit_labels_in_ball, verify_labels};
/// use dualgap::run::Budget;
/// use dualgap::dual::Settings;
/// use dualgap::term::ScalarLoss;
///
/// let rows = [vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0], vec![-1.0, -1.0]];
/// let sets = [vec!["beach"], vec!["sunset"], vec!["beach", "sunset"], vec![]];
/// let data = Examples::new(Rows::dense(&rows)?, Sets::named(&sets)?)?;
/// let (settings, budget) = (Settings { lambda: 0.01, ..Settings::default() }, Budget::default());
/// let nobody = &mut ();
/// let plan = Plan::new(&settings, &budget, nobody);
/// let model = fit_labels_in_ball(&data, ScalarLoss::Logistic, InBall::l1(4.0), plan)?.model;
/// assert_eq!(model.alphabet.names(), ["beach", "sunset"]);
/// assert_eq!(model.predict_set(data.rows().row(2)), [0, 1]);
/// verify_labels(&model, &data)?;
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn fit_labels_in_ball(
    data: &Examples,
    loss: ScalarLoss,
    within: InBall,
    plan: Plan<'_, Examples>,
) -> Result<Report<Model>> {
    if !loss.is_binary() {
        return Err(Error::setting(
            "labels are there or not: take a loss of two classes, such as the logistic loss",
        ));
    }
    let (targets, alphabet) = data.sets()?.signs();
    if alphabet.len() < 2 {
        return Err(Error::setting(format!(
            "sets of labels are of two labels at least, and the data have {}",
            alphabet.len()
        )));
    }
    let error = |model: &Model, test: &Examples| {
        model.evaluate_sets(test).map_or(f64::NAN, |evaluation| evaluation.figures().hamming_loss)
    };
    let losses = PerOutput::new(loss, targets, alphabet.len())?;
    ball::fit_each(data, Structure::MultiLabel { loss }, losses, &alphabet, within, plan, error)
}

impl Model {
    /// Returns the labels of a row with a positive score, ascending; features that the model does not know are
    /// ignored.
    pub fn predict_set(&self, row: Row<'_>) -> Vec<usize> {
        let scores = self.class_scores(row).into_iter().enumerate();
        scores.filter(|&(_, score)| score > 0.0).map(|(label, _)| label).collect()
    }

    /// Compares predicted label sets with those of the data.
    pub fn evaluate_sets(&self, data: &Examples) -> Result<SetEvaluation> {
        let truth = data.sets()?;
        let sets: Vec<Vec<usize>> =
            (0..data.len()).into_par_iter().map(|i| self.predict_set(data.rows().row(i))).collect();
        let names = self.alphabet.names();
        let mut evaluation = SetEvaluation::of_labels(names);
        for (i, set) in sets.iter().enumerate() {
            evaluation.compare(truth.names(i), set.iter().map(|&label| names[label].as_str()));
        }
        Ok(evaluation)
    }
}
