//! Linear models in a norm ball by primal-dual block Frank-Wolfe.
//!
//! ```text
//! P(X) = Σ m_i f_i(X'a_i) + μ/2‖X‖²      for ‖X‖ ≤ r in the l1 or the trace norm, X of d features and c outputs
//! ```
//!
//! - [`losses`]: one face for losses of one output, of several, and of classes.
//! - [`problem`]: rows, losses, μ and the ball together, and both sides of the certificate.
//! - [`sides`]: the best of both sides of a run.
//! - [`baselines`]: other methods for the same problems.

pub mod baselines;
pub mod losses;
pub mod problem;
pub mod sides;

pub use losses::{Classes, Losses, PerOutput};
pub use problem::{DualValue, MeanDual, Problem};
pub use sides::{Sides, Solution};
