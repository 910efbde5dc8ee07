//! `dualgap train`: read, train, test, save, report.

use crate::args::{Common, Examples, Lambda, OutputArgs, TrainArgs, Work, refuse_given};
use crate::choices::BallName;
use crate::interrupt::stop_on_ctrl_c;
use crate::job::Job;
use crate::places;
use crate::problem::Problem;
use crate::progress::Bar;
use crate::report::{Kept, Summary};
use crate::{Outcome, incomplete, print};
use dualgap::data::lock::FileLock;
use dualgap::dual::Settings;
use dualgap::model::{Model, Plan};
use dualgap::run::{Budget, JsonLines, Observer, Progress, Report};
use dualgap::{Error, Result};
use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::time::Instant;

impl Work for TrainArgs {
    const EXAMPLES: Examples = Examples {
        binary: "\
Examples:
  dualgap train binary DATA.svm --loss hinge --lambda 1e-4 --tolerance 1e-4 -o model.dualgap
  dualgap train binary DATA.svm --loss logistic --l1 0.001 --test TEST.svm
  dualgap train binary DATA.svm --ball l1 --radius 10 --test TEST.svm",
        regression: "\
Examples:
  dualgap train regression DATA.svm --loss squared --lambda 0.01 --intercept -o model.dualgap
  dualgap train regression TABLE.csv --label price --loss huber --width 10 --l1 0.1",
        multiclass: "\
Examples:
  dualgap train multiclass DATA.svm --lambda 1/n --tolerance 0.01 -o model.dualgap
  dualgap train multiclass DATA.svm --test TEST.svm --c 1 --average weighted --passes 20",
        multilabel: "\
Examples:
  dualgap train multilabel DATA.svm --ball trace --radius 20 --loss logistic -o model.dualgap
  dualgap train multilabel TABLE.csv --label topics --ball l1 --radius 50 --test TEST.csv",
        multioutput: "\
Examples:
  dualgap train multioutput DATA.svm --ball trace --radius 20 --intercept -o model.dualgap
  dualgap train multioutput TABLE.csv --label price,weight --ball l1 --radius 50 --test TEST.csv",
        chain: "\
Examples:
  dualgap train chain TRAIN.txt --test TEST.txt -o tagger.dualgap
  dualgap train chain TRAIN.txt --features TEMPLATES --min-count 2 --average weighted --passes 10
  dualgap train chain letter.data.gz --train-folds 1-9 --test-folds 0 --witness -o m.dualgap",
    };

    fn common(&self) -> Common<'_> {
        let Self { data, penalty, method, ball, .. } = self;
        Common { data, penalty, method, ball: Some(ball) }
    }

    fn run<P: Problem>(&self, problem: P) -> Result<Outcome> {
        let lock = check(self)?;
        let warm_start = warm_start(self)?;
        let begin = Instant::now();
        let job = Job::read(self.common(), problem)?;
        let settings = job.settings(self.lambda(job.total()))?;
        let read_seconds = begin.elapsed().as_secs_f64();
        drop(lock); // the run takes it
        let budget = self.stop.budget();
        let mut report = go(self, &job, &settings, &budget, warm_start.as_ref())?;
        if !self.out.witness {
            report.model.witness = None;
        }
        let test = job.test(&report.model)?;
        if let Some(path) = &self.out.output {
            report.model.save(path)?;
        }
        let summary = Summary {
            task: job.problem.task(),
            report: &report,
            settings: &settings,
            test: test.as_ref(),
            rated: None,
            read_seconds,
        };
        if self.out.json {
            print(&summary.json())?;
        } else if !self.out.quiet {
            let kept = Kept {
                model: self.out.output.as_deref(),
                witness: self.out.witness,
                checkpoint: self.kept.checkpoint.as_deref(),
            };
            print(&summary.table(&self.stop, &kept))?;
        }
        Ok(self.stop.outcome(report.stop))
    }
}

