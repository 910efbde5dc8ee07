//! The description of a structure, in words and as JSON.

use super::own::Rescaling;
use super::remarks::Remark;
use crate::container::Digest;
use crate::term::ScalarLoss;
use serde_json::{Map, Value};

/// What there is to say about a structure and its loss.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// The user's name for the task, such as `binary`.
    pub task: &'static str,
    /// What is predicted, for the rest of a sentence that begins with the task; empty if there is nothing to add.
    pub predicts: String,
    /// The loss, with its width.
    pub loss: String,
    /// The loss of a prediction that is one number.
    pub scalar_loss: Option<ScalarLoss>,
    /// The solver that a structure has of its own, whatever the method says, for machines and for people: `lbfgs`,
    /// `stochastic steps, then L-BFGS`.
    pub solver: Option<[&'static str; 2]>,
    /// Whether the weights of a model are its witness, so that another one has no use.
    pub proves_itself: bool,
    /// What the names that predictions are made of belong to, if it is not labels, one and several: `output`, `outputs`.
    pub names_of: Option<[&'static str; 2]>,
    /// More lines for people: names and values.
    pub lines: Vec<(&'static str, String)>,
    /// What the weights are of, if it is not features and pairs of labels.
    pub features: Option<String>,
    /// Fields for machines.
    pub json: Map<String, Value>,
    /// Caveats about a problem that is trivial, or nearly so.
    pub remarks: Vec<Remark>,
}

impl Words {
    /// Returns the task and what is predicted.
    pub fn summary(&self) -> String {
        match &self.predicts[..] {
            "" => self.task.into(),
            predicts => format!("{}, {predicts}", self.task),
        }
    }

    /// Adds a field for machines.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        self.json.insert(name.into(), value);
        self
    }
}

/// Returns what to add to the name of a hinge.
pub(crate) fn rescaled(rescaling: Rescaling) -> &'static str {
    match rescaling {
        Rescaling::Margin => "",
        Rescaling::Slack => ", slack-rescaled",
    }
}

/// Returns the name of a loss of one number, with its width.
pub(crate) fn scalar_loss(loss: ScalarLoss) -> String {
    match loss {
        ScalarLoss::Hinge => "hinge".into(),
        ScalarLoss::SmoothHinge { width } => format!("smooth-hinge (width {})", exact(width)),
        ScalarLoss::SquaredHinge => "squared-hinge".into(),
        ScalarLoss::Logistic => "logistic".into(),
        ScalarLoss::Squared => "squared".into(),
        ScalarLoss::Absolute => "absolute".into(),
        ScalarLoss::EpsilonInsensitive { epsilon } => {
            format!("epsilon-insensitive (epsilon {})", exact(epsilon))
        }
        ScalarLoss::Huber { width } => format!("huber (width {})", exact(width)),
    }
}

/// Formats a number with as many digits as it takes to read it back exactly.
pub(crate) fn exact(x: f64) -> String {
    let text = format!("{x:?}");
    text.strip_suffix(".0").map_or(text.clone(), Into::into)
}

/// Returns the smallest and the largest of some numbers.
pub(crate) fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let ends = values.map(|x| (x, x)).reduce(|(a, b), (x, y)| (a.min(x), b.max(y)));
    ends.unwrap_or((0.0, 0.0))
}

/// Returns the digest that a model file has for a tensor of these numbers.
pub(crate) fn digest(values: &[f64]) -> String {
    Digest::of(&values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())
}
