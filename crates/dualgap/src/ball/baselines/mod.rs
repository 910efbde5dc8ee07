//! Other methods for the same problems, each with its own certificate, to compare primal-dual block Frank-Wolfe with.
//!
//! ```text
//! P(X) − D(α),   α_i the corner of the prediction X'a_i:   never more than the Frank-Wolfe gap ⟨∇P(X), X − S⟩
//! ```
//!
//! - `apg`: accelerated projected gradient, which also is the second method of the handover. `svrg`: projected SVRG.
//! - `frank_wolfe`, `active`: Frank-Wolfe; with away steps; pairwise. `line`: their line search.
//! - `sliding`: SCGS and STORC; `schedule`: their phases and constants.
//! - `common`: the solver around each of them.
//!
//! None has anything to tune: the code estimates the smoothness of the data, and the other constants are those of the
//! papers. Work is counted in rows: reading a column counts as the number of rows with as many entries.

mod active;
mod apg;
mod common;
mod frank_wolfe;
mod line;
pub(super) mod schedule;
mod sliding;
mod svrg;

use super::{BestPair, Losses, Problem, Solution};
use crate::run::Solver;
use crate::term::Ball;
use crate::term::ball::region::L1;
use crate::{Error, Result};
use active::ActiveSet;
use apg::ProjectedGradient;
pub(super) use common::GradientsPlace;
use common::{Baseline, Common};
use frank_wolfe::FrankWolfe;
use sliding::Sliding;
use svrg::Svrg;

/// The common part of all baselines in the l1 ball.
fn begin<'p, 'a, L: Losses>(
    problem: &'p Problem<'a, L>,
    seed: u64,
) -> Result<Common<'p, 'a, L, L1>> {
    let Ball::L1 { radius } = problem.ball() else {
        return Err(Error::setting("these methods are for the l1 ball"));
    };
    if problem.dim() == 0 {
        return Err(Error::setting("there is no feature to learn from"));
    }
    Ok(Common::new(problem, L1::new(radius), seed))
}

/// Accelerated projected gradient with backtracking and restarts.
///
/// ```
/// use dualgap::linalg::Rows;
/// use dualgap::ball::{self, Method, PerOutput, Problem, Settings};
/// use dualgap::run::Budget;
/// use dualgap::term::{Ball, ScalarLoss};
/// let rows = Rows::dense(&[vec![1.0, 0.0], vec![0.0, 1.0]])?;
/// let losses = PerOutput::new(ScalarLoss::Squared, vec![1.0, 0.0], 1)?;
/// let problem = Problem::new(&rows, losses, 0.5, Ball::L1 { radius: 1.0 }, None)?;
/// for method in Method::BASELINES {
///     let settings = Settings { method, ..Settings::default() };
///     let report = ball::train(&problem, &settings, &Budget::relative(1e-4), &mut ())?;
///     // ½·½(1 − x)² + ¼x² is smallest at a half.
///     assert!((report.model.weights[0] - 0.5).abs() < 0.01, "{method:?}");
/// }
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn projected_gradient<L: Losses>(
    problem: &Problem<'_, L>,
    seed: u64,
) -> Result<impl Solver<Model = Solution>> {
    let mut common = begin(problem, seed)?;
    let descent = ProjectedGradient::new(&mut common);
    Baseline::new(common, descent)
}

/// The projected gradient solver, as the handover uses it.
pub(super) type Gradients<'p, 'a, L> = Baseline<'p, 'a, L, L1, ProjectedGradient>;

/// Starts projected gradient from an X in the ball, or from zero.
pub(super) fn gradients_from<'p, 'a, L: Losses>(
    problem: &'p Problem<'a, L>,
    x: Option<&[f64]>,
) -> Result<Gradients<'p, 'a, L>> {
    let mut common = begin(problem, 0)?; // it takes no random numbers
    let mut descent = ProjectedGradient::new(&mut common);
    if let Some(x) = x {
        descent = descent.beginning_at(&mut common, x);
    }
    Baseline::new(common, descent)
}

/// Frank-Wolfe with exact line search.
pub fn frank_wolfe<L: Losses>(
    problem: &Problem<'_, L>,
    seed: u64,
) -> Result<impl Solver<Model = Solution>> {
    let mut common = begin(problem, seed)?;
    let descent = FrankWolfe::new(&mut common);
    Baseline::new(common, descent)
}

/// Frank-Wolfe that may also step away from a corner.
pub fn away_steps<L: Losses>(
    problem: &Problem<'_, L>,
    seed: u64,
) -> Result<impl Solver<Model = Solution>> {
    let mut common = begin(problem, seed)?;
    let descent = ActiveSet::new(&mut common, false);
    Baseline::new(common, descent)
}

/// Frank-Wolfe that moves weight from one corner to another.
pub fn pairwise<L: Losses>(
    problem: &Problem<'_, L>,
    seed: u64,
) -> Result<impl Solver<Model = Solution>> {
    let mut common = begin(problem, seed)?;
    let descent = ActiveSet::new(&mut common, true);
    Baseline::new(common, descent)
}

/// Projected stochastic variance reduced gradient.
pub fn svrg<L: Losses>(
    problem: &Problem<'_, L>,
    seed: u64,
) -> Result<impl Solver<Model = Solution>> {
    let mut common = begin(problem, seed)?;
    let descent = Svrg::new(&mut common);
    Baseline::new(common, descent)
}

/// Stochastic conditional gradient sliding.
pub fn scgs<L: Losses>(
    problem: &Problem<'_, L>,
    seed: u64,
) -> Result<impl Solver<Model = Solution>> {
    let mut common = begin(problem, seed)?;
    let gap = BestPair::new(problem)?.certificate()?.gap();
    let descent = Sliding::new(&mut common, false, gap);
    Baseline::new(common, descent)
}

/// Stochastic variance-reduced conditional gradient sliding.
pub fn storc<L: Losses>(
    problem: &Problem<'_, L>,
    seed: u64,
) -> Result<impl Solver<Model = Solution>> {
    let mut common = begin(problem, seed)?;
    let descent = Sliding::new(&mut common, true, 0.0);
    Baseline::new(common, descent)
}
