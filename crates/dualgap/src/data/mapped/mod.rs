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

mod known;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub(super) use known::fitted;
pub(super) use read::open;
pub use write::{DataFile, DataWriter};

use super::Alphabet;
use crate::container::{Form, Kind};
use serde::{Deserialize, Serialize};
use std::path::Path;

pub(super) const DATA_FILE: Kind =
    Kind { name: "data file", form: Form::Lines, oldest: 1, version: 1 };

/// What can be done about a file that is damaged.
pub(super) const REMEDY: &str = "convert the data again";

/// How the name of a data file ends.
const ENDING: &str = "mapped";

impl DataFile {
    /// Whether a path has the name of a data file: it ends with `.mapped`.
    ///
    /// ```
    /// # use dualgap::data::DataFile;
    /// assert!(DataFile::is_named("train.mapped".as_ref()) && !DataFile::is_named("train.svm.gz".as_ref()));
    /// ```
    pub fn is_named(path: &Path) -> bool {
        path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(ENDING))
    }

    /// Returns how many bytes of files this process has mapped, in memory or not.
    ///
    /// ```
    /// assert_eq!(dualgap::data::DataFile::mapped_bytes(), 0);
    /// ```
    pub fn mapped_bytes() -> usize {
        dualgap_map::mapped()
    }

    /// Drops the pages of all mapped files from the memory of this process, for those who are watched by how much they have; returns
    /// how many bytes are mapped. The pages are read again when they are touched, mostly from the memory of the operating system.
    ///
    /// ```
    /// assert_eq!(dualgap::data::DataFile::release_pages(), 0);
    /// ```
    pub fn release_pages() -> usize {
        dualgap_map::release()
    }
}

#[derive(Serialize, Deserialize)]
struct Header {
    /// A [`Recipe`](super::Recipe).
    recipe: serde_json::Value,
    features: usize,
    /// The names of the features; empty if they have none.
    names: Vec<String>,
    targets: Kept,
    fingerprint: String,
}

/// What the examples have as targets.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kept {
    None,
    Classes { labels: Alphabet },
    Numbers,
}
