//! Blocks of one number: the dual variable α_i of an example under a loss of its prediction a = ⟨x_i, w⟩.
//!
//! With q = mass_i‖x_i‖²/λ, u the α that the prediction asks for, and z = u − α, the paper's options are
//!
//! ```text
//! I    the β that maximises −φ*(−β) − aβ − (q/2)(β − α)²: exact coordinate ascent
//! II   the best β between α and u: since the above is concave, its maximiser brought to that interval
//! III  α + sz,  s = min(1, (φ(a) + φ*(−α) + aα + (γ/2)z²) / (z²(γ + q)))
//! IV   the same with the largest ‖x‖² of all examples, ...
//! IV-lipschitz   ... and with 4L² in the place of z²; for losses that are L-Lipschitz and not smooth
//! V    α + sz,  s = γ/(γ + q) with the largest ‖x‖²: no look at the example; for smooth losses only
//! ```
//!
//! III and IV as printed can exceed 1; the minimum is ours, and so is z = 0, where they are 0/0: nothing is to be done.

use super::balance::{balance, root_of_rising};
use crate::dual::Pace;
use crate::dual::problem::Masses;
use crate::dual::witness::{DEFECT, Witnessed};
use crate::dual::{
    Audit, Blocks, Found, FreeIntercept, InterceptBlocks, Locality, Plain, Sweep, TOGETHER, View,
    Workload, no_number,
};
use crate::linalg::kernels::{add_row, score};
use crate::linalg::underflow::{product_above, root_above};
use crate::linalg::{Accumulate, Measured, Row, Rows, gamma, parallel, sized_score};
use crate::methods::newton::CurvedBlocks;
use crate::term::{Gram, Loss, Norm};
use crate::{Error, Result};
use dualgap_map::fetch;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::sync::OnceLock;

/// Losses are computed so many entries at a time, and as many examples at most: putting their sums together takes about as long
/// as a row of a hundred entries.
const ENTRIES: usize = 2048;
const SEARCHES: usize = 64;

/// How the step of a block is chosen: the options of the paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// The best dual variable of all.
    #[default]
    I,
    /// The best one on the segment to the corner.
    II,
    /// A closed form on the segment to the corner.
    III,
    /// The same with the norm of the longest example.
    IV,
    /// The same with 4L² in the place of ‖z‖²: the steps of the theorem for losses that are L-Lipschitz and not smooth.
    #[serde(rename = "iv-lipschitz")]
    IVLipschitz,
    /// A constant share of the segment, for smooth losses.
    V,
}

/// Returns the error for the bound of Lipschitz losses under a smooth one.
pub(crate) fn smooth_needs_no_lipschitz() -> Error {
    Error::setting("option IV with 4L² is for losses that are Lipschitz and not smooth: take IV")
}

/// A linear model's blocks over borrowed rows.
///
/// ```
/// use dualgap::dual::Blocks;
/// use dualgap::linalg::Rows;
/// use dualgap::structure::{Choice, LinearBlocks};
/// use dualgap::term::ScalarLoss;
/// let rows = Rows::dense(&[vec![1.0, 0.0], vec![0.0, 2.0]])?;
/// let blocks = LinearBlocks::new(&rows, vec![1.0, -1.0], ScalarLoss::Hinge, Choice::I)?;
/// assert_eq!((blocks.len(), blocks.dim()), (2, 2));
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Debug)]
pub struct LinearBlocks<'a, L> {
    rows: &'a Rows,
    targets: Vec<f64>,
    loss: L,
    choice: Choice,
    /// 4L², for option IV-lipschitz.
    apart: f64,
    euclidean: SquaredNorms,
    /// The same with ‖x‖_∞, for links that use this norm: computed when one does.
    largest: OnceLock<SquaredNorms>,
    /// Whether neighbouring rows are alike, once somebody has asked.
    alike: OnceLock<bool>,
}

/// ‖x‖² of every example, and the largest of them.
#[derive(Debug)]
struct SquaredNorms {
    of: Vec<f64>,
    most: f64,
}

impl SquaredNorms {
    fn new(of: Vec<f64>) -> Self {
        let most = of.iter().copied().fold(0.0, f64::max);
        Self { of, most }
    }
}

