//! Binary and regression: a number for each example, or the sign of one.

use super::Problem;
use crate::args::{
    BinaryArgs, Common, LinearArgs, MethodArgs, RegressionArgs, check_steps, refuse_given,
};
use crate::choices::{Average, BinaryLoss, Intercept, RegressionLoss, SdcaOption, Solver, Step};
use crate::report::Outcomes;
use dualgap::data::{ClassWeights, Examples, Folds, Scaling, TargetKind};
use dualgap::model::{InBall, Model, Plan, fit_linear_in_ball, fit_linear_with};
use dualgap::run::Report;
use dualgap::structure::Choice;
use dualgap::term::{Ball, Free, Loss, ScalarLoss};
use dualgap::{Error, Result};
use std::path::Path;

/// A loss of one number, and what goes with it.
#[derive(Clone, Debug)]
pub struct LinearProblem {
    loss: ScalarLoss,
    choice: Choice,
    within: Option<InBall>,
    intercept: Option<Intercept>,
    scale: Scaling,
    class_weights: Option<ClassWeights>,
}

impl LinearProblem {
    /// Returns the problem of two classes.
    pub fn binary(args: &BinaryArgs, common: Common<'_>) -> Result<Self> {
        let BinaryArgs { loss, width, classes, linear } = args;
        let within = common.within()?;
        let default = within.map_or(BinaryLoss::Hinge, |_| BinaryLoss::SmoothHinge);
        let loss = binary_loss(loss.unwrap_or(default), *width)?;
        let class_weights = classes.class_weights.clone();
        Ok(Self { class_weights, ..Self::new(loss, linear, common.method, within)? })
    }

    /// Returns the problem of regression.
    pub fn regression(args: &RegressionArgs, common: Common<'_>) -> Result<Self> {
        let RegressionArgs { loss, width, epsilon, linear } = args;
        let loss = regression_loss(*loss, *width, *epsilon)?;
        Self::new(loss, linear, common.method, common.within()?)
    }

    fn new(
        loss: ScalarLoss,
        linear: &LinearArgs,
        method: &MethodArgs,
        within: Option<InBall>,
    ) -> Result<Self> {
        if let Some(within) = within {
            if matches!(within.ball, Ball::Trace { .. }) {
                return Err(Error::setting(
                    "--ball trace is for multiclass, multilabel and multioutput: one output has weights of rank one whatever they are; \
                     take --ball l1, or a penalty",
                ));
            }
            check_option(linear.option)?;
            let smooth = if loss.is_binary() {
                "smooth-hinge, squared-hinge or logistic"
            } else {
                "squared or huber"
            };
            check_smooth(loss.smoothness(), smooth)?;
            check_steps(within, loss.conditioning())?;
            let free = linear.intercept == Some(Intercept::Free);
            refuse_given(&[("--intercept", free, "--intercept=penalised counts it in the ball")])?;
        }
        if method.step == Step::Predefined {
            return Err(Error::setting(
                "--step is for structural tasks; --option chooses steps here",
            ));
        }
        if method.solver == Solver::Fw && linear.option != SdcaOption::Auto {
            return Err(Error::setting(
                "--option is about steps of one example, not those of --solver fw",
            ));
        }
        let averaged = method.average != Average::None || method.solver == Solver::Fw;
        if averaged && linear.intercept == Some(Intercept::Free) {
            return Err(Error::setting(
                "an intercept without penalty goes with neither averages nor --solver fw; \
                 --intercept=penalised does",
            ));
        }
        Ok(Self {
            loss,
            choice: linear.option.into(),
            within,
            intercept: linear.intercept,
            scale: linear.columns.scale.into(),
            class_weights: None,
        })
    }
}

impl Problem for LinearProblem {
    type Data = Examples;
    const PURE_L1: bool = true;

