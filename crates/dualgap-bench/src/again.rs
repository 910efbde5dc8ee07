//! A command of the program, several times in one process.
//!
//! Libraries are timed that way: what a process pays once, for memory that the system has to clear and for code that is not in the
//! cache, is not a part of it.

use clap::Args;
use dualgap::{Error, Result};
use dualgap_cli::{Tasks, run_words};
use std::ffi::OsString;
use std::process::ExitCode;

/// The command, and how often.
#[derive(Args, Debug)]
pub struct Options {
    /// How often.
    times: usize,
    /// The words of the command, such as `train binary FILE --json`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    words: Vec<OsString>,
}

/// Runs the command, and ends at the first time that fails. A tolerance that was not reached is no failure.
pub fn run(options: &Options) -> Result<()> {
    let tasks = Tasks::builtin();
    for _ in 0..options.times {
        let words = std::iter::once("dualgap".into()).chain(options.words.iter().cloned());
        let code = run_words(&tasks, words);
        if code != ExitCode::SUCCESS && code != ExitCode::from(1) {
            return Err(Error::setting("the command has failed"));
        }
    }
    Ok(())
}
