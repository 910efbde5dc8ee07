//! Other methods in the l1 ball, to compare primal-dual block Frank-Wolfe with, each with the certificate of the corners
//! of its predictions.
//!
//! ```text
//! P(X) − D(α),   α_i the corner of the prediction X'a_i:   never more than the Frank-Wolfe gap ⟨∇P(X), X − S⟩
//! ```
//!
//! - `apg`: accelerated projected gradient, which also is the second method of the handover. `svrg`: projected SVRG.
//! - `frank_wolfe`, `active`: Frank-Wolfe; with away steps; pairwise. `line`: their line search.
//! - `sliding`: SCGS and STORC.
//! - `l1_ball`: projections and corners. `common`: what their steps share, and the certificate of each of them.
//!
//! None has anything to tune: the code estimates the smoothness of the data, and the other constants are those of the
//! papers. Work is counted in rows: reading a column counts as the number of rows with as many entries.

mod active;
mod apg;
mod common;
mod frank_wolfe;
mod l1_ball;
mod line;
mod sliding;
mod svrg;

pub(super) use apg::Gradients;

use super::L1Problem;
use crate::ball::solver::{Session, first_gap};
use crate::ball::{Losses, Method, Settings, Solution};
use crate::run::Report;
use crate::{Error, Result};
use active::ActiveSet;
use apg::ProjectedGradient;
use common::{Baseline, Common, Descent};
use frank_wolfe::FrankWolfe;
use sliding::Sliding;
use svrg::Svrg;

/// Trains with the method that the settings name.
pub(super) fn train<L: Losses>(
    problem: &L1Problem<'_, L>,
    settings: &Settings,
    session: Session<'_, '_>,
) -> Result<Report<Solution>> {
    /// Runs the training loop with this method.
    fn with<'a, L: Losses, D: Descent<L>>(
        problem: &L1Problem<'a, L>,
        settings: &Settings,
        session: Session<'_, '_>,
        begin: impl FnOnce(&mut Common<'_, 'a, L>) -> Result<D>,
    ) -> Result<Report<Solution>> {
        session.run(problem, Baseline::new(problem, settings.seed, begin)?)
    }
    match settings.method {
        Method::ProjectedGradient => {
            with(problem, settings, session, |common| Ok(ProjectedGradient::new(common)))
        }
        Method::FrankWolfe => {
            with(problem, settings, session, |common| Ok(FrankWolfe::new(common)))
        }
        Method::AwaySteps | Method::Pairwise => {
            let pairwise = settings.method == Method::Pairwise;
            with(problem, settings, session, |common| Ok(ActiveSet::new(common, pairwise)))
        }
        Method::Svrg => with(problem, settings, session, |common| Ok(Svrg::new(common))),
        Method::Scgs | Method::Storc => with(problem, settings, session, |common| {
            let gap = first_gap(problem)?;
            Ok(Sliding::new(common, settings.method == Method::Storc, gap))
        }),
        Method::BlockFrankWolfe | Method::StochasticFrankWolfe => {
            Err(Error::setting("this method is for the trace ball"))
        }
        Method::Auto | Method::Pdbfw => Err(Error::setting("this method is not a baseline")),
    }
}
