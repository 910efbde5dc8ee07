//! Problems on shards: blocks of the engine under a ridge, with or without the l1 norm.

use super::other_solver;
use crate::Result;
use crate::dual::shard::{Rounds, Shard, Whole};
use crate::dual::{Settings, Witnessed};
use crate::term::{L2, Penalty};

/// Returns blocks as one of several shards.
pub(super) fn shard<'a, B: Witnessed>(
    blocks: &'a B,
    penalty: Penalty,
    settings: &Settings,
    total: f64,
) -> Result<Box<dyn Rounds + 'a>> {
    let Some((lambda, regulariser)) = penalty.regulariser() else { return Err(other_solver()) };
    regulariser.check(blocks.dim())?;
    // Refuses the penalties that shards do not support.
    Whole::new(lambda, regulariser)?;
    if regulariser.is_plain() {
        Ok(Box::new(Shard::new(blocks, L2, settings, total)?))
    } else {
        Ok(Box::new(Shard::new(blocks, regulariser.link(lambda)?, settings, total)?))
    }
}
