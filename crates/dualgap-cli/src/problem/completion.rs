//! Completion: predicts unknown ratings from known ones.

use super::{FROM_CORNERS, OF_PENALTIES, WITH_A_CORNER, regression_loss};
use crate::args::Common;
use crate::args::values::{parse_positive, parse_share};
use crate::choices::{BallName, CentreName, RegressionLoss};
use crate::options::{TaskOptions, Verb};
use clap::Args;
use dualgap::data::{Format, HeldOut, Loaded, Ratings};
use dualgap::structure::{Centre, Completion};
use dualgap::task::{PenaltySpec, Strength, TaskSpec};
use dualgap::term::Ball;
use dualgap::{Error, Result};
use std::path::Path;

/// What is predicted without the matrix, the loss of a rating, and a part of them to test on.
#[derive(Args, Debug)]
pub struct CompletionArgs {
    /// Test on this share of the ratings, drawn by --seed, and train on the others.
    #[arg(long, value_name = "SHARE", value_parser = parse_share, allow_hyphen_values = true, conflicts_with = "test", help_heading = "Data")]
    pub holdout: Option<f64>,
    /// What is predicted before the matrix says anything.
    #[arg(long, value_enum, default_value = "effects", help_heading = "Problem")]
    pub centre: CentreName,
    /// What a rating that is off costs; it must be smooth.
    #[arg(long, value_enum, default_value = "squared", help_heading = "Problem")]
    pub loss: RegressionLoss,
    /// Of Huber's loss: how far from the rating it is squared [default: 1].
    #[arg(long, value_name = "W", value_parser = parse_positive, allow_hyphen_values = true, help_heading = "Problem")]
    pub width: Option<f64>,
}

impl TaskOptions for CompletionArgs {
    type Structure = Completion;
    const COMMAND: &'static str = "completion";
    const ABOUT: &'static str =
        "A rating for a user and an item, from those of other pairs: a matrix of low rank.";
    const REFUSES: &'static [(&'static str, &'static str)] = {
        const MU: &str = "give --radius, and --mu in its place";
        const STEPS: &str = "--solver chooses how it is trained";
        const READ: &str = "ratings are read in one way, `user item rating` a line";
        const ALIKE: &str = "every rating counts the same; one that is there twice counts twice";
        const FOLDS: &str = "--holdout draws ratings to test on, and --test names a file of them";
        const LEAVE: &str = "leave it out";
        &[
            ("lambda", MU),
            ("c", MU),
            ("l1", MU),
            ("accuracy", MU),
            ("bound", MU),
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
            ("encoding", READ),
            ("min-count", READ),
            ("lowercase", READ),
            ("hash", READ),
            ("label", READ),
            ("categorical", READ),
            ("train-folds", FOLDS),
            ("test-folds", FOLDS),
            ("watch-test", "the error on test ratings is told at the end"),
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
            ("option", STEPS),
            ("warm-start", "begin the run anew"),
        ]
    };
    const REFUSED_VALUES: &'static [(&'static str, &'static [&'static str])] =
        &[OF_PENALTIES, FROM_CORNERS, WITH_A_CORNER];
    // The trace ball is the only one, and need not be named.
    const HIDES: &'static [&'static str] = &["ball"];
    /// In the units of one rating: an entry that was rated once is shrunk by a hundredth.
    const DEFAULT_MU: Strength = Strength::PerExample(0.01);

    fn examples(_: Verb) -> &'static str {
        "\
Examples:
  dualgap train completion RATINGS.csv --radius auto --holdout 0.1 -o model.dualgap
  dualgap train completion TRAIN.dat --test TEST.dat --radius 500 --loss huber
  dualgap cv completion RATINGS.csv --radii 100,200,400,800
  dualgap predict model.dualgap PAIRS.csv"
    }

    fn structure(&self) -> Result<Completion> {
        let loss = regression_loss(self.loss, self.width, None)?;
        Ok(Completion::new(loss, self.centre.into()))
    }

    fn spec(&self, common: &Common<'_>) -> Result<TaskSpec<Completion>> {
        if common.method.threads > 1 {
            return Err(Error::setting(
                "--threads does not go with completion: its steps follow each other, in one thread; leave it out",
            ));
        }
        let name = common.ball_name().unwrap_or(BallName::Trace);
        let penalty = common.in_ball(name, Self::DEFAULT_MU)?;
        Ok(TaskSpec::new(self.structure()?, penalty))
    }

    /// Returns an error without a radius. A good one is hard to know, so it suggests a value to start with.
    fn meet(&self, spec: &mut TaskSpec<Completion>, file: &Path, data: &Ratings) -> Result<()> {
        let given = match spec.penalty {
            PenaltySpec::Ball { ball: Ball::Trace { radius }, .. } => radius > 0.0,
            _ => false,
        };
        if given {
            return Ok(());
        }
        let left = Centre::of(self.centre.into(), data)?.left(data);
        let square = left.iter().map(|y| y * y).sum::<f64>() / left.len() as f64;
        let (users, items) = (data.pairs().users().len() as f64, data.pairs().items().len() as f64);
        let middle = (square * users * items).sqrt();
        Err(Error::file(
            file,
            "needs a radius: give --radius",
            format!(
                "--radius auto finds one by held-out ratings; by hand, {middle:.3e} is one to begin with, √(users × items) \
                 times the spread of the ratings around their centre"
            ),
        ))
    }

    fn split(
        &self,
        train: Loaded<Ratings>,
        common: &Common<'_>,
    ) -> Result<(Loaded<Ratings>, Option<Loaded<Ratings>>)> {
        let Some(share) = self.holdout else { return Ok((train, None)) };
        let all = &train.data;
        let count = (share * all.len() as f64).round() as usize;
        if count == 0 || count == all.len() {
            let (n, kind) = (all.len(), if count == 0 { "test" } else { "train" });
            return Err(Error::file(
                &common.data.data,
                format!("has {n} ratings, and --holdout {share} leaves none of them to {kind} on"),
                "take another share, or name a file with --test",
            ));
        }
        let held_out = HeldOut { count, seed: common.method.seed };
        let (left, held) = all.split(held_out)?;
        let mut recipe = train.recipe.clone();
        if let Format::Ratings(ratings) = &mut recipe.format {
            ratings.held_out = Some(held_out);
        }
        let mut train = Loaded::all(left, recipe.format.clone(), true);
        train.recipe = recipe.clone();
        let mut test = Loaded::all(held, recipe.format.clone(), true);
        test.recipe = recipe;
        Ok((train, Some(test)))
    }
}
