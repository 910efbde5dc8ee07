//! Blocks made of any oracle: the dual point of an example is a mixture of the outputs that the oracle has found.
//!
//! These blocks work with the difference vectors ψ_i(y) of all corners, where a structure's own coordinates would be
//! faster. They need nothing from a user but an [`Oracle`], and they check the oracle's contract.

use crate::dual::witness::distribution;
use crate::dual::{ActiveSet, ActiveSetBlocks, Audit, Blocks, Found, NoIntercept, Witnessed};
use crate::linalg::accumulate::Collected;
use crate::linalg::underflow::{product_above, root_above, size_of_product};
use crate::linalg::{Accumulate, Measured, SparseVec, Sum, UNDERFLOW, gamma};
use crate::structure::own::OwnOracle;
use crate::structure::{Bound, Extent, Oracle};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A corner: an output, its loss, and its difference vector. Only the adapter makes planes, from the oracle's results, so
/// that a point cannot contain what no oracle has returned. Those of a checkpoint are believed until the run ends, and
/// its certificate is then computed with new ones.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plane<Y> {
    /// i.
    example: usize,
    output: Y,
    /// L_i(y).
    loss: f64,
    /// ψ_i(y) = φ(x_i, y_i) − φ(x_i, y).
    psi: SparseVec,
    /// A bound on the distance of `psi` from the exact difference, due to rounding.
    off: f64,
}

impl<Y> Plane<Y> {
    /// y.
    pub fn output(&self) -> &Y {
        &self.output
    }

    /// L_i(y).
    pub fn loss(&self) -> f64 {
        self.loss
    }
}

/// The dual point of a block: corners with their weights, and the mixture of their vectors.
#[derive(Debug, Serialize, Deserialize)]
#[serde(
    bound(serialize = "Y: Clone + Serialize", deserialize = "Y: Deserialize<'de>"),
    from = "Stored<Y>",
    into = "Stored<Y>"
)]
pub struct OraclePoint<Y> {
    /// Corners and weights; the weights add up to one.
    pub corners: Vec<(Arc<Plane<Y>>, f64)>,
    /// Corners that have lost their weight, and how many shifts ago: later steps may use them again.
    spare: Vec<(Arc<Plane<Y>>, u8)>,
    psi: SparseVec,
    loss: f64,
}

/// A point in a checkpoint. Corners that points share are stored more than once.
#[derive(Serialize, Deserialize)]
struct Stored<Y> {
    corners: Vec<(Plane<Y>, f64)>,
    spare: Vec<(Plane<Y>, u8)>,
    psi: SparseVec,
    loss: f64,
}

impl<Y> From<Stored<Y>> for OraclePoint<Y> {
    fn from(stored: Stored<Y>) -> Self {
        let Stored { corners, spare, psi, loss } = stored;
        let corners = corners.into_iter().map(|(plane, weight)| (Arc::new(plane), weight));
        let spare = spare.into_iter().map(|(plane, shifts)| (Arc::new(plane), shifts));
        Self { corners: corners.collect(), spare: spare.collect(), psi, loss }
    }
}

impl<Y: Clone> From<OraclePoint<Y>> for Stored<Y> {
    fn from(point: OraclePoint<Y>) -> Self {
        let OraclePoint { corners, spare, psi, loss } = point;
        let corners = corners.iter().map(|(plane, weight)| (Plane::clone(plane), *weight));
        let spare = spare.iter().map(|(plane, shifts)| (Plane::clone(plane), *shifts));
        Self { corners: corners.collect(), spare: spare.collect(), psi, loss }
    }
}

// Not derived: the corners are shared, so outputs need not be cloned.
impl<Y> Clone for OraclePoint<Y> {
    fn clone(&self) -> Self {
        let Self { corners, spare, psi, loss } = self;
        Self { corners: corners.clone(), spare: spare.clone(), psi: psi.clone(), loss: *loss }
    }
}

/// A corner without weight stays in the cache for this many shifts of its block. A larger number may save oracle calls,
/// a smaller one saves memory and the work of scoring.
const KEPT: u8 = 10;

/// What rounding may leave of a weight that was removed completely; such a weight counts as zero.
const REST: f64 = 1e-15;

