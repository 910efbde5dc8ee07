//! The problem, and the primal and the dual value of its certificate, each computed from scratch.

pub use super::masses::{Masses, masses};
use super::partial::{Mean, SomeDual, SomeLosses};
pub(crate) use super::weighed::Take;
use super::weighed::Weighed;
use super::{Blocks, Quality};
use crate::linalg::kernels::dot;
use crate::linalg::memory::Need;
use crate::linalg::underflow::{norm_above, product_above, size_of_product};
use crate::linalg::{Measured, Sum, UNIT_ROUNDOFF, gamma};
use crate::run::{Basis, Certificate};
use crate::term::Link;
use crate::{Error, Result};

/// The blocks, their masses, λ, and the regulariser's link.
#[derive(Debug)]
pub struct Problem<'a, B, L> {
    pub(super) blocks: &'a B,
    pub(super) link: L,
    pub(super) lambda: f64,
    /// The same blocks, with their masses.
    pub(super) weighed: Weighed<'a, B>,
    /// The regulariser is `g(w) − ⟨offset, w⟩`, so that g* is taken at `v + offset`; empty if it is g itself. The
    /// values of a problem with an offset guide steps only: no certificate of a model is made from them.
    pub(super) offset: Vec<f64>,
}

/// The primal value of a certificate.
#[derive(Clone, Copy, Debug)]
pub struct PrimalValue {
    /// P(w).
    pub value: Measured,
    /// Whether every block could bound its loss.
    pub certified: bool,
    /// What the value rests on, if so.
    pub basis: Basis,
}

impl PrimalValue {
    /// Pairs the value with a dual one.
    pub(crate) fn certificate(&self, dual: Measured) -> Result<Certificate> {
        Ok(Certificate::new(self.value, dual, self.certified)?.resting_on(self.basis))
    }
}

/// The dual value of a certificate, and the v that belongs to it.
#[derive(Clone, Debug)]
pub struct DualValue {
    /// D(α).
    pub value: Measured,
    /// `(1/λ) Σ mass_i X_i α_i`, rebuilt from the blocks, plus the offset.
    pub v: Vec<f64>,
}

/// The mean of the largest losses at some weights.
pub(super) struct Losses {
    mean: Mean,
    certified: bool,
    basis: Basis,
}

impl Losses {
    /// Returns the mean of the bounds if there are any, or else that of what was found.
    pub(super) fn of(all: SomeLosses) -> Self {
        let SomeLosses { bounds, values, certified, basis } = all;
        let mean = if certified { bounds } else { values.unwrap_or(bounds) };
        let basis = if certified { basis } else { Basis::Exact };
        Self { mean, certified, basis }
    }

    /// Adds the penalty `λ g(w) − λ⟨offset, w⟩`.
    pub(super) fn penalised<L: Link>(
        self,
        link: &L,
        lambda: f64,
        offset: &[f64],
        w: &[f64],
    ) -> PrimalValue {
        let Self { mut mean, certified, basis } = self;
        let penalty = link.value(w);
        if penalty.value == f64::INFINITY {
            // These weights are infeasible; a compensated sum of infinities would be NaN.
            return PrimalValue { value: penalty, certified, basis };
        }
        mean.sum.add_measured(penalty.scaled(lambda));
        if !offset.is_empty() {
            let each: f64 = offset.iter().zip(w).map(|(offset, w)| (offset * w).abs()).sum();
            let value = -lambda * dot(offset, w);
            let error = lambda * gamma(w.len() + 2) * each;
            mean.sum.add_measured(Measured { value, error });
        }
        PrimalValue { value: mean.total(), certified, basis }
    }
}

/// The dual value without the regulariser's term, in its parts.
pub(super) struct MeanDual {
    /// The mean of the blocks' own dual values.
    pub mean: Mean,
    /// As in [`DualValue`].
    pub v: Vec<f64>,
    /// A bound on the distance of v from its exact value.
    pub distance: f64,
}

impl MeanDual {
    /// Rounds the sums of all blocks.
    pub(super) fn of<L: Link>(all: SomeDual, link: &L, offset: &[f64]) -> Self {
        let SomeDual { mean, reach, v } = all;
        let mut v = v.round();
        v.iter_mut().zip(offset).for_each(|(v, offset)| *v += offset);
        let distance =
            (reach + product_above(2.0 * UNIT_ROUNDOFF, link.norm_above(&v))) * 1.000_001;
        Self { mean, v, distance }
    }

    /// Subtracts `λ g*(v)`.
    pub(super) fn conjugated<L: Link>(self, link: &L, lambda: f64) -> DualValue {
        let Self { mut mean, v, distance } = self;
        let conjugate = link.conjugate_near(&v, distance);
        if conjugate.value == f64::INFINITY {
            let value = Measured { value: f64::NEG_INFINITY, error: 0.0 };
            return DualValue { value, v };
        }
        mean.sum.add_measured(conjugate.scaled(-lambda));
        DualValue { value: mean.total(), v }
    }
}

