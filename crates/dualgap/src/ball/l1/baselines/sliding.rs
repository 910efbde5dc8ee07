//! Conditional gradient sliding with stochastic gradients: SCGS (Lan and Zhou 2016) and STORC (Hazan and Luo 2016).
//!
//! Both run phases of N accelerated steps from where the last phase ended,
//!
//! ```text
//! Z_k = (1 − γ_k)Y_{k−1} + γ_k X_{k−1},    X_k ≈ argmin ⟨G_k, X⟩ + (β_k/2)‖X − X_{k−1}‖²,    Y_k = (1 − γ_k)Y_{k−1} + γ_k X_k
//! ```
//!
//! where Frank-Wolfe with exact steps computes X_k to a gap of η_k, without a projection. G_k is the mean gradient over
//! a batch; STORC reduces its variance by a snapshot at the beginning of the phase. `schedule` has the constants.

use super::common::{Common, Descent, Standing};
use super::svrg::predict_row;
use crate::ball::Losses;
use crate::ball::schedule::{BATCH, Measures, Rates, Schedule, smoothness_of_batch};
use crate::linalg::Halted;
use crate::linalg::kernels::dot;

/// Both methods; see the module's head.
pub(super) struct Sliding {
    /// Whether gradients are variance-reduced by a snapshot: STORC.
    reduced: bool,
    x: Vec<f64>,
    y: Vec<f64>,
    /// The point at which the phase began; its corners and V are for STORC only.
    from: Standing,
    /// Z; its `v` holds −G at Z.
    z: Standing,
    base: Vec<f64>,
    schedule: Schedule,
    a: Vec<f64>,
    to: Vec<f64>,
    corners: u64,
}

impl Sliding {
    pub fn new<L: Losses>(common: &mut Common<'_, '_, L>, reduced: bool, gap: f64) -> Self {
        let (problem, c, n) = (common.problem, common.problem.outputs(), common.problem.len());
        let mut of_mean = common.smoothness();
        if reduced {
            of_mean = smoothness_of_batch(problem, BATCH.min(n), of_mean);
        }
        let mut z = Standing::start(problem);
        common.image(&z.alpha, &mut z.v);
        let squares = problem.masses().iter().zip(problem.squared_norms()).enumerate();
        let mean: f64 = squares
            .map(|(i, (mass, square))| {
                let alpha = problem.of(i, &z.alpha);
                mass * mass * n as f64 * square * dot(alpha, alpha)
            })
            .sum();
        let of = Measures {
            reduced,
            mu: problem.mu(),
            smoothness: of_mean + problem.mu(),
            radius: common.ball.radius,
            variance: (mean - dot(&z.v, &z.v)).max(0.0),
            gap,
        };
        Self {
            reduced,
            x: z.x.clone(),
            y: z.x.clone(),
            from: z.clone(),
            base: z.x.clone(),
            schedule: Schedule::new(of),
            z,
            a: vec![0.0; c],
            to: vec![0.0; c],
            corners: 0,
        }
    }

    fn begin_phase<L: Losses>(&mut self, common: &mut Common<'_, '_, L>) {
        let mu = common.problem.mu();
        self.x.copy_from_slice(&self.y);
        let mut gap = 0.0;
        if self.reduced {
            self.from.x.copy_from_slice(&self.y);
            common.predict(&self.from.x, &mut self.from.a);
            common.problem.corners(&self.from.a, &mut self.from.alpha);
            common.image(&self.from.alpha, &mut self.from.v);
            let descent = &mut self.base;
            for ((d, v), x) in descent.iter_mut().zip(&self.from.v).zip(&self.from.x) {
                *d = v - mu * x;
            }
            let corner = common.ball.corner(descent);
            gap = corner.value * descent[corner.at] - dot(descent, &self.from.x);
        }
        self.schedule.begin_phase(gap);
    }

    /// Computes −G at Z and stores it as Z's V; the result is incomplete if the computation was halted.
    fn gradient<L: Losses>(
        &mut self,
        common: &mut Common<'_, '_, L>,
        batch: usize,
        halted: Halted<'_>,
    ) {
        let (problem, n, mu) = (common.problem, common.problem.len(), common.problem.mu());
        let Standing { x, a, alpha, v } = &mut self.z;
        if batch >= n {
            common.predict(x, a);
            problem.corners(a, alpha);
            common.image(alpha, v);
        } else {
            if self.reduced {
                v.copy_from_slice(&self.from.v);
            } else {
                v.fill(0.0);
            }
            let share = n as f64 / batch as f64;
            for _ in 0..batch {
                if halted() {
                    return;
                }
                let i = common.random.below(n);
                predict_row(common, i, x, &mut self.a);
                problem.losses().corner(i, &self.a, &mut self.to, common.scratch);
                if self.reduced {
                    let old = problem.of(i, &self.from.alpha);
                    self.to.iter_mut().zip(old).for_each(|(to, old)| *to -= old);
                }
                if self.to.iter().any(|&to| to != 0.0) {
                    problem.add_example(i, &self.to, share, v);
                }
            }
        }
        v.iter_mut().zip(x).for_each(|(v, x)| *v -= mu * *x);
    }
}

impl<L: Losses> Descent<L> for Sliding {
    fn step(&mut self, common: &mut Common<'_, '_, L>, halted: Halted<'_>) -> bool {
        if self.schedule.is_over() {
            self.begin_phase(common);
        }
        let Rates { gamma, beta, eta, batch } = self.schedule.step(common.problem.len());
        for ((z, y), x) in self.z.x.iter_mut().zip(&self.y).zip(&self.x) {
            *z = (1.0 - gamma) * y + gamma * x;
        }
        self.gradient(common, batch, halted);
        if halted() {
            return false;
        }
        for ((base, v), x) in self.base.iter_mut().zip(&self.z.v).zip(&self.x) {
            *base = v + beta * x;
        }
        self.corners += common.ball.slide(&self.base, (beta, eta), &mut self.x, halted);
        if halted() {
            return false;
        }
        for (y, x) in self.y.iter_mut().zip(&self.x) {
            *y = (1.0 - gamma) * *y + gamma * x;
        }
        true
    }

    fn iterate(&self) -> &[f64] {
        &self.y
    }

    fn may_stall(&self) -> bool {
        false
    }

    fn tactics(&self) -> Vec<String> {
        self.schedule.describe(self.corners)
    }
}
