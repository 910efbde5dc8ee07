//! Projected SVRG (Johnson and Zhang 2013, Xiao and Zhang 2014) in mini-batches.
//!
//! Around a snapshot Z with all its corners and V(Z),
//!
//! ```text
//! X ← Proj(X − η(μX − V(Z) − (1/b) Σ_{i in the batch} n m_i a_i ⊗ (corner_i(X) − corner_i(Z))))
//! ```
//!
//! for batches of 2n examples in total; then the last X becomes the next snapshot. A projection costs O(d) whatever the
//! batch size is, so a batch has about as many entries as there are features: a larger one gains nothing, and with a
//! smaller one the projections dominate the time. η is half of what the smoothness of such a batch allows.

use super::common::{Common, Descent, Standing};
use crate::ball::Losses;
use crate::ball::schedule::smoothness_of_batch;
use crate::linalg::Halted;
use crate::linalg::kernels::{add_scores, score};

/// The number of passes between two snapshots: more leave a staler snapshot, fewer spend more time on full gradients.
const PASSES: usize = 2;

/// ηL: half of the step that the smoothness L of a batch allows.
const STEP: f64 = 0.5;

/// The method; see the module's head.
pub(super) struct Svrg {
    x: Vec<f64>,
    /// The snapshot.
    from: Standing,
    /// What the batch adds to the snapshot's V.
    change: Vec<f64>,
    batch: usize,
    eta: f64,
    /// The number of steps until the next snapshot.
    left: usize,
    a: Vec<f64>,
    to: Vec<f64>,
}

impl Svrg {
    pub fn new<L: Losses>(common: &mut Common<'_, '_, L>) -> Self {
        let (problem, c) = (common.problem, common.problem.outputs());
        let (n, stored) = (problem.len(), problem.rows().stored().max(1));
        let batch = (problem.features() * n).div_ceil(stored).clamp(1, n);
        let of_mean = common.smoothness();
        let smoothness = smoothness_of_batch(problem, batch, of_mean) + problem.mu();
        let from = Standing::start(problem);
        Self {
            x: from.x.clone(),
            change: from.v.clone(),
            from,
            batch,
            eta: if smoothness > 0.0 { STEP / smoothness } else { 1.0 },
            left: 0,
            a: vec![0.0; c],
            to: vec![0.0; c],
        }
    }

    fn snapshot<L: Losses>(&mut self, common: &mut Common<'_, '_, L>) {
        self.from.x.copy_from_slice(&self.x);
        common.predict(&self.x, &mut self.from.a);
        common.problem.corners(&self.from.a, &mut self.from.alpha);
        common.image(&self.from.alpha, &mut self.from.v);
        self.left = (PASSES * common.problem.len()).div_ceil(self.batch);
    }
}

/// X'a_i.
pub(super) fn predict_row<L: Losses>(
    common: &mut Common<'_, '_, L>,
    i: usize,
    x: &[f64],
    a: &mut [f64],
) {
    let row = common.problem.rows().row(i);
    *common.touched += row.stored() as u64;
    if let [a] = a {
        *a = score(row, x);
    } else {
        a.fill(0.0);
        add_scores(row, x, a);
    }
}

impl<L: Losses> Descent<L> for Svrg {
    fn step(&mut self, common: &mut Common<'_, '_, L>, halted: Halted<'_>) -> bool {
        if self.left == 0 {
            self.snapshot(common);
        }
        self.left -= 1;
        let (problem, n) = (common.problem, common.problem.len());
        let share = n as f64 / self.batch as f64;
        for _ in 0..self.batch {
            if halted() {
                return false;
            }
            let i = common.random.below(n);
            predict_row(common, i, &self.x, &mut self.a);
            problem.losses().corner(i, &self.a, &mut self.to, common.scratch);
            let old = problem.of(i, &self.from.alpha);
            self.to.iter_mut().zip(old).for_each(|(to, old)| *to -= old);
            if self.to.iter().any(|&to| to != 0.0) {
                problem.add_example(i, &self.to, share, &mut self.change);
            }
        }
        let (eta, mu) = (self.eta, problem.mu());
        for ((x, v), change) in self.x.iter_mut().zip(&self.from.v).zip(&mut self.change) {
            *x += eta * (v + *change - mu * *x);
            *change = 0.0;
        }
        common.ball.project(&mut self.x);
        true
    }

    fn iterate(&self) -> &[f64] {
        &self.x
    }

    fn may_stall(&self) -> bool {
        false
    }

    fn tactics(&self) -> Vec<String> {
        vec![format!("batches of {}, steps of {:e}", self.batch, self.eta)]
    }
}
