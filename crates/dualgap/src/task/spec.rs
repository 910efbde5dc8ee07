//! What the user says before the data are seen: `1/n`, `0.1max`, `balanced`, a free intercept.

use super::{Method, Over, Strength, Task};
use crate::data::{ClassWeights, DataSet, Scaling};
use crate::structure::Structure;
use crate::structure::posed::{AtZero, Posing};
use crate::term::{Ball, Free, Penalty};
use crate::{Error, Result, Setting};
use serde::Deserialize;

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
        #[serde(default = "none")]
        l1: Strength,
        /// Whether weights must be nonnegative.
        #[serde(default)]
        nonnegative: bool,
    },
    /// The q-norm in the place of the Euclidean one.
    QNorm {
        /// λ.
        lambda: Strength,
        /// σ.
        #[serde(default = "none")]
        l1: Strength,
    },
    /// `μ/2‖w‖²` in a ball.
    Ball {
        /// The ball and its radius.
        ball: Ball,
        /// μ.
        mu: Strength,
    },
}

fn none() -> Strength {
    Strength::NONE
}

impl PenaltySpec {
    /// Whether it is the l1 norm alone.
    pub fn is_pure_l1(self) -> bool {
        match self {
            Self::Given(penalty) => matches!(penalty, Penalty::Lasso { .. }),
            Self::Ridge { lambda, l1, .. } => lambda.is_zero() && !l1.is_zero(),
            Self::QNorm { .. } | Self::Ball { .. } => false,
        }
    }

    /// Returns λ and σ as far as they depend on data, or `None` for a penalty that does not.
    fn strengths(self) -> Option<(Strength, Strength)> {
        match self {
            Self::Ridge { lambda, l1, .. } | Self::QNorm { lambda, l1 } => Some((lambda, l1)),
            Self::Given(_) | Self::Ball { .. } => None,
        }
    }

    /// Returns the same penalty with these numbers for λ and σ.
    fn with(self, lambda: f64, sigma: f64) -> Self {
        let (value, l1) = (Strength::Value(lambda), Strength::Value(sigma));
        match self {
            Self::Ridge { nonnegative, .. } => Self::Ridge { lambda: value, l1, nonnegative },
            Self::QNorm { .. } => Self::QNorm { lambda: value, l1 },
            Self::Given(_) | Self::Ball { .. } => self,
        }
    }

    /// Returns the penalty of definite strengths, for this total weight of the examples.
    fn resolve(self, total: f64) -> Result<Penalty> {
        Ok(match self {
            Self::Given(penalty) => penalty,
            Self::Ridge { l1, nonnegative, .. } if self.is_pure_l1() => {
                Penalty::Lasso { sigma: l1.resolve(total)?, nonnegative, free: None }
            }
            Self::Ridge { lambda, l1, nonnegative } => {
                let (lambda, l1) = (lambda.resolve(total)?, l1.resolve(total)?);
                Penalty::Ridge { lambda, l1, nonnegative, free: None }
            }
            Self::QNorm { lambda, l1 } => {
                Penalty::QNorm { lambda: lambda.resolve(total)?, l1: l1.resolve(total)? }
            }
            Self::Ball { ball, mu } => Penalty::Ball { ball, mu: mu.resolve(total)? },
        })
    }

    /// Returns the penalty of any data: of those for which whatever depends on them is one. What is chosen later, such as a radius, is one,
    /// too.
    fn of_any_data(self) -> Result<Penalty> {
        if let Some((Strength::TimesL1(_), l1)) = self.strengths()
            && l1.is_zero()
        {
            return Err(Error::setting(format!(
                "{} is a multiple of the l1 penalty: give {}, too",
                Setting::Lambda,
                Setting::L1
            )));
        }
        let any = |strength: Strength| strength.resolve(1.0).unwrap_or(1.0);
        Ok(match self {
            Self::Ball { ball, mu } => Penalty::Ball { ball: ball.at(1.0), mu: any(mu) },
            other => match other.strengths() {
                Some((lambda, l1)) => other.with(any(lambda), any(l1)).resolve(1.0)?,
                None => other.resolve(1.0)?,
            },
        })
    }

