//! Linear models as a structure: a number for each example, or the sign of one.

use super::{Choice, LinearBlocks};
use crate::ball::{BallSettings, PerOutput};
use crate::data::{
    Alphabet, Classes, Examples, Format, Loaded, Recipe, Sequences, Source, TargetKind, Vocabulary,
};
use crate::structure::definition::refuse_corners;
use crate::structure::evaluation::{ErrorKind, Evaluation, NumberErrors, log_loss};
use crate::structure::fitted::{logistic, no_probabilities};
use crate::structure::multiclass::definition::compare;
use crate::structure::posed::{Posed, Posing};
use crate::structure::words::scalar_loss;
use crate::structure::{Fitted, Names, Purpose, Structure, Table, WeightOf, Words};
use crate::term::{Ball, Constants, Loss, Penalty, ScalarLoss, best_constants};
use crate::{Error, Result, Setting};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A number for each example: a target, or under losses of two classes a score whose sign decides between them.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::run::Budget;
/// use dualgap::structure::Linear;
/// use dualgap::task::{Plan, Task};
/// use dualgap::term::{Penalty, ScalarLoss};
///
/// let data = Examples::from_dense_numbers(&[vec![1.0], vec![2.0], vec![3.0]], &[2.0, 4.0, 6.0])?;
/// let task = Task::new(Linear::new(ScalarLoss::Squared), Penalty::ridge(1e-6));
/// let budget = Budget { absolute: Some(1e-9), ..Budget::relative(0.0) };
/// let model = task.fit(&data, Plan::new(budget))?.model;
/// assert!((model.weights[0] - 2.0).abs() < 1e-3);
/// model.certify(&data)?;
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Linear {
    /// The loss of the number.
    pub loss: ScalarLoss,
}

impl Linear {
    /// Returns the structure with this loss.
    pub fn new(loss: ScalarLoss) -> Self {
        Self { loss }
    }

    /// Returns the targets: −1 and 1 for the first and the second of two classes, or numbers.
    pub(in crate::structure) fn targets(&self, data: &Examples) -> Result<Vec<f64>> {
        if self.loss.is_binary() { data.signs() } else { data.numbers().map(<[f64]>::to_vec) }
    }

    fn target_of(&self, data: &Examples, i: usize) -> Option<f64> {
        if self.loss.is_binary() {
            Some([-1.0, 1.0][*data.classes().ok()?.numbers().get(i)? as usize])
        } else {
            data.numbers().ok()?.get(i).copied()
        }
    }
}

impl Structure for Linear {
    const NAME: &'static str = "linear";
    type Data = Examples;
    /// The score. Under losses of two classes a positive one stands for the second.
    type Output = f64;

    fn names(&self, data: &Examples) -> Result<Names> {
        let vocabulary = data.vocabulary();
        let alphabet = if self.loss.is_binary() { vocabulary.alphabet } else { Alphabet::none() };
        Ok(Names::of(Vocabulary { alphabet, ..vocabulary }))
    }

    fn check(&self, names: &Names) -> Result<()> {
        self.loss.check_width()?;
        let expected = if self.loss.is_binary() { 2 } else { 0 };
        match names.alphabet.len() {
            count if count == expected => Ok(()),
            count if self.loss.is_binary() => {
                Err(Error::setting(format!("there must be two classes, and the data have {count}")))
            }
            _ => Err(Error::setting("numbers have no names")),
        }
    }

    fn allows(&self, penalty: &Penalty) -> Result<()> {
        match penalty {
            Penalty::Ball { ball: Ball::Trace { .. }, .. } => Err(Error::setting(format!(
                "one output has weights of rank one whatever they are: {0} trace is for multiclass, multilabel and \
                 multioutput; take {0} l1, or a penalty",
                Setting::Ball
            ))),
            Penalty::Ball { .. } => refuse_corners(self.loss),
            _ => Ok(()),
        }
    }

    fn allows_in_ball(&self, settings: &BallSettings) -> Result<()> {
        settings.check_curved(self.loss.conditioning())
    }

    fn weighs_columns(&self) -> bool {
        true
    }

