//! Conditional gradient sliding with stochastic gradients: SCGS (Lan and Zhou 2016) and STORC (Hazan and Luo 2016).
//!
//! Both run phases of N accelerated steps from where the last phase ended,
//!
//! ```text
//! Z_k = (1 − γ_k)Y_{k−1} + γ_k X_{k−1},    X_k ≈ argmin ⟨G_k, X⟩ + (β_k/2)‖X − X_{k−1}‖²,    Y_k = (1 − γ_k)Y_{k−1} + γ_k X_k
//! ```
//!
//! where Frank-Wolfe with exact steps finds X_k until its gap is η_k: no projection. G_k is the mean over a batch, for
//! STORC as a difference to a snapshot at the beginning of the phase. With D_t the distance from the optimum when phase t
//! begins,
//!
//! ```text
//!                      γ_k        β_k          η_k               N              batch
//! SCGS, μ > 0          2/(k+1)    4L/k         2L D_t²/(Nk)      4√(2L/μ)       σ²Nk²/(L² D_t²),   D_t² = 2^{1−t}·2δ/μ
//! SCGS, μ = 0          3/(k+2)    4L/(k+2)     L D²/(k(k+1))     ∞              σ²(k+2)³/(L² D²)
//! STORC, μ > 0         2/(k+1)    3L/k         2L D_t²/(Nk)      √(32L/μ)       100,               D_t² = 2(FW gap)/μ
//! STORC, μ = 0         2/(k+1)    3L/k         2L D²/(Nk)        2^{t/2+2}      100
//! ```
//!
//! as in the papers: δ is the gap at X = 0, σ² the variance of the examples' gradients there, D ≤ 2r. A batch of n
//! examples or more is all of them. STORC's batch is that of its experiments (its theorem wants more than n of everything
//! here), and its D_t comes from the Frank-Wolfe gap that the snapshot's gradient shows for nothing.

use super::common::{Common, Descent, Standing};
use super::svrg::predict_row;
use crate::linalg::kernels::dot;
use crate::pdbfw::Losses;
use crate::term::ball::region::{Corner, Region};

/// The batch of STORC's experiments.
const BATCH: usize = 100;

/// More steps than this in a phase are no phase any more.
const LONGEST: f64 = 1e9;

/// Both methods; see the module's head.
pub(super) struct Sliding {
    /// Whether gradients are differences to a snapshot: STORC.
    reduced: bool,
    x: Vec<f64>,
    y: Vec<f64>,
    /// Where the phase began; its corners and V for STORC only.
    from: Standing,
    /// Z, and −G at it.
    z: Standing,
    base: Vec<f64>,
    corner: Corner,
    k: f64,
    phase: i32,
    length: f64,
    smoothness: f64,
    /// D_t².
    distance: f64,
    /// D², of the ball.
    diameter: f64,
    /// σ².
    variance: f64,
    /// δ.
    gap: f64,
    a: Vec<f64>,
    to: Vec<f64>,
    corners: u64,
}

/// What one step is taken with.
struct Rates {
    gamma: f64,
    beta: f64,
    eta: f64,
    batch: usize,
}

impl Sliding {
    pub fn new<L: Losses, R: Region>(
        common: &mut Common<'_, '_, L, R>,
        reduced: bool,
        gap: f64,
    ) -> Self {
        let (problem, c, n) = (common.problem, common.problem.outputs(), common.problem.len());
        let mut of_mean = common.smoothness();
        if reduced {
            of_mean = common.smoothness_of_batch(BATCH.min(n), of_mean);
        }
        let diameter = (2.0 * common.region.radius()).powi(2);
        let mut z = Standing::zero(problem);
        common.image(&z.alpha, &mut z.v);
        let squares = problem.masses().iter().zip(problem.squared_norms()).enumerate();
        let mean: f64 = squares
            .map(|(i, (mass, square))| {
                let alpha = problem.of(i, &z.alpha);
                mass * mass * n as f64 * square * dot(alpha, alpha)
            })
            .sum();
        Self {
            reduced,
            x: z.x.clone(),
            y: z.x.clone(),
            from: z.clone(),
            base: z.x.clone(),
            corner: Corner::default(),
            k: 0.0,
            phase: 0,
            length: 0.0,
            smoothness: (of_mean + problem.mu()).max(f64::MIN_POSITIVE),
            distance: diameter,
            diameter,
            variance: (mean - dot(&z.v, &z.v)).max(0.0),
            gap,
            z,
            a: vec![0.0; c],
            to: vec![0.0; c],
            corners: 0,
        }
    }

