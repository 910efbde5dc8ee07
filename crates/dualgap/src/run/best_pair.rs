//! The best pair: the best weights and the best dual point among all certified iterates of a run. Weak duality makes any
//! such pair a valid certificate, whichever iterates the two come from.

use super::{Basis, Certificate, Certified};
use crate::Result;
use crate::linalg::Measured;
use serde::{Deserialize, Serialize};

/// What a run ends with: weights, and a feasible dual point as their witness.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Solution<P, W = Vec<f64>> {
    /// The weights that the certificate's primal value is of.
    pub weights: W,
    /// The dual point that the certificate's dual value is of, block by block or example by example.
    pub points: Vec<P>,
}

/// The best pair of a run, and its values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BestPair<W, P> {
    /// The primal value, whether it is certified, and its weights.
    pub primal: Option<(Measured, bool, W)>,
    pub dual: Measured,
    /// Stored only if the dual value can fall; otherwise the current point is the best one.
    pub points: Option<Vec<P>>,
    /// What the primal value rests on. It is computed again with the value when a run resumes.
    #[serde(skip)]
    pub basis: Basis,
}

impl<W, P: Clone> BestPair<W, P> {
    /// Starts with a dual value, and with its point if points are stored; there are no weights yet.
    pub fn new(dual: Measured, points: Option<Vec<P>>) -> Self {
        Self { primal: None, dual, points, basis: Basis::Exact }
    }

    /// Starts with a pair and its values.
    pub fn of(primal: Measured, dual: Measured, best: Solution<P, W>) -> Self {
        let (primal, points) = (Some((primal, true, best.weights)), Some(best.points));
        Self { primal, dual, points, basis: Basis::Exact }
    }

    /// Returns the best weights, if there are any yet.
    pub fn best_weights(&self) -> Option<&W> {
        self.primal.as_ref().map(|(_, _, weights)| weights)
    }

    /// Returns the best dual point, if it is stored.
    pub fn points(&self) -> Option<&[P]> {
        self.points.as_deref()
    }

    /// Stores weights if they are better: a certified upper bound beats a value that bounds nothing.
    pub fn offer_weights(
        &mut self,
        value: Measured,
        (certified, basis): (bool, Basis),
        weights: impl FnOnce() -> W,
    ) {
        let key = |value: Measured, certified: bool| (!certified, value.value + value.error);
        let better = self.primal.as_ref().is_none_or(|(best, was_certified, _)| {
            key(value, certified) < key(*best, *was_certified)
        });
        if better {
            (self.primal, self.basis) = (Some((value, certified, weights())), basis);
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

    /// [`offer_dual`](Self::offer_dual) of a point that nobody else needs.
    pub fn take_dual(&mut self, dual: Measured, points: Vec<P>) {
        let floor = |dual: Measured| dual.value - dual.error;
        match &mut self.points {
            Some(kept) if floor(dual) > floor(self.dual) => {
                self.dual = dual;
                *kept = points;
            }
            Some(_) => {}
            None => self.dual = dual,
        }
    }

    /// Returns the certificate of the best pair, or `None` before any weights were offered.
    pub fn certificate(&self) -> Option<Result<Certificate>> {
        let (primal, certified, _) = self.primal.as_ref()?;
        let pair = Certificate::new(*primal, self.dual, *certified);
        Some(pair.map(|certificate| certificate.resting_on(self.basis)))
    }

    /// Offers weights and a dual point with these certified values; returns the certificates of these two and of the
    /// best pair.
    pub fn certify(
        &mut self,
        (primal, weights): (Measured, &W),
        (dual, points): (Measured, &[P]),
    ) -> Result<Certified>
    where
        W: Clone,
    {
        let iterate = Certificate::new(primal, dual, true)?;
        self.offer_weights(primal, (true, Basis::Exact), || weights.clone());
        self.offer_dual(dual, points);
        let model = self.certificate().unwrap_or(Ok(iterate))?;
        Ok(Certified { model, iterate })
    }

    /// Forgets both values and the weights, because the problem has changed.
    pub fn forget(&mut self) {
        self.primal = None;
        self.dual = Measured { value: f64::NEG_INFINITY, error: 0.0 };
    }

    /// Returns the best pair as a model, with the current weights and points in place of those that are not stored.
    pub fn into_solution(self, weights: impl FnOnce() -> W, points: Vec<P>) -> Solution<P, W> {
        let weights = self.primal.map_or_else(weights, |(_, _, weights)| weights);
        Solution { weights, points: self.points.unwrap_or(points) }
    }
}
