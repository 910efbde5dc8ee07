//! `dualgap train`: read, train, test, save, report.

use crate::args::{
    self, BinaryLoss, ClassesLoss, Intercept, Lambda, LinearArgs, RegressionLoss, Task, TrainArgs,
};
use crate::formats::format;
use crate::places::check_outputs;
use crate::progress::Bar;
use crate::report::{Outcomes, Summary};
use crate::{Outcome, print, weights};
use dualgap::data::source::is_stdin;
use dualgap::data::{Alphabet, ClassWeights, Format, Loaded, Recipe, Source, Unseen, tables};
use dualgap::model::{
    Checkpoints, Model, Plan, fit_chain_with, fit_linear_with, fit_multiclass_with, fit_vector_with,
};
use dualgap::run::{Budget, Interrupt, JsonLines, Observer, Progress, Report, Stop};
use dualgap::ssvm::{Costs, Settings};
use dualgap::term::{Free, MulticlassLoss, Regulariser, ScalarLoss};
use dualgap::{Error, Result};
use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;
use std::time::Instant;

/// Trains as asked.
pub fn run(task: &Task) -> Result<Outcome> {
    match task {
        Task::Binary { common, loss, width, classes, linear } => {
            let loss = match loss {
                BinaryLoss::Hinge => ScalarLoss::Hinge,
                BinaryLoss::SmoothHinge => ScalarLoss::SmoothHinge { width: width.unwrap_or(1.0) },
                BinaryLoss::SquaredHinge => ScalarLoss::SquaredHinge,
                BinaryLoss::Logistic => ScalarLoss::Logistic,
            };
            check_widths(loss, *width, None)?;
            train_linear("binary", common, loss, classes.class_weights.as_ref(), linear)
        }
        Task::Regression { common, loss, width, epsilon, linear } => {
            let loss = match loss {
                RegressionLoss::Squared => ScalarLoss::Squared,
                RegressionLoss::Absolute => ScalarLoss::Absolute,
                RegressionLoss::EpsilonInsensitive => {
                    ScalarLoss::EpsilonInsensitive { epsilon: epsilon.unwrap_or(0.1) }
                }
                RegressionLoss::Huber => ScalarLoss::Huber { width: width.unwrap_or(1.0) },
            };
            check_widths(loss, *width, *epsilon)?;
            train_linear("regression", common, loss, None, linear)
        }
        Task::Multiclass {
            common: args,
            loss,
            width,
            option,
            intercept,
            costs,
            classes,
            columns,
        } => {
            let loss = match loss {
                ClassesLoss::Hinge => MulticlassLoss::Hinge,
                ClassesLoss::SmoothHinge => {
                    MulticlassLoss::SmoothHinge { width: width.unwrap_or(1.0) }
                }
                ClassesLoss::Softmax => MulticlassLoss::Softmax,
            };
            check_classes(args, loss, *width, *option)?;
            let choice = (*option != args::SdcaOption::Auto).then(|| (*option).into());
            let setup = Setup { constant: *intercept, ..Setup::new(args)? };
            let train = setup.train(Format::guess_examples, |r, s| r.examples(s, None))?;
            check_labels(&args.data, &train.data.alphabet, "classes")?;
            let known = train.data.vocabulary();
            let test = setup.test(&train.recipe, |r, s| r.examples(s, Some(known)))?;
            let costs = match costs {
                None => Costs::ZeroOne,
                Some(path) => {
                    Costs::Matrix(tables::read_costs(Source::open(path)?, &train.data.alphabet)?)
                }
            };
            let counts = weights::of_classes(
                classes.class_weights.as_ref(),
                args.sample_weights.as_deref(),
                &train,
            )?;
            let settings = settings(args, train.data.len(), counts, false, None)?;
            let report = setup.go(&settings, test.as_ref().map(|test| &test.data), |plan| {
                let plan = Plan { scale: columns.scale.into(), ..plan };
                if loss == MulticlassLoss::Hinge && choice.is_none() {
                    return fit_multiclass_with(&train.data, &costs, plan);
                }
                fit_vector_with(&train.data, &costs, loss, choice.unwrap_or_default(), plan)
            })?;
            setup.finish("multiclass", report, &settings, &train.recipe, |model| {
                Ok(test.map(|test| (model.evaluate_examples(&test.data).into(), test.unseen)))
            })
        }
        Task::Chain { common: args, hamming } => {
            let setup = Setup::new(args)?;
            let train = setup.train(Format::guess_sequences, |r, s| r.sequences(s, None))?;
            check_labels(&args.data, &train.data.alphabet, "labels")?;
            let known = train.data.vocabulary();
            let test = setup.test(&train.recipe, |r, s| r.sequences(s, Some(known)))?;
            let counts = weights::of_file(args.sample_weights.as_deref(), &train)?;
            let settings = settings(args, train.data.len(), counts, false, None)?;
            let report = setup.go(&settings, test.as_ref().map(|test| &test.data), |plan| {
                fit_chain_with(&train.data, (*hamming).into(), plan)
            })?;
            setup.finish("chain", report, &settings, &train.recipe, |model| {
                Ok(test.map(|test| (model.evaluate_sequences(&test.data).into(), test.unseen)))
            })
        }
    }
}

