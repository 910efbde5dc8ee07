//! The step sizes of all blocks: backtracking as in appendix F of the BCFW paper.

use serde::{Deserialize, Serialize};

/// The most halvings of a line search in the first pass over the data, and later.
const HALVINGS: [u32; 2] = [2, 5];

/// Every line search ends with a step size that is larger by this factor, so that it can recover from halvings.
const GROWTH: f64 = 1.05;

/// No step size grows beyond this. The paper has no limit, and there a block whose distribution no longer changes would
/// raise its step size until it overflows. The exponents of a block of ordinary scores then still are far from it.
const LARGEST: f64 = 1e6;

/// The step sizes, and the line search that is under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Rates {
    /// η_i.
    of: Vec<f64>,
    /// The block of a line search that goes on, and how often it has halved its step. A run may pause between two trials.
    open: Option<(usize, u32)>,
    /// Line searches that ended.
    pub searches: u64,
    /// Trials that let the dual fall, and line searches that ended with one.
    pub halvings: u64,
    pub refused: u64,
}

/// What becomes of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The step is taken, and its line search ends.
    Taken,
    /// The step is too long: half of it is tried next.
    Halved,
    /// The step is too long, and there are no more trials: the block stays where it is.
    Refused,
}

impl Rates {
    pub fn new(step: f64, blocks: usize) -> Self {
        Self { of: vec![step; blocks], open: None, searches: 0, halvings: 0, refused: 0 }
    }

    /// Returns the block of the line search that goes on, or else the next one, and its step size.
    pub fn next(&self, next_block: impl FnOnce() -> usize) -> (usize, f64) {
        let block = self.open.map_or_else(next_block, |(block, _)| block);
        (block, self.of[block])
    }

    /// Judges a trial on a block by what it gains; a gain that is no number counts as a loss.
    pub fn judge(&mut self, block: usize, gain: f64) -> Verdict {
        let done = self.open.take().map_or(0, |(_, halvings)| halvings);
        let most = HALVINGS[usize::from(self.searches >= self.of.len() as u64)];
        let rate = &mut self.of[block];
        let rises = gain >= 0.0;
        if !rises && done < most {
            *rate /= 2.0;
            self.halvings += 1;
            self.open = Some((block, done + 1));
            return Verdict::Halved;
        }
        *rate = (*rate * GROWTH).min(LARGEST.max(*rate));
        self.searches += 1;
        if rises {
            return Verdict::Taken;
        }
        self.refused += 1;
        Verdict::Refused
    }

    /// Whether these are valid step sizes of this many blocks: a state from a file may contain anything.
    pub fn is_sound(&self, blocks: usize) -> bool {
        let most = HALVINGS[1];
        self.of.len() == blocks
            && self.of.iter().all(|rate| *rate >= 0.0 && rate.is_finite())
            && self.open.is_none_or(|(block, halvings)| block < blocks && halvings <= most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_halves_twice_in_the_first_pass_and_five_times_later() {
        let mut rates = Rates::new(0.5, 2);
        for (search, most) in [2, 2, 5, 5].into_iter().enumerate() {
            let block = search % 2;
            let before = rates.of[block];
            for halving in 1..=most {
                assert_eq!(rates.next(|| block), (block, before / f64::from(1 << (halving - 1))));
                assert_eq!(rates.judge(block, -1.0), Verdict::Halved);
                assert_eq!(rates.next(|| unreachable!()).0, block);
            }
            let verdict = rates.judge(block, if search == 3 { f64::NAN } else { -1.0 });
            assert_eq!(verdict, Verdict::Refused);
            assert_eq!(rates.of[block], before / f64::from(1 << most) * 1.05);
        }
        assert_eq!((rates.searches, rates.halvings, rates.refused), (4, 14, 4));
        assert!(rates.is_sound(2) && !rates.is_sound(3));
    }

    #[test]
    fn a_step_that_does_not_lower_the_dual_is_taken_and_the_next_is_longer() {
        let mut rates = Rates::new(0.5, 1);
        assert_eq!(rates.judge(0, 0.0), Verdict::Taken);
        assert_eq!(rates.judge(0, -1.0), Verdict::Halved);
        assert_eq!(rates.judge(0, 1.0), Verdict::Taken);
        assert_eq!(rates.of, [0.5 * 1.05 / 2.0 * 1.05]);
        (0..1000).for_each(|_| assert_eq!(rates.judge(0, 1.0), Verdict::Taken));
        assert_eq!(rates.of, [LARGEST]);
    }
}
