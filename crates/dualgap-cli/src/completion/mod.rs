//! `dualgap train completion`: predicts unknown ratings from known ones.
//!
//! [`models`] has what other commands do with the models, and [`report`] has their reports.

pub mod models;
pub mod report;

use crate::args::{CompletionArgs, Lambda, check_method};
use crate::choices::{BallName, RegressionLoss};
use crate::places;
use crate::report::{Kept, Summary};
use crate::train::observed;
use crate::{Outcome, print};
use dualgap::ball::Method;
use dualgap::data::lock::FileLock;
use dualgap::data::ratings::HeldOut;
use dualgap::data::source::is_stdin;
use dualgap::data::{Format, Ratings, RatingsRecipe, Recipe, Source};
use dualgap::dual::Settings;
use dualgap::model::evaluation::NumberErrors;
use dualgap::model::{Centre, Centring, InBall, Model, Plan, fit_completion};
use dualgap::term::{Ball, ScalarLoss};
use dualgap::{Error, Result};
use report::Rated;
use std::time::Instant;

/// In the units of one rating: an entry that was rated once is shrunk by a hundredth.
const MU: Lambda = Lambda::PerExample(0.01);

pub fn run(args: &CompletionArgs) -> Result<Outcome> {
    let lock = check(args)?;
    let loss = loss(args)?;
    let begin = Instant::now();
    let (train, test, recipe) = read(args)?;
    let within = within(args, &train)?;
    let read_seconds = begin.elapsed().as_secs_f64();
    let settings = Settings {
        lambda: args.mu.unwrap_or(MU).resolve(train.len() as f64),
        seed: args.seed,
        ..Settings::default()
    };
    let budget = args.stop.budget();
    drop(lock); // the run takes it
    let mut trained = observed(&args.out, &budget, |observer| {
        let plan = Plan {
            checkpoints: args.kept.checkpoints(),
            resume: args.kept.resume.as_deref(),
            ..Plan::new(&settings, &budget, observer)
        };
        fit_completion(&train, loss, args.centre.into(), within, plan)
    })?;
    trained.model.provenance.recipe = Some(Recipe::whole(Format::Ratings(recipe)));
    if !args.out.witness {
        trained.model.witness = None;
    }
    let rated = test.map(|test| rate(&trained.model, &train, &test)).transpose()?;
    if let Some(path) = &args.out.output {
        trained.model.save(path)?;
    }
    let summary = Summary {
        task: "completion",
        report: &trained,
        settings: &settings,
        test: None,
        rated: rated.as_ref(),
        read_seconds,
    };
    if args.out.json {
        print(&summary.json())?;
    } else if !args.out.quiet {
        let kept = Kept {
            model: args.out.output.as_deref(),
            witness: args.out.witness,
            checkpoint: args.kept.checkpoint.as_deref(),
        };
        print(&summary.table(&args.stop, &kept))?;
    }
    Ok(args.stop.outcome(trained.stop))
}

/// Checks everything that can be checked before the work begins.
fn check(args: &CompletionArgs) -> Result<Option<FileLock>> {
    args.others.refuse()?;
    if args.ball == Some(BallName::L1) {
        return Err(Error::setting(
            "--ball l1 does not go with completion: it is about weights of low rank; leave --ball out",
        ));
    }
    if args.threads > 1 {
        return Err(Error::setting(
            "--threads does not go with completion: its steps follow each other, in one thread; leave it out",
        ));
    }
    let inputs = [Some(&args.data), args.test.as_ref()];
    if inputs.iter().flatten().filter(|path| is_stdin(path)).count() > 1 {
        return Err(Error::setting("standard input can be read only once: name a file"));
    }
    let inputs: Vec<_> = inputs.into_iter().flatten().map(AsRef::as_ref).collect();
    let outputs = [&args.out.output, &args.out.trace, &args.kept.checkpoint];
    for output in outputs.into_iter().flatten() {
        places::check_not_read(output, &inputs)?;
    }
    let lock = places::check_checkpoint(&args.kept)?;
    if let Some(path) = &args.out.output {
        places::check_writable(path, "the model")?;
    }
    Ok(lock)
}

fn loss(args: &CompletionArgs) -> Result<ScalarLoss> {
    let loss = match args.loss {
        RegressionLoss::Squared => ScalarLoss::Squared,
        RegressionLoss::Huber => ScalarLoss::Huber { width: args.width.unwrap_or(1.0) },
        RegressionLoss::Absolute | RegressionLoss::EpsilonInsensitive => {
            return Err(Error::setting(
                "completion needs a smooth loss: give --loss squared or huber",
            ));
        }
    };
    if args.width.is_some() && loss == ScalarLoss::Squared {
        return Err(Error::setting("--width is for the loss huber"));
    }
    Ok(loss)
}

/// Returns the ratings to train on, those to test on, and the recipe.
fn read(args: &CompletionArgs) -> Result<(Ratings, Option<Ratings>, RatingsRecipe)> {
    let (all, mut recipe) = RatingsRecipe::default().read(Source::open(&args.data)?)?;
    if let Some(path) = &args.test {
        return Ok((all, Some(Ratings::read(Source::open(path)?)?), recipe));
    }
    let Some(share) = args.holdout else { return Ok((all, None, recipe)) };
    let count = (share * all.len() as f64).round() as usize;
    if count == 0 || count == all.len() {
        let (n, kind) = (all.len(), if count == 0 { "test" } else { "train" });
        return Err(Error::file(
            &args.data,
            format!("has {n} ratings, and --holdout {share} leaves none of them to {kind} on"),
            "take another share, or name a file with --test",
        ));
    }
    let held_out = HeldOut { count, seed: args.seed };
    let (train, test) = all.split(held_out)?;
    recipe.held_out = Some(held_out);
    Ok((train, Some(test), recipe))
}

/// Returns the ball. A good radius is hard to know, so the error for a missing one suggests a value to start with.
fn within(args: &CompletionArgs, data: &Ratings) -> Result<InBall> {
    let Some(radius) = args.radius else {
        let centre = Centre::of(args.centre.into(), data)?;
        let left = centre.left(data);
        let square = left.iter().map(|y| y * y).sum::<f64>() / left.len() as f64;
        let (users, items) = (data.pairs().users().len() as f64, data.pairs().items().len() as f64);
        let middle = (square * users * items).sqrt();
        return Err(Error::file(
            &args.data,
            "needs a radius: give --radius",
            format!(
                "{middle:.3e} is one to begin with, √(users × items) times the spread of the ratings; try a half and a \
                 quarter of it and twice as much, too, and keep what predicts best with --holdout 0.1"
            ),
        ));
    };
    let method: Method = args.method.map_or(Method::Pdbfw, Into::into);
    if args.steps.is_some() && method != Method::Pdbfw {
        return Err(Error::setting("--steps is for --method pdbfw: leave it out"));
    }
    let ball = Ball::Trace { radius };
    check_method(ball, method)?;
    Ok(InBall { ball, method, steps: args.steps.unwrap_or_default() })
}

/// Returns the errors of the model on ratings, and those of the training mean alone.
fn rate(model: &Model, train: &Ratings, test: &Ratings) -> Result<Rated> {
    let (errors, strangers) = model.evaluate_ratings(test)?;
    let mean = Centre::of(Centring::Mean, train)?.mean;
    let of_mean = NumberErrors::of(test.values(), &vec![mean; test.len()]);
    Ok(Rated { errors, of_mean, strangers })
}
