//! Multiclass: one label out of several for each example.

use super::linear::{by_class, check_option, check_smooth};
use super::{Problem, check_labels};
use crate::args::{ClassesArgs, Common, check_steps};
use crate::choices::{ClassesLoss, SdcaOption, Solver, Step};
use crate::report::Outcomes;
use dualgap::data::{ClassWeights, Examples, Folds, Scaling, Source, tables};
use dualgap::model::{
    InBall, Model, Plan, fit_classes_in_ball, fit_multiclass_with, fit_vector_with,
};
use dualgap::run::Report;
use dualgap::structure::Choice;
use dualgap::term::{Costs, Free, MulticlassLoss};
use dualgap::{Error, Result};
use std::path::{Path, PathBuf};

/// A loss of several scores, and what goes with it.
#[derive(Clone, Debug)]
pub struct ClassesProblem {
    loss: MulticlassLoss,
    /// Of Prox-SDCA; the hinge without any takes the steps of block-coordinate Frank-Wolfe.
    choice: Option<Choice>,
    within: Option<InBall>,
    class_weights: Option<ClassWeights>,
    /// Known when the labels are.
    costs: Costs,
    costs_file: Option<PathBuf>,
    intercept: bool,
    scale: Scaling,
}

impl ClassesProblem {
    /// Returns the problem, or an error for options that the loss does not have and would silently ignore.
    pub fn new(args: &ClassesArgs, common: Common<'_>) -> Result<Self> {
        let (method, within) = (common.method, common.within()?);
        let ClassesArgs { option, width, .. } = *args;
        let default = within.map_or(ClassesLoss::Hinge, |_| ClassesLoss::SmoothHinge);
        let loss = match args.loss.unwrap_or(default) {
            ClassesLoss::Hinge => MulticlassLoss::Hinge,
            ClassesLoss::SmoothHinge => MulticlassLoss::SmoothHinge { width: width.unwrap_or(1.0) },
            ClassesLoss::Softmax => MulticlassLoss::Softmax,
        };
        let choice = (option != SdcaOption::Auto).then(|| option.into());
        if width.is_some() && !matches!(loss, MulticlassLoss::SmoothHinge { .. }) {
            return Err(Error::setting("--width is for the loss smooth-hinge"));
        }
        if choice.is_some() && method.solver == Solver::Fw {
            return Err(Error::setting(
                "--option is about steps of one example, not those of --solver fw",
            ));
        }
        if let Some(within) = within {
            check_option(option)?;
            check_smooth(loss.smoothness(), "smooth-hinge or softmax")?;
            check_steps(within, loss.conditioning())?;
        }
        let hinge = loss == MulticlassLoss::Hinge && choice.is_none();
        if !hinge && method.step == Step::Predefined {
            return Err(Error::setting(
                "--step is for the hinge without --option; --option chooses steps here",
            ));
        }
        Ok(Self {
            loss,
            choice,
            within,
            class_weights: args.classes.class_weights.clone(),
            costs: Costs::ZeroOne,
            costs_file: args.costs.clone(),
            intercept: args.intercept,
            scale: args.columns.scale.into(),
        })
    }
}

impl Problem for ClassesProblem {
    type Data = Examples;
    const PURE_L1: bool = false;

    fn task(&self) -> &'static str {
        "multiclass"
    }

    fn constant(&self) -> bool {
        self.intercept
    }

    fn meet(&mut self, file: &Path, data: &Examples) -> Result<()> {
        let alphabet = data.classes()?.alphabet();
        check_labels(file, alphabet, "classes")?;
        if let Some(path) = &self.costs_file {
            self.costs = Costs::Matrix(tables::read_costs(Source::open(path)?, alphabet)?);
        }
        Ok(())
    }

    fn weigh(&self, data: &Examples) -> Result<Option<Vec<f64>>> {
        by_class(self.class_weights.as_ref(), data)
    }

    fn free(&self, _: &Examples) -> Result<Option<Free>> {
        Ok(None)
    }

    fn within(&self) -> Option<InBall> {
        self.within
    }

    fn fit(&self, data: &Examples, plan: Plan<'_, Examples>) -> Result<Report<Model>> {
        let plan = Plan { scale: self.scale, ..plan };
        if let Some(within) = self.within {
            return fit_classes_in_ball(data, &self.costs, self.loss, within, plan);
        }
        match (self.loss, self.choice) {
            (MulticlassLoss::Hinge, None) => fit_multiclass_with(data, &self.costs, plan),
            (loss, choice) => {
                fit_vector_with(data, &self.costs, loss, choice.unwrap_or_default(), plan)
            }
        }
    }

    fn folds(&self, data: &Examples, count: usize, seed: u64) -> Result<Folds> {
        Folds::stratified(data.classes()?.numbers(), count, seed)
    }

    fn evaluate(&self, model: &Model, data: &Examples) -> Result<Outcomes> {
        Ok(model.evaluate_examples(data)?.into())
    }
}
