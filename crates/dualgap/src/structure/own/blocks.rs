//! Blocks made of any oracle: the dual point of an example is a mixture of the outputs that the oracle has found.
//!
//! These blocks work with the difference vectors ψ_i(y) of all corners, where a structure's own coordinates would be
//! faster. They need nothing from a user but an [`Oracle`], and they check the oracle's contract.

use super::ahead::Ahead;
use super::oracle::{Bound, Extent, Oracle};
use super::plane::{OraclePoint, Plane};
use super::rescaling::Rescaling;
use super::score::Scored;
use crate::dual::witness::distribution;
use crate::dual::{ActiveSet, Audit, Blocks, Found, NoIntercept, Quality, View};
use crate::linalg::accumulate::Collected;
use crate::linalg::underflow::{product_above, root_above};
use crate::linalg::{Accumulate, Measured, SparseVec, Sum, UNDERFLOW, UNIT_ROUNDOFF, gamma};
use crate::run::Basis;
use crate::{Error, Result};
use std::ops::Deref;
use std::sync::Arc;

/// What blocks borrow from a user, or a structure has made for them.
pub(super) enum Held<'a, T: ?Sized> {
    Borrowed(&'a T),
    Owned(Box<T>),
}

impl<T: ?Sized> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Borrowed(held) => held,
            Self::Owned(held) => held,
        }
    }
}

/// The adapter from an [`Oracle`] and its examples; see [`Oracle`] for one in use.
pub struct OracleBlocks<'a, O: Oracle> {
    pub(super) oracle: Held<'a, O>,
    pub(super) examples: Held<'a, [(O::Input, O::Output)]>,
    pub(super) rescaling: Rescaling,
    /// What a batch has decoded for the searches that follow.
    ahead: Ahead<O::Output>,
}

impl<'a, O: Oracle> OracleBlocks<'a, O> {
    /// Returns the blocks of inputs and true outputs, or an error if the loss of a truth is not zero.
    pub fn new(oracle: &'a O, examples: &'a [(O::Input, O::Output)]) -> Result<Self> {
        Self::of(Held::Borrowed(oracle), Held::Borrowed(examples))
    }

    /// Returns the blocks of an oracle and examples that they own.
    pub(crate) fn owned(oracle: O, examples: Vec<(O::Input, O::Output)>) -> Result<Self> {
        Self::of(Held::Owned(Box::new(oracle)), Held::Owned(examples.into()))
    }

    fn of(oracle: Held<'a, O>, examples: Held<'a, [(O::Input, O::Output)]>) -> Result<Self> {
        for (i, (x, truth)) in examples.iter().enumerate() {
            let loss = oracle.loss(x, truth, truth);
            if loss != 0.0 {
                return Err(Error::Oracle {
                    example: i,
                    message: format!("the loss of the truth is {loss}, not 0"),
                });
            }
        }
        oracle.quality().check()?;
        Ok(Self { oracle, examples, rescaling: Rescaling::Margin, ahead: Ahead::default() })
    }

    /// Returns the blocks of the hinge in this form.
    ///
    /// ```
    /// use dualgap::dual::{self, Settings};
    /// use dualgap::linalg::Row;
    /// use dualgap::run::Budget;
    /// use dualgap::structure::{MulticlassOracle, OracleBlocks, Rescaling};
    /// use dualgap::term::Costs;
    /// let oracle = MulticlassOracle::new(1, 2, &Costs::Matrix(vec![0.0, 4.0, 1.0, 0.0]))?;
    /// let examples = [(Row::Dense(&[1.0]), 0), (Row::Dense(&[-1.0]), 1)];
    /// let blocks = OracleBlocks::new(&oracle, &examples)?.rescaled(Rescaling::Slack);
    /// let settings = Settings { lambda: 1e-3, ..Settings::default() };
    /// let w = dual::train(&blocks, &settings, &Budget::relative(1e-6), &mut ())?.model.weights;
    /// assert!((w[0] - w[1] - 1.0).abs() < 0.01); // a margin of one, whatever a mistake costs
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    #[must_use]
    pub fn rescaled(self, rescaling: Rescaling) -> Self {
        Self { rescaling, ..self }
    }

    /// Scores an output anew, not by its stored vector.
    pub(super) fn scored(&self, i: usize, w: &[f64], plane: &Plane<O::Output>) -> Scored {
        let output = (&plane.output, plane.loss);
        Scored::new(&*self.oracle, self.rescaling, &self.examples[i], w, output)
    }

