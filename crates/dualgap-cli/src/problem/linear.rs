//! Binary and regression: a number for each example, or the sign of one.

use super::{ClassWeightArgs, ColumnArgs, KernelArgs, binary_loss, regression_loss};
use crate::Outcome;
use crate::args::values::{parse_positive, parse_tolerance};
use crate::args::{Common, check_option};
use crate::choices::{BinaryLoss, Intercept, RegressionLoss, SdcaOption, Step};
use crate::options::{TaskOptions, Verb, Work};
use clap::Args;
use dualgap::structure::{Choice, Linear};
use dualgap::task::{PenaltySpec, TaskSpec};
use dualgap::term::ScalarLoss;
use dualgap::{Error, Result};

/// A loss of two classes, and what goes with it.
#[derive(Args, Debug)]
#[command(next_help_heading = "Problem")]
pub struct BinaryArgs {
    /// What a wrong or narrow score costs [default: hinge, in a ball smooth-hinge].
    #[arg(long, value_enum)]
    pub loss: Option<BinaryLoss>,
    /// Of the smooth hinge: over which width its corner is rounded off [default: 1].
    #[arg(long, value_name = "W", value_parser = parse_positive, allow_hyphen_values = true)]
    pub width: Option<f64>,
    #[command(flatten)]
    pub classes: ClassWeightArgs,
    #[command(flatten)]
    pub linear: LinearArgs,
}

/// A loss of numbers, and what goes with it.
#[derive(Args, Debug)]
#[command(next_help_heading = "Problem")]
pub struct RegressionArgs {
    /// What a number that is off costs.
    #[arg(long, value_enum, default_value = "squared")]
    pub loss: RegressionLoss,
    /// Of Huber's loss: how far from the target it is squared [default: 1].
    #[arg(long, value_name = "W", value_parser = parse_positive, allow_hyphen_values = true)]
    pub width: Option<f64>,
    /// Of the epsilon-insensitive loss: what is forgiven [default: 0.1].
    #[arg(long, value_name = "E", value_parser = parse_tolerance, allow_hyphen_values = true)]
    pub epsilon: Option<f64>,
    #[command(flatten)]
    pub linear: LinearArgs,
}

/// What the tasks of linear models have in common.
#[derive(Args, Debug)]
pub struct LinearArgs {
    #[command(flatten)]
    pub columns: ColumnArgs,
    /// Add a feature that is always 1. Its weight is not penalised, or like any other: --intercept=penalised.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "free", value_name = "KIND", help_heading = "Problem")]
    pub intercept: Option<Intercept>,
    /// How the step of an example is chosen: an option of the Prox-SDCA paper.
    #[arg(long, value_enum, default_value = "auto", help_heading = "Method")]
    pub option: SdcaOption,
    #[command(flatten)]
    pub kernel: KernelArgs,
}

/// The options of structural tasks; the engine says what linear models make of them.
const STRUCTURAL: &[&str] = &["step", "direction", "cache"];

/// What those are told who ask for lanes where a visit is over too soon for them.
pub const NO_LANES: &str = "lanes are for chain and matching";

