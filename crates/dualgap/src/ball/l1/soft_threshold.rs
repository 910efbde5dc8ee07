//! The soft threshold of the projection, maintained while V moves: `X = soft(u, τ)/μ` with `Σ|X| = r`.
//!
//! Few entries of u are above τ or near it, and a list holds those. The exact τ follows from the list alone, without
//! the other entries, as long as τ stays above a bound that no unlisted entry exceeds. A step that lifts an entry above
//! the bound adds it to the list.

use crate::ball::Touched;
use crate::term::ball::l1;
use serde::{Deserialize, Serialize};

/// The list holds the entries above this share of τ. A smaller share makes the list longer; a larger one makes τ fall
/// below the bound sooner, which costs a recomputation from all of u.
const NEAR: f64 = 0.75;

/// τ is recomputed from the list after this many touched entries of A per listed entry, so that one loop over the list
/// costs at most a quarter of the steps before it.
const AMONG_NEAR: u64 = 4;

/// Without a list, τ is recomputed from all of u after this many touched entries of A per entry of u.
const AMONG_ALL: u64 = 8;

/// τ, and the list of the entries near it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SoftThreshold {
    pub tau: f64,
    /// How many entries of u are above τ.
    pub count: f64,
    /// The list has every entry above this bound. The bound is infinite if there is no list.
    low: f64,
    near: Vec<u32>,
    listed: Vec<bool>,
    /// c; `seen` marks the features that have a listed entry.
    outputs: usize,
    seen: Vec<bool>,
    /// Whether τ stays fixed between two recomputations.
    still: bool,
    /// Entries of A touched since τ was last recomputed, and in total.
    since: u64,
    ever: u64,
}

impl SoftThreshold {
    pub fn new(features: usize, outputs: usize) -> Self {
        Self {
            low: f64::INFINITY,
            listed: vec![false; features * outputs],
            outputs,
            seen: vec![false; features],
            ..Self::default()
        }
    }

    /// Whether a soft threshold from a checkpoint is valid in the place of `own`.
    pub fn is_sound(&self, own: &Self) -> bool {
        let places = |all: &[bool]| all.iter().filter(|listed| **listed).count();
        self.tau >= 0.0
            && self.count >= 0.0
            && self.low > 0.0
            && self.outputs == own.outputs
            && self.listed.len() == own.listed.len()
            && self.seen.len() == own.seen.len()
            && self.near.len() == places(&self.listed)
            && self.near.iter().all(|&j| self.listed.get(j as usize).copied().unwrap_or(false))
    }

    /// Whether an entry of this feature may be above τ.
    #[inline]
    pub fn may_have(&self, feature: usize) -> bool {
        self.seen[feature] || self.low == f64::INFINITY
    }

    /// Records the new value u of entry j.
    #[inline]
    pub fn note(&mut self, j: usize, u: f64) {
        if u.abs() > self.low && !self.listed[j] {
            self.listed[j] = true;
            self.seen[j / self.outputs] = true;
            self.near.push(j as u32);
        }
    }

    /// Sets τ to `from + by`, but not below zero: the change that keeps `Σ|X|` constant in a step.
    #[inline]
    pub fn shift(&mut self, from: f64, by: f64) {
        self.tau = (from + by).max(0.0);
    }

    /// The change of τ per unit of change in the sum of the entries above it; zero while τ is fixed.
    #[inline]
    pub fn share(&self) -> f64 {
        let moves = self.tau > 0.0 && self.count > 0.0 && !self.still;
        if moves { 1.0 / self.count } else { 0.0 }
    }

    /// Fixes τ between recomputations from now on: convergence is slower, but no step can lower the dual.
    pub fn be_still(&mut self) {
        self.still = true;
    }

    /// Records work on `entries` entries of A, of which a pass has `pass`, and recomputes τ if that is due.
    pub fn keep(
        &mut self,
        entries: u64,
        pass: u64,
        u: &[f64],
        radius: f64,
        sizes: &mut Vec<f64>,
        touched: &mut Touched,
    ) {
        self.since = self.since.saturating_add(entries);
        self.ever = self.ever.saturating_add(entries);
        if self.low.is_finite() {
            if self.since >= AMONG_NEAR * self.near.len() as u64 && !self.follow(u, radius, touched)
            {
                self.find(u, radius, sizes, touched);
            }
        } else if self.since >= (AMONG_ALL * u.len() as u64).min(pass).min(self.ever / 4 * 3) {
            // At first τ is unknown: recompute it whenever the total work has grown fourfold.
            self.find(u, radius, sizes, touched);
        }
    }

    /// Recomputes τ from all of u, and lists the entries near it.
    pub fn find(&mut self, u: &[f64], radius: f64, sizes: &mut Vec<f64>, touched: &mut Touched) {
        let looks;
        (self.tau, looks) = l1::threshold_near(u, radius, self.tau, sizes);
        touched.add(0, (looks as usize + 1) * u.len());
        for j in self.near.drain(..) {
            self.listed[j as usize] = false;
            self.seen[j as usize / self.outputs] = false;
        }
        (self.since, self.count) = (0, 0.0);
        self.low = if self.tau > 0.0 { NEAR * self.tau } else { f64::INFINITY };
        for (j, &u) in u.iter().enumerate() {
            self.note(j, u);
            self.count += f64::from(u8::from(u.abs() > self.tau));
        }
    }

    /// Recomputes τ from the listed entries; returns whether it is high enough for the list to suffice.
    fn follow(&mut self, u: &[f64], radius: f64, touched: &mut Touched) -> bool {
        // The rounds end by themselves where the entries above τ stay the same. Rounding could send them in a circle; `find`, which
        // looks at all entries, takes over then.
        const MOST: u32 = 20;
        self.since = 0;
        let mut before = f64::NAN;
        for _ in 0..MOST {
            let (mut sum, mut count) = (0.0, 0.0);
            for &j in &self.near {
                let size = u[j as usize].abs();
                if size > self.tau {
                    sum += size;
                    count += 1.0;
                }
            }
            touched.add(0, self.near.len());
            let next = (sum - radius) / count;
            if next.is_nan() || next < self.low {
                return false;
            }
            let done = next == self.tau || count == before;
            (self.tau, self.count, before) = (next, count, count);
            if done {
                return true;
            }
        }
        false
    }
}
