//! `dualgap train`: read, train, test, save, report.

use crate::args::{Lambda, Task, TrainArgs};
use crate::report::{self, Summary};
use crate::{Outcome, print};
use dualgap::data::recipe::Selected;
use dualgap::data::{Alphabet, Examples, Format, Recipe, Sequences, Source, tables};
use dualgap::model::{Evaluation, Model, fit_chain, fit_multiclass};
use dualgap::run::{Budget, Interrupt, JsonLines, Observer, Report, Stop};
use dualgap::ssvm::{Costs, Settings};
use dualgap::{Error, Result};
use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;

/// Trains as asked.
pub fn run(task: &Task) -> Result<Outcome> {
    match task {
        Task::Multiclass { common, costs } => {
            let setup = Setup::new(common, Format::Libsvm)?;
            let train: Selected<Examples> = setup.train.examples(Source::open(&common.data)?)?;
            check_labels(&common.data, &train.data.alphabet, "classes")?;
            let test = setup.test(common, Recipe::examples)?;
            let costs = match costs {
                None => Costs::ZeroOne,
                Some(path) => {
                    Costs::Matrix(tables::read_costs(Source::open(path)?, &train.data.alphabet)?)
                }
            };
            let settings = settings(common, &train)?;
            let report = setup.go(common, |budget, observer| {
                fit_multiclass(&train.data, &costs, &settings, budget, observer)
            })?;
            finish(common, "multiclass", &setup, report, &settings, |model| {
                test.map(|test| model.evaluate_examples(&test.data))
            })
        }
        Task::Chain { common, hamming } => {
            let setup = Setup::new(common, Format::Letters)?;
            let train: Selected<Sequences> = setup.train.sequences(Source::open(&common.data)?)?;
            check_labels(&common.data, &train.data.alphabet, "labels")?;
            let test = setup.test(common, Recipe::sequences)?;
            let settings = settings(common, &train)?;
            let report = setup.go(common, |budget, observer| {
                fit_chain(&train.data, (*hamming).into(), &settings, budget, observer)
            })?;
            finish(common, "chain", &setup, report, &settings, |model| {
                test.map(|test| model.evaluate_sequences(&test.data))
            })
        }
    }
}

/// What is known before the data are read.
struct Setup {
    train: Recipe,
    budget: Budget,
}

impl Setup {
    /// Whatever can be refused before the work begins is refused here.
    fn new(args: &TrainArgs, default_format: Format) -> Result<Self> {
        let format = args.format.map_or(default_format, Into::into);
        check_outputs(args)?;
        let folds = args.train_folds.as_ref().map(|folds| folds.0.clone());
        if let (Some(train), Some(test)) = (&folds, &args.test_folds)
            && let Some(fold) = train.iter().find(|fold| test.0.contains(fold))
        {
            return Err(Error::setting(format!(
                "fold {fold} is both trained on and tested on; a test needs other data"
            )));
        }
        if args.test_folds.is_some() && folds.is_none() {
            return Err(Error::setting(
                "--test-folds without --train-folds would test on what was trained on; \
                 name the folds to train on",
            ));
        }
        // Without any tolerance a run needs some other end; the default tolerance is one. A given
        // absolute tolerance takes its place, and zero switches it off.
        let relative = match (args.tolerance, args.absolute_tolerance) {
            (None, None) => Some(0.01),
            (given, _) => given,
        };
        let budget = Budget {
            relative,
            absolute: args.absolute_tolerance,
            passes: args.passes,
            oracle_calls: args.oracle_calls,
            seconds: args.time,
            ..Budget::default()
        };
        Ok(Self { train: Recipe { format, folds }, budget })
    }

