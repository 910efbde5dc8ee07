//! A quasi-Newton method for smooth objectives with a ridge, whose weights are their own dual point.
//!
//! ```text
//! P(w) = L(w) + λ/2‖w‖²,     g = ∇P(w)
//! p = −B g                   B by the last pairs s = Δw, y = Δg (L-BFGS), around γ·D⁻¹
//! w ← w + t p                t = 1, then smaller until P falls by a share of what its slope promises (Armijo)
//! ```
//!
//! For a log-loss the outputs' probabilities at w are a feasible dual point, and its gap with w is ‖g‖²/(2λ)
//! ([`SmoothProblem::certificate`] computes it from scratch). So a vector of weights proves itself, and the run returns the
//! certified one with the smallest gap.
//!
//! D is a power of the Hessian's diagonal. It matters: a rare feature is seen by one example in ten thousand and a common one
//! by all of them, so that their curvatures differ by as much. Before these steps come some passes of stochastic ones, if the
//! problem has them.
//!
//! - `problem`: what the method asks of an objective. `memory`: the pairs, and their product with a vector. `orthant`: steps
//!   under an l1 norm, which is added to the objective if the problem has one. `solver`: the
//!   steps, as a [`crate::run::Solver`]. `train`: runs.

mod memory;
mod orthant;
mod problem;
mod solver;
mod train;

pub(crate) use problem::{Past, SmoothProblem};
pub(crate) use solver::QuasiNewton;
pub(crate) use train::{Start, train_from};