impl<'a, B: Blocks, L: Link> Problem<'a, B, L> {
    /// Returns the problem; `sample_weights` default to one each.
    pub fn new(
        blocks: &'a B,
        link: L,
        lambda: f64,
        sample_weights: Option<&[f64]>,
    ) -> Result<Self> {
        if blocks.is_empty() {
            return Err(Error::setting("there is no example to train on"));
        }
        if !(lambda > 0.0 && lambda.is_finite()) {
            return Err(Error::setting(format!("lambda must be positive, not {lambda}")));
        }
        // A compensated sum of v takes two copies for each of its parts, and its rounded value one.
        let copies = 2 * blocks.workload().image_parts + 1;
        Need { weights: blocks.dim(), copies, others: 2 * blocks.len() }.check()?;
        let weighed = Weighed::new(blocks, Masses::new(blocks.len(), sample_weights)?, lambda);
        Ok(Self { blocks, link, lambda, weighed, offset: Vec::new() })
    }

    /// Returns the problem of some of the examples, whose masses are those in the whole: `c_i / total`.
    pub(crate) fn part(
        blocks: &'a B,
        link: L,
        lambda: f64,
        sample_weights: Option<&[f64]>,
        total: f64,
    ) -> Result<Self> {
        let mut problem = Self::new(blocks, link, lambda, None)?;
        let masses = Masses::of_part(blocks.len(), sample_weights, total)?;
        problem.weighed = Weighed::new(blocks, masses, lambda);
        Ok(problem)
    }

    /// Returns the problem with the same blocks and masses under another λ and its link, without an offset.
    pub(crate) fn retuned(&self, link: L, lambda: f64) -> Result<Self> {
        if !(lambda > 0.0 && lambda.is_finite()) {
            return Err(Error::setting(format!("lambda must be positive, not {lambda}")));
        }
        let weighed = Weighed::new(self.blocks, self.weighed.masses.clone(), lambda);
        Ok(Self { blocks: self.blocks, link, lambda, weighed, offset: Vec::new() })
    }

    /// Sets the offset, or none if it is empty; returns an error if it does not fit the problem.
    pub(crate) fn centred(mut self, offset: Vec<f64>) -> Result<Self> {
        let fits = offset.is_empty() || offset.len() == self.blocks.dim();
        if !fits || offset.iter().any(|x| !x.is_finite()) {
            return Err(Error::setting("the state is not one of this problem and these settings"));
        }
        self.offset = offset;
        Ok(self)
    }

    /// Returns the number of weights.
    pub(crate) fn dim(&self) -> usize {
        self.blocks.dim()
    }

    /// Returns the regulariser's link.
    pub fn link(&self) -> &L {
        &self.link
    }

    /// Returns P(w), with one search for a corner in every block.
    pub fn primal(&self, w: &[f64]) -> Result<PrimalValue> {
        Ok(self.penalised(w, self.losses(w, None, None)?))
    }

    /// Returns P(w) as [`primal`](Self::primal) does, and an error if these points know corners that refute what a
    /// search claims. If every block finds a promised share of its largest gap, the points also give a bound: the gap that
    /// a block finds from its point, divided by the share, is not exceeded by any other.
    pub fn primal_at(&self, w: &[f64], points: &[B::Point]) -> Result<PrimalValue> {
        Ok(self.penalised(w, self.losses_at(w, points, None)?))
    }

    /// [`primal_at`](Self::primal_at), which hands over the corner that was found in each block. The calls come from
    /// several threads, in any order.
    pub(crate) fn primal_at_with(
        &self,
        w: &[f64],
        points: &[B::Point],
        take: Take<'_, B::Corner>,
    ) -> Result<PrimalValue> {
        Ok(self.penalised(w, self.losses_at(w, points, Some(take))?))
    }

    /// Adds the penalty to the losses.
    fn penalised(&self, w: &[f64], losses: Losses) -> PrimalValue {
        losses.penalised(&self.link, self.lambda, &self.offset, w)
    }

    /// Returns the mean loss at w alone, without any penalty, as [`primal_at`](Self::primal_at) has it.
    pub(super) fn mean_loss(&self, w: &[f64], points: &[B::Point]) -> Result<PrimalValue> {
        let Losses { mean, certified, basis } = self.losses_at(w, points, None)?;
        Ok(PrimalValue { value: mean.total(), certified, basis })
    }

    fn losses_at(
        &self,
        w: &[f64],
        points: &[B::Point],
        take: Option<Take<'_, B::Corner>>,
    ) -> Result<Losses> {
        let losses = self.losses(w, Some(points), take)?;
        match self.blocks.quality() {
            Quality::Multiplicative(nu) if !losses.certified => {
                self.promised(w, points, &losses, nu)
            }
            _ => Ok(losses),
        }
    }

