//! The best X and the best α of a run: weak duality makes any such pair a valid certificate, whichever iterates they
//! come from.

use super::{Losses, Problem};
use crate::Result;
use crate::linalg::Measured;
use crate::run::{Certificate, Certified};
use serde::{Deserialize, Serialize};

/// The result of a run: the weights are a plain vector in the l1 ball, and factors in the trace ball.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Solution<W = Vec<f64>> {
    /// X, feature by feature, c numbers for each; it is proved to be in the ball.
    pub weights: W,
    /// α, example by example, c numbers for each: the witness of the dual value.
    pub points: Vec<f64>,
}

/// The best pair so far, and its values; see the module's head.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BestPair<W = Vec<f64>> {
    primal: Measured,
    dual: Measured,
    best: Solution<W>,
}

impl BestPair {
    /// Starts from X = 0 and α = 0, which are always feasible.
    pub fn new<L: Losses>(problem: &Problem<'_, L>) -> Result<Self> {
        let best = Solution {
            weights: vec![0.0; problem.dim()],
            points: vec![0.0; problem.len() * problem.outputs()],
        };
        let dual = problem.dual(&best.points)?.value;
        Ok(Self { primal: problem.primal(&best.weights)?, dual, best })
    }

    /// Recomputes the values of the best pair, in the place of those that a checkpoint claims.
    pub fn proved<L: Losses>(self, problem: &Problem<'_, L>) -> Result<Self> {
        let Solution { weights, points } = &self.best;
        let (primal, dual) = (problem.primal(weights)?, problem.dual(points)?.value);
        Ok(Self { primal, dual, best: self.best })
    }
}

impl<W: Clone> BestPair<W> {
    /// Starts from this pair and its values.
    pub fn of(primal: Measured, dual: Measured, best: Solution<W>) -> Self {
        Self { primal, dual, best }
    }

    /// Stores an X of this value if it is better.
    pub fn offer_primal(&mut self, value: Measured, x: &W) {
        if value.value + value.error < self.primal.value + self.primal.error {
            self.primal = value;
            self.best.weights.clone_from(x);
        }
    }

    /// Stores an α of this value if it is better.
    pub fn offer_dual(&mut self, value: Measured, alpha: &[f64]) {
        if value.value - value.error > self.dual.value - self.dual.error {
            self.dual = value;
            self.best.points.copy_from_slice(alpha);
        }
    }

    /// Returns the best dual value.
    pub(super) fn dual(&self) -> Measured {
        self.dual
    }

    /// Takes from another best pair the X and the α that are better than its own.
    pub fn take(&mut self, other: &Self) {
        self.offer_primal(other.primal, &other.best.weights);
        self.offer_dual(other.dual, &other.best.points);
    }

    /// Returns the certificate of the best pair.
    pub fn certificate(&self) -> Result<Certificate> {
        Certificate::new(self.primal, self.dual, true)
    }

    /// Offers an X and an α with these values; returns the certificates of these two and of the best pair.
    pub fn certify(
        &mut self,
        (primal, x): (Measured, &W),
        (dual, alpha): (Measured, &[f64]),
    ) -> Result<Certified> {
        let iterate = Certificate::new(primal, dual, true)?;
        self.offer_primal(primal, x);
        self.offer_dual(dual, alpha);
        Ok(Certified { model: self.certificate()?, iterate })
    }

    /// Returns the best pair.
    pub fn best(&self) -> &Solution<W> {
        &self.best
    }

    /// Returns the best pair and drops its values.
    pub fn into_best(self) -> Solution<W> {
        self.best
    }
}
