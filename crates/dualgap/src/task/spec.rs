//! What the user says before the data are seen: `1/n`, `balanced`, a free intercept.

use super::Task;
use crate::data::{ClassWeights, DataSet, Scaling};
use crate::structure::Structure;
use crate::term::{Ball, Free, Penalty};
use crate::{Error, Result};
use serde::Deserialize;
use std::str::FromStr;

/// A λ or μ: a number, or a multiple of 1/n.
///
/// As text it is `0.01` or `10/n`; in JSON it may also be a number, or `{"c": 1.0}` for 1/(C·n).
///
/// ```
/// # use dualgap::task::Strength;
/// assert_eq!("10/n".parse::<Strength>()?, Strength::PerExample(10.0));
/// assert!("1/m".parse::<Strength>().is_err());
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Written")]
#[non_exhaustive]
pub enum Strength {
    /// The number itself.
    Value(f64),
    /// So many times 1/n, with n the total weight of the examples.
    PerExample(f64),
    /// 1/(C·n), for this C.
    OneOver(f64),
}

impl Strength {
    /// Returns the number, for this total weight of the examples.
    ///
    /// ```
    /// # use dualgap::task::Strength;
    /// assert_eq!(Strength::PerExample(2.0).resolve(8.0), 0.25);
    /// ```
    pub fn resolve(self, total: f64) -> f64 {
        match self {
            Self::Value(value) => value,
            Self::PerExample(times) => times / total,
            Self::OneOver(c) => 1.0 / (c * total),
        }
    }
}

impl FromStr for Strength {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (number, per_example) = match text.strip_suffix("/n") {
            Some(times) => (times, true),
            None => (text, false),
        };
        match number.parse::<f64>() {
            Ok(x) if x.is_finite() && (x > 0.0 || (x == 0.0 && !per_example)) => {
                Ok(if per_example { Self::PerExample(x) } else { Self::Value(x) })
            }
            _ => Err(Error::setting(
                "a positive number such as 0.01, or a multiple of 1/n such as 10/n",
            )),
        }
    }
}

/// The forms of a strength in JSON.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Number(f64),
    Text(String),
    OneOver { c: f64 },
}

impl TryFrom<Written> for Strength {
    type Error = Error;

    fn try_from(written: Written) -> Result<Self> {
        match written {
            Written::Number(value) => Ok(Self::Value(value)),
            Written::Text(text) => text.parse(),
            Written::OneOver { c } if c > 0.0 && c.is_finite() => Ok(Self::OneOver(c)),
            Written::OneOver { .. } => Err(Error::setting("C must be a positive number")),
        }
    }
}

/// A penalty whose strength may depend on the number of examples; see [`Penalty`].
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum PenaltySpec {
    /// A penalty that depends on nothing.
    #[serde(skip)]
    Given(Penalty),
    /// `λ/2‖w‖² + σ‖w‖₁`; with λ = 0 and a positive σ, the pure l1 penalty.
    Ridge {
        /// λ.
        lambda: Strength,
        /// σ.
        #[serde(default)]
        l1: f64,
        /// Whether weights must be nonnegative.
        #[serde(default)]
        nonnegative: bool,
    },
    /// The q-norm in the place of the Euclidean one.
    QNorm {
        /// λ.
        lambda: Strength,
        /// σ.
        #[serde(default)]
        l1: f64,
    },
    /// `μ/2‖w‖²` in a ball.
    Ball {
        /// The ball and its radius.
        ball: Ball,
        /// μ.
        mu: Strength,
    },
}

impl PenaltySpec {
    /// Returns the penalty, for this total weight of the examples.
    fn resolve(self, total: f64) -> Penalty {
        match self {
            Self::Given(penalty) => penalty,
            Self::Ridge { lambda: Strength::Value(0.0), l1, nonnegative } if l1 > 0.0 => {
                Penalty::Lasso { sigma: l1, nonnegative, free: None }
            }
            Self::Ridge { lambda, l1, nonnegative } => {
                Penalty::Ridge { lambda: lambda.resolve(total), l1, nonnegative, free: None }
            }
            Self::QNorm { lambda, l1 } => Penalty::QNorm { lambda: lambda.resolve(total), l1 },
            Self::Ball { ball, mu } => Penalty::Ball { ball, mu: mu.resolve(total) },
        }
    }
}

