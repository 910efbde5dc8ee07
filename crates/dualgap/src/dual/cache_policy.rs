//! Oracle or cache, and how many steps a visit takes: decided by what steps gain for their counted work.
//!
//! After a pass with the oracle come passes without it, as long as the last of them gained at least as much of the dual
//! for its work as everything since the oracle was last asked. Where not even the first did, the next passes with the
//! oracle are not followed by any, twice as many each time. And at every visit further steps between the corners that
//! are known may follow the first, up to a number that grows while they gain more for their work than first steps do.

use serde::{Deserialize, Serialize};

/// At most so many passes without the oracle in a row.
const MOST_PASSES: u32 = 100;

/// So many passes with the oracle alone are borne with at most before the cache is tried again.
const LONGEST_WAIT: u32 = 64;

/// At most so many further steps at a visit.
const DEEPEST: u32 = 16;

/// The oracle is far dearer than the cache if a pass with it takes so many times the work.
const DEAR: f64 = 4.0;

/// Every so many visits one more step is tried than the others take.
const PROBE: u64 = 8;

/// What steps gained of the dual, and the work they took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tally {
    pub gain: f64,
    pub work: f64,
}

impl Tally {
    pub fn add(&mut self, more: Self) {
        self.gain += more.gain;
        self.work += more.work;
    }

    /// Whether it gained at least as much for its work as the other.
    fn pays_beside(self, other: Self) -> bool {
        self.gain > 0.0 && self.gain * other.work >= other.gain * self.work
    }
}

/// What was decided so far, and what the next decisions depend on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CachePolicy {
    /// Whether this pass goes without the oracle.
    cached: bool,
    /// Visits left of this pass.
    left: u64,
    /// Since the oracle was last asked, and in this pass.
    lap: Tally,
    pass: Tally,
    /// Passes without the oracle since then.
    passes: u32,
    /// The work of the last pass with the oracle, and of the last without.
    asked: f64,
    known: f64,
    /// Passes with the oracle alone before the cache is tried again, and how many it will be the next time.
    wait: u32,
    next_wait: u32,
    /// How many further steps a visit may take, and what first and further steps of this pass came to.
    depth: u32,
    first: Tally,
    further: Tally,
    /// Visits without the oracle, of the whole run.
    pub visits: u64,
}

/// What may be decided at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Every step asks the oracle.
    Never,
    /// As it pays.
    Paying,
    /// As it pays, and once in any case.
    Once,
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

    /// Whether the next visits go without the oracle, and how many of them.
    pub fn ahead(&self) -> (bool, u64) {
        (self.cached, self.left)
    }

    /// Whether these visits go without an oracle that is far dearer than they are.
    pub fn spares_much(&self) -> bool {
        self.cached && self.asked > DEAR * self.known
    }

    /// How many further steps the next visit may take.
    pub fn depth(&self) -> u32 {
        self.depth + u32::from(self.left.is_multiple_of(PROBE) && self.depth < DEEPEST)
    }

    /// Is told what the first step of a visit and the further ones came to.
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
                Use::Never => false,
                Use::Once => true,
                Use::Paying => self.wait == 0,
            }
        };
        if !self.cached {
            self.wait = self.wait.saturating_sub(1);
        } else if !go_on {
            // The first pass alone was a trial that failed.
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

    /// Runs so many visits of a block each, whose gain depends on whether the oracle is asked; how many asked it.
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
        // A tenth of the work for half of the gain, again and again: only the limit ends it.
        let mut tried = CachePolicy::new(4);
        assert_eq!(asked(&mut tried, 4 * 101 * 3, Use::Paying, [1.0, 0.5]), 4 * 3);
        // A tenth of the work for nothing: tried after passes ever further apart.
        let mut tried = CachePolicy::new(4);
        let asked_often = asked(&mut tried, 4000, Use::Paying, [1.0, 0.0]);
        assert!(asked_often > 3800 && asked_often < 4000, "{asked_often}");
        assert_eq!(asked(&mut CachePolicy::new(4), 400, Use::Never, [1.0, 0.5]), 400);
        assert_eq!(asked(&mut CachePolicy::new(4), 400, Use::Once, [1.0, 0.0]), 200);
    }

    #[test]
    fn visits_become_as_deep_as_it_pays() {
        let mut tried = CachePolicy::new(4);
        let first = Tally { gain: 1.0, work: 1.0 };
        for _ in 0..40 {
            tried.visited(first, Tally { gain: 2.0, work: 1.0 }, 4, Use::Never);
        }
        assert_eq!(tried.depth(), DEEPEST);
        for _ in 0..40 {
            tried.visited(first, Tally { gain: 0.5, work: 1.0 }, 4, Use::Never);
        }
        assert_eq!(tried.depth, 0);
    }
}