    fn task(&self) -> &'static str {
        if self.loss.is_binary() { "binary" } else { "regression" }
    }

    fn constant(&self) -> bool {
        self.intercept.is_some()
    }

    fn target(&self) -> TargetKind {
        if self.loss.is_binary() { TargetKind::Class } else { TargetKind::Number }
    }

    fn meet(&mut self, file: &Path, data: &Examples) -> Result<()> {
        if !self.loss.is_binary() {
            return Ok(()); // whoever reads numbers finds what is wrong with them, and where
        }
        let remedy = "`dualgap train multiclass` takes any number of classes";
        data.signs().map(drop).map_err(|error| Error::file(file, error.to_string(), remedy))
    }

    fn weigh(&self, data: &Examples) -> Result<Option<Vec<f64>>> {
        by_class(self.class_weights.as_ref(), data)
    }

    fn free(&self, data: &Examples) -> Result<Option<Free>> {
        match self.intercept {
            Some(Intercept::Free) => {
                let last = data.rows().width() - 1;
                Ok(Some(if self.loss.is_binary() {
                    Free::intercept(last, &data.signs()?)
                } else {
                    Free::intercept(last, data.numbers()?)
                }))
            }
            Some(Intercept::Penalised) | None => Ok(None),
        }
    }

    fn within(&self) -> Option<InBall> {
        self.within
    }

    fn fit(&self, data: &Examples, plan: Plan<'_, Examples>) -> Result<Report<Model>> {
        let plan = Plan { scale: self.scale, ..plan };
        match self.within {
            Some(within) => fit_linear_in_ball(data, self.loss, within, plan),
            None => fit_linear_with(data, self.loss, self.choice, plan),
        }
    }

    fn has_labels(&self) -> bool {
        self.loss.is_binary()
    }

    fn folds(&self, data: &Examples, count: usize, seed: u64) -> Result<Folds> {
        if self.has_labels() {
            Folds::stratified(data.classes()?.numbers(), count, seed)
        } else {
            Folds::plain(data.len(), count, seed)
        }
    }

    fn evaluate(&self, model: &Model, data: &Examples) -> Result<Outcomes> {
        Ok(if self.loss.is_binary() {
            model.evaluate_examples(data)?.into()
        } else {
            model.evaluate_numbers(data)?.into()
        })
    }
}

/// Returns a loss of numbers by its name.
pub fn regression_loss(
    name: RegressionLoss,
    width: Option<f64>,
    epsilon: Option<f64>,
) -> Result<ScalarLoss> {
    let loss = match name {
        RegressionLoss::Squared => ScalarLoss::Squared,
        RegressionLoss::Absolute => ScalarLoss::Absolute,
        RegressionLoss::EpsilonInsensitive => {
            ScalarLoss::EpsilonInsensitive { epsilon: epsilon.unwrap_or(0.1) }
        }
        RegressionLoss::Huber => ScalarLoss::Huber { width: width.unwrap_or(1.0) },
    };
    check_widths(loss, width, epsilon)?;
    Ok(loss)
}

/// Returns a loss of two classes by its name.
pub fn binary_loss(name: BinaryLoss, width: Option<f64>) -> Result<ScalarLoss> {
    let loss = match name {
        BinaryLoss::Hinge => ScalarLoss::Hinge,
        BinaryLoss::SmoothHinge => ScalarLoss::SmoothHinge { width: width.unwrap_or(1.0) },
        BinaryLoss::SquaredHinge => ScalarLoss::SquaredHinge,
        BinaryLoss::Logistic => ScalarLoss::Logistic,
    };
    check_widths(loss, width, None)?;
    Ok(loss)
}

/// Returns an error for `--option`, which chooses the steps of the engine and not those of a ball.
pub fn check_option(option: SdcaOption) -> Result<()> {
    let given = option != SdcaOption::Auto;
    refuse_given(&[("--option", given, "--method and --steps choose how a ball is trained in")])
}

/// Returns an error unless the loss is smooth, as a ball requires; `names` are the losses that are.
pub fn check_smooth(smoothness: f64, names: &str) -> Result<()> {
    if smoothness > 0.0 {
        return Ok(());
    }
    Err(Error::setting(format!("--ball needs a smooth loss: give --loss {names}")))
}

/// Returns the sample weights times the class weights.
pub fn by_class(classes: Option<&ClassWeights>, data: &Examples) -> Result<Option<Vec<f64>>> {
    match classes {
        Some(classes) => classes.examples(data, data.weights()).map(Some),
        None => Ok(data.weights().map(<[f64]>::to_vec)),
    }
}

/// Returns an error for a width of a loss that has none and would silently ignore it.
fn check_widths(loss: ScalarLoss, width: Option<f64>, epsilon: Option<f64>) -> Result<()> {
    let wide = matches!(loss, ScalarLoss::SmoothHinge { .. } | ScalarLoss::Huber { .. });
    if width.is_some() && !wide {
        return Err(Error::setting("--width is for the losses smooth-hinge and huber"));
    }
    if epsilon.is_some() && !matches!(loss, ScalarLoss::EpsilonInsensitive { .. }) {
        return Err(Error::setting("--epsilon is for the loss epsilon-insensitive"));
    }
    Ok(())
}
