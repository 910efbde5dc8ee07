//! Data files: sparse examples in a form that is mapped into memory and read in place, for data that memory does not hold.
//!
//! ```text
//! indices   u32        the columns of all rows, one row after the other; every row ends with the column after the last
//! values    f32, f64   their values: of 32 bits if all of them are exact in 32 bits; at the end of every row a one
//! starts    u64        where each row starts, and where the last one ends
//! classes   u32        the number of each example's label in the alphabet of the header, ...
//! numbers   f64        ... or the number that is to be predicted, ...
//!                      ... or neither, for examples to predict
//! header               how the data were read, the names of labels and features, the fingerprint of the examples
//! ```
//!
//! The spare entry of a row makes a constant feature of it, without a copy (`linalg/rows/mapped.rs`). The file is a sealed one
//! ([`MappedFile`](crate::container::MappedFile)): opening it compares every byte with a digest, checks that the rows are rows, and
//! that the examples have the fingerprint that the header says, which is that of the text they came from.
//!
//! - `write`: examples to a data file, row by row; `read`: back; `known`: with the names that a model knows.

mod header;
mod known;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub(super) use header::{DATA_FILE, REMEDY};
pub(super) use known::fitted;
pub(super) use read::open;
pub use write::{DataFile, DataWriter};
