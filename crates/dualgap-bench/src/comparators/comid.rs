//! Composite mirror descent (COMID; Duchi and others, 2010) in the geometry of section 3.2: for inputs that are small in
//! every entry. With the Euclidean norm it would be SGD with proximal steps.
//!
//! ```text
//! ψ(w) = ½‖w‖_q²,  q = p/(p − 1),  p = log d         θ = ∇ψ(w),   w_j = sign(θ_j)|θ_j|^{p−1} ‖θ‖_p^{2−p}
//! θ ← soft(θ − η_t (φ'(⟨x_i, w⟩) x_i + λw), η_t σ),     η_t = (γ/((p − 1) max_i‖x_i‖_p²)) / √t
//! ```
//!
//! ψ is 1/(p − 1)-strongly convex in ‖·‖_q, so the first step is stable. `σ‖w‖₁` is the composite term; the square is part of
//! the gradient, because its prox has no closed form here. Every step moves every weight.

use super::{Comparator, Objective, soft};
use dualgap::linalg::{Random, score};
use dualgap::term::Loss;

pub struct Comid<'o> {
    objective: &'o Objective<'o>,
    random: Random,
    p: f64,
    /// η_1.
    first: f64,
    t: u64,
    theta: Vec<f64>,
    w: Vec<f64>,
}

impl<'o> Comid<'o> {
    pub fn new(objective: &'o Objective<'o>, seed: u64) -> Self {
        let d = objective.blocks.rows().width();
        // Below e² the geometry would be more than Euclidean.
        let p = (d as f64).ln().max(2.0);
        let squared = |i: usize| -> f64 {
            let powers: f64 = objective.row(i).iter().map(|(_, x)| x.abs().powf(p)).sum();
            powers.powf(2.0 / p)
        };
        let largest = (0..objective.n()).map(squared).fold(0.0, f64::max);
        let first = objective.blocks.loss().smoothness() / ((p - 1.0) * largest);
        let random = Random::new(seed);
        Self { objective, random, p, first, t: 0, theta: vec![0.0; d], w: vec![0.0; d] }
    }

    /// Sets w to ∇ψ*(θ). The largest entry is divided out, so that no power overflows.
    fn mirror(&mut self) {
        let Self { p, theta, w, .. } = self;
        let largest = theta.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        if largest == 0.0 {
            w.fill(0.0);
            return;
        }
        let mut powers = 0.0;
        for (w, theta) in w.iter_mut().zip(theta.iter()) {
            let share = theta.abs() / largest;
            let power = if share > 0.0 { share.powf(*p - 1.0) } else { 0.0 };
            powers += power * share;
            *w = power.copysign(*theta);
        }
        let factor = largest * powers.powf((2.0 - *p) / *p);
        w.iter_mut().for_each(|w| *w *= factor);
    }
}

impl Comparator for Comid<'_> {
    const NAME: &'static str = "COMID";

    fn advance(&mut self) -> f64 {
        let Objective { lambda, l1, .. } = *self.objective;
        for _ in 0..self.objective.n() {
            self.t += 1;
            let eta = self.first / (self.t as f64).sqrt();
            let i = self.random.below(self.objective.n());
            let row = self.objective.row(i);
            let pull = self.objective.pull(i, score(row, &self.w));
            row.for_each(|j, x| self.theta[j] += eta * pull * x);
            for (theta, w) in self.theta.iter_mut().zip(&self.w) {
                *theta = soft(*theta - eta * lambda * w, eta * l1);
            }
            self.mirror();
        }
        1.0
    }

    fn weights(&self) -> Vec<f64> {
        self.w.clone()
    }
}
