//! The block-dual engine: one algorithm for every problem of the form
//!
//! ```text
//! P(w) = Σ mass_i · loss_i(w) + λ g(w)            mass_i = c_i / Σ c   (1/n without weights)
//! D(α) = Σ mass_i · dual_i(α_i) − λ g*(v)         v = (1/λ) Σ mass_i X_i α_i,   w = ∇g*(v)
//! ```
//!
//! - [`blocks`]: what a block is, the trait that every problem is written against.
//! - [`problem`]: blocks, masses, λ and link together, and both sides of the certificate.
//! - [`engine`]: Algorithm 4 of the BCFW paper over any blocks, as a [`crate::run::Solver`].
//! - `visit`, `recall`, `gaps`: steps between the corners that a block knows, when to take them without the oracle, and
//!   draws by gaps.
//! - [`train`](mod@train): runs of the engine, from the start, from given points or from a checkpoint.
//! - [`rounds`]: the engine around a centre that moves: acceleration, and a weight without penalty.
//! - [`joined`]: all blocks as one; the engine over it is Algorithm 2, batch Frank-Wolfe.
//! - [`mixture`]: a sparse mixture of corners, the point most blocks stand at.
//! - [`settings`], [`average`], [`sampling`]: what the engine is set up with.
//! - [`primal`]: v and w, kept in step.
//! - [`reach`](mod@reach): what weights and points prove at every λ.
//! - [`witness`]: dual points that can be stored and proved feasible when they come back.

pub mod average;
mod best;
pub mod blocks;
mod cache_policy;
pub mod engine;
mod gaps;
pub mod joined;
pub mod mixture;
pub mod primal;
pub mod problem;
pub mod reach;
pub mod rounds;
pub mod sampling;
pub mod settings;
pub mod train;
mod visit;
pub mod witness;

pub use average::Average;
pub(crate) use best::Best;
pub use best::Solution;
pub use blocks::{Audit, Blocks, Found, View};
pub use engine::Engine;
pub(crate) use engine::State;
pub use joined::Joined;
pub use mixture::Mixture;
pub use primal::Primal;
pub use problem::Problem;
pub use reach::reach;
pub use sampling::Sampling;
pub use settings::{Acceleration, Cache, Direction, Method, Settings, Step};
pub use train::{Begin, train, train_from, train_q_norm_from, train_with};
pub use witness::{Witness, Witnessed};
