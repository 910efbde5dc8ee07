//! Phase retrieval and affine rank minimisation: a matrix of low rank from measurements of it.

use super::{FROM_CORNERS, OF_PENALTIES, Values, WITH_A_CORNER, regression_loss};
use crate::args::Common;
use crate::args::values::{parse_count, parse_positive};
use crate::choices::{BallName, RegressionLoss};
use crate::options::{TaskOptions, Verb};
use clap::Args;
use dualgap::structure::{Measurement, Sensing};
use dualgap::task::{Strength, TaskSpec};
use dualgap::term::ScalarLoss;
use dualgap::{Error, Result};

/// The loss of a measurement.
#[derive(Args, Debug)]
#[command(next_help_heading = "Problem")]
pub struct LossArgs {
    /// What a measurement that is off costs; it must be smooth.
    #[arg(long, value_enum, default_value = "squared")]
    pub loss: RegressionLoss,
    /// Of Huber's loss: how far from the measurement it is squared [default: 1].
    #[arg(long, value_name = "W", value_parser = parse_positive, allow_hyphen_values = true)]
    pub width: Option<f64>,
}

/// Squares of inner products with an unknown vector.
#[derive(Args, Debug)]
pub struct PhaseArgs {
    #[command(flatten)]
    pub loss: LossArgs,
}

/// Inner products with an unknown matrix.
#[derive(Args, Debug)]
pub struct AffineArgs {
    #[command(flatten)]
    pub loss: LossArgs,
    /// The number of columns of the matrix: a row of the data has its entries row after row, so many to a row.
    #[arg(long, value_name = "C", value_parser = parse_count, help_heading = "Problem")]
    pub matrix_columns: usize,
}

const MU: &str = "give --radius, and --mu in its place";
const STEPS: &str = "--solver chooses how it is trained";
const LEAVE: &str = "leave it out";
const REFUSES: &[(&str, &str)] = &[
    ("lambda", MU),
    ("c", MU),
    ("l1", MU),
    ("accuracy", MU),
    ("bound", MU),
    ("q-norm", LEAVE),
    ("nonnegative", LEAVE),
    ("watch-test", "the error on test data is told at the end"),
    ("step", STEPS),
    ("direction", STEPS),
    ("cache", STEPS),
    ("sampling", STEPS),
    ("acceleration", STEPS),
    ("shrinking", STEPS),
    ("no-shrinking", STEPS),
    ("average", STEPS),
    ("average-after", STEPS),
    ("batch", STEPS),
    ("lanes", STEPS),
    ("warm-start", "begin the run anew"),
];
const REFUSED_VALUES: &[Values] =
    &[OF_PENALTIES, FROM_CORNERS, WITH_A_CORNER, ("format", &["letters", "edges"])];
const NO_LAMBDA: &str = "it has a radius in its place: try some with `dualgap train`, and keep what predicts best on --test";

impl LossArgs {
    fn loss(&self) -> Result<ScalarLoss> {
        regression_loss(self.loss, self.width, None)
    }
}

/// Returns the task in the trace ball, which need not be named.
fn spec(structure: Sensing, common: &Common<'_>, mu: Strength) -> Result<TaskSpec<Sensing>> {
    if common.radius.is_none() {
        return Err(Error::setting(
            "the sum of the singular values that the matrix may have is needed: give --radius; of the square of a \
             vector it is the sum of the squares of its numbers",
        ));
    }
    if common.method.threads > 1 {
        return Err(Error::setting(
            "--threads does not go with the trace ball: its steps follow each other, in one thread; leave it out",
        ));
    }
    let name = common.ball_name().unwrap_or(BallName::Trace);
    Ok(TaskSpec::new(structure, common.in_ball(name, mu)?))
}

impl TaskOptions for PhaseArgs {
    type Structure = Sensing;
    const COMMAND: &'static str = "phase-retrieval";
    const ABOUT: &'static str = "A vector, up to its sign, from the squares of its inner products with the rows of the data.";
    const REFUSES: &'static [(&'static str, &'static str)] = REFUSES;
    const REFUSED_VALUES: &'static [(&'static str, &'static [&'static str])] = REFUSED_VALUES;
    const HIDES: &'static [&'static str] = &["ball"];
    const NO_LAMBDA: Option<&'static str> = Some(NO_LAMBDA);
    /// Squares need no μ: the loss alone is smallest at the vector.
    const DEFAULT_MU: Strength = Strength::Value(0.0);

    fn examples(_: Verb) -> &'static str {
        "\
Examples:
  dualgap train phase-retrieval SQUARES.svm --radius 5 --witness -o model.dualgap
  dualgap inspect model.dualgap --weights vector.tsv"
    }

    fn structure(&self) -> Result<Sensing> {
        Ok(Sensing::new(self.loss.loss()?, Measurement::Squares))
    }

    fn spec(&self, common: &Common<'_>) -> Result<TaskSpec<Sensing>> {
        spec(self.structure()?, common, Self::DEFAULT_MU)
    }
}

impl TaskOptions for AffineArgs {
    type Structure = Sensing;
    const COMMAND: &'static str = "affine-rank";
    const ABOUT: &'static str =
        "A matrix of low rank from its inner products with the matrices of the data.";
    const REFUSES: &'static [(&'static str, &'static str)] = REFUSES;
    const REFUSED_VALUES: &'static [(&'static str, &'static [&'static str])] = REFUSED_VALUES;
    const HIDES: &'static [&'static str] = &["ball"];
    const NO_LAMBDA: Option<&'static str> = Some(NO_LAMBDA);
    /// Measurements of a matrix of low rank need no μ.
    const DEFAULT_MU: Strength = Strength::Value(0.0);

    fn examples(_: Verb) -> &'static str {
        "\
Examples:
  dualgap train affine-rank MATRICES.csv --label value --matrix-columns 15 --radius 20 --witness -o model.dualgap
  dualgap predict model.dualgap MORE.csv"
    }

    fn structure(&self) -> Result<Sensing> {
        let columns = self.matrix_columns;
        Ok(Sensing::new(self.loss.loss()?, Measurement::Matrices { columns }))
    }

    fn spec(&self, common: &Common<'_>) -> Result<TaskSpec<Sensing>> {
        spec(self.structure()?, common, Self::DEFAULT_MU)
    }
}
