//! Matching blocks: the dual point of a graph is its edge marginals.
//!
//! μ_e is the weight of the matchings that contain the edge e. Marginals whose rows and columns add up to at most one,
//! doubly substochastic ones, are exactly the convex hull of all partial matchings (Birkhoff), so a point is proved
//! feasible by its row and column sums. With the scores s_e = a[e ∉ P_i] − b[e ∈ y_i] + ⟨w, f_e⟩ of the loss-augmented
//! search and d = μ − y* on the edges,
//!
//! ```text
//! X_i μ = Σ_e ([e ∈ y_i] − μ_e) f_e,    X_i (y* − μ) = Σ_e d_e f_e,    gap_i = −⟨d, s⟩
//! ```

use super::keys::{FREE, ends_of, is_edge, key_of, write_assigned, write_keys};
use super::{LinkLoss, MatchingScratch};
use crate::data::{GraphRef, Matchings};
use crate::dual::witness::{DEFECT, Witnessed};
use crate::dual::{ActiveSet, Audit, Blocks, Found, Mixture, NoIntercept};
use crate::linalg::kernels::score;
use crate::linalg::memory::check_weights;
use crate::linalg::underflow::{product_above, root_above};
use crate::linalg::{Accumulate, Measured, Row, Sum, UNDERFLOW, gamma};
use crate::{Error, Result};
use rayon::prelude::*;

/// A change this small in a marginal is nothing but rounding. Steps ignore it; certificates, which rebuild everything from
/// the marginals themselves, do not.
const NEGLIGIBLE: f64 = 1e-13;

/// What rounding may leave of a row or a column that stays free in no matching of a mixture: a stored point says nothing
/// of what stays free, and less than this counts as nothing.
const REST: f64 = 1e-12;

/// The properties of a graph that are computed before training.
#[derive(Debug)]
pub(super) struct Shape {
    /// The edges of the truth.
    truth: Box<[u32]>,
    /// At least `Σ_{e ∈ y} ‖f_e‖₁` for every matching y.
    norm1: f64,
    /// The same for `‖f_e‖₂`.
    norm2: f64,
    /// The most features of an edge.
    stored: usize,
    /// All features of all edges.
    pub features: usize,
}

impl Shape {
    fn of(graph: GraphRef<'_>) -> Self {
        let edges = 0..graph.edges().len();
        let rows = || edges.clone().map(|edge| graph.features(edge));
        Self {
            truth: edges.clone().filter(|&e| graph.is_true(e)).map(|e| e as u32).collect(),
            norm1: most(graph, Row::norm1),
            norm2: most(graph, norm2),
            stored: rows().map(Row::stored).max().unwrap_or(0),
            features: rows().map(Row::stored).sum(),
        }
    }
}

fn norm2(row: Row<'_>) -> f64 {
    root_above(row.squared_norm(), row.stored())
}

/// Returns at least the sum of a size over the edges of any matching: a row has at most one edge in it, and so has a
/// column. The factor covers the rounding of the sums.
fn most<'g>(graph: GraphRef<'g>, size: impl Fn(Row<'g>) -> f64) -> f64 {
    let (mut rows, mut columns) = (vec![0.0_f64; graph.rows()], vec![0.0_f64; graph.columns()]);
    for (edge, &(row, column)) in graph.edges().iter().enumerate() {
        let size = size(graph.features(edge));
        for largest in [&mut rows[row as usize], &mut columns[column as usize]] {
            *largest = largest.max(size);
        }
    }
    rows.iter().sum::<f64>().min(columns.iter().sum()) * (1.0 + 1e-9)
}

/// The structural SVM of matchings over borrowed graphs.
///
/// ```
/// use dualgap::data::{Graph, Mark, Matchings};
/// use dualgap::dual::Blocks;
/// use dualgap::linalg::Rows;
/// use dualgap::structure::{LinkLoss, MatchingBlocks};
/// let features = Rows::dense(&[vec![1.0, 0.0], vec![0.5, 0.1]])?;
/// let data = Matchings::new(features, &[Graph::full(1, 2)], vec![Mark::Sure, Mark::None])?;
/// let blocks = MatchingBlocks::new(&data, LinkLoss::default())?;
/// assert_eq!((blocks.len(), blocks.dim()), (1, 2));
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Debug)]
pub struct MatchingBlocks<'a> {
    data: &'a Matchings,
    loss: LinkLoss,
    pub(super) shapes: Vec<Shape>,
    /// The work of an oracle call, if it was set.
    pub(super) oracle_work: Option<f64>,
}

