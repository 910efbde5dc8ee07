//! The ground floor: rows, kernels, sums that know their rounding, the seeded generator, and low-rank matrices.
//!
//! - [`rows`]: sparse and dense rows behind one face; [`buffer`]: the arrays they are made of, owned or shared.
//! - [`columns`]: the same by columns.
//! - `halt`: how long work is told to stop.
//! - [`kernels`]: the few inner loops that the time goes into.
//! - [`sum`]: compensated sums and numbers with an error bound.
//! - [`underflow`]: bounds that hold where products vanish.
//! - [`accumulate`]: what a feature vector can be added to.
//! - [`memory`]: whether there is room for what a run will hold.
//! - [`random`]: the one generator, reproducible for ever.
//! - [`parallel`]: work shared among threads, with results in order.
//! - [`operator`]: matrices by their products with a block of vectors.
//! - [`low_rank`]: matrices in factors, recompressed, with proven norms.
//! - [`singular`]: the largest singular values of an operator, warm-started.
//! - [`spectral`]: a spectral norm that is proven not to be larger.

pub mod accumulate;
pub mod buffer;
pub mod columns;
mod csr;
pub(crate) mod dense;
mod gram;
pub(crate) mod halt;
pub mod kernels;
pub mod low_rank;
pub mod memory;
pub mod operator;
pub mod parallel;
pub mod random;
pub mod rows;
pub mod singular;
pub mod spectral;
pub mod sum;
pub mod underflow;

pub use accumulate::{Accumulate, CompensatedVec, SparseVec};
pub use buffer::Buffer;
pub use columns::Columns;
pub use halt::Halted;
pub use low_rank::LowRank;
pub use operator::{Combination, Dense, Operator, OuterSum};
pub use random::Random;
pub use rows::{Row, Rows};
pub use singular::{Search, Singular, top_singular};
pub use spectral::{Proof, SpectralBound, spectral_bound};
pub use sum::{Measured, Sum, gamma};
pub use underflow::{UNDERFLOW, UNIT_ROUNDOFF};