impl TaskOptions for BinaryArgs {
    type Structure = Linear;
    const COMMAND: &'static str = "binary";
    const ABOUT: &'static str = "One of two classes for each example, by the sign of a score.";
    const REFUSES: &'static [(&'static str, &'static str)] = &[("lanes", NO_LANES)];
    const REFUSED_VALUES: &'static [(&'static str, &'static [&'static str])] = &[
        ("solver", &["eg", "stochastic-frank-wolfe"]),
        ("ball", &["trace"]),
        ("format", &["edges"]),
    ];
    const HIDES: &'static [&'static str] = STRUCTURAL;

    const APPRAISED: bool = true;

    fn examples(verb: Verb) -> &'static str {
        match verb {
            Verb::Train => {
                "\
Examples:
  dualgap train binary DATA.svm --loss hinge --lambda 1e-4 --tolerance 1e-4 -o model.dualgap
  dualgap train binary DATA.svm --loss logistic --l1 0.001 --test TEST.svm
  dualgap train binary DATA.svm --ball l1 --radius 10 --test TEST.svm"
            }
            Verb::Cv => {
                "\
Examples:
  dualgap cv binary DATA.svm --loss logistic -o model.dualgap
  dualgap cv binary DATA.svm --folds 10 --lambdas 1/n,0.1/n,0.01/n --one-standard-error"
            }
            Verb::Path => {
                "\
Examples:
  dualgap path binary DATA.svm --from 0.1 --to 1e-4 -o FOLDER
  dualgap path binary DATA.svm --loss logistic --l1 0.001 --test TEST.svm --witness -o FOLDER
  dualgap certify FOLDER DATA.svm"
            }
            Verb::Appraise => {
                "\
Examples:
  dualgap appraise binary DATA.svm --weights liblinear.model --loss squared-hinge --c 1
  dualgap appraise binary DATA.svm --weights weights.txt --loss logistic --lambda 0.01 --intercept"
            }
        }
    }

    fn structure(&self) -> Result<Linear> {
        Ok(Linear::new(binary_loss(self.loss.unwrap_or(BinaryLoss::Hinge), self.width)?))
    }

    fn spec(&self, common: &Common<'_>) -> Result<TaskSpec<Linear>> {
        let in_ball = common.ball.is_some_and(|ball| ball.ball.is_some());
        let default = if in_ball { BinaryLoss::SmoothHinge } else { BinaryLoss::Hinge };
        let loss = binary_loss(self.loss.unwrap_or(default), self.width)?;
        let class_weights = self.classes.class_weights.clone();
        Ok(TaskSpec { class_weights, ..self.linear.spec(loss, common)? })
    }

    fn option(&self) -> Option<Choice> {
        Some(self.linear.option.into())
    }

    fn constant(&self) -> bool {
        self.linear.intercept.is_some()
    }

    fn run<W: Work>(&self, work: &W) -> Result<Outcome> {
        self.linear.kernel.run(work, self)
    }
}

impl TaskOptions for RegressionArgs {
    type Structure = Linear;
    const COMMAND: &'static str = "regression";
    const ABOUT: &'static str = "A number for each example.";
    const REFUSES: &'static [(&'static str, &'static str)] = &[("lanes", NO_LANES)];
    const REFUSED_VALUES: &'static [(&'static str, &'static [&'static str])] = &[
        ("solver", &["eg", "stochastic-frank-wolfe"]),
        ("ball", &["trace"]),
        ("format", &["letters", "edges"]),
    ];
    const HIDES: &'static [&'static str] = STRUCTURAL;

    const APPRAISED: bool = true;

    fn examples(verb: Verb) -> &'static str {
        match verb {
            Verb::Train => {
                "\
Examples:
  dualgap train regression DATA.svm --loss squared --lambda 0.01 --intercept -o model.dualgap
  dualgap train regression TABLE.csv --label price --loss huber --width 10 --l1 0.1"
            }
            Verb::Cv => {
                "\
Examples:
  dualgap cv regression DATA.svm --intercept --from 1 --to 1e-4 --count 9 -o model.dualgap
  dualgap cv regression TABLE.csv --label price --scale rms --table errors.tsv"
            }
            Verb::Path => {
                "\
Examples:
  dualgap path regression DATA.svm --from 100/n --to 1/n --intercept --test TEST.svm -o FOLDER"
            }
            Verb::Appraise => {
                "\
Examples:
  dualgap appraise regression DATA.svm --weights weights.txt --lambda 0 --l1 0.1 --intercept"
            }
        }
    }

    fn structure(&self) -> Result<Linear> {
        Ok(Linear::new(regression_loss(self.loss, self.width, self.epsilon)?))
    }

    fn spec(&self, common: &Common<'_>) -> Result<TaskSpec<Linear>> {
        self.linear.spec(self.structure()?.loss, common)
    }

    fn option(&self) -> Option<Choice> {
        Some(self.linear.option.into())
    }

    fn constant(&self) -> bool {
        self.linear.intercept.is_some()
    }

    fn run<W: Work>(&self, work: &W) -> Result<Outcome> {
        self.linear.kernel.run(work, self)
    }
}

impl LinearArgs {
    /// Returns the task, or an error for options that no task or method could have together.
    fn spec(&self, loss: ScalarLoss, common: &Common<'_>) -> Result<TaskSpec<Linear>> {
        let penalty = common.penalty(BinaryArgs::DEFAULT_MU)?;
        if let PenaltySpec::Ball { .. } = penalty {
            check_option(self.option)?;
        }
        let method = common.method;
        if method.step == Step::Predefined {
            return Err(Error::setting(
                "--step is for structural tasks; --option chooses steps here",
            ));
        }
        if self.option != SdcaOption::Auto {
            method.check_option()?;
        }
        Ok(TaskSpec {
            free_intercept: self.intercept == Some(Intercept::Free),
            scaling: self.columns.scale.into(),
            ..TaskSpec::new(Linear::new(loss), penalty)
        })
    }
}
