//! Chain blocks: the dual point of a sequence is its edge marginals.
//!
//! For each position t the point stores μ_t(y, y'), the weight of the labelings with y at t and y' at t + 1; at the
//! last position y' is an end mark. Label marginals are its sums, μ_t(y) = Σ_{y'} μ_t(y, y'), and marginals that agree
//! from edge to edge are exactly the convex hull of all labelings, so the point can be proved feasible. (Transitions
//! summed over positions could not: they can look right and claim a dual value above the optimum.)
//!
//! With d_t(y) = μ_t(y) − [y = y*_t], likewise for the edges, and a_t(y) the node scores that Viterbi's
//! algorithm has computed anyway,
//!
//! ```text
//! X_i (e_{y*} − μ) = Σ_t x_t ⊗ d_t  and  start d_1,  end d_T,  transitions Σ_t d_t(·,·)
//! gap_i = −Σ_t ⟨d_t, a_t⟩ − ⟨w_transitions, Σ_t d_t(·,·)⟩
//! ```
//!
//! If pairs of labels have features of their own, e_t for the pair at t − 1 and t, there is also Σ_t e_{t+1} ⊗
//! d_t(·,·), and differences of edges are then stored position by position.

use super::beam::Beam;
use super::edges::{END, edge_of, keys_of};
use super::geometry::Geometry;
use super::legal::Legal;
pub use super::scratch::ChainScratch;
use crate::data::{Scheme, Sequence, Sequences};
use crate::dual::witness::{DEFECT, Witnessed};
use crate::dual::{ActiveSet, Audit, Blocks, Found, Mixture, NoIntercept, Workload};
use crate::linalg::kernels::dot;
use crate::linalg::memory::check_weights;
use crate::linalg::underflow::{product_above, vanished};
use crate::linalg::{Accumulate, Measured, Row, Sum, gamma};
use crate::structure::Hamming;
use crate::structure::chain::{ChainLayout, Label, Viterbi};
use crate::structure::multiclass::KERNEL_WORK;
use crate::term::Gram;
use crate::{Error, Result};
use rayon::prelude::*;
use std::sync::Arc;

/// A change this small in a position's marginals is nothing but rounding. Steps ignore it; certificates, which rebuild
/// everything from the marginals themselves, do not.
const NEGLIGIBLE: f64 = 1e-13;

/// The properties of a sequence that are computed before training.
#[derive(Debug)]
pub(super) struct Shape {
    pub geometry: Geometry,
    /// `Σ_t ‖x_t‖₁ + ‖e_t‖₁`.
    norm1: f64,
    /// `Σ_t length(t)`.
    norm2: f64,
    /// The most features of a position and its pair.
    stored: usize,
    /// All features of all positions and pairs.
    pub features: usize,
}

/// Returns `‖x_t‖₂ + ‖e_{t+1}‖₂ + 3`, a bound on the norm of the vector that a position and its pair with the next can
/// make; a position also has a transition, and perhaps start and end. Under a kernel, ‖x_t‖₂ is √k(x_t, x_t).
fn length(x: Sequence<'_>, t: usize, roots: Option<&[f64]>) -> f64 {
    let pair = if t + 1 < x.len() { x.edge(t + 1).squared_norm().sqrt() } else { 0.0 };
    let own = match (roots, x.row(t).iter().next()) {
        (Some(roots), Some((position, _))) => roots[position],
        _ => x.row(t).squared_norm().sqrt(),
    };
    own + pair + 3.0
}

/// Returns the layout of the weights for these data.
pub(super) fn layout(data: &Sequences) -> Result<ChainLayout> {
    let labels = data.alphabet().len();
    if labels < 2 {
        return Err(Error::setting(format!(
            "there must be at least two labels to tell apart, and the data have {labels}"
        )));
    }
    let width = data.rows().width();
    let pairs = data.edge_features();
    let per_label = pairs.checked_mul(labels).and_then(|f| f.checked_add(width + labels + 2));
    check_weights(per_label.and_then(|f| f.checked_mul(labels)))?;
    Ok(ChainLayout::new(width, labels)?.with_pairs(pairs))
}

