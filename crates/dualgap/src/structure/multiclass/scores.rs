//! Blocks of a distribution over the classes: the dual variable β_i of an example under a loss of its K scores.
//!
//! With s the scores, costs included, q = mass_i‖x_i‖²/λ and z the direction from β to the target of a step,
//!
//! ```text
//! X_i β = x_i ⊗ (e_y − β),    rise = ⟨z, c⟩ − R(to) + R(at),    slope = −⟨z, s − c⟩,    curvature = ‖x_i‖²‖z‖²
//! ```
//!
//! The options are those of [`crate::structure::linear`]: the best distribution of all (a projection onto the simplex,
//! for softmax an inner Newton method), the best on the segment to the one that the scores ask for (for softmax a
//! search in one dimension, `segment`; for the others III already gives it), or a closed form on that segment.

use super::segment::best_share;
use super::support;
use crate::data::Examples;
use crate::dual::witness::{Witnessed, distribution};
use crate::dual::{Audit, Blocks, Found, Locality, NoIntercept, Plain, View, Workload};
use crate::linalg::kernels::add_scores;
use crate::linalg::memory::{check_weights, reserve_check};
use crate::linalg::underflow::{product_above, root_above, vanished};
use crate::linalg::{Accumulate, Measured, Row, Rows, Sum, gamma, parallel};
use crate::methods::newton::CurvedBlocks;
use crate::structure::linear::{Choice, smooth_needs_no_lipschitz};
use crate::term::{CheckedCosts, Costs, MulticlassLoss, softmax};
use crate::{Error, Result};
use dualgap_map::{fetch, fetch_all};

/// 4L² of the hinge in the norms of section 3.3: it is 2-Lipschitz in the largest entry of the scores.
const LIPSCHITZ: f64 = 16.0;

/// Weights that differ by less than this share of themselves differ by rounding: an exponential is off by as much as its exponent,
/// which may be some hundreds.
const SAME: f64 = 1e-13;

/// The blocks of a multiclass model over borrowed examples, under any loss of their scores.
///
/// ```
/// use dualgap::data::Examples;
/// use dualgap::dual::Blocks;
/// use dualgap::structure::{Choice, ScoreBlocks};
/// use dualgap::term::Costs;
/// use dualgap::term::MulticlassLoss;
/// let data = Examples::from_dense(&[vec![1.0], vec![-1.0], vec![0.1]], &["a", "b", "c"])?;
/// let blocks = ScoreBlocks::new(&data, &Costs::ZeroOne, MulticlassLoss::Softmax, Choice::I)?;
/// assert_eq!((blocks.len(), blocks.dim()), (3, 3));
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Debug)]
pub struct ScoreBlocks<'a> {
    rows: &'a Rows,
    labels: &'a [u32],
    classes: usize,
    costs: CheckedCosts,
    loss: MulticlassLoss,
    choice: Choice,
    squared_norms: Vec<f64>,
    /// ‖x‖₁ of every example, for the rounding of its scores.
    absolute_norms: Vec<f64>,
    /// The largest ‖x‖².
    largest: f64,
}

impl<'a> ScoreBlocks<'a> {
    /// Softmax has no costs: it accepts only the default ones, and ignores them.
    pub fn new(
        data: &'a Examples,
        costs: &Costs,
        loss: MulticlassLoss,
        choice: Choice,
    ) -> Result<Self> {
        loss.check()?;
        let labels = data.classes()?;
        let classes = labels.alphabet().len();
        if classes < 2 {
            return Err(Error::setting(format!(
                "there must be at least two classes to tell apart, and the data have {classes}"
            )));
        }
        check_weights(data.rows().width().checked_mul(classes))?;
        let costs = match (loss, costs) {
            (MulticlassLoss::Softmax, Costs::ZeroOne) => {
                reserve_check(classes.saturating_mul(2 * classes))?;
                Costs::Matrix(vec![0.0; classes * classes]).check(classes)?
            }
            (MulticlassLoss::Softmax, Costs::Matrix(_)) => {
                return Err(Error::setting("softmax does not know costs of mistakes"));
            }
            (_, costs) => costs.check(classes)?,
        };
        if choice == Choice::V && loss.smoothness() <= 0.0 {
            return Err(Error::setting("option V is for smooth losses, and this one is not"));
        }
        if choice == Choice::IVLipschitz && loss.smoothness() > 0.0 {
            return Err(smooth_needs_no_lipschitz());
        }
        let labels = labels.numbers();
        let untrained = Self {
            rows: data.rows(),
            labels,
            classes,
            costs,
            loss,
            choice,
            squared_norms: Vec::new(),
            absolute_norms: Vec::new(),
            largest: 0.0,
        };
        Ok(untrained.over(data.rows()))
    }