impl<Y: Eq> OraclePoint<Y> {
    /// Adds to the weight of a corner, or takes from it if `amount` is negative.
    fn weigh(&mut self, plane: &Arc<Plane<Y>>, amount: f64) {
        let known = self.corners.iter().position(|(known, _)| known.output == plane.output);
        let Some(place) = known else {
            self.spare.retain(|(known, _)| known.output != plane.output);
            self.corners.push((Arc::clone(plane), amount));
            return;
        };
        let weight = &mut self.corners[place].1;
        *weight += amount;
        if *weight <= REST && amount < 0.0 {
            let (plane, _) = self.corners.remove(place);
            self.spare.push((plane, 0));
        }
    }

    /// Recomputes the mixture of the corners' vectors and losses.
    fn remix(&mut self) {
        let mut psi = SparseVec::default();
        for (plane, weight) in &self.corners {
            plane.psi.add_to(*weight, &mut psi);
        }
        psi.settle();
        self.psi = psi;
        self.loss = self.corners.iter().map(|(plane, weight)| weight * plane.loss).sum();
    }

    /// `self ← (1 − share) self + share · (corners, psi, loss)`.
    fn move_toward<'c>(
        &mut self,
        share: f64,
        corners: impl Iterator<Item = (&'c Arc<Plane<Y>>, f64)>,
        psi: &SparseVec,
        loss: f64,
    ) where
        Y: 'c,
    {
        let keep = 1.0 - share;
        if keep <= 0.0 {
            self.corners.clear();
        }
        self.corners.iter_mut().for_each(|(_, weight)| *weight *= keep);
        corners.for_each(|(plane, weight)| self.weigh(plane, share * weight));
        self.psi = SparseVec::combined(keep, &self.psi, share, psi);
        self.loss = keep * self.loss + share * loss;
    }
}

/// The adapter from an [`Oracle`] and its examples; see [`Oracle`] for one in use.
pub struct OracleBlocks<'a, O: Oracle> {
    oracle: &'a O,
    examples: &'a [(O::Input, O::Output)],
}

impl<'a, O: Oracle> OracleBlocks<'a, O> {
    /// Returns the blocks of inputs and true outputs, or an error if the loss of a truth is not zero.
    pub fn new(oracle: &'a O, examples: &'a [(O::Input, O::Output)]) -> Result<Self> {
        for (i, (x, truth)) in examples.iter().enumerate() {
            let loss = oracle.loss(x, truth, truth);
            if loss != 0.0 {
                return Err(Error::Oracle {
                    example: i,
                    message: format!("the loss of the truth is {loss}, not 0"),
                });
            }
        }
        Ok(Self { oracle, examples })
    }

    fn plane(&self, i: usize, output: O::Output) -> Result<Plane<O::Output>> {
        let (x, truth) = &self.examples[i];
        let loss = self.oracle.loss(x, truth, &output);
        if !(loss >= 0.0 && loss.is_finite()) {
            return Err(Error::Oracle { example: i, message: format!("a loss of {loss}") });
        }
        let mut terms = Collected::default();
        self.oracle.features(x, truth, &mut terms);
        terms.negated = true;
        self.oracle.features(x, &output, &mut terms);
        let Collected { sum: mut psi, rounding, .. } = terms;
        // Many features may cancel at one index: the sum that is left then says nothing about its rounding error.
        let off = (psi.settle_measured() + rounding) * (1.0 + 1e-6);
        let fits = |&(j, x): &(usize, f64)| j < self.oracle.dim() && x.is_finite();
        if let Some((j, x)) = psi.entries().iter().find(|entry| !fits(entry)) {
            return Err(Error::Oracle {
                example: i,
                message: format!("a feature {x} at index {j} of {}", self.oracle.dim()),
            });
        }
        Ok(Plane { example: i, output, loss, psi, off })
    }
}

/// ⟨w, φ⟩ and Σ|w φ|, for scores and their rounding.
struct Score<'a> {
    w: &'a [f64],
    value: f64,
    magnitude: f64,
    terms: usize,
}

impl Accumulate for Score<'_> {
    fn add(&mut self, index: usize, value: f64) {
        // An index out of range gives NaN, and the check of the bound then reports it.
        let w = self.w.get(index).copied().unwrap_or(f64::NAN);
        self.value += w * value;
        self.magnitude += size_of_product(w, value);
        self.terms += 1;
    }
}

