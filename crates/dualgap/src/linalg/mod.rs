//! Linear algebra: rows, kernels, sums with error bounds, the random generator, and low-rank matrices.
//!
//! What users meet: [`Rows`] of features, [`LowRank`] matrices of weights, numbers with their rounding ([`Measured`]), and
//! [`Accumulate`], to which an oracle of one's own adds its features. [`gamma`], [`Sum`] and [`squared_norm`] are for bounds on the
//! rounding of terms of one's own; [`Random`] is the generator of examples and benchmarks.
//!
//! - `row`, `rows`: sparse and dense rows behind one interface; `buffer`: their arrays, owned or shared.
//! - `columns`: the same by columns.
//! - `halt`: the question whether long computations should stop.
//! - `kernels`: the few inner loops that take most of the time.
//! - `packed`: the weights of features by label without zeros.
//! - `elementary`: exponentials and logarithms of many numbers at once.
//! - `sum`: compensated sums and numbers with an error bound.
//! - `underflow`: bounds that hold where products underflow.
//! - `accumulate`: targets that a feature vector can be added to.
//! - `sized_score`: a prediction with the size of its terms.
//! - `assignment`: the best partial matching of rows and columns, with its proof.
//! - `memory`: checks that there is enough memory for a run.
//! - `random`: the only generator, reproducible across platforms and versions.
//! - `parallel`: work shared among threads, with results in order.
//! - `low_rank`: matrices in factors, operators, singular values, proven norms; absent without the feature `low-rank`.

pub(crate) mod accumulate;
mod assignment;
mod buffer;
mod columns;
pub(crate) mod compression;
mod csr;
pub(crate) mod elementary;
pub(crate) mod halt;
pub(crate) mod kernels;
#[cfg(not(feature = "low-rank"))]
#[path = "absent.rs"]
pub(crate) mod low_rank;
#[cfg(feature = "low-rank")]
pub(crate) mod low_rank;
pub(crate) mod memory;
mod packed;
pub(crate) mod parallel;
mod random;
pub(crate) mod row;
mod rows;
mod sized_score;
pub(crate) mod slices;
pub(crate) mod sparse;
pub(crate) mod sum;
pub(crate) mod together;
pub(crate) mod underflow;

pub use accumulate::{Accumulate, CompensatedVec, SparseVec};
pub use assignment::Assignment;
pub use buffer::Buffer;
pub use columns::Columns;
pub(crate) use halt::Halted;
pub use kernels::{add_scores, score};
pub use low_rank::LowRank;
#[cfg(feature = "low-rank")]
pub use low_rank::Operator;
#[cfg(feature = "low-rank")]
pub(crate) use low_rank::{Combination, Dense, OuterSum, Proof, Search, Singular, top_singular};
pub use memory::reserve_check;
pub(crate) use packed::PackedRows;
pub use parallel::on_threads;
pub use random::Random;
pub use row::Row;
pub use rows::Rows;
pub(crate) use rows::{Values, is_single};
pub(crate) use sized_score::sized_score;
pub use sum::{Measured, Sum, gamma, squared_norm};
pub use underflow::UNDERFLOW;
pub(crate) use underflow::UNIT_ROUNDOFF;
