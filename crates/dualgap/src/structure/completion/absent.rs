//! Ratings in a build without the feature `low-rank`: their models are read about, and neither trained nor used.

// The signatures are those of the other builds.
#![allow(clippy::needless_pass_by_value)]

use crate::Result;
use crate::ball::PerOutput;
use crate::data::Pairs;
use crate::linalg::LowRank;
use crate::linalg::low_rank::lacking;
use crate::structure::posed::{Posed, Posing};
use crate::term::ScalarLoss;

/// Returns an error: this build has no feature `low-rank`.
pub(super) fn pose<'d>(
    _: &'d Pairs,
    _: PerOutput<ScalarLoss>,
    _: &Posing<'_>,
) -> Result<Posed<'d>> {
    Err(lacking())
}

/// Returns an error: this build has no feature `low-rank`.
pub(super) fn entries(_: &LowRank, _: Vec<(u32, u32)>) -> Result<Vec<f64>> {
    Err(lacking())
}
