//! Measurements as linear maps of a matrix in the trace ball.

use super::Measurement;
use crate::Result;
use crate::ball::PerOutput;
use crate::ball::trace::Matrices;
use crate::linalg::memory::reserve_check;
use crate::linalg::{LowRank, Rows};
use crate::structure::posed::{Posed, Posing};
use crate::term::ScalarLoss;

/// Poses the problem of the measurements.
pub(super) fn pose<'d>(
    measured: Measurement,
    rows: &'d Rows,
    losses: PerOutput<ScalarLoss>,
    posing: &Posing<'_>,
) -> Result<Posed<'d>> {
    match measured {
        Measurement::Matrices { columns } => {
            Posed::mapped(Matrices::new(rows, columns)?, losses, posing)
        }
        Measurement::Squares => Posed::mapped(Matrices::squares(rows)?, losses, posing),
    }
}

/// Returns all entries of the matrix, row after row.
pub(super) fn entries(x: &LowRank) -> Result<Vec<f64>> {
    reserve_check(x.rows().saturating_mul(x.columns()))?;
    Ok(x.to_dense())
}
