//! `dualgap`: trains to a certified optimum, and verifies certificates, from the command line.

use dualgap_cli::{Tasks, main_with};
use std::process::ExitCode;

fn main() -> ExitCode {
    main_with(&Tasks::builtin())
}
