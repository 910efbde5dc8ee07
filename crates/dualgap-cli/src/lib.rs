//! The `dualgap` program as a library: a structure of the user's own gets a program of its own.
//!
//! ```no_run
//! use clap::Args;
//! use dualgap::Result;
//! use dualgap::structure::Chain;
//! use dualgap_cli::{TaskOptions, Tasks, main_with};
//!
//! /// The options of the task.
//! #[derive(Args, Debug)]
//! struct Tagging {}
//!
//! impl TaskOptions for Tagging {
//!     type Structure = Chain;
//!     const COMMAND: &'static str = "tagging";
//!     const ABOUT: &'static str = "A label for each word.";
//!
//!     fn structure(&self) -> Result<Chain> {
//!         Ok(Chain::default())
//!     }
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     main_with(&Tasks::builtin().with::<Tagging>())
//! }
//! ```

mod appraise;
mod args;
mod ball;
mod certify;
mod choices;
mod chosen;
mod claim;
mod compress;
mod convert;
mod convert_mapped;
mod curve;
mod cv;
mod demo;
mod drawing;
mod eval;
mod explain;
mod formats;
mod help;
mod inspect;
mod interrupt;
mod job;
mod known;
mod matchings;
mod options;
mod outcome;
mod outputs;
mod path;
mod places;
mod predict;
mod problem;
mod progress;
mod ratings;
mod report;
mod spelling;
mod tag;
mod tasks;
mod train;
mod weight_file;
mod weights;
mod words;

pub use args::Common;
pub use options::{TaskOptions, Verb};
pub use outcome::Outcome;
pub(crate) use outcome::{incomplete, print};
pub use tasks::Tasks;

use args::{Cli, Command};
use clap::FromArgMatches;
use dualgap::Result;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// Runs the program with these tasks: reads the arguments, does what they ask for, and returns the exit code.
pub fn main_with(tasks: &Tasks) -> ExitCode {
    interrupt::listen();
    run_words(tasks, std::env::args_os())
}

/// Does what these words ask for, of which the first is the name of the program, and returns the exit code. Words that are none of
/// the program's end the process.
///
/// ```
/// use dualgap_cli::{Tasks, run_words};
/// let folder = tempfile::tempdir()?;
/// let data = folder.path().join("two.svm");
/// std::fs::write(&data, "+1 1:1\n-1 1:-1\n")?;
/// let words = ["dualgap", "train", "binary", data.to_str().unwrap(), "--quiet"];
/// let code = run_words(&Tasks::builtin(), words.map(Into::into));
/// assert_eq!(code, std::process::ExitCode::SUCCESS);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn run_words(tasks: &Tasks, words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words = appraise::spelled(words.into_iter());
    let matches = tasks.command_for(&words).get_matches_from(&words);
    let outcome = match tasks.run(&matches) {
        Some(outcome) => outcome,
        None => match Cli::from_arg_matches(&matches) {
            Ok(cli) => run(cli.command, tasks),
            Err(error) => error.exit(),
        },
    };
    match outcome {
        Ok(Outcome::Reached) if !outcome::is_incomplete() => ExitCode::SUCCESS,
        Ok(Outcome::Reached | Outcome::NotReached) => ExitCode::from(1),
        Err(error) => {
            // A failure to write to standard error cannot be reported anywhere.
            let _ = writeln!(std::io::stderr(), "error: {}", spelling::of_error(&error));
            ExitCode::from(2)
        }
    }
}

/// Runs a command that is not about a task.
fn run(command: Command, tasks: &Tasks) -> Result<Outcome> {
    match command {
        Command::Convert(args) => convert::run(&args),
        Command::Certify(args) => certify::run(&args, tasks),
        Command::Compress(args) => compress::run(&args, tasks),
        Command::Demo(args) => demo::run(&args),
        Command::Predict(args) => predict::run(&args, tasks),
        Command::Tag(args) => tag::run(&args, tasks),
        Command::Eval(args) => eval::run(&args, tasks),
        Command::Inspect(args) => inspect::run(&args, tasks),
        Command::Help { about } => help::run(&about, tasks),
        Command::Completions { shell } => help::completions(shell, tasks),
        Command::Man { output } => help::manual(output.as_deref(), tasks),
    }
}