    /// Returns the same blocks over other rows, one for each of these.
    pub(in crate::structure) fn over<'r>(&self, rows: &'r Rows) -> ScoreBlocks<'r>
    where
        'a: 'r,
    {
        let all = || (0..rows.len()).map(|i| rows.row(i));
        let squared_norms: Vec<f64> = all().map(Row::squared_norm).collect();
        let absolute_norms = all().map(Row::norm1).collect();
        let largest = squared_norms.iter().copied().fold(0.0, f64::max);
        let Self { labels, classes, ref costs, loss, choice, .. } = *self;
        let costs = costs.clone();
        ScoreBlocks {
            rows,
            labels,
            classes,
            costs,
            loss,
            choice,
            squared_norms,
            absolute_norms,
            largest,
        }
    }

    fn truth(&self, i: usize) -> usize {
        self.labels[i] as usize
    }

    /// Returns scores with the costs added.
    fn with_costs(&self, i: usize, scores: &[f64]) -> Vec<f64> {
        let costed = |(y, s): (usize, &f64)| s + self.costs.of(self.truth(i), y);
        scores.iter().enumerate().map(costed).collect()
    }

    /// ⟨β, c⟩ − R(β).
    fn term(&self, i: usize, beta: &[f64]) -> f64 {
        let costs: f64 =
            beta.iter().enumerate().map(|(y, b)| b * self.costs.of(self.truth(i), y)).sum();
        costs - self.loss.penalty(beta.iter().copied()).value
    }

    /// Whether the best point of a segment has no closed form, so that a search must find it.
    fn searches(&self) -> bool {
        self.choice == Choice::II && self.loss == MulticlassLoss::Softmax
    }

    /// Returns the share of the segment from `at` to the corner in `to` that options III to V step. Option II steps the
    /// same if the penalty is linear or quadratic, because the closed form of III then is the best point of the
    /// segment.
    fn share(&self, i: usize, at: &[f64], to: &[f64], scale: f64, scores: &[f64]) -> f64 {
        let (mut squares, mut along) = (0.0, 0.0);
        for ((at, to), s) in at.iter().zip(to).zip(scores) {
            squares += (to - at) * (to - at);
            along += (to - at) * s;
        }
        if squares == 0.0 {
            return 0.0;
        }
        let smooth = self.loss.smoothness();
        let of_longest = matches!(self.choice, Choice::IV | Choice::IVLipschitz | Choice::V);
        let norm = if of_longest { self.largest } else { self.squared_norms[i] };
        if self.choice == Choice::V {
            return smooth / (smooth + scale * norm);
        }
        let penalty = |beta: &[f64]| self.loss.penalty(beta.iter().copied()).value;
        let gap = (along - penalty(to) + penalty(at)).max(0.0);
        if self.choice == Choice::IVLipschitz {
            return (gap / (LIPSCHITZ * scale * norm)).min(1.0);
        }
        let share = (gap + 0.5 * smooth * squares) / (squares * (smooth + scale * norm));
        share.min(1.0)
    }
}

/// The buffers of a block.
#[derive(Debug, Default)]
pub struct VectorScratch {
    /// s, costs included.
    scores: Vec<f64>,
    /// to − at.
    z: Vec<f64>,
    /// A distribution.
    beta: Vec<f64>,
    /// ⟨z, c⟩.
    costs: f64,
}

impl VectorScratch {
    /// Points from one distribution to another, the best of all; returns the step: all the way, or none where the two are the same
    /// but for rounding. Their gain would say so, too, but takes a logarithm for every class.
    fn turn(&mut self, at: &[f64], to: &[f64]) -> f64 {
        let (mut most, mut size) = (0.0, 0.0);
        self.z.clear();
        self.z.extend(to.iter().zip(at).map(|(to, at)| {
            let z = to - at;
            most = f64::max(most, z.abs() - SAME * to.max(*at));
            size += z;
            z
        }));
        if size.is_nan() { size } else { f64::from(u8::from(most > 0.0)) }
    }
}

