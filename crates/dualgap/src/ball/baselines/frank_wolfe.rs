//! Frank-Wolfe with exact line search: X ← (1 − γ)X + γS, S the corner where the gradient is steepest.
//!
//! Predictions are maintained, so a step costs the column of S, O(n) for the line search, and the rows of the examples
//! whose dual variables change.

use super::common::{Common, Descent, Standing};
use super::line::Direction;
use crate::ball::Losses;
use crate::linalg::Halted;
use crate::term::ball::region::{Corner, Region};

/// The method; see the module's head.
pub(super) struct FrankWolfe {
    at: Standing,
    direction: Direction,
    /// V − μX, the direction of steepest descent.
    descent: Vec<f64>,
    corner: Corner,
}

impl FrankWolfe {
    pub fn new<L: Losses, R: Region>(common: &mut Common<'_, '_, L, R>) -> Self {
        let problem = common.problem;
        let mut at = Standing::zero(problem);
        common.image(&at.alpha, &mut at.v);
        let mut direction = Direction::new(problem.len(), problem.outputs());
        direction.rows.extend(0..problem.len() as u32);
        let descent = vec![0.0; problem.dim()];
        Self { at, direction, descent, corner: Corner::default() }
    }
}

impl<L: Losses, R: Region> Descent<L, R> for FrankWolfe {
    fn step(&mut self, common: &mut Common<'_, '_, L, R>, _: Halted<'_>) -> bool {
        let (mu, c) = (common.problem.mu(), common.problem.outputs());
        let Self { at, direction, descent, corner } = self;
        let mut own = 0.0;
        for ((to, &v), &x) in descent.iter_mut().zip(&at.v).zip(&at.x) {
            *to = v - mu * x;
            own += x * x;
        }
        common.region.corner(descent, c, corner);
        direction.delta.iter_mut().zip(&at.a).for_each(|(delta, a)| *delta = -a);
        common.add_corner(corner, 1.0, &mut direction.delta);
        let cross = corner.dot(&at.x, c);
        direction.along = cross - own;
        direction.square = corner.squared_norm() - 2.0 * cross + own;
        let gamma = direction.search(common, at, 1.0);
        at.x.iter_mut().for_each(|x| *x *= 1.0 - gamma);
        corner.add_to(&mut at.x, c, gamma);
        direction.follow(common, at, gamma);
        true
    }

    fn iterate(&self) -> &[f64] {
        &self.at.x
    }

    fn refresh(&mut self, certified: &Standing) {
        self.at.copy(certified);
    }
}