/// The structural SVM of first-order chains over borrowed sequences.
///
/// ```
/// use dualgap::data::Sequences;
/// use dualgap::dual::Blocks;
/// use dualgap::structure::{ChainBlocks, Hamming};
/// let names = ["noun", "verb"].map(String::from);
/// let words = vec![vec![1.0, 0.0], vec![0.0, 1.0]];
/// let data = Sequences::from_dense(&[words], &[vec![0, 1]], &names)?;
/// let blocks = ChainBlocks::new(&data, Hamming::Plain)?;
/// assert_eq!(blocks.dim(), 2 * 2 + 2 + 2 + 4); // emissions, start, end, transitions
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Debug)]
pub struct ChainBlocks<'a> {
    pub(super) data: &'a Sequences,
    pub(super) layout: ChainLayout,
    hamming: Hamming,
    pub(super) shapes: Vec<Shape>,
    /// The work of an oracle call, if it was set.
    pub(super) oracle_work: Option<f64>,
    /// The search for labelings, if it is not Viterbi's algorithm.
    pub(super) beam: Option<Beam>,
    /// The labelings that there are, if some are forbidden.
    legal: Option<Arc<Legal>>,
    /// √k(x, x) of every position, if the inputs are one-hot, under a kernel.
    roots: Option<Vec<f64>>,
    /// The work of a step besides that on the sequence itself.
    pub(super) spread: f64,
}

impl<'a> ChainBlocks<'a> {
    /// Returns an error for fewer than two labels, which leave nothing to learn.
    pub fn new(data: &'a Sequences, hamming: Hamming) -> Result<Self> {
        let layout = layout(data)?;
        let shape = |i: usize| {
            let x = data.sequence(i);
            let rows = || (0..x.len()).map(|t| x.row(t));
            let pairs = || (1..x.len()).map(|t| x.edge(t));
            let most = |stored: Option<usize>| stored.unwrap_or(0);
            Shape {
                geometry: Geometry::of(x),
                norm1: rows().chain(pairs()).map(Row::norm1).sum(),
                norm2: (0..x.len()).map(|t| length(x, t, None)).sum(),
                features: rows().chain(pairs()).map(Row::stored).sum(),
                stored: most(rows().map(Row::stored).max()) + most(pairs().map(Row::stored).max()),
            }
        };
        Ok(Self {
            data,
            layout,
            hamming,
            shapes: (0..data.len()).into_par_iter().map(shape).collect(),
            oracle_work: None,
            beam: None,
            legal: None,
            roots: None,
            spread: 0.0,
        })
    }

    /// Returns the blocks of one-hot inputs under a kernel: the inner products of its positions are the kernel's values,
    /// and a step on one sequence changes the scores of all.
    #[must_use]
    pub fn under_kernel(mut self, gram: &Gram<'_>) -> Self {
        // The factor covers the rounding of the value and of its root.
        let roots: Vec<f64> = gram.diagonal().iter().map(|k| k.sqrt() * 1.000_000_1).collect();
        let data = self.data;
        self.shapes.par_iter_mut().enumerate().for_each(|(i, shape)| {
            let x = data.sequence(i);
            let first = data.starts()[i];
            shape.geometry = Geometry::under_kernel(first, x.len(), gram);
            shape.norm2 = (0..x.len()).map(|t| length(x, t, Some(&roots))).sum();
        });
        // A step changes positions of its sequence, each with two labels or more.
        let positions = gram.len() as f64 / self.shapes.len().max(1) as f64;
        self.spread = KERNEL_WORK * gram.len() as f64 * positions;
        self.roots = Some(roots);
        self
    }

    /// Searches for labelings by a beam. The blocks are the same; the certificate rests on the bounds of the beam, and
    /// without them there is none.
    pub fn with_beam(self, beam: Beam) -> Result<Self> {
        Ok(Self { beam: Some(beam.check()?), ..self })
    }

    /// Leaves out the labelings that a scheme forbids: those of the training data must be legal.
    ///
    /// ```
    /// use dualgap::data::{Scheme, Sequences};
    /// use dualgap::structure::{ChainBlocks, Hamming};
    /// let names = ["B-X", "I-X", "O"].map(String::from);
    /// let data = |labels: [u16; 2]| Sequences::from_dense(&[vec![vec![1.0]; 2]], &[labels.to_vec()], &names);
    /// let legal = data([0, 1])?;
    /// assert!(ChainBlocks::new(&legal, Hamming::Plain)?.forbidding(Scheme::Bio).is_ok());
    /// let illegal = data([2, 1])?; // I-X after O
    /// assert!(ChainBlocks::new(&illegal, Hamming::Plain)?.forbidding(Scheme::Bio).is_err());
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn forbidding(self, scheme: Scheme) -> Result<Self> {
        if let Some((message, _)) = super::legal::complaint(scheme, self.data) {
            return Err(Error::setting(message));
        }
        let legal = Some(Arc::new(Legal::new(scheme, self.data.alphabet())));
        Ok(Self { legal, ..self })
    }

