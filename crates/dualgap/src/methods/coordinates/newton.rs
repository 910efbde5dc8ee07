//! Steps for losses whose curvature changes: Newton's method with the penalty as it is.
//!
//! The model of the losses at w is minimised over the working set; then
//!
//! ```text
//! w ← w + t d,   t = 1, ½, ¼, … until P falls by a share of t Δ,   Δ = Σ s_i'u_i + penalty(w + d) − penalty(w)
//! ```
//!
//! Trials cost the predictions `a + t u` and no product with the data, and the one that is accepted is the next model's place.

use super::classes::Classes;
use super::design::Design;
use super::gram::{Curve, Gram};
use super::local::Local;
use super::model::{Enough, minimise};
use super::plain::Plain;
use super::terms::Terms;
use crate::linalg::kernels::{add_scaled, dot};
use crate::methods::newton::CurvedBlocks;

/// Armijo's condition: a step lowers P by at least this share of what the model promises.
const SHARE: f64 = 1e-4;

/// Near the optimum P falls by less than its rounding, and the slopes still fall by much, which is what the certificate
/// depends on: a step of which the model promises no more than this share of P may leave P where it is, up to this share.
pub const LEVEL: f64 = 1e-12;

/// A step is halved at most this often; then P no longer falls but by rounding.
const HALVINGS: usize = 30;

/// A model is minimised until no step of a cycle gains more than this share of what the first cycle's best step gained.
const INNER: f64 = 0.1;

/// The most steps before the solver checks all weights again.
const MOST_STEPS: usize = 10;

/// The least curvature of an example, in units of the most that its loss can have, to begin with and at the least. Losses
/// with straight parts have models without a minimum.
pub const DAMPING: f64 = 1e-3;
const LEAST_DAMPING: f64 = 1e-9;

/// What the steps work on.
pub struct Steps<'s, B> {
    pub blocks: &'s B,
    pub design: &'s Design,
    pub terms: &'s Terms,
    pub set: &'s [u32],
    /// The damping of the next model.
    pub damping: &'s mut f64,
    pub gram: &'s mut Gram,
    pub halted: &'s dyn Fn() -> bool,
}

impl<B: CurvedBlocks> Steps<'_, B> {
    /// Takes steps from w until no weight of the set gains more than `solved` of what the best did at first. Returns the
    /// entries that were touched.
    pub fn take(&mut self, w: &mut [f64], mut local: Local, solved: f64) -> u64 {
        let (mut touched, mut target) = (0, 0.0);
        for step in 0..MOST_STEPS {
            let old: Vec<f64> = self.set.iter().map(|&c| w[c as usize]).collect();
            let (first, of_model) = self.minimise(w, &local, 0.5 * target);
            touched += of_model;
            if step == 0 {
                target = solved * first;
            }
            let Some(next) = self.search(w, &old, &local, &mut touched) else { break };
            local = next;
            if step > 0 && first <= target || (self.halted)() {
                break;
            }
        }
        touched
    }

    /// Minimises the model over the set. Returns the largest gain of the first cycle, and the entries that were touched.
    fn minimise(&mut self, w: &mut [f64], local: &Local, gain: f64) -> (f64, u64) {
        let Self { blocks, design, terms, set, .. } = *self;
        let enough = Enough { share: INNER, gain };
        let least = *self.damping / blocks.smoothness();
        let (gram, k) = (&mut *self.gram, design.outputs);
        gram.forget();
        let done = if k == 1 {
            let damped = |(curve, mass): (&f64, f64)| mass * curve.max(least);
            let curves: Vec<f64> =
                local.curves.iter().zip(design.masses.iter()).map(damped).collect();
            let (curve, slopes) = (Curve::Each(&curves), local.slopes.clone());
            let mut model = Plain { design, terms, curve, lasting: false, slopes };
            minimise(&mut model, set, w, enough, gram, self.halted)
        } else {
            let count = local.a.len();
            let (mut diagonal, mut rank_one) = (vec![0.0; count], vec![0.0; count]);
            let parts = diagonal.chunks_exact_mut(k).zip(rank_one.chunks_exact_mut(k));
            for (i, (diagonal, rank_one)) in parts.enumerate() {
                blocks.split_curve(i, &local.curves[i * k..(i + 1) * k], diagonal, rank_one);
                let mass = design.masses.of(i);
                diagonal.iter_mut().for_each(|d| *d = mass * (*d + least));
                rank_one.iter_mut().for_each(|r| *r *= mass.sqrt());
            }
            let mut model = Classes::new(design, terms, &local.slopes, &diagonal, &rank_one);
            minimise(&mut model, set, w, enough, gram, self.halted)
        };
        (done.first, done.touched)
    }

    /// Looks for a step toward w, which a model has found from the `old` values of the set. Returns the losses at its end,
    /// and leaves w at the old values if there is none.
    fn search(
        &mut self,
        w: &mut [f64],
        old: &[f64],
        local: &Local,
        touched: &mut u64,
    ) -> Option<Local> {
        let Self { design, terms, set, .. } = *self;
        let new: Vec<f64> = set.iter().map(|&c| w[c as usize]).collect();
        let mut along = vec![0.0; local.a.len()];
        for ((&c, old), new) in set.iter().zip(old).zip(&new) {
            if old != new {
                design.add(c as usize, new - old, &mut along);
                *touched += design.entries(c as usize);
            }
        }
        let penalty = |values: &[f64]| -> f64 {
            set.iter().zip(values).map(|(&c, &w)| terms.of(c as usize, w)).sum()
        };
        let (before, promised) = (penalty(old), dot(&local.slopes, &along));
        let rest = terms.value(w) - penalty(&new);
        let value = local.losses + before + rest;
        let promised = promised + penalty(&new) - before;
        // What is promised has a rounding of its own, and may have lost its sign.
        let flat = promised.abs() <= LEVEL * value.abs();
        let (mut t, mut halvings) = (1.0, 0);
        if !(promised < 0.0 || flat) {
            halvings = HALVINGS;
        }
        while halvings < HALVINGS {
            let mut a = local.a.clone();
            add_scaled(&along, t, &mut a);
            let at = |(old, new): (&f64, &f64)| if t == 1.0 { *new } else { old + t * (new - old) };
            let values: Vec<f64> = old.iter().zip(&new).map(at).collect();
            let next = Local::at(self.blocks, &design.masses, a);
            let reached = next.losses + penalty(&values) + rest;
            let bar = if flat { LEVEL * value.abs() } else { SHARE * t * promised };
            if reached <= value + bar {
                set.iter().zip(&values).for_each(|(&c, to)| w[c as usize] = *to);
                let factor = if halvings == 0 { 0.1 } else { 10.0 };
                *self.damping = (*self.damping * factor).clamp(LEAST_DAMPING, 1.0);
                return Some(next);
            }
            t /= 2.0;
            halvings += 1;
        }
        set.iter().zip(old).for_each(|(&c, old)| w[c as usize] = *old);
        *self.damping = (*self.damping * 10.0).min(1.0);
        None
    }
}
