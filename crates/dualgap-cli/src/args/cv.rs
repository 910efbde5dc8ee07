//! The options of cross-validation only: folds, a grid of λ, σ or radii, and the choice among them.

use super::BallArgs;
use super::common::{DataArgs, MethodArgs, PenaltyArgs, StopArgs};
use super::grid::GridArgs;
use super::values::{parse_positive, parse_several};
use clap::Args;
use std::path::PathBuf;

/// What all cross-validations have in common.
#[derive(Args, Debug)]
#[allow(clippy::struct_excessive_bools)] // switches are
pub struct CvArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Into how many parts the data are dealt; classes are dealt evenly.
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = parse_several, help_heading = "Data")]
    pub folds: usize,
    /// Take the folds that the file has.
    #[arg(long, conflicts_with = "folds", help_heading = "Data")]
    pub given_folds: bool,

    #[command(flatten)]
    pub grid: GridArgs,
    /// Choose the largest λ or σ, or the smallest radius, whose error is within one standard error of the smallest, not
    /// the one with the smallest.
    #[arg(long, help_heading = "Problem")]
    pub one_standard_error: bool,
    #[command(flatten)]
    pub penalty: PenaltyArgs,
    #[command(flatten)]
    pub ball: BallArgs,

    /// Train every model to this gap, as a fraction of the primal value [default: 0.01].
    #[arg(long, value_name = "R", value_parser = parse_positive, allow_hyphen_values = true, help_heading = "When to stop")]
    pub tolerance: Option<f64>,
    /// End the training of a model after so many passes over its data.
    #[arg(long, value_name = "N", help_heading = "When to stop")]
    pub passes: Option<u64>,
    #[command(flatten)]
    pub method: MethodArgs,

    /// Train on all data with the chosen number, and save that model here.
    #[arg(short, long, value_name = "MODEL", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Store the dual point with the model, so that anyone can check the gap itself.
    #[arg(long, requires = "output", help_heading = "Output")]
    pub witness: bool,
    /// Write the table to this file, between tabs, with the error on every fold.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub table: Option<PathBuf>,
    /// Print one JSON object instead of a table.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print nothing but errors (and JSON, if asked for).
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

impl CvArgs {
    /// Returns when the training of each model stops. There is no time limit, because the table would depend on the
    /// clock.
    pub fn stop(&self) -> StopArgs {
        StopArgs { tolerance: self.tolerance, passes: self.passes, ..StopArgs::default() }
    }
}