    /// Returns the corner of an output.
    pub(super) fn plane(&self, i: usize, output: O::Output) -> Result<Plane<O::Output>> {
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
        let mut off = (psi.settle_measured() + rounding) * (1.0 + 1e-6);
        if self.rescaling == Rescaling::Slack {
            psi = SparseVec::combined(loss, &psi, 0.0, &SparseVec::default());
            let lost = |&(_, x): &(usize, f64)| UNIT_ROUNDOFF * x.abs() + UNDERFLOW;
            let products: f64 = psi.entries().iter().map(lost).sum();
            off = (product_above(loss, off) + products) * (1.0 + 1e-6);
        }
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

/// The buffers of a block.
#[derive(Default)]
pub struct OracleScratch<S> {
    of_the_oracle: S,
    pub(super) difference: SparseVec,
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

    fn search_ahead(&self, blocks: &mut dyn Iterator<Item = usize>, w: &[f64]) -> Result<()> {
        match self.rescaling {
            Rescaling::Margin => self.ahead.decode(&*self.oracle, &self.examples, blocks, w),
            Rescaling::Slack => Ok(()),
        }
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
        let buffers = &mut scratch.of_the_oracle;
        let decoded = match self.rescaling {
            Rescaling::Margin => match self.ahead.take(i, w) {
                Some(decoded) => decoded,
                None => self.oracle.decode(w, x, Some(truth), buffers)?,
            },
            Rescaling::Slack => self.oracle.decode_slack(w, x, truth, buffers)?,
        };
        let plane = self.plane(i, decoded.output)?;
        let Scored { value, slack, right } = self.scored(i, w, &plane);
        let (bound, basis) = match (decoded.bound, self.rescaling, self.oracle.quality()) {
            (Bound::Exact, ..) => (value + slack, Basis::Exact),
            (Bound::AtMost(score), Rescaling::Margin, _) => (score - right + slack, Basis::Bounds),
            // The product, with the score of the truth in it.
            (Bound::AtMost(product), Rescaling::Slack, _) => (product, Basis::Bounds),
            (Bound::Unknown, _, Quality::Additive(delta)) => {
                (value + slack + delta, Basis::Additive(delta))
            }
            (Bound::Unknown, ..) => (f64::INFINITY, Basis::Exact),
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
        // A promised share of the gap makes a bound of the value itself, which then has its rounding to include.
        let shared = bound == f64::INFINITY && self.oracle.quality().share().is_some();
        let value = if shared { value + slack } else { value };
        Ok(Found { value, bound: bound.max(0.0), basis })
    }

    /// Compares the corner with the mixture that the step starts from, which is one product with a vector: none of its
    /// corners may be better than what the oracle claims.
    fn aim(
        &self,
        i: usize,
        at: &Self::Point,
        view: &View<'_>,
        corner: &mut Self::Corner,
        scratch: &mut Self::Scratch,
    ) -> Result<()> {
        let found = self.best_corner(i, view.w, corner, scratch)?;
        let mixed = at.loss - at.psi.dot(view.w);
        let promised = self.oracle.quality().share().is_some() && mixed > found.value;
        if promised || mixed > found.bound {
            self.challenge(i, at, view.w, corner, &found)?;
        }
        Ok(())
    }

    fn quality(&self) -> Quality {
        self.oracle.quality()
    }

    fn challenge(
        &self,
        i: usize,
        at: &Self::Point,
        w: &[f64],
        corner: &Self::Corner,
        found: &Found,
    ) -> Result<()> {
        self.refute(i, at, w, corner, found)
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
            let score = product_above(norm1, largest_weight);
            let vanished = terms as f64 * UNDERFLOW;
            match self.rescaling {
                Rescaling::Margin => {
                    2.0 * (product_above(gamma(terms + 4), score + loss) + vanished)
                }
                // The loss multiplies the errors of two scores, and the product has one of its own.
                Rescaling::Slack => {
                    let off = product_above(gamma(terms + 8), 1.0 + 2.0 * score) + 2.0 * vanished;
                    let vanished = if loss > 0.0 { UNDERFLOW } else { 0.0 };
                    2.0 * (product_above(loss, off) + vanished)
                }
            }
        })
    }
}
