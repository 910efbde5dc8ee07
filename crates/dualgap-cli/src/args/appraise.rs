//! The options of appraisals: weights of others, and how long to look for a better bound.

use super::BallArgs;
use super::common::{DataArgs, MethodArgs};
use super::train::StrengthArgs;
use super::values::parse_tolerance;
use clap::Args;
use std::path::PathBuf;

/// What all appraisals have in common.
#[derive(Args, Debug)]
pub struct AppraiseArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// The weights: a line for each feature, and on it a number for each score, the intercept last; or a model file of
    /// LIBLINEAR.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub weights: PathBuf,
    #[command(flatten)]
    pub strength: StrengthArgs,
    #[command(flatten)]
    pub ball: BallArgs,

    /// Look for a better bound until the weights are proved to be within this fraction of the objective, or the upper and
    /// the lower bound are within a tenth of each other.
    #[arg(long, value_name = "R", default_value_t = 1e-6, value_parser = parse_tolerance, allow_hyphen_values = true, help_heading = "When to stop")]
    pub tolerance: f64,
    /// Stop after so many passes over the data.
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "When to stop")]
    pub passes: u64,
    /// Stop after so many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = parse_tolerance, allow_hyphen_values = true, help_heading = "When to stop")]
    pub time: Option<f64>,

    #[command(flatten)]
    pub method: MethodArgs,
    /// Print one JSON object.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}
