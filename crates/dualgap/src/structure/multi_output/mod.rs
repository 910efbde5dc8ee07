//! Several outputs: several numbers for each example.
//!
//! Every output has its own prediction. The objective is the sum of the losses of the predictions, so in a ball of
//! the whole matrix the outputs share the radius:
//!
//! ```text
//! P(X) = mean of Σ_k loss(⟨x_k, a⟩, y_k) + μ/2‖X‖²      for ‖X‖ ≤ r
//! ```

use crate::ball::PerOutput;
use crate::data::{
    Examples, Format, Loaded, Outputs, Recipe, Sequences, Source, TargetKind, Vocabulary,
};
use crate::structure::evaluation::{ErrorKind, Evaluation, OutputEvaluation};
use crate::structure::fitted::{no_probabilities, no_scores};
use crate::structure::multi_label::refuse_all_but_balls;
use crate::structure::multiclass::definition::by_label;
use crate::structure::posed::{Posed, Posing};
use crate::structure::words::scalar_loss;
use crate::structure::{Fitted, Names, Purpose, Structure, Table, WeightOf, Words};
use crate::term::{Penalty, ScalarLoss};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Several numbers for each example, under the same loss for each of them. The names of the labels of a model are those
/// of the outputs.
///
/// ```
/// use dualgap::data::{Examples, Outputs};
/// use dualgap::linalg::Rows;
/// use dualgap::run::Budget;
/// use dualgap::structure::MultiOutput;
/// use dualgap::task::{Plan, Task};
/// use dualgap::term::{Penalty, ScalarLoss};
///
/// let rows = Rows::dense(&[vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0]])?;
/// let names = ["price", "weight"].map(String::from).to_vec();
/// let outputs = Outputs::new(names, vec![2.0, 0.5, 1.0, -0.5, 3.0, 0.0])?;
/// let data = Examples::new(rows, outputs)?;
/// let task = Task::new(MultiOutput::new(ScalarLoss::Squared), Penalty::trace_ball(5.0, 1e-6));
/// let model = task.fit(&data, Plan::new(Budget::relative(1e-4)))?.model;
/// assert_eq!(model.names.alphabet.names(), ["price", "weight"]);
/// assert!((model.predict(&data)?[2][0] - 3.0).abs() < 0.01);
/// model.certify(&data)?;
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MultiOutput {
    /// The loss of each number.
    pub loss: ScalarLoss,
}

impl MultiOutput {
    /// Returns the structure with this loss.
    pub fn new(loss: ScalarLoss) -> Self {
        Self { loss }
    }
}

/// Returns the outputs of the data, or an error unless there are several.
fn several(data: &Examples) -> Result<&Outputs> {
    match data.outputs()? {
        outputs if outputs.names().len() > 1 => Ok(outputs),
        _ => Err(Error::setting(
            "the data have not several numbers an example: one is for models of regression",
        )),
    }
}

impl Structure for MultiOutput {
    const NAME: &'static str = "multioutput";
    type Data = Examples;
    /// The number of each output.
    type Output = Vec<f64>;

    fn names(&self, data: &Examples) -> Result<Names> {
        let alphabet = several(data)?.names();
        Ok(Names::of(Vocabulary { alphabet, ..data.vocabulary() }))
    }

    fn check(&self, names: &Names) -> Result<()> {
        self.loss.check_width()?;
        if self.loss.is_binary() {
            return Err(Error::setting(
                "outputs are numbers: take a loss of numbers, such as the squared loss",
            ));
        }
        match names.alphabet.len() {
            0 | 1 => Err(Error::setting("there must be several outputs")),
            _ => Ok(()),
        }
    }

    fn allows(&self, penalty: &Penalty) -> Result<()> {
        refuse_all_but_balls(self.loss, penalty, "number")
    }

    fn pose<'d>(&'d self, data: &'d Examples, posing: &Posing<'_>) -> Result<Posed<'d>> {
        let outputs = several(data)?;
        let count = outputs.names().len();
        let losses = PerOutput::new(self.loss, outputs.values().to_vec(), count)?;
        Posed::in_ball(data.rows(), losses, posing)
    }

    fn layout(&self, names: &Names) -> Vec<(&'static str, Vec<usize>)> {
        by_label::layout(names)
    }

    fn predict(&self, fitted: Fitted<'_>, data: &Examples) -> Result<Vec<Vec<f64>>> {
        fitted.each(data.rows(), |row| fitted.scores(row))
    }

    fn scores(&self, fitted: Fitted<'_>, data: &Examples) -> Result<Table> {
        by_label::scores(fitted, data.rows())
    }

    fn check_scores(&self) -> Result<()> {
        Err(no_scores())
    }

    fn check_probabilities(&self) -> Result<()> {
        Err(no_probabilities())
    }

    fn evaluate(&self, fitted: Fitted<'_>, data: &Examples) -> Result<Evaluation> {
        let outputs = several(data)?;
        if outputs.names() != &fitted.names.alphabet {
            return Err(Error::setting("the data have other outputs than the model"));
        }
        let predicted = self.predict(fitted, data)?.concat();
        let errors = OutputEvaluation::weighted(outputs, &predicted, data.weights());
        Ok(Evaluation::Outputs(errors))
    }

    fn error_kind(&self) -> ErrorKind {
        ErrorKind::RootMeanSquare
    }

    fn describe(&self, names: &Names) -> Words {
        Words {
            task: "multioutput",
            predicts: format!("{} outputs", names.alphabet.len()),
            loss: format!("{} of every output", scalar_loss(self.loss)),
            names_of: Some(["output", "outputs"]),
            ..Words::default()
        }
        .with("loss", json!(self.loss))
    }

    fn spell(&self, _: &Names, output: &Vec<f64>) -> Vec<String> {
        let numbers: Vec<String> = output.iter().map(f64::to_string).collect();
        vec![numbers.join(",")]
    }

    fn weight(&self, names: &Names, place: usize) -> WeightOf {
        by_label::weight(names, place)
    }

    fn guess(head: &str) -> Format {
        Format::guess_examples(head)
    }

    fn read(
        &self,
        recipe: &Recipe,
        source: Source<'_>,
        purpose: Purpose<'_>,
    ) -> Result<Loaded<Examples>> {
        recipe.examples(source, purpose.known().map(Names::vocabulary))
    }

    fn of_sequences(sequences: Sequences) -> Option<Examples> {
        Some(sequences.into())
    }

    fn target(&self) -> TargetKind {
        TargetKind::Outputs
    }
}
