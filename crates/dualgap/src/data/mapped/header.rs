//! What a data file says of itself before its arrays.

use crate::container::{Form, Kind};
use crate::data::Alphabet;
use serde::{Deserialize, Serialize};

pub(in crate::data) const DATA_FILE: Kind =
    Kind { name: "data file", form: Form::Lines, oldest: 1, version: 1 };

/// What can be done about a file that is damaged.
pub(in crate::data) const REMEDY: &str = "convert the data again";

/// What stands in the header.
#[derive(Serialize, Deserialize)]
pub(super) struct Header {
    /// A [`Recipe`](crate::data::Recipe).
    pub recipe: serde_json::Value,
    pub features: usize,
    /// The names of the features; empty if they have none.
    pub names: Vec<String>,
    pub targets: Kept,
    pub fingerprint: String,
}

/// What the examples have as targets.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kept {
    None,
    Classes { labels: Alphabet },
    Numbers,
}
