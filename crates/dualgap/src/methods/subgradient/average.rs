//! Averages of the iterates that no step has to write out.
//!
//! The iterate after k steps is w_k = u_k/k, where u_k adds up what the steps have brought, δ_1 + … + δ_k, and δ_k is
//! sparse. With the weight c_t of iterate t, and C_t = c_1/1 + … + c_t/t,
//!
//! ```text
//! Σ_{t≤k} c_t w_t  =  Σ_{t≤k} (c_t/t) Σ_{j≤t} δ_j  =  C_k u_k − r_k,      r_k = Σ_{j≤k} C_{j−1} δ_j
//! ```
//!
//! so a step adds δ_j to u and C_{j−1} δ_j to r, and the average is written out only when it is certified. An average
//! begins anew with r = 0 and C = 0; a suffix is the difference of two of these sums, the earlier of them stored.

use super::SubgradientAverage;
use crate::linalg::{Accumulate, Row, kernels};
use serde::{Deserialize, Serialize};

/// u, and r if iterates are averaged: what a step adds to.
pub(super) struct Sums<'a> {
    u: &'a mut [f64],
    r: &'a mut [f64],
    /// C_{j−1}.
    reach: f64,
}

impl Accumulate for Sums<'_> {
    #[inline]
    fn add(&mut self, index: usize, value: f64) {
        self.u[index] += value;
        if let Some(r) = self.r.get_mut(index) {
            *r += self.reach * value;
        }
    }

    fn add_outer(&mut self, row: Row<'_>, d: &[f64], factor: f64) {
        kernels::add_outer(row, d, factor, self.u);
        if !self.r.is_empty() {
            kernels::add_outer(row, d, self.reach * factor, self.r);
        }
    }
}

/// The sum of the iterates up to a step, for suffixes that begin after it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Stored {
    step: u64,
    sum: Vec<f64>,
}

/// Sums are stored at steps that are this share of their number apart: a suffix is then longer than asked for by no more
/// than this share of the steps before it, and of a suffix of half the steps seven sums are stored at a time.
const APART: u64 = 8;

/// The average of the iterates of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Averages {
    kind: SubgradientAverage,
    /// The number of iterates so far.
    steps: u64,
    /// C, and Σ c_t.
    reach: f64,
    total: f64,
    /// r; empty if nothing is averaged.
    lag: Vec<f64>,
    /// Only for a suffix, ascending.
    stored: Vec<Stored>,
}

impl Averages {
    pub fn new(kind: SubgradientAverage, dim: usize) -> Self {
        let dim = if kind == SubgradientAverage::None { 0 } else { dim };
        let lag = vec![0.0; dim];
        Self { kind, steps: 0, reach: 0.0, total: 0.0, lag, stored: Vec::new() }
    }

    /// Returns how many sums of `dim` numbers a run stores at most, to estimate the memory that it needs.
    pub fn copies(kind: SubgradientAverage) -> usize {
        match kind {
            SubgradientAverage::None => 0,
            SubgradientAverage::Uniform
            | SubgradientAverage::Weighted
            | SubgradientAverage::Doubling => 2,
            SubgradientAverage::Suffix { fraction } => {
                // Between (1 − f)k and k there are log(1/(1 − f)) / log(9/8) stored sums, and fewer than twice as many
                // among the first steps, where an eighth is rounded down.
                let ratio = 1.0 + 1.0 / APART as f64;
                let sums = if fraction < 1.0 { -(1.0 - fraction).ln() / ratio.ln() } else { 0.0 };
                4 + (2.0 * sums).ceil() as usize
            }
        }
    }

    /// Begins a step; returns where it adds δ.
    pub fn begin_step<'a>(&'a mut self, u: &'a mut [f64]) -> Sums<'a> {
        self.steps += 1;
        if self.kind == SubgradientAverage::Doubling && self.steps.is_power_of_two() {
            (self.reach, self.total) = (0.0, 0.0);
            self.lag.fill(0.0);
        }
        Sums { u, r: &mut self.lag, reach: self.reach }
    }

    /// Ends a step, after which the iterate is `u / k`.
    pub fn end_step(&mut self, k: u64, u: &[f64]) {
        let weight = match self.kind {
            SubgradientAverage::None => return,
            SubgradientAverage::Weighted => self.steps as f64,
            SubgradientAverage::Uniform
            | SubgradientAverage::Suffix { .. }
            | SubgradientAverage::Doubling => 1.0,
        };
        self.reach += weight / k as f64;
        self.total += weight;
        if let SubgradientAverage::Suffix { fraction } = self.kind {
            let before = self.before(fraction);
            let last = self.stored.last().map_or(0, |stored| stored.step);
            if self.steps >= last + (last / APART).max(1) {
                let sum = self.sum(u).collect();
                self.stored.push(Stored { step: self.steps, sum });
            }
            // The first sum that is left is the one that a suffix of now begins after.
            let unused = self.stored.iter().filter(|stored| stored.step <= before).count();
            self.stored.drain(..unused.saturating_sub(1));
        }
    }

