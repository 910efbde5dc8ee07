//! The cache policy: chooses between the oracle and known corners, and how many steps a visit takes, by the dual gain
//! of steps for their counted work.
//!
//! After a pass with the oracle, the policy runs cached passes, which step on known corners without the oracle, as long
//! as the last of them gained at least as much per unit of work as the oracle pass and all cached passes since
//! together. If even the first cached pass gains less, the policy runs oracle passes alone for a while, twice as long
//! after each such failure. At every visit, further steps between known corners may follow the first. Their largest
//! number grows while they gain at least as much per unit of work as first steps do, and shrinks otherwise.

use crate::Error;
use serde::{Deserialize, Serialize};

/// The most cached passes in a row: a larger limit saves oracle calls, a smaller one finds new corners sooner.
const MOST_PASSES: u32 = 100;

/// The most oracle passes before the cache is tried again: a larger limit wastes less work on failed trials, a smaller
/// one notices sooner that the cache pays again.
const LONGEST_WAIT: u32 = 64;

/// The most further steps at a visit: a larger limit allows more work on one block before the others move.
const DEEPEST: u32 = 16;

/// The oracle counts as much more expensive than the cache if a pass with it takes more than this many times the work
/// of a cached pass.
const DEAR: f64 = 4.0;

/// One visit in this many may take one step more than the others, to measure whether deeper visits pay. A smaller
/// number adapts faster and wastes more steps if they do not pay.
const PROBE: u64 = 8;

/// The dual gain of some steps, and their work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    pub gain: f64,
    pub work: f64,
}

impl Tally {
    pub fn add(&mut self, more: Self) {
        self.gain += more.gain;
        self.work += more.work;
    }

    /// Whether this gained anything, and at least as much per unit of work as the other.
    fn pays_beside(self, other: Self) -> bool {
        self.gain > 0.0 && self.gain * other.work >= other.gain * self.work
    }
}

/// The state of the cache policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CachePolicy {
    /// Whether this pass is cached, without the oracle.
    cached: bool,
    /// Visits left in this pass.
    left: u64,
    /// The tally since the last oracle pass began, and that of this pass.
    lap: Tally,
    pass: Tally,
    /// Cached passes since the last oracle pass.
    passes: u32,
    /// The work of the last oracle pass, and of the last cached pass.
    asked: f64,
    known: f64,
    /// Oracle passes left before the cache is tried again, and the number that the next failure doubles.
    wait: u32,
    next_wait: u32,
    /// How many further steps a visit may take, and the tallies of the first and further steps of this pass.
    depth: u32,
    first: Tally,
    further: Tally,
    /// Cached visits of the whole run.
    pub visits: u64,
}

/// When known corners are stepped on without the oracle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Never: every step calls the oracle.
    Never,
    /// In further steps at visits with the oracle, as long as they pay, and in no pass of their own.
    AtVisits,
    /// As long as they pay, in further steps and in passes of their own.
    Paying,
    /// At least one after every oracle pass, and more as long as they pay.
    Once,
}

/// Returns the error for settings that ask for a cache where there is none.
pub(super) fn no_cache() -> Error {
    Error::setting("corners are kept for structural blocks and steps by line search only")
}

impl CachePolicy {
    pub fn new(blocks: u64) -> Self {
        Self {
            cached: false,
            left: blocks,
            lap: Tally::default(),
            pass: Tally::default(),
            passes: 0,
            asked: 0.0,
            known: 0.0,
            wait: 0,
            next_wait: 1,
            depth: 1,
            first: Tally::default(),
            further: Tally::default(),
            visits: 0,
        }
    }

    pub fn is_sound(&self, blocks: u64) -> bool {
        let tallies = [self.lap, self.pass, self.first, self.further];
        (1..=blocks).contains(&self.left)
            && self.passes <= MOST_PASSES
            && self.wait <= LONGEST_WAIT
            && (1..=LONGEST_WAIT).contains(&self.next_wait)
            && self.depth <= DEEPEST
            && self.visits < 1 << 60
            && self.asked.is_finite()
            && self.known.is_finite()
            && tallies.iter().all(|tally| tally.gain.is_finite() && tally.work.is_finite())
    }

    /// Returns whether the next visits are cached, and how many of them.
    pub fn ahead(&self) -> (bool, u64) {
        (self.cached, self.left)
    }

    /// Whether this pass is cached and an oracle pass takes much more work.
    pub fn spares_much(&self) -> bool {
        self.cached && self.asked > DEAR * self.known
    }