impl<'a> MatchingBlocks<'a> {
    /// Returns an error for data without marks, and for costs that are none.
    pub fn new(data: &'a Matchings, loss: LinkLoss) -> Result<Self> {
        loss.check()?;
        if !data.is_labelled() {
            return Err(Error::setting("the edges have no marks to learn from"));
        }
        check_weights(Some(data.features().width()))?;
        let shape = |i: usize| Shape::of(data.graph(i));
        let shapes = (0..data.len()).into_par_iter().map(shape).collect();
        Ok(Self { data, loss, shapes, oracle_work: None })
    }

    /// Counts every call of the oracle as this much work, in multiplications: a millisecond has about a million. For
    /// comparisons of solvers; otherwise the work of an assignment follows from its size.
    #[must_use]
    pub fn with_oracle_work(self, work: f64) -> Self {
        Self { oracle_work: Some(work), ..self }
    }

    pub(super) fn graph(&self, i: usize) -> GraphRef<'a> {
        self.data.graph(i)
    }

    /// Returns the score of an edge with its loss.
    #[inline]
    pub(super) fn score(&self, graph: GraphRef<'_>, w: &[f64], edge: usize) -> f64 {
        self.loss.of_edge(graph, edge) + score(graph.features(edge), w)
    }

    /// Scores all edges.
    pub(super) fn score_all(&self, graph: GraphRef<'_>, w: &[f64], scratch: &mut MatchingScratch) {
        scratch.known = false;
        scratch.scores.clear();
        scratch.scores.extend((0..graph.edges().len()).map(|edge| self.score(graph, w, edge)));
    }

    /// Computes the rise of the dual term along the prepared difference.
    pub(super) fn rise(&self, graph: GraphRef<'_>, scratch: &mut MatchingScratch) -> f64 {
        let term = |&(edge, d): &(u32, f64)| d * self.loss.of_edge(graph, edge as usize);
        scratch.rise = -scratch.d.iter().map(term).sum::<f64>();
        scratch.rise
    }
}

/// Finds the best matching for the scores in the scratch.
fn assign(graph: GraphRef<'_>, corner: &mut Vec<u64>, scratch: &mut MatchingScratch) {
    let MatchingScratch { assignment, scores, .. } = scratch;
    let edges = graph.edges().iter().zip(scores.iter());
    let size = (graph.rows(), graph.columns());
    assignment.solve(size.0, size.1, edges.map(|(&(r, c), &s)| (r as usize, c as usize, s)));
    write_assigned(size, assignment, corner);
}

