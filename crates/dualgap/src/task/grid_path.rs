//! A path over a grid: a certified model at every λ, σ or radius of a list, from the simplest on, each from the one before.
//!
//! At σ_max all weights are zero, and each smaller σ adds a few: the classic path of the lasso. What lies between two
//! numbers of the grid is not proved, as it is by a [path in λ](super::PathPlan).

use super::{Grid, Model, Over, Plan, Strength, Task, TaskSpec, TrialPlan};
use crate::run::{Budget, Observer, Report, Stop, Tolerance};
use crate::structure::Structure;
use crate::{Error, Result};
use std::time::Instant;

/// How many numbers the default grids have.
pub(super) const LAMBDAS: usize = 11;
pub(super) const SIGMAS: usize = 13;
pub(super) const RADII: usize = 9;

impl<S: Structure> TaskSpec<S> {
    /// Trains a model at every number of a grid. The limits of the plan on passes and oracle calls apply to each model, the
    /// limit on seconds and the interrupt to all of them together.
    ///
    /// `observe` may return an observer for the run that is about to begin within this budget. `each` receives the reports
    /// in order, the simplest model first. Returns why the path ended before the end of the grid, if it did.
    ///
    /// ```
    /// use dualgap::data::Examples;
    /// use dualgap::run::Budget;
    /// use dualgap::structure::Linear;
    /// use dualgap::task::{Grid, Over, Task, TaskSpec, TrialPlan};
    /// use dualgap::term::{Penalty, ScalarLoss};
    ///
    /// let rows = [vec![1.0, 0.1], vec![2.0, -0.1], vec![3.0, 0.2]];
    /// let data = Examples::from_dense_numbers(&rows, &[2.1, 3.9, 6.2])?;
    /// let spec = TaskSpec::from(Task::new(Linear::new(ScalarLoss::Squared), Penalty::lasso(1.0)));
    /// let most = spec.l1_max(&data)?;
    /// let grid = Grid { over: Over::L1, values: vec![most, 0.1 * most, 0.0001 * most] };
    /// let mut nonzero = Vec::new();
    /// spec.grid_path(&data, grid, &TrialPlan::new(Budget::relative(1e-6)), |_| None, |report| {
    ///     nonzero.push(report.model.weights.iter().filter(|w| **w != 0.0).count());
    ///     Ok(())
    /// })?;
    /// assert_eq!(nonzero, [0, 1, 2]);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn grid_path(
        &self,
        data: &S::Data,
        grid: impl Into<Grid>,
        plan: &TrialPlan,
        mut observe: impl FnMut(&Budget) -> Option<Box<dyn Observer>>,
        mut each: impl FnMut(&Report<Model<S>>) -> Result<()>,
    ) -> Result<Option<Stop>> {
        let Grid { over, values } = grid.into();
        plan.budget.check()?;
        let begin = Instant::now();
        let mut before: Option<Model<S>> = None;
        for value in over.sorted(&values)? {
            let left = plan.budget.seconds.map(|most| most - begin.elapsed().as_secs_f64());
            if plan.budget.interrupt.raised() {
                return Ok(Some(Stop::Interrupted));
            }
            if before.is_some() && left.is_some_and(|left| left <= 0.0) {
                return Ok(Some(Stop::TimeLimit));
            }
            let budget = Budget { seconds: left.map(|left| left.max(0.0)), ..plan.budget.clone() };
            let mut observer = observe(&budget);
            let plan = Plan {
                method: plan.method.clone(),
                threads: plan.threads,
                observer: observer.as_mut().map(|observer| &mut **observer as &mut dyn Observer),
                ..Plan::new(budget)
            };
            let task = self.at(over, value)?.resolve(data)?;
            let report = task.fit_near(data, plan, before.as_ref())?;
            if matches!(report.stop, Stop::Interrupted | Stop::TimeLimit) {
                return Ok(Some(report.stop));
            }
            each(&report)?;
            before = Some(report.model);
        }
        Ok(None)
    }

    /// Returns the grid that suits the data: of λ from 1000/n to 0.01/n; of σ from σ_max to a thousandth of it; of radii
    /// around L/s, with L the loss at zero and s the dual norm of its gradient there: in a smaller ball no weights have the
    /// loss zero.
    pub fn default_grid(&self, data: &S::Data, over: Over) -> Result<Grid> {
        let (from, to, count) = match over {
            Over::Lambda => {
                let n = self.total(data)?;
                (1000.0 / n, 0.01 / n, LAMBDAS)
            }
            Over::L1 => {
                let most = self.l1_max(data)?;
                (most, most / 1000.0, SIGMAS)
            }
            Over::Radius => {
                let at_zero = self.at_zero(data)?;
                let unit = at_zero.loss / at_zero.slope;
                if !(unit > 0.0 && unit.is_finite()) {
                    return Err(Error::setting(
                        "no weights predict better than none do, so there is no radius to choose: give one as a number",
                    ));
                }
                (unit / 32.0, unit * 8.0, RADII)
            }
        };
        Ok(Grid { over, values: Grid::spaced(from, to, count)? })
    }

    /// Returns a number of a grid: a strength of these data.
    pub fn number(&self, data: &S::Data, over: Over, strength: Strength) -> Result<f64> {
        match (over, strength) {
            (Over::L1, Strength::FractionOfMax(fraction)) => Ok(fraction * self.l1_max(data)?),
            (Over::Radius, Strength::Value(radius)) => Ok(radius),
            (Over::Radius, _) => Err(Error::setting("a radius is a number such as 10")),
            (_, strength) => strength.resolve(self.total(data)?),
        }
    }
}

impl Over {
    /// Verifies a path over a grid: all models solve the same problem except for the number that the grid is over (and λ, which
    /// may be a multiple of σ), every one has the number that is claimed for it and, if it has a witness, a gap within the
    /// tolerance. Returns how many have no witness, so that their dual value is the word of the run.
    pub fn check_path<S: Structure>(
        self,
        data: &S::Data,
        claims: impl IntoIterator<Item = Result<(Model<S>, f64)>>,
        tolerance: Tolerance,
    ) -> Result<usize> {
        let refused = |message: String| Error::Refused {
            message,
            remedy: "the path is worth nothing for these data".into(),
            source: None,
        };
        let (mut first, mut bare) = (None, 0);
        for claim in claims {
            let (model, value) = claim?;
            let name = self.name();
            if self.of(model.task.penalty) != Some(value) {
                return Err(refused(format!("a model is not that of {name} {value}")));
            }
            let problem = problem_of(&model, self)?;
            if *first.get_or_insert_with(|| problem.clone()) != problem {
                return Err(refused(format!(
                    "the model of {name} {value} is of another problem than the first"
                )));
            }
            let certificate = model.certify(data)?.certificate;
            if model.witness.is_none() {
                bare += 1;
            } else if tolerance.bound(&certificate) > tolerance.limit() {
                return Err(refused(format!(
                    "the model of {name} {value} is not within the tolerance"
                )));
            }
        }
        match first {
            Some(_) => Ok(bare),
            None => Err(refused("there is no model".into())),
        }
    }
}

/// Returns what P and D depend on, except for the number that a grid is over, λ if that is σ, and the data.
fn problem_of<S: Structure>(model: &Model<S>, over: Over) -> Result<(Task<S>, Option<Vec<f64>>)> {
    let mut penalty = over.replaced(model.task.penalty, 1.0)?;
    if over == Over::L1 {
        penalty = penalty.at_lambda(1.0).unwrap_or(penalty);
    }
    Ok((Task { penalty, ..model.task.clone() }, model.sample_weights.clone()))
}
