//! Ratings as some entries of a matrix in the trace ball.

use crate::Result;
use crate::ball::PerOutput;
use crate::ball::trace::{Map, Sampled};
use crate::data::Pairs;
use crate::linalg::LowRank;
use crate::structure::posed::{Posed, Posing};
use crate::term::ScalarLoss;

/// Poses the problem of the pairs' entries.
pub(super) fn pose<'d>(
    pairs: &'d Pairs,
    losses: PerOutput<ScalarLoss>,
    posing: &Posing<'_>,
) -> Result<Posed<'d>> {
    let map = Sampled::new(pairs.users().len(), pairs.items().len(), pairs.places().to_vec())?;
    Posed::mapped(map, losses, posing)
}

/// Returns the entries at these places.
pub(super) fn entries(x: &LowRank, places: Vec<(u32, u32)>) -> Result<Vec<f64>> {
    let map = Sampled::new(x.rows(), x.columns(), places)?;
    let mut entries = vec![0.0; map.len()];
    map.predict(x, &mut entries);
    Ok(entries)
}