/// Options that the loss does not have would be ignored, and that is not what was meant.
fn check_classes(
    args: &TrainArgs,
    loss: MulticlassLoss,
    width: Option<f64>,
    option: args::SdcaOption,
) -> Result<()> {
    let chosen = option != args::SdcaOption::Auto;
    let hinge = loss == MulticlassLoss::Hinge && !chosen;
    if width.is_some() && !matches!(loss, MulticlassLoss::SmoothHinge { .. }) {
        return Err(Error::setting("--width is for the loss smooth-hinge"));
    }
    if chosen && args.solver == args::Solver::Fw {
        return Err(Error::setting(
            "--option is about steps of one example, not those of --solver fw",
        ));
    }
    if !hinge && args.step == args::Step::Predefined {
        return Err(Error::setting(
            "--step is for the hinge without --option; --option chooses steps here",
        ));
    }
    Ok(())
}

/// A width for a loss that has none would be ignored, and that is not what was meant.
fn check_widths(loss: ScalarLoss, width: Option<f64>, epsilon: Option<f64>) -> Result<()> {
    let wide = matches!(loss, ScalarLoss::SmoothHinge { .. } | ScalarLoss::Huber { .. });
    if width.is_some() && !wide {
        return Err(Error::setting("--width is for the losses smooth-hinge and huber"));
    }
    if epsilon.is_some() && !matches!(loss, ScalarLoss::EpsilonInsensitive { .. }) {
        return Err(Error::setting("--epsilon is for the loss epsilon-insensitive"));
    }
    Ok(())
}

fn train_linear(
    task: &'static str,
    args: &TrainArgs,
    loss: ScalarLoss,
    classes: Option<&ClassWeights>,
    linear: &LinearArgs,
) -> Result<Outcome> {
    if args.step == args::Step::Predefined {
        return Err(Error::setting("--step is for structural tasks; --option chooses steps here"));
    }
    if args.solver == args::Solver::Fw && linear.option != args::SdcaOption::Auto {
        return Err(Error::setting(
            "--option is about steps of one example, not those of --solver fw",
        ));
    }
    let averaged = args.average != args::Average::None || args.solver == args::Solver::Fw;
    if averaged && linear.intercept == Some(Intercept::Free) {
        return Err(Error::setting(
            "an intercept without penalty goes with neither averages nor --solver fw; \
             --intercept=penalised does",
        ));
    }
    let setup = Setup { constant: linear.intercept.is_some(), ..Setup::new(args)? };
    let train = setup.train(Format::guess_examples, |r, s| r.examples(s, None))?;
    if let Err(Error::Setting { message }) = train.data.targets(loss.is_binary()) {
        let remedy = if loss.is_binary() {
            "`dualgap train multiclass` takes any number of classes"
        } else {
            "is the label where the format has it?"
        };
        return Err(Error::file(&args.data, message, remedy));
    }
    let known = train.data.vocabulary();
    let test = setup.test(&train.recipe, |r, s| r.examples(s, Some(known)))?;
    let free = match linear.intercept {
        Some(Intercept::Free) => {
            let targets = train.data.targets(loss.is_binary())?;
            Some(Free::intercept(train.data.rows.width() - 1, &targets))
        }
        Some(Intercept::Penalised) | None => None,
    };
    let counts = weights::of_classes(classes, args.sample_weights.as_deref(), &train)?;
    let settings = settings(args, train.data.len(), counts, true, free)?;
    let report = setup.go(&settings, test.as_ref().map(|test| &test.data), |plan| {
        let plan = Plan { scale: linear.columns.scale.into(), ..plan };
        fit_linear_with(&train.data, loss, linear.option.into(), plan)
    })?;
    setup.finish(task, report, &settings, &train.recipe, |model| {
        let Some(Loaded { data, unseen, .. }) = test else { return Ok(None) };
        let outcome = if loss.is_binary() {
            model.evaluate_examples(&data).into()
        } else {
            model.evaluate_numbers(&data)?.into()
        };
        Ok(Some((outcome, unseen)))
    })
}

