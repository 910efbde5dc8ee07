//! A task: an optimisation problem as a value.

use super::Method;
use crate::data::{ClassWeights, Scaling};
use crate::structure::Structure;
use crate::term::Penalty;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The optimisation problem of any data: two equal tasks are the same problem. A model file stores its task, and
/// verification names it.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::run::Budget;
/// use dualgap::structure::Linear;
/// use dualgap::task::{Plan, Task};
/// use dualgap::term::{Penalty, ScalarLoss};
///
/// let rows = [vec![1.0, 0.1], vec![2.0, -0.1], vec![3.0, 0.2]];
/// let data = Examples::from_dense_numbers(&rows, &[2.0, 4.0, 6.0])?;
/// let squared = Linear::new(ScalarLoss::Squared);
/// let task = Task::new(squared, Penalty::l1_ball(1.5, 1e-3));
/// let model = task.fit(&data, Plan::new(Budget::relative(1e-6)))?.model;
/// assert!(model.weights[0] > 1.49, "it would be 2, were there room");
/// assert_eq!(model.task, task);
/// assert!(model.certify(&data)?.certificate.relative_gap() <= 1e-6);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task<S> {
    /// What is predicted, under which loss.
    pub structure: S,
    /// The penalty, or the ball in its place.
    pub penalty: Penalty,
    /// What the columns are divided by before the run: the certificate is that of the scaled problem, and the weights of
    /// the model are for the unscaled data nevertheless.
    #[serde(default, skip_serializing_if = "Scaling::is_none")]
    pub scaling: Scaling,
    /// What the examples of each class count, times their own weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_weights: Option<ClassWeights>,
}

impl<S: Structure> Task<S> {
    /// Returns the task without scaling and class weights.
    pub fn new(structure: S, penalty: Penalty) -> Self {
        Self { structure, penalty, scaling: Scaling::None, class_weights: None }
    }

    /// Returns the same task with another λ, or an error for a penalty that has none.
    pub fn at_lambda(&self, lambda: f64) -> Result<Self> {
        Ok(Self { penalty: self.penalty.at_lambda(lambda)?, ..self.clone() })
    }

    /// Returns an error if the penalty is out of its range, or the structure does not go with it.
    pub fn check(&self) -> Result<()> {
        self.penalty.check()?;
        self.structure.allows(&self.penalty)?;
        if !self.scaling.is_none() && !self.structure.allows_scaling() {
            return Err(Error::setting(
                "columns are not scaled under a kernel: scale the data, or choose another gamma",
            ));
        }
        Ok(())
    }

    /// Returns an error if no run solves the task by this method, whatever the data. [`fit`](Self::fit) returns the same one.
    ///
    /// ```
    /// # use dualgap::structure::Linear;
    /// # use dualgap::task::{Method, Task};
    /// # use dualgap::term::{Penalty, ScalarLoss};
    /// let task = Task::new(Linear::new(ScalarLoss::Squared), Penalty::l1_ball(1.0, 0.1));
    /// assert!(task.allows(&Method::named("apg", true)?).is_ok());
    /// assert!(task.allows(&Method::named("bcfw", false)?).is_err(), "it is for penalties");
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn allows(&self, method: &Method) -> Result<()> {
        self.check()?;
        method.clone().for_penalty(&self.penalty)?.check(&self.structure, &self.penalty)
    }

    /// Returns the weight of each example in the objective: its own times that of its class. `None` stands for equal
    /// weights.
    pub(super) fn weigh(&self, data: &S::Data, own: Option<&[f64]>) -> Result<Option<Vec<f64>>> {
        let Some(weights) = &self.class_weights else { return Ok(own.map(<[f64]>::to_vec)) };
        match self.structure.classes(data) {
            Some(classes) => weights.weigh(classes, own).map(Some),
            None => Err(Error::setting("class weights are for examples with one class each")),
        }
    }
}
