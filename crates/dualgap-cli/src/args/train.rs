//! The options of training only: one λ, checkpoints, and the file of the model.

use super::BallArgs;
use super::common::{DataArgs, MethodArgs, PenaltyArgs, StopArgs};
use super::values::{Wanted, parse_positive, parse_wanted_lambda};
use clap::Args;
use dualgap::task::{Accuracy, Checkpoints, Over, Strength};
use dualgap::{Error, Result};
use std::path::PathBuf;

/// What all training tasks have in common.
#[derive(Args, Debug)]
pub struct TrainArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Show the test error while the run goes on, and put it into the trace.
    #[arg(long, help_heading = "Data")]
    pub watch_test: bool,

    #[command(flatten)]
    pub strength: StrengthArgs,

    /// Solve the pure l1 problem of --l1 to this accuracy, in units of the objective: lambda and the tolerance follow
    /// from it, and the q-norm chooses what is added.
    #[arg(long, value_name = "E", value_parser = parse_positive, allow_hyphen_values = true, conflicts_with_all = ["lambda", "c", "tolerance", "absolute_tolerance"], help_heading = "Problem")]
    pub accuracy: Option<f64>,
    /// Of --accuracy: the norm of the best weights is at most this, that is their length, or with the q-norm the sum of
    /// their sizes [default: what the loss without weights allows].
    #[arg(long, value_name = "B", value_parser = parse_positive, allow_hyphen_values = true, requires = "accuracy", help_heading = "Problem")]
    pub bound: Option<f64>,

    #[command(flatten)]
    pub ball: BallArgs,
    #[command(flatten)]
    pub stop: StopArgs,
    #[command(flatten)]
    pub method: MethodArgs,

    /// Begin with the dual point of this model, which was saved with its witness: of the same data, of more,
    /// or under another lambda.
    #[arg(long, value_name = "MODEL", help_heading = "Runs that survive")]
    pub warm_start: Option<PathBuf>,
    #[command(flatten)]
    pub kept: KeptArgs,

    #[command(flatten)]
    pub out: OutputArgs,
}

/// The default λ, and any while it is not chosen.
const ONE: Strength = Strength::PerExample(1.0);

/// The penalty at one λ.
#[derive(Args, Debug)]
pub struct StrengthArgs {
    /// The regularisation, in mean loss + λ/2·‖w‖²: a number, a/n, or with --l1 a multiple such as 0.1l1 of σ [default: 1/n].
    /// 0 with --l1 is pure l1, for binary, regression, multiclass and chain. With train also auto, by held-out data.
    #[arg(long, value_name = "X|a/n|auto", value_parser = parse_wanted_lambda, allow_hyphen_values = true, help_heading = "Problem")]
    pub lambda: Option<Wanted<Strength>>,
    #[command(flatten)]
    pub penalty: PenaltyArgs,
    /// The same as C = 1/(λn).
    #[arg(long = "c", value_name = "C", value_parser = parse_positive, allow_hyphen_values = true, conflicts_with = "lambda", help_heading = "Problem")]
    pub c: Option<f64>,
}

impl StrengthArgs {
    /// Returns λ as the user wrote it.
    pub fn lambda(&self) -> Strength {
        match self.c {
            Some(c) => Strength::OneOver(c),
            None => self.lambda.map_or(ONE, |lambda| lambda.or(ONE)),
        }
    }

    /// Whether λ is zero.
    pub fn is_zero(&self) -> bool {
        self.lambda == Some(Wanted::Given(Strength::NONE))
    }
}

/// How a run is kept from being lost.
#[derive(Args, Debug)]
pub struct KeptArgs {
    /// Keep the run in this file while it goes on.
    #[arg(long, value_name = "FILE", help_heading = "Runs that survive")]
    pub checkpoint: Option<PathBuf>,
    /// After so many passes, which may be a fraction.
    #[arg(long, value_name = "PASSES", default_value = "5", requires = "checkpoint", value_parser = parse_positive, help_heading = "Runs that survive")]
    pub checkpoint_every: f64,
    /// Go on from this checkpoint, with the other options as they were; tolerances and limits may differ.
    #[arg(long, value_name = "FILE", help_heading = "Runs that survive")]
    pub resume: Option<PathBuf>,
}

impl KeptArgs {
    /// Returns where and how often to write checkpoints, if at all.
    pub fn checkpoints(&self) -> Option<Checkpoints> {
        let every = self.checkpoint_every;
        self.checkpoint.clone().map(|file| Checkpoints { file, every })
    }
}

/// What becomes of a run.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Save the model here.
    #[arg(short, long, value_name = "MODEL")]
    pub output: Option<PathBuf>,
    /// Store the dual point with the model, so that anyone can check the gap itself.
    #[arg(long, requires = "output")]
    pub witness: bool,
    /// Write every certification to this file, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors (and JSON, if asked for).
    #[arg(short, long)]
    pub quiet: bool,
}

impl TrainArgs {
    /// Returns what held-out data choose, or an error if that is more than one number.
    pub fn auto(&self) -> Result<Option<Over>> {
        let wanted = [
            (Over::Lambda, self.strength.lambda == Some(Wanted::Auto)),
            (Over::L1, self.strength.penalty.l1 == Wanted::Auto),
            (Over::Radius, self.ball.radius == Some(Wanted::Auto)),
        ];
        let mut wanted = wanted.into_iter().filter(|(_, wanted)| *wanted).map(|(over, _)| over);
        let first = wanted.next();
        if wanted.next().is_some() {
            return Err(Error::setting(
                "held-out data choose one number at a time: give --lambda or --l1, such as --lambda 0.1l1 with --l1 auto",
            ));
        }
        if first.is_some() && self.accuracy.is_some() {
            return Err(Error::setting(
                "--accuracy is of a problem with a given --l1, and not auto",
            ));
        }
        Ok(first)
    }

    /// Returns the accuracy of the pure l1 problem that is asked for, if one is.
    pub fn accuracy(&self) -> Option<Accuracy> {
        let (bound, q_norm) = (self.bound, self.strength.penalty.q_norm);
        self.accuracy.map(|epsilon| Accuracy { epsilon, bound, q_norm })
    }

    /// Returns λ as the user wrote it; zero if it follows from an accuracy.
    pub fn lambda(&self) -> Strength {
        match self.accuracy {
            Some(_) => Strength::Value(0.0),
            None => self.strength.lambda(),
        }
    }
}