impl<'a, L: Loss> LinearBlocks<'a, L> {
    /// Returns the blocks of these rows and their targets, or an error if the numbers differ or the loss refuses a
    /// target.
    pub fn new(rows: &'a Rows, targets: Vec<f64>, loss: L, choice: Choice) -> Result<Self> {
        if rows.len() != targets.len() {
            let (rows, targets) = (rows.len(), targets.len());
            return Err(Error::setting(format!("there are {rows} rows and {targets} targets")));
        }
        if let Some(y) = targets.iter().find(|y| !y.is_finite()) {
            return Err(Error::setting(format!("a target is {y}")));
        }
        loss.check(&targets)?;
        if choice == Choice::V && loss.smoothness() <= 0.0 {
            return Err(Error::setting("option V is for smooth losses, and this one is not"));
        }
        let steepest = targets.iter().map(|&y| loss.steepness(f64::MAX, y)).fold(0.0, f64::max);
        if choice == Choice::IVLipschitz && (loss.smoothness() > 0.0 || !steepest.is_finite()) {
            return Err(smooth_needs_no_lipschitz());
        }
        let all = || (0..rows.len()).map(|i| rows.row(i));
        let euclidean = SquaredNorms::new(all().map(Row::squared_norm).collect());
        let largest = OnceLock::new();
        let apart = 4.0 * steepest * steepest;
        let alike = OnceLock::new();
        Ok(Self { rows, targets, loss, choice, apart, euclidean, largest, alike })
    }

    /// Returns the same blocks over other rows, one for each of these.
    pub(in crate::structure) fn over<'r>(&self, rows: &'r Rows) -> LinearBlocks<'r, L>
    where
        L: Clone,
    {
        let squares = (0..rows.len()).map(|i| rows.row(i).squared_norm()).collect();
        LinearBlocks {
            rows,
            targets: self.targets.clone(),
            loss: self.loss.clone(),
            choice: self.choice,
            apart: self.apart,
            euclidean: SquaredNorms::new(squares),
            largest: OnceLock::new(),
            alike: OnceLock::new(),
        }
    }

    /// Returns the blocks of one-hot inputs under a kernel: in its norm the inputs have the lengths √k(x, x).
    #[must_use]
    pub fn under_kernel(self, gram: &Gram<'_>) -> Self {
        Self { euclidean: SquaredNorms::new(gram.diagonal().to_vec()), ..self }
    }

    /// Returns the inputs.
    pub fn rows(&self) -> &'a Rows {
        self.rows
    }

    /// Returns the loss.
    pub fn loss(&self) -> &L {
        &self.loss
    }

    /// Returns the targets, one for every example.
    pub fn targets(&self) -> &[f64] {
        &self.targets
    }

    /// Returns the largest ‖x‖² of all examples.
    pub fn largest_squared_norm(&self) -> f64 {
        self.euclidean.most
    }

    fn alike(&self) -> bool {
        *self.alike.get_or_init(|| self.rows.resemble_neighbours(&self.targets))
    }

    /// Returns the squared norms in the norm of the step.
    #[inline]
    fn squared_norms(&self, view: &View<'_>) -> &SquaredNorms {
        match view.norm {
            Norm::Euclidean => &self.euclidean,
            Norm::Largest => self.largest.get_or_init(|| {
                let of = |i: usize| {
                    let mut most = 0.0_f64;
                    self.rows.row(i).for_each(|_, x| most = most.max(x.abs()));
                    most.powi(2)
                };
                SquaredNorms::new((0..self.rows.len()).map(of).collect())
            }),
        }
    }

    /// Returns the new α by the chosen option, at prediction `a`.
    #[inline]
    fn choose(&self, i: usize, a: f64, alpha: f64, view: &View<'_>) -> f64 {
        let (y, loss) = (self.targets[i], &self.loss);
        let norms = self.squared_norms(view);
        let q = view.scale * norms.of[i];
        if self.choice == Choice::I {
            return loss.maximizer(a, y, alpha, q);
        }
        let u = loss.corner(a, y);
        let z = u - alpha;
        if z == 0.0 {
            return alpha;
        }
        let (smooth, longest) = (loss.smoothness(), view.scale * norms.most);
        let share = match self.choice {
            Choice::I | Choice::II => {
                return loss.maximizer(a, y, alpha, q).clamp(alpha.min(u), alpha.max(u));
            }
            Choice::IVLipschitz => {
                let gap = loss.value(a, y).value + loss.conjugate(alpha, y).value + alpha * a;
                gap.max(0.0) / (self.apart * longest)
            }
            Choice::III | Choice::IV => {
                let curvature = if self.choice == Choice::III { q } else { longest };
                let gap = loss.value(a, y).value + loss.conjugate(alpha, y).value + alpha * a;
                (gap.max(0.0) + 0.5 * smooth * z * z) / (z * z * (smooth + curvature))
            }
            Choice::V => smooth / (smooth + longest),
        };
        // Without any curvature the quotient is infinite, which stands for the whole segment.
        if share < 1.0 { alpha + share * z } else { u }
    }
}

