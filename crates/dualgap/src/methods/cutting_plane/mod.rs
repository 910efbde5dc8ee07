//! Cutting planes for `Σ mass_i loss_i(w) + λ/2‖w‖²`, with one slack variable (Joachims, Finley and Yu 2009) or one for
//! each example (Tsochantaridis, Joachims, Hofmann and Altun 2005).
//!
//! ```text
//! 1-slack   search all examples at w; the mean of what was found is one plane:
//!               Σ mass_i loss_i(w') ≥ ℓ − ⟨w', g⟩,      ℓ = Σ mass_i L_i(y_i*),   g = Σ mass_i ψ_i(y_i*)
//!           w ← argmin of λ/2‖w‖² + the largest of all planes
//!
//! n-slack   search some examples at w; what was found is a plane of the example's own loss
//!           w ← argmin of λ/2‖w‖² + Σ_i the largest of the planes of i
//! ```
//!
//! Both minima are found in the dual, which is the dual of the problem with weight on the known planes and nowhere else.
//! So the weights of the planes are a feasible point of the problem's own dual, of the same form as that of any
//! block-dual method: the point of an example is the mixture of its outputs with the weights of the planes that have
//! them. The certificate is computed from it and w, with one search in every block, and not from the master's numbers;
//! the corners that a certification finds are those of the next plane, so that the oracle is not asked twice.
//!
//! The 1-slack method with the penalty inside the master problem *is* BMRM, the bundle method for regularised risk
//! minimisation (Teo, Vishwanathan, Smola and Le 2010), in its batch form: a plane of BMRM is the tangent of the mean
//! loss at w, and the tangent of a mean of maxima is the mean of the planes of the maximisers. Read in this way it is
//! not bound to hinges: a smooth loss has tangents too, and blocks of any loss can be trained with it.
//!
//! One pass of searches makes one plane. The segment from the current point to the new plane lies within what the
//! master problem searches, so no pass gains less than the step of batch Frank-Wolfe from the same point; and as long as
//! no plane was dropped, all that Frank-Wolfe could have reached with the same searches lies within it too.
//!
//! - `settings`: the settings of a run.
//! - `planes`: blocks as the method sees them, behind a pointer; `image`: the vector of a plane.
//! - `group`: a plane, and the planes of one slack.
//! - `simplex`: a concave quadratic over a simplex; `face`: one over many, without their inequalities.
//! - `bundle`: the known planes and their master problem.
//! - `solver`: the method, as a [`crate::run::Solver`].
//! - `train`: runs, from the start, from given points or from a checkpoint.

mod bundle;
mod face;
mod group;
mod image;
mod planes;
mod settings;
mod simplex;
mod solver;
mod train;

pub use settings::{CuttingPlaneSettings, Slacks};
pub(crate) use train::check_penalty;
pub use train::{train, train_from};
