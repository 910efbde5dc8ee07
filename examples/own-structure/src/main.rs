//! A structure of one's own, outside of dualgap's workspace, with a program that has every command: `train`, `cv`, `path`,
//! `predict`, `eval`, `certify`, `inspect`.
//!
//! ```text
//! cargo run --release -- train segments SIGNALS --width 2 --labels 3 --segments 4 --witness -o MODEL
//! ```
//!
//! The structure is one file; here are its options, and the line that registers it.

mod structure;

use clap::Args;
use dualgap::Result;
use dualgap::structure::OwnStructure;
use dualgap_cli::{TaskOptions, Tasks, main_with};
use std::process::ExitCode;
use structure::Segmentation;

/// What the structure needs to know before it reads anything.
#[derive(Args, Debug)]
struct SegmentsOptions {
    /// How many numbers a position has.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..1_000_000))]
    width: u32,
    /// How many labels there are, from 0 on.
    #[arg(long, value_name = "L", value_parser = clap::value_parser!(u32).range(2..=256))]
    labels: u32,
    /// How many segments a signal has at most.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..100_000))]
    segments: u32,
}

impl TaskOptions for SegmentsOptions {
    type Structure = OwnStructure<Segmentation>;
    const COMMAND: &'static str = "segments";
    const ABOUT: &'static str = "A label for each position of a signal, in a few segments.";

    fn structure(&self) -> Result<Self::Structure> {
        let [width, labels, segments] =
            [self.width, self.labels, self.segments].map(|n| n as usize);
        Ok(OwnStructure::new(Segmentation { width, labels, segments }))
    }
}

fn main() -> ExitCode {
    main_with(&Tasks::builtin().with::<SegmentsOptions>())
}