impl Blocks for MatchingBlocks<'_> {
    const LANES: bool = true;

    type Visits = ActiveSet;
    type Intercept = NoIntercept;
    /// The keys of a matching: one for every row, and one for every column that stays free.
    type Corner = Vec<u64>;
    type Point = Mixture;
    type Scratch = MatchingScratch;

    fn len(&self) -> usize {
        self.data.len()
    }

    fn dim(&self) -> usize {
        self.data.features().width()
    }

    fn numbers(&self) -> usize {
        let size = |i: usize| self.graph(i).rows() + self.graph(i).columns();
        (0..self.len()).map(size).sum()
    }

    fn importance(&self, i: usize) -> f64 {
        self.shapes[i].norm2
    }

    fn scratch(&self) -> MatchingScratch {
        MatchingScratch::default()
    }

    fn start(&self, i: usize) -> Mixture {
        let graph = self.graph(i);
        let (mut column_of, mut row_of) = (vec![None; graph.rows()], vec![None; graph.columns()]);
        for (row, column) in graph.truth() {
            (column_of[row], row_of[column]) = (Some(column), Some(row));
        }
        let mut keys = Vec::new();
        write_keys((graph.rows(), graph.columns()), |r| column_of[r], |c| row_of[c], &mut keys);
        Mixture::corner(&keys)
    }

    /// The bound comes from the potentials of the assignment, whatever matching was found. It covers all rounding but that
    /// of the edges' scores and of the truth's, which [`rounding`](Blocks::rounding) has.
    fn best_corner(
        &self,
        i: usize,
        w: &[f64],
        corner: &mut Vec<u64>,
        scratch: &mut MatchingScratch,
    ) -> Result<Found> {
        let graph = self.graph(i);
        self.score_all(graph, w, scratch);
        assign(graph, corner, scratch);
        let MatchingScratch { assignment, scores, .. } = scratch;
        let edge_of = |(row, column)| graph.edge(row, column);
        let found: f64 = assignment.pairs().filter_map(edge_of).map(|edge| scores[edge]).sum();
        let right: f64 = self.shapes[i].truth.iter().map(|&edge| scores[edge as usize]).sum();
        let most = assignment.bound();
        let slack = gamma(4) * (most + right.abs());
        let bound = most - right + slack;
        Ok(Found { bound, ..Found::exact(found - right) })
    }

    /// Losses times the divisor have the same best matching.
    fn corner_at_quotient(
        &self,
        i: usize,
        w: &[f64],
        divisor: f64,
        corner: &mut Vec<u64>,
        scratch: &mut MatchingScratch,
    ) -> Result<bool> {
        let graph = self.graph(i);
        scratch.known = false;
        scratch.scores.clear();
        let scaled =
            |edge| divisor * self.loss.of_edge(graph, edge) + score(graph.features(edge), w);
        scratch.scores.extend((0..graph.edges().len()).map(scaled));
        assign(graph, corner, scratch);
        Ok(true)
    }

    fn rescore(&self, i: usize, w: &[f64], scratch: &mut MatchingScratch) {
        let graph = self.graph(i);
        for &(edge, _) in &scratch.d {
            scratch.scores[edge as usize] = self.score(graph, w, edge as usize);
        }
    }

    fn difference(
        &self,
        i: usize,
        at: &Mixture,
        to: &Vec<u64>,
        scratch: &mut MatchingScratch,
    ) -> f64 {
        let graph = self.graph(i);
        scratch.subtract(graph, at.iter(), to.iter().copied(), NEGLIGIBLE);
        self.rise(graph, scratch)
    }

    fn slope(&self, _: usize, _: &[f64], scratch: &mut MatchingScratch) -> f64 {
        // The scores include the losses, which are no part of ⟨w, ·⟩.
        let term = |&(edge, d): &(u32, f64)| d * scratch.scores[edge as usize];
        scratch.d.iter().map(term).sum::<f64>() + scratch.rise
    }

    fn curvature(&self, i: usize, scratch: &mut MatchingScratch) -> f64 {
        scratch.squared_norm(self.graph(i), self.dim())
    }

    fn displace(
        &self,
        i: usize,
        factor: f64,
        out: &mut impl Accumulate,
        scratch: &mut MatchingScratch,
    ) {
        let graph = self.graph(i);
        for &(edge, d) in &scratch.d {
            let factor = factor * d;
            graph.features(edge as usize).for_each(|f, x| out.add(f, factor * x));
        }
    }

    fn mix(&self, _: usize, gamma: f64, at: &mut Mixture, to: &Vec<u64>) {
        at.step(gamma, to);
    }

    fn blend(&self, _: usize, share: f64, into: &mut Mixture, from: &Mixture) {
        into.blend(share, from);
    }

    fn add(
        &self,
        i: usize,
        at: &Mixture,
        factor: f64,
        out: &mut impl Accumulate,
        scratch: &mut MatchingScratch,
    ) {
        let graph = self.graph(i);
        let key = |(row, column): (usize, usize)| key_of(row as u32, column as u32);
        scratch.subtract(graph, at.iter(), graph.truth().map(key), 0.0);
        self.displace(i, -factor, out, scratch);
    }

    /// If no row and no column adds up to more than 1 + δ, the marginals divided by 1 + δ are feasible, and differ from
    /// those stored by at most δ of each. What stays free is no part of the proof.
    fn audit(&self, i: usize, at: &Mixture, _: &mut MatchingScratch) -> Result<Audit> {
        let graph = self.graph(i);
        let refuse = |message: String| Err(Error::Witness { example: i, message });
        let (mut rows, mut columns) = (vec![0.0; graph.rows()], vec![0.0; graph.columns()]);
        let mut dual = Sum::default();
        let truths = self.shapes[i].truth.len() as f64;
        dual.add_measured(Measured::rounded(truths * self.loss.false_negative, 1));
        // `Σ_e |d_e| ‖f_e‖`, `Σ_e μ_e ‖f_e‖` and `Σ_e μ_e`, and what is multiplied after a product may underflow.
        let (mut length, mut moved, mut mass, mut span) = (0.0, 0.0, 0.0, 0.0);
        for (key, weight) in at.iter() {
            let (row, column) = ends_of(key);
            let (row, column) = (row as usize, column as usize);
            if !(weight >= 0.0 && weight.is_finite()) {
                return refuse(format!("it has a weight of {weight}"));
            }
            if !is_edge(key) {
                if row < graph.rows() || column < graph.columns() {
                    continue;
                }
                return refuse("it has a row or a column that there is not".into());
            }
            let Some(edge) = graph.edge(row, column) else {
                return refuse(format!("there is no edge from row {row} to column {column}"));
            };
            rows[row] += weight;
            columns[column] += weight;
            let cost = self.loss.of_edge(graph, edge);
            if cost != 0.0 {
                dual.add_measured(Measured::rounded(weight * cost, 1));
            }
            let features = graph.features(edge);
            let norm = norm2(features);
            moved += product_above(weight, norm);
            mass += weight;
            span += norm + features.stored() as f64;
        }
        for &edge in &self.shapes[i].truth {
            let features = graph.features(edge as usize);
            length += norm2(features);
            span += norm2(features) + features.stored() as f64;
        }
        let sums = rows.iter().chain(&columns).copied().fold(0.0, f64::max);
        let defect = (sums * (1.0 + gamma(graph.rows() + graph.columns() + 4)) - 1.0).max(0.0);
        if defect > DEFECT {
            return refuse(format!("a row or a column has weights that add up to {sums}, above 1"));
        }
        let mut dual = dual.total();
        dual.error += product_above(defect, product_above(mass, self.loss.largest())) * 1.000_001;
        length += moved;
        // Roundings of d, of mass/λ, and of their products with each other and with a feature.
        let reach = product_above(defect, moved) + product_above(gamma(8), length);
        Ok(Audit { dual, reach: reach * 1.000_001, span: 2.0 * (length + span) })
    }

    fn rounding(&self, i: usize, _: &[f64], largest_weight: f64) -> f64 {
        let Shape { norm1, stored, .. } = self.shapes[i];
        let graph = self.graph(i);
        let most = graph.rows().min(graph.columns());
        let magnitude = product_above(norm1, largest_weight) + most as f64 * self.loss.largest();
        let vanished = (most * (stored + 1)) as f64 * UNDERFLOW;
        let off = product_above(gamma(stored + most + 8), magnitude) + vanished;
        // The loss compares two matchings.
        2.0 * off * (1.0 + 1e-9)
    }
}

