//! Stochastic coordinate descent on the primal (Shalev-Shwartz and Tewari, 2011): one weight a step, in a new random
//! order for every pass.
//!
//! ```text
//! w_j ← soft(L_j w_j − g_j, σ)/(L_j + λ),     g_j = (1/n) Σ φ'(a_i) x_ij,   L_j = (1/γn) Σ x_ij²,      a = Xw
//! ```

use super::{Comparator, Objective, soft};
use dualgap::linalg::{Columns, Random};
use dualgap::term::Loss;

pub struct Coordinates<'o> {
    objective: &'o Objective<'o>,
    random: Random,
    columns: Columns,
    /// L_j.
    curvatures: Vec<f64>,
    order: Vec<usize>,
    w: Vec<f64>,
    a: Vec<f64>,
}

impl<'o> Coordinates<'o> {
    pub fn new(objective: &'o Objective<'o>, seed: u64) -> Self {
        let columns = Columns::of(objective.blocks.rows());
        let (n, d) = (objective.n(), objective.blocks.rows().width());
        let curvature = |j: usize| {
            let squares: f64 = columns.column(j).iter().map(|(_, x)| x * x).sum();
            squares / (n as f64 * objective.blocks.loss().smoothness())
        };
        let curvatures = (0..d).map(curvature).collect();
        let (order, random) = ((0..d).collect(), Random::new(seed));
        Self { objective, random, columns, curvatures, order, w: vec![0.0; d], a: vec![0.0; n] }
    }

    fn step(&mut self, j: usize) {
        let Objective { lambda, l1, .. } = *self.objective;
        let (column, l) = (self.columns.column(j), self.curvatures[j]);
        let pull = |(i, x): (usize, f64)| self.objective.pull(i, self.a[i]) * x;
        let minus_gradient = column.iter().map(pull).sum::<f64>() / self.a.len() as f64;
        let to = soft(l * self.w[j] + minus_gradient, l1) / (l + lambda);
        let change = to - self.w[j];
        if change != 0.0 {
            self.w[j] = to;
            for (i, x) in column.iter() {
                self.a[i] += change * x;
            }
        }
    }
}

impl Comparator for Coordinates<'_> {
    const NAME: &'static str = "primal coordinates";

    fn advance(&mut self) -> f64 {
        let mut order = std::mem::take(&mut self.order);
        self.random.shuffle(&mut order);
        order.iter().for_each(|&j| self.step(j));
        self.order = order;
        1.0
    }

    fn weights(&self) -> Vec<f64> {
        self.w.clone()
    }
}