impl Blocks for ScoreBlocks<'_> {
    type Visits = Plain;
    type Intercept = NoIntercept;
    type Corner = Vec<f64>;
    type Point = Vec<f64>;
    type Scratch = VectorScratch;

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn dim(&self) -> usize {
        self.rows.width() * self.classes
    }

    fn numbers(&self) -> usize {
        self.len().saturating_mul(self.classes)
    }

    fn workload(&self) -> Workload {
        let multiplications = self.rows.stored().saturating_mul(self.classes);
        Workload {
            is_little: parallel::is_little(multiplications),
            image_parts: parallel::parts(multiplications as f64, self.dim()),
            ..Workload::default()
        }
    }

    fn importance(&self, i: usize) -> f64 {
        self.squared_norms[i].sqrt()
    }

    fn smoothness(&self) -> f64 {
        self.loss.smoothness()
    }

    fn locality(&self) -> Locality {
        let rows = self.rows;
        let (fetches, stretches) = (rows.are_many_and_short(), rows.are_large_and_mapped());
        let alike = || rows.resemble_neighbours_of_classes(self.labels, self.classes);
        let chunks = self.choice == Choice::I && fetches && (stretches || !alike());
        Locality { chunks, stretches, fetches }
    }

    #[inline]
    fn fetch(&self, i: usize, at: &Vec<f64>) {
        fetch(&self.squared_norms[i]);
        fetch_all(at);
        self.rows.fetch(i);
    }

    fn scratch(&self) -> VectorScratch {
        VectorScratch::default()
    }

    fn start(&self, i: usize) -> Vec<f64> {
        let mut beta = vec![0.0; self.classes];
        beta[self.truth(i)] = 1.0;
        beta
    }

    fn best_corner(
        &self,
        i: usize,
        w: &[f64],
        corner: &mut Vec<f64>,
        scratch: &mut VectorScratch,
    ) -> Result<Found> {
        self.rescore(i, w, scratch);
        self.loss.corner(&scratch.scores, corner);
        let VectorScratch { scores, beta, .. } = scratch;
        Ok(Found::exact(self.loss.value(scores, self.truth(i), beta).value))
    }

    fn corner_at_quotient(
        &self,
        i: usize,
        w: &[f64],
        divisor: f64,
        corner: &mut Vec<f64>,
        scratch: &mut VectorScratch,
    ) -> Result<bool> {
        let scores = &mut scratch.scores;
        scores.clear();
        scores.resize(self.classes, 0.0);
        add_scores(self.rows.row(i), w, scores);
        for (y, score) in scores.iter_mut().enumerate() {
            *score = self.costs.of(self.truth(i), y) + *score / divisor;
        }
        self.loss.corner(scores, corner);
        Ok(true)
    }

    fn aim(
        &self,
        i: usize,
        at: &Vec<f64>,
        view: &View<'_>,
        corner: &mut Vec<f64>,
        scratch: &mut VectorScratch,
    ) -> Result<()> {
        self.rescore(i, view.w, scratch);
        if self.choice == Choice::I {
            let q = view.scale * self.squared_norms[i];
            self.loss.maximizer(&scratch.scores, at, q, corner);
            return Ok(());
        }
        self.loss.corner(&scratch.scores, corner);
        let mut share = self.share(i, at, corner, view.scale, &scratch.scores);
        if self.searches() {
            let VectorScratch { scores, z, .. } = scratch;
            z.clear();
            z.extend(corner.iter().zip(at).map(|(to, at)| to - at));
            share = best_share(scores, at, z, view.scale * self.squared_norms[i], share);
        }
        corner.iter_mut().zip(at).for_each(|(to, at)| *to = at + share * (*to - at));
        Ok(())
    }

    fn rescore(&self, i: usize, w: &[f64], scratch: &mut VectorScratch) {
        self.costs.fill(self.truth(i), &mut scratch.scores);
        add_scores(self.rows.row(i), w, &mut scratch.scores);
    }

    fn difference(
        &self,
        i: usize,
        at: &Vec<f64>,
        to: &Vec<f64>,
        scratch: &mut VectorScratch,
    ) -> f64 {
        scratch.turn(at, to);
        let cost = |(y, z): (usize, &f64)| z * self.costs.of(self.truth(i), y);
        scratch.costs = scratch.z.iter().enumerate().map(cost).sum();
        self.term(i, to) - self.term(i, at)
    }

    fn slope(&self, _: usize, _: &[f64], scratch: &mut VectorScratch) -> f64 {
        // The scores include the costs, which are no part of ⟨w, ·⟩.
        let along: f64 = scratch.z.iter().zip(&scratch.scores).map(|(z, s)| z * s).sum();
        scratch.costs - along
    }

    fn curvature(&self, i: usize, scratch: &mut VectorScratch) -> f64 {
        self.squared_norms[i] * scratch.z.iter().map(|z| z * z).sum::<f64>()
    }

    /// If w has moved since the block aimed, option II searches for the best point on the segment to the target.
    fn step_length(
        &self,
        i: usize,
        at: &Vec<f64>,
        to: &Vec<f64>,
        view: &View<'_>,
        scratch: &mut VectorScratch,
    ) -> f64 {
        if self.choice == Choice::I && view.fresh {
            return scratch.turn(at, to);
        }
        let rise = self.difference(i, at, to, scratch);
        if !view.fresh {
            self.rescore(i, view.w, scratch);
        }
        let gap = rise - self.slope(i, view.w, scratch);
        if gap.is_nan() {
            return gap;
        }
        if !view.fresh && self.searches() {
            let q = view.scale * self.squared_norms[i];
            return best_share(&scratch.scores, at, &scratch.z, q, 0.5);
        }
        if gap <= 0.0 { 0.0 } else { self.share_of_segment(gap, i, view, scratch) }
    }

    /// Steps all the way to the target, unless w has moved since the block aimed: then to the maximum of the proximal
    /// lower bound.
    fn share_of_segment(
        &self,
        gap: f64,
        i: usize,
        view: &View<'_>,
        scratch: &mut VectorScratch,
    ) -> f64 {
        if view.fresh {
            return 1.0;
        }
        let squares: f64 = scratch.z.iter().map(|z| z * z).sum();
        let smooth = self.loss.smoothness() * squares;
        let whole = smooth + view.scale * self.curvature(i, scratch);
        if whole > 0.0 { ((gap + 0.5 * smooth) / whole).min(1.0) } else { 1.0 }
    }

    fn displace(
        &self,
        i: usize,
        factor: f64,
        out: &mut impl Accumulate,
        scratch: &mut VectorScratch,
    ) {
        out.add_outer(self.rows.row(i), &scratch.z, -factor);
    }

    fn mix(&self, _: usize, gamma: f64, at: &mut Vec<f64>, to: &Vec<f64>) {
        if gamma >= 1.0 {
            at.clone_from(to);
        } else {
            at.iter_mut().zip(to).for_each(|(at, to)| *at += gamma * (to - *at));
        }
    }

    fn blend(&self, i: usize, share: f64, into: &mut Vec<f64>, from: &Vec<f64>) {
        self.mix(i, share, into, from);
    }

    fn add(
        &self,
        i: usize,
        at: &Vec<f64>,
        factor: f64,
        out: &mut impl Accumulate,
        scratch: &mut VectorScratch,
    ) {
        scratch.z.clear();
        scratch.z.extend_from_slice(at);
        scratch.z[self.truth(i)] -= 1.0;
        // A point that has not moved from its start adds nothing.
        if scratch.z.iter().any(|&z| z != 0.0) {
            out.add_outer(self.rows.row(i), &scratch.z, -factor);
        }
    }

    fn audit(&self, i: usize, at: &Vec<f64>, _: &mut VectorScratch) -> Result<Audit> {
        if at.len() != self.classes {
            let message = format!("it has {} weights for {} classes", at.len(), self.classes);
            return Err(Error::Witness { example: i, message });
        }
        let defect = distribution(i, at.iter().copied())?;
        let mut dual = Sum::default();
        if self.costs.largest() > 0.0 {
            for (y, &weight) in at.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
                let term = weight * self.costs.of(self.truth(i), y);
                dual.add_measured(Measured::rounded(term, 1));
            }
        }
        let penalty = self.loss.penalty(at.iter().copied());
        dual.add_measured(Measured { value: -penalty.value, ..penalty });
        let mut dual = dual.total();
        // The feasible point is this distribution divided by its sum, 1 ± defect. Costs and the square are Lipschitz in
        // that factor; Σ β log β of β/(1 ± d) moves by at most d(1 + |Σ β log β|).
        dual.error += 4.0 * defect * (self.costs.largest() + penalty.value.abs() + 1.0);
        let rounding = gamma(6) * 2.0;
        let stored = self.rows.row(i).stored();
        let length = root_above(self.squared_norms[i], stored);
        // Underflow of the factor, and of its products with an entry and then with each class.
        let span = 2.0 * length + stored as f64 * (self.classes + 2) as f64;
        Ok(Audit { dual, reach: product_above(length, defect + rounding), span })
    }

    fn rounding(&self, i: usize, w: &[f64], largest_weight: f64) -> f64 {
        self.loss_near(i, w, largest_weight, &mut VectorScratch::default()).error
    }

    fn largest_loss(
        &self,
        i: usize,
        w: &[f64],
        (largest_weight, off): (f64, f64),
        _: &mut Vec<f64>,
        scratch: &mut VectorScratch,
    ) -> Result<(Found, f64)> {
        let Measured { value, error } = self.loss_near(i, w, largest_weight, scratch);
        Ok((Found::exact(value), if off == 0.0 { error } else { f64::INFINITY }))
    }
}