    fn begin_phase<L: Losses, R: Region>(&mut self, common: &mut Common<'_, '_, L, R>) {
        let mu = common.problem.mu();
        self.phase = self.phase.saturating_add(1);
        self.k = 0.0;
        self.x.copy_from_slice(&self.y);
        let condition = self.smoothness / mu;
        if self.reduced {
            self.from.x.copy_from_slice(&self.y);
            common.predict(&self.from.x, &mut self.from.a);
            common.problem.corners(&self.from.a, &mut self.from.alpha);
            common.image(&self.from.alpha, &mut self.from.v);
            if mu > 0.0 {
                let descent = &mut self.base;
                for ((d, v), x) in descent.iter_mut().zip(&self.from.v).zip(&self.from.x) {
                    *d = v - mu * x;
                }
                let c = common.problem.outputs();
                common.region.corner(descent, c, &mut self.corner);
                let gap = self.corner.dot(descent, c) - dot(descent, &self.from.x);
                self.distance = (2.0 * gap.max(0.0) / mu).min(self.diameter);
                self.length = (32.0 * condition).sqrt();
            } else {
                self.length = 2_f64.powf(f64::from(self.phase) / 2.0 + 2.0);
            }
        } else if mu > 0.0 {
            let halved = 2_f64.powi(1 - self.phase) * 2.0 * self.gap / mu;
            self.distance = halved.min(self.diameter);
            self.length = 4.0 * (2.0 * condition).sqrt();
        } else {
            self.length = f64::INFINITY;
        }
        self.length = self.length.ceil().max(2.0);
        if self.length > LONGEST {
            self.length = f64::INFINITY;
        }
    }

    fn rates(&self, examples: usize, mu: f64) -> Rates {
        let (k, smooth, d) = (self.k, self.smoothness, self.distance);
        let steps = self.length.min(LONGEST);
        let eta = 2.0 * smooth * d / (steps * k);
        let noise = self.variance / (smooth * smooth * d);
        let (gamma, beta, eta, batch) = if self.reduced {
            (2.0 / (k + 1.0), 3.0 * smooth / k, eta, BATCH as f64)
        } else if mu > 0.0 {
            (2.0 / (k + 1.0), 4.0 * smooth / k, eta, noise * steps * k * k)
        } else {
            let eta = smooth * d / (k * (k + 1.0));
            (3.0 / (k + 2.0), 4.0 * smooth / (k + 2.0), eta, noise * (k + 2.0).powi(3))
        };
        let batch = if batch < examples as f64 { batch.ceil().max(1.0) as usize } else { examples };
        Rates { gamma, beta, eta, batch }
    }

    /// −G at Z into Z's V.
    fn gradient<L: Losses, R: Region>(&mut self, common: &mut Common<'_, '_, L, R>, batch: usize) {
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
                let i = common.random.below(n);
                predict_row(common, i, x, &mut self.a);
                problem.losses().corner(i, &self.a, &mut self.to, &mut common.scratch);
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

impl<L: Losses, R: Region> Descent<L, R> for Sliding {
    fn step(&mut self, common: &mut Common<'_, '_, L, R>) {
        if self.k >= self.length {
            self.begin_phase(common);
        }
        self.k += 1.0;
        let Rates { gamma, beta, eta, batch } =
            self.rates(common.problem.len(), common.problem.mu());
        for ((z, y), x) in self.z.x.iter_mut().zip(&self.y).zip(&self.x) {
            *z = (1.0 - gamma) * y + gamma * x;
        }
        self.gradient(common, batch);
        let c = common.problem.outputs();
        for ((base, v), x) in self.base.iter_mut().zip(&self.z.v).zip(&self.x) {
            *base = v + beta * x;
        }
        self.corners += common.region.slide(&self.base, beta, eta, &mut self.x, c);
        for (y, x) in self.y.iter_mut().zip(&self.x) {
            *y = (1.0 - gamma) * *y + gamma * x;
        }
    }

    fn iterate(&self) -> &[f64] {
        &self.y
    }

    fn may_stall(&self) -> bool {
        false
    }

    fn tactics(&self) -> Vec<String> {
        vec![format!(
            "{} phases, the last of {} steps; {} corners",
            self.phase, self.length, self.corners
        )]
    }
}
