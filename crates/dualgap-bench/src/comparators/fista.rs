//! FISTA (Beck and Teboulle, 2009) with backtracking: batch gradients with momentum.
//!
//! ```text
//! w⁺ = prox(y − ∇f(y)/L),   t⁺ = (1 + √(1 + 4t²))/2,   y⁺ = w⁺ + (t − 1)/t⁺ (w⁺ − w)
//! ```
//!
//! f is the mean loss. The prox takes both penalties, `soft(·, σ/L)/(1 + λ/L)`. L begins at a bound from below, that of the
//! longest example alone, and doubles while the quadratic bound fails; every trial is half a pass, for its predictions.
//! Predictions at y are a combination of those that are known.

use super::{Comparator, Objective, soft};
use dualgap::linalg::score;
use dualgap::term::Loss;

pub struct Fista<'o> {
    objective: &'o Objective<'o>,
    l: f64,
    t: f64,
    w: Vec<f64>,
    y: Vec<f64>,
    /// The predictions at w and y.
    aw: Vec<f64>,
    ay: Vec<f64>,
}

impl<'o> Fista<'o> {
    pub fn new(objective: &'o Objective<'o>) -> Self {
        let (n, d) = (objective.n(), objective.blocks.rows().width());
        Self {
            objective,
            l: (objective.steepest() / n as f64).max(f64::MIN_POSITIVE),
            t: 1.0,
            w: vec![0.0; d],
            y: vec![0.0; d],
            aw: vec![0.0; n],
            ay: vec![0.0; n],
        }
    }

    fn mean_loss(&self, a: &[f64]) -> f64 {
        let (loss, targets) = (self.objective.blocks.loss(), self.objective.blocks.targets());
        a.iter().zip(targets).map(|(&a, &y)| loss.value(a, y).value).sum::<f64>() / a.len() as f64
    }

    /// Returns ∇f(y).
    fn gradient(&self) -> Vec<f64> {
        let mut gradient = vec![0.0; self.y.len()];
        let n = self.ay.len() as f64;
        for (i, &a) in self.ay.iter().enumerate() {
            let pull = self.objective.pull(i, a) / n;
            self.objective.row(i).for_each(|j, x| gradient[j] -= pull * x);
        }
        gradient
    }

    /// Returns prox(y − ∇f(y)/L), its predictions, and whether the quadratic bound holds there.
    fn trial(&self, gradient: &[f64], value: f64) -> (Vec<f64>, Vec<f64>, bool) {
        let Objective { lambda, l1, .. } = *self.objective;
        let step = |(y, g): (&f64, &f64)| soft(self.l * y - g, l1) / (self.l + lambda);
        let w: Vec<f64> = self.y.iter().zip(gradient).map(step).collect();
        let aw: Vec<f64> = (0..self.aw.len()).map(|i| score(self.objective.row(i), &w)).collect();
        let mut bound = value;
        for ((w, y), g) in w.iter().zip(&self.y).zip(gradient) {
            bound += g * (w - y) + 0.5 * self.l * (w - y) * (w - y);
        }
        // Near the optimum the two sides differ by rounding alone.
        let holds = self.mean_loss(&aw) <= bound + 1e-14 * (1.0 + bound.abs());
        (w, aw, holds)
    }
}

impl Comparator for Fista<'_> {
    const NAME: &'static str = "FISTA";

    fn advance(&mut self) -> f64 {
        let (gradient, value) = (self.gradient(), self.mean_loss(&self.ay));
        let mut passes = 0.5;
        let (w, aw) = loop {
            let (w, aw, holds) = self.trial(&gradient, value);
            passes += 0.5;
            if holds {
                break (w, aw);
            }
            self.l *= 2.0;
        };
        let t = f64::midpoint(1.0, (1.0 + 4.0 * self.t * self.t).sqrt());
        let beta = (self.t - 1.0) / t;
        let ahead = |new: &[f64], old: &[f64]| {
            new.iter().zip(old).map(|(new, old)| new + beta * (new - old)).collect()
        };
        self.y = ahead(&w, &self.w);
        self.ay = ahead(&aw, &self.aw);
        (self.w, self.aw, self.t) = (w, aw, t);
        passes
    }

    fn weights(&self) -> Vec<f64> {
        self.w.clone()
    }
}
