//! Handling of Ctrl-C and other signals that ask the program to end.
//!
//! The first signal ends a run with a certified model. The second, or the first if no run is active, ends the
//! program: it then removes the files that it was writing, and the files that they would have replaced stay as they
//! are.

use dualgap::container::discard_all;
use dualgap::run::Interrupt;
use std::io::Write;
use std::sync::{Mutex, Once, PoisonError};

/// The run that a signal is for.
static RUN: Mutex<Option<Interrupt>> = Mutex::new(None);

static LISTENING: Once = Once::new();

/// Installs the handler that removes unfinished files. A program that was started with signals ignored (`nohup`, or
/// in the background of a script) continues to ignore them, until [`stop_on_ctrl_c`] is called.
pub fn listen() {
    if !ignores_signals() {
        start();
    }
}

/// From this call on, a signal ends this run, and a second one the program.
pub fn stop_on_ctrl_c(interrupt: &Interrupt) {
    *RUN.lock().unwrap_or_else(PoisonError::into_inner) = Some(interrupt.clone());
    start();
}

fn start() {
    LISTENING.call_once(|| {
        // If no handler can be installed, Ctrl-C ends the program at once, as usual.
        let _ = ctrlc::set_handler(signalled);
    });
}

fn signalled() {
    let run = RUN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(run) = run.as_ref().filter(|run| !run.raised()) {
        run.raise();
        let _ = writeln!(
            std::io::stderr(),
            "\nstopping: the model is being certified (Ctrl-C again to give up)"
        );
    } else {
        let _nothing_new = discard_all();
        std::process::exit(130);
    }
}

/// Whether the program was started with SIGHUP or SIGINT ignored, as far as the system reports it.
fn ignores_signals() -> bool {
    const HANGUP_AND_INTERRUPT: u64 = 0b11;
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return false };
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & HANGUP_AND_INTERRUPT != 0)
}
