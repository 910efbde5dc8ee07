//! Other methods for the same problems, each with its own certificate, to measure primal-dual block Frank-Wolfe by.
//!
//! ```text
//! P(X) − D(α),   α_i the corner of the prediction X'a_i:   never more than the Frank-Wolfe gap ⟨∇P(X), X − S⟩
//! ```
//!
//! - `apg`: accelerated projected gradient. `svrg`: projected SVRG.
//! - `frank_wolfe`, `active`: Frank-Wolfe; with away steps; pairwise. `line`: their line search.
//! - `sliding`: SCGS and STORC.
//! - `common`: the one solver around them.
//!
//! None has anything to tune: how smooth the data are is measured, and the rest is as in the papers. Work is counted in
//! rows: a look at a column counts as the rows that have as many entries.

mod active;
mod apg;
mod common;
mod frank_wolfe;
mod line;
mod sliding;
mod svrg;

use super::{Losses, Problem, Sides, Solution};
use crate::run::{Budget, Observer, Report, run};
use crate::term::Ball;
use crate::term::ball::region::L1;
use crate::{Error, Result};
use active::ActiveSet;
use apg::ProjectedGradient;
use common::{Baseline, Common};
use frank_wolfe::FrankWolfe;
use serde::{Deserialize, Serialize};
use sliding::Sliding;
use svrg::Svrg;

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rival {
    /// Accelerated projected gradient with backtracking and restarts.
    ProjectedGradient,
    /// Frank-Wolfe with exact line search.
    FrankWolfe,
    /// Frank-Wolfe that may also step away from a corner.
    AwaySteps,
    /// Frank-Wolfe that moves weight from one corner to another.
    Pairwise,
    /// Projected stochastic variance reduced gradient.
    Svrg,
    /// Stochastic conditional gradient sliding.
    Scgs,
    /// Stochastic variance-reduced conditional gradient sliding.
    Storc,
}

impl Rival {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::ProjectedGradient,
        Self::FrankWolfe,
        Self::AwaySteps,
        Self::Pairwise,
        Self::Svrg,
        Self::Scgs,
        Self::Storc,
    ];

    /// Trains.
    ///
    /// ```
    /// use dualgap::linalg::Rows;
    /// use dualgap::pdbfw::{PerOutput, Problem, baselines::Rival};
    /// use dualgap::run::Budget;
    /// use dualgap::term::{Ball, ScalarLoss};
    /// let rows = Rows::dense(&[vec![1.0, 0.0], vec![0.0, 1.0]])?;
    /// let losses = PerOutput::new(ScalarLoss::Squared, vec![1.0, 0.0], 1)?;
    /// let problem = Problem::new(&rows, losses, 0.5, Ball::L1 { radius: 1.0 }, None)?;
    /// let report = Rival::Pairwise.train(&problem, 0, &Budget::relative(1e-9), &mut ())?;
    /// assert!((report.model.weights[0] - 0.5).abs() < 1e-4);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn train<L: Losses>(
        self,
        problem: &Problem<'_, L>,
        seed: u64,
        budget: &Budget,
        observer: &mut dyn Observer,
    ) -> Result<Report<Solution>> {
        let Ball::L1 { radius } = problem.ball() else {
            return Err(Error::setting("the baselines know the l1 ball only"));
        };
        if problem.dim() == 0 {
            return Err(Error::setting("there is no feature to learn from"));
        }
        let mut common = Common::new(problem, L1::new(radius), seed);
        match self {
            Self::ProjectedGradient => {
                let descent = ProjectedGradient::new(&mut common);
                run(Baseline::new(common, descent)?, budget, observer)
            }
            Self::FrankWolfe => {
                let descent = FrankWolfe::new(&mut common);
                run(Baseline::new(common, descent)?, budget, observer)
            }
            Self::AwaySteps | Self::Pairwise => {
                let descent = ActiveSet::new(&mut common, self == Self::Pairwise);
                run(Baseline::new(common, descent)?, budget, observer)
            }
            Self::Svrg => {
                let descent = Svrg::new(&mut common);
                run(Baseline::new(common, descent)?, budget, observer)
            }
            Self::Scgs | Self::Storc => {
                let gap = Sides::new(problem)?.certificate()?.gap();
                let descent = Sliding::new(&mut common, self == Self::Storc, gap);
                run(Baseline::new(common, descent)?, budget, observer)
            }
        }
    }
}
