//! The options of a ball, which constrains the weights instead of a penalty.

use super::common::{MethodArgs, PenaltyArgs};
use super::values::{parse_lambda, parse_positive};
use crate::choices::{Average, BallMethod, BallName, Sampling, SdcaOption, Solver, Step};
use clap::Args;
use dualgap::ball::{Constants, Method, Settings, Steps};
use dualgap::task::{PenaltySpec, Strength};
use dualgap::term::Ball;
use dualgap::{Error, Result};

/// A ball, and how the weights get there.
#[derive(Args, Debug)]
#[command(next_help_heading = "Weights in a ball")]
pub struct BallArgs {
    /// Keep the weights in a norm ball, in the place of a penalty, with a smooth loss: l1 for all tasks but chain,
    /// trace for multiclass, multilabel and multioutput. Needs --radius.
    #[arg(long, value_enum)]
    pub ball: Option<BallName>,
    /// The largest norm that the weights may have.
    #[arg(long, value_name = "R", value_parser = parse_positive, allow_hyphen_values = true)]
    pub radius: Option<f64>,
    /// μ, in mean loss + μ/2·‖w‖²: a number, which may be 0, or a/n [default: 1/n].
    #[arg(long, value_name = "X|a/n", value_parser = parse_lambda, allow_hyphen_values = true)]
    pub mu: Option<Strength>,
    /// Who moves [default: pdbfw].
    #[arg(long, value_enum)]
    pub method: Option<BallMethod>,
    /// Of pdbfw: `search`, which needs no tuning, or `theorem`, the paper's constants; others are given as in
    /// theorem:s=20,k=5,eta=0.5,delta=0.1, and for logistic and softmax a delta must be [default: search].
    #[arg(long, value_name = "search|theorem", value_parser = parse_steps)]
    pub steps: Option<Steps>,
}

impl BallArgs {
    /// Returns the ball, or an error if another option does not go with it.
    pub fn penalty(
        &self,
        name: BallName,
        default_mu: Strength,
        penalty: &PenaltyArgs,
        method: &MethodArgs,
    ) -> Result<PenaltySpec> {
        check_alone(penalty, method)?;
        if self.ball.is_some() && self.radius.is_none() {
            return Err(Error::setting("--ball needs a radius: give --radius"));
        }
        if self.steps.is_some() && self.method() != Method::Pdbfw {
            return Err(Error::setting("--steps is for --method pdbfw: leave it out"));
        }
        let radius = self.radius.unwrap_or(0.0);
        let ball = match name {
            BallName::L1 => Ball::L1 { radius },
            BallName::Trace => Ball::Trace { radius },
        };
        check_method(ball, self.method())?;
        Ok(PenaltySpec::Ball { ball, mu: self.mu.unwrap_or(default_mu) })
    }

    /// Returns an error for options of a ball where there is none.
    pub fn check_absent(&self) -> Result<()> {
        let given = [
            ("--radius", self.radius.is_some()),
            ("--mu", self.mu.is_some()),
            ("--method", self.method.is_some()),
            ("--steps", self.steps.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(Error::setting(format!(
                "{name} is about weights in a ball: give --ball l1 or --ball trace"
            ))),
            None => Ok(()),
        }
    }

    fn method(&self) -> Method {
        self.method.map_or(Method::Pdbfw, Into::into)
    }

    /// Returns how a run in the ball is solved.
    pub fn settings(&self, seed: u64) -> Settings {
        Settings { method: self.method(), steps: self.steps.unwrap_or_default(), seed }
    }
}

/// Returns an error if the method is not available for this ball.
fn check_method(ball: Ball, method: Method) -> Result<()> {
    let (others, names) = match ball {
        Ball::L1 { .. } => {
            (&Method::BASELINES[..], "apg, frank-wolfe, away, pairwise, svrg, scgs or storc")
        }
        Ball::Trace { .. } => (
            &Method::LOW_RANK_BASELINES[..],
            "apg, frank-wolfe, block-frank-wolfe, stochastic-frank-wolfe, svrg, scgs or storc",
        ),
    };
    if method == Method::Pdbfw || others.contains(&method) {
        return Ok(());
    }
    Err(Error::setting(format!("this --method is for the other ball: take pdbfw, {names}")))
}

/// Returns an error if the theorem's steps have no default δ: the loss is not strongly convex where it is curved.
pub fn check_steps(ball: Option<&BallArgs>, conditioning: Option<f64>) -> Result<()> {
    match ball.and_then(|ball| ball.steps) {
        Some(Steps::Theorem(Constants { delta: None, .. })) if conditioning.is_none() => {
            Err(Error::setting(
                "--steps theorem has no delta for this --loss, which is not strongly convex anywhere: give one, as in \
                 --steps theorem:delta=0.1, or take --loss smooth-hinge, or leave --steps out",
            ))
        }
        _ => Ok(()),
    }
}

/// Returns an error for options about penalties and their solvers, which a ball would silently ignore.
fn check_alone(penalty: &PenaltyArgs, method: &MethodArgs) -> Result<()> {
    const STEPS: &str = "--method and --steps choose how a ball is trained in";
    let radius = "--radius says how many weights become zero";
    let given = [
        ("--l1", penalty.l1 > 0.0, radius),
        ("--q-norm", penalty.q_norm, "leave it out"),
        ("--nonnegative", penalty.nonnegative, "leave it out"),
        ("--solver", method.solver != Solver::Auto, STEPS),
        ("--step", method.step != Step::LineSearch, STEPS),
        ("--direction", method.direction.is_some(), STEPS),
        ("--cache", method.cache.is_some(), STEPS),
        ("--sampling", method.sampling != Sampling::Permuted, STEPS),
        ("--acceleration", method.acceleration.is_some(), STEPS),
        ("--shrinking", method.shrinking, STEPS),
        ("--no-shrinking", method.no_shrinking, STEPS),
        ("--average", method.average != Average::None, STEPS),
        ("--batch", method.batch != 1, STEPS),
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
    refuse_given(&[("--option", given, "--method and --steps choose how a ball is trained in")])
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

/// Parses `search`, `theorem`, or `theorem:` and some of its constants.
fn parse_steps(text: &str) -> Result<Steps, String> {
    let complain =
        || "`search`, `theorem`, or constants such as theorem:s=20,k=5,eta=0.5,delta=0.1";
    let constants = match text {
        "search" => return Ok(Steps::Search),
        "theorem" => return Ok(Steps::Theorem(Constants::default())),
        _ => text.strip_prefix("theorem:").ok_or_else(complain)?,
    };
    let mut found = Constants::default();
    for part in constants.split(',') {
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
    Ok(Steps::Theorem(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_searched_for_or_the_theorems() {
        assert_eq!(parse_steps("search"), Ok(Steps::Search));
        assert_eq!(parse_steps("theorem"), Ok(Steps::Theorem(Constants::default())));
        let some = Constants { s: Some(20), eta: Some(0.5), ..Constants::default() };
        assert_eq!(parse_steps("theorem:s=20,eta=0.5"), Ok(Steps::Theorem(some)));
        for bad in ["", "theorem:", "theorem:s", "theorem:s=0", "theorem:eta=2", "theorem:x=1"] {
            assert!(parse_steps(bad).is_err(), "{bad}");
        }
    }
}