/// The workspace of a block during a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinearScratch {
    /// ⟨x, w⟩.
    a: f64,
    /// to − at.
    z: f64,
}

impl<L: Loss> Blocks for LinearBlocks<'_, L> {
    const SEES_FACTOR: bool = true;
    const STEPS_PER_CHECK: u64 = 64;

    type Visits = Plain;
    type Intercept = FreeIntercept;
    type Corner = f64;
    type Point = f64;
    type Scratch = LinearScratch;

    fn len(&self) -> usize {
        self.targets.len()
    }

    fn dim(&self) -> usize {
        self.rows.width()
    }

    fn workload(&self) -> Workload {
        let (stored, rows) = (self.rows.stored(), self.rows.len());
        Workload {
            pass: None,
            is_little: parallel::is_little(stored),
            searches: (ENTRIES / (stored / rows.max(1)).max(1)).clamp(1, SEARCHES),
            image_parts: parallel::parts(stored as f64, self.rows.width()),
        }
    }

    fn importance(&self, i: usize) -> f64 {
        self.euclidean.of[i].sqrt()
    }

    /// The other options of the paper, like its order, are left as they are.
    fn pace(&self) -> Pace {
        if self.choice == Choice::I { Pace::Eager } else { Pace::Patient }
    }

    fn locality(&self) -> Locality {
        let rows = self.rows;
        let (fetches, stretches) = (rows.are_many_and_short(), rows.are_large_and_mapped());
        let chunks = self.choice == Choice::I && fetches && (stretches || !self.alike());
        Locality { chunks, stretches, fetches }
    }

    #[inline]
    fn fetch(&self, i: usize, at: &f64) {
        fetch(at);
        fetch(&self.targets[i]);
        fetch(&self.euclidean.of[i]);
        self.rows.fetch(i);
    }

    fn sweep(&self, sweep: Sweep<'_, f64>) -> Result<bool> {
        if self.choice != Choice::I {
            return Ok(false);
        }
        let (scales, masses) = (sweep.scales, sweep.masses);
        sweep.each(
            |i, at| self.fetch(i, at),
            |i, at, v, noted| {
                let (row, y, squares) = (self.rows.row(i), self.targets[i], self.euclidean.of[i]);
                let (a, scale) = (score(row, v), scales.of(i));
                if let Some(outlook) = noted.outlook(i) {
                    let loss = self.loss.value(a, y).value;
                    let gap = loss + self.loss.conjugate(*at, y).value + *at * a;
                    outlook.see(masses.of(i), gap, loss);
                }
                let to = self.loss.maximizer(a, y, *at, scale * squares);
                let z = to - *at;
                if z == 0.0 {
                    return Ok(false);
                }
                if !z.is_finite() {
                    return Err(no_number(i));
                }
                if let Some(gained) = &mut noted.gained {
                    let rise = self.loss.conjugate(*at, y).value - self.loss.conjugate(to, y).value;
                    **gained += masses.of(i) * (rise - a * z - 0.5 * (scale * (squares * z * z)));
                }
                let factor = scale * z;
                add_row(row, factor, v);
                *at = to;
                Ok(true)
            },
        )?;
        Ok(true)
    }

    fn smoothness(&self) -> f64 {
        self.loss.smoothness()
    }

    fn scratch(&self) -> LinearScratch {
        LinearScratch::default()
    }

    /// Returns zero if it is feasible, as it is for every loss of the library.
    fn start(&self, i: usize) -> f64 {
        let (low, high) = self.loss.domain(self.targets[i]);
        0.0_f64.clamp(low, high)
    }

    fn best_corner(
        &self,
        i: usize,
        w: &[f64],
        corner: &mut f64,
        scratch: &mut LinearScratch,
    ) -> Result<Found> {
        self.rescore(i, w, scratch);
        *corner = self.loss.corner(scratch.a, self.targets[i]);
        Ok(Found::exact(self.loss.value(scratch.a, self.targets[i]).value))
    }

    fn corner_at_quotient(
        &self,
        i: usize,
        w: &[f64],
        divisor: f64,
        corner: &mut f64,
        _: &mut LinearScratch,
    ) -> Result<bool> {
        *corner = self.loss.corner(score(self.rows.row(i), w) / divisor, self.targets[i]);
        Ok(true)
    }

    #[inline]
    fn aim(
        &self,
        i: usize,
        at: &f64,
        view: &View<'_>,
        corner: &mut f64,
        scratch: &mut LinearScratch,
    ) -> Result<()> {
        scratch.a = view.factor * score(self.rows.row(i), view.w);
        *corner = self.choose(i, scratch.a, *at, view);
        Ok(())
    }

    fn rescore(&self, i: usize, w: &[f64], scratch: &mut LinearScratch) {
        scratch.a = score(self.rows.row(i), w);
    }

    fn difference(&self, i: usize, at: &f64, to: &f64, scratch: &mut LinearScratch) -> f64 {
        scratch.z = to - at;
        let y = self.targets[i];
        self.loss.conjugate(*at, y).value - self.loss.conjugate(*to, y).value
    }

    fn slope(&self, _: usize, _: &[f64], scratch: &mut LinearScratch) -> f64 {
        scratch.a * scratch.z
    }

    fn curvature(&self, i: usize, scratch: &mut LinearScratch) -> f64 {
        self.euclidean.of[i] * scratch.z * scratch.z
    }

    /// Steps all the way to the target, unless w has moved since the block aimed: then to the best point on the
    /// segment.
    #[inline]
    fn step_length(
        &self,
        i: usize,
        at: &f64,
        to: &f64,
        view: &View<'_>,
        scratch: &mut LinearScratch,
    ) -> f64 {
        scratch.z = to - at;
        if scratch.z == 0.0 {
            return 0.0;
        }
        if view.fresh {
            // If z is NaN or infinite, this is NaN.
            return 1.0 + 0.0 * scratch.z;
        }
        scratch.a = view.factor * score(self.rows.row(i), view.w);
        let q = view.scale * self.squared_norms(view).of[i];
        let best = self.loss.maximizer(scratch.a, self.targets[i], *at, q);
        ((best - at) / scratch.z).clamp(0.0, 1.0)
    }

    fn gap(&self, i: usize, at: &f64, _: &[f64], _: &f64, scratch: &mut LinearScratch) -> f64 {
        let (a, y) = (scratch.a, self.targets[i]);
        self.loss.value(a, y).value + self.loss.conjugate(*at, y).value + at * a
    }

    #[inline]
    fn displace(
        &self,
        i: usize,
        factor: f64,
        out: &mut impl Accumulate,
        scratch: &mut LinearScratch,
    ) {
        let factor = factor * scratch.z;
        out.add_row(self.rows.row(i), factor);
    }

    #[inline]
    fn mix(&self, _: usize, gamma: f64, at: &mut f64, to: &f64) {
        *at = if gamma >= 1.0 { *to } else { *at + gamma * (to - *at) };
    }

    fn blend(&self, _: usize, share: f64, into: &mut f64, from: &f64) {
        *into = if share >= 1.0 { *from } else { *into + share * (from - *into) };
    }

    fn add(
        &self,
        i: usize,
        at: &f64,
        factor: f64,
        out: &mut impl Accumulate,
        _: &mut LinearScratch,
    ) {
        if *at != 0.0 {
            out.add_row(self.rows.row(i), factor * at);
        }
    }

    fn audit(&self, i: usize, at: &f64, scratch: &mut LinearScratch) -> Result<Audit> {
        let mut found = [[0.0]; 4];
        self.audits(i, &[at], found.each_mut().map(|number| &mut number[..]), scratch)?;
        let [[value], [error], [reach], [span]] = found;
        Ok(Audit { dual: Measured { value, error }, reach, span })
    }

    /// A mean of feasible numbers can miss the interval by rounding; the audit then uses the nearest feasible number.
    fn audits<P: Borrow<f64>>(
        &self,
        first: usize,
        points: &[P],
        [values, errors, reaches, spans]: [&mut [f64]; 4],
        _: &mut LinearScratch,
    ) -> Result<()> {
        let (mut alphas, mut near) = ([0.0; TOGETHER], [0.0; TOGETHER]);
        let (alphas, near) = (&mut alphas[..points.len()], &mut near[..points.len()]);
        alphas.iter_mut().zip(points).for_each(|(alpha, at)| *alpha = *at.borrow());
        let targets = &self.targets[first..first + points.len()];
        self.loss.nearest_feasible(alphas, targets, near);
        for (k, (alpha, near)) in alphas.iter().zip(&*near).enumerate() {
            if !alpha.is_finite() || (alpha - near).abs() > DEFECT {
                let (low, high) = self.loss.domain(targets[k]);
                let message =
                    format!("its dual variable is {alpha}, and it lies within {low} to {high}");
                return Err(Error::Witness { example: first + k, message });
            }
        }
        self.loss.conjugates(near, targets, [&mut *values, errors]);
        values.iter_mut().for_each(|value| *value = -*value);
        for (k, (alpha, near)) in alphas.iter().zip(near).enumerate() {
            let (i, off) = (first + k, (alpha - *near).abs());
            if *alpha == 0.0 && off == 0.0 {
                (reaches[k], spans[k]) = (0.0, 0.0);
                continue;
            }
            let stored = self.rows.row(i).stored();
            let length = root_above(self.euclidean.of[i], stored);
            // Rounding of mass/λ, of its product with α, and of that with the entry; two of these products can underflow.
            let rounding = product_above(alpha.abs(), gamma(6));
            reaches[k] = product_above(length, off + rounding) * (1.0 + 1e-9);
            // The root of the number of entries would do; it takes longer than all the rest.
            let span = length * (1.0 + alpha.abs()) + stored as f64;
            spans[k] = if *alpha == 0.0 { 0.0 } else { span };
        }
        Ok(())
    }

    fn rounding(&self, i: usize, w: &[f64], largest_weight: f64) -> f64 {
        self.rounding_near(i, w, largest_weight, 0.0)
    }

    fn rounding_near(&self, i: usize, w: &[f64], _: f64, off: f64) -> f64 {
        let (mut value, mut error) = ([0.0], [0.0]);
        self.exact_losses(i, w, off, [&mut value, &mut error]);
        error[0]
    }

    fn exact_losses(&self, first: usize, w: &[f64], off: f64, out: [&mut [f64]; 2]) -> bool {
        let (mut a, mut offs) = ([0.0; TOGETHER], [0.0; TOGETHER]);
        let count = out[0].len();
        for (i, (a, a_off)) in (first..).zip(a.iter_mut().zip(&mut offs)).take(count) {
            let row = self.rows.row(i);
            let size;
            (*a, size) = sized_score(row, w);
            let carried =
                if off == 0.0 { 0.0 } else { product_above(row.norm1(), off) * (1.0 + 1e-9) };
            *a_off = gamma(row.stored() + 8) * size + carried;
        }
        let targets = &self.targets[first..first + count];
        self.loss.values_near(&a[..count], &offs[..count], targets, out);
        true
    }
}

