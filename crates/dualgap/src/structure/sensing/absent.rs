//! Measurements in a build without the feature `low-rank`: their models are read about, and neither trained nor used.

use super::Measurement;
use crate::Result;
use crate::ball::PerOutput;
use crate::linalg::low_rank::lacking;
use crate::linalg::{LowRank, Rows};
use crate::structure::posed::{Posed, Posing};
use crate::term::ScalarLoss;

// The signatures are those of the other builds.
#[allow(clippy::needless_pass_by_value)]
/// Returns an error: this build has no feature `low-rank`.
pub(super) fn pose<'d>(
    _: Measurement,
    _: &'d Rows,
    _: PerOutput<ScalarLoss>,
    _: &Posing<'_>,
) -> Result<Posed<'d>> {
    Err(lacking())
}

/// Returns an error: this build has no feature `low-rank`.
pub(super) fn entries(_: &LowRank) -> Result<Vec<f64>> {
    Err(lacking())
}
