//! Other methods in the trace ball, each with the certificate of the corners of its predictions.
//!
//! - `frank_wolfe`: toward the best corner, and toward several at once, with line search.
//! - `stochastic`: Frank-Wolfe with the gradients of samples. `svrg`: projected SVRG. `sliding`: SCGS and STORC.
//!
//! - `best_corner`: the corner that a gradient points to, and the smoothness of the losses.
//!
//! None has anything to tune. Accelerated projected gradient is the ascent of the parent module with full
//! decompositions.

mod best_corner;
mod frank_wolfe;
mod sliding;
mod stochastic;
mod svrg;

use super::Map;
use super::ascent::Ascent;
use crate::ball::solver::{Session, first_gap};
use crate::ball::{BallMethod, BallProblem, BallSettings, Losses, Solution};
use crate::linalg::LowRank;
use crate::run::Report;
use crate::{Error, Result};
use frank_wolfe::{BlockFrankWolfe, FrankWolfe};
use sliding::Sliding;
use stochastic::StochasticFrankWolfe;
use svrg::Svrg;

/// Trains with the method that the settings name.
pub(super) fn train<M: Map, L: Losses>(
    problem: &BallProblem<M, L>,
    settings: &BallSettings,
    session: Session<'_, '_>,
) -> Result<Report<Solution<LowRank>>> {
    let seed = settings.seed;
    match settings.method {
        BallMethod::ProjectedGradient => session.run(problem, Ascent::whole(problem)),
        BallMethod::FrankWolfe => session.run(problem, FrankWolfe::new(problem)),
        BallMethod::BlockFrankWolfe => session.run(problem, BlockFrankWolfe::new(problem)),
        BallMethod::StochasticFrankWolfe => {
            session.run(problem, StochasticFrankWolfe::new(problem, seed))
        }
        BallMethod::Svrg => session.run(problem, Svrg::new(problem, seed)?),
        BallMethod::Scgs | BallMethod::Storc => {
            let gap = first_gap(problem)?;
            let reduced = settings.method == BallMethod::Storc;
            session.run(problem, Sliding::new(problem, reduced, gap, seed)?)
        }
        BallMethod::AwaySteps | BallMethod::Pairwise => {
            Err(Error::setting("this method is for the l1 ball, which has finitely many corners"))
        }
        BallMethod::Auto | BallMethod::Pdbfw => {
            Err(Error::setting("this method is not a baseline"))
        }
    }
}
