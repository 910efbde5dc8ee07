//! Multi-label: any number of labels for each example, in a ball.

use super::Problem;
use super::linear::{binary_loss, check_smooth};
use crate::args::{Common, LabelsArgs};
use crate::choices::BinaryLoss;
use crate::report::Outcomes;
use dualgap::data::{Examples, Folds, Scaling};
use dualgap::model::{InBall, Model, Plan, fit_labels_in_ball};
use dualgap::run::Report;
use dualgap::term::{Free, Loss, ScalarLoss};
use dualgap::{Error, Result};
use std::path::Path;

/// A loss of every label's score, and what goes with it.
#[derive(Clone, Debug)]
pub struct LabelsProblem {
    loss: ScalarLoss,
    within: InBall,
    intercept: bool,
    scale: Scaling,
}

impl LabelsProblem {
    /// Without a ball every label would be a binary problem of its own.
    pub fn new(args: &LabelsArgs, common: Common<'_>) -> Result<Self> {
        if common.ball.is_none() {
            return Err(Error::setting(
                "multilabel is trained in a ball, and cv and path are about lambda: \
                 take `dualgap train multilabel`, and compare radii with --test",
            ));
        }
        let Some(within) = common.within()? else {
            return Err(Error::setting(
                "multilabel is trained in a ball: give --ball l1 or --ball trace, and --radius; \
                 under a penalty every label is a problem of its own, for `dualgap train binary`",
            ));
        };
        let loss = binary_loss(args.loss.unwrap_or(BinaryLoss::SmoothHinge), args.width)?;
        check_smooth(loss.smoothness(), "smooth-hinge, squared-hinge or logistic")?;
        Ok(Self { loss, within, intercept: args.intercept, scale: args.columns.scale.into() })
    }
}

impl Problem for LabelsProblem {
    type Data = Examples;
    const PURE_L1: bool = false;

    fn task(&self) -> &'static str {
        "multilabel"
    }

    fn constant(&self) -> bool {
        self.intercept
    }

    fn label_sets(&self) -> bool {
        true
    }

    fn meet(&mut self, file: &Path, data: &Examples) -> Result<()> {
        let (_, labels) = data.label_sets().map_err(|error| {
            Error::file(file, error.to_string(), "repair the labels of the examples that have it")
        })?;
        match labels.names() {
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

    fn weigh(&self, _: &Examples, sample_weights: Option<&[f64]>) -> Result<Option<Vec<f64>>> {
        Ok(sample_weights.map(<[f64]>::to_vec))
    }

    fn free(&self, _: &Examples) -> Result<Option<Free>> {
        Ok(None)
    }

    fn within(&self) -> Option<InBall> {
        Some(self.within)
    }

    fn fit(&self, data: &Examples, plan: Plan<'_, Examples>) -> Result<Report<Model>> {
        fit_labels_in_ball(data, self.loss, self.within, Plan { scale: self.scale, ..plan })
    }

    fn has_labels(&self) -> bool {
        false // those of the data are sets, and no two of them need to be told apart
    }

    fn folds(&self, data: &Examples, count: usize, seed: u64) -> Result<Folds> {
        Folds::plain(data.len(), count, seed)
    }

    fn evaluate(&self, model: &Model, data: &Examples) -> Result<Outcomes> {
        Ok(Outcomes::Sets(model.evaluate_sets(data)))
    }
}
