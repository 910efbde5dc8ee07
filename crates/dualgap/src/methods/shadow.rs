//! A shadow: a dual point for a method that has none of its own, moved only when the method is certified.
//!
//! A certification at weights w finds the best corner s_i of every block anyway. The shadow takes one step of batch
//! Frank-Wolfe toward them, and may take others toward feasible points that the method comes by,
//!
//! ```text
//! α ← α + γ(s − α),     γ = the maximum of the dual's quadratic lower bound along the segment, which never lowers it
//! ```
//!
//! so that the certificate of the primal method needs no oracle call of its own.

use crate::Result;
use crate::dual::problem::DualValue;
use crate::dual::{Blocks, Joined, Problem, View};
use crate::linalg::Measured;
use crate::linalg::kernels::dot;
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

    /// Steps toward these points and then toward these corners, one for each block, and computes the dual value again.
    pub fn step<L: Link>(
        &mut self,
        problem: &Problem<'a, B, L>,
        (points, dual): (&Vec<B::Point>, &DualValue),
        corners: &Vec<B::Corner>,
    ) -> Result<()> {
        let before = self.toward_points(problem.link(), points, dual);
        let after = self.toward_corners(problem.link(), corners);
        if before || after {
            self.dual = problem.dual(&self.points)?;
        }
        Ok(())
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

    /// Steps toward points with this dual value; returns whether the shadow moved. v moves with it, up to rounding, and the
    /// dual value does not.
    fn toward_points<L: Link>(
        &mut self,
        link: &L,
        points: &Vec<B::Point>,
        dual: &DualValue,
    ) -> bool {
        let (lambda, v) = (self.lambda, &mut self.dual.v);
        let toward: Vec<f64> = dual.v.iter().zip(&*v).map(|(to, at)| to - at).collect();
        // The mean of the blocks' own dual values is the dual value without the term of the regulariser.
        let mean = |value: Measured, v: &[f64]| value.value + lambda * link.conjugate(v).value;
        let rise = mean(dual.value, &dual.v) - mean(self.dual.value, v);
        let gap = rise - lambda * dot(&link.weights(v), &toward);
        let curvature = lambda * dot(&toward, &toward);
        let gamma = if curvature > 0.0 { (gap / curvature).min(1.0) } else { 1.0 };
        // Neither a gap that is no number nor one that rounding has left is worth a step.
        if !(gap > 0.0 && gamma > 0.0) {
            return false;
        }
        v.iter_mut().zip(&toward).for_each(|(v, toward)| *v += gamma * toward);
        self.joined.blend(0, gamma, &mut self.points, points);
        true
    }

    /// Steps toward corners; returns whether the shadow moved.
    fn toward_corners<L: Link>(&mut self, link: &L, corners: &Vec<B::Corner>) -> bool {
        let Self { joined, points, dual, lambda } = self;
        let (mut scratch, w) = (joined.scratch(), link.weights(&dual.v));
        let view = View { w: &w, factor: 1.0, scale: 1.0 / *lambda, norm: L::NORM, fresh: true };
        let gamma = joined.step_length(0, points, corners, &view, &mut scratch);
        if gamma > 0.0 {
            joined.mix(0, gamma, points, corners);
        }
        gamma > 0.0
    }

    /// Returns the points.
    pub fn into_points(self) -> Vec<B::Point> {
        self.points
    }
}
