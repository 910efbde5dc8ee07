//! The two kinds of measurements of a matrix.

use serde::{Deserialize, Serialize};

/// What a row of the data measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Measurement {
    /// The inner product with a matrix, whose entries are the row.
    Matrices {
        /// The number of columns of the matrix.
        columns: usize,
    },
    /// The square of the inner product of a vector with the row.
    Squares,
}
