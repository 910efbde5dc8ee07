//! A shadow: a dual point for a method that has none of its own, moved only when the method is certified.
//!
//! A certification at weights w finds the best corner s_i of every block anyway. The shadow takes one step of batch
//! Frank-Wolfe toward them,
//!
//! ```text
//! α ← α + γ(s − α),     γ = the maximum of the dual along the segment, which never lowers it
//! ```
//!
//! so that the certificate of the primal method needs no oracle call of its own.

use crate::Result;
use crate::dual::problem::DualValue;
use crate::dual::{Blocks, Joined, Problem, View};
use crate::linalg::Measured;
use crate::term::Link;

/// The shadow, and its dual value as the problem computes it.
pub(crate) struct Shadow<'a, B: Blocks> {
    /// All blocks as one: a batch step is a step of this block.
    joined: Joined<'a, B>,
    points: Vec<B::Point>,
    dual: DualValue,
    lambda: f64,
}

impl<'a, B: Blocks> Shadow<'a, B> {
    /// Returns a shadow at these points, or an error if one is infeasible.
    pub fn new<L: Link>(
        (blocks, lambda, sample_weights): (&'a B, f64, Option<&[f64]>),
        problem: &Problem<'a, B, L>,
        points: Vec<B::Point>,
    ) -> Result<Self> {
        let joined = Joined::new(blocks, sample_weights)?;
        Ok(Self { joined, dual: problem.dual(&points)?, points, lambda })
    }

    /// Returns the points.
    pub fn points(&self) -> &[B::Point] {
        &self.points
    }

    /// Returns the dual value at the points.
    pub fn value(&self) -> Measured {
        self.dual.value
    }

    /// Returns v at the points.
    pub fn image(&self) -> &[f64] {
        &self.dual.v
    }

    /// Moves to other points if their dual value is larger.
    pub fn adopt(&mut self, points: &[B::Point], dual: DualValue) {
        let floor = |dual: &DualValue| dual.value.value - dual.value.error;
        if floor(&dual) > floor(&self.dual) {
            self.points.clear();
            self.points.extend_from_slice(points);
            self.dual = dual;
        }
    }

    /// Steps toward these corners, one for each block, and computes the dual value again.
    pub fn step<L: Link>(
        &mut self,
        problem: &Problem<'a, B, L>,
        corners: &Vec<B::Corner>,
    ) -> Result<()> {
        let Self { joined, points, dual, lambda } = self;
        let mut scratch = joined.scratch();
        let w = problem.link().weights(&dual.v);
        let view = View { w: &w, factor: 1.0, scale: 1.0 / *lambda, norm: L::NORM, fresh: true };
        let gamma = joined.step_length(0, points, corners, &view, &mut scratch);
        // A gap that is no number is none to step by; the certificate reports what is wrong with the values.
        if gamma > 0.0 {
            joined.mix(0, gamma, points, corners);
            *dual = problem.dual(points)?;
        }
        Ok(())
    }

    /// Returns the points.
    pub fn into_points(self) -> Vec<B::Point> {
        self.points
    }
}
