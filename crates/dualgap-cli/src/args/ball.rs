//! The options of a ball, which constrains the weights instead of a penalty.

use super::common::{MethodArgs, PenaltyArgs};
use super::values::{Wanted, parse_lambda, parse_wanted_radius};
use crate::choices::{Average, BallName, Sampling, SdcaOption, Step};
use clap::Args;
use dualgap::ball::{BallMethod, BallSettings, TheoremConstants};
use dualgap::task::{PenaltySpec, Strength};
use dualgap::term::Ball;
use dualgap::{Error, Result};

/// A ball, and how the weights get there.
#[derive(Args, Debug)]
#[command(next_help_heading = "Weights in a ball")]
pub struct BallArgs {
    /// Keep the weights in a norm ball, in the place of a penalty, with a smooth loss: l1 and simplex for all tasks but
    /// chain, trace for multiclass, multilabel and multioutput. Needs --radius.
    #[arg(long, value_enum)]
    pub ball: Option<BallName>,
    /// The largest norm that the weights may have, or in the simplex their sum; with train also auto, by held-out data.
    #[arg(long, value_name = "R|auto", value_parser = parse_wanted_radius, allow_hyphen_values = true)]
    pub radius: Option<Wanted<f64>>,
    /// μ, in mean loss + μ/2·‖w‖²: a number, which may be 0, or a/n [default: 1/n].
    #[arg(long, value_name = "X|a/n", value_parser = parse_lambda, allow_hyphen_values = true)]
    pub mu: Option<Strength>,
    /// Of --solver pdbfw: constants in the place of its theorem's, such as s=20,k=5,eta=0.5,delta=0.1. Logistic and
    /// softmax need a delta. Of block-frank-wolfe in the l1 ball and the simplex: s and eta.
    #[arg(long, value_name = "NAME=X,…", value_parser = parse_constants)]
    pub constants: Option<TheoremConstants>,
}

impl BallArgs {
    /// Returns the ball, or an error if another option does not go with it.
    pub fn penalty(
        &self,
        name: BallName,
        default_mu: Strength,
        radius: Option<f64>,
        penalty: &PenaltyArgs,
        method: &MethodArgs,
    ) -> Result<PenaltySpec> {
        check_alone(penalty, method)?;
        if self.ball.is_some() && radius.is_none() {
            return Err(Error::setting("--ball needs a radius: give --radius"));
        }
        let radius = radius.unwrap_or(0.0);
        let ball = match name {
            BallName::L1 => Ball::L1 { radius },
            BallName::Simplex => Ball::Simplex { radius },
            BallName::Trace => Ball::Trace { radius },
        };
        Ok(PenaltySpec::Ball { ball, mu: self.mu.unwrap_or(default_mu) })
    }

    /// Returns an error for options of a ball where there is none.
    pub fn check_absent(&self) -> Result<()> {
        let given = [
            ("--radius", self.radius.is_some()),
            ("--mu", self.mu.is_some()),
            ("--constants", self.constants.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(Error::setting(format!(
                "{name} is about weights in a ball: give --ball l1, simplex or trace"
            ))),
            None => Ok(()),
        }
    }

    /// Returns how a run in the ball is solved, or an error for a solver that is for penalties.
    pub fn settings(&self, method: &MethodArgs) -> Result<BallSettings> {
        let chosen = BallMethod::named(&method.solver.name())?;
        let constants = self.constants.unwrap_or_default();
        Ok(BallSettings { method: chosen, constants, seed: method.seed })
    }
}

/// Returns an error for options about penalties and their solvers, which a ball would silently ignore.
fn check_alone(penalty: &PenaltyArgs, method: &MethodArgs) -> Result<()> {
    const STEPS: &str = "--solver chooses how a ball is trained in";
    let radius = "--radius says how many weights become zero";
    let given = [
        ("--l1", penalty.has_l1(), radius),
        ("--q-norm", penalty.q_norm, "leave it out"),
        ("--nonnegative", penalty.nonnegative, "leave it out"),
        ("--step", method.step != Step::LineSearch, STEPS),
        ("--direction", method.direction.is_some(), STEPS),
        ("--cache", method.cache.is_some(), STEPS),
        ("--sampling", method.sampling != Sampling::Permuted, STEPS),
        ("--acceleration", method.acceleration.is_some(), STEPS),
        ("--shrinking", method.shrinking, STEPS),
        ("--no-shrinking", method.no_shrinking, STEPS),
        ("--average", method.average() != Average::None, STEPS),
        ("--average-after", method.average_after.is_some(), STEPS),
        ("--batch", method.batch != 1, STEPS),
        ("--lanes", method.lanes, STEPS),
        (
            "--threads",
            method.threads > 1,
            "its steps follow each other, in one thread; leave it out",
        ),
    ];
    refuse_given(&given)
}

/// Returns an error for `--option`, which chooses the steps of the engine and not those of a ball.
pub fn check_option(option: SdcaOption) -> Result<()> {
    let given = option != SdcaOption::Auto;
    refuse_given(&[("--option", given, "--solver chooses how a ball is trained in")])
}

/// Returns an error for the first option that was given, with its remedy.
pub fn refuse_given(options: &[(&str, bool, &str)]) -> Result<()> {
    match options.iter().find(|(_, given, _)| *given) {
        Some((name, _, remedy)) => {
            Err(Error::setting(format!("{name} does not go with --ball: {remedy}")))
        }
        None => Ok(()),
    }
}

/// Parses some of the constants of primal-dual block Frank-Wolfe.
fn parse_constants(text: &str) -> Result<TheoremConstants, String> {
    let complain = || "constants such as s=20,k=5,eta=0.5,delta=0.1";
    let mut found = TheoremConstants::default();
    for part in text.split(',') {
        let (name, value) = part.split_once('=').ok_or_else(complain)?;
        match name.trim() {
            "s" => found.s = Some(value.parse().map_err(|_| complain())?),
            "k" => found.k = Some(value.parse().map_err(|_| complain())?),
            "eta" => found.eta = Some(value.parse().map_err(|_| complain())?),
            "delta" => found.delta = Some(value.parse().map_err(|_| complain())?),
            _ => return Err(complain().into()),
        }
    }
    found.check().map_err(|error| error.to_string())?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_have_names() {
        let some = TheoremConstants { s: Some(20), eta: Some(0.5), ..TheoremConstants::default() };
        assert_eq!(parse_constants("s=20,eta=0.5"), Ok(some));
        for bad in ["", "s", "s=0", "eta=2", "x=1", "theorem"] {
            assert!(parse_constants(bad).is_err(), "{bad}");
        }
    }
}
