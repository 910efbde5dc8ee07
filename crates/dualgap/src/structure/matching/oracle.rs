//! The max-oracle of matchings.

use super::LinkLoss;
use crate::Result;
use crate::data::GraphRef;
use crate::linalg::kernels::score;
use crate::linalg::{Accumulate, Assignment, Row};
use crate::structure::{Bound, Decoded, Extent, Oracle};
use std::marker::PhantomData;

/// Matchings as an [`Oracle`], for all that works with one. [`MatchingBlocks`](super::MatchingBlocks) solve the same
/// problem in coordinates of their own.
#[derive(Clone, Debug)]
pub struct MatchingOracle<'a> {
    features: usize,
    loss: LinkLoss,
    graphs: PhantomData<&'a ()>,
}

impl MatchingOracle<'_> {
    /// Returns the oracle of graphs whose edges have this many features.
    pub fn new(features: usize, loss: LinkLoss) -> Self {
        Self { features, loss, graphs: PhantomData }
    }
}

impl<'a> Oracle for MatchingOracle<'a> {
    type Input = GraphRef<'a>;
    /// The row and the column of each edge, in ascending order.
    type Output = Vec<(usize, usize)>;
    type Scratch = Assignment;

    fn dim(&self) -> usize {
        self.features
    }

    fn features(&self, x: &GraphRef<'a>, y: &Vec<(usize, usize)>, out: &mut impl Accumulate) {
        for edge in y.iter().filter_map(|&(row, column)| x.edge(row, column)) {
            x.features(edge).for_each(|f, value| out.add(f, value));
        }
    }

    /// The truth is that of the graph, which knows its possible links too.
    fn loss(&self, x: &GraphRef<'a>, _: &Vec<(usize, usize)>, y: &Vec<(usize, usize)>) -> f64 {
        self.loss.of(*x, y.iter().copied())
    }

    fn extent(&self, x: &GraphRef<'a>) -> Option<Extent> {
        let rows = || (0..x.edges().len()).map(|edge| x.features(edge));
        let most = x.rows().min(x.columns());
        Some(Extent {
            terms: most * (rows().map(Row::stored).max().unwrap_or(0) + 2),
            norm1: most as f64 * rows().map(Row::norm1).fold(0.0, f64::max),
            loss: 2.0 * most as f64 * self.loss.largest(),
        })
    }

    fn work(&self, x: &GraphRef<'a>) -> f64 {
        let edges = x.edges().len();
        let stored: usize = (0..edges).map(|edge| x.features(edge).stored()).sum();
        (2 * stored + 8 * edges) as f64
    }

    fn decode(
        &self,
        w: &[f64],
        x: &GraphRef<'a>,
        against: Option<&Vec<(usize, usize)>>,
        assignment: &mut Assignment,
    ) -> Result<Decoded<Vec<(usize, usize)>>> {
        let scored = |(edge, &(row, column)): (usize, &(u32, u32))| {
            let cost = against.map_or(0.0, |_| self.loss.of_edge(*x, edge));
            (row as usize, column as usize, cost + score(x.features(edge), w))
        };
        assignment.solve(x.rows(), x.columns(), x.edges().iter().enumerate().map(scored));
        Ok(Decoded { output: assignment.pairs().collect(), bound: Bound::Exact })
    }
}
