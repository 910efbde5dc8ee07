//! How the program ends, and the report that it prints before.

use crate::spelling;
use dualgap::Result;
use dualgap::data::Sink;
use std::io::Write;
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

/// Whether something was done less than asked for: the exit code is then 1 in the place of 0.
pub(crate) fn is_incomplete() -> bool {
    INCOMPLETE.load(Ordering::Relaxed)
}

/// Reports what could not be done of the user's request: the exit code will be 1 instead of 0.
pub(crate) fn incomplete(message: &str) {
    INCOMPLETE.store(true, Ordering::Relaxed);
    // A failure to write to standard error cannot be reported anywhere.
    let _ = writeln!(std::io::stderr(), "incomplete: {}", spelling::in_options(message));
}

/// Prints a report to standard output. A reader that has closed the pipe, such as `head`, is not an error. If the
/// report cannot be written for lack of space it is lost, but the work that it describes is done.
#[allow(clippy::unnecessary_wraps)] // printing is one step of many that can fail
pub(crate) fn print(text: &str) -> Result<()> {
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
