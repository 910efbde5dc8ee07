//! Dual points as good as the weights of a step.
//!
//! ```text
//! s̃ = ∇φ(a) + ∇²φ(a) Xp          the slopes that the quadratic model has at the end of a step
//! X's̃ + λ(w + p) = 0             the Newton equation: the weights of −s̃ are those of the step
//! P(w + p) − D(−s̃) = Σ mass_i (φ(a⁺) + φ*(s̃) − a⁺s̃)  ≈  Σ mass_i e_i²/(2φ''(a⁺)),      e = s̃ − ∇φ(a⁺)
//! ```
//!
//! The gap of −∇φ(a⁺) itself is `‖X'e‖²/(2λ)`: larger by as much as the curvature of the losses is larger than λ, which is what one
//! or two steps gain. A slope that no dual point has is moved to the next one that has it; what the weights of the dual point then
//! lack is part of the gap. On a9a, logistic loss at λ = 1/n, the gap after four steps is 0.24 % in the place of 47 %, and the distance
//! from the optimum 0.05 %.

use super::blocks::CurvedBlocks;
use super::design::Design;
use crate::dual::problem::Masses;
use crate::linalg::parallel;
use crate::linalg::sum::squared_norm;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The slopes of a model at the end of its step.
#[derive(Clone, Serialize, Deserialize)]
pub struct Tangent {
    /// s̃, K numbers for each example.
    pub slopes: Vec<f64>,
    /// About the gap of −s̃.
    pub gap: f64,
}

/// What is known of the losses at some predictions: `mass_i ∇φ_i`, and what the blocks keep of the curvatures.
#[derive(Clone, Copy)]
pub struct At<'a> {
    pub slopes: &'a [f64],
    pub curves: &'a [f64],
}

/// A step.
pub struct Step<'a> {
    pub begin: At<'a>,
    pub end: At<'a>,
    /// How much the predictions have moved.
    pub moved: &'a [f64],
    /// λw at its end.
    pub ridge: Vec<f64>,
}

impl Step<'_> {
    /// Writes s̃ of some examples and `mass_i s̃_i`; returns `Σ mass_i e_i²/(2φ'')`.
    fn of_one_output<B: CurvedBlocks>(
        &self,
        (blocks, masses): (&B, &Masses),
        range: Range<usize>,
        [out, weighed]: [&mut [f64]; 2],
    ) -> f64 {
        let mut loss = 0.0;
        for (i, (out, weighed)) in range.zip(out.iter_mut().zip(weighed)) {
            let (mass, curve) = (masses.of(i), self.begin.curves[i]);
            if mass > 0.0 {
                *out = self.begin.slopes[i] / mass + curve * self.moved[i];
                blocks.confine(i, std::slice::from_mut(out));
                *weighed = mass * *out;
                loss += excess(*weighed - self.end.slopes[i], mass, curve, self.end.curves[i]);
            }
        }
        loss
    }

    /// The same for K outputs, whose Hessian is diag δ − rr': its inverse on numbers that add up to zero is that of diag δ.
    fn of_several<B: CurvedBlocks>(
        &self,
        (blocks, masses): (&B, &Masses),
        range: Range<usize>,
        [out, weighed]: [&mut [f64]; 2],
    ) -> f64 {
        let k = blocks.outputs();
        let (mut loss, mut rank_one) = (0.0, vec![0.0; k]);
        let (mut begin, mut end) = (rank_one.clone(), rank_one.clone());
        let each = out.chunks_exact_mut(k).zip(weighed.chunks_exact_mut(k));
        for (i, (out, weighed)) in range.zip(each).filter(|&(i, _)| masses.of(i) > 0.0) {
            let (mass, at) = (masses.of(i), i * k..(i + 1) * k);
            let (curve, slope) = (&self.begin.curves[at.clone()], &self.begin.slopes[at.clone()]);
            blocks.bend(i, curve, &self.moved[at.clone()], out);
            out.iter_mut().zip(slope).for_each(|(out, slope)| *out += slope / mass);
            blocks.confine(i, out);
            blocks.split_curve(i, curve, &mut begin, &mut rank_one);
            blocks.split_curve(i, &self.end.curves[at.clone()], &mut end, &mut rank_one);
            let each = out.iter().zip(weighed).zip(&self.end.slopes[at]);
            for (((s, weighed), slope), (begin, end)) in each.zip(begin.iter().zip(&end)) {
                *weighed = mass * s;
                loss += excess(*weighed - slope, mass, *begin, *end);
            }
        }
        loss
    }
}

/// Returns `mass e²/(2φ'')` for `off = mass e`. The larger curvature of a step's begin and end counts: a loss that is flat at one of them
/// is not flat between.
fn excess(off: f64, mass: f64, begin: f64, end: f64) -> f64 {
    if off == 0.0 { 0.0 } else { off * off / (2.0 * mass * begin.max(end)) }
}

impl Tangent {
    /// Returns the slopes of a step's model at its end, unless they are not numbers.
    pub fn of<B: CurvedBlocks>(
        design: &Design<'_>,
        blocks: &B,
        masses: &Masses,
        lambda: f64,
        step: Step<'_>,
    ) -> Option<Self> {
        let k = design.outputs;
        let (mut slopes, mut weighed) =
            (vec![0.0; design.predictions()], vec![0.0; design.predictions()]);
        let arrays: [(&mut [f64], usize); 2] = [(&mut slopes, k), (&mut weighed, k)];
        let of_part = |range: Range<usize>, arrays: [&mut [f64]; 2]| {
            if k == 1 {
                step.of_one_output((blocks, masses), range, arrays)
            } else {
                step.of_several((blocks, masses), range, arrays)
            }
        };
        let losses = parallel::fill_ranges(masses.len(), design.parts(), arrays, of_part);
        let loss: f64 = losses.iter().sum();
        let mut lacking = step.ridge;
        design.add_adjoint(&weighed, &mut lacking);
        let gap = loss + squared_norm(&lacking).value / (2.0 * lambda);
        gap.is_finite().then_some(Self { slopes, gap })
    }

    /// Whether it may have been made of as many predictions.
    pub fn is_sound(&self, predictions: usize) -> bool {
        self.slopes.len() == predictions
            && self.gap >= 0.0
            && self.slopes.iter().all(|s| s.is_finite())
    }

    /// Returns the dual point of an example, whatever the slopes are.
    pub fn point<B: CurvedBlocks>(&self, blocks: &B, i: usize, slope: &mut [f64]) -> B::Point {
        slope.copy_from_slice(&self.slopes[i * slope.len()..(i + 1) * slope.len()]);
        blocks.confine(i, slope);
        blocks.opposite(i, slope)
    }
}
