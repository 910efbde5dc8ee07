//! How long lanes are, and when visits go one after the other in their place.

use serde::{Deserialize, Serialize};

/// The visits of a lane at the start of a run, and the fewest: threads meet after every lane.
const FEWEST: u64 = 8;

/// The most visits of a lane: longer ones gain little, and miss more of each other.
const MOST: u64 = 64;

/// Lanes are made shorter when they lose more than this share of their gains to each other: two lanes that lose a half of them are no
/// better than one, and waiting for each other costs too. A fifth is well before that; not tuned, ...
const MUCH: f64 = 0.2;

/// ... and longer when they lose less than this: twice as long a lane loses about twice as much, so the two are more than a factor of two
/// apart, or the length would go to and fro.
const LITTLE: f64 = 0.05;

/// The most passes without lanes before they are tried again. A trial of lanes that do not pay is then a small part of the visits; any
/// number of this size will do.
const LONGEST_WAIT: u64 = 64;

/// The rounds of a series at most: after it, the length is chosen again.
const ROUNDS: u64 = 32;

/// The multiplications of a series at most, some tenths of a second: a run listens to signals and limits between two of them.
pub(super) const WORK: f64 = 1e8;

/// The part of a checkpoint that lanes need.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LanePolicy {
    length: u64,
    /// The visits left before lanes are tried again.
    wait: u64,
    /// The number of passes that the next failure waits for.
    next_wait: u64,
}

impl LanePolicy {
    pub fn new() -> Self {
        Self { length: FEWEST, wait: 0, next_wait: 1 }
    }

    pub fn is_sound(&self, blocks: u64) -> bool {
        (FEWEST..=MOST).contains(&self.length)
            && self.wait <= LONGEST_WAIT * blocks
            && (1..=LONGEST_WAIT).contains(&self.next_wait)
    }

    /// Returns the visits of a lane.
    pub fn length(&self) -> usize {
        self.length as usize
    }

    /// Returns how many of the next visits go in lanes at most, of which there are so many, if a visit takes so many multiplications;
    /// `None` if nobody knows.
    pub fn ahead(&self, lanes: u64, work: Option<f64>) -> u64 {
        if self.wait > 0 {
            return 0;
        }
        let round = lanes * self.length;
        let of_work = |work: f64| (WORK / (work * round as f64)).clamp(1.0, ROUNDS as f64) as u64;
        round * work.map_or(ROUNDS, of_work)
    }

    /// Records visits without lanes.
    pub fn passed(&mut self, visits: u64) {
        self.wait = self.wait.saturating_sub(visits);
    }

    /// Chooses the length of the next lanes, given what these have gained each for itself, and what of it they have lost together.
    pub fn learn(&mut self, gained: f64, lost: f64, blocks: u64) {
        if lost > MUCH * gained {
            if self.length == FEWEST {
                self.wait = self.next_wait * blocks;
                self.next_wait = (2 * self.next_wait).min(LONGEST_WAIT);
            }
            self.length = (self.length / 2).max(FEWEST);
        } else {
            self.next_wait = 1;
            if lost < LITTLE * gained {
                self.length = (2 * self.length).min(MOST);
            }
        }
    }
}
