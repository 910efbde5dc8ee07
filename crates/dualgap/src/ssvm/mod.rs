//! Structural SVMs: blocks made of structures, and of users' oracles.
//!
//! ```text
//! P(w) = Σ mass_i · max_y [L_i(y) − ⟨w, ψ_i(y)⟩] + (λ/2)‖w‖²,    ψ_i(y) = φ(x_i, y_i) − φ(x_i, y)
//! ```
//!
//! A block is an example's simplex over its outputs. The built-in structures keep it in coordinates of
//! their own, a class distribution or edge marginals; [`OracleBlocks`] keeps the corners themselves,
//! for any [`crate::oracle::Oracle`].

pub mod chain;
mod chain_scratch;
pub(crate) mod edges;
mod face;
mod geometry;
pub mod multiclass;
pub mod oracle_blocks;

pub use crate::dual::{
    Acceleration, Average, Cache, Direction, Method, Sampling, Settings, Solution, Step, Witness,
    Witnessed,
};
pub use crate::oracle::{Costs, Hamming};
pub use chain::Chain;
pub use multiclass::Multiclass;
pub use oracle_blocks::OracleBlocks;
