//! Other methods in the l1 ball, to compare primal-dual block Frank-Wolfe with, each with the certificate of the corners
//! of its predictions.
//!
//! ```text
//! P(X) − D(α),   α_i the corner of the prediction X'a_i:   never more than the Frank-Wolfe gap ⟨∇P(X), X − S⟩
//! ```
//!
//! - `apg`: accelerated projected gradient, which also is the second method of the handover. `svrg`: projected SVRG.
//! - `frank_wolfe`, `active`: Frank-Wolfe; with away steps; pairwise. `line`: their line search.
//! - `block_frank_wolfe`: toward several corners at once, equation (3) of the paper.
//! - `sliding`: SCGS and STORC.
//! - `l1_ball`: projections and corners. `common`: what their steps share, and the certificate of each of them.
//!
//! None has anything to tune: the code estimates the smoothness of the data, and the other constants are those of the
//! papers. Work is counted in rows: reading a column counts as the number of rows with as many entries.

mod active;
mod apg;
mod block_frank_wolfe;
mod common;
mod frank_wolfe;
mod l1_ball;
mod line;
mod sliding;
mod svrg;

pub(super) use apg::Gradients;

use super::L1Problem;
use crate::ball::solver::{Session, first_gap};
use crate::ball::{BallMethod, BallSettings, Losses, Solution};
use crate::run::Report;
use crate::{Error, Result};
use active::ActiveSet;
use apg::ProjectedGradient;
use block_frank_wolfe::BlockFrankWolfe;
use common::{Baseline, Common, Descent};
use frank_wolfe::FrankWolfe;
use sliding::Sliding;
use svrg::Svrg;

/// Trains with the method that the settings name.
pub(super) fn train<L: Losses>(
    problem: &L1Problem<'_, L>,
    settings: &BallSettings,
    session: Session<'_, '_>,
) -> Result<Report<Solution>> {
    /// Runs the training loop with this method.
    fn with<'a, L: Losses, D: Descent<L>>(
        problem: &L1Problem<'a, L>,
        settings: &BallSettings,
        session: Session<'_, '_>,
        begin: impl FnOnce(&mut Common<'_, 'a, L>) -> Result<D>,
    ) -> Result<Report<Solution>> {
        session.run(problem, Baseline::new(problem, settings.seed, begin)?)
    }
    let knows_terms =
        matches!(settings.method, BallMethod::ProjectedGradient | BallMethod::BlockFrankWolfe);
    if problem.term().is_some() && !knows_terms {
        return Err(Error::setting(
            "a smooth term of one's own goes with auto, pdbfw, projected gradients and block Frank-Wolfe",
        ));
    }
    match settings.method {
        BallMethod::ProjectedGradient => {
            with(problem, settings, session, |common| Ok(ProjectedGradient::new(common)))
        }
        BallMethod::FrankWolfe => {
            with(problem, settings, session, |common| Ok(FrankWolfe::new(common)))
        }
        BallMethod::AwaySteps | BallMethod::Pairwise => {
            let pairwise = settings.method == BallMethod::Pairwise;
            with(problem, settings, session, |common| Ok(ActiveSet::new(common, pairwise)))
        }
        BallMethod::Svrg => with(problem, settings, session, |common| Ok(Svrg::new(common))),
        BallMethod::Scgs | BallMethod::Storc => with(problem, settings, session, |common| {
            let gap = first_gap(problem)?;
            Ok(Sliding::new(common, settings.method == BallMethod::Storc, gap))
        }),
        BallMethod::BlockFrankWolfe => with(problem, settings, session, |common| {
            BlockFrankWolfe::new(common, settings.constants)
        }),
        BallMethod::StochasticFrankWolfe => {
            Err(Error::setting("this method is for the trace ball"))
        }
        BallMethod::Auto | BallMethod::Pdbfw => {
            Err(Error::setting("this method is not a baseline"))
        }
    }
}