impl<L: Loss> InterceptBlocks for LinearBlocks<'_, L> {
    fn balanced(&self, points: &[f64], masses: &Masses, column: usize) -> Option<Vec<f64>> {
        let shares: Vec<f64> = masses
            .iter()
            .enumerate()
            .map(|(i, mass)| mass * self.rows.row(i).get(column))
            .collect();
        let domains = self.targets.iter().map(|&y| self.loss.domain(y)).collect::<Vec<_>>();
        balance(points, &shares, &domains)
    }

    fn best_free(&self, w: &[f64], masses: &Masses, column: usize) -> f64 {
        // The predictions without this weight, and its coefficient in each.
        let parts: Vec<(f64, f64)> = (0..self.targets.len())
            .map(|i| {
                let (row, x) = (self.rows.row(i), self.rows.row(i).get(column));
                (score(row, w) - x * w[column], x)
            })
            .collect();
        // The slope of the mean loss, which rises with the weight.
        let slope = |b: f64| -> f64 {
            let each = parts.iter().zip(masses.iter()).zip(&self.targets);
            each.map(|((&(a, x), mass), &y)| -mass * x * self.loss.corner(a + x * b, y)).sum()
        };
        root_of_rising(slope, w[column])
    }
}

impl<L: Loss> Witnessed for LinearBlocks<'_, L> {
    fn entries(&self, at: &f64, _: &mut Vec<u8>) -> Vec<(u64, f64)> {
        vec![(0, *at)]
    }

    fn point(&self, i: usize, entries: Vec<(u64, f64)>, _: &[u8]) -> Result<f64> {
        match entries[..] {
            [(0, alpha)] => Ok(alpha),
            _ => Err(Error::Witness { example: i, message: "it has not one number".into() }),
        }
    }
}

