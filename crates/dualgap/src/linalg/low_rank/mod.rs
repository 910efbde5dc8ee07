//! Matrices of low rank, with what only they need: dense decompositions, searches for singular values, proven
//! norms.
//!
//! - `factors`: matrices in factors, recompressed, with proven norms.
//! - `operator`: matrices defined by their products with a block of vectors.
//! - `singular`: the largest singular values of an operator, warm-started.
//! - `spectral`: a proven upper bound on a spectral norm.
//! - `dense`, `gram`: the operations on dense matrices. `interruptible`: long ones, that nobody waits for once they are halted.

pub(crate) mod dense;
mod factors;
mod gram;
mod interruptible;
pub(crate) mod operator;
pub(crate) mod singular;
pub(crate) mod spectral;
#[cfg(test)]
pub(crate) mod tests;

pub use factors::LowRank;
pub use operator::{Combination, Dense, Operator, OuterSum};
pub use singular::{Search, Singular, top_singular};
pub use spectral::Proof;
