//! The block-dual engine: one algorithm for every problem of the form
//!
//! ```text
//! P(w) = Σ mass_i · loss_i(w) + λ g(w)            mass_i = c_i / Σ c   (1/n without weights)
//! D(α) = Σ mass_i · dual_i(α_i) − λ g*(v)         v = (1/λ) Σ mass_i X_i α_i,   w = ∇g*(v)
//! ```
//!
//! [`train`] solves a problem of given [`Blocks`] by [`Settings`]: those of the structures, or one's own. [`Engine`] is for
//! experiments, which step it by hand; [`shard`] for runs in several processes.
//!
//! - `blocks`: what a block is: the trait that every problem implements, and two traits for what some blocks can do
//!   besides.
//! - `problem`: blocks, masses, λ and link together, and the primal and the dual value of the certificate.
//! - `masses`: what each example counts; `weighed`: the sums of a certificate over blocks with their masses; `partial`: such sums
//!   over some of the blocks.
//! - `engine`: Algorithm 4 of the BCFW paper over any blocks, as a [`crate::run::Solver`].
//! - `visit`, `cache_policy`: one visit to a block, plain or with its active set, and when to visit without the oracle.
//! - `intercept`: whether a weight may go without a penalty.
//! - `train`: runs of the engine, from the start, from given points or from a checkpoint.
//! - `proximal_point`: the engine around a moving centre: acceleration, a weight that is not penalised, and pure l1.
//! - `pure_l1`: the l1 norm alone, without λ: its certificate, and dual steps around a centre.
//! - `joined`: all blocks as one; the engine over it is Algorithm 2, batch Frank-Wolfe.
//! - `mixture`: a sparse mixture of corners, the dual point of most blocks.
//! - [`shard`]: rounds of steps on parts of the examples, in several processes, and the certificate of all of them.
//! - `settings`, `average`: the settings of the engine, and averages of iterates.
//! - `sampling`, `gaps`, `shrinking`: the order of the blocks, draws in proportion to their gaps, and blocks that are
//!   visited less often because their visits change nothing.
//! - `lanes`, `journal`: runs of visits on several threads at the same time, and what each has changed in v.
//! - `sweep`: runs of visits in one loop, for blocks of one number.
//! - `primal`: v and w, updated together.
//! - `best`: the best pair of a run.
//! - `reach`: what weights and points prove at every λ.
//! - `witness`: dual points that can be stored, and proved feasible when they are loaded.

mod average;
mod best;
mod blocks;
mod cache_policy;
mod compressed;
pub(crate) mod engine;
mod gaps;
mod intercept;
mod joined;
mod journal;
mod lanes;
mod masses;
mod mixture;
mod outlook;
mod partial;
mod primal;
pub(crate) mod problem;
pub(crate) mod proximal_point;
pub(crate) mod pure_l1;
mod reach;
mod sampling;
mod settings;
pub mod shard;
mod shrinking;
mod sweep;
mod train;
mod visit;
mod weighed;
pub(crate) mod witness;

pub(crate) use crate::run::Solution;
pub use average::Average;
pub(crate) use best::Best;
pub(crate) use blocks::TOGETHER;
pub use blocks::{
    ActiveSetBlocks, Audit, Blocks, Found, InterceptBlocks, Locality, Quality, View, Workload,
};
pub(crate) use compressed::{Pair, Pointed, train_compressed, train_inside};
pub use engine::Engine;
pub use intercept::{FreeIntercept, NoIntercept};
pub use joined::Joined;
pub use mixture::Mixture;
pub(crate) use primal::Primal;
pub use problem::{DualValue, PrimalValue, Problem};
pub use pure_l1::train_around_centre;
pub use reach::reach;
pub use sampling::{Order, Sampling};
pub use settings::{Acceleration, Algorithm, Cache, Direction, Settings, Step};
pub use shrinking::Pace;
pub use sweep::Sweep;
pub use train::{Begin, train, train_from, train_with};
pub(crate) use train::{check_free, train_q_norm_from, train_spread_from};
pub(crate) use visit::no_number;
pub use visit::{ActiveSet, Plain};
pub use witness::{Witness, Witnessed};
