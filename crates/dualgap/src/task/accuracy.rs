//! Sections 3.1 and 3.2 of the Prox-SDCA paper as procedures: a pure l1 problem, to an accuracy ε that is known beforehand.
//!
//! ```text
//! F(w) = mean loss + σ‖w‖₁,    P(w) = F(w) + λh(w),    h(w) = ½‖w‖²  or  (c/2)‖w‖_q²,  c = e²(log d − 1)
//! ```
//!
//! With a bound B on the norm of a minimiser w* of F, in section 3.1 the Euclidean norm and in section 3.2 the l1 norm, and
//! λ = ε/B² or ε/(cB²), λh(w*) is at most ε/2. Weights with a gap of ε/2 for P are then good for F:
//!
//! ```text
//! F(ŵ) ≤ P(ŵ) ≤ P(w*) + gap = F(w*) + λh(w*) + gap ≤ F(w*) + ε
//! ```
//!
//! The paper has `3 log d` for c; with that, h is not strongly convex enough for its steps ([`QNorm`]). Its default, B = 1/σ, assumes
//! that the mean loss at zero is at most one. Here it is that loss divided by σ, which always holds for losses that are
//! never negative: `σ‖w*‖₁ ≤ F(w*) ≤ F(0)`.

use super::Task;
use crate::data::DataSet;
use crate::linalg::underflow::product_above;
use crate::run::{Budget, Certificate};
use crate::structure::posed::Posing;
use crate::structure::{Fitted, Structure};
use crate::term::{Penalty, QNorm};
use crate::{Error, Result};

/// How near to the optimum of a pure l1 problem, and what is known of its minimiser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// ε, in units of the objective.
    pub epsilon: f64,
    /// B, or `None` for the bound that always holds. That a minimiser is within it is the caller's word.
    pub bound: Option<f64>,
    /// Whether to add the q-norm of section 3.2, for inputs that are small in every entry, and not the Euclidean one.
    pub q_norm: bool,
}

/// A strongly convex problem whose solutions are as accurate as asked for in the pure l1 problem; see
/// [`Task::to_accuracy`].
#[derive(Clone, Debug, PartialEq)]
pub struct Approximation<S> {
    /// The problem to be solved.
    pub task: Task<S>,
    /// B.
    pub bound: f64,
    /// The gap that is to be reached: ε/2.
    pub gap: f64,
    /// λh is at most this within the bound.
    added: f64,
}

impl<S: Structure> Task<S> {
    /// Returns the procedure of section 3.1 or 3.2 for this task, which must be pure l1.
    ///
    /// ```
    /// use dualgap::data::Examples;
    /// use dualgap::structure::Linear;
    /// use dualgap::task::{Accuracy, Plan, Task};
    /// use dualgap::term::{Penalty, ScalarLoss};
    ///
    /// let data = Examples::from_dense_numbers(&[vec![1.0, 0.1], vec![2.0, -0.1]], &[2.0, 4.0])?;
    /// let task = Task::new(Linear::new(ScalarLoss::Squared), Penalty::lasso(0.1));
    /// let accuracy = Accuracy { epsilon: 1e-3, bound: Some(2.0), q_norm: false };
    /// let way = task.to_accuracy(&data, accuracy)?;
    /// assert_eq!(way.task.penalty, Penalty::elastic_net(1e-3 / 4.0, 0.1));
    /// let report = way.task.fit(&data, Plan::new(way.budget()))?;
    /// // The model is within this of the optimum of the pure l1 problem.
    /// assert!(way.guarantee(&report.certificate) <= 1e-3 * 1.000_001);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn to_accuracy(&self, data: &S::Data, accuracy: Accuracy) -> Result<Approximation<S>> {
        self.check()?;
        let Accuracy { epsilon, bound, q_norm } = accuracy;
        let Penalty::Lasso { sigma, nonnegative, free } = self.penalty else {
            return Err(Error::setting(
                "an accuracy is of a pure l1 problem: lambda follows from it",
            ));
        };
        let positive = |x: f64| x > 0.0 && x.is_finite();
        if !positive(epsilon) {
            return Err(Error::setting(format!("an accuracy is positive, not {epsilon}")));
        }
        let names = self.structure.names(data)?;
        let sizes = self.structure.layout(&names);
        let dim: usize = sizes.iter().map(|(_, shape)| shape.iter().product::<usize>()).sum();
        let bound = match bound {
            Some(bound) if positive(bound) => bound,
            Some(bound) => {
                return Err(Error::setting(format!(
                    "a bound on the norm of the weights is positive, not {bound}"
                )));
            }
            None => self.loss_at_zero(data, &vec![0.0; dim])? / sigma,
        };
        let c = if q_norm { QNorm::constant(dim)? } else { 1.0 };
        let lambda = epsilon / (c * bound * bound);
        if !positive(lambda) {
            return Err(Error::setting(format!(
                "with an accuracy of {epsilon} and a bound of {bound} lambda would be {lambda}"
            )));
        }
        let penalty = match (q_norm, nonnegative, free) {
            (false, ..) => Penalty::Ridge { lambda, l1: sigma, nonnegative, free },
            (true, false, None) => Penalty::QNorm { lambda, l1: sigma },
            (true, ..) => {
                return Err(Error::setting(
                    "the q-norm goes with the l1 norm, but not with nonnegative or free weights",
                ));
            }
        };
        let task = Self { penalty, ..self.clone() };
        task.check()?;
        // λ and c have been rounded a few times each.
        let added = product_above(0.5 * lambda * c * (1.0 + 1e-12), bound * bound * (1.0 + 1e-15));
        Ok(Approximation { task, bound, gap: 0.5 * epsilon, added })
    }

    /// Returns an upper bound on the mean loss at weights of zero.
    fn loss_at_zero(&self, data: &S::Data, zero: &[f64]) -> Result<f64> {
        let structure = self.structure.clone().resolve(data)?;
        let names = structure.names(data)?;
        let weights = self.weigh(data, data.weights())?;
        let (factors, scaled) = data.scaled(self.scaling)?;
        let posing = Posing { penalty: self.penalty, weights: weights.as_deref(), choice: None };
        let posed = structure.pose(&scaled, &posing)?;
        let fitted =
            Fitted { names: &names, weights: zero, low_rank: None, support: None, packed: None };
        let primal = posed.solvable().sides()?.primal(fitted, None, &factors)?;
        if !primal.certified {
            return Err(Error::setting(
                "without bounds on the losses a bound on the weights must be given",
            ));
        }
        Ok((primal.value.value + primal.value.error) * (1.0 + 1e-15))
    }
}

impl<S> Approximation<S> {
    /// Returns the budget of the procedure: a gap of ε/2.
    pub fn budget(&self) -> Budget {
        Budget { relative: None, absolute: Some(self.gap), ..Budget::default() }
    }

    /// Returns how far weights with this certificate of the task can be above the optimum of the pure l1 problem, if a
    /// minimiser of it is within the bound.
    pub fn guarantee(&self, certificate: &Certificate) -> f64 {
        (certificate.gap_bound() + self.added) * (1.0 + 1e-15)
    }
}
