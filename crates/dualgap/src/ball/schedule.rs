//! The phases of conditional gradient sliding and the constants of their steps, the same in every ball.
//!
//! With D_t the distance from the optimum when phase t begins, N its number of steps and k the step,
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
//! examples or more is all of them. STORC's batch is that of its experiments (its theorem asks for more than n on the
//! data here), and its D_t follows from the Frank-Wolfe gap, which the snapshot's gradient gives at no extra cost.

use super::problem::Design;
use super::{BallProblem, Losses};

/// The number of power iterations that estimate the largest eigenvalue of Σ m_i a_i a_i', from which the smoothness of the mean loss
/// follows: each reads all of the data.
pub(super) const POWERS: usize = 6;

/// A safety factor on that estimate, which power iterations approach from below. Not tuned: how far from the limit six iterations are
/// depends on the data, and what is left out costs a baseline larger steps than its theorem allows, and no certificate.
pub(super) const BEYOND: f64 = 1.2;

/// Returns the expected smoothness of a mean over a batch (Gower et al. 2019), between that of the steepest example and
/// that of the mean over all.
pub(super) fn smoothness_of_batch<M: Design, L: Losses>(
    problem: &BallProblem<M, L>,
    batch: usize,
    of_mean: f64,
) -> f64 {
    if batch >= problem.len() {
        return of_mean;
    }
    let (n, b) = (problem.len() as f64, batch as f64);
    let each = problem.masses().iter().enumerate();
    let largest = each.map(|(i, mass)| mass * problem.map().squared_norm(i)).fold(0.0, f64::max);
    let of_one = largest * n / problem.losses().smoothness();
    (n * (b - 1.0) * of_mean + (n - b) * of_one) / (b * (n - 1.0))
}

/// Returns the exact step of the inner Frank-Wolfe toward a corner, for this Frank-Wolfe gap and this squared distance of
/// the corner; none if the gap is at most η, or only rounding is left of it.
pub(super) fn slide_step(gap: f64, eta: f64, own: f64, beta: f64, far: f64) -> Option<f64> {
    let rounding = 1e-15 * (own.abs() + gap.abs());
    (gap > eta.max(rounding) && far > 0.0).then(|| (gap / (beta * far)).min(1.0))
}

/// The batch of STORC's experiments.
pub(super) const BATCH: usize = 100;

/// A phase that would be longer than this never ends; as a finite number it also keeps η and the batch finite.
const LONGEST: f64 = 1e9;

/// The quantities that the constants depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measures {
    /// Whether gradients are variance-reduced by a snapshot: STORC.
    pub reduced: bool,
    pub mu: f64,
    /// L.
    pub smoothness: f64,
    pub radius: f64,
    /// σ².
    pub variance: f64,
    /// δ.
    pub gap: f64,
}

/// The current phase and step; see the module's head.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    of: Measures,
    k: f64,
    phase: i32,
    length: f64,
    /// D_t².
    distance: f64,
}

/// The constants of one step.
pub(super) struct Rates {
    pub gamma: f64,
    pub beta: f64,
    pub eta: f64,
    pub batch: usize,
}

impl Schedule {
    pub fn new(of: Measures) -> Self {
        let smoothness = of.smoothness.max(f64::MIN_POSITIVE);
        let of = Measures { smoothness, ..of };
        Self { of, k: 0.0, phase: 0, length: 0.0, distance: (2.0 * of.radius).powi(2) }
    }

    /// Whether the phase is over, so that another has to begin before the next step.
    pub fn is_over(&self) -> bool {
        self.k >= self.length
    }

    /// Begins a phase at a point of this Frank-Wolfe gap, which only STORC with μ > 0 uses.
    pub fn begin_phase(&mut self, gap: f64) {
        let Measures { reduced, mu, smoothness, radius, .. } = self.of;
        self.phase = self.phase.saturating_add(1);
        self.k = 0.0;
        let (diameter, condition) = ((2.0 * radius).powi(2), smoothness / mu);
        (self.distance, self.length) = match (reduced, mu > 0.0) {
            (true, true) => (2.0 * gap.max(0.0) / mu, (32.0 * condition).sqrt()),
            (true, false) => (diameter, 2_f64.powf(f64::from(self.phase) / 2.0 + 2.0)),
            (false, true) => {
                let halved = 2_f64.powi(1 - self.phase) * 2.0 * self.of.gap / mu;
                (halved, 4.0 * (2.0 * condition).sqrt())
            }
            (false, false) => (diameter, f64::INFINITY),
        };
        self.distance = self.distance.min(diameter);
        self.length = self.length.ceil().max(2.0);
        if self.length > LONGEST {
            self.length = f64::INFINITY;
        }
    }

    /// Returns the constants of the next step, for a problem with this number of examples.
    pub fn step(&mut self, examples: usize) -> Rates {
        self.k += 1.0;
        let Measures { reduced, mu, smoothness, variance, .. } = self.of;
        let (k, d, steps) = (self.k, self.distance, self.length.min(LONGEST));
        let eta = 2.0 * smoothness * d / (steps * k);
        let noise = variance / (smoothness * smoothness * d);
        let (gamma, beta, eta, batch) = if reduced {
            (2.0 / (k + 1.0), 3.0 * smoothness / k, eta, BATCH as f64)
        } else if mu > 0.0 {
            (2.0 / (k + 1.0), 4.0 * smoothness / k, eta, noise * steps * k * k)
        } else {
            let eta = smoothness * d / (k * (k + 1.0));
            (3.0 / (k + 2.0), 4.0 * smoothness / (k + 2.0), eta, noise * (k + 2.0).powi(3))
        };
        let batch = if batch < examples as f64 { batch.ceil().max(1.0) as usize } else { examples };
        Rates { gamma, beta, eta, batch }
    }

    /// Describes the phases, for the report.
    pub fn describe(&self, corners: u64) -> Vec<String> {
        let Self { phase, length, .. } = self;
        vec![format!("{phase} phases, the last of {length} steps; {corners} corners")]
    }
}
