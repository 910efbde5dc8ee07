//! `dualgap cv`: splits the data into folds, tries every λ on each, chooses one, and trains with it on all data.

mod report;

use crate::args::{Common, CvArgs, Examples, Work};
use crate::interrupt::stop_on_ctrl_c;
use crate::job::Job;
use crate::problem::{Dataset, Problem};
use crate::progress::{Bar, RunCounter};
use crate::report::{Kept, Outcomes, Summary, to_json};
use crate::{Outcome, places, print};
use dualgap::data::{DataSet, Folds, Unseen, write_atomically};
use dualgap::dual::Settings;
use dualgap::model::{CrossValidation, Model, Plan, Score, cross_validate};
use dualgap::run::{Budget, Report};
use dualgap::{Error, Result};
use report::Findings;
use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Instant;

impl Work for CvArgs {
    const EXAMPLES: Examples = Examples {
        binary: "\
Examples:
  dualgap cv binary DATA.svm --loss logistic -o model.dualgap
  dualgap cv binary DATA.svm --folds 10 --lambdas 1/n,0.1/n,0.01/n --one-standard-error",
        regression: "\
Examples:
  dualgap cv regression DATA.svm --intercept --from 1 --to 1e-4 --count 9 -o model.dualgap
  dualgap cv regression TABLE.csv --label price --scale rms --table errors.tsv",
        multiclass: "\
Examples:
  dualgap cv multiclass DATA.svm -o model.dualgap
  dualgap cv multiclass TABLE.csv --label species --loss softmax --tolerance 1e-3 --json",
        multilabel: "",
        multioutput: "",
        chain: "\
Examples:
  dualgap cv chain TRAIN.txt --test TEST.txt --average weighted --passes 10 -o tagger.dualgap
  dualgap cv chain letter.data.gz --given-folds --train-folds 1-9 --test-folds 0",
    };

    fn common(&self) -> Common<'_> {
        Common { data: &self.data, penalty: &self.penalty, method: &self.method, ball: None }
    }

    fn run<P: Problem>(&self, problem: P) -> Result<Outcome> {
        check(self)?;
        let begin = Instant::now();
        let job = Job::read(self.common(), problem)?;
        let lambdas = self.grid.resolve(job.total())?;
        lambdas.iter().try_for_each(|&lambda| job.settings(lambda).map(drop))?;
        let folds = folds(self, &job)?;
        let read_seconds = begin.elapsed().as_secs_f64();

        let (stop, budget) = (self.stop(), self.stop().budget());
        stop_on_ctrl_c(&budget.interrupt);
        let Some(found) = search(self, &job, &folds, &lambdas, &budget)? else {
            let _ = writeln!(
                std::io::stderr(),
                "interrupted: no lambda was chosen, and nothing was written"
            );
            return Ok(Outcome::NotReached);
        };
        let findings = Findings {
            args: self,
            task: job.problem.task(),
            examples: job.train.data.len(),
            folds: folds.count(),
            tolerance: budget.relative,
            found: &found,
            chosen: if self.one_standard_error { found.simplest() } else { found.best() },
            // A model that is neither saved nor tested is useless.
            refits: self.output.is_some() || job.test.is_some(),
            rare: rare_labels(&job, &folds),
        };
        if let Some(path) = &self.table {
            write_atomically(path, findings.tsv().as_bytes())?;
        }
        let talks = !self.json && !self.quiet;
        if talks {
            print(&findings.table())?;
        }

        let lambda = found.candidates[findings.chosen].lambda;
        let refit = findings.refits.then(|| Refit::new(self, &job, lambda, &budget)).transpose()?;
        let summary = refit.as_ref().map(|refit| Summary {
            task: job.problem.task(),
            report: &refit.report,
            settings: &refit.settings,
            test: refit.test.as_ref(),
            rated: None,
            read_seconds,
        });
        if let Some(summary) = summary.as_ref().filter(|_| talks) {
            let model = self.output.as_deref();
            let kept = Kept { model, witness: self.witness, checkpoint: None };
            print(&format!("\n{}", summary.table(&stop, &kept)))?;
        }
        if self.json {
            print(&to_json(&findings.object(summary.map(|summary| summary.object()))))?;
        }
        let trials = found.candidates.iter().flat_map(|candidate| &candidate.trials);
        let stops = trials.map(|trial| trial.stop).chain(refit.map(|refit| refit.report.stop));
        let mut outcomes = stops.map(|why| stop.outcome(why));
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
    args.common().check(args.grid.has_zero())
}

