//! `dualgap`: trains to a certified optimum, and verifies certificates, from the command line.

mod args;
mod ball;
mod certify;
mod choices;
mod completion;
mod convert;
mod curve;
mod cv;
mod demo;
mod eval;
mod formats;
mod help;
mod inspect;
mod interrupt;
mod job;
mod outputs;
mod path;
mod places;
mod predict;
mod problem;
mod progress;
mod report;
mod spelling;
mod train;
mod weights;

use args::{Cli, Command, OtherTask, TrainTask, Work};
use clap::Parser;
use dualgap::data::Sink;
use dualgap::{Error, Result};
use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// How the program ends when nothing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// What was asked for has been reached: exit code 0.
    Reached,
    /// The run is sound, but a tolerance was not reached, or a report or a checkpoint was lost: exit code 1.
    NotReached,
}

/// Whether something was done less than asked for, though nothing is wrong with what was done.
static INCOMPLETE: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    interrupt::listen();
    let outcome = match Cli::parse().command {
        Command::Train(TrainTask::Of(task)) => problem::run(&task),
        Command::Train(TrainTask::Completion(args)) => completion::run(&args),
        Command::Cv(task) => other("cv", &task),
        Command::Path(task) => other("path", &task),
        Command::Convert(args) => convert::run(&args),
        Command::Certify(args) => certify::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Help { about } => help::run(&about),
        Command::Completions { shell } => help::completions(shell),
        Command::Man { output } => help::manual(output.as_deref()),
    };
    match outcome {
        Ok(Outcome::Reached) if !INCOMPLETE.load(Ordering::Relaxed) => ExitCode::SUCCESS,
        Ok(Outcome::Reached | Outcome::NotReached) => ExitCode::from(1),
        Err(error) => {
            // A failure to write to standard error cannot be reported anywhere.
            let _ = writeln!(std::io::stderr(), "error: {}", spelling::of_error(&error));
            ExitCode::from(2)
        }
    }
}

/// Runs a command about λ; models of ratings have no λ, so completion is an error.
fn other<W: Work>(command: &str, task: &OtherTask<W>) -> Result<Outcome> {
    match task {
        OtherTask::Of(task) => problem::run(task),
        OtherTask::Completion { .. } => Err(Error::setting(format!(
            "`{command}` is about λ, and completion has a radius in its place: try some with \
             `dualgap train completion RATINGS --radius R --holdout 0.1`, and keep what predicts best"
        ))),
    }
}

/// Reports what could not be done of the user's request: the exit code will be 1 instead of 0.
pub fn incomplete(message: &str) {
    INCOMPLETE.store(true, Ordering::Relaxed);
    // A failure to write to standard error cannot be reported anywhere.
    let _ = writeln!(std::io::stderr(), "incomplete: {}", spelling::in_options(message));
}

/// Prints a report to standard output. A reader that has closed the pipe, such as `head`, is not an error. If the
/// report cannot be written for lack of space it is lost, but the work that it describes is done.
#[allow(clippy::unnecessary_wraps)] // printing is one step of many that can fail
pub fn print(text: &str) -> Result<()> {
    let write = || -> Result<()> {
        let mut sink = Sink::create("-".as_ref())?;
        sink.text(text)?;
        sink.finish()
    };
    if let Err(error) = write() {
        incomplete(&format!("the report is lost, and all else was done: {error}"));
    }
    Ok(())
}
