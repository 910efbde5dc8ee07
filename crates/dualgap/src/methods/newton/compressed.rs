//! Newton's method on compressed rows.

use super::blocks::CurvedBlocks;
use super::{Newton, NewtonSettings};
use crate::Result;
use crate::dual::{self, Begin, Blocks, Pair, Pointed, Solution, train_inside};
use crate::linalg::parallel;
use crate::run::{Budget, CheckpointSink, Observer, Report};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

impl<B: CurvedBlocks<Point: Serialize + DeserializeOwned>> Pointed<B::Point> for Newton<'_, B> {
    fn points(&self) -> &[B::Point] {
        self.best_points()
    }

    fn pool(&self) -> Arc<parallel::Pool> {
        self.pool()
    }
}

/// Trains on the short rows of the pair, which are those of `blocks`.
#[allow(clippy::too_many_arguments)] // as those of other runs, and the pair
pub(crate) fn train_compressed<P, B, C>(
    pair: Pair<'_, B, C>,
    blocks: &C,
    problem: &dual::Settings,
    settings: &NewtonSettings,
    begin: Begin<P>,
    budget: &Budget,
    observer: &mut dyn Observer,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<P>>>
where
    P: Clone + Send + Sync + Serialize + DeserializeOwned,
    B: Blocks<Point = P>,
    C: CurvedBlocks<Point = P>,
{
    let new = || Newton::new(blocks, problem, settings);
    let start = |points: Option<Vec<P>>| {
        let mut solver = new()?;
        if let Some(points) = points {
            solver.begin_at(&points);
        }
        Ok(solver)
    };
    let resume = |state| {
        let mut solver = new()?;
        solver.resume(state)?;
        Ok(solver)
    };
    train_inside(pair, begin, start, resume, (budget, observer, sink))
}
