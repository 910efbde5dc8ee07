//! Multi-label and multi-output: any number of labels for each example, or several numbers, in a ball.

use super::{ColumnArgs, OF_PENALTIES, Values, WITH_A_CORNER, binary_loss, regression_loss};
use crate::args::Common;
use crate::args::values::parse_positive;
use crate::choices::{BinaryLoss, RegressionLoss};
use crate::options::{TaskOptions, Verb};
use clap::Args;
use dualgap::Result;
use dualgap::structure::{MultiLabel, MultiOutput, Structure};
use dualgap::task::TaskSpec;

/// The loss of every label, and what goes with it.
#[derive(Args, Debug)]
#[command(next_help_heading = "Problem")]
pub struct LabelsArgs {
    /// What a wrong or narrow score of a label costs, which must be smooth [default: smooth-hinge].
    #[arg(long, value_enum)]
    pub loss: Option<BinaryLoss>,
    /// Of the smooth hinge: over which width its corner is rounded off [default: 1].
    #[arg(long, value_name = "W", value_parser = parse_positive, allow_hyphen_values = true)]
    pub width: Option<f64>,
    #[command(flatten)]
    pub several: SeveralArgs,
}

/// The loss of every number, and what goes with it.
#[derive(Args, Debug)]
#[command(next_help_heading = "Problem")]
pub struct OutputsArgs {
    /// What a number that is off costs, which must be smooth: squared or huber.
    #[arg(long, value_enum, default_value = "squared")]
    pub loss: RegressionLoss,
    /// Of Huber's loss: how far from the target it is squared [default: 1].
    #[arg(long, value_name = "W", value_parser = parse_positive, allow_hyphen_values = true)]
    pub width: Option<f64>,
    #[command(flatten)]
    pub several: SeveralArgs,
}

/// What the tasks of several outputs in a ball have in common.
#[derive(Args, Debug)]
pub struct SeveralArgs {
    /// Add a feature that is always 1; its weights count in the ball like the others.
    #[arg(long, help_heading = "Problem")]
    pub intercept: bool,
    #[command(flatten)]
    pub columns: ColumnArgs,
}

/// The options of penalties, of the engine and of column files, which the tasks have no use for.
const REFUSES: &[(&str, &str)] = {
    const MU: &str = "its weights are in a ball: give --ball, --radius, and --mu in its place";
    const RADIUS: &str = "--radius says how many weights become zero";
    const STEPS: &str = "--solver chooses how a ball is trained in";
    const COLUMNS: &str = "it is for column files, and those have one label a line";
    &[
        ("lambda", MU),
        ("c", MU),
        ("l1", RADIUS),
        ("accuracy", RADIUS),
        ("bound", RADIUS),
        ("q-norm", "leave it out"),
        ("nonnegative", "leave it out"),
        ("step", STEPS),
        ("direction", STEPS),
        ("cache", STEPS),
        ("sampling", STEPS),
        ("acceleration", STEPS),
        ("shrinking", STEPS),
        ("no-shrinking", STEPS),
        ("average", STEPS),
        ("average-after", STEPS),
        ("batch", STEPS),
        ("lanes", STEPS),
        ("warm-start", "begin the run anew"),
        ("features", COLUMNS),
        ("columns", COLUMNS),
        ("encoding", COLUMNS),
        ("min-count", COLUMNS),
        ("lowercase", COLUMNS),
        ("hash", COLUMNS),
    ]
};

/// The formats that have one label for each example, or none.
const ONE_LABEL: Values = ("format", &["columns", "letters", "edges", "crfsuite"]);

impl TaskOptions for LabelsArgs {
    type Structure = MultiLabel;
    const COMMAND: &'static str = "multilabel";
    const ABOUT: &'static str =
        "Any number of labels for each example, none included, with weights in a ball.";
    const REFUSES: &'static [(&'static str, &'static str)] = REFUSES;
    const REFUSED_VALUES: &'static [(&'static str, &'static [&'static str])] =
        &[OF_PENALTIES, ("loss", &["hinge"]), ONE_LABEL];

    fn examples(_: Verb) -> &'static str {
        "\
Examples:
  dualgap train multilabel DATA.svm --ball trace --radius 20 --loss logistic -o model.dualgap
  dualgap train multilabel TABLE.csv --label topics --ball l1 --radius 50 --test TEST.csv"
    }

    fn structure(&self) -> Result<MultiLabel> {
        let name = self.loss.unwrap_or(BinaryLoss::SmoothHinge);
        Ok(MultiLabel::new(binary_loss(name, self.width)?))
    }

    fn spec(&self, common: &Common<'_>) -> Result<TaskSpec<MultiLabel>> {
        self.several.spec(self.structure()?, common)
    }

    fn constant(&self) -> bool {
        self.several.intercept
    }
}

impl TaskOptions for OutputsArgs {
    type Structure = MultiOutput;
    const COMMAND: &'static str = "multioutput";
    const ABOUT: &'static str = "Several numbers for each example, with weights in a ball.";
    const REFUSES: &'static [(&'static str, &'static str)] = REFUSES;
    const REFUSED_VALUES: &'static [(&'static str, &'static [&'static str])] =
        &[OF_PENALTIES, WITH_A_CORNER, ONE_LABEL];

    fn examples(_: Verb) -> &'static str {
        "\
Examples:
  dualgap train multioutput DATA.svm --ball trace --radius 20 --intercept -o model.dualgap
  dualgap train multioutput TABLE.csv --label price,weight --ball l1 --radius 50 --test TEST.csv"
    }

    fn structure(&self) -> Result<MultiOutput> {
        Ok(MultiOutput::new(regression_loss(self.loss, self.width, None)?))
    }

    fn spec(&self, common: &Common<'_>) -> Result<TaskSpec<MultiOutput>> {
        self.several.spec(self.structure()?, common)
    }

    fn constant(&self) -> bool {
        self.several.intercept
    }
}

impl SeveralArgs {
    /// Returns the task.
    fn spec<S: Structure>(&self, structure: S, common: &Common<'_>) -> Result<TaskSpec<S>> {
        let penalty = common.penalty(LabelsArgs::DEFAULT_MU)?;
        Ok(TaskSpec { scaling: self.columns.scale.into(), ..TaskSpec::new(structure, penalty) })
    }
}