/// The buffers of a block.
#[derive(Default)]
pub struct OracleScratch<S> {
    of_the_oracle: S,
    difference: SparseVec,
}

impl<O: Oracle> Blocks for OracleBlocks<'_, O> {
    type Visits = ActiveSet;
    type Intercept = NoIntercept;
    type Corner = Option<Arc<Plane<O::Output>>>;
    type Point = OraclePoint<O::Output>;
    type Scratch = OracleScratch<O::Scratch>;

    fn len(&self) -> usize {
        self.examples.len()
    }

    fn dim(&self) -> usize {
        self.oracle.dim()
    }

    fn scratch(&self) -> Self::Scratch {
        OracleScratch::default()
    }

    fn start(&self, i: usize) -> Self::Point {
        let truth = self.examples[i].1.clone();
        let psi = SparseVec::default();
        let plane = Plane { example: i, output: truth, loss: 0.0, psi, off: 0.0 };
        let corners = vec![(Arc::new(plane), 1.0)];
        OraclePoint { corners, spare: Vec::new(), psi: SparseVec::default(), loss: 0.0 }
    }

    fn best_corner(
        &self,
        i: usize,
        w: &[f64],
        corner: &mut Self::Corner,
        scratch: &mut Self::Scratch,
    ) -> Result<Found> {
        let (x, truth) = &self.examples[i];
        let decoded = self.oracle.decode(w, x, Some(truth), &mut scratch.of_the_oracle)?;
        let plane = self.plane(i, decoded.output)?;
        let score_of = |y| {
            let mut score = Score { w, value: 0.0, magnitude: 0.0, terms: 0 };
            self.oracle.features(x, y, &mut score);
            score
        };
        let (found, right) = (score_of(&plane.output), score_of(truth));
        let value = plane.loss + found.value - right.value;
        // Both the oracle and these lines may round every term of either score.
        let terms = found.terms + right.terms + 4;
        let magnitude = plane.loss + found.magnitude + right.magnitude;
        let slack = product_above(4.0 * gamma(terms), magnitude);
        let bound = match decoded.bound {
            Bound::Exact => value + slack,
            Bound::AtMost(score) => score - right.value + slack,
            Bound::Unknown => f64::INFINITY,
        };
        // The truth itself scores zero here, so no valid bound is negative.
        if bound < value - slack || bound < -slack || bound.is_nan() {
            let what = if bound < value - slack { "its own output" } else { "the truth" };
            return Err(Error::Oracle {
                example: i,
                message: format!(
                    "{what} scores higher than the bound it gave, by {:e}",
                    value.max(0.0) - bound
                ),
            });
        }
        *corner = Some(Arc::new(plane));
        Ok(Found { value, bound: bound.max(0.0) })
    }

    // `slope` reads w itself; there are no scores to bring up to date.
    fn rescore(&self, _: usize, _: &[f64], _: &mut Self::Scratch) {}

    fn difference(
        &self,
        _: usize,
        at: &Self::Point,
        to: &Self::Corner,
        scratch: &mut Self::Scratch,
    ) -> f64 {
        let Some(to) = to else { return 0.0 };
        scratch.difference = SparseVec::combined(1.0, &to.psi, -1.0, &at.psi);
        to.loss - at.loss
    }

    fn slope(&self, _: usize, w: &[f64], scratch: &mut Self::Scratch) -> f64 {
        scratch.difference.dot(w)
    }

    fn curvature(&self, _: usize, scratch: &mut Self::Scratch) -> f64 {
        scratch.difference.squared_norm()
    }

    fn displace(
        &self,
        _: usize,
        factor: f64,
        out: &mut impl Accumulate,
        scratch: &mut Self::Scratch,
    ) {
        scratch.difference.add_to(factor, out);
    }

    fn mix(&self, _: usize, gamma: f64, at: &mut Self::Point, to: &Self::Corner) {
        if let Some(to) = to {
            at.move_toward(gamma, [(to, 1.0)].into_iter(), &to.psi, to.loss);
        }
    }

    fn blend(&self, _: usize, share: f64, into: &mut Self::Point, from: &Self::Point) {
        let corners = from.corners.iter().map(|(plane, weight)| (plane, *weight));
        into.move_toward(share, corners, &from.psi, from.loss);
    }

    fn add(
        &self,
        _: usize,
        at: &Self::Point,
        factor: f64,
        out: &mut impl Accumulate,
        _: &mut Self::Scratch,
    ) {
        for (plane, weight) in &at.corners {
            plane.psi.add_to(factor * weight, out);
        }
    }

    fn audit(&self, i: usize, at: &Self::Point, _: &mut Self::Scratch) -> Result<Audit> {
        let defect = distribution(i, at.corners.iter().map(|(_, weight)| *weight))?;
        let mut dual = Sum::default();
        let (mut largest_loss, mut largest_psi) = (0.0_f64, 0.0_f64);
        let (mut rounding, mut span) = (0.0, 0.0);
        // A point of a checkpoint may say anything.
        let beyond = |psi: &SparseVec| psi.entries().iter().any(|&(j, _)| j >= self.dim());
        if beyond(&at.psi) || at.spare.iter().any(|(plane, _)| beyond(&plane.psi)) {
            let message = "it has a feature that there is not".into();
            return Err(Error::Witness { example: i, message });
        }
        for (plane, weight) in &at.corners {
            if beyond(&plane.psi) {
                let message = "it has a feature that there is not".into();
                return Err(Error::Witness { example: i, message });
            }
            if plane.example != i {
                let message = format!("it has an output of example {}", plane.example);
                return Err(Error::Witness { example: i, message });
            }
            if plane.loss > 0.0 {
                dual.add_measured(Measured::rounded(weight * plane.loss, 1));
            }
            let entries = plane.psi.entries().len();
            let norm =
                if entries == 0 { 0.0 } else { root_above(plane.psi.squared_norm(), entries) };
            let norm = norm + plane.off;
            (largest_loss, largest_psi) = (largest_loss.max(plane.loss), largest_psi.max(norm));
            // Rounding of mass/λ, of its products with the weight and with ψ, and of ψ itself.
            rounding += product_above(*weight, plane.off + product_above(gamma(8), norm));
            span += norm * (1.0 + weight) + entries as f64;
        }
        let mut dual = dual.total();
        dual.error += product_above(defect, largest_loss);
        let reach = (product_above(defect, largest_psi) + rounding) * (1.0 + 1e-9);
        Ok(Audit { dual, reach, span })
    }

    // The bounds above include the rounding of the outputs that were scored. The rounding of the oracle on all others
    // can be bounded only if the oracle knows its extent.
    fn rounding(&self, i: usize, _: &[f64], largest_weight: f64) -> f64 {
        self.oracle.extent(&self.examples[i].0).map_or(0.0, |Extent { terms, norm1, loss }| {
            let magnitude = product_above(norm1, largest_weight) + loss;
            2.0 * (product_above(gamma(terms + 4), magnitude) + terms as f64 * UNDERFLOW)
        })
    }
}

