//! Shrinking: which blocks the next round visits.

use dualgap_map::fetch;
use serde::{Deserialize, Serialize};

/// Shrinking: a block whose visits change nothing is left out of the next rounds, more of them each time, until a
/// visit changes something. No block is left out for good, and certificates cover all blocks, so shrinking affects the
/// speed of a run and nothing else.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Shrinking {
    round: u64,
    /// The number of consecutive visits to each block that changed nothing, with the bit `WAITS` if it waits for the
    /// oracle.
    idle: Vec<u8>,
    /// The blocks that return in each later round: a ring buffer, indexed by the number of the round.
    back: Vec<Vec<usize>>,
    /// Blocks that gain nothing from their known corners and wait for the oracle.
    waiting: Vec<usize>,
    /// How far an eager pace goes by now; see [`Pace::Eager`].
    reach: u8,
    /// Of the visits since the reach was last looked at: those to blocks whose last visit had changed nothing, ...
    again: u64,
    /// ... and how many of these did change something.
    awake: u64,
    /// Not part of a checkpoint: the blocks decide it.
    #[serde(skip)]
    pace: Pace,
}

/// How soon blocks are left out, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// After three visits in a row that change nothing; out of 1, 2, 4, … rounds. For blocks whose visits take long, and whose
    /// every visit sees other corners.
    #[default]
    Patient,
    /// After the first visit that changes nothing; out of 1, 4, 16, … rounds, as far as the reach allows. For blocks of one number:
    /// if it is at the end of its interval and its gradient points outside, it mostly stays there.
    ///
    /// Whether it does, the blocks that were left out tell when they return. Where many of them move, the others wait in vain, and
    /// the rounds in between are spent on a few blocks: of 581,012 rows in 54 columns that no plane tells apart, twelve passes
    /// left a gap of 8e-4, and without shrinking of 1e-5. So a run begins with a reach of zero, at which no block is left out. The
    /// reach grows while less than a quarter of them move, and falls half as fast while more than half do.
    Eager,
}

impl Shrinking {
    /// The reach of an eager pace grows if less than this share of the blocks that were idle have moved when they are visited again, ...
    const FEW: f64 = 0.25;
    /// ... and falls if more than this share have.
    const MANY: f64 = 0.5;
    /// The least number of such visits to tell by: of sixteen, a share of a quarter or of a half has a standard
    /// deviation of about an eighth. Not tuned.
    const ENOUGH: u64 = 16;
    /// The largest reach, at which blocks are left out of `2^LONGEST` rounds.
    const FARTHEST: u8 = 5;
    /// More consecutive visits without change than this are not counted.
    const MOST_IDLE: u8 = 12;
    /// Shrinking leaves a block out of at most `2^LONGEST` rounds in a row. A larger limit saves visits, a smaller one
    /// notices sooner that the block moves again.
    const LONGEST: u8 = 9;
    /// The bit of `idle` that marks a block that waits for the oracle.
    const WAITS: u8 = 0x80;
    /// The length of the ring: every block returns within fewer rounds.
    const RING: usize = 2 << Self::LONGEST;

    pub fn new(blocks: usize) -> Self {
        Self {
            round: 0,
            idle: vec![0; blocks],
            back: vec![Vec::new(); Self::RING],
            waiting: Vec::new(),
            reach: 0,
            again: 0,
            awake: 0,
            pace: Pace::default(),
        }
    }

    /// A block is left out after more consecutive visits without change than this. A larger number wastes visits on idle blocks, a
    /// smaller one leaves out blocks that would soon move again.
    fn patience(&self) -> u8 {
        match self.pace {
            Pace::Patient => 2,
            Pace::Eager if self.reach == 0 => u8::MAX,
            Pace::Eager => 0,
        }
    }

    /// Returns the number of rounds that a block is left out of after so many visits beyond patience.
    fn left_out(&self, visits: u8) -> usize {
        let doublings = match self.pace {
            Pace::Patient => visits - 1,
            Pace::Eager => (2 * (visits - 1)).min(2 * self.reach - 1),
        };
        1 << doublings.min(Self::LONGEST)
    }

    /// Lets the reach follow what became of the blocks that were idle. The blocks of a round are left out by one reach: this is
    /// for its end.
    fn follow(&mut self) {
        if self.again < Self::ENOUGH {
            return;
        }
        let moved = self.awake as f64 / self.again as f64;
        if moved < Self::FEW {
            self.reach = (self.reach + 2).min(Self::FARTHEST);
        } else if moved > Self::MANY {
            self.reach = self.reach.saturating_sub(1);
        }
        (self.again, self.awake) = (0, 0);
    }

    /// Sets the pace; `visited` are the blocks of this round so far. A state that was stored under a more patient pace has blocks
    /// among them that this one would have left out: they take part in the next round. One that was stored under a less patient
    /// pace, or was forged, has left out blocks that this one would not have: they stay so, or a later round would have them twice.
    pub fn set_pace(&mut self, pace: Pace, visited: &[usize]) {
        self.pace = pace;
        let mut out = vec![false; self.idle.len()];
        self.back.iter().flatten().chain(&self.waiting).for_each(|&i| out[i] = true);
        let patience = self.patience();
        for &i in visited {
            if !out[i] && self.idle[i] > patience {
                self.idle[i] = 0;
            } else if out[i] {
                self.idle[i] = self.idle[i].max(patience.saturating_add(1));
            }
        }
    }

    /// Asks ahead for what a visit to this block changes.
    #[inline]
    pub fn fetch(&self, i: usize) {
        fetch(&self.idle[i]);
    }