    /// Returns the penalty with this number in the place of the one that a grid is over.
    fn at(self, over: Over, value: f64) -> Result<Self> {
        let strength = Strength::Value(value);
        Ok(match (over, self) {
            (Over::Lambda, Self::Ridge { l1, nonnegative, .. }) => {
                Self::Ridge { lambda: strength, l1, nonnegative }
            }
            (Over::Lambda, Self::QNorm { l1, .. }) => Self::QNorm { lambda: strength, l1 },
            (Over::L1, Self::Ridge { lambda, nonnegative, .. }) => {
                Self::Ridge { lambda, l1: strength, nonnegative }
            }
            (Over::L1, Self::QNorm { lambda, .. }) => Self::QNorm { lambda, l1: strength },
            (Over::Radius, Self::Ball { ball, mu }) => Self::Ball { ball: ball.at(value), mu },
            (_, Self::Given(penalty)) => Self::Given(over.replaced(penalty, value)?),
            (_, Self::Ball { ball, .. }) => {
                Self::Given(over.replaced(Penalty::Ball { ball, mu: 0.0 }, value)?)
            }
            (Over::Radius, _) => {
                return Err(Error::setting(
                    "a radius is that of a ball, and the weights are in none",
                ));
            }
        })
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
/// let (lambda, l1) = (Strength::PerExample(1.0), Strength::NONE);
/// let spec = TaskSpec {
///     class_weights: Some(ClassWeights::Balanced),
///     ..TaskSpec::new(Multiclass::default(), PenaltySpec::Ridge { lambda, l1, nonnegative: false })
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
        self.at(Over::Lambda, lambda)
    }

    /// Returns the task with this λ, σ or radius.
    ///
    /// ```
    /// use dualgap::structure::Linear;
    /// use dualgap::task::{Over, Task, TaskSpec};
    /// use dualgap::term::{Penalty, ScalarLoss};
    /// let spec = TaskSpec::from(Task::new(Linear::new(ScalarLoss::Squared), Penalty::lasso(0.1)));
    /// assert!(spec.at(Over::L1, 0.01).is_ok());
    /// assert!(spec.at(Over::Radius, 2.0).is_err(), "there is no ball");
    /// ```
    pub fn at(&self, over: Over, value: f64) -> Result<Self> {
        Ok(Self { penalty: self.penalty.at(over, value)?, ..self.clone() })
    }

