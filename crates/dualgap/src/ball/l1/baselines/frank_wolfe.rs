//! Frank-Wolfe with exact line search: X ← (1 − γ)X + γS, S the corner where the gradient is steepest.
//!
//! Predictions are maintained, so a step costs the column of S, O(n) for the line search, and the rows of the examples
//! whose dual variables change.

use super::common::{Common, Descent, Standing};
use super::l1_ball::Corner;
use super::line::Direction;
use crate::ball::Losses;
use crate::ball::l1::table::BallTable;
use crate::ball::solver::Told;
use crate::linalg::Halted;

/// The method; see the module's head.
pub(super) struct FrankWolfe {
    at: Standing,
    direction: Direction,
    /// V − μX, the direction of steepest descent.
    descent: Vec<f64>,
}

impl FrankWolfe {
    pub fn new<L: Losses>(common: &mut Common<'_, '_, L>) -> Self {
        let problem = common.problem;
        let mut at = Standing::start(problem);
        common.image(&at.alpha, &mut at.v);
        let mut direction = Direction::new(problem.len(), problem.outputs());
        direction.rows.extend(0..problem.len() as u32);
        let descent = vec![0.0; problem.dim()];
        Self { at, direction, descent }
    }
}

impl<L: Losses> Descent<L> for FrankWolfe {
    fn step(&mut self, common: &mut Common<'_, '_, L>, _: Halted<'_>) -> bool {
        let mu = common.problem.mu();
        let Self { at, direction, descent } = self;
        let mut own = 0.0;
        for ((to, &v), &x) in descent.iter_mut().zip(&at.v).zip(&at.x) {
            *to = v - mu * x;
            own += x * x;
        }
        let corner = common.ball.corner(descent);
        direction.delta.iter_mut().zip(&at.a).for_each(|(delta, a)| *delta = -a);
        common.add_corner(corner, &mut direction.delta);
        let Corner { at: entry, value } = corner;
        let cross = value * at.x[entry];
        direction.along = cross - own;
        direction.square = value * value - 2.0 * cross + own;
        let gamma = direction.search(common, at, 1.0);
        at.x.iter_mut().for_each(|x| *x *= 1.0 - gamma);
        at.x[entry] += gamma * value;
        direction.follow(common, at, gamma);
        true
    }

    fn iterate(&self) -> &[f64] {
        &self.at.x
    }

    fn refresh(&mut self, certified: &Told<'_, BallTable<'_>>) {
        self.at.copy(certified);
    }
}
