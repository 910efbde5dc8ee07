//! The best of each side among all certified iterates. Weak duality makes any such pair a valid certificate.

use super::Blocks;
use super::problem::{PrimalValue, Problem};
use crate::Result;
use crate::linalg::Measured;
use crate::run::Certificate;
use crate::term::Link;
use serde::{Deserialize, Serialize};

/// What a run of the engine ends with: weights, and a feasible dual point as their witness.
#[derive(Clone, Debug)]
pub struct Solution<P> {
    /// The weights that the certificate's primal value is of.
    pub weights: Vec<f64>,
    /// The dual point that the certificate's dual value is of, block by block.
    pub points: Vec<P>,
}

impl<P> Solution<Vec<P>> {
    /// Of the blocks that were joined.
    pub(super) fn parted(self) -> Solution<P> {
        Solution { weights: self.weights, points: self.points.into_iter().flatten().collect() }
    }
}

/// The best weights, and the best dual point.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Best<P> {
    primal: Option<(Measured, bool, Vec<f64>)>,
    dual: Measured,
    /// Kept only where the dual can fall; where it cannot, the newest point is the best one.
    points: Option<Vec<P>>,
}

impl<P: Clone> Best<P> {
    /// A dual value, and its point unless that is known otherwise; no weights yet.
    pub fn new(dual: Measured, points: Option<Vec<P>>) -> Self {
        Self { primal: None, dual, points }
    }

    /// The best weights, if there are any yet.
    pub fn weights(&self) -> Option<&[f64]> {
        self.primal.as_ref().map(|(_, _, weights)| &weights[..])
    }

    /// The best dual point, where it is kept.
    pub fn points(&self) -> Option<&[P]> {
        self.points.as_deref()
    }

    /// Takes weights if they are better: an upper bound beats a value that bounds nothing.
    pub fn offer_primal(&mut self, primal: PrimalValue, weights: impl FnOnce() -> Vec<f64>) {
        let key = |value: Measured, certified: bool| (!certified, value.value + value.error);
        let better = self.primal.as_ref().is_none_or(|(value, certified, _)| {
            key(primal.value, primal.certified) < key(*value, *certified)
        });
        if better {
            self.primal = Some((primal.value, primal.certified, weights()));
        }
    }

    /// Takes a dual point if it is better, or if it cannot be worse.
    pub fn offer_dual(&mut self, dual: Measured, points: &[P]) {
        let floor = |dual: Measured| dual.value - dual.error;
        match &mut self.points {
            Some(kept) if floor(dual) > floor(self.dual) => {
                self.dual = dual;
                kept.clear();
                kept.extend_from_slice(points);
            }
            Some(_) => {}
            None => self.dual = dual,
        }
    }

    /// Of the best of both sides, once weights have been offered.
    pub fn certificate(&self) -> Option<Result<Certificate>> {
        let (primal, certified, _) = self.primal.as_ref()?;
        Some(Certificate::new(*primal, self.dual, *certified))
    }

    /// Both values are forgotten, and the weights too: the problem has become another.
    pub fn forget(&mut self) {
        self.primal = None;
        self.dual = Measured { value: f64::NEG_INFINITY, error: 0.0 };
    }

    /// Replaces what is claimed of the best ones by what they are worth.
    pub fn prove<B: Blocks<Point = P>, L: Link>(
        &mut self,
        problem: &Problem<'_, B, L>,
    ) -> Result<()> {
        if let Some(points) = &self.points {
            self.dual = problem.dual(points)?.value;
        }
        if let Some((value, certified, w)) = &mut self.primal {
            let primal = problem.primal(w)?;
            (*value, *certified) = (primal.value, primal.certified);
        }
        Ok(())
    }

    /// Whether the weights are so many, and points are kept where they should be: what came from a file may be
    /// anything.
    pub fn is_sound(&self, dim: usize, keeps_points: bool) -> bool {
        self.points.is_some() == keeps_points
            && self.weights().is_none_or(|w| w.len() == dim && w.iter().all(|w| w.is_finite()))
    }

    /// The model: with the newest weights and points where none are kept.
    pub fn into_solution(self, weights: impl FnOnce() -> Vec<f64>, points: Vec<P>) -> Solution<P> {
        let weights = self.primal.map_or_else(weights, |(_, _, weights)| weights);
        Solution { weights, points: self.points.unwrap_or(points) }
    }
}