/// What is known before the data are read.
struct Setup<'a> {
    args: &'a TrainArgs,
    budget: Budget,
    warm_start: Option<Model>,
    /// Whether a feature that is always 1 is added.
    constant: bool,
    begin: Instant,
}

impl<'a> Setup<'a> {
    /// Whatever can be refused before the work begins is refused here.
    fn new(args: &'a TrainArgs) -> Result<Self> {
        check_outputs(args)?;
        if let (Some(train), Some(test)) = (&args.train_folds, &args.test_folds)
            && let Some(fold) = train.0.iter().find(|fold| test.0.contains(fold))
        {
            return Err(Error::setting(format!(
                "fold {fold} is both trained on and tested on; a test needs other data"
            )));
        }
        if args.test_folds.is_some() && args.train_folds.is_none() {
            return Err(Error::setting(
                "--test-folds without --train-folds would test on what was trained on; \
                 name the folds to train on",
            ));
        }
        let plain = args.solver == args::Solver::Bcfw
            && args.step == args::Step::LineSearch
            && args.average == args::Average::None
            && !args.q_norm
            && args.lambda != Some(Lambda::Value(0.0));
        if args.acceleration == args::Acceleration::On && !plain {
            return Err(Error::setting(
                "--acceleration on goes with steps of one example, by line search, without averages, \
                 the q-norm and pure l1",
            ));
        }
        if args.watch_test && args.test.is_none() && args.test_folds.is_none() {
            return Err(Error::setting(
                "--watch-test needs test data: give --test or --test-folds",
            ));
        }
        let inputs = [Some(&args.data), args.test.as_ref(), args.sample_weights.as_ref()];
        let from_stdin = inputs.into_iter().flatten().filter(|path| is_stdin(path)).count();
        if from_stdin > 1 || (from_stdin > 0 && args.test_folds.is_some()) {
            return Err(Error::setting("standard input can be read only once: name a file"));
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
        let warm_start = match &args.warm_start {
            Some(path) if args.resume.is_none() => {
                let model = Model::load(path)?;
                if model.witness.is_none() {
                    return Err(Error::file(
                        path,
                        "has no witness, and a warm start begins with one",
                        "train that model with --witness",
                    ));
                }
                Some(model)
            }
            _ => None, // a checkpoint knows more than the model that its run began with
        };
        Ok(Self { args, budget, warm_start, constant: false, begin: Instant::now() })
    }

    fn train<D>(
        &self,
        guess: fn(&str) -> Format,
        read: impl FnOnce(&Recipe, Source<'_>) -> Result<Loaded<D>>,
    ) -> Result<Loaded<D>> {
        let mut source = Source::open(&self.args.data)?;
        let format = format(self.args, guess(&source.head()?))?;
        let folds = self.args.train_folds.as_ref().map(|folds| folds.0.clone());
        read(&Recipe { format, folds, constant: self.constant }, source)
    }

    fn test<D>(
        &self,
        recipe: &Recipe,
        read: impl FnOnce(&Recipe, Source<'_>) -> Result<Loaded<D>>,
    ) -> Result<Option<Loaded<D>>> {
        let (path, folds) = match (&self.args.test, &self.args.test_folds) {
            (Some(path), _) => (path, None),
            (None, Some(folds)) => (&self.args.data, Some(folds.0.clone())),
            (None, None) => return Ok(None),
        };
        let test = read(&Recipe { folds, ..recipe.clone() }, Source::open(path)?)?;
        if !test.labelled {
            return Err(Error::file(
                path,
                "has no labels to test against",
                "test on labelled data; `dualgap predict` labels others",
            ));
        }
        Ok(Some(test))
    }

    /// Runs the training under the observers that were asked for.
    fn go<D>(
        &self,
        settings: &Settings,
        test: Option<&D>,
        fit: impl FnOnce(Plan<'_, D>) -> Result<Report<Model>>,
    ) -> Result<(Report<Model>, f64)> {
        let read_seconds = self.begin.elapsed().as_secs_f64();
        let args = self.args;
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
        let bar = (!args.quiet && std::io::stderr().is_terminal()).then(|| Bar::new(&self.budget));
        let mut observers = (trace, (bar, Warning::default()));
        let checkpoints =
            args.checkpoint.clone().map(|file| Checkpoints { file, every: args.checkpoint_every });
        let report = fit(Plan {
            watch: test.filter(|_| args.watch_test),
            checkpoints,
            resume: args.resume.as_deref(),
            warm_start: self.warm_start.as_ref(),
            ..Plan::new(settings, &self.budget, &mut observers as &mut dyn Observer)
        });
        if let Some(bar) = &observers.1.0 {
            bar.clear();
        }
        Ok((report?, read_seconds))
    }

    /// Tests, saves, and tells.
    fn finish(
        &self,
        task: &'static str,
        (mut report, read_seconds): (Report<Model>, f64),
        settings: &Settings,
        recipe: &Recipe,
        test: impl FnOnce(&Model) -> Result<Option<(Outcomes, Unseen)>>,
    ) -> Result<Outcome> {
        let args = self.args;
        report.model.provenance.recipe = Some(recipe.clone());
        if !args.witness {
            report.model.witness = None;
        }
        let test = test(&report.model)?;
        if let Some(path) = &args.output {
            report.model.save(path)?;
        }
        let outcome = outcome(args, report.stop);
        let summary =
            Summary { task, report: &report, settings, test: test.as_ref(), read_seconds };
        if args.json {
            print(&summary.json())?;
        } else if !args.quiet {
            print(&summary.table(&self.budget, args))?;
        }
        Ok(outcome)
    }
}

/// With what each of n examples counts, if not the same.
fn settings(
    args: &TrainArgs,
    n: usize,
    sample_weights: Option<Vec<f64>>,
    linear: bool,
    free: Option<Free>,
) -> Result<Settings> {
    let total = sample_weights.as_ref().map_or(n as f64, |c| c.iter().sum());
    let lambda = match args.c {
        Some(c) => 1.0 / (c * total),
        None => args.lambda.unwrap_or(Lambda::PerExample(1.0)).resolve(total),
    };
    if lambda == 0.0 && !(args.l1 > 0.0 && linear) {
        return Err(Error::setting(
            "--lambda must be positive; 0 is for binary and regression with --l1",
        ));
    }
    Ok(Settings {
        lambda,
        regulariser: Regulariser {
            l1: args.l1,
            nonnegative: args.nonnegative,
            free,
            q_norm: args.q_norm,
        },
        method: args.solver.into(),
        step: args.step.into(),
        sampling: args.sampling.into(),
        shrinking: !args.no_shrinking,
        acceleration: args.acceleration.into(),
        average: args.average.into(),
        batch: args.batch,
        threads: args.threads,
        seed: args.seed,
        sample_weights,
    })
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

/// Says once that the run cannot be kept, and lets it go on: it may end well all the same.
#[derive(Default)]
struct Warning {
    given: bool,
}

impl Observer for Warning {
    fn certified(&mut self, _: &Progress, _: &[f64]) -> Result<()> {
        Ok(())
    }

    fn not_kept(&mut self, error: &Error) -> bool {
        if !std::mem::replace(&mut self.given, true) {
            let _ = writeln!(
                std::io::stderr(),
                "warning: {error}; the run goes on, and is not safe until this is mended"
            );
        }
        true
    }
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