    /// Returns how many iterates come before the suffix of this fraction: it begins at ⌈(1 − f)k⌉, and at least at 1.
    fn before(&self, fraction: f64) -> u64 {
        (((1.0 - fraction) * self.steps as f64).ceil() as u64).saturating_sub(1)
    }

    /// Returns Σ c_t w_t since the average began.
    fn sum<'a>(&'a self, u: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        u.iter().zip(&self.lag).map(|(u, r)| self.reach * u - r)
    }

    /// Writes out the average, or returns `None` if there is none.
    pub fn mean(&self, u: &[f64]) -> Option<Vec<f64>> {
        if self.lag.is_empty() || self.steps == 0 {
            return None;
        }
        if let SubgradientAverage::Suffix { fraction } = self.kind {
            let before = self.before(fraction);
            if let Some(stored) = self.stored.iter().rfind(|stored| stored.step <= before) {
                let total = self.total - stored.step as f64;
                let both = self.sum(u).zip(&stored.sum);
                return Some(both.map(|(sum, before)| (sum - before) / total).collect());
            }
        }
        Some(self.sum(u).map(|sum| sum / self.total).collect())
    }

    /// Whether this is a valid average of `steps` iterates: a state from a file may contain anything.
    pub fn is_sound(&self, kind: SubgradientAverage, dim: usize, steps: u64) -> bool {
        let finite = |x: &[f64], dim: usize| x.len() == dim && x.iter().all(|x| x.is_finite());
        let averages = kind != SubgradientAverage::None;
        let sums = matches!(kind, SubgradientAverage::Suffix { .. }) || self.stored.is_empty();
        self.kind == kind
            && self.steps == steps
            && self.reach.is_finite()
            && self.total.is_finite()
            && (self.total > 0.0) == (averages && steps > 0)
            && finite(&self.lag, if averages { dim } else { 0 })
            && sums
            && self.stored.is_sorted_by(|a, b| a.step < b.step)
            && self.stored.iter().all(|s| s.step <= steps && finite(&s.sum, dim))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // Every average against its definition, from all iterates; `first` is the number of steps before the run's own.
        #[test]
        fn lazy_averages_equal_their_definitions(
            changes in prop::collection::vec((0_usize..3, -1.0..1.0_f64), 1..150),
            fraction in 0.01..=1.0_f64,
            first in prop_oneof![Just(0_u64), 1..9_u64],
        ) {
            let kinds = [SubgradientAverage::Uniform, SubgradientAverage::Weighted, SubgradientAverage::Suffix { fraction }, SubgradientAverage::Doubling];
            for kind in kinds {
                let mut averages = Averages::new(kind, 3);
                let mut u = vec![0.5, -0.25, 0.125];
                let mut iterates: Vec<Vec<f64>> = Vec::new();
                // The steps after which a sum is stored.
                let mut grid = vec![0_u64];
                for (step, &(j, change)) in (1_u64..).zip(&changes) {
                    averages.begin_step(&mut u).add(j, change);
                    averages.end_step(first + step, &u);
                    iterates.push(u.iter().map(|u| u / (first + step) as f64).collect());
                    let last = grid[grid.len() - 1];
                    if step >= last + (last / 8).max(1) {
                        grid.push(step);
                    }
                    let begin = match kind {
                        SubgradientAverage::Doubling => 1 << step.ilog2(),
                        SubgradientAverage::Suffix { fraction } => {
                            let wanted = ((1.0 - fraction) * step as f64).ceil().max(1.0) as u64;
                            grid.iter().rfind(|&&stored| stored < wanted).unwrap() + 1
                        }
                        _ => 1,
                    };
                    let weight = |t: u64| if kind == SubgradientAverage::Weighted { t as f64 } else { 1.0 };
                    let total: f64 = (begin..=step).map(weight).sum();
                    let mean = averages.mean(&u).unwrap();
                    for (k, mean) in mean.into_iter().enumerate() {
                        let sum: f64 = (begin..=step).map(|t| weight(t) * iterates[t as usize - 1][k]).sum();
                        prop_assert!((mean - sum / total).abs() < 1e-11, "{kind:?} step {step}: {mean} {}", sum / total);
                    }
                    prop_assert!(averages.is_sound(kind, 3, step));
                    prop_assert!(averages.stored.len() <= Averages::copies(kind));
                }
            }
        }
    }
}