    #[inline]
    pub fn visited(&mut self, i: usize, moved: bool) {
        let was_idle = self.idle[i] > 0;
        self.again += u64::from(was_idle);
        self.awake += u64::from(was_idle && moved);
        if moved {
            self.idle[i] = 0;
            return;
        }
        let idle = (self.idle[i] + 1).min(Self::MOST_IDLE);
        self.idle[i] = idle;
        let patience = self.patience();
        if idle > patience {
            let left_out = self.left_out(idle - patience);
            self.back[(self.round as usize + 1 + left_out) % Self::RING].push(i);
        }
    }

    /// Records a cached visit that changed nothing: the block waits for the next oracle pass.
    pub fn passed(&mut self, i: usize) {
        if self.idle[i] & Self::WAITS == 0 {
            self.idle[i] |= Self::WAITS;
            self.waiting.push(i);
        }
    }

    /// Puts the blocks that wait for the oracle into the next round, if there are any, and with them what is left of this
    /// round, which ends here; returns whether it did.
    pub fn ask_again(&mut self, sequence: &mut Vec<usize>, next: usize) -> bool {
        let Self { round, idle, back, waiting, .. } = self;
        if waiting.is_empty() {
            return false;
        }
        let ahead = &mut back[(*round as usize + 1) % Self::RING];
        ahead.extend(sequence.split_off(next));
        sequence.retain(|&i| idle[i] & Self::WAITS == 0);
        waiting.iter().for_each(|&i| idle[i] &= !Self::WAITS);
        ahead.append(waiting);
        true
    }

    /// Puts all blocks into the next round.
    pub fn wake_all(&mut self, sequence: &mut Vec<usize>) {
        self.back.fill(Vec::new());
        self.waiting.clear();
        self.idle.iter_mut().for_each(|idle| *idle &= !Self::WAITS);
        sequence.clear();
        sequence.extend(0..self.idle.len());
    }

    /// Fills `sequence` with the blocks of the next round that has any, after all blocks of this one were visited.
    pub fn wake(&mut self, sequence: &mut Vec<usize>) {
        let patience = self.patience();
        sequence.retain(|&i| self.idle[i] <= patience);
        self.follow();
        // Every block that shrinking left out returns within one cycle of the ring.
        for _ in 0..Self::RING {
            self.round += 1;
            // Taken and not emptied: the ring would keep the memory of every round.
            let back = std::mem::take(&mut self.back[self.round as usize % Self::RING]);
            sequence.extend(back);
            if !sequence.is_empty() {
                return;
            }
        }
        // All other blocks wait for the oracle, or a state from an untrusted file has left all of them out for longer.
        self.wake_all(sequence);
    }

    /// Whether the state is consistent, every block will be visited again, and no round has one twice. The blocks of this round are
    /// some that were visited and some that are ahead.
    pub fn is_sound(&self, blocks: usize, (visited, ahead): (&[usize], &[usize])) -> bool {
        let mut seen = vec![false; blocks];
        let left_out = || self.back.iter().flatten().chain(&self.waiting);
        let waits = |i: usize| self.idle[i] & Self::WAITS != 0;
        self.round < 1 << 60
            && self.idle.len() == blocks
            && self.reach <= Self::FARTHEST
            && self.awake <= self.again
            && self.again < 1 << 60
            && self.idle.iter().all(|&idle| idle & !Self::WAITS <= Self::MOST_IDLE)
            && self.back.len() == Self::RING
            && left_out().all(|&i| i < blocks)
            && ahead.iter().chain(left_out()).all(|&i| !std::mem::replace(&mut seen[i], true))
            && self.waiting.iter().all(|&i| waits(i))
            && (0..blocks).filter(|&i| waits(i)).count() == self.waiting.len()
            && {
                // They may be left out of the next rounds.
                visited.iter().for_each(|&i| seen[i] = true);
                seen.iter().all(|&seen| seen)
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_with_a_block_in_two_places_is_not_sound() {
        let sequence = [0, 1, 2, 3];
        let mut honest = Shrinking::new(6);
        honest.back[5] = vec![4, 0];
        honest.idle[5] = Shrinking::WAITS;
        honest.waiting = vec![5];
        let is_sound = |state: &Shrinking, next: usize| state.is_sound(6, sequence.split_at(next));
        assert!(is_sound(&honest, 1), "block 0 was visited and left out");
        assert!(!is_sound(&honest, 0), "block 0 is ahead and left out");
        let is_sound = |change: &dyn Fn(&mut Shrinking)| {
            let mut state = honest.clone();
            change(&mut state);
            state.is_sound(6, sequence.split_at(1))
        };
        assert!(is_sound(&|_| ()));
        assert!(!is_sound(&|state| state.back[5].push(4)));
        assert!(!is_sound(&|state| state.back[9].push(4)));
        assert!(!is_sound(&|state| state.back[9].push(3)));
        assert!(!is_sound(&|state| state.back[9].push(5)));
        assert!(!is_sound(&|state| state.waiting.push(5)));
        assert!(!is_sound(&|state| state.back[5].clear()), "block 4 is nowhere");
    }

    // Which blocks this pace would have left out is known once it is set.
    #[test]
    fn a_block_that_another_pace_has_left_out_is_in_no_round_twice() {
        let mut state = Shrinking::new(3);
        state.idle = vec![1, 0, 1];
        state.back[1] = vec![0, 2];
        let mut sequence = vec![0, 1];
        assert!(state.is_sound(3, (&sequence, &[])));
        state.set_pace(Pace::Patient, &sequence);
        state.wake(&mut sequence);
        sequence.sort_unstable();
        assert_eq!(sequence, [0, 1, 2]);
    }
}
