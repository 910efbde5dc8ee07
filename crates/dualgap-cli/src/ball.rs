//! How the penalty of a model is told, or the ball that takes its place.

use crate::report::{and_else, number, thousands};
use dualgap::model::{InBall, Model, Provenance};
use dualgap::pdbfw::{Method, Steps};
use dualgap::term::Ball;
use serde::Serialize;

/// A ball for machines, null where there is a penalty.
#[derive(Serialize)]
pub struct BallJson {
    #[serde(flatten)]
    within: InBall,
    mu: f64,
}

impl BallJson {
    pub fn of(model: &Model) -> Option<Self> {
        let Provenance { ball, lambda, .. } = model.provenance;
        ball.map(|within| Self { within, mu: lambda })
    }
}

/// The rows of a table that state the penalty, or the ball.
pub fn penalty_rows(model: &Model) -> Vec<(&'static str, String)> {
    let Provenance { ball, lambda, regulariser, .. } = model.provenance;
    let Some(InBall { ball, .. }) = ball else {
        return vec![("lambda", format!("{}{}", number(lambda), and_else(regulariser)))];
    };
    let (name, radius) = match ball {
        Ball::L1 { radius } => ("l1", radius),
        Ball::Trace { radius } => ("trace", radius),
    };
    vec![("ball", format!("{name}, radius {}", number(radius))), ("mu", number(lambda))]
}

/// How many weights there are, and in a ball how many of them matter.
pub fn weights_row(model: &Model) -> String {
    let all = thousands(model.weights.len() as u64);
    if model.provenance.ball.is_none() {
        return all;
    }
    format!("{all}, {} of them not zero", thousands(nonzero(model) as u64))
}

pub fn nonzero(model: &Model) -> usize {
    model.weights.iter().filter(|&&w| w != 0.0).count()
}

/// The method of a run in a ball.
pub fn method_name(within: InBall) -> &'static str {
    match (within.method, within.steps) {
        (Method::Pdbfw, Steps::Search) => "primal-dual block Frank-Wolfe (pdbfw)",
        (Method::Pdbfw, Steps::Theorem(_)) => {
            "primal-dual block Frank-Wolfe (pdbfw), with the steps of its theorem"
        }
        (Method::ProjectedGradient, _) => "accelerated projected gradient (apg)",
        (Method::FrankWolfe, _) => "Frank-Wolfe",
        (Method::AwaySteps, _) => "Frank-Wolfe with steps away (away)",
        (Method::Pairwise, _) => "pairwise Frank-Wolfe",
        (Method::BlockFrankWolfe, _) => "block Frank-Wolfe",
        (Method::StochasticFrankWolfe, _) => "stochastic Frank-Wolfe",
        (Method::Svrg, _) => "projected stochastic variance reduced gradient (svrg)",
        (Method::Scgs, _) => "stochastic conditional gradient sliding (scgs)",
        (Method::Storc, _) => "stochastic variance-reduced conditional gradient sliding (storc)",
    }
}