impl<O: Oracle> ActiveSetBlocks for OracleBlocks<'_, O> {
    // There are no stored scores: `extremes` scores the corners.
    fn recall(&self, _: usize, _: &Self::Point, _: &[f64], _: &mut Self::Scratch) {}

    fn follow(&self, _: usize, _: &[f64], _: Option<f64>, _: &mut Self::Scratch) {}

    fn extremes(
        &self,
        _: usize,
        at: &Self::Point,
        w: &[f64],
        worst: &mut Self::Corner,
        best: &mut Self::Corner,
        _: &mut Self::Scratch,
    ) {
        let score = |plane: &Plane<_>| plane.loss - plane.psi.dot(w);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (plane, _) in at.corners.iter().filter(|(_, weight)| *weight > 0.0) {
            let score = score(plane);
            if score < low {
                low = score;
                *worst = Some(Arc::clone(plane));
            }
            if score > high {
                high = score;
                *best = Some(Arc::clone(plane));
            }
        }
        for (plane, _) in &at.spare {
            let score = score(plane);
            if score > high {
                high = score;
                *best = Some(Arc::clone(plane));
            }
        }
    }

    fn weight(&self, _: usize, at: &Self::Point, corner: &Self::Corner) -> f64 {
        let Some(corner) = corner else { return 0.0 };
        let known = at.corners.iter().find(|(plane, _)| plane.output == corner.output);
        known.map_or(0.0, |&(_, weight)| weight)
    }

    fn between(
        &self,
        _: usize,
        from: &Self::Corner,
        to: &Self::Corner,
        scratch: &mut Self::Scratch,
    ) -> f64 {
        let (Some(from), Some(to)) = (from, to) else { return 0.0 };
        scratch.difference = SparseVec::combined(1.0, &to.psi, -1.0, &from.psi);
        to.loss - from.loss
    }

    fn shift(
        &self,
        _: usize,
        amount: f64,
        at: &mut Self::Point,
        from: &Self::Corner,
        to: &Self::Corner,
    ) {
        let (Some(from), Some(to)) = (from, to) else { return };
        at.spare.retain_mut(|(_, shifts)| {
            *shifts += 1;
            *shifts <= KEPT
        });
        at.weigh(from, -amount);
        at.weigh(to, amount);
        at.psi = SparseVec::combined(1.0, &at.psi, -amount, &from.psi);
        at.psi = SparseVec::combined(1.0, &at.psi, amount, &to.psi);
        at.loss += amount * (to.loss - from.loss);
    }

    fn tidy(&self, _: usize, at: &mut Self::Point) {
        let total: f64 = at.corners.iter().map(|(_, weight)| weight).sum();
        at.corners.iter_mut().for_each(|(_, weight)| *weight /= total);
        at.remix();
    }

    fn oracle_work(&self, i: usize) -> f64 {
        self.oracle.work(&self.examples[i].0)
    }

    fn cached_work(&self, _: usize, at: &Self::Point) -> [f64; 2] {
        let planes = at.corners.iter().map(|(plane, _)| plane);
        let planes = planes.chain(at.spare.iter().map(|(plane, _)| plane));
        let stored: usize = planes.map(|plane| plane.psi.entries().len()).sum();
        [0.0, 2.0 * stored as f64 + 6.0 * at.psi.entries().len() as f64]
    }
}

