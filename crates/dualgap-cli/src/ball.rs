//! The report of a model's penalty, or of the ball in its place.

use crate::report::{and_else, number, thousands};
use dualgap::ball::{Method, Steps};
use dualgap::linalg::LowRank;
use dualgap::model::{InBall, Model, Provenance};
use dualgap::term::Ball;
use serde::Serialize;

/// A ball for machines, null where there is a penalty.
#[derive(Serialize)]
pub struct BallJson {
    #[serde(flatten)]
    within: InBall,
    mu: f64,
    /// Of weights in factors.
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<usize>,
}

impl BallJson {
    pub fn of(model: &Model) -> Option<Self> {
        let Provenance { ball, lambda, .. } = model.provenance;
        let rank = model.low_rank.as_ref().map(LowRank::rank);
        ball.map(|within| Self { within, mu: lambda, rank })
    }
}

/// Returns the rows of a table about the penalty, or the ball.
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

/// Returns the number of weights, and in a ball their rank or the number of nonzero ones.
pub fn weights_row(model: &Model) -> String {
    let all = thousands(model.dim() as u64);
    if let Some(x) = &model.low_rank {
        return format!("{all}, of rank {}", x.rank());
    }
    if model.provenance.ball.is_none() {
        return all;
    }
    format!("{all}, {} of them not zero", thousands(nonzero(model) as u64))
}

/// Returns the number of nonzero weights. Weights in factors are zero where the row of a feature or of a label is.
pub fn nonzero(model: &Model) -> usize {
    if let Some(x) = &model.low_rank {
        let some = |factor: &[f64]| {
            let rows = factor.chunks_exact(x.rank().max(1));
            rows.filter(|row| row.iter().any(|&number| number != 0.0)).count()
        };
        return some(x.u()) * some(x.v());
    }
    model.weights.iter().filter(|&&w| w != 0.0).count()
}

/// Returns the name of the method of a run in a ball.
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