/// Checks everything that can be checked before the work begins.
fn check(args: &TrainArgs) -> Result<Option<FileLock>> {
    let outputs = [&args.out.output, &args.out.trace, &args.kept.checkpoint];
    places::check_not_inputs(outputs.into_iter().flatten(), &args.data)?;
    let lock = places::check_checkpoint(&args.kept)?;
    if let Some(path) = &args.out.output {
        places::check_writable(path, "the model")?;
    }
    if args.ball.ball.is_some() {
        refuse_given(&[
            ("--lambda", args.lambda.is_some(), "give --mu in its place"),
            ("--c", args.c.is_some(), "give --mu in its place"),
            ("--warm-start", args.warm_start.is_some(), "begin the run anew"),
        ])?;
    }
    if args.ball.ball == Some(BallName::Trace) {
        let end = "its trace ball tells of test data at the end only";
        refuse_given(&[("--watch-test", args.watch_test, end)])?;
    }
    args.common().check(args.lambda == Some(Lambda::Value(0.0)))?;
    if args.watch_test && args.data.test.is_none() && args.data.test_folds.is_none() {
        return Err(Error::setting("--watch-test needs test data: give --test or --test-folds"));
    }
    Ok(lock)
}

/// Loads the model whose witness the run starts from.
fn warm_start(args: &TrainArgs) -> Result<Option<Model>> {
    match &args.warm_start {
        Some(path) if args.kept.resume.is_none() => {
            let model = Model::load(path)?;
            if model.witness.is_none() {
                return Err(Error::file(
                    path,
                    "has no witness, and a warm start begins with one",
                    "train that model with --witness",
                ));
            }
            Ok(Some(model))
        }
        _ => Ok(None), // a checkpoint knows more than the model that its run began with
    }
}

/// Runs the training with the observers that the user asked for.
fn go<P: Problem>(
    args: &TrainArgs,
    job: &Job<'_, P>,
    settings: &Settings,
    budget: &Budget,
    warm_start: Option<&Model>,
) -> Result<Report<Model>> {
    let test = job.test.as_ref().map(|test| &test.data);
    observed(&args.out, budget, |observer| {
        job.fit(Plan {
            watch: test.filter(|_| args.watch_test),
            checkpoints: args.kept.checkpoints(),
            resume: args.kept.resume.as_deref(),
            warm_start,
            ..Plan::new(settings, budget, observer)
        })
    })
}

/// Runs a training with the observers that the user asked for; Ctrl-C ends it.
pub fn observed(
    out: &OutputArgs,
    budget: &Budget,
    train: impl FnOnce(&mut dyn Observer) -> Result<Report<Model>>,
) -> Result<Report<Model>> {
    stop_on_ctrl_c(&budget.interrupt);
    let trace = match &out.trace {
        None => None,
        Some(path) => {
            let file = File::create(path).map_err(|error| {
                let message = format!("cannot be written: {error}");
                Error::file(path, message, "is there space, and may you write there?")
            })?;
            Some(JsonLines::new(BufWriter::new(file), path.display().to_string()))
        }
    };
    let bar = (!out.quiet && std::io::stderr().is_terminal()).then(|| Bar::new(budget));
    let mut observers = (trace, (bar, Warning::default()));
    let report = train(&mut observers as &mut dyn Observer);
    let (bar, Warning { lost }) = &observers.1;
    if let Some(bar) = bar {
        bar.clear();
    }
    if *lost > 0 && report.is_ok() {
        incomplete(&format!(
            "the run is sound, but was not kept as asked: checkpoints that could not be written: {lost}"
        ));
    }
    report
}

/// Says once that the run cannot be kept, and lets it go on: it may end well all the same.
#[derive(Default)]
struct Warning {
    /// Checkpoints that could not be written.
    lost: u64,
}

impl Observer for Warning {
    fn certified(&mut self, _: &Progress, _: &[f64]) -> Result<()> {
        Ok(())
    }

    fn checkpoint_failed(&mut self, error: &Error) -> bool {
        self.lost += 1;
        if self.lost == 1 {
            let _ = writeln!(
                std::io::stderr(),
                "warning: {error}; the run goes on, and is not safe until this is mended"
            );
        }
        true
    }
}