    fn pose<'d>(&'d self, data: &'d Examples, posing: &Posing<'_>) -> Result<Posed<'d>> {
        let targets = self.targets(data)?;
        if posing.penalty.ball().is_some() {
            return Posed::in_ball(data.rows(), PerOutput::new(self.loss, targets, 1)?, posing);
        }
        // The choice decides how a run reaches its point, and does not affect the value of a point.
        let choice = posing.choice.unwrap_or(Choice::I);
        Ok(Posed::linear(LinearBlocks::new(data.rows(), targets, self.loss, choice)?, posing))
    }

    fn is_akin(&self, other: &Self) -> bool {
        self.loss.is_binary() == other.loss.is_binary()
    }

    /// The nearest dual variable that is feasible under this loss; nothing carries over from a model of other classes.
    fn relabel(
        &self,
        names: &Names,
        data: &Examples,
        i: usize,
        old: &Names,
        entries: &[(u64, f64)],
    ) -> Option<Vec<(u64, f64)>> {
        match entries {
            [(0, alpha)] if old.alphabet == names.alphabet => {
                let (low, high) = self.loss.domain(self.target_of(data, i)?);
                Some(vec![(0, alpha.clamp(low, high))])
            }
            _ => None,
        }
    }

    fn columns(&self, _: &Names) -> usize {
        1
    }

    fn predict(&self, fitted: Fitted<'_>, data: &Examples) -> Result<Vec<f64>> {
        fitted.each(data.rows(), |row| fitted.score(row))
    }

    fn scores(&self, fitted: Fitted<'_>, data: &Examples) -> Result<Table> {
        Ok(Table { columns: 1, values: self.predict(fitted, data)? })
    }

    fn check_probabilities(&self) -> Result<()> {
        if self.loss != ScalarLoss::Logistic {
            return Err(no_probabilities());
        }
        Ok(())
    }

    /// The probability of the second class, in one column.
    fn probabilities(&self, fitted: Fitted<'_>, data: &Examples) -> Result<Table> {
        self.check_probabilities()?;
        let scores = self.predict(fitted, data)?;
        Ok(Table { columns: 1, values: scores.into_iter().map(logistic).collect() })
    }

    fn evaluate(&self, fitted: Fitted<'_>, data: &Examples) -> Result<Evaluation> {
        let scores = self.predict(fitted, data)?;
        if !self.loss.is_binary() {
            let errors = NumberErrors::weighted(data.numbers()?, &scores, data.weights());
            return Ok(Evaluation::Numbers(errors));
        }
        let classes = data.classes()?;
        let predicted: Vec<usize> = scores.iter().map(|&score| usize::from(score > 0.0)).collect();
        let evaluation = compare(classes, &predicted, data.weights(), fitted.names);
        if self.loss != ScalarLoss::Logistic {
            return Ok(Evaluation::Labels(Box::new(evaluation)));
        }
        let probability = |i: usize| match fitted.names.alphabet.index(classes.name(i)) {
            Some(0) => logistic(-scores[i]),
            Some(_) => logistic(scores[i]),
            None => 0.0,
        };
        let loss = log_loss((0..classes.len()).map(probability), data.weights());
        Ok(Evaluation::Labels(Box::new(evaluation.with_log_loss(loss))))
    }

    fn error_kind(&self) -> ErrorKind {
        if self.loss.is_binary() { ErrorKind::Share } else { ErrorKind::RootMeanSquare }
    }

    fn describe(&self, names: &Names) -> Words {
        let (task, predicts) = match names.alphabet.names() {
            [first, second] if self.loss.is_binary() => ("binary", format!("{first} or {second}")),
            _ => ("regression", String::new()),
        };
        let loss = scalar_loss(self.loss);
        Words { task, predicts, loss, scalar_loss: Some(self.loss), ..Words::default() }
            .with("loss", json!(self.loss))
    }

    fn spell(&self, names: &Names, &score: &f64) -> Vec<String> {
        vec![if self.loss.is_binary() {
            names.alphabet.names()[usize::from(score > 0.0)].clone()
        } else {
            score.to_string()
        }]
    }

    fn weight(&self, _: &Names, place: usize) -> WeightOf {
        WeightOf { kind: "feature", feature: Some(place), from: None, label: Some(0) }
    }

    /// The second of two classes, or the number.
    fn weighted(&self, names: &Names) -> Vec<String> {
        vec![names.alphabet.names().get(1).cloned().unwrap_or_else(|| "the number".into())]
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
        let mut loaded = recipe.examples(source, purpose.known().map(Names::vocabulary))?;
        loaded.data.densify_if_full();
        Ok(loaded)
    }

    fn of_sequences(sequences: Sequences) -> Option<Examples> {
        Some(sequences.into())
    }

    fn target(&self) -> TargetKind {
        if self.loss.is_binary() { TargetKind::Class } else { TargetKind::Number }
    }

    fn complaint(&self, data: &Examples) -> Option<(String, String)> {
        if !self.loss.is_binary() {
            return None; // whoever reads numbers finds what is wrong with them, and where
        }
        let remedy = "a multiclass model takes any number of classes";
        data.signs().err().map(|error| (error.to_string(), remedy.into()))
    }

    fn classes<'d>(&self, data: &'d Examples) -> Option<&'d Classes> {
        data.classes().ok().filter(|_| self.loss.is_binary())
    }

    fn best_constants(
        &self,
        fitted: Fitted<'_>,
        data: &Examples,
        weights: Option<&[f64]>,
    ) -> Result<Option<Constants>> {
        let (predictions, targets) = (self.predict(fitted, data)?, self.targets(data)?);
        Ok(best_constants(&self.loss, &predictions, &targets, weights))
    }

    fn intercept(&self, data: &Examples) -> Result<(usize, Vec<f64>)> {
        match data.rows().width().checked_sub(1) {
            Some(last) => Ok((last, self.targets(data)?)),
            None => Err(Error::setting("there is no column for the intercept")),
        }
    }
}
