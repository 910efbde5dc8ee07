//! The structures: one module for each output space, with its oracle and its blocks.
//!
//! ```text
//! P(w) = Σ mass_i · max_y [L_i(y) − ⟨w, ψ_i(y)⟩] + (λ/2)‖w‖²,    ψ_i(y) = φ(x_i, y_i) − φ(x_i, y)
//! ```
//!
//! A block is an example's simplex over its outputs. The built-in structures represent its point in coordinates of
//! their own, a class distribution or edge marginals; [`OracleBlocks`] stores the corners themselves, for any
//! [`Oracle`]; under a loss of one number the point is that number.
//!
//! - [`linear`]: a number for each example, or the sign of one.
//! - [`multiclass`]: one label out of several.
//! - [`chain`]: a label for each position of a sequence.
//! - [`own`]: a user's own structure, given by its max-oracle.

pub mod chain;
pub mod linear;
pub mod multiclass;
pub mod own;

pub use chain::{ChainBlocks, ChainOracle, Hamming};
pub use linear::{Choice, LinearBlocks, train_linear, train_pure_l1, train_pure_l1_from};
pub use multiclass::{MulticlassBlocks, MulticlassOracle, ScoreBlocks};
pub use own::{Bound, Decoded, Extent, Oracle, OracleBlocks};
