//! Multi-label and multi-output: any number of labels for each example, or several numbers, in a ball.

use super::Problem;
use super::linear::{binary_loss, check_smooth, regression_loss};
use crate::args::{Common, LabelsArgs, OutputsArgs, SeveralArgs, check_steps};
use crate::choices::BinaryLoss;
use crate::report::Outcomes;
use dualgap::data::{Examples, Folds, Scaling, TargetKind};
use dualgap::model::{InBall, Model, Plan, fit_labels_in_ball, fit_outputs_in_ball};
use dualgap::run::Report;
use dualgap::term::{Free, Loss, ScalarLoss};
use dualgap::{Error, Result};
use std::path::Path;

/// A loss of every score, and what goes with it: of two classes for labels, which are there or not, else of numbers.
#[derive(Clone, Debug)]
pub struct SeveralProblem {
    loss: ScalarLoss,
    within: InBall,
    intercept: bool,
    scale: Scaling,
}

impl SeveralProblem {
    /// Returns the problem of label sets.
    pub fn labels(args: &LabelsArgs, common: Common<'_>) -> Result<Self> {
        let LabelsArgs { loss, width, several } = args;
        let within = within(common, "multilabel", "label", "binary")?;
        let loss = binary_loss(loss.unwrap_or(BinaryLoss::SmoothHinge), *width)?;
        check_smooth(loss.smoothness(), "smooth-hinge, squared-hinge or logistic")?;
        check_steps(within, loss.conditioning())?;
        Ok(Self::new(loss, within, several))
    }

    /// Returns the problem of several numbers.
    pub fn outputs(args: &OutputsArgs, common: Common<'_>) -> Result<Self> {
        let OutputsArgs { loss, width, several } = args;
        let within = within(common, "multioutput", "number", "regression")?;
        let loss = regression_loss(*loss, *width, None)?;
        check_smooth(loss.smoothness(), "squared or huber")?;
        Ok(Self::new(loss, within, several))
    }

    fn new(loss: ScalarLoss, within: InBall, several: &SeveralArgs) -> Self {
        let SeveralArgs { intercept, columns } = several;
        Self { loss, within, intercept: *intercept, scale: columns.scale.into() }
    }
}

/// Returns the ball, or an error without one: every label or number would then be a separate problem.
fn within(common: Common<'_>, task: &str, one: &str, single: &str) -> Result<InBall> {
    if common.ball.is_none() {
        return Err(Error::setting(format!(
            "{task} is trained in a ball, and cv and path are about lambda: \
             take `dualgap train {task}`, and compare radii with --test"
        )));
    }
    common.within()?.ok_or_else(|| {
        Error::setting(format!(
            "{task} is trained in a ball: give --ball l1 or --ball trace, and --radius; \
             under a penalty every {one} is a problem of its own, for `dualgap train {single}`"
        ))
    })
}

impl Problem for SeveralProblem {
    type Data = Examples;
    const PURE_L1: bool = false;

    fn task(&self) -> &'static str {
        if self.loss.is_binary() { "multilabel" } else { "multioutput" }
    }

    fn constant(&self) -> bool {
        self.intercept
    }

    fn target(&self) -> TargetKind {
        if self.loss.is_binary() { TargetKind::Set } else { TargetKind::Outputs }
    }

    fn meet(&mut self, file: &Path, data: &Examples) -> Result<()> {
        if self.target() == TargetKind::Outputs {
            return Ok(()); // whoever reads numbers finds what is wrong with them, and where
        }
        match data.sets()?.signs().1.names() {
            [] => Err(Error::file(
                file,
                "has no labels at all",
                "a line has its labels in front, with commas between them: 1,3 1:0.5 2:1",
            )),
            [only] => Err(Error::file(
                file,
                format!("has a single label, {only}"),
                "whether it is there or not is a question of two classes: `dualgap train binary`",
            )),
            _ => Ok(()),
        }
    }

    fn free(&self, _: &Examples) -> Result<Option<Free>> {
        Ok(None)
    }

    fn within(&self) -> Option<InBall> {
        Some(self.within)
    }

    fn fit(&self, data: &Examples, plan: Plan<'_, Examples>) -> Result<Report<Model>> {
        let plan = Plan { scale: self.scale, ..plan };
        if self.loss.is_binary() {
            fit_labels_in_ball(data, self.loss, self.within, plan)
        } else {
            fit_outputs_in_ball(data, self.loss, self.within, plan)
        }
    }

    fn has_labels(&self) -> bool {
        false // those of the data are sets or numbers, and no two of them need to be told apart
    }

    fn folds(&self, data: &Examples, count: usize, seed: u64) -> Result<Folds> {
        Folds::plain(data.len(), count, seed)
    }

    fn evaluate(&self, model: &Model, data: &Examples) -> Result<Outcomes> {
        Ok(if self.loss.is_binary() {
            Outcomes::Sets(model.evaluate_sets(data)?)
        } else {
            Outcomes::Outputs(model.evaluate_outputs(data)?)
        })
    }
}
