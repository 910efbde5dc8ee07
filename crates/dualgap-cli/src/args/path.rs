//! The options of a path only: an interval of λ, the tolerance of its models, and the folder for them.

use super::common::{DataArgs, MethodArgs, PenaltyArgs};
use super::values::{parse_lambda, parse_tolerance};
use clap::Args;
use dualgap::run::{Budget, Interval, Tolerance};
use dualgap::task::{Method, PathPlan, Strength};
use dualgap::{Error, Result};
use std::path::PathBuf;

/// What all paths have in common.
#[derive(Args, Debug)]
#[allow(clippy::struct_excessive_bools)] // switches are
pub struct PathArgs {
    #[command(flatten)]
    pub data: DataArgs,

    /// The λ to cover, in mean loss + λ/2·‖w‖²: from this one …
    #[arg(long, value_name = "X|a/n", default_value = "100/n", value_parser = parse_lambda, allow_hyphen_values = true, help_heading = "Problem")]
    pub from: Strength,
    /// … to this one, each a number or a/n; either may be the larger.
    #[arg(long, value_name = "X|a/n", default_value = "0.1/n", value_parser = parse_lambda, allow_hyphen_values = true, help_heading = "Problem")]
    pub to: Strength,
    #[command(flatten)]
    pub penalty: PenaltyArgs,

    /// At every λ, one of the models must have at most this gap, as a fraction of the primal value [default: 0.01,
    /// unless --absolute-tolerance is given].
    #[arg(long, value_name = "R", value_parser = parse_tolerance, allow_hyphen_values = true, conflicts_with = "absolute_tolerance", help_heading = "When to stop")]
    pub tolerance: Option<f64>,
    /// The same in units of the objective.
    #[arg(long, value_name = "A", value_parser = parse_tolerance, allow_hyphen_values = true, help_heading = "When to stop")]
    pub absolute_tolerance: Option<f64>,
    /// Take at most so many passes over the data for each model.
    #[arg(long, value_name = "N", help_heading = "When to stop")]
    pub passes: Option<u64>,
    /// Stop after so many seconds, with what is covered by then.
    #[arg(long, value_name = "S", value_parser = parse_tolerance, allow_hyphen_values = true, help_heading = "When to stop")]
    pub time: Option<f64>,
    #[command(flatten)]
    pub method: MethodArgs,

    /// Save the models, a table and a plot here: a folder that is empty, or not there yet.
    #[arg(short, long, value_name = "FOLDER", help_heading = "Output")]
    pub output: PathBuf,
    /// Store the dual points with the models, so that anyone can check the whole path.
    #[arg(long, help_heading = "Output")]
    pub witness: bool,
    /// Print one JSON object instead of a table.
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print nothing but errors (and JSON, if asked for).
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

impl PathArgs {
    /// Checks what can be checked before the data are read.
    pub fn check(&self) -> Result<()> {
        if [self.from, self.to].contains(&Strength::Value(0.0)) {
            return Err(Error::setting(
                "a path has no lambda of 0; pure l1 is one model: dualgap train with --lambda 0 and --l1",
            ));
        }
        self.tolerance().check()
    }

    fn tolerance(&self) -> Tolerance {
        match (self.tolerance, self.absolute_tolerance) {
            (None, Some(gap)) => Tolerance::Absolute(gap),
            (share, _) => Tolerance::Relative(share.unwrap_or(0.01)),
        }
    }

    /// Returns the request for the path; `total` is the total weight of the examples.
    pub fn wanted(&self, total: f64, method: Method) -> Result<PathPlan> {
        let (a, b) = (self.from.resolve(total), self.to.resolve(total));
        Ok(PathPlan {
            within: Interval::new(a.min(b), a.max(b))?,
            tolerance: self.tolerance(),
            budget: Budget { passes: self.passes, seconds: self.time, ..Budget::default() },
            method,
            threads: self.method.threads,
        })
    }
}
