//! What the user says before the data are seen: `1/n`, `balanced`, a free intercept.

use super::Task;
use crate::Result;
use crate::data::{ClassWeights, DataSet, Scaling};
use crate::structure::Structure;
use crate::term::{Ball, Free, Penalty};

/// A λ or μ: a number, or a multiple of 1/n.
#[derive(Clone, Copy, Debug, PartialEq)]
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

/// A penalty whose strength may depend on the number of examples; see [`Penalty`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PenaltySpec {
    /// A penalty that depends on nothing.
    Given(Penalty),
    /// `λ/2‖w‖² + σ‖w‖₁`.
    Ridge {
        /// λ.
        lambda: Strength,
        /// σ.
        l1: f64,
        /// Whether weights must be nonnegative.
        nonnegative: bool,
    },
    /// The q-norm in the place of the Euclidean one.
    QNorm {
        /// λ.
        lambda: Strength,
        /// σ.
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
#[derive(Clone, Debug, PartialEq)]
pub struct TaskSpec<S> {
    /// What is predicted, under which loss.
    pub structure: S,
    /// The penalty, or the ball in its place.
    pub penalty: PenaltySpec,
    /// Whether the weight of the last column, which is always 1, is not penalised.
    pub free_intercept: bool,
    /// What the columns are divided by before the run.
    pub scaling: Scaling,
    /// What the examples of each class count.
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
            PenaltySpec::Ridge { l1, nonnegative, .. } if lambda == 0.0 && l1 > 0.0 => {
                PenaltySpec::Given(Penalty::Lasso { sigma: l1, nonnegative, free: None })
            }
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
