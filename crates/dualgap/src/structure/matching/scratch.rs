//! The buffers of a matching's block: scores, and the prepared difference of two points.

use super::keys::{ends_of, is_edge};
use crate::data::GraphRef;
use crate::linalg::Assignment;

/// The buffers of a matching's block.
#[derive(Debug, Default)]
pub struct MatchingScratch {
    pub(super) assignment: Assignment,
    /// The score of each edge with its loss; only those that the last search needed are up to date.
    pub(super) scores: Vec<f64>,
    /// The entries of `at − to` that are not zero, by edge.
    pub(super) d: Vec<(u32, f64)>,
    /// −⟨d, losses⟩, the rise of the dual term.
    pub(super) rise: f64,
    /// The edges with weight in the point, if [`known`](Self::known) is set.
    pub(super) support: Vec<u32>,
    /// Whether steps need no other scores than those of the support.
    pub(super) known: bool,
    /// Whether a row or a column can be left free.
    pub(super) free_rows: Vec<bool>,
    pub(super) free_columns: Vec<bool>,
    /// All zero between calls: the vector in which a difference is summed up, and the places that are not zero.
    pub(super) image: Vec<f64>,
    pub(super) touched: Vec<u32>,
}

impl MatchingScratch {
    /// Prepares `from − to` for two lists of keys and weights, both in ascending order, and leaves out what is negligible.
    pub(super) fn subtract(
        &mut self,
        graph: GraphRef<'_>,
        from: impl Iterator<Item = (u64, f64)>,
        to: impl Iterator<Item = u64>,
        negligible: f64,
    ) {
        self.d.clear();
        let mut push = |key: u64, d: f64| {
            let (row, column) = ends_of(key);
            if let Some(edge) = graph.edge(row as usize, column as usize)
                && d.abs() > negligible
            {
                self.d.push((edge as u32, d));
            }
        };
        let mut to = to.filter(|&key| is_edge(key)).peekable();
        for (key, weight) in from.filter(|&(key, _)| is_edge(key)) {
            while let Some(before) = to.next_if(|&other| other < key) {
                push(before, -1.0);
            }
            let both = to.next_if_eq(&key).is_some();
            push(key, if both { weight - 1.0 } else { weight });
        }
        to.for_each(|key| push(key, -1.0));
    }

    /// Returns `‖Σ_e d_e f_e‖²` of the prepared difference.
    pub(super) fn squared_norm(&mut self, graph: GraphRef<'_>, dim: usize) -> f64 {
        let Self { d, image, touched, .. } = self;
        image.resize(dim, 0.0);
        for &(edge, d) in d.iter() {
            graph.features(edge as usize).for_each(|f, x| {
                if image[f] == 0.0 {
                    touched.push(f as u32);
                }
                image[f] += d * x;
            });
        }
        // A place may have been touched twice, if it was zero in between: the second time nothing is left of it.
        let square = |f: u32| std::mem::take(&mut image[f as usize]).powi(2);
        touched.drain(..).map(square).sum()
    }
}
