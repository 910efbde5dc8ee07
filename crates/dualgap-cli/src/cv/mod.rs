//! `dualgap cv`: splits the data into folds, tries every λ, σ or radius on each, chooses one, and trains with it on all data.

mod report;

use crate::args::values::Wanted;
use crate::args::{Common, CvArgs};
use crate::interrupt::stop_on_ctrl_c;
use crate::job::Job;
use crate::options::{TaskOptions, Work};
use crate::progress::{Bar, RunCounter};
use crate::report::{Kept, Summary};
use crate::words::to_json;
use crate::{Outcome, places, print, weights};
use dualgap::container::write_atomically;
use dualgap::data::{DataSet, Folds, Unseen};
use dualgap::run::{Budget, Report};
use dualgap::structure::Structure;
use dualgap::structure::evaluation::Evaluation;
use dualgap::task::{Grid, Model, Over, Plan, Search, SearchEnd, Told, TrialPlan};
use dualgap::{Error, Result};
use report::Findings;
use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::time::Instant;

impl Work for CvArgs {
    fn common(&self) -> Common<'_> {
        let Self { data, penalty, method, ball, .. } = self;
        // Every number of the grid takes the place of this one.
        let (lambda, l1) = self.grid.ends.strengths(self.grid.over(), penalty.sigma());
        let (ball, radius) = (Some(ball), Some(1.0));
        Common { data, penalty, method, ball, lambda, l1, radius, to_accuracy: false }
    }

    fn run<T: TaskOptions>(&self, task: &T) -> Result<Outcome> {
        check(self)?;
        let begin = Instant::now();
        let mut job = Job::read(self.common(), task)?;
        let mut stop = self.stop();
        job.complete(&mut stop);
        let grid = self.grid.resolve(&job.spec, &job.train.data, T::GRID)?;
        for &value in &grid.values {
            check_number(&job, grid.over, value)?;
        }
        let folds = folds(self, &job)?;
        let read_seconds = begin.elapsed().as_secs_f64();

        let budget = stop.budget();
        stop_on_ctrl_c(&budget.interrupt);
        let Search { found, end } = search::<T>(self, &job, &folds, &grid, &budget)?;
        let interrupted = end == SearchEnd::Interrupted;
        if interrupted {
            let (tried, of) = (found.candidates.len(), grid.values.len());
            let left = if tried == 0 { "nothing was written" } else { "no model was made" };
            let _ = writeln!(
                std::io::stderr(),
                "interrupted: {tried} of {of} numbers were tried on every fold, and {left}"
            );
            if tried == 0 {
                return Ok(Outcome::NotReached);
            }
        }
        let findings = Findings {
            args: self,
            task: job.name,
            examples: job.train.data.len(),
            folds: folds.count(),
            stratified: job.spec.structure.classes(&job.train.data).is_some(),
            error_kind: job.spec.structure.error_kind(),
            tolerance: budget.relative,
            limited: stop.limited(),
            found: &found,
            chosen: if self.one_standard_error { found.simplest() } else { found.best() },
            end,
            tried_of: grid.values.len(),
            // A model that is neither saved nor tested is useless.
            refits: !interrupted && (self.output.is_some() || job.test.is_some()),
            rare: rare_labels(&job, &folds)?,
        };
        if let Some(path) = &self.table {
            write_atomically(path, findings.tsv().as_bytes())?;
        }
        let talks = !self.json && !self.quiet;
        if talks {
            print(&findings.table())?;
        }

        let value = found.candidates[findings.chosen].value;
        let refit = || Refit::new(self, &job, grid.over, value, &budget);
        let refit = findings.refits.then(refit).transpose()?;
        let summary = refit.as_ref().map(|refit| Summary {
            task: job.name,
            model: &refit.model,
            report: &refit.report,
            test: refit.test.as_ref(),
            advice: Vec::new(),
            read_seconds,
            fit_seconds: None,
            l1_max: None,
            chosen: None,
            l1_guarantee: None,
        });
        if let Some(summary) = summary.as_ref().filter(|_| talks) {
            let model = self.output.as_deref();
            let kept = Kept { model, witness: self.witness, checkpoint: None };
            print(&format!("\n{}", summary.table(&stop, &kept)))?;
        }
        if self.json {
            print(&to_json(&findings.object(summary.map(|summary| summary.object()))))?;
        }
        if interrupted {
            return Ok(Outcome::NotReached);
        }
        let trials = found.candidates.iter().flat_map(|candidate| &candidate.trials);
        let trials = trials.map(|trial| (trial.stop, trial.certificate));
        let refit = refit.map(|refit| (refit.report.stop, refit.report.certificate));
        let ends = trials.chain(refit);
        let mut outcomes = ends.map(|(why, certificate)| stop.outcome(why, certificate.certified));
        Ok(outcomes.find(|o| *o == Outcome::NotReached).unwrap_or(Outcome::Reached))
    }
}

/// Checks everything that can be checked before the work begins.
fn check(args: &CvArgs) -> Result<()> {
    let outputs = [(&args.output, "the model"), (&args.table, "the table")];
    for (path, what) in outputs {
        let Some(path) = path else { continue };
        places::check_not_inputs(std::iter::once(path), &args.data)?;
        places::check_writable(path, what)?;
    }
    if args.output.is_some() && args.output == args.table {
        return Err(Error::setting("the model and the table cannot be one file"));
    }
    if args.penalty.l1 == Wanted::Auto {
        return Err(Error::setting(
            "cv chooses by its folds itself: give --over l1, not --l1 auto",
        ));
    }
    let (over, has_radius) = (args.grid.over(), args.ball.radius.is_some());
    args.grid.ends.check(over, args.penalty.has_l1(), has_radius)?;
    args.common().check(args.grid.has_zero())
}