/// A task that only data can make definite.
///
/// ```
/// use dualgap::data::{ClassWeights, Examples};
/// use dualgap::structure::Multiclass;
/// use dualgap::task::{PenaltySpec, Strength, TaskSpec};
///
/// let rows = vec![vec![1.0]; 4];
/// let data = Examples::from_dense(&rows, &["no", "no", "no", "yes"])?;
/// let lambda = Strength::PerExample(1.0);
/// let spec = TaskSpec {
///     class_weights: Some(ClassWeights::Balanced),
///     ..TaskSpec::new(Multiclass::default(), PenaltySpec::Ridge { lambda, l1: 0.0, nonnegative: false })
/// };
/// let task = spec.resolve(&data)?;
/// assert_eq!(task.penalty.lambda(), Some(0.25));
/// let weights = vec![("no".into(), 2.0 / 3.0), ("yes".into(), 2.0)];
/// assert_eq!(task.class_weights, Some(ClassWeights::Named(weights)));
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskSpec<S> {
    /// What is predicted, under which loss.
    pub structure: S,
    /// The penalty, or the ball in its place.
    pub penalty: PenaltySpec,
    /// Whether the weight of the last column, which is always 1, is not penalised.
    #[serde(default)]
    pub free_intercept: bool,
    /// What the columns are divided by before the run.
    #[serde(default)]
    pub scaling: Scaling,
    /// What the examples of each class count.
    #[serde(default)]
    pub class_weights: Option<ClassWeights>,
}

impl<S> From<Task<S>> for TaskSpec<S> {
    fn from(task: Task<S>) -> Self {
        Self {
            structure: task.structure,
            penalty: PenaltySpec::Given(task.penalty),
            free_intercept: false,
            scaling: task.scaling,
            class_weights: task.class_weights,
        }
    }
}

impl<S: Structure> TaskSpec<S> {
    /// Returns a task without a free intercept, scaling and class weights.
    pub fn new(structure: S, penalty: PenaltySpec) -> Self {
        let (free_intercept, scaling, class_weights) = (false, Scaling::None, None);
        Self { structure, penalty, free_intercept, scaling, class_weights }
    }

    /// Returns the task with a λ that does not depend on the data; zero with an l1 penalty makes it pure l1.
    pub fn at_lambda(&self, lambda: f64) -> Result<Self> {
        let value = Strength::Value(lambda);
        let penalty = match self.penalty {
            PenaltySpec::Ridge { l1, nonnegative, .. } => {
                PenaltySpec::Ridge { lambda: value, l1, nonnegative }
            }
            PenaltySpec::QNorm { l1, .. } => PenaltySpec::QNorm { lambda: value, l1 },
            PenaltySpec::Given(penalty) => PenaltySpec::Given(penalty.at_lambda(lambda)?),
            PenaltySpec::Ball { ball, .. } => {
                PenaltySpec::Given(Penalty::Ball { ball, mu: 0.0 }.at_lambda(lambda)?)
            }
        };
        Ok(Self { penalty, ..self.clone() })
    }

    /// Returns the total weight of the examples, which `1/n` divides by: n if all count the same.
    pub fn total(&self, data: &S::Data) -> Result<f64> {
        let task = Task {
            structure: self.structure.clone(),
            penalty: Penalty::ridge(1.0),
            scaling: self.scaling,
            class_weights: self.class_weights.clone(),
        };
        let weights = task.weigh(data, data.weights())?;
        Ok(weights.map_or(data.len() as f64, |weights| weights.iter().sum()))
    }

    /// Returns the task for these data.
    pub fn resolve(&self, data: &S::Data) -> Result<Task<S>> {
        let mut penalty = self.penalty.resolve(self.total(data)?);
        if self.free_intercept {
            let (column, targets) = self.structure.intercept(data)?;
            penalty = penalty.with_free(Free::intercept(column, &targets))?;
        }
        let class_weights = match (&self.class_weights, self.structure.classes(data)) {
            (Some(weights), Some(classes)) => Some(weights.resolve(classes, data.weights())?),
            (weights, _) => weights.clone(),
        };
        Ok(Task {
            structure: self.structure.clone(),
            penalty,
            scaling: self.scaling,
            class_weights,
        })
    }
}
