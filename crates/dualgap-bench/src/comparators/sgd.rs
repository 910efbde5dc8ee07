//! Stochastic gradients with a proximal step for both penalties.
//!
//! ```text
//! w ← prox(w − η_t φ'(⟨x_i, w⟩) x_i),     η_t = 1/(λ(t + t₀)),   t₀ = R²/(γλ),       i drawn uniformly
//! ```
//!
//! The steps are those of strong convexity, and t₀ keeps the first of them stable. The prox shrinks every weight in every
//! step. With `u = (t + t₀) w` it is `u ← soft(u − φ' x_i/λ, σ/λ)`, so the weights that an example does not have are brought
//! up to date when they are next needed.

use super::{Comparator, Objective, soft};
use dualgap::linalg::Random;

pub struct ProximalSgd<'o> {
    objective: &'o Objective<'o>,
    random: Random,
    /// t, and t₀.
    t: u64,
    begin: f64,
    /// u as it was after step `seen`, weight by weight.
    u: Vec<f64>,
    seen: Vec<u64>,
}

impl<'o> ProximalSgd<'o> {
    pub fn new(objective: &'o Objective<'o>, seed: u64) -> Self {
        let d = objective.blocks.rows().width();
        let begin = (objective.steepest() / objective.lambda).max(1.0);
        let random = Random::new(seed);
        Self { objective, random, t: 0, begin, u: vec![0.0; d], seen: vec![0; d] }
    }

    /// Returns u_j as it is now.
    fn current(&self, j: usize) -> f64 {
        let threshold = self.objective.l1 / self.objective.lambda;
        soft(self.u[j], (self.t - self.seen[j]) as f64 * threshold)
    }
}

impl Comparator for ProximalSgd<'_> {
    const NAME: &'static str = "SGD with prox";

    fn advance(&mut self) -> f64 {
        let Objective { lambda, l1, .. } = *self.objective;
        for _ in 0..self.objective.n() {
            let i = self.random.below(self.objective.n());
            let row = self.objective.row(i);
            let scale = self.t as f64 + self.begin;
            let a: f64 = row.iter().map(|(j, x)| x * self.current(j)).sum::<f64>() / scale;
            let pull = self.objective.pull(i, a) / lambda;
            row.for_each(|j, x| {
                self.u[j] = soft(self.current(j) + pull * x, l1 / lambda);
                self.seen[j] = self.t + 1;
            });
            self.t += 1;
        }
        1.0
    }

    fn weights(&self) -> Vec<f64> {
        let scale = self.t as f64 + self.begin;
        (0..self.u.len()).map(|j| self.current(j) / scale).collect()
    }
}