    /// Counts every call of the oracle as this much work, in multiplications: a millisecond has about a million. For
    /// comparisons of solvers; otherwise the work of Viterbi's algorithm follows from its size.
    #[must_use]
    pub fn with_oracle_work(self, work: f64) -> Self {
        Self { oracle_work: Some(work), ..self }
    }

    /// Returns the layout of the weights.
    pub fn layout(&self) -> ChainLayout {
        self.layout
    }

    pub(super) fn sequence(&self, i: usize) -> Sequence<'a> {
        self.data.sequence(i)
    }

    fn cost(&self, i: usize) -> f64 {
        self.hamming.cost(self.data.truth(i).len())
    }

    /// Adds `factor · Σ_t e_{t+1} ⊗ d_t(·,·)` of the prepared difference.
    fn displace_pairs(
        &self,
        i: usize,
        factor: f64,
        out: &mut impl Accumulate,
        scratch: &ChainScratch,
    ) {
        let (x, labels) = (self.sequence(i), self.layout.labels);
        let first = self.layout.pairs().start;
        scratch.for_each_pair(labels, |t, edge, d| {
            x.edge(t + 1).for_each(|f, value| {
                out.add(first + f * labels * labels + edge, factor * value * d);
            });
        });
    }

    /// Returns the true labels, and the cost of each other label.
    pub(super) fn loss(&self, i: usize) -> (&'a [Label], f64) {
        (self.data.truth(i), self.cost(i))
    }
}

