//! Matchings: which rows and columns of a bipartite graph belong together, each to at most one.
//!
//! ```text
//! score(y) = Σ_{e ∈ y} ⟨w, f_e⟩,      L(y_i, y) = b|y_i| + Σ_{e ∈ y} ( a[e ∉ P_i] − b[e ∈ y_i] )
//! ```
//!
//! y_i is the truth, P_i are its possible links; an edge that is none costs a, a missing one b. Both the score and the loss
//! are sums over edges, so the max-oracle is an [`Assignment`](crate::linalg::Assignment) with a loss folded into every
//! edge's score.
//!
//! - `loss`: the loss; `oracle`: the max-oracle of it.
//! - `blocks`: edge marginals of a graph; `active_set` has their steps between known matchings, `scratch` the buffers,
//!   `keys` how a point names edges.
//! - `definition`: the structure.

mod active_set;
mod blocks;
mod definition;
mod keys;
mod loss;
mod oracle;
mod scratch;

pub use blocks::MatchingBlocks;
pub use definition::Matching;
pub use loss::LinkLoss;
pub use oracle::MatchingOracle;
pub use scratch::MatchingScratch;
