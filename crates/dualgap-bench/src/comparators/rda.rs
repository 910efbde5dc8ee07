//! Regularised dual averaging (Xiao, 2010), which the paper says its own update resembles.
//!
//! ```text
//! w = argmin ⟨G/t, w⟩ + λ/2‖w‖² + σ‖w‖₁ + (β/2t)‖w‖² = soft(−G, tσ)/(λt + β),      G = Σ φ'(⟨x_i, w⟩) x_i
//! ```
//!
//! The penalty is strongly convex, so β need not grow; R²/γ keeps the first steps stable. A weight is a function of G and
//! t, so nothing but the entries of the example is touched. The weights at hand are the last ones, not their average.

use super::{Comparator, Objective, soft};
use dualgap::linalg::Random;

pub struct Rda<'o> {
    objective: &'o Objective<'o>,
    random: Random,
    t: u64,
    beta: f64,
    /// −G.
    pulls: Vec<f64>,
}

impl<'o> Rda<'o> {
    pub fn new(objective: &'o Objective<'o>, seed: u64) -> Self {
        let d = objective.blocks.rows().width();
        let (random, beta) = (Random::new(seed), objective.steepest());
        Self { objective, random, t: 0, beta, pulls: vec![0.0; d] }
    }

    fn weight(&self, j: usize) -> f64 {
        let t = self.t as f64;
        let soft = soft(self.pulls[j], t * self.objective.l1);
        if soft == 0.0 { 0.0 } else { soft / (self.objective.lambda * t + self.beta) }
    }
}

impl Comparator for Rda<'_> {
    const NAME: &'static str = "RDA";

    fn advance(&mut self) -> f64 {
        for _ in 0..self.objective.n() {
            let i = self.random.below(self.objective.n());
            let row = self.objective.row(i);
            let a: f64 = row.iter().map(|(j, x)| x * self.weight(j)).sum();
            let pull = self.objective.pull(i, a);
            row.for_each(|j, x| self.pulls[j] += pull * x);
            self.t += 1;
        }
        1.0
    }

    fn weights(&self) -> Vec<f64> {
        (0..self.pulls.len()).map(|j| self.weight(j)).collect()
    }
}