impl Blocks for ChainBlocks<'_> {
    const LANES: bool = true;

    type Visits = ActiveSet;
    type Intercept = NoIntercept;
    type Corner = Vec<u64>;
    type Point = Mixture;
    type Scratch = ChainScratch;

    fn len(&self) -> usize {
        self.data.len()
    }

    fn dim(&self) -> usize {
        self.layout.dim()
    }

    /// Scores of features, and the best predecessors of labels.
    fn workload(&self) -> Workload {
        let (rows, labels) = (self.data.rows(), self.data.alphabet().len());
        let work = (rows.stored() + rows.len() * labels) as f64 * labels as f64;
        let pass = (self.spread == 0.0 && self.oracle_work.is_none()).then_some(work);
        Workload { pass, ..Workload::default() }
    }

    fn importance(&self, i: usize) -> f64 {
        self.shapes[i].norm2
    }

    fn scratch(&self) -> ChainScratch {
        ChainScratch::new(self.layout.labels, Viterbi::among(self.legal.clone()))
    }

    fn start(&self, i: usize) -> Mixture {
        Mixture::corner(&keys_of(self.data.truth(i)).collect::<Vec<_>>())
    }

    fn best_corner(
        &self,
        i: usize,
        w: &[f64],
        corner: &mut Vec<u64>,
        scratch: &mut ChainScratch,
    ) -> Result<Found> {
        Ok(self.search(i, w, self.cost(i), corner, scratch))
    }

    /// Losses times the divisor have the same best labeling.
    fn corner_at_quotient(
        &self,
        i: usize,
        w: &[f64],
        divisor: f64,
        corner: &mut Vec<u64>,
        scratch: &mut ChainScratch,
    ) -> Result<bool> {
        self.search(i, w, divisor * self.cost(i), corner, scratch);
        Ok(true)
    }

    fn rescore(&self, i: usize, w: &[f64], scratch: &mut ChainScratch) {
        let ChainScratch { viterbi, active, .. } = scratch;
        let (x, loss) = (self.sequence(i), Some(self.loss(i)));
        if self.layout.pairs > 0 {
            viterbi.score(self.layout, w, x, loss);
            return;
        }
        viterbi.score_transitions(self.layout, w);
        active.iter().for_each(|&t| viterbi.score_position(self.layout, w, x, loss, t));
    }

    fn difference(&self, i: usize, at: &Mixture, to: &Vec<u64>, scratch: &mut ChainScratch) -> f64 {
        let labels = self.layout.labels;
        let truth = self.data.truth(i);
        let pairs = self.layout.pairs > 0;
        scratch.subtract(labels, truth.len(), at, to.iter().copied(), NEGLIGIBLE, pairs);
        let wrong = |&t: &usize| {
            let d = &scratch.d[t * labels..(t + 1) * labels];
            d.iter().sum::<f64>() - d[truth[t] as usize]
        };
        scratch.rise = -self.cost(i) * scratch.active.iter().map(wrong).sum::<f64>();
        scratch.rise
    }

    fn slope(&self, _: usize, w: &[f64], scratch: &mut ChainScratch) -> f64 {
        let labels = self.layout.labels;
        let nodes = |&t: &usize| {
            let range = t * labels..(t + 1) * labels;
            dot(&scratch.d[range.clone()], &scratch.viterbi.nodes[range])
        };
        // The node scores include the losses, which are no part of ⟨w, ·⟩.
        let nodes = scratch.active.iter().map(nodes).sum::<f64>() + scratch.rise;
        if self.layout.pairs > 0 {
            let mut edges = 0.0;
            scratch.for_each_pair(labels, |t, edge, d| {
                edges += d * scratch.viterbi.transitions(self.layout, w, t + 1)[edge];
            });
            return nodes + edges;
        }
        let transitions = &w[self.layout.transitions()];
        nodes + scratch.edges.iter().map(|&(edge, d)| d * transitions[edge]).sum::<f64>()
    }

    fn curvature(&self, i: usize, scratch: &mut ChainScratch) -> f64 {
        let labels = self.layout.labels;
        let mut pairs = 0.0;
        if self.layout.pairs > 0 {
            let mut image = std::mem::take(&mut scratch.image);
            image.clear();
            self.displace_pairs(i, 1.0, &mut image, scratch);
            image.settle();
            pairs = image.entries().iter().map(|&(_, x)| x * x).sum();
            scratch.image = image;
        }
        let ChainScratch { d, active, edges, row, .. } = scratch;
        let last = d.len().saturating_sub(labels);
        let (first, last) = (&d[..labels.min(d.len())], &d[last..]);
        self.shapes[i].geometry.squared_norm(labels, d, active, row)
            + dot(first, first)
            + dot(last, last)
            + edges.iter().map(|&(_, d)| d * d).sum::<f64>()
            + pairs
    }

    fn displace(
        &self,
        i: usize,
        factor: f64,
        out: &mut impl Accumulate,
        scratch: &mut ChainScratch,
    ) {
        let labels = self.layout.labels;
        let x = self.sequence(i);
        for &(t, from, to) in &scratch.swaps {
            x.row(t).for_each(|f, x| {
                out.add(f * labels + from as usize, factor * x);
                out.add(f * labels + to as usize, -factor * x);
            });
        }
        for &t in &scratch.active {
            let d = &scratch.d[t * labels..(t + 1) * labels];
            if scratch.swaps.is_empty() {
                out.add_outer(x.row(t), d, factor);
            }
            if t == 0 {
                out.add_run(self.layout.start().start, d, factor);
            }
            if t + 1 == x.len() {
                out.add_run(self.layout.end().start, d, factor);
            }
        }
        let transitions = self.layout.transitions().start;
        for &(edge, d) in &scratch.edges {
            out.add(transitions + edge, factor * d);
        }
        self.displace_pairs(i, factor, out, scratch);
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
        scratch: &mut ChainScratch,
    ) {
        let truth = self.data.truth(i);
        let (labels, pairs) = (self.layout.labels, self.layout.pairs > 0);
        scratch.subtract(labels, truth.len(), at, keys_of(truth), 0.0, pairs);
        self.displace(i, -factor, out, scratch);
    }

    /// Marginals whose labels agree from edge to edge belong to a distribution over labelings. If they
    /// disagree at position t by δ_t (in the sum of absolute differences), the chain with the same
    /// first labels and the same conditional next labels is feasible and differs by at most
    /// Δ_t = δ_1 + … + δ_t there.
    fn audit(&self, i: usize, at: &Mixture, _: &mut ChainScratch) -> Result<Audit> {
        let labels = self.layout.labels;
        let (truth, cost) = self.loss(i);
        let length = truth.len();
        let refuse = |message: String| Err(Error::Witness { example: i, message });
        // The relative error of sums of up to K and T rounded numbers.
        let rounding = gamma(labels + length + 8);

        let mut entries = at.iter().peekable();
        let mut arriving = vec![0.0; labels]; // Σ_y μ_{t−1}(y, ·)
        let (mut next_arriving, mut leaving) = (vec![0.0; labels], vec![0.0; labels]);
        let mut dual = Sum::default();
        let (mut off, mut total_off, mut image_off) = (0.0, 0.0, 0.0);
        for (t, &right) in truth.iter().enumerate() {
            next_arriving.fill(0.0);
            leaving.fill(0.0);
            while let Some((key, weight)) = entries.next_if(|&(key, _)| edge_of(key).0 == t) {
                let (_, y, next) = edge_of(key);
                let last = t + 1 == length;
                if y as usize >= labels
                    || last != (next == END)
                    || (!last && next as usize >= labels)
                {
                    return refuse(format!("position {} has no edge {y} → {next}", t + 1));
                }
                let forbidden = self.legal.as_ref().is_some_and(|legal| {
                    (t == 0 && !legal.begins(y))
                        || if last { !legal.ends(y) } else { !legal.follows(y, next) }
                });
                if forbidden {
                    return refuse(format!("an edge at position {} is forbidden", t + 1));
                }
                if !(weight >= 0.0 && weight.is_finite()) {
                    return refuse(format!("an edge at position {} has weight {weight}", t + 1));
                }
                leaving[y as usize] += weight;
                if !last {
                    next_arriving[next as usize] += weight;
                }
                if y != right {
                    let term = weight * cost;
                    dual.add_measured(Measured::rounded(term, 2));
                }
            }
            let disagreement: f64 = if t == 0 {
                (leaving.iter().sum::<f64>() - 1.0).abs()
            } else {
                leaving.iter().zip(&arriving).map(|(out, into)| (out - into).abs()).sum()
            };
            if disagreement > DEFECT || disagreement.is_nan() {
                return refuse(if t == 0 {
                    format!("its first labels miss a weight of 1 by {disagreement:e}")
                } else {
                    format!(
                        "the label weights at position {} disagree by {disagreement:e} with the \
                         edges that lead there",
                        t + 1
                    )
                });
            }
            off += disagreement + 3.0 * rounding;
            total_off += off;
            image_off += off * self::length(self.sequence(i), t, self.roots.as_deref());
            std::mem::swap(&mut arriving, &mut next_arriving);
        }
        if let Some((key, _)) = entries.next() {
            return refuse(format!(
                "it has a position {} and the sequence ends at {length}",
                edge_of(key).0 + 1
            ));
        }
        if self.legal.is_some() {
            // That chain may be illegal. Along legal edges the marginals are paths, of which those from end to end have a
            // weight of at least 1 − Δ_T, and all others one of 2 Δ_T at most at every position. With the truth in the
            // place of what is missing, the labels of a position differ by less than 4 Δ_T.
            total_off = 4.0 * off * length as f64;
            image_off = 4.0 * off * self.shapes[i].norm2;
        }
        let mut dual = dual.total();
        dual.error += product_above(total_off, cost);
        // The entries of a position's d add up to two at most, each summed and scaled in the
        // roundings counted above.
        let reach = image_off + 2.0 * rounding * self.shapes[i].norm2;
        // Underflow of the factor, and of its products with an entry and then with each label, or pair of labels.
        let terms = (self.shapes[i].features + 3) as f64 * (labels * labels) as f64;
        let span = 4.0 * self.shapes[i].norm2 + 2.0 * terms;
        Ok(Audit { dual, reach: reach * (1.0 + 1e-9), span })
    }

    fn rounding(&self, i: usize, _: &[f64], largest_weight: f64) -> f64 {
        let Shape { norm1, stored, features, .. } = self.shapes[i];
        let length = self.data.truth(i).len();
        // The weights that a labeling uses: its features, start, end and transitions.
        let weights = product_above(norm1 + length as f64 + 2.0, largest_weight);
        let magnitude = weights + length as f64 * self.cost(i);
        // The loss compares two labelings, each a sum of such terms.
        let vanished = vanished(features);
        let off = product_above(gamma(stored + 3 * length + 8), magnitude) + vanished;
        2.0 * off * (1.0 + 1e-9)
    }

    /// The loss compares two labelings, each of which reads the weights of its features.
    fn rounding_near(&self, i: usize, w: &[f64], largest_weight: f64, off: f64) -> f64 {
        let length = self.data.truth(i).len() as f64;
        let read = 2.0 * product_above(self.shapes[i].norm1 + length + 2.0, off);
        self.rounding(i, w, largest_weight) + if off == 0.0 { 0.0 } else { read * (1.0 + 1e-9) }
    }
}

impl Witnessed for ChainBlocks<'_> {
    fn entries(&self, at: &Mixture, _: &mut Vec<u8>) -> Vec<(u64, f64)> {
        at.iter().collect()
    }

    fn point(&self, i: usize, entries: Vec<(u64, f64)>, _: &[u8]) -> Result<Mixture> {
        Mixture::from_entries(entries)
            .ok_or_else(|| Error::Witness { example: i, message: "its edges do not ascend".into() })
    }
}
