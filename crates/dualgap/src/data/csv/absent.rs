//! The readers of csv files in a build without the feature `csv`: they say what is missing.

// The signatures are those of the readers.
#![allow(clippy::needless_pass_by_value)]

use super::recipe::CsvRecipe;
use crate::data::lacking::lacking;
use crate::data::{Examples, Source, TargetKind, Unseen, Vocabulary};
use crate::{Error, Result};

fn absent(source: &Source<'_>) -> Error {
    lacking(source.name(), "is to be read as csv", "csv", "convert the file to LIBSVM")
}

/// Reads nothing: this build has no feature `csv`.
pub fn read_training_as(
    source: Source<'_>,
    _: &CsvRecipe,
    _: TargetKind,
) -> Result<(Examples, CsvRecipe)> {
    Err(absent(&source))
}

/// Reads nothing: this build has no feature `csv`.
pub fn read_known_as(
    source: Source<'_>,
    _: &CsvRecipe,
    _: Vocabulary<'_>,
    _: TargetKind,
) -> Result<(Examples, bool, Unseen)> {
    Err(absent(&source))
}
