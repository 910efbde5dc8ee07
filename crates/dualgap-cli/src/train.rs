//! `dualgap train`: read, train, test, save, report.

use crate::args::{Common, OutputArgs, StopArgs, TrainArgs, refuse_given};
use crate::choices::BallName;
use crate::interrupt::stop_on_ctrl_c;
use crate::job::Job;
use crate::options::{TaskOptions, Work};
use crate::progress::{Bar, RunCounter};
use crate::report::{Kept, L1Guarantee, Summary};
use crate::spelling::in_options;
use crate::{Outcome, incomplete, places, print};
use dualgap::data::FileLock;
use dualgap::linalg::on_threads;
use dualgap::run::{Budget, JsonLines, Observer, Progress, Report};
use dualgap::structure::{Remark, Structure};
use dualgap::task::{Chosen, Keep, Model, Over, Plan, RawModel, Resume, TrialPlan};
use dualgap::{Error, Result};
use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::time::Instant;

impl Work for TrainArgs {
    fn common(&self) -> Common<'_> {
        let Self { data, strength, method, ball, .. } = self;
        Common {
            data,
            penalty: &strength.penalty,
            method,
            ball: Some(ball),
            lambda: self.lambda(),
            l1: strength.penalty.sigma(),
            radius: ball.radius.map(|radius| radius.or(1.0)),
            to_accuracy: self.accuracy.is_some(),
        }
    }

    fn run<T: TaskOptions>(&self, task: &T) -> Result<Outcome> {
        let lock = check(self)?;
        let warm_start = warm_start::<T::Structure>(self)?;
        let begin = Instant::now();
        let mut job = Job::read(self.common(), task)?;
        let mut stop = self.stop.clone();
        if self.accuracy.is_none() {
            job.complete(&mut stop);
        }
        let chosen = match self.auto()? {
            None => None,
            Some(over) => {
                let Some(chosen) = choose(self, &job, over, &stop)? else {
                    let _ = writeln!(
                        std::io::stderr(),
                        "interrupted: nothing was chosen, and nothing was written"
                    );
                    return Ok(Outcome::NotReached);
                };
                job.spec = job.spec.at(over, chosen.value)?;
                Some(chosen)
            }
        };
        let (settled, l1_max) = job.spec.settled(&job.train.data)?;
        job.spec = settled;
        let mut task = job.task()?;
        let way = self.accuracy().map(|to| task.to_accuracy(&job.train.data, to)).transpose()?;
        if let Some(way) = &way {
            task = way.task.clone();
            stop.absolute_tolerance = Some(way.gap);
        }
        let read_seconds = begin.elapsed().as_secs_f64();
        drop(lock); // the run takes it
        let budget = stop.budget();
        stop_on_ctrl_c(&budget.interrupt);
        let begin = Instant::now();
        let mut slow = Slow::new(&self.out, || task.scale_advice(&job.train.data));
        let mut report = observed(&self.out, &budget, &mut slow, |observer| {
            let plan = Plan {
                observer: Some(observer),
                watch: job.test.as_ref().map(|test| &test.data).filter(|_| self.watch_test),
                checkpoints: self.kept.checkpoints().map(Keep::File),
                resume: self.kept.resume.as_deref().map(Resume::File),
                warm_start: warm_start.as_ref(),
                ..Plan::new(budget.clone())
            };
            job.fit(&task, plan)
        })?;
        if self.out.output.is_some() {
            job.compact(&mut report, &budget)?;
        }
        let fit_seconds = begin.elapsed().as_secs_f64();
        if !self.out.witness {
            report.model.witness = None;
        }
        let threads = job.common.method.threads;
        let test = on_threads(threads, || job.test(&report.model))??;
        if let Some(path) = &self.out.output {
            report.model.save(path)?;
        }
        let silent = self.out.quiet && !self.out.json;
        let advised = || if silent { Ok(Vec::new()) } else { advice(&report, &job.train.data) };
        let advice = on_threads(threads, advised)??;
        let (model, report) = report.split();
        let summary = Summary {
            task: job.name,
            model: &model,
            report: &report,
            test: test.as_ref(),
            // What was said during the run is not said again, but to machines.
            advice: advice
                .into_iter()
                .filter(|remark| self.out.json || !slow.said(remark))
                .collect(),
            read_seconds,
            fit_seconds: Some(fit_seconds),
            l1_max,
            chosen: chosen.as_ref(),
            l1_guarantee: way.as_ref().map(|way| L1Guarantee {
                accuracy: way.guarantee(&report.certificate),
                bound: way.bound,
                given: self.bound.is_some(),
            }),
        };
        if self.out.json {
            print(&summary.json())?;
        } else if !self.out.quiet {
            let kept = Kept {
                model: self.out.output.as_deref(),
                witness: self.out.witness,
                checkpoint: self.kept.checkpoint.as_deref(),
            };
            print(&summary.table(&stop, &kept))?;
        }
        Ok(stop.outcome(report.stop, report.certificate.certified))
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
            ("--accuracy", args.accuracy.is_some(), "it is of a pure l1 problem"),
            ("--lambda", args.strength.lambda.is_some(), "give --mu in its place"),
            ("--c", args.strength.c.is_some(), "give --mu in its place"),
            ("--warm-start", args.warm_start.is_some(), "begin the run anew"),
        ])?;
    }
    if args.ball.ball == Some(BallName::Trace) {
        let end = "its trace ball tells of test data at the end only";
        refuse_given(&[("--watch-test", args.watch_test, end)])?;
    }
    args.auto()?;
    args.common().check(args.strength.is_zero())?;
    if args.watch_test && args.data.test.is_none() && args.data.test_folds.is_none() {
        return Err(Error::setting("--watch-test needs test data: give --test or --test-folds"));
    }
    Ok(lock)
}

