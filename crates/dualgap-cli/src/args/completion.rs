//! The options of matrix completion: ratings, a ball, and little else.

use super::ball::parse_steps;
use super::common::StopArgs;
use super::train::{KeptArgs, OutputArgs};
use super::values::{Lambda, parse_lambda, parse_positive, parse_share, parse_threads};
use crate::choices::{BallMethod, BallName, CentreName, RegressionLoss};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use dualgap::ball::Steps;
use dualgap::{Error, Result};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct CompletionArgs {
    /// The ratings, `user item rating` a line, between blanks, tabs, commas or `::`; plain, gzip, bzip2 or zstd; `-` for
    /// standard input.
    #[arg(value_name = "RATINGS", help_heading = "Data")]
    pub data: PathBuf,
    /// Test on the ratings of this file.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub test: Option<PathBuf>,
    /// Test on this share of the ratings, drawn by --seed, and train on the others.
    #[arg(long, value_name = "SHARE", value_parser = parse_share, allow_hyphen_values = true, conflicts_with = "test", help_heading = "Data")]
    pub holdout: Option<f64>,

    /// The largest trace norm of the matrix, which is the sum of its singular values. Without one, the error says what suits
    /// the ratings.
    #[arg(long, value_name = "R", value_parser = parse_positive, allow_hyphen_values = true, help_heading = "Problem")]
    pub radius: Option<f64>,
    /// μ, in mean loss + μ/2·‖X‖²: a number, which may be 0, or a/n [default: 0.01/n].
    #[arg(long, value_name = "X|a/n", value_parser = parse_lambda, allow_hyphen_values = true, help_heading = "Problem")]
    pub mu: Option<Lambda>,
    /// What is predicted before the matrix says anything.
    #[arg(long, value_enum, default_value = "mean", help_heading = "Problem")]
    pub centre: CentreName,
    /// What a rating that is off costs; it must be smooth.
    #[arg(long, value_enum, default_value = "squared", help_heading = "Problem")]
    pub loss: RegressionLoss,
    /// Of Huber's loss: how far from the rating it is squared [default: 1].
    #[arg(long, value_name = "W", value_parser = parse_positive, allow_hyphen_values = true, help_heading = "Problem")]
    pub width: Option<f64>,
    /// The trace ball is the only one, and need not be named.
    #[arg(long, value_enum, hide = true)]
    pub ball: Option<BallName>,

    #[command(flatten)]
    pub stop: StopArgs,
    /// Who moves [default: pdbfw].
    #[arg(long, value_enum, help_heading = "Method")]
    pub method: Option<BallMethod>,
    /// Of pdbfw: `search`, which needs no tuning, or `theorem`, as for --ball trace [default: search].
    #[arg(long, value_name = "search|theorem", value_parser = parse_steps, help_heading = "Method")]
    pub steps: Option<Steps>,
    /// Threads; 0 stands for all cores. The result does not depend on it.
    #[arg(long, value_name = "T", default_value_t = 0, value_parser = parse_threads, help_heading = "Method")]
    pub threads: usize,
    /// Of whatever is drawn.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Method")]
    pub seed: u64,
    #[command(flatten)]
    pub kept: KeptArgs,
    #[command(flatten)]
    pub out: OutputArgs,
    #[command(flatten)]
    pub others: Others,
}

/// Options of other tasks that say nothing about ratings, and what to do in their place.
const OTHERS: [(&str, &str); 32] = {
    const MU: &str = "give --radius, and --mu in its place";
    const STEPS: &str = "--method and --steps choose how it is trained";
    const READ: &str = "ratings are read in one way, `user item rating` a line";
    const ALIKE: &str = "every rating counts the same; one that is there twice counts twice";
    const FOLDS: &str = "--holdout draws ratings to test on, and --test names a file of them";
    const LEAVE: &str = "leave it out";
    [
        ("lambda", MU),
        ("c", MU),
        ("l1", MU),
        ("q-norm", LEAVE),
        ("nonnegative", LEAVE),
        ("epsilon", "give --loss huber and --width"),
        ("intercept", "--centre is what it has"),
        ("scale", LEAVE),
        ("class-weights", ALIKE),
        ("sample-weights", ALIKE),
        ("costs", LEAVE),
        ("hamming", LEAVE),
        ("format", READ),
        ("features", READ),
        ("columns", READ),
        ("min-count", READ),
        ("lowercase", READ),
        ("label", READ),
        ("categorical", READ),
        ("train-folds", FOLDS),
        ("test-folds", FOLDS),
        ("watch-test", "the error on test ratings is told at the end"),
        ("solver", STEPS),
        ("step", STEPS),
        ("direction", STEPS),
        ("cache", STEPS),
        ("sampling", STEPS),
        ("acceleration", STEPS),
        ("average", STEPS),
        ("batch", STEPS),
        ("option", STEPS),
        ("warm-start", "begin the run anew"),
    ]
};

/// The first option of other tasks that was given. They are known, and not shown, so that the error can say what to do.
#[derive(Debug, Default)]
pub struct Others(Option<(&'static str, &'static str)>);

impl Others {
    /// Returns an error if an option of another task was given.
    pub fn refuse(&self) -> Result<()> {
        match self.0 {
            Some((name, remedy)) => {
                Err(Error::setting(format!("--{name} does not go with completion: {remedy}")))
            }
            None => Ok(()),
        }
    }
}

impl FromArgMatches for Others {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |(name, _): &(&str, &str)| matches.value_source(name).is_some();
        Ok(Self(OTHERS.into_iter().find(given)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Others {
    fn augment_args(command: Command) -> Command {
        command.args(OTHERS.map(|(name, _)| {
            Arg::new(name).long(name).num_args(0..=1).allow_hyphen_values(true).hide(true)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
