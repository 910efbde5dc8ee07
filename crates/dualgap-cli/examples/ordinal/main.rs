//! A program for a structure of one's own: `train`, `cv`, `path`, `predict`, `eval`, `certify` and `inspect` of ordered
//! levels, beside all tasks of `dualgap`.
//!
//! ```text
//! cargo run --release --package dualgap-cli --example ordinal -- train ordinal DATA --levels 4 --width 2 --witness -o MODEL
//! ```
//!
//! The structure is one file; here are its options, and the line that registers it.

mod structure;

use clap::Args;
use dualgap::Result;
use dualgap::structure::OwnStructure;
use dualgap_cli::{TaskOptions, Tasks, main_with};
use std::process::ExitCode;
use structure::Ordinal;

/// What the structure needs to know before it reads anything.
#[derive(Args, Debug)]
struct OrdinalOptions {
    /// How many levels there are, from 0 on.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(2..1000))]
    levels: u32,
    /// How many numbers a row has.
    #[arg(long, value_name = "N")]
    width: usize,
}

impl TaskOptions for OrdinalOptions {
    type Structure = OwnStructure<Ordinal>;
    const COMMAND: &'static str = "ordinal";
    const ABOUT: &'static str = "One of several ordered levels for each example.";

    fn structure(&self) -> Result<Self::Structure> {
        let Self { levels, width } = *self;
        Ok(OwnStructure::new(Ordinal { levels, width }))
    }
}

fn main() -> ExitCode {
    main_with(&Tasks::builtin().with::<OrdinalOptions>())
}