/// The corners are outputs in the byte form that serde gives them. A key is the place of an output's bytes, which have
/// their number before them.
impl<O: OwnOracle> Witnessed for OracleBlocks<'_, O> {
    const REBUILT: bool = true;

    fn entries(&self, at: &Self::Point, outputs: &mut Vec<u8>) -> Vec<(u64, f64)> {
        let weighty = at.corners.iter().filter(|(_, weight)| *weight != 0.0);
        weighty
            .map(|(plane, weight)| {
                let key = outputs.len() as u64;
                // What serde cannot write has no bytes, and is refused when it is read.
                let bytes = postcard::to_stdvec(&plane.output).unwrap_or_default();
                outputs.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
                outputs.extend_from_slice(&bytes);
                (key, *weight)
            })
            .collect()
    }

    fn point(&self, i: usize, entries: Vec<(u64, f64)>, outputs: &[u8]) -> Result<Self::Point> {
        let refuse = |message: &str| Error::Witness { example: i, message: message.into() };
        let mut corners: Vec<(Arc<Plane<O::Output>>, f64)> = Vec::with_capacity(entries.len());
        for (key, weight) in entries {
            let bytes =
                bytes_at(outputs, key).ok_or_else(|| refuse("it has an output without bytes"))?;
            let output: O::Output = postcard::from_bytes(bytes)
                .map_err(|_| refuse("it has bytes that are no output"))?;
            if !self.oracle.admits(&self.examples[i].0, &output) {
                return Err(refuse("it has an output that is none of this example's"));
            }
            if corners.iter().any(|(plane, _)| plane.output == output) {
                return Err(refuse("it has an output twice"));
            }
            corners.push((Arc::new(self.plane(i, output)?), weight));
        }
        let (spare, psi, loss) = (Vec::new(), SparseVec::default(), 0.0);
        let mut point = OraclePoint { corners, spare, psi, loss };
        point.remix();
        Ok(point)
    }
}

/// Returns the bytes of the output at a place, if they are there.
fn bytes_at(outputs: &[u8], key: u64) -> Option<&[u8]> {
    let (length, rest) = outputs.get(usize::try_from(key).ok()?..)?.split_first_chunk::<8>()?;
    rest.get(..usize::try_from(u64::from_le_bytes(*length)).ok()?)
}
