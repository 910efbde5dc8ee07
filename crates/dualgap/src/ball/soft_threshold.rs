//! The threshold of the projection, kept up while V moves: `X = soft(u, τ)/μ` with `Σ|X| = r`.
//!
//! Few entries of u are above τ or near it, and those are listed: the exact τ among them costs no look at the others,
//! as long as it stays above a level that no other entry has reached. Entries that reach it are listed on the way.

use super::Touched;
use crate::term::ball::l1;
use serde::{Deserialize, Serialize};

/// Entries above this share of τ are near it.
const NEAR: f64 = 0.75;

/// So many entries of A are touched for each listed one before τ is found anew among them, ...
const AMONG_NEAR: u64 = 4;

/// ... and so many for each of u before it is found from all, where nothing is listed.
const AMONG_ALL: u64 = 8;

/// τ, and the entries near it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SoftThreshold {
    pub tau: f64,
    /// How many entries of u are above τ.
    pub count: f64,
    /// Every entry above this is listed. Without a list it is infinite.
    low: f64,
    near: Vec<u32>,
    listed: Vec<bool>,
    /// c, and which features have a listed entry.
    outputs: usize,
    seen: Vec<bool>,
    /// Whether τ stays where it is between two times that it is found.
    still: bool,
    /// Entries of A touched since τ was found, and in all.
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

    /// Whether a level that came from elsewhere may be worked with where this one is.
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

    /// Takes note that entry j has become u.
    #[inline]
    pub fn note(&mut self, j: usize, u: f64) {
        if u.abs() > self.low && !self.listed[j] {
            self.listed[j] = true;
            self.seen[j / self.outputs] = true;
            self.near.push(j as u32);
        }
    }

    /// Moves τ by what a step that leaves `Σ|X|` alone moves it.
    #[inline]
    pub fn shift(&mut self, from: f64, by: f64) {
        self.tau = (from + by).max(0.0);
    }

    /// How much τ moves for each unit that the entries above it move in all.
    #[inline]
    pub fn share(&self) -> f64 {
        let moves = self.tau > 0.0 && self.count > 0.0 && !self.still;
        if moves { 1.0 / self.count } else { 0.0 }
    }

    /// From now on τ moves only when it is found anew: slower, and no step can lower the dual.
    pub fn be_still(&mut self) {
        self.still = true;
    }

    /// After work on so many entries, of which a pass has so many: finds τ anew if it is time to.
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
            // Nothing is known of it at first: sooner then.
            self.find(u, radius, sizes, touched);
        }
    }

    /// Finds τ from all of u, and lists what is near it.
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

    /// Finds τ among the entries that are listed, and tells whether it is high enough for that.
    fn follow(&mut self, u: &[f64], radius: f64, touched: &mut Touched) -> bool {
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
