//! The options that all commands that train have, together: what a problem and its solver are made from.

use super::ball::BallArgs;
use super::common::{DataArgs, MethodArgs, PenaltyArgs};
use crate::choices::{Acceleration, Average, BallName, Solver, Step};
use dualgap::data::Source;
use dualgap::structure::Choice;
use dualgap::task::{Method, PenaltySpec, Strength};
use dualgap::{Error, Result};

/// What a problem and its solver are made from, whatever the command.
#[derive(Clone, Copy, Debug)]
pub struct Common<'a> {
    pub(crate) data: &'a DataArgs,
    pub(crate) penalty: &'a PenaltyArgs,
    pub(crate) method: &'a MethodArgs,
    /// Of the commands that train in one.
    pub(crate) ball: Option<&'a BallArgs>,
    /// Of the commands that train at one λ; where a grid is over it, any.
    pub(crate) lambda: Strength,
    /// σ, in the same way.
    pub(crate) l1: Strength,
    /// The radius of a ball, if it is given.
    pub(crate) radius: Option<f64>,
    /// Whether λ follows from an accuracy.
    pub(crate) to_accuracy: bool,
}

impl Common<'_> {
    /// Returns the penalty that the options name, or the ball in its place.
    pub fn penalty(&self, default_mu: Strength) -> Result<PenaltySpec> {
        let PenaltyArgs { q_norm, nonnegative, .. } = *self.penalty;
        let (lambda, l1) = (self.lambda, self.l1);
        if let Some(ball) = self.ball_name() {
            return self.in_ball(ball, default_mu);
        }
        self.ball.map_or(Ok(()), BallArgs::check_absent)?;
        if self.to_accuracy && l1.is_zero() {
            return Err(Error::setting("--accuracy is of a pure l1 problem: give --l1"));
        }
        // The q-norm of an accuracy is that of the problem in the place of the pure l1 one.
        Ok(if q_norm && !self.to_accuracy {
            PenaltySpec::QNorm { lambda, l1 }
        } else {
            PenaltySpec::Ridge { lambda, l1, nonnegative }
        })
    }

    /// Returns the ball that was asked for.
    pub(crate) fn ball_name(&self) -> Option<BallName> {
        self.ball.and_then(|ball| ball.ball)
    }

    /// Returns the ball, or an error if another option does not go with it. Without a radius it is zero.
    pub(crate) fn in_ball(&self, ball: BallName, default_mu: Strength) -> Result<PenaltySpec> {
        match self.ball {
            Some(args) => args.penalty(ball, default_mu, self.radius, self.penalty, self.method),
            None => Err(Error::setting("weights in a ball have no lambda to search for")),
        }
    }

    /// Returns the solver of a problem under this penalty and its settings; `option` is the task's.
    pub(crate) fn solver(&self, option: Option<Choice>, penalty: PenaltySpec) -> Result<Method> {
        match self.ball.filter(|_| matches!(penalty, PenaltySpec::Ball { .. })) {
            Some(ball) => Ok(ball.settings(self.method)?.into()),
            None => self.method.of_penalty(option),
        }
    }

    /// Checks what can be checked before any file is read; λ = 0 is pure l1.
    pub(crate) fn check(self, pure_l1: bool) -> Result<()> {
        let Self { data, penalty, method, .. } = self;
        if let (Some(train), Some(test)) = (&data.train_folds, &data.test_folds)
            && let Some(fold) = train.0.iter().find(|fold| test.0.contains(fold))
        {
            return Err(Error::setting(format!(
                "fold {fold} is both trained on and tested on; a test needs other data"
            )));
        }
        if data.test_folds.is_some() && data.train_folds.is_none() {
            return Err(Error::setting(
                "--test-folds without --train-folds would test on what was trained on; \
                 name the folds to train on",
            ));
        }
        let of_steps = matches!(method.average(), Average::Uniform | Average::Random);
        if method.average_after.is_some() && !of_steps {
            return Err(Error::setting("--average-after goes with --average uniform or random"));
        }
        let plain = method.solver != Solver::Fw
            && method.step == Step::LineSearch
            && method.average() == Average::None
            && !penalty.q_norm
            && !pure_l1;
        if method.acceleration == Some(Acceleration::On) && !plain {
            return Err(Error::setting(
                "--acceleration on goes with steps of one example, by line search, without averages, \
                 the q-norm and pure l1",
            ));
        }
        let inputs = [Some(&data.data), data.test.as_ref(), data.sample_weights.as_ref()];
        let from_stdin = inputs.into_iter().flatten().filter(|path| Source::is_stdin(path)).count();
        if from_stdin > 1 || (from_stdin > 0 && data.test_folds.is_some()) {
            return Err(Error::setting("standard input can be read only once: name a file"));
        }
        Ok(())
    }
}

/// Returns the error for an accuracy of a task that has no pure l1 problem.
pub(crate) fn no_accuracy() -> Error {
    Error::setting(
        "--accuracy is for binary, regression, multiclass and chain, with margin rescaling",
    )
}