    /// Bounds the losses by the promise that every block finds a share ν of its largest gap. With m the mean of the losses
    /// that were found and h that of the points' own, `h_i = ℓ_i − ⟨w, X_i α_i⟩`, the largest are at most
    ///
    /// ```text
    /// h + (m − h)/ν,     h = Σ mass_i ℓ_i − λ⟨w, v⟩
    /// ```
    fn promised(&self, w: &[f64], points: &[B::Point], found: &Losses, nu: f64) -> Result<Losses> {
        let MeanDual { mean, mut v, distance } = self.mean_dual(points)?;
        v.iter_mut().zip(&self.offset).for_each(|(v, offset)| *v -= offset);
        let sizes: f64 = v.iter().zip(w).map(|(v, w)| size_of_product(*v, *w)).sum();
        let error =
            product_above(gamma(w.len() + 4), sizes) + product_above(norm_above(w), distance);
        let product = Measured { value: dot(w, &v), error: error * 1.000_001 };
        let mut own = Sum::default();
        own.add_measured(mean.total());
        own.add_measured(product.scaled(-self.lambda));
        let own = own.total();
        let mut sum = Sum::default();
        sum.add_measured(own);
        sum.add_measured(found.mean.total().divided(nu));
        sum.add_measured(own.divided(-nu));
        let mean = Mean::of(sum);
        Ok(Losses { mean, certified: true, basis: Basis::Multiplicative(nu) })
    }

    /// Returns the mean loss, with one search for a corner in every block, and whether every block could bound its own.
    fn losses(
        &self,
        w: &[f64],
        points: Option<&[B::Point]>,
        take: Option<Take<'_, B::Corner>>,
    ) -> Result<Losses> {
        self.some_losses(w, points, take).map(Losses::of)
    }

    /// Returns the sum behind the mean loss, to which those of other examples can be added.
    pub(super) fn some_losses(
        &self,
        w: &[f64],
        points: Option<&[B::Point]>,
        take: Option<Take<'_, B::Corner>>,
    ) -> Result<SomeLosses> {
        if w.len() != self.blocks.dim() {
            return Err(Error::setting(format!(
                "there are {} weights and {} are needed",
                w.len(),
                self.blocks.dim()
            )));
        }
        self.weighed.losses(&self.link.readable(w), points, take)
    }

    /// Returns v at these points, by a compensated sum, plus the offset.
    pub(crate) fn image(&self, points: &[B::Point]) -> Vec<f64> {
        let mut v = self.weighed.image(points).round();
        v.iter_mut().zip(&self.offset).for_each(|(v, offset)| *v += offset);
        v
    }

    /// Estimates how far a v that is rebuilt at these points is from its exact value.
    pub(crate) fn distance(&self, points: &[B::Point]) -> Result<f64> {
        self.weighed.distance(points)
    }

    /// Returns D(α) and its v, or an error if a point is infeasible.
    ///
    /// v is rebuilt from the blocks by a compensated sum; the link allows for the error that is left in it.
    pub fn dual(&self, points: &[B::Point]) -> Result<DualValue> {
        Ok(self.conjugated(self.mean_dual(points)?))
    }

    /// [`dual`](Self::dual) of points that are made one after the other, so that they need not all be in memory.
    pub(crate) fn dual_one_by_one(
        &self,
        points: impl ExactSizeIterator<Item = B::Point>,
    ) -> Result<DualValue> {
        Ok(self.conjugated(self.mean_dual_of(points)?))
    }

    /// Subtracts the regulariser's term.
    fn conjugated(&self, dual: MeanDual) -> DualValue {
        dual.conjugated(&self.link, self.lambda)
    }

    /// Returns the dual value without the regulariser's term, or an error if a point is infeasible.
    pub(super) fn mean_dual(&self, points: &[B::Point]) -> Result<MeanDual> {
        Ok(self.measured(self.some_dual(points)?))
    }

    /// Returns the sum behind the dual value and v, to which those of other examples can be added.
    pub(super) fn some_dual(&self, points: &[B::Point]) -> Result<SomeDual> {
        self.check_count(points.len())?;
        self.weighed.dual(points)
    }

    /// The same of points that are made one after the other.
    fn mean_dual_of(&self, points: impl ExactSizeIterator<Item = B::Point>) -> Result<MeanDual> {
        self.check_count(points.len())?;
        Ok(self.measured(self.weighed.dual_of(0..points.len(), points)?))
    }

    fn check_count(&self, points: usize) -> Result<()> {
        let blocks = self.blocks.len();
        if points == blocks {
            return Ok(());
        }
        Err(Error::setting(format!("there are {points} dual points for {blocks} blocks")))
    }

    fn measured(&self, all: SomeDual) -> MeanDual {
        MeanDual::of(all, &self.link, &self.offset)
    }
}
