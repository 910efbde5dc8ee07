//! A λ, σ or radius that chooses itself: the one of a grid that predicts held-out examples best.
//!
//! λ and σ are tried on five folds, as a cross-validation does. A radius is tried on one fifth of the examples, and the
//! grid ends as soon as two radii in a row predict no better than a smaller one: the larger a ball, the longer its runs.
//! λ of sequences is chosen in this way too, from 100/n, 10/n, 1/n and 0.1/n: their runs take long, and what they predict
//! changes little from one λ to a third of it. Chunks are judged by their F1, all else by its error.

use super::grid_path::{LAMBDAS, RADII, SIGMAS};
use super::{CrossValidation, Grid, Over, SearchEnd, Task, TaskSpec, Told, TrialPlan};
use crate::data::{DataSet, Folds};
use crate::run::Budget;
use crate::structure::Structure;
use crate::{Error, Result};
use std::collections::BTreeSet;

/// The number of folds.
const FOLDS: usize = 5;

/// After so many radii in a row that predict no better than the best before, larger ones are not tried.
const PATIENCE: usize = 2;

/// How many λ are tried for sequences.
const QUICK_LAMBDAS: usize = 4;

/// Whether a choice is made by one held-out part and few numbers.
fn is_quick<S: Structure>(over: Over) -> bool {
    S::SEQUENCES && over == Over::Lambda
}

/// The coarsest gap of a trial, as a fraction of the objective: differences between the candidates are larger.
const TOLERANCE: f64 = 0.01;

/// A choice by held-out examples.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The λ, σ or radius.
    pub value: f64,
    /// What was tried, and how it predicted.
    pub found: CrossValidation,
    /// The number of folds that the examples were dealt into.
    pub folds: usize,
    /// The seed that dealt them.
    pub seed: u64,
}

impl Chosen {
    /// Returns how many models a choice for this structure trains at most.
    pub fn most_runs<S: Structure>(over: Over) -> usize {
        match over {
            _ if is_quick::<S>(over) => QUICK_LAMBDAS,
            Over::Lambda => FOLDS * LAMBDAS,
            Over::L1 => FOLDS * SIGMAS,
            Over::Radius => RADII,
        }
    }
}

impl<S: Structure> TaskSpec<S> {
    /// Chooses λ, σ or the radius by held-out examples, from the [default grid](Self::default_grid), or of sequences from a
    /// coarse one. The same seed gives
    /// the same choice. The plan's limit on seconds is ignored, since the choice must not depend on the clock, and
    /// tolerances are at least 1 %. `ended` is called after each run. Returns `None` if a run was interrupted.
    ///
    /// ```
    /// use dualgap::data::Examples;
    /// use dualgap::run::Budget;
    /// use dualgap::structure::Linear;
    /// use dualgap::task::{Over, Plan, Task, TaskSpec, TrialPlan};
    /// use dualgap::term::{Penalty, ScalarLoss};
    ///
    /// let rows: Vec<Vec<f64>> = (0..20).map(|i| vec![f64::from(i % 5), f64::from(i % 3)]).collect();
    /// let targets: Vec<f64> = rows.iter().map(|row| 2.0 * row[0] - 1.0).collect();
    /// let data = Examples::from_dense_numbers(&rows, &targets)?;
    /// let spec = TaskSpec::from(Task::new(Linear::new(ScalarLoss::Squared), Penalty::lasso(1.0)));
    /// let plan = TrialPlan::new(Budget::relative(0.01));
    /// let chosen = spec.choose(&data, Over::L1, &plan, 0, || ())?.expect("nobody interrupts");
    /// let task = spec.at(Over::L1, chosen.value)?.resolve(&data)?;
    /// assert!(task.fit(&data, Plan::new(Budget::relative(0.01)))?.model.weights[0] > 1.0);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn choose(
        &self,
        data: &S::Data,
        over: Over,
        plan: &TrialPlan,
        seed: u64,
        ended: impl Fn() + Sync,
    ) -> Result<Option<Chosen>> {
        let grid = if is_quick::<S>(over) {
            let n = self.total(data)?;
            Grid { over, values: [100.0, 10.0, 1.0, 0.1].map(|c| c / n).to_vec() }
        } else {
            self.default_grid(data, over)?
        };
        if data.len() < 2 * FOLDS {
            return Err(Error::setting(format!(
                "{} examples are too few to hold some out and choose {} by them: give it as a number",
                data.len(),
                over.name()
            )));
        }
        let task: Task<S> = self.at(over, grid.values[0])?.resolve(data)?;
        task.check()?;
        let folds = task.folds(data, FOLDS, seed)?;
        self.check_folds(data, &folds)?;
        let relative = plan.budget.relative.map_or(TOLERANCE, |share| share.max(TOLERANCE));
        let budget = Budget { relative: Some(relative), seconds: None, ..plan.budget.clone() };
        let plan = TrialPlan { budget, ..plan.clone() };
        let (tried, patience) = match over {
            _ if is_quick::<S>(over) => (1, Some(PATIENCE)),
            Over::Lambda | Over::L1 => (FOLDS, None),
            Over::Radius => (1, Some(PATIENCE)),
        };
        let told = |told: Told<'_>| match told {
            Told::Run(_) => ended(),
            Told::Candidate(_) => (),
        };
        let search = self.try_folds(data, &folds, tried, grid, &plan, patience, &told)?;
        let found = (search.end != SearchEnd::Interrupted).then_some(search.found);
        Ok(found.map(|found| Chosen {
            value: found.candidates[found.best()].value,
            found,
            folds: FOLDS,
            seed,
        }))
    }

    /// Returns an error if the examples outside a fold have fewer than two labels to tell apart.
    pub fn check_folds(&self, data: &S::Data, folds: &Folds) -> Result<()> {
        for fold in 0..folds.count() {
            let outside = folds.outside(fold).into_iter();
            let labels = outside.map(|i| self.structure.labels(data, i));
            let Some(labels) = labels.collect::<Option<Vec<_>>>() else { return Ok(()) };
            if labels.concat().into_iter().collect::<BTreeSet<usize>>().len() < 2 {
                return Err(Error::setting(
                    "without one of the folds there are no two labels to tell apart: every label needs examples in two \
                     folds at least",
                ));
            }
        }
        Ok(())
    }
}
