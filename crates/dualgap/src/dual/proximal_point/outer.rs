//! The problem P that is certified while the engine steps on another one, and its free weight.

use crate::Result;
use crate::dual::intercept::Intercept;
use crate::dual::problem::{DualValue, PrimalValue};
use crate::dual::{Best, Blocks, Problem, Settings};
use crate::term::{Free, Link};

/// The link of P, given that of the penalised weights.
type Outer<B, L> = <<B as Blocks>::Intercept as Intercept<B>>::Link<L>;

/// P, with one weight that is not penalised if the settings say so and the blocks support it.
pub(crate) struct OuterProblem<'a, B: Blocks, L: Link> {
    problem: Problem<'a, B, Outer<B, L>>,
}

impl<'a, B: Blocks, L: Link> OuterProblem<'a, B, L> {
    /// Returns the problem with this link and λ, or an error if the settings have a free weight and the blocks do not
    /// support one.
    pub fn new(blocks: &'a B, link: L, lambda: f64, settings: &Settings) -> Result<Self> {
        let link = B::Intercept::certified(link, settings.regulariser.free)?;
        let weights = settings.sample_weights.as_deref();
        Ok(Self { problem: Problem::new(blocks, link, lambda, weights)? })
    }

    /// Returns the link of the penalised weights.
    pub fn link(&self) -> &L {
        B::Intercept::penalised(self.problem.link())
    }

    pub fn lambda(&self) -> f64 {
        self.problem.lambda
    }

    pub fn blocks(&self) -> &'a B {
        self.problem.blocks
    }

    fn intercept(&self) -> Option<B::Intercept> {
        B::Intercept::of::<L>(self.problem.link())
    }

    /// Returns the weight that is not penalised, if there is one.
    pub fn free(&self) -> Option<Free> {
        self.intercept().map(B::Intercept::free)
    }

    /// Returns the best value of the free weight with the others fixed, and its column, if there is one.
    pub fn best_free(&self, w: &[f64]) -> Option<(usize, f64)> {
        let free = self.intercept()?;
        Some((free.free().column, free.best::<L>(&self.problem, w)))
    }

    /// Returns the weights with the free one within its bound.
    pub fn bounded(&self, mut w: Vec<f64>) -> Vec<f64> {
        if let Some(Free { column, bound }) = self.free() {
            w[column] = w[column].clamp(-bound, bound);
        }
        w
    }

    /// Returns points near these that the dual allows, or `None` if it allows these because no weight is free.
    pub fn balanced(&self, points: &[B::Point]) -> Result<Option<Vec<B::Point>>> {
        self.intercept().map(|free| free.balanced::<L>(&self.problem, points)).transpose()
    }

    pub fn primal(&self, w: &[f64]) -> Result<PrimalValue> {
        self.problem.primal(w)
    }

    pub fn primal_at(&self, w: &[f64], points: &[B::Point]) -> Result<PrimalValue> {
        self.problem.primal_at(w, points)
    }

    pub fn dual(&self, points: &[B::Point]) -> Result<DualValue> {
        self.problem.dual(points)
    }

    /// Estimates how far a v that is rebuilt at these points is from its exact value.
    pub fn distance(&self, points: &[B::Point]) -> Result<f64> {
        self.problem.distance(points)
    }

    /// Returns v at these points.
    pub fn image(&self, points: &[B::Point]) -> Vec<f64> {
        self.problem.image(points)
    }

    /// Returns the weights at this v.
    pub fn weights(&self, v: &[f64]) -> Vec<f64> {
        self.problem.link().weights(v)
    }

    /// Recomputes the values of a best pair.
    pub fn prove(&self, best: &mut Best<B::Point>) -> Result<()> {
        best.prove(&self.problem)
    }
}