    fn test<D>(
        &self,
        args: &TrainArgs,
        read: impl FnOnce(&Recipe, Source<'_>) -> Result<Selected<D>>,
    ) -> Result<Option<Selected<D>>> {
        let (path, folds) = match (&args.test, &args.test_folds) {
            (Some(path), _) => (path, None),
            (None, Some(folds)) => (&args.data, Some(folds.0.clone())),
            (None, None) => return Ok(None),
        };
        let recipe = Recipe { folds, ..self.train.clone() };
        read(&recipe, Source::open(path)?).map(Some)
    }

    /// Runs the training under the observers that were asked for.
    fn go(
        &self,
        args: &TrainArgs,
        fit: impl FnOnce(&Budget, &mut dyn Observer) -> Result<Report<Model>>,
    ) -> Result<Report<Model>> {
        stop_on_ctrl_c(&self.budget.interrupt);
        let trace = match &args.trace {
            None => None,
            Some(path) => {
                let file = File::create(path).map_err(|error| {
                    let message = format!("cannot be written: {error}");
                    Error::file(path, message, "is there space, and may you write there?")
                })?;
                Some(JsonLines::new(BufWriter::new(file), path.display().to_string()))
            }
        };
        let progress = (!args.quiet && std::io::stderr().is_terminal()).then_some(StatusLine);
        let report = fit(&self.budget, &mut (trace, progress));
        if !args.quiet && std::io::stderr().is_terminal() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
        report
    }
}

fn settings<D>(args: &TrainArgs, train: &Selected<D>) -> Result<Settings> {
    let sample_weights = match &args.sample_weights {
        None => None,
        Some(path) => {
            let all = tables::read_weights(Source::open(path)?, train.of)?;
            let chosen: Vec<f64> = train.chosen.iter().map(|&i| all[i]).collect();
            let total: f64 = chosen.iter().sum();
            if !(total > 0.0 && total.is_finite()) {
                return Err(Error::file(
                    path,
                    format!("the weights add up to {total} on the examples to train on"),
                    "some example must count, and the sum must be a number",
                ));
            }
            Some(chosen)
        }
    };
    let total = sample_weights.as_ref().map_or(train.chosen.len() as f64, |c| c.iter().sum());
    let lambda = match args.c {
        Some(c) => 1.0 / (c * total),
        None => args.lambda.unwrap_or(Lambda::PerExample(1.0)).resolve(total),
    };
    Ok(Settings {
        lambda,
        method: args.solver.into(),
        step: args.step.into(),
        sampling: args.sampling.into(),
        average: args.average.into(),
        batch: args.batch,
        threads: args.threads,
        seed: args.seed,
        sample_weights,
    })
}

/// Tests, saves, and tells.
fn finish(
    args: &TrainArgs,
    task: &'static str,
    setup: &Setup,
    mut report: Report<Model>,
    settings: &Settings,
    test: impl FnOnce(&Model) -> Option<Evaluation>,
) -> Result<Outcome> {
    report.model.provenance.recipe = Some(setup.train.clone());
    if !args.witness {
        report.model.witness = None;
    }
    let evaluation = test(&report.model);
    if let Some(path) = &args.output {
        report.model.save(path)?;
    }
    let outcome = outcome(args, report.stop);
    let summary = Summary { task, report: &report, settings, test: evaluation.as_ref() };
    if args.json {
        print(&summary.json())?;
    } else if !args.quiet {
        print(&summary.table(&setup.budget, args))?;
    }
    Ok(outcome)
}

/// Exit 0 when the tolerance was reached, or at a limit when the user asked for no tolerance; a tolerance
/// of zero asks for none. A run that stalls has done neither.
fn outcome(args: &TrainArgs, stop: Stop) -> Outcome {
    let asked = [args.tolerance, args.absolute_tolerance].into_iter().flatten().any(|t| t > 0.0);
    let at_limit = matches!(stop, Stop::PassLimit | Stop::OracleLimit | Stop::TimeLimit);
    if stop == Stop::GapReached || (at_limit && !asked) {
        Outcome::Reached
    } else {
        Outcome::NotReached
    }
}

fn check_labels(path: &Path, labels: &Alphabet, what: &str) -> Result<()> {
    if labels.len() > 1 {
        return Ok(());
    }
    Err(Error::file(
        path,
        format!("there must be at least two {what} to tell apart, and it has {}", labels.len()),
        "is the label where the format has it, and are the folds the right ones?",
    ))
}

/// No output may take the place of an input, and the model must have somewhere to go.
fn check_outputs(args: &TrainArgs) -> Result<()> {
    let outputs = [&args.output, &args.trace];
    let inputs = [Some(&args.data), args.test.as_ref(), args.sample_weights.as_ref()];
    for output in outputs.into_iter().flatten() {
        // What is not there yet has no canonical path, and cannot be an input either.
        let Ok(place) = output.canonicalize() else { continue };
        if inputs.into_iter().flatten().any(|input| input.canonicalize().is_ok_and(|i| i == place))
        {
            return Err(Error::file(
                output,
                "is read by this run and would be overwritten",
                "name another file to write to",
            ));
        }
    }
    args.output.as_deref().map_or(Ok(()), check_writable)
}

/// Nobody wants to learn after an hour of training that the model has nowhere to go.
fn check_writable(path: &Path) -> Result<()> {
    let unwritable = |error: std::io::Error| {
        Error::file(
            path,
            format!("cannot be written: {error}"),
            "does the folder exist, and may you write there?",
        )
    };
    if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(Error::file(path, "is a folder", "name a file for the model"));
    }
    match std::fs::metadata(path) {
        Ok(there) if !there.is_file() => {
            return Err(Error::file(path, "is not a plain file", "name a file for the model"));
        }
        // What is there stays as it is until the new model takes its place.
        Ok(_) => drop(File::options().append(true).open(path).map_err(unwritable)?),
        // Only making the file shows whether its name can be used.
        Err(_) => {
            File::create_new(path).map_err(unwritable)?;
            std::fs::remove_file(path).map_err(unwritable)?;
        }
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    tempfile::tempfile_in(folder.unwrap_or(Path::new("."))).map_err(unwritable)?;
    Ok(())
}

/// The first Ctrl-C ends the run with a certified model, the second ends the program.
pub fn stop_on_ctrl_c(interrupt: &Interrupt) {
    let interrupt = interrupt.clone();
    // Where no handler can be set, Ctrl-C ends the program at once, as everywhere.
    let _ = ctrlc::set_handler(move || {
        if interrupt.raised() {
            std::process::exit(130);
        }
        interrupt.raise();
        let _ = writeln!(
            std::io::stderr(),
            "\nstopping: the model is being certified (Ctrl-C again to give up)"
        );
    });
}

/// One line on a terminal, written over with every certification.
pub struct StatusLine;

impl Observer for StatusLine {
    fn certified(&mut self, progress: &dualgap::run::Progress) -> Result<()> {
        let gap = progress.certificate.relative_gap();
        let _ = write!(
            std::io::stderr(),
            "\r\x1b[Kpass {:.0}   gap {}   {:.1} s",
            progress.passes,
            report::percent(gap),
            progress.solve_seconds + progress.certify_seconds
        );
        Ok(())
    }
}
