//! The best pair: the best weights and the best dual point among all certified iterates. Weak duality makes any such
//! pair a valid certificate.

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
    /// Splits the point of the joined blocks into one point per block.
    pub(super) fn parted(self) -> Solution<P> {
        Solution { weights: self.weights, points: self.points.into_iter().flatten().collect() }
    }
}

/// The best pair of a run.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Best<P> {
    primal: Option<(Measured, bool, Vec<f64>)>,
    dual: Measured,
    /// Stored only if the dual value can fall; otherwise the current point is the best one.
    points: Option<Vec<P>>,
}

impl<P: Clone> Best<P> {
    /// Starts with a dual value, and with its point if points are stored; there are no weights yet.
    pub fn new(dual: Measured, points: Option<Vec<P>>) -> Self {
        Self { primal: None, dual, points }
    }

    /// Returns the best weights, if there are any yet.
    pub fn weights(&self) -> Option<&[f64]> {
        self.primal.as_ref().map(|(_, _, weights)| &weights[..])
    }

    /// Returns the best dual point, if it is stored.
    pub fn points(&self) -> Option<&[P]> {
        self.points.as_deref()
    }

    /// Stores weights if they are better: a certified upper bound beats a value that bounds nothing.
    pub fn offer_primal(&mut self, primal: PrimalValue, weights: impl FnOnce() -> Vec<f64>) {
        let key = |value: Measured, certified: bool| (!certified, value.value + value.error);
        let better = self.primal.as_ref().is_none_or(|(value, certified, _)| {
            key(primal.value, primal.certified) < key(*value, *certified)
        });
        if better {
            self.primal = Some((primal.value, primal.certified, weights()));
        }
    }

    /// Stores a dual point if it is better; if the dual never falls, stores its value alone.
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

    /// Returns the certificate of the best pair, or `None` before any weights were offered.
    pub fn certificate(&self) -> Option<Result<Certificate>> {
        let (primal, certified, _) = self.primal.as_ref()?;
        Some(Certificate::new(*primal, self.dual, *certified))
    }

    /// Forgets both values and the weights, because the problem has changed.
    pub fn forget(&mut self) {
        self.primal = None;
        self.dual = Measured { value: f64::NEG_INFINITY, error: 0.0 };
    }

    /// Recomputes both values from the stored weights and points.
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

    /// Whether the weights have the right dimension, and points are stored if they should be: a state from a file may
    /// contain anything.
    pub fn is_sound(&self, dim: usize, keeps_points: bool) -> bool {
        self.points.is_some() == keeps_points
            && self.weights().is_none_or(|w| w.len() == dim && w.iter().all(|w| w.is_finite()))
    }

    /// Returns the best pair as a model, with the current weights and points in place of those that are not stored.
    pub fn into_solution(self, weights: impl FnOnce() -> Vec<f64>, points: Vec<P>) -> Solution<P> {
        let weights = self.primal.map_or_else(weights, |(_, _, weights)| weights);
        Solution { weights, points: self.points.unwrap_or(points) }
    }
}
