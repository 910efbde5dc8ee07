//! The tasks: the options that each of them has beside those of its command.

use super::common::Common;
use super::values::{parse_positive, parse_tolerance};
use super::{CompletionArgs, TrainArgs};
use crate::Outcome;
use crate::choices::{
    BinaryLoss, ClassesLoss, Hamming, Intercept, RegressionLoss, Scale, SdcaOption,
};
use crate::problem::Problem;
use crate::weights::parse_class_weights;
use clap::{Args, Subcommand};
use dualgap::Result;
use dualgap::data::ClassWeights;
use std::path::PathBuf;

/// A command that takes any task: its options, and what it does with the problem that a task is.
pub trait Work: Args {
    /// Shown below the options.
    const EXAMPLES: Examples;

    /// Returns the options that all such commands have.
    fn common(&self) -> Common<'_>;

    /// Reads the data and runs the command.
    fn run<P: Problem>(&self, problem: P) -> Result<Outcome>;
}

/// Examples of a command, by task; a task without any is none of the command's.
pub struct Examples {
    pub binary: &'static str,
    pub regression: &'static str,
    pub multiclass: &'static str,
    pub multilabel: &'static str,
    pub multioutput: &'static str,
    pub chain: &'static str,
}

/// A task, and what is to be done with it.
#[derive(Debug, Subcommand)]
pub enum Task<W: Work> {
    /// One of two classes for each example, by the sign of a score.
    #[command(after_help = W::EXAMPLES.binary)]
    Binary {
        #[command(flatten)]
        work: W,
        #[command(flatten)]
        task: BinaryArgs,
    },
    /// A number for each example.
    #[command(after_help = W::EXAMPLES.regression)]
    Regression {
        #[command(flatten)]
        work: W,
        #[command(flatten)]
        task: RegressionArgs,
    },
    /// One label out of several for each example.
    #[command(after_help = W::EXAMPLES.multiclass)]
    Multiclass {
        #[command(flatten)]
        work: W,
        #[command(flatten)]
        task: ClassesArgs,
    },
    /// Any number of labels for each example, none included, with weights in a ball.
    #[command(after_help = W::EXAMPLES.multilabel, hide = W::EXAMPLES.multilabel.is_empty())]
    Multilabel {
        #[command(flatten)]
        work: W,
        #[command(flatten)]
        task: LabelsArgs,
    },
    /// Several numbers for each example, with weights in a ball.
    #[command(after_help = W::EXAMPLES.multioutput, hide = W::EXAMPLES.multioutput.is_empty())]
    Multioutput {
        #[command(flatten)]
        work: W,
        #[command(flatten)]
        task: OutputsArgs,
    },
    /// A label for each position of a sequence, by a first-order chain.
    #[command(after_help = W::EXAMPLES.chain)]
    Chain {
        #[command(flatten)]
        work: W,
        #[command(flatten)]
        task: ChainArgs,
    },
}

/// What can be trained: any task, and ratings.
#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant)] // parsed once
pub enum TrainTask {
    #[command(flatten)]
    Of(Task<TrainArgs>),
    /// A rating for a user and an item, from those of other pairs: a matrix of low rank.
    #[command(after_help = "\
Examples:
  dualgap train completion RATINGS.csv --radius 1000 --holdout 0.1 -o model.dualgap
  dualgap train completion TRAIN.dat --test TEST.dat --radius 500 --centre effects --loss huber
  dualgap predict model.dualgap PAIRS.csv")]
    Completion(CompletionArgs),
}

/// The tasks of commands that do not know ratings, and say so.
#[derive(Debug, Subcommand)]
pub enum OtherTask<W: Work> {
    #[command(flatten)]
    Of(Task<W>),
    /// Ratings are for `train`.
    #[command(hide = true, disable_help_flag = true)]
    Completion {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        options: Vec<String>,
    },
}

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

#[derive(Args, Debug)]
#[command(next_help_heading = "Problem")]
pub struct ClassesArgs {
    /// What wrong or narrow scores cost [default: hinge, in a ball smooth-hinge].
    #[arg(long, value_enum)]
    pub loss: Option<ClassesLoss>,
    /// Of the smooth hinge: over which width its corners are rounded off [default: 1].
    #[arg(long, value_name = "W", value_parser = parse_positive, allow_hyphen_values = true)]
    pub width: Option<f64>,
    /// How the step of an example is chosen: an option of the Prox-SDCA paper. For the hinge, auto is
    /// block-coordinate Frank-Wolfe.
    #[arg(long, value_enum, default_value = "auto", help_heading = "Method")]
    pub option: SdcaOption,
    /// Add a feature that is always 1; its weights are penalised like the others.
    #[arg(long)]
    pub intercept: bool,
    /// What each mistake costs: a table with the labels as its first line and first column.
    #[arg(long, value_name = "FILE")]
    pub costs: Option<PathBuf>,
    #[command(flatten)]
    pub classes: ClassWeightArgs,
    #[command(flatten)]
    pub columns: ColumnArgs,
}

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

#[derive(Args, Debug)]
pub struct ChainArgs {
    /// Count the wrong labels of a sequence, or their fraction.
    #[arg(long, value_enum, default_value = "normalized", help_heading = "Problem")]
    pub hamming: Hamming,
}

/// What the tasks of classes have in common.
#[derive(Args, Debug)]
pub struct ClassWeightArgs {
    /// What the examples of each class count: `balanced` for all classes the same, or such as yes=5,no=1;
    /// times --sample-weights. Labels that are not named count 1.
    #[arg(long, value_name = "balanced|LABEL=W,…", value_parser = parse_class_weights, allow_hyphen_values = true, help_heading = "Problem")]
    pub class_weights: Option<ClassWeights>,
}

/// What all tasks but chains have in common.
#[derive(Args, Debug)]
pub struct ColumnArgs {
    /// Divide every column before the run; λ and σ are about the scaled problem, the weights that are saved
    /// about the data as they are.
    #[arg(long, value_enum, default_value = "none", help_heading = "Problem")]
    pub scale: Scale,
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
}
