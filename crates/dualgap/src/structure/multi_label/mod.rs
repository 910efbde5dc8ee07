//! Label sets: any number of labels for each example.
//!
//! Every label has its own score, and is in the set if the score is positive. The objective is the sum of the losses
//! of the scores, so in a ball of the whole matrix the labels share the radius:
//!
//! ```text
//! P(X) = mean of Σ_k loss(⟨x_k, a⟩, ±1) + μ/2‖X‖²      for ‖X‖ ≤ r
//! ```

use crate::ball::{BallSettings, PerOutput};
use crate::data::{Examples, Format, Loaded, Recipe, Sequences, Source, TargetKind, Vocabulary};
use crate::structure::definition::refuse_corners;
use crate::structure::evaluation::{Evaluation, SetEvaluation};
use crate::structure::fitted::{logistic, no_probabilities};
use crate::structure::multiclass::definition::by_label;
use crate::structure::posed::{Posed, Posing};
use crate::structure::words::scalar_loss;
use crate::structure::{Fitted, Names, Purpose, Structure, Table, WeightOf, Words};
use crate::term::{Loss, Penalty, ScalarLoss};
use crate::{Error, Result, Setting};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Any number of labels for each example, under the same loss of two classes for each of them.
///
/// ```
/// use dualgap::data::{Examples, Sets};
/// use dualgap::linalg::Rows;
/// use dualgap::run::Budget;
/// use dualgap::structure::MultiLabel;
/// use dualgap::task::{Plan, Task};
/// use dualgap::term::{Penalty, ScalarLoss};
///
/// let rows = [vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0], vec![-1.0, -1.0]];
/// let sets = [vec!["beach"], vec!["sunset"], vec!["beach", "sunset"], vec![]];
/// let data = Examples::new(Rows::dense(&rows)?, Sets::named(&sets)?)?;
/// let task = Task::new(MultiLabel::new(ScalarLoss::Logistic), Penalty::l1_ball(4.0, 0.01));
/// let model = task.fit(&data, Plan::new(Budget::default()))?.model;
/// assert_eq!(model.names.alphabet.names(), ["beach", "sunset"]);
/// assert_eq!(model.predict(&data)?[2], [0, 1]);
/// model.certify(&data)?;
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MultiLabel {
    /// The loss of each score.
    pub loss: ScalarLoss,
}

impl MultiLabel {
    /// Returns the structure with this loss.
    pub fn new(loss: ScalarLoss) -> Self {
        Self { loss }
    }
}

/// Returns an error unless the penalty is a ball, and the loss smooth.
pub(crate) fn refuse_all_but_balls(loss: ScalarLoss, penalty: &Penalty, each: &str) -> Result<()> {
    if penalty.ball().is_some() {
        return refuse_corners(loss);
    }
    Err(Error::setting(format!(
        "several outputs are trained in a ball: give {} l1, simplex or trace, and {}; under a penalty every {each} is a problem \
         of its own, for a linear model of one output",
        Setting::Ball,
        Setting::Radius
    )))
}

impl Structure for MultiLabel {
    const NAME: &'static str = "multilabel";
    type Data = Examples;
    /// The labels with a positive score, ascending.
    type Output = Vec<usize>;

    /// The names are those of the labels that occur.
    fn names(&self, data: &Examples) -> Result<Names> {
        let (_, alphabet) = data.sets()?.signs();
        Ok(Names::of(Vocabulary { alphabet: &alphabet, ..data.vocabulary() }))
    }

    fn check(&self, names: &Names) -> Result<()> {
        self.loss.check_width()?;
        if !self.loss.is_binary() {
            return Err(Error::setting(
                "labels are there or not: take a loss of two classes, such as the logistic loss",
            ));
        }
        match names.alphabet.len() {
            0 | 1 => Err(Error::setting(format!(
                "sets of labels are of two labels at least, and the data have {}",
                names.alphabet.len()
            ))),
            _ => Ok(()),
        }
    }

    fn allows(&self, penalty: &Penalty) -> Result<()> {
        refuse_all_but_balls(self.loss, penalty, "label")
    }

    fn allows_in_ball(&self, settings: &BallSettings) -> Result<()> {
        settings.check_curved(self.loss.conditioning())
    }

    fn pose<'d>(&'d self, data: &'d Examples, posing: &Posing<'_>) -> Result<Posed<'d>> {
        let (targets, alphabet) = data.sets()?.signs();
        Posed::in_ball(data.rows(), PerOutput::new(self.loss, targets, alphabet.len())?, posing)
    }

    fn layout(&self, names: &Names) -> Vec<(&'static str, Vec<usize>)> {
        by_label::layout(names)
    }

    fn predict(&self, fitted: Fitted<'_>, data: &Examples) -> Result<Vec<Vec<usize>>> {
        let there = |scores: Vec<f64>| {
            let scores = scores.into_iter().enumerate();
            scores.filter(|&(_, score)| score > 0.0).map(|(label, _)| label).collect()
        };
        fitted.each(data.rows(), |row| there(fitted.scores(row)))
    }

    fn scores(&self, fitted: Fitted<'_>, data: &Examples) -> Result<Table> {
        by_label::scores(fitted, data.rows())
    }

    fn check_probabilities(&self) -> Result<()> {
        if self.loss != ScalarLoss::Logistic {
            return Err(no_probabilities());
        }
        Ok(())
    }

    fn probabilities(&self, fitted: Fitted<'_>, data: &Examples) -> Result<Table> {
        self.check_probabilities()?;
        let Table { columns, values } = self.scores(fitted, data)?;
        Ok(Table { columns, values: values.into_iter().map(logistic).collect() })
    }

    fn evaluate(&self, fitted: Fitted<'_>, data: &Examples) -> Result<Evaluation> {
        let truth = data.sets()?;
        let names = fitted.names.alphabet.names();
        let mut evaluation = SetEvaluation::of_labels(names);
        for (i, set) in self.predict(fitted, data)?.iter().enumerate() {
            let set = set.iter().map(|&label| names[label].as_str());
            match data.weights() {
                Some(weights) => evaluation.compare_weighted(truth.names(i), set, weights[i]),
                None => evaluation.compare(truth.names(i), set),
            }
        }
        Ok(Evaluation::Sets(evaluation))
    }

    fn describe(&self, names: &Names) -> Words {
        Words {
            task: "multilabel",
            predicts: format!("{} labels", names.alphabet.len()),
            loss: format!("{} of every label", scalar_loss(self.loss)),
            ..Words::default()
        }
        .with("loss", json!(self.loss))
    }

    fn spell(&self, names: &Names, output: &Vec<usize>) -> Vec<String> {
        let labels: Vec<&str> =
            output.iter().map(|&label| names.alphabet.names()[label].as_str()).collect();
        vec![labels.join(",")]
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
        TargetKind::Set
    }

    fn complaint(&self, data: &Examples) -> Option<(String, String)> {
        let (_, alphabet) = data.sets().ok()?.signs();
        match alphabet.names() {
            [] => Some((
                "has no labels at all".into(),
                "a line has its labels in front, with commas between them: 1,3 1:0.5 2:1".into(),
            )),
            [only] => Some((
                format!("has a single label, {only}"),
                "whether it is there or not is a question of two classes: take a binary task"
                    .into(),
            )),
            _ => None,
        }
    }
}