impl ScoreBlocks<'_> {
    /// Returns the loss at w with a bound on its rounding; no weight is larger than this in magnitude.
    fn loss_near(
        &self,
        i: usize,
        w: &[f64],
        largest_weight: f64,
        scratch: &mut VectorScratch,
    ) -> Measured {
        self.rescore(i, w, scratch);
        let VectorScratch { scores, beta, .. } = scratch;
        let Measured { value, error: own } = self.loss.value(scores, self.truth(i), beta);
        // Every score is off by this much, and the loss changes by at most twice as much.
        let stored = self.rows.row(i).stored();
        let magnitude =
            self.costs.largest() + product_above(self.absolute_norms[i], largest_weight);
        let vanished = vanished(stored);
        let off = product_above(gamma(stored + 3), magnitude) + vanished;
        Measured { value, error: (own + 2.0 * off) * (1.0 + 1e-9) }
    }
}

/// With β the distribution that the scores ask for, ∇φ = β − e_y. Softmax has ∇²φ = diag β − ββ', and keeps β; for that of the smooth
/// hinge see `support`.
impl CurvedBlocks for ScoreBlocks<'_> {
    fn inputs(&self) -> &Rows {
        self.rows
    }

    fn outputs(&self) -> usize {
        self.classes
    }

    fn is_curved(&self) -> bool {
        self.loss.smoothness() > 0.0
    }

    fn second_order(&self, i: usize, a: &[f64], slope: &mut [f64], curve: &mut [f64]) -> f64 {
        let loss = if let MulticlassLoss::SmoothHinge { width } = self.loss {
            slope.copy_from_slice(&self.touching(i, a));
            support::keep(slope, width, curve);
            self.loss.value(&self.with_costs(i, a), self.truth(i), &mut Vec::new()).value
        } else {
            curve.copy_from_slice(a);
            let loss = softmax(curve) - a[self.truth(i)];
            slope.copy_from_slice(curve);
            loss
        };
        slope[self.truth(i)] -= 1.0;
        loss
    }

    fn curvature_entry(&self, _: usize, curve: &[f64], (j, l): (usize, usize)) -> f64 {
        if let MulticlassLoss::SmoothHinge { .. } = self.loss {
            return support::entry(curve, (j, l));
        }
        let own = if j == l { 1.0 } else { 0.0 };
        curve[j] * (own - curve[l])
    }

    fn bend(&self, _: usize, curve: &[f64], u: &[f64], out: &mut [f64]) {
        if let MulticlassLoss::SmoothHinge { .. } = self.loss {
            return support::bend(curve, u, out);
        }
        let mean: f64 = curve.iter().zip(u).map(|(b, u)| b * u).sum();
        out.iter_mut().zip(curve).zip(u).for_each(|((out, b), u)| *out = b * (u - mean));
    }

    fn split_curve(&self, _: usize, curve: &[f64], diagonal: &mut [f64], rank_one: &mut [f64]) {
        if let MulticlassLoss::SmoothHinge { .. } = self.loss {
            return support::split(curve, diagonal, rank_one);
        }
        diagonal.copy_from_slice(curve);
        rank_one.copy_from_slice(curve);
    }

    fn touching(&self, i: usize, a: &[f64]) -> Vec<f64> {
        let mut beta = Vec::with_capacity(a.len());
        self.loss.corner(&self.with_costs(i, a), &mut beta);
        beta
    }

    fn confine(&self, i: usize, s: &mut [f64]) {
        support::confine(self.truth(i), s);
    }

    fn opposite(&self, i: usize, s: &[f64]) -> Vec<f64> {
        let mut beta = s.to_vec();
        beta[self.truth(i)] += 1.0;
        beta
    }
}

impl Witnessed for ScoreBlocks<'_> {
    fn entries(&self, at: &Vec<f64>, _: &mut Vec<u8>) -> Vec<(u64, f64)> {
        let entries = at.iter().enumerate().map(|(y, &weight)| (y as u64, weight));
        entries.filter(|&(_, weight)| weight != 0.0).collect()
    }

    fn point(&self, i: usize, entries: Vec<(u64, f64)>, _: &[u8]) -> Result<Vec<f64>> {
        let refuse = |message: &str| Error::Witness { example: i, message: message.into() };
        if !entries.is_sorted_by(|a, b| a.0 < b.0) {
            return Err(refuse("its classes do not ascend"));
        }
        let mut at = vec![0.0; self.classes];
        for (y, weight) in entries {
            *at.get_mut(y as usize).ok_or_else(|| refuse("it has a class that is none"))? = weight;
        }
        Ok(at)
    }
}