/// Returns the folds of the file, or random ones from the seed.
fn folds<P: Problem>(args: &CvArgs, job: &Job<'_, P>) -> Result<Folds> {
    let file = &args.data.data;
    let refused = |error: Error, remedy: &str| Error::file(file, error.to_string(), remedy);
    if !args.given_folds {
        let folds = job.problem.folds(&job.train.data, args.folds, args.method.seed);
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

/// Tries every λ on every fold; returns `None` if it was interrupted.
fn search<P: Problem>(
    args: &CvArgs,
    job: &Job<'_, P>,
    folds: &Folds,
    lambdas: &[f64],
    budget: &Budget,
) -> Result<Option<CrossValidation>> {
    let threads = match args.method.threads {
        0 => available_parallelism().map_or(1, NonZero::get),
        threads => threads,
    };
    // Threads go to folds first, which are independent. The rest go to the runs.
    let threads_each = (threads / folds.count()).max(1);
    let terminal = !args.quiet && std::io::stderr().is_terminal();
    let counter = terminal.then(|| RunCounter::new(folds.count() * lambdas.len()));
    let ended = &|| counter.iter().for_each(RunCounter::ended);
    let found = cross_validate(folds.count(), lambdas, threads, |fold| {
        let part = job.part(&folds.outside(fold))?;
        check_labels(args, &part)?;
        let held_out = job.train.data.subset(&folds.inside(fold));
        Ok(move |lambda: f64, before: Option<&Model>| {
            let settings = Settings { threads: threads_each, ..part.settings(lambda)? };
            let report =
                part.fit(Plan { warm_start: before, ..Plan::new(&settings, budget, &mut ()) });
            let report = report.map_err(|error| of_run(error, fold, lambda))?;
            let score: Score = match part.problem.evaluate(&report.model, &held_out)? {
                Outcomes::Labels(evaluation) => (&*evaluation).into(),
                Outcomes::Numbers(errors) => errors.into(),
                Outcomes::Sets(_) | Outcomes::Outputs(_) => {
                    return Err(Error::setting("what is trained in a ball has no lambda"));
                }
            };
            ended();
            Ok((report, score))
        })
    });
    if let Some(counter) = &counter {
        counter.clear();
    }
    found
}

/// Adds to an error which of the many runs it comes from.
fn of_run(error: Error, fold: usize, lambda: f64) -> Error {
    match error {
        Error::Unsound { message } => Error::Unsound {
            message: format!("lambda {lambda:e}, without fold {}: {message}", fold + 1),
        },
        other => other,
    }
}

/// Returns an error if the data without a fold have fewer than two labels.
fn check_labels<P: Problem>(args: &CvArgs, part: &Job<'_, P>) -> Result<()> {
    let data = &part.train.data;
    let labels: BTreeSet<usize> = (0..data.len()).flat_map(|i| data.labels(i)).collect();
    if labels.len() > 1 || !part.problem.has_labels() {
        return Ok(());
    }
    Err(Error::file(
        &args.data.data,
        "without one of the folds there are no two labels to tell apart",
        "every label needs examples in two folds at least: give more data, or other folds",
    ))
}

/// Returns the labels that occur in one fold only, so that no model is trained on them when they are tested.
fn rare_labels<P: Problem>(job: &Job<'_, P>, folds: &Folds) -> Vec<String> {
    if !job.problem.has_labels() {
        return Vec::new();
    }
    let data = &job.train.data;
    let names = data.vocabulary().alphabet.names();
    let mut within = vec![BTreeSet::new(); names.len()];
    for i in 0..data.len() {
        data.labels(i).for_each(|label| {
            within[label].insert(folds.of(i));
        });
    }
    let rare = names.iter().zip(within).filter(|(_, folds)| folds.len() == 1);
    rare.map(|(name, _)| name.clone()).collect()
}

/// The model of all data.
struct Refit {
    report: Report<Model>,
    settings: Settings,
    test: Option<(Outcomes, Unseen)>,
}

impl Refit {
    /// Trains, tests and saves the model.
    fn new<P: Problem>(
        args: &CvArgs,
        job: &Job<'_, P>,
        lambda: f64,
        budget: &Budget,
    ) -> Result<Self> {
        let settings = job.settings(lambda)?;
        let mut bar = (!args.quiet && std::io::stderr().is_terminal()).then(|| Bar::new(budget));
        let report = job.fit(Plan::new(&settings, budget, &mut bar));
        if let Some(bar) = &bar {
            bar.clear();
        }
        let mut report = report?;
        if !args.witness {
            report.model.witness = None;
        }
        let test = job.test(&report.model)?;
        if let Some(path) = &args.output {
            report.model.save(path)?;
        }
        Ok(Self { report, settings, test })
    }
}