/// Chooses a number by held-out data; returns `None` if that was interrupted.
fn choose<S: Structure>(
    args: &TrainArgs,
    job: &Job<'_, S>,
    over: Over,
    stop: &StopArgs,
) -> Result<Option<Chosen>> {
    let budget = stop.budget();
    stop_on_ctrl_c(&budget.interrupt);
    let plan = TrialPlan { budget, method: job.method.clone(), threads: args.method.threads };
    let shown = !args.out.quiet && std::io::stderr().is_terminal();
    let counter = shown.then(|| RunCounter::new(Chosen::most_runs::<S>(over)));
    let ended = || counter.iter().for_each(RunCounter::ended);
    let chosen = job.spec.choose(&job.train.data, over, &plan, args.method.seed, ended);
    if let Some(counter) = &counter {
        counter.clear();
    }
    chosen.map_err(|error| match error {
        Error::Setting { .. } => Error::file(
            &args.data.data,
            format!("does not say which {} to take: {error}", over.name()),
            format!("give --{} as a number", over.name()),
        ),
        other => other,
    })
}

/// Loads the model whose witness the run starts from.
fn warm_start<S: Structure>(args: &TrainArgs) -> Result<Option<Model<S>>> {
    match &args.warm_start {
        Some(path) if args.kept.resume.is_none() => {
            let raw = RawModel::open(path)?;
            if raw.structure() != S::NAME {
                return Err(Error::setting("a warm start needs a model of the same task"));
            }
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

/// Returns what a run suggests about its problem, in the words of the program.
fn advice<S: Structure>(report: &Report<Model<S>>, data: &S::Data) -> Result<Vec<Remark>> {
    let spelt = |remark: Remark| Remark { text: in_options(&remark.text), ..remark };
    Ok(report.advice(data)?.into_iter().map(spelt).collect())
}

/// Runs a training with the observers that the user asked for; Ctrl-C ends it.
fn observed<M>(
    out: &OutputArgs,
    budget: &Budget,
    slow: &mut Slow<impl Fn() -> Option<Remark> + Send>,
    train: impl FnOnce(&mut dyn Observer) -> Result<Report<M>>,
) -> Result<Report<M>> {
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
    let mut observers = (trace, (bar, (Warning::default(), slow)));
    let report = train(&mut observers as &mut dyn Observer);
    let (bar, (Warning { lost }, _)) = &observers.1;
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

/// Passes after which a run over columns of different sizes says so: long before that most runs are over.
const SLOW: f64 = 50.0;

/// Says once, during a run that takes long, that a scale would help: some such runs would not end for hours.
struct Slow<F> {
    /// Looks at the data, which takes as long as a pass over them; `None` after it was called, or if nothing is to be said.
    advice: Option<F>,
    said: Option<String>,
}

impl<F: Fn() -> Option<Remark>> Slow<F> {
    fn new(out: &OutputArgs, advice: F) -> Self {
        Self { advice: Some(advice).filter(|_| !out.quiet), said: None }
    }

    /// Whether this was said during the run.
    fn said(&self, remark: &Remark) -> bool {
        self.said.as_ref() == Some(&remark.text)
    }
}

impl<F: Fn() -> Option<Remark> + Send> Observer for &mut Slow<F> {
    fn certified(&mut self, progress: &Progress, _: &[f64]) -> Result<()> {
        if progress.passes < SLOW {
            return Ok(());
        }
        if let Some(remark) = self.advice.take().and_then(|advice| advice()) {
            let remark = in_options(&remark.text);
            let _ = writeln!(
                std::io::stderr(),
                "note: {remark}; Ctrl-C ends this run with a model that is certified"
            );
            self.said = Some(remark);
        }
        Ok(())
    }

    fn reads_weights(&self) -> bool {
        false
    }
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

    fn reads_weights(&self) -> bool {
        false
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
