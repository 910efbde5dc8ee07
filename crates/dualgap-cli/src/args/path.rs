//! The options of a path only: an interval of λ or a grid of σ or radii, the tolerance of its models, and the folder for them.

use super::BallArgs;
use super::common::{DataArgs, MethodArgs, PenaltyArgs};
use super::grid::EndArgs;
use super::values::{Wanted, parse_grid, parse_tolerance};
use clap::Args;
use dualgap::run::{Budget, Interval, Tolerance};
use dualgap::task::{Method, Over, PathPlan, Strength, TrialPlan};
use dualgap::{Error, Result};
use std::path::PathBuf;

/// What all paths have in common.
#[derive(Args, Debug)]
#[allow(clippy::struct_excessive_bools)] // switches are
pub struct PathArgs {
    #[command(flatten)]
    pub data: DataArgs,

    #[command(flatten)]
    pub ends: EndArgs,
    /// With --over l1 or radius: how many numbers the grid has, each the same multiple of the next [default: 13 for l1, 9
    /// for radius].
    #[arg(long, value_name = "M", value_parser = parse_grid, help_heading = "Problem")]
    pub count: Option<usize>,
    #[command(flatten)]
    pub penalty: PenaltyArgs,
    #[command(flatten)]
    pub ball: BallArgs,

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
        if [self.ends.from, self.ends.to].contains(&Some(Strength::NONE)) {
            return Err(Error::setting(
                "a path has no lambda of 0; pure l1 is one model: dualgap train with --lambda 0 and --l1, or a path in σ: \
                 --over l1",
            ));
        }
        if self.penalty.l1 == Wanted::Auto {
            return Err(Error::setting("a path is of given numbers: --l1 auto goes with train"));
        }
        let over = self.over();
        if self.count.is_some() && !matches!(over, Some(Over::L1 | Over::Radius)) {
            return Err(Error::setting(
                "--count goes with --over l1 or radius: a path in λ covers every one, with as many models as it takes",
            ));
        }
        self.ends.check(over, self.penalty.has_l1(), self.ball.radius.is_some())?;
        self.tolerance().check()
    }

    /// Returns what is varied, as far as the options say so.
    pub fn over(&self) -> Option<Over> {
        match self.ends.over {
            Some(over) => Some(over.into()),
            None => self.ball.ball.map(|_| Over::Radius),
        }
    }

    pub fn tolerance(&self) -> Tolerance {
        match (self.tolerance, self.absolute_tolerance) {
            (None, Some(gap)) => Tolerance::Absolute(gap),
            (share, _) => Tolerance::Relative(share.unwrap_or(0.01)),
        }
    }

    /// Returns the request for the path; `total` is the total weight of the examples.
    pub fn wanted(&self, total: f64, method: Method) -> Result<PathPlan> {
        let [a, b] = self.ends.lambdas().map(|end| end.resolve(total));
        let (a, b) = (a?, b?);
        Ok(PathPlan {
            within: Interval::new(a.min(b), a.max(b))?,
            tolerance: self.tolerance(),
            budget: self.budget(),
            method,
            threads: self.method.threads,
        })
    }

    fn budget(&self) -> Budget {
        Budget { passes: self.passes, seconds: self.time, ..Budget::default() }
    }

    /// Returns how the models of a grid are trained.
    pub fn each(&self, method: Method) -> TrialPlan {
        let (relative, absolute) = match self.tolerance() {
            Tolerance::Relative(share) => (Some(share), None),
            Tolerance::Absolute(gap) => (None, Some(gap)),
        };
        let budget = Budget { relative, absolute, ..self.budget() };
        TrialPlan { budget, method, threads: self.method.threads }
    }
}
