//! Problems in the trace ball in a build without the feature `low-rank`: there are none.

use super::{Posed, Posing, StoredLosses};
use crate::Result;
use crate::linalg::Rows;
use crate::linalg::low_rank::lacking;

/// Returns an error: this build has no feature `low-rank`.
pub(super) fn of_features<'d, L: StoredLosses + 'd>(
    _: &'d Rows,
    _: L,
    _: &Posing<'_>,
) -> Result<Posed<'d>> {
    Err(lacking())
}
