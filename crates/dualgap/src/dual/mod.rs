//! The block-dual engine: one algorithm for every problem of the form
//!
//! ```text
//! P(w) = Σ mass_i · loss_i(w) + λ g(w)            mass_i = c_i / Σ c   (1/n without weights)
//! D(α) = Σ mass_i · dual_i(α_i) − λ g*(v)         v = (1/λ) Σ mass_i X_i α_i,   w = ∇g*(v)
//! ```
//!
//! - [`blocks`]: what a block is: the trait that every problem implements.
//! - [`problem`]: blocks, masses, λ and link together, and the primal and the dual value of the certificate.
//! - [`engine`]: Algorithm 4 of the BCFW paper over any blocks, as a [`crate::run::Solver`].
//! - `visit`, `cache_policy`, `gaps`: steps between the known corners of a block, when to take them without the oracle,
//!   and draws in proportion to the gaps.
//! - [`train`](mod@train): runs of the engine, from the start, from given points or from a checkpoint.
//! - [`rounds`]: the engine around a moving centre: acceleration, and a weight that is not penalised.
//! - [`joined`]: all blocks as one; the engine over it is Algorithm 2, batch Frank-Wolfe.
//! - [`mixture`]: a sparse mixture of corners, the dual point of most blocks.
//! - [`settings`], [`average`], [`sampling`]: the settings of the engine, averages of iterates, and the order of the
//!   blocks.
//! - [`primal`]: v and w, updated together.
//! - `best`: the best pair of a run.
//! - [`reach`](mod@reach): what weights and points prove at every λ.
//! - [`witness`]: dual points that can be stored, and proved feasible when they are loaded.

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