    /// Returns an error if no data make a task of this that a run solves by this method: before they are read.
    ///
    /// ```
    /// use dualgap::structure::Linear;
    /// use dualgap::task::{Method, PenaltySpec, Strength, TaskSpec};
    /// use dualgap::term::{Ball, ScalarLoss};
    /// let (ball, mu) = (Ball::L1 { radius: 1.0 }, Strength::PerExample(1.0));
    /// let of = |loss| TaskSpec::new(Linear::new(loss), PenaltySpec::Ball { ball, mu });
    /// assert!(of(ScalarLoss::Logistic).allows(&Method::Auto).is_ok());
    /// assert!(of(ScalarLoss::Hinge).allows(&Method::Auto).is_err(), "it is not smooth");
    /// ```
    pub fn allows(&self, method: &Method) -> Result<()> {
        let mut penalty = self.penalty.of_any_data()?;
        if self.free_intercept {
            penalty = penalty.with_free(Free { column: 0, bound: 1.0 })?;
        }
        let task = Task::new(self.structure.clone(), penalty);
        Task { scaling: self.scaling, ..task }.allows(method)
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

    /// Returns the penalty with numbers in the place of what the data decide about λ and σ, and σ_max if σ is a fraction
    /// of it.
    pub fn settled(&self, data: &S::Data) -> Result<(Self, Option<f64>)> {
        let Some((lambda, l1)) = self.penalty.strengths() else { return Ok((self.clone(), None)) };
        let total = self.total(data)?;
        let most = match l1 {
            Strength::FractionOfMax(_) => Some(self.l1_max(data)?),
            _ => None,
        };
        let sigma = match (l1, most) {
            (Strength::FractionOfMax(fraction), Some(most)) => fraction * most,
            _ => l1.resolve(total)?,
        };
        let lambda = match lambda {
            Strength::TimesL1(times) => times * sigma,
            lambda => lambda.resolve(total)?,
        };
        Ok((Self { penalty: self.penalty.with(lambda, sigma), ..self.clone() }, most))
    }

    /// Returns σ_max: the smallest σ with which all penalised weights are zero at the optimum, whatever λ is. For losses
    /// that have a corner at zero weights it may be larger than the smallest.
    ///
    /// ```
    /// use dualgap::data::Examples;
    /// use dualgap::structure::Linear;
    /// use dualgap::task::{Task, TaskSpec};
    /// use dualgap::term::{Penalty, ScalarLoss};
    /// let data = Examples::from_dense_numbers(&[vec![1.0, 2.0], vec![0.0, -1.0]], &[1.0, 1.0])?;
    /// let spec = TaskSpec::from(Task::new(Linear::new(ScalarLoss::Squared), Penalty::lasso(0.1)));
    /// assert_eq!(spec.l1_max(&data)?, 0.5, "the largest |Σ y x| / n");
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn l1_max(&self, data: &S::Data) -> Result<f64> {
        if let PenaltySpec::Ball { .. } | PenaltySpec::Given(Penalty::Ball { .. }) = self.penalty {
            return Err(Error::setting("weights in a ball have no l1 penalty: give a radius"));
        }
        let most = self.at_zero(data)?.slope;
        if most > 0.0 && most.is_finite() {
            return Ok(most);
        }
        Err(Error::setting(format!(
            "all weights are zero whatever the l1 penalty is, since none lowers the loss (its largest slope is {most}): \
             there is no fraction of the maximum; give a number"
        )))
    }

    /// Returns what the problem is like at zero weights.
    pub(crate) fn at_zero(&self, data: &S::Data) -> Result<AtZero> {
        let nonnegative = match self.penalty {
            PenaltySpec::Ridge { nonnegative, .. }
            | PenaltySpec::Given(
                Penalty::Ridge { nonnegative, .. } | Penalty::Lasso { nonnegative, .. },
            ) => nonnegative,
            _ => false,
        };
        // Neither λ nor σ matters at zero, and the dual norm of a ball is that of radius 1.
        let mut penalty = match self.penalty {
            PenaltySpec::Ball { ball, .. } | PenaltySpec::Given(Penalty::Ball { ball, .. }) => {
                Penalty::Ball { ball: ball.at(1.0), mu: 0.0 }
            }
            PenaltySpec::Given(penalty) => {
                Penalty::Ridge { lambda: 1.0, l1: 0.0, nonnegative, free: penalty.free() }
            }
            _ => Penalty::Ridge { lambda: 1.0, l1: 0.0, nonnegative, free: None },
        };
        if self.free_intercept {
            penalty = self.with_intercept(penalty, data)?;
        }
        let task = Task {
            structure: self.structure.clone().resolve(data)?,
            penalty,
            scaling: self.scaling,
            class_weights: self.class_weights_of(data)?,
        };
        task.check()?;
        task.structure.check(&task.structure.names(data)?)?;
        let weights = task.weigh(data, data.weights())?;
        let (_, scaled) = data.scaled(task.scaling)?;
        let posing = Posing { penalty, weights: weights.as_deref(), choice: None };
        task.structure.pose(&scaled, &posing)?.solvable().at_zero()
    }

    /// Returns the task for these data.
    pub fn resolve(&self, data: &S::Data) -> Result<Task<S>> {
        let (settled, _) = self.settled(data)?;
        let mut penalty = settled.penalty.resolve(self.total(data)?)?;
        if self.free_intercept {
            penalty = self.with_intercept(penalty, data)?;
        }
        Ok(Task {
            structure: self.structure.clone(),
            penalty,
            scaling: self.scaling,
            class_weights: self.class_weights_of(data)?,
        })
    }

    /// Returns the task for examples of this total weight that are in no single place, or an error if it depends on more of
    /// them than that.
    pub fn resolve_for(&self, total: f64) -> Result<Task<S>> {
        if self.free_intercept {
            return Err(Error::setting(
                "a weight without penalty does not go with shards: take a penalised intercept",
            ));
        }
        if self.class_weights == Some(ClassWeights::Balanced) {
            return Err(Error::setting(
                "the weights of balanced classes must be given as numbers on shards",
            ));
        }
        let mut penalty = self.penalty;
        if let PenaltySpec::Ridge { lambda: Strength::TimesL1(times), l1, nonnegative } = penalty {
            let lambda = Strength::Value(times * l1.resolve(total)?);
            penalty = PenaltySpec::Ridge { lambda, l1, nonnegative };
        }
        Ok(Task {
            structure: self.structure.clone(),
            penalty: penalty.resolve(total)?,
            scaling: self.scaling,
            class_weights: self.class_weights.clone(),
        })
    }

    /// Returns a penalty that leaves the intercept free.
    fn with_intercept(&self, penalty: Penalty, data: &S::Data) -> Result<Penalty> {
        let (column, targets) = self.structure.intercept(data)?;
        penalty.with_free(Free::intercept(column, &targets))
    }

    /// Returns the class weights as numbers.
    fn class_weights_of(&self, data: &S::Data) -> Result<Option<ClassWeights>> {
        Ok(match (&self.class_weights, self.structure.classes(data)) {
            (Some(weights), Some(classes)) => Some(weights.resolve(classes, data.weights())?),
            (weights, _) => weights.clone(),
        })
    }
}
