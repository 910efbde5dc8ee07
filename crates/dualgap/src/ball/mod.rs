//! Linear models in a norm ball by primal-dual block Frank-Wolfe.
//!
//! ```text
//! P(X) = Σ m_i f_i(X'a_i) + μ/2‖X‖²      for ‖X‖ ≤ r in the l1 or the trace norm, or X in the simplex of size r,
//!                                        X of d features and c outputs
//! ```
//!
//! [`train`] solves a [`BallProblem`]. [`BallTable`] and the maps of [`trace`] are its data; [`Losses`], [`SmoothTerm`] and
//! [`trace::Map`] can be one's own.
//!
//! - `losses`: one trait for losses of one output, of several, and of classes.
//! - `weights`: the two forms of X, a plain vector in the l1 ball and factors in the trace ball.
//! - `problem`: data, losses, μ and the radius together, and the values of a certificate.
//! - `own_term`: a smooth g of a user's own in the place of μ/2‖X‖², for plain vectors.
//! - `settings`: the settings of a run.
//! - `train`: runs in either ball; `solution`: what they end with.
//! - `solver`: the solver around every method, which certifies and has checkpoints.
//! - `handover`: the switch to gradients of all examples when the gap of the ascent stalls.
//! - `theorem`: what the paper's algorithms with constant steps have in either ball.
//! - `centre`, `shrinking`: what the ascent has in either ball. `schedule`: the constants of sliding in either ball.
//! - `l1`, [`trace`]: the data and the steps of each ball: the default method, which has nothing to tune, the paper's
//!   algorithm with constant steps, and baselines.

mod centre;
mod handover;
mod l1;
mod losses;
mod own_term;
mod problem;
#[cfg(test)]
mod reference;
mod schedule;
mod settings;
mod shrinking;
mod solution;
mod solver;
mod theorem;
#[cfg(feature = "low-rank")]
pub mod trace;
mod train;
mod weights;

pub use l1::{Atoms, BallDual, BallTable, MeanDual};
pub use losses::{ClassLosses, Losses, PerOutput};
pub use own_term::SmoothTerm;
pub use problem::{BallProblem, Design};
pub use settings::{BallMethod, BallSettings, TheoremConstants};
pub(crate) use solution::{Solution, Touched};
pub use train::{Train, train, train_from};
pub use weights::Weights;