    /// Returns how many further steps the visit after so many more of this pass may take.
    pub fn depth(&self, later: u64) -> u32 {
        let probes = (self.left - later).is_multiple_of(PROBE);
        self.depth + u32::from(probes && self.depth < DEEPEST)
    }

    /// Records the tallies of the first step of a visit and of the further ones.
    pub fn visited(&mut self, first: Tally, further: Tally, blocks: u64, policy: Use) {
        self.visits += u64::from(self.cached);
        for tally in [&mut self.pass, &mut self.lap] {
            tally.add(first);
            tally.add(further);
        }
        self.first.add(first);
        self.further.add(further);
        self.left -= 1;
        if self.left == 0 {
            self.left = blocks;
            self.end_pass(policy);
        }
    }

    fn end_pass(&mut self, policy: Use) {
        let (first, further) = (std::mem::take(&mut self.first), std::mem::take(&mut self.further));
        self.depth = if further.pays_beside(first) {
            (2 * self.depth + 1).min(DEEPEST)
        } else {
            self.depth / 2
        };
        let pass = std::mem::take(&mut self.pass);
        let work = if self.cached { &mut self.known } else { &mut self.asked };
        *work = pass.work;
        let go_on = if self.cached {
            self.passes += 1;
            self.passes < MOST_PASSES && pass.pays_beside(self.lap)
        } else {
            self.passes = 0;
            match policy {
                Use::Never | Use::AtVisits => false,
                Use::Once => true,
                Use::Paying => self.wait == 0,
            }
        };
        if !self.cached {
            self.wait = self.wait.saturating_sub(1);
        } else if !go_on {
            // If even the first cached pass does not pay, the trial of the cache has failed.
            let failed = self.passes == 1;
            self.next_wait = if failed { (2 * self.next_wait).min(LONGEST_WAIT) } else { 1 };
            self.wait = if failed { self.next_wait } else { 0 };
        }
        if !go_on {
            self.lap = Tally::default();
        }
        self.cached = go_on;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `visits` visits whose gain depends on whether they call the oracle; returns how many called it.
    fn asked(tried: &mut CachePolicy, visits: usize, policy: Use, gains: [f64; 2]) -> usize {
        let mut asked = 0;
        for _ in 0..visits {
            let (cached, _) = tried.ahead();
            asked += usize::from(!cached);
            let tally = if cached {
                Tally { gain: gains[1], work: 1.0 }
            } else {
                Tally { gain: gains[0], work: 10.0 }
            };
            tried.visited(tally, Tally::default(), 4, policy);
        }
        assert!(tried.is_sound(4));
        asked
    }

    #[test]
    fn the_cache_is_used_as_long_as_it_pays() {
        // A tenth of the work for half of the gain, in every pass: only the limit ends the cached passes.
        let mut tried = CachePolicy::new(4);
        assert_eq!(asked(&mut tried, 4 * 101 * 3, Use::Paying, [1.0, 0.5]), 4 * 3);
        // A tenth of the work for no gain: the policy tries the cache after ever longer waits.
        let mut tried = CachePolicy::new(4);
        let asked_often = asked(&mut tried, 4000, Use::Paying, [1.0, 0.0]);
        assert!(asked_often > 3800 && asked_often < 4000, "{asked_often}");
        assert_eq!(asked(&mut CachePolicy::new(4), 400, Use::Never, [1.0, 0.5]), 400);
        assert_eq!(asked(&mut CachePolicy::new(4), 400, Use::Once, [1.0, 0.0]), 200);
    }

    #[test]
    fn without_passes_of_its_own_the_cache_serves_further_steps_only() {
        let mut tried = CachePolicy::new(4);
        assert_eq!(asked(&mut tried, 400, Use::AtVisits, [1.0, 0.5]), 400);
        let first = Tally { gain: 1.0, work: 1.0 };
        for _ in 0..40 {
            tried.visited(first, Tally { gain: 2.0, work: 1.0 }, 4, Use::AtVisits);
        }
        assert_eq!((tried.depth(0), tried.ahead().0), (DEEPEST, false));
    }

    #[test]
    fn visits_become_as_deep_as_it_pays() {
        let mut tried = CachePolicy::new(4);
        let first = Tally { gain: 1.0, work: 1.0 };
        for _ in 0..40 {
            tried.visited(first, Tally { gain: 2.0, work: 1.0 }, 4, Use::Never);
        }
        assert_eq!(tried.depth(0), DEEPEST);
        for _ in 0..40 {
            tried.visited(first, Tally { gain: 0.5, work: 1.0 }, 4, Use::Never);
        }
        assert_eq!(tried.depth, 0);
    }
}
