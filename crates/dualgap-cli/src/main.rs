//! `dualgap`: train to a certified optimum, and check certificates again, from the command line.

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
mod job;
mod outputs;
mod path;
mod places;
mod predict;
mod problem;
mod progress;
mod report;
mod train;
mod weights;

use args::{Cli, Command, OtherTask, TrainTask, Work};
use clap::Parser;
use dualgap::data::Sink;
use dualgap::{Error, Result};
use std::io::Write;
use std::process::ExitCode;

/// How the program ends when nothing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// What was asked for has been reached: exit code 0.
    Reached,
    /// The run is sound, but a tolerance was not reached: exit code 1.
    NotReached,
}

fn main() -> ExitCode {
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
        Ok(Outcome::Reached) => ExitCode::SUCCESS,
        Ok(Outcome::NotReached) => ExitCode::from(1),
        Err(error) => {
            let help = error.remedy().map_or(String::new(), |help| format!("\n  help: {help}"));
            // Where nobody listens there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "error: {error}{help}");
            ExitCode::from(2)
        }
    }
}

/// A command about λ, which models of ratings have none of.
fn other<W: Work>(command: &str, task: &OtherTask<W>) -> Result<Outcome> {
    match task {
        OtherTask::Of(task) => problem::run(task),
        OtherTask::Completion { .. } => Err(Error::setting(format!(
            "`{command}` is about λ, and completion has a radius in its place: try some with \
             `dualgap train completion RATINGS --radius R --holdout 0.1`, and keep what predicts best"
        ))),
    }
}

/// Prints to standard output. A reader that has gone away, such as `head`, is no error of ours.
pub fn print(text: &str) -> Result<()> {
    let mut sink = Sink::create("-".as_ref())?;
    sink.text(text)?;
    sink.finish()
}
