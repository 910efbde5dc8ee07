//! What the method asks of an objective.

use crate::Result;
use crate::linalg::Measured;
use crate::run::{Certificate, Expected};
use serde::{Deserialize, Serialize};

/// A smooth convex objective with a ridge, `L(w) + λ/2‖w‖²`, whose weights give a feasible dual point; or an elastic net, to
/// which the l1 norm is added.
///
/// Sums over examples are split into parts that do not depend on the number of threads; the threads are those of the current
/// pool.
pub trait SmoothProblem: Sync {
    /// Returns the number of weights.
    fn dim(&self) -> usize;

    /// Returns the number of examples: the work of one gradient.
    fn examples(&self) -> usize;

    /// Returns λ.
    fn lambda(&self) -> f64;

    /// Returns σ, the strength of the l1 norm.
    fn l1(&self) -> f64 {
        0.0
    }

    /// Returns P(w) without its l1 norm, and writes the gradient of that.
    fn gradient(&self, w: &[f64], gradient: &mut [f64]) -> Result<f64>;

    /// Writes about the diagonal of the Hessian at w: positive numbers, at least λ.
    fn diagonal(&self, w: &[f64], diagonal: &mut [f64]) -> Result<()>;

    /// Returns P(w), and the dual value of the point that belongs to w.
    fn certificate(&self, w: &[f64]) -> Result<(Measured, Measured)>;

    /// Improves weights by steps on single examples, before the gradients of all of them: pass number `pass`, from 0 on.
    /// Returns whether another such pass is worth its time. If so, it may keep the weights to itself until [`settle`](Self::settle).
    fn stochastic_pass(&self, _w: &mut [f64], _past: &mut Past, _pass: u64) -> Result<bool> {
        Ok(false)
    }

    /// Writes the weights that stochastic passes have come to.
    fn settle(&self, _w: &mut [f64], _past: &Past) {}
}

/// What stochastic passes remember from one to the next; nothing at first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Past {
    /// What is stored of the examples.
    pub numbers: Vec<f32>,
    /// The weights, if they are kept here in the meantime; none after a run resumes, which begins with those that were settled.
    #[serde(skip)]
    pub weights: Vec<f32>,
    /// The length of steps.
    pub rate: f64,
    /// How far the last pass was from the optimum, by a measure of the problem's own that is about in proportion to the gap.
    pub residual: f64,
    /// P by the last certificate.
    pub primal: f64,
    /// The gap of the last certificate for every unit of the residual; zero before it.
    pub slope: f64,
}

impl Past {
    /// Learns from a certificate what the residual means.
    pub(super) fn learn(&mut self, certificate: &Certificate) {
        let slope = certificate.gap() / self.residual;
        if slope.is_finite() && slope > 0.0 {
            (self.primal, self.slope) = (certificate.primal, slope);
        }
    }

    /// Returns the gap that the residual lets expect.
    pub(super) fn expected(&self) -> Option<Expected> {
        let gap = self.slope * self.residual;
        (gap > 0.0).then_some(Expected { primal: self.primal, gap, off: 1.0 })
    }

    /// Whether its numbers are such.
    pub(super) fn is_sound(&self) -> bool {
        self.numbers.iter().all(|x| x.is_finite())
            && self.rate.is_finite()
            && self.rate >= 0.0
            && self.residual >= 0.0
            && self.primal.is_finite()
            && self.slope.is_finite()
            && self.slope >= 0.0
    }
}