/// Returns the folds of the file, or random ones from the seed.
fn folds<S: Structure>(args: &CvArgs, job: &Job<'_, S>) -> Result<Folds> {
    let file = &args.data.data;
    let refused = |error: Error, remedy: &str| Error::file(file, error.to_string(), remedy);
    if !args.given_folds {
        let folds = job.task()?.folds(&job.train.data, args.folds, args.method.seed);
        return folds.map_err(|error| refused(error, "give fewer --folds"));
    }
    match &job.train.folds {
        Some(numbers) => Folds::given(numbers)
            .map_err(|error| refused(error, "name more with --train-folds, or give --folds")),
        None => Err(Error::file(
            file,
            format!("a {} file has no folds", job.train.recipe.format.name()),
            "leave out --given-folds; --folds says how many to make",
        )),
    }
}

/// Returns an error for a number that the task does not have.
fn check_number<S: Structure>(job: &Job<'_, S>, over: Over, value: f64) -> Result<()> {
    job.spec.at(over, value)?.resolve(&job.train.data)?.check()
}

/// Tries every number of the grid on every fold, and tells of each as it is done.
fn search<T: TaskOptions>(
    args: &CvArgs,
    job: &Job<'_, T::Structure>,
    folds: &Folds,
    grid: &Grid,
    budget: &Budget,
) -> Result<Search> {
    (0..folds.count()).try_for_each(|fold| check_weights(args, job, &folds.outside(fold)))?;
    job.spec.check_folds(&job.train.data, folds).map_err(|error| {
        Error::file(&args.data.data, error.to_string(), "give more data, or other folds")
    })?;
    let terminal = !args.quiet && std::io::stderr().is_terminal();
    let counter = terminal.then(|| RunCounter::new(folds.count() * grid.values.len()));
    let plan = TrialPlan {
        budget: budget.clone(),
        method: job.method.clone(),
        threads: args.method.threads,
    };
    let told = |told: Told<'_>| match told {
        Told::Run(_) => counter.iter().for_each(RunCounter::ended),
        Told::Candidate(candidate) if !args.quiet => {
            let line = report::line(candidate, grid.over, job.spec.structure.error_kind());
            match &counter {
                Some(counter) => counter.print(&line),
                // A failure to write to standard error cannot be reported anywhere.
                None => drop(writeln!(std::io::stderr(), "{line}")),
            }
        }
        Told::Candidate(_) => (),
    };
    let patience = T::PATIENCE.filter(|_| args.grid.is_default());
    let found = job.spec.search(&job.train.data, folds, grid.clone(), &plan, patience, told);
    if let Some(counter) = &counter {
        counter.clear();
    }
    found
}

/// Returns an error if the data without a fold have no weight.
fn check_weights<S: Structure>(args: &CvArgs, job: &Job<'_, S>, outside: &[usize]) -> Result<()> {
    let (Some(path), Some(weights)) = (&args.data.sample_weights, job.train.data.weights()) else {
        return Ok(());
    };
    let weights: Vec<f64> = outside.iter().map(|&i| weights[i]).collect();
    weights::check_total(path, &weights)
}

/// Returns the labels that occur in one fold only, so that no model is trained on them when they are tested.
fn rare_labels<S: Structure>(job: &Job<'_, S>, folds: &Folds) -> Result<Vec<String>> {
    let (structure, data) = (&job.spec.structure, &job.train.data);
    let names = structure.names(data)?.alphabet;
    let mut within = vec![BTreeSet::new(); names.len()];
    for i in 0..data.len() {
        for label in structure.labels(data, i).into_iter().flatten() {
            within[label].insert(folds.of(i));
        }
    }
    let rare = names.names().iter().zip(within).filter(|(_, folds)| folds.len() == 1);
    Ok(rare.map(|(name, _)| name.clone()).collect())
}

/// The model of all data.
struct Refit<S> {
    model: Model<S>,
    report: Report<()>,
    test: Option<(Evaluation, Unseen)>,
}

impl<S: Structure> Refit<S> {
    /// Trains, tests and saves the model.
    fn new(
        args: &CvArgs,
        job: &Job<'_, S>,
        over: Over,
        value: f64,
        budget: &Budget,
    ) -> Result<Self> {
        let task = job.spec.at(over, value)?.resolve(&job.train.data)?;
        let mut bar = (!args.quiet && std::io::stderr().is_terminal()).then(|| Bar::new(budget));
        let plan = Plan { observer: Some(&mut bar), ..Plan::new(budget.clone()) };
        let report = job.fit(&task, plan);
        if let Some(bar) = &bar {
            bar.clear();
        }
        let mut report = report?;
        if args.output.is_some() {
            job.compact(&mut report, budget)?;
        }
        if !args.witness {
            report.model.witness = None;
        }
        let test = job.test(&report.model)?;
        if let Some(path) = &args.output {
            report.model.save(path)?;
        }
        let (model, report) = report.split();
        Ok(Self { model, report, test })
    }
}