impl Witnessed for MatchingBlocks<'_> {
    /// What stays free follows from the edges.
    fn entries(&self, at: &Mixture, _: &mut Vec<u8>) -> Vec<(u64, f64)> {
        at.iter().filter(|&(key, _)| is_edge(key)).collect()
    }

    fn point(&self, i: usize, entries: Vec<(u64, f64)>, _: &[u8]) -> Result<Mixture> {
        let refuse = |message: &str| Error::Witness { example: i, message: message.into() };
        let graph = self.graph(i);
        let (mut rows, mut columns) = (vec![1.0; graph.rows()], vec![1.0; graph.columns()]);
        for &(key, weight) in &entries {
            let (row, column) = ends_of(key);
            let left = [rows.get_mut(row as usize), columns.get_mut(column as usize)];
            let [Some(row), Some(column)] = left else {
                return Err(refuse("it has an edge between rows and columns that there are not"));
            };
            *row -= weight;
            *column -= weight;
        }
        let free = |left: &[f64], key: fn(u32) -> u64| -> Vec<(u64, f64)> {
            let left = left.iter().enumerate().filter(|&(_, &left)| left > REST);
            left.map(|(k, &left)| (key(k as u32), left)).collect()
        };
        let mut all = entries;
        if !all.is_sorted_by(|a, b| a.0 < b.0) {
            return Err(refuse("its edges do not ascend"));
        }
        all.extend(free(&rows, |row| key_of(row, FREE)));
        all.extend(free(&columns, |column| key_of(FREE, column)));
        all.sort_unstable_by_key(|&(key, _)| key);
        Mixture::from_entries(all).ok_or_else(|| refuse("its edges do not ascend"))
    }
}
