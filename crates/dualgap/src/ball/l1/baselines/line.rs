//! Exact line search along a direction whose predictions are known, and the step along it.
//!
//! ```text
//! P'(γ) = μ(⟨X, D⟩ + γ‖D‖²) − Σ m_i ⟨corner(a_i + γδ_i), δ_i⟩,      δ = A D
//! ```
//!
//! costs a loop over the examples that δ moves, not over the data. P is convex, so its slope increases, and a step of
//! −P'(0)/curvature does not pass the minimum. The search starts at the multiple of that step at which the last search
//! ended.

use super::common::{Common, Standing};
use crate::ball::Losses;

/// The search ends when the slope is below this share of the slope at the beginning. The possible gain that it leaves
/// is about the square of this share.
const FLAT: f64 = 1e-2;

/// The search ends after this many evaluations of the slope, at the last point before the minimum.
const LOOKS: usize = 16;

/// A direction D in which X may move.
#[derive(Clone, Debug)]
pub(super) struct Direction {
    /// A D; zero except at `rows`.
    pub delta: Vec<f64>,
    /// The examples whose predictions move.
    pub rows: Vec<u32>,
    /// ⟨X, D⟩.
    pub along: f64,
    /// ‖D‖².
    pub square: f64,
    /// The step of the last search, as a multiple of the safe one.
    further: f64,
    shifted: Vec<f64>,
    to: Vec<f64>,
}

impl Direction {
    pub fn new(examples: usize, outputs: usize) -> Self {
        Self {
            delta: vec![0.0; examples * outputs],
            rows: Vec::with_capacity(examples),
            along: 0.0,
            square: 0.0,
            further: 1.0,
            shifted: vec![0.0; outputs],
            to: vec![0.0; outputs],
        }
    }

    /// P'(γ).
    fn slope<L: Losses>(
        &mut self,
        common: &mut Common<'_, '_, L>,
        at: &Standing,
        gamma: f64,
    ) -> f64 {
        let (problem, mut sum) = (common.problem, 0.0);
        if problem.outputs() == 1 {
            let (masses, losses) = (problem.masses(), problem.losses());
            for &i in &self.rows {
                let i = i as usize;
                let (delta, mut to) = (self.delta[i], [0.0]);
                losses.corner(i, &[at.a[i] + gamma * delta], &mut to, common.scratch);
                sum += masses[i] * to[0] * delta;
            }
            return problem.mu() * (self.along + gamma * self.square) - sum;
        }
        for &i in &self.rows {
            let i = i as usize;
            let (a, delta) = (problem.of(i, &at.a), problem.of(i, &self.delta));
            for ((shifted, a), delta) in self.shifted.iter_mut().zip(a).zip(delta) {
                *shifted = a + gamma * delta;
            }
            problem.losses().corner(i, &self.shifted, &mut self.to, common.scratch);
            let product: f64 = self.to.iter().zip(delta).map(|(alpha, delta)| alpha * delta).sum();
            sum += problem.masses()[i] * product;
        }
        problem.mu() * (self.along + gamma * self.square) - sum
    }

    /// Returns the best γ in [0, `most`], up to the tolerance of the search.
    pub fn search<L: Losses>(
        &mut self,
        common: &mut Common<'_, '_, L>,
        at: &Standing,
        most: f64,
    ) -> f64 {
        let problem = common.problem;
        let begin = self.slope(common, at, 0.0);
        if begin >= 0.0 || begin.is_nan() {
            return 0.0;
        }
        let squares = self.rows.iter().map(|&i| {
            let delta = problem.of(i as usize, &self.delta);
            problem.masses()[i as usize] * delta.iter().map(|d| d * d).sum::<f64>()
        });
        let curvature =
            squares.sum::<f64>() / problem.losses().smoothness() + problem.mu() * self.square;
        let (mut low, mut high): ((f64, f64), Option<(f64, f64)>) = ((0.0, begin), None);
        let safe = -begin / curvature;
        let mut gamma = (self.further * safe).min(most);
        let mut rose = false; // whether the last look was beyond the minimum
        for _ in 0..LOOKS {
            let slope = self.slope(common, at, gamma);
            if slope.abs() <= -FLAT * begin || (slope < 0.0 && gamma >= most) {
                self.further = (gamma / safe).clamp(1.0, 1e3);
                return gamma;
            }
            let next = if slope < 0.0 {
                let before = std::mem::replace(&mut low, (gamma, slope));
                if let (Some(high), false) = (&mut high, rose) {
                    high.1 *= 0.5; // the Illinois rule: no end stays for long
                }
                rose = false;
                // The secant through the last two points, with a limit on the extrapolation.
                let secant = gamma - slope * (gamma - before.0) / (slope - before.1);
                if secant > gamma { secant.min(gamma + 16.0 * (gamma - before.0)) } else { most }
            } else {
                if rose {
                    low.1 *= 0.5;
                }
                (high, rose) = (Some((gamma, slope)), true);
                most
            };
            gamma = match high {
                Some((end, rise)) => low.0 - low.1 * (end - low.0) / (rise - low.1),
                None => next.min(most),
            };
            if gamma.is_nan() {
                break;
            }
        }
        low.0
    }

    /// Updates the predictions and the corners after a step γ, and V for the examples whose corners have changed.
    pub fn follow<L: Losses>(
        &mut self,
        common: &mut Common<'_, '_, L>,
        at: &mut Standing,
        gamma: f64,
    ) {
        let (problem, c) = (common.problem, common.problem.outputs());
        for &i in &self.rows {
            let i = i as usize;
            let a = &mut at.a[i * c..][..c];
            a.iter_mut().zip(&self.delta[i * c..]).for_each(|(a, delta)| *a += gamma * delta);
            problem.losses().corner(i, a, &mut self.to, common.scratch);
            let alpha = &mut at.alpha[i * c..][..c];
            let mut changed = false;
            for ((alpha, to), change) in alpha.iter_mut().zip(&self.to).zip(&mut self.shifted) {
                *change = to - *alpha;
                changed |= *change != 0.0;
                *alpha = *to;
            }
            if changed {
                *common.touched += problem.add_example(i, &self.shifted, 1.0, &mut at.v);
            }
        }
    }
}
