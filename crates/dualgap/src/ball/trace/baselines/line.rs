//! Exact line search along a direction D whose predictions δ = 𝒜(D) are known.
//!
//! ```text
//! P'(γ) = μ(⟨X, D⟩ + γ‖D‖²) − Σ m_i ⟨corner(a_i + γδ_i), δ_i⟩
//! ```

use crate::ball::Losses;
use crate::ball::trace::{LowRankProblem, Map};

/// The search ends when the slope is below this share of the slope at the beginning.
const FLAT: f64 = 1e-3;

/// The search ends after this many evaluations of the slope, each of which is a loop over all predictions.
const LOOKS: usize = 16;

/// A direction; see the module's head.
pub(super) struct Line<'a> {
    pub a: &'a [f64],
    pub delta: &'a [f64],
    /// ⟨X, D⟩ and ‖D‖².
    pub along: f64,
    pub square: f64,
}

impl Line<'_> {
    fn slope<M: Map, L: Losses>(&self, problem: &LowRankProblem<M, L>, gamma: f64) -> f64 {
        let (c, mut scratch) = (problem.map().outputs(), L::Scratch::default());
        let (mut at, mut to, mut sum) = (vec![0.0; c], vec![0.0; c], 0.0);
        for (i, mass) in problem.masses().iter().enumerate() {
            let (a, delta) = (&self.a[i * c..][..c], &self.delta[i * c..][..c]);
            at.iter_mut().zip(a).zip(delta).for_each(|((at, a), delta)| *at = a + gamma * delta);
            problem.losses().corner(i, &at, &mut to, &mut scratch);
            sum += mass * to.iter().zip(delta).map(|(to, delta)| to * delta).sum::<f64>();
        }
        problem.mu() * (self.along + gamma * self.square) - sum
    }

    /// An upper bound on P'': the curvature that the losses' γ allows, plus that of μ.
    pub fn curvature<M: Map, L: Losses>(&self, problem: &LowRankProblem<M, L>) -> f64 {
        let c = problem.map().outputs();
        let squares = self.delta.chunks_exact(c).zip(problem.masses());
        let sum: f64 = squares.map(|(d, mass)| mass * d.iter().map(|d| d * d).sum::<f64>()).sum();
        sum / problem.losses().smoothness() + problem.mu() * self.square
    }

    /// Returns the best γ in [0, 1], up to the tolerance of the search.
    pub fn search<M: Map, L: Losses>(&self, problem: &LowRankProblem<M, L>) -> f64 {
        let begin = self.slope(problem, 0.0);
        if begin >= 0.0 || begin.is_nan() {
            return 0.0;
        }
        let (mut low, mut high): ((f64, f64), Option<(f64, f64)>) = ((0.0, begin), None);
        // This step does not pass the minimum, and for a squared loss it is the minimum.
        let mut gamma = (-begin / self.curvature(problem)).clamp(0.0, 1.0);
        for _ in 0..LOOKS {
            let slope = self.slope(problem, gamma);
            if slope.abs() <= -FLAT * begin || (slope < 0.0 && gamma >= 1.0) || slope.is_nan() {
                return gamma;
            }
            if slope < 0.0 {
                low = (gamma, slope);
            } else {
                high = Some((gamma, slope));
            }
            gamma = match high {
                None => (4.0 * gamma).min(1.0),
                Some((end, rise)) => {
                    let secant = low.0 - low.1 * (end - low.0) / (rise - low.1);
                    // Stay away from both ends, so that the interval shrinks from both sides.
                    secant.clamp(low.0 + 0.1 * (end - low.0), low.0 + 0.9 * (end - low.0))
                }
            };
        }
        low.0
    }
}
