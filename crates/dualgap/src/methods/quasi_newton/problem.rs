//! What the method asks of an objective.

use crate::Result;
use crate::linalg::Measured;

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
    /// Returns whether another such pass is worth its time.
    fn stochastic_pass(&self, _w: &mut [f64], _pass: u64) -> Result<bool> {
        Ok(false)
    }
}
