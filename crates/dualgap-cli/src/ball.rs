//! The report of a model's penalty, or of the ball in its place.

use crate::words::{and_else, number, thousands};
use dualgap::ball::{BallMethod, BallSettings, TheoremConstants};
use dualgap::linalg::LowRank;
use dualgap::task::{self, AnyModel};
use dualgap::term::{Ball, Penalty, Regulariser};
use serde::Serialize;

/// A ball for machines, null where there is a penalty.
#[derive(Serialize)]
pub struct BallJson {
    #[serde(flatten)]
    ball: Ball,
    method: BallMethod,
    /// Of primal-dual block Frank-Wolfe.
    #[serde(skip_serializing_if = "Option::is_none")]
    constants: Option<TheoremConstants>,
    mu: f64,
    /// Of weights in factors.
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<usize>,
}

impl BallJson {
    pub fn of(model: &dyn AnyModel) -> Option<Self> {
        let Penalty::Ball { ball, mu } = model.penalty() else { return None };
        let BallSettings { method, constants, .. } = ball_settings(model);
        let constants = (method == BallMethod::Pdbfw).then_some(constants);
        let rank = model.fitted().low_rank.map(LowRank::rank);
        Some(Self { ball, method, constants, mu, rank })
    }
}

fn ball_settings(model: &dyn AnyModel) -> BallSettings {
    match model.provenance().method {
        task::Method::Ball(settings) => settings,
        _ => BallSettings::default(),
    }
}

/// Returns λ, or μ in a ball, and the other terms of a penalty: zero where there is none.
pub fn engine_penalty(penalty: Penalty) -> (f64, Regulariser) {
    match penalty {
        Penalty::Ridge { lambda, l1, nonnegative, free } => {
            (lambda, Regulariser { l1, nonnegative, free, q_norm: false })
        }
        Penalty::Lasso { sigma, nonnegative, free } => {
            (0.0, Regulariser { l1: sigma, nonnegative, free, q_norm: false })
        }
        Penalty::QNorm { lambda, l1 } => {
            (lambda, Regulariser { l1, q_norm: true, ..Regulariser::PLAIN })
        }
        Penalty::Ball { mu, .. } => (mu, Regulariser::PLAIN),
        _ => (0.0, Regulariser::PLAIN),
    }
}

/// Returns the rows of a table about the penalty, or the ball.
pub fn penalty_rows(model: &dyn AnyModel) -> Vec<(&'static str, String)> {
    let (lambda, regulariser) = engine_penalty(model.penalty());
    let Some(ball) = model.penalty().ball() else {
        return vec![("lambda", format!("{}{}", number(lambda), and_else(regulariser)))];
    };
    let radius = number(ball.radius());
    vec![("ball", format!("{}, radius {radius}", ball.name())), ("mu", number(lambda))]
}

/// Returns the number of weights, and in a ball their rank or the number of nonzero ones.
pub fn weights_row(model: &dyn AnyModel) -> String {
    let all = thousands(model.dim() as u64);
    if let Some(x) = model.fitted().low_rank {
        return format!("{all}, of rank {}", x.rank());
    }
    if model.penalty().ball().is_none() {
        return all;
    }
    format!("{all}, {} of them not zero", thousands(nonzero(model) as u64))
}

/// Returns the number of nonzero weights. Weights in factors are zero where the row of a feature or of a label is.
pub fn nonzero(model: &dyn AnyModel) -> usize {
    if let Some(x) = model.fitted().low_rank {
        let some = |factor: &[f64]| {
            let rows = factor.chunks_exact(x.rank().max(1));
            rows.filter(|row| row.iter().any(|&number| number != 0.0)).count()
        };
        return some(x.u()) * some(x.v());
    }
    model.fitted().weights.iter().filter(|&&w| w != 0.0).count()
}

/// Returns the name of the method of a run in a ball.
pub fn method_name(method: BallMethod) -> &'static str {
    match method {
        BallMethod::Auto => "ascent on the dual and projected gradients (auto)",
        BallMethod::Pdbfw => "primal-dual block Frank-Wolfe (pdbfw)",
        BallMethod::ProjectedGradient => "accelerated projected gradient (apg)",
        BallMethod::FrankWolfe => "Frank-Wolfe (fw)",
        BallMethod::AwaySteps => "Frank-Wolfe with steps away (away)",
        BallMethod::Pairwise => "pairwise Frank-Wolfe",
        BallMethod::BlockFrankWolfe => "block Frank-Wolfe",
        BallMethod::StochasticFrankWolfe => "stochastic Frank-Wolfe",
        BallMethod::Svrg => "projected stochastic variance reduced gradient (svrg)",
        BallMethod::Scgs => "stochastic conditional gradient sliding (scgs)",
        BallMethod::Storc => "stochastic variance-reduced conditional gradient sliding (storc)",
        _ => "a method that this program has no words for",
    }
}
