//! The active set of a matching's block: the edges that have weight in its marginals, and steps between matchings made of
//! them.
//!
//! A matching M can lose weight if all its edges have some, and if it leaves only rows and columns free that have weight
//! on staying free: `μ − εM` divided by 1 − ε is feasible for ε up to the least of these weights. The worst such matching
//! is an assignment among the edges with weight, in which covering a row or a column that is never free counts more than
//! all scores.

use super::blocks::MatchingBlocks;
use super::keys::{FREE, ends_of, write_assigned};
use super::scratch::MatchingScratch;
use crate::dual::{ActiveSetBlocks, Mixture};

/// The work of an edge in an assignment, in multiplications: an edge is looked at a few times, by rows that look for
/// another column.
const PER_EDGE: f64 = 8.0;

/// The work of a step for each edge with weight: two assignments, the difference, and its merging into the point.
const PER_KNOWN_EDGE: f64 = 40.0;

/// How often all rows and columns are scaled to sums of one: the first time leaves what the columns take from the rows,
/// which is already small beside what was wrong before.
const ROUNDS: usize = 2;

impl MatchingBlocks<'_> {
    /// Writes the edges that have weight, and which rows and columns can be left free.
    fn look_over(&self, i: usize, at: &Mixture, scratch: &mut MatchingScratch) {
        let graph = self.graph(i);
        let MatchingScratch { support, known, free_rows, free_columns, .. } = scratch;
        support.clear();
        free_rows.clear();
        free_rows.resize(graph.rows(), false);
        free_columns.clear();
        free_columns.resize(graph.columns(), false);
        *known = true;
        for (key, _) in at.iter().filter(|&(_, weight)| weight > 0.0) {
            match ends_of(key) {
                (FREE, column) => free_columns[column as usize] = true,
                (row, FREE) => free_rows[row as usize] = true,
                (row, column) => {
                    let edge = graph.edge(row as usize, column as usize);
                    support.extend(edge.map(|edge| edge as u32));
                }
            }
        }
    }
}

impl ActiveSetBlocks for MatchingBlocks<'_> {
    fn score_active_set(&self, i: usize, at: &Mixture, w: &[f64], scratch: &mut MatchingScratch) {
        let graph = self.graph(i);
        self.look_over(i, at, scratch);
        scratch.scores.resize(graph.edges().len().max(scratch.scores.len()), 0.0);
        for &edge in &scratch.support {
            scratch.scores[edge as usize] = self.score(graph, w, edge as usize);
        }
    }

    fn extremes(
        &self,
        i: usize,
        at: &Mixture,
        _: &[f64],
        worst: &mut Vec<u64>,
        best: &mut Vec<u64>,
        scratch: &mut MatchingScratch,
    ) {
        self.look_over(i, at, scratch);
        let graph = self.graph(i);
        let MatchingScratch { assignment, scores, support, free_rows, free_columns, .. } = scratch;
        let (rows, columns) = (graph.rows(), graph.columns());
        let known = || {
            support.iter().map(|&edge| {
                let (row, column) = graph.edges()[edge as usize];
                (row as usize, column as usize, scores[edge as usize])
            })
        };
        assignment.solve(rows, columns, known());
        write_assigned((rows, columns), assignment, best);
        // More than twice the scores of any two matchings.
        let largest = known().fold(0.0, |largest: f64, (_, _, score)| largest.max(score.abs()));
        let cover = 4.0 * (rows.min(columns) + 1) as f64 * largest.max(f64::MIN_POSITIVE);
        let covering = known().map(|(row, column, score)| {
            let tight = u8::from(!free_rows[row]) + u8::from(!free_columns[column]);
            (row, column, f64::from(tight) * cover - score)
        });
        assignment.solve(rows, columns, covering);
        write_assigned((rows, columns), assignment, worst);
    }

    fn weight(&self, _: usize, at: &Mixture, corner: &Vec<u64>) -> f64 {
        at.least(corner)
    }

    fn between(
        &self,
        i: usize,
        from: &Vec<u64>,
        to: &Vec<u64>,
        scratch: &mut MatchingScratch,
    ) -> f64 {
        let graph = self.graph(i);
        scratch.subtract(graph, from.iter().map(|&key| (key, 1.0)), to.iter().copied(), 0.0);
        self.rise(graph, scratch)
    }

    fn shift(&self, _: usize, amount: f64, at: &mut Mixture, from: &Vec<u64>, to: &Vec<u64>) {
        at.exchange(amount, from, to);
    }

    fn follow(&self, i: usize, w: &[f64], _: Option<f64>, scratch: &mut MatchingScratch) {
        let graph = self.graph(i);
        if !scratch.known {
            self.score_all(graph, w, scratch);
            return;
        }
        let MatchingScratch { scores, support, d, .. } = scratch;
        let moved = d.iter().map(|&(edge, _)| edge);
        for edge in support.iter().copied().chain(moved) {
            scores[edge as usize] = self.score(graph, w, edge as usize);
        }
    }

    /// Scales rows and columns, with what stays free, to sums of one. What belongs to no row, a column that stays free,
    /// is scaled by what rows are scaled by on average, so that an error in all weights alike is gone at once.
    fn tidy(&self, i: usize, at: &mut Mixture) {
        let graph = self.graph(i);
        let mut sums = vec![0.0; graph.rows().max(graph.columns())];
        for by_row in [true, false].into_iter().cycle().take(2 * ROUNDS) {
            let count = if by_row { graph.rows() } else { graph.columns() };
            let line_of = |key: u64| {
                let (row, column) = ends_of(key);
                if by_row { row } else { column }
            };
            sums.fill(0.0);
            for (key, weight) in at.iter().filter(|&(key, _)| line_of(key) != FREE) {
                sums[line_of(key) as usize] += weight;
            }
            let mean = if count == 0 { 1.0 } else { sums.iter().sum::<f64>() / count as f64 };
            at.rescale(|key, _| match line_of(key) {
                FREE => 1.0 / mean,
                line => 1.0 / sums[line as usize],
            });
        }
    }

    fn oracle_work(&self, i: usize) -> f64 {
        let edges = self.graph(i).edges().len() as f64;
        let features = self.shapes[i].features as f64;
        self.oracle_work.unwrap_or(features + PER_EDGE * edges)
    }

    fn cached_work(&self, i: usize, at: &Mixture) -> [f64; 2] {
        let per_edge = self.shapes[i].features as f64 / self.graph(i).edges().len().max(1) as f64;
        let known = at.len() as f64;
        [known * per_edge, known * (PER_KNOWN_EDGE + 3.0 * per_edge)]
    }
}
