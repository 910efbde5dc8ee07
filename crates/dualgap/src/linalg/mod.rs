//! The ground floor: rows, kernels, sums that know their rounding, and the seeded generator.
//!
//! - [`rows`]: sparse and dense rows behind one face.
//! - [`columns`]: the same by columns.
//! - [`kernels`]: the few inner loops that the time goes into.
//! - [`sum`]: compensated sums and numbers with an error bound.
//! - [`accumulate`]: what a feature vector can be added to.
//! - [`random`]: the one generator, reproducible for ever.

pub mod accumulate;
pub mod columns;
pub mod kernels;
pub mod random;
pub mod rows;
pub mod sum;

pub use accumulate::{Accumulate, CompensatedVec, SparseVec};
pub use columns::Columns;
pub use random::Random;
pub use rows::{Row, Rows};
pub use sum::{Measured, Sum, UNIT_ROUNDOFF, gamma};
