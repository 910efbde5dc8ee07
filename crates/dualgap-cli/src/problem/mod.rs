//! The tasks of the program: the options of each, and the problem that they name.
//!
//! A task is one file here, and one line of `Tasks::builtin`.

mod chain;
mod classes;
mod completion;
mod kernel;
mod linear;
mod matching;
mod sensing;
mod several;

pub use chain::ChainArgs;
pub use classes::ClassesArgs;
pub use completion::CompletionArgs;
pub use kernel::KernelArgs;
pub use linear::{BinaryArgs, RegressionArgs};
pub use matching::MatchingArgs;
pub use sensing::{AffineArgs, PhaseArgs};
pub use several::{LabelsArgs, OutputsArgs};

use crate::choices::{BinaryLoss, RegressionLoss, Scale};
use crate::weights::parse_class_weights;
use clap::Args;
use dualgap::data::ClassWeights;
use dualgap::term::ScalarLoss;
use dualgap::{Error, Result};

/// The values of an option, by its long name.
type Values = (&'static str, &'static [&'static str]);

/// The solvers under a penalty, which a task in a ball refuses.
const OF_PENALTIES: Values = (
    "solver",
    &[
        "bcfw",
        "newton",
        "newton-cholesky",
        "newton-cg",
        "coordinates",
        "ssg",
        "subgradient",
        "cutting-plane",
        "n-slack",
        "eg",
    ],
);

/// The solvers in a ball, which a task that has no ball refuses.
const OF_BALLS: Values = (
    "solver",
    &[
        "pdbfw",
        "apg",
        "away",
        "pairwise",
        "svrg",
        "scgs",
        "storc",
        "block-frank-wolfe",
        "stochastic-frank-wolfe",
    ],
);

/// The solvers of losses of rows, which tasks with other data refuse.
const OF_ROWS: Values = ("solver", &["newton", "newton-cholesky", "newton-cg", "coordinates"]);

/// The solvers from corner to corner, which the trace ball does not have.
const FROM_CORNERS: Values = ("solver", &["away", "pairwise"]);

/// The losses of numbers that have a corner, which a task in a ball refuses.
const WITH_A_CORNER: Values = ("loss", &["absolute", "epsilon-insensitive"]);

/// What the tasks of classes have in common.
#[derive(Args, Debug)]
pub struct ClassWeightArgs {
    /// What the examples of each class count: `balanced` for all classes the same, or such as yes=5,no=1;
    /// times --sample-weights. Labels that are not named count 1.
    #[arg(long, value_name = "balanced|LABEL=W,…", value_parser = parse_class_weights, allow_hyphen_values = true, help_heading = "Problem")]
    pub class_weights: Option<ClassWeights>,
}

/// What all tasks of rows have in common.
#[derive(Args, Debug)]
pub struct ColumnArgs {
    /// Divide every column before the run; λ and σ are about the scaled problem, the weights that are saved
    /// about the data as they are.
    #[arg(long, value_enum, default_value = "none", help_heading = "Problem")]
    pub scale: Scale,
}

/// Returns a loss of numbers by its name.
fn regression_loss(
    name: RegressionLoss,
    width: Option<f64>,
    epsilon: Option<f64>,
) -> Result<ScalarLoss> {
    let loss = match name {
        RegressionLoss::Squared => ScalarLoss::Squared,
        RegressionLoss::Absolute => ScalarLoss::Absolute,
        RegressionLoss::EpsilonInsensitive => {
            ScalarLoss::EpsilonInsensitive { epsilon: epsilon.unwrap_or(0.1) }
        }
        RegressionLoss::Huber => ScalarLoss::Huber { width: width.unwrap_or(1.0) },
    };
    check_widths(loss, width, epsilon)?;
    Ok(loss)
}

/// Returns a loss of two classes by its name.
fn binary_loss(name: BinaryLoss, width: Option<f64>) -> Result<ScalarLoss> {
    let loss = match name {
        BinaryLoss::Hinge => ScalarLoss::Hinge,
        BinaryLoss::SmoothHinge => ScalarLoss::SmoothHinge { width: width.unwrap_or(1.0) },
        BinaryLoss::SquaredHinge => ScalarLoss::SquaredHinge,
        BinaryLoss::Logistic => ScalarLoss::Logistic,
    };
    check_widths(loss, width, None)?;
    Ok(loss)
}

/// Returns an error for a width of a loss that has none and would silently ignore it.
fn check_widths(loss: ScalarLoss, width: Option<f64>, epsilon: Option<f64>) -> Result<()> {
    let wide = matches!(loss, ScalarLoss::SmoothHinge { .. } | ScalarLoss::Huber { .. });
    if width.is_some() && !wide {
        let wide = if loss.is_binary() { "smooth-hinge" } else { "huber" };
        return Err(Error::setting(format!("--width is for the loss {wide}")));
    }
    if epsilon.is_some() && !matches!(loss, ScalarLoss::EpsilonInsensitive { .. }) {
        return Err(Error::setting("--epsilon is for the loss epsilon-insensitive"));
    }
    Ok(())
}