impl<L: Loss> CurvedBlocks for LinearBlocks<'_, L> {
    fn inputs(&self) -> &Rows {
        self.rows
    }

    fn outputs(&self) -> usize {
        1
    }

    fn is_curved(&self) -> bool {
        self.loss.curvature(0.0, 1.0).is_some()
    }

    fn has_corners(&self) -> bool {
        self.loss.smoothness() == 0.0
    }

    fn smoothed_orders(
        &self,
        first: usize,
        around: (f64, &[f64]),
        a: &[f64],
        out: [&mut [f64]; 4],
    ) {
        self.loss.smoothed_orders(around, a, &self.targets[first..first + a.len()], out);
    }

    fn slope_at(&self, _: usize, at: &f64, slope: &mut [f64]) {
        slope[0] = -at;
    }

    #[inline]
    fn second_order(&self, i: usize, a: &[f64], slope: &mut [f64], curve: &mut [f64]) -> f64 {
        let [value, first, second] =
            self.loss.second_order(a[0], self.targets[i]).unwrap_or_default();
        (slope[0], curve[0]) = (first, second);
        value
    }

    fn second_orders(&self, first: usize, a: &[f64], out: [&mut [f64]; 3]) {
        self.loss.second_orders(a, &self.targets[first..first + a.len()], out);
    }

    fn scaled_duals(&self, first: usize, a: &[f64], scale: f64, out: &mut [f64]) -> Result<()> {
        self.loss.scaled_conjugates(scale, a, &self.targets[first..first + a.len()], out);
        out.iter_mut().for_each(|value| *value = -*value);
        Ok(())
    }

    fn curvature_entry(&self, _: usize, curve: &[f64], _: (usize, usize)) -> f64 {
        curve[0]
    }

    fn bend(&self, _: usize, curve: &[f64], u: &[f64], out: &mut [f64]) {
        out[0] = curve[0] * u[0];
    }

    fn is_quadratic(&self) -> bool {
        self.loss.is_quadratic()
    }

    fn split_curve(&self, _: usize, curve: &[f64], diagonal: &mut [f64], rank_one: &mut [f64]) {
        (diagonal[0], rank_one[0]) = (curve[0], 0.0);
    }

    fn touching(&self, i: usize, a: &[f64]) -> f64 {
        self.loss.corner(a[0], self.targets[i])
    }

    fn confine(&self, i: usize, s: &mut [f64]) {
        let (low, high) = self.loss.domain(self.targets[i]);
        s[0] = s[0].clamp(-high, -low);
    }

    fn opposite(&self, _: usize, s: &[f64]) -> f64 {
        -s[0]
    }
}
