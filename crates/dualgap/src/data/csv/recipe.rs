//! How a csv file is read: what a model keeps of it.

use serde::{Deserialize, Serialize};

/// How a csv file is read.
///
/// ```
/// # use dualgap::data::CsvRecipe;
/// let zip = CsvRecipe { categorical: vec!["zip".into()], ..CsvRecipe::default() };
/// assert!(zip.label.is_none()); // the last column
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CsvRecipe {
    /// The column with the label; the last one if absent. For several numbers, their columns as a line of csv:
    /// `price,weight`, with double quotes around names that have commas.
    pub label: Option<String>,
    /// Columns whose values are names even if they look like numbers.
    pub categorical: Vec<String>,
    /// The feature columns of the training file, in order; empty before it is read.
    pub columns: Vec<CsvColumn>,
    /// Whether the first line has the names of the columns; the training file decides this too.
    pub header: bool,
}

/// A column of features.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CsvColumn {
    /// The name from the header, or from its place: `c1` is the first.
    pub name: String,
    /// The kind of its cells.
    pub kind: CsvKind,
}

/// The kind of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CsvKind {
    /// Numbers: one feature, with the cell as its value.
    Number,
    /// Names: a feature for each.
    Name,
}
