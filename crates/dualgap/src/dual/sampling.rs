//! The order in which the engine visits blocks.
//!
//! A permutation of more rows than a cache holds waits for memory at every visit. [`Sampling::Chunked`] keeps neighbours
//! together:
//!
//! ```text
//! runs     64 neighbouring blocks each, in a new random order for every pass
//! groups   256 blocks each: the blocks of the next runs, permuted when the visits reach them
//! ```
//!
//! While a group is visited, the next one is still in the order of memory and is read ahead in it, which the hardware
//! recognises ([`Order::upcoming`]). A group has runs from several places, and others in every pass, so that a pass
//! converges like a permuted one, even over rows that are sorted by class.

use super::gaps::Gaps;
use super::shrinking::{Pace, Shrinking};
use crate::linalg::Random;
use serde::{Deserialize, Serialize};

/// How the engine chooses the next block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sampling {
    /// A new random permutation for every pass: the fastest in practice. With shrinking, where the rows are many and short,
    /// the engine takes [`Chunked`](Self::Chunked) in its place.
    #[default]
    Permuted,
    /// Each step draws a block uniformly, as in the papers' theory.
    Uniform,
    /// 0, 1, 2, … over and over.
    Cyclic,
    /// Each step draws a block, half of the time uniformly and half by importance: the length of an example's input.
    Importance,
    /// A permuted pass that measures the gap of every block, then as many draws as two passes have, in proportion to
    /// the last measured gaps.
    Gap,
    /// Runs of neighbouring blocks in a new random order for every pass, permuted among the blocks of a few runs.
    Chunked,
}

/// The blocks of a run: longer ones are read faster, shorter ones mix better.
const RUN: usize = u64::BITS as usize;

/// The blocks of a group: with more of them, the rows of a group and of the next one leave the nearest caches.
pub(crate) const GROUP: usize = 4 * RUN;

/// How many blocks are read ahead at once: a processor waits for several of them at the same time, if nothing comes between.
/// A permuted pass reads them as many visits ahead.
const BURST: usize = 8;

/// Passes of draws by gap between two permuted passes: more passes use older gaps, fewer spend more steps on measuring.
const DRAWN_PASSES: usize = 2;

/// An endless sequence of block numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    sampling: Sampling,
    random: Random,
    blocks: usize,
    /// The blocks of this round, and the position of the next one.
    sequence: Vec<usize>,
    next: usize,
    shrinking: Option<Shrinking>,
    /// For sampling by gap: the gaps, and how many draws are left before the next permuted pass.
    gaps: Option<(Gaps, usize)>,
    /// The cumulative importance of the blocks; not part of a checkpoint, but recomputed.
    #[serde(skip)]
    ends: Vec<f64>,
}

impl Order {
    /// Returns an order over `blocks` blocks; shrinking applies only if the sampling goes in rounds.
    pub fn new(sampling: Sampling, blocks: usize, seed: u64, shrinking: bool) -> Self {
        let rounds = matches!(sampling, Sampling::Permuted | Sampling::Cyclic | Sampling::Chunked);
        Self {
            sampling,
            random: Random::new(seed),
            blocks,
            sequence: (0..blocks).collect(),
            next: blocks, // the first permutation is drawn with the first step
            shrinking: (rounds && shrinking).then(|| Shrinking::new(blocks)),
            gaps: (sampling == Sampling::Gap).then(|| (Gaps::from(vec![0.0; blocks]), 0)),
            ends: Vec::new(),
        }
    }

    /// Whether the sampling uses the gaps of visited blocks.
    pub(super) fn wants_gaps(&self) -> bool {
        self.gaps.is_some()
    }

    /// Records a visit: whether it changed anything, and the block's gap if the sampling uses it.
    #[inline]
    pub(crate) fn visited(&mut self, i: usize, moved: bool, gap: f64) {
        if let Some(shrinking) = &mut self.shrinking {
            shrinking.visited(i, moved);
        }
        if let Some((gaps, _)) = &mut self.gaps {
            gaps.set(i, gap);
        }
    }

    /// Records a cached visit. If it changed nothing, the oracle may still find a better corner.
    pub(super) fn passed(&mut self, i: usize, moved: bool) {
        match &mut self.shrinking {
            Some(shrinking) if moved => shrinking.visited(i, true),
            Some(shrinking) => shrinking.passed(i),
            None => {}
        }
    }

    /// Ends a series of cached visits: the blocks that wait for the oracle return.
    pub(super) fn ask_again(&mut self) {
        if let Some(shrinking) = &mut self.shrinking
            && shrinking.ask_again(&mut self.sequence, self.next)
        {
            self.next = self.sequence.len();
        }
    }

    /// Sets how soon shrinking leaves blocks out.
    pub(super) fn set_pace(&mut self, pace: Pace) {
        if let Some(shrinking) = &mut self.shrinking {
            shrinking.set_pace(pace, &self.sequence[..self.next]);
        }
    }

    /// Sets the importance of each block, if the sampling uses it.
    pub(super) fn weigh(&mut self, importance: impl Fn(usize) -> f64) {
        if self.sampling == Sampling::Importance {
            let shares = (0..self.blocks).map(importance);
            self.ends = shares
                .scan(0.0, |end, share| {
                    *end += share.max(0.0);
                    Some(*end)
                })
                .collect();
        }
    }

    /// Whether this is a valid order of `blocks` blocks: a state from a file may contain anything.
    pub(crate) fn is_sound(&self, sampling: Sampling, blocks: usize, shrinking: bool) -> bool {
        let mut seen = vec![false; blocks];
        let shrinks = Self::new(sampling, blocks, 0, shrinking).shrinking.is_some();
        let chunked =
            self.sampling == Sampling::Chunked && sampling == Sampling::Permuted && shrinks;
        (self.sampling == sampling || chunked)
            && self.blocks == blocks
            && self.sequence.len() <= blocks
            && self.next <= self.sequence.len()
            && self.shrinking.is_some() == shrinks
            && self.gaps.is_some() == (sampling == Sampling::Gap)
            && self.gaps.as_ref().is_none_or(|(gaps, draws)| {
                gaps.is_sound(blocks) && *draws <= DRAWN_PASSES * blocks
            })
            && self.sequence.iter().all(|&i| i < blocks && !std::mem::replace(&mut seen[i], true))
            && match &self.shrinking {
                Some(shrinking) => shrinking.is_sound(blocks, &self.sequence),
                None => self.sequence.len() == blocks,
            }
    }

    /// Returns the next block.
    pub fn next_block(&mut self) -> usize {
        let blocks = self.blocks;
        match self.sampling {
            Sampling::Uniform => return self.random.below(blocks),
            Sampling::Importance => {
                let total = self.ends.last().copied().unwrap_or(0.0);
                let (even, place) = (self.random.below(2) == 0, self.random.unit() * total);
                return if even || total <= 0.0 {
                    self.random.below(blocks)
                } else {
                    self.ends.partition_point(|&end| end <= place).min(blocks - 1)
                };
            }
            Sampling::Permuted | Sampling::Cyclic | Sampling::Gap | Sampling::Chunked => {}
        }
        if self.next == self.sequence.len() {
            if let Some((gaps, draws)) = &mut self.gaps {
                if *draws > 0 {
                    *draws -= 1;
                    return gaps.draw(&mut self.random);
                }
                *draws = DRAWN_PASSES * blocks;
            }
            self.begin_round();
        }
        if self.sampling == Sampling::Chunked && self.next.is_multiple_of(GROUP) {
            let end = self.sequence.len().min(self.next + GROUP);
            self.random.shuffle(&mut self.sequence[self.next..end]);
        }
        self.next += 1;
        self.sequence[self.next - 1]
    }

    /// Returns blocks that will be visited soon and whose data should be read now, if any: after every eighth visit the next
    /// eight of them.
    #[inline]
    pub(super) fn upcoming(&self) -> &[usize] {
        let ahead = match self.sampling {
            Sampling::Chunked => GROUP,
            Sampling::Permuted | Sampling::Gap => BURST,
            Sampling::Uniform | Sampling::Cyclic | Sampling::Importance => return &[],
        };
        if !self.next.is_multiple_of(BURST) {
            return &[];
        }
        let (from, end) = (self.next + ahead, self.sequence.len());
        &self.sequence[from.min(end)..(from + BURST).min(end)]
    }

    /// Returns the next block of a cached visit. Such a visit does not measure the block's gap, so sampling by gap
    /// draws uniformly here: its permuted pass and its draws by gap wait for the oracle.
    pub(super) fn next_known(&mut self) -> usize {
        if self.gaps.is_some() { self.random.below(self.blocks) } else { self.next_block() }
    }

    /// Starts a round of all blocks, if there is shrinking.
    pub(super) fn wake_all(&mut self) {
        if let Some(shrinking) = &mut self.shrinking {
            shrinking.wake_all(&mut self.sequence);
            self.next = 0;
            self.arrange();
        }
    }

    fn begin_round(&mut self) {
        self.next = 0;
        if let Some(shrinking) = &mut self.shrinking {
            shrinking.wake(&mut self.sequence);
        }
        self.arrange();
    }

    /// Brings the blocks of a round into its order.
    fn arrange(&mut self) {
        match self.sampling {
            Sampling::Cyclic => {}
            Sampling::Chunked => by_runs(&mut self.sequence, self.blocks, &mut self.random),
            _ => self.random.shuffle(&mut self.sequence),
        }
    }

    /// Returns how many blocks can be drawn before the order needs to know what their visits changed.
    pub(super) fn known_ahead(&mut self) -> usize {
        if self.shrinking.is_none() {
            return usize::MAX;
        }
        if self.next == self.sequence.len() {
            self.begin_round();
        }
        self.sequence.len() - self.next
    }
}

/// Puts the runs that have blocks in a random order, and the blocks of each in ascending order.
fn by_runs(sequence: &mut Vec<usize>, blocks: usize, random: &mut Random) {
    // A bit for every block: sorting them would take as long as visiting them.
    let mut members = vec![0_u64; blocks.div_ceil(RUN)];
    sequence.drain(..).for_each(|i| members[i / RUN] |= 1 << (i % RUN));
    let mut runs: Vec<usize> = (0..members.len()).filter(|&run| members[run] != 0).collect();
    random.shuffle(&mut runs);
    for run in runs {
        let mut left = members[run];
        while left != 0 {
            sequence.push(run * RUN + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(order: &mut Order, blocks: usize) -> Vec<usize> {
        (0..blocks).map(|_| order.next_block()).collect()
    }

    #[test]
    fn a_permuted_pass_visits_every_block_once_and_each_pass_differs() {
        let mut order = Order::new(Sampling::Permuted, 50, 3, false);
        let (first, second) = (pass(&mut order, 50), pass(&mut order, 50));
        assert_ne!(first, second);
        for mut visited in [first, second] {
            visited.sort_unstable();
            assert!(visited.into_iter().eq(0..50));
        }
    }

    #[test]
    fn a_cyclic_pass_goes_in_order_and_a_uniform_one_repeats_blocks() {
        let mut order = Order::new(Sampling::Cyclic, 4, 0, false);
        assert_eq!(pass(&mut order, 8), [0, 1, 2, 3, 0, 1, 2, 3]);
        let mut visited = pass(&mut Order::new(Sampling::Uniform, 50, 0, false), 50);
        visited.sort_unstable();
        visited.dedup();
        assert!(visited.len() < 50 && visited.iter().all(|&i| i < 50));
    }

    #[test]
    fn half_of_the_draws_go_by_importance() {
        let mut order = Order::new(Sampling::Importance, 4, 1, false);
        order.weigh(|i| [0.0, 1.0, 3.0, 0.0][i]);
        let mut counts = [0_i32; 4];
        pass(&mut order, 16_000).into_iter().for_each(|i| counts[i] += 1);
        // 1/8 each for the even half, and 1/8 and 3/8 on top: six standard deviations of a binomial.
        for (count, expected) in counts.iter().zip([2000, 4000, 8000, 2000]) {
            assert!((count - expected).abs() < 380, "{counts:?}");
        }
    }

    #[test]
    fn the_seed_decides_the_order() {
        let order = |seed| pass(&mut Order::new(Sampling::Permuted, 20, seed, false), 20);
        assert_eq!(order(5), order(5));
        assert_ne!(order(5), order(6));
    }

    #[test]
    fn a_chunked_pass_visits_every_block_once_in_groups_of_few_runs() {
        let blocks = 3 * GROUP + 77;
        let mut order = Order::new(Sampling::Chunked, blocks, 3, false);
        let passes = [pass(&mut order, blocks), pass(&mut order, blocks)];
        assert_ne!(passes[0], passes[1]);
        for visited in passes {
            for group in visited.chunks(GROUP) {
                assert!(!group.is_sorted());
                let mut runs: Vec<usize> = group.iter().map(|i| i / RUN).collect();
                runs.sort_unstable();
                runs.dedup();
                assert!(runs.len() <= GROUP / RUN + 1, "{runs:?}");
            }
            let mut visited = visited;
            visited.sort_unstable();
            assert!(visited.into_iter().eq(0..blocks));
        }
    }

    #[test]
    fn what_a_chunked_pass_reads_ahead_is_the_next_group_in_the_order_of_memory() {
        let blocks = 5 * GROUP;
        let mut order = Order::new(Sampling::Chunked, blocks, 8, true);
        order.next_block();
        let mut read = Vec::new();
        for _ in 1..GROUP {
            read.extend(order.upcoming());
            order.next_block();
        }
        let breaks = read.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
        assert!(read.len() == GROUP - BURST && breaks < GROUP / RUN, "{read:?}");
        let next: Vec<usize> = (0..GROUP).map(|_| order.next_block()).collect();
        assert!(!next.is_sorted());
        assert!(read.iter().all(|i| next.contains(i)), "{read:?} {next:?}");
        assert!(order.is_sound(Sampling::Permuted, blocks, true));
        assert!(!order.is_sound(Sampling::Permuted, blocks, false));
    }

    #[test]
    fn shrinking_leaves_gaps_in_chunks_and_forgets_no_block() {
        let blocks = 2 * GROUP;
        let mut order = Order::new(Sampling::Chunked, blocks, 1, true);
        let rounds = visits(&mut order, 600, 100);
        for round in &rounds {
            assert!((0..100).all(|i| round.contains(&i)));
        }
        let last = &rounds[20..];
        assert!((100..blocks).all(|i| last.iter().any(|round| round.contains(&i))));
        assert!(last.iter().any(|round| round.len() == 100));
        assert!(order.is_sound(Sampling::Chunked, blocks, true));
    }

    /// Visits blocks for `rounds` rounds, of which only the first `movers` ever move; returns the blocks of each round.
    fn visits(order: &mut Order, rounds: usize, movers: usize) -> Vec<Vec<usize>> {
        (0..rounds)
            .map(|_| {
                let count = order.known_ahead();
                let round: Vec<usize> = (0..count).map(|_| order.next_block()).collect();
                round.iter().for_each(|&i| order.visited(i, i < movers, 0.0));
                round
            })
            .collect()
    }

    #[test]
    fn who_never_moves_is_visited_ever_less_often_and_never_forgotten() {
        let mut order = Order::new(Sampling::Permuted, 30, 7, true);
        let rounds = visits(&mut order, 4000, 3);
        for block in 0..30 {
            let at: Vec<usize> = (0..4000).filter(|&r| rounds[r].contains(&block)).collect();
            if block < 3 {
                assert_eq!(at.len(), 4000);
                continue;
            }
            // At first in every round, then left out of 1, 2, 4, … of them, and in the end of 512 at a time.
            let pauses: Vec<usize> = at.windows(2).map(|pair| pair[1] - pair[0] - 1).collect();
            assert_eq!(pauses[..6], [0, 0, 1, 2, 4, 8], "{block}");
            assert_eq!(pauses.iter().max(), Some(&512));
            assert!(pauses.is_sorted());
        }
        assert!(order.is_sound(Sampling::Permuted, 30, true));
    }

    #[test]
    fn at_an_eager_pace_pauses_begin_at_once_and_grow_fourfold() {
        let mut order = Order::new(Sampling::Permuted, 30, 7, true);
        order.set_pace(Pace::Eager);
        let rounds = visits(&mut order, 4000, 3);
        for block in 3..30 {
            let at: Vec<usize> = (0..4000).filter(|&r| rounds[r].contains(&block)).collect();
            let pauses: Vec<usize> = at.windows(2).map(|pair| pair[1] - pair[0] - 1).collect();
            assert_eq!(pauses[..6], [1, 4, 16, 64, 256, 512], "{block}");
        }
        assert!(order.is_sound(Sampling::Permuted, 30, true));
    }

    // An earlier version stored states in which blocks had been idle once or twice and were still in every round.
    #[test]
    fn a_change_of_pace_forgets_no_block() {
        let mut order = Order::new(Sampling::Permuted, 30, 7, true);
        for _ in 0..30 + 20 {
            let i = order.next_block();
            order.visited(i, false, 0.0);
        }
        order.set_pace(Pace::Eager);
        let mut seen = [false; 30];
        for round in visits(&mut order, 8, 0) {
            round.into_iter().for_each(|i| seen[i] = true);
        }
        assert_eq!(seen, [true; 30]);
    }

    #[test]
    fn who_gains_nothing_without_the_oracle_waits_until_it_is_asked() {
        let mut order = Order::new(Sampling::Permuted, 9, 1, true);
        visits(&mut order, 20, 3);
        let mut met = [false; 9];
        for round in 0..40 {
            let count = order.known_ahead();
            let visited: Vec<usize> = (0..count).map(|_| order.next_block()).collect();
            visited.iter().for_each(|&i| order.passed(i, i == 0));
            visited.iter().for_each(|&i| met[i] = true);
            assert!(order.is_sound(Sampling::Permuted, 9, true));
            assert!(round < 2 || visited.iter().all(|&i| i == 0 || i > 2), "{visited:?}");
        }
        order.ask_again();
        assert!(order.is_sound(Sampling::Permuted, 9, true));
        let mut back = visits(&mut order, 1, 9).remove(0);
        back.sort_unstable();
        assert!((0..9).all(|i| back.contains(&i) == (met[i] || i == 0)), "{back:?} {met:?}");
    }

    #[test]
    fn where_all_wait_some_are_visited_all_the_same() {
        let mut order = Order::new(Sampling::Permuted, 4, 1, true);
        for _ in 0..5 {
            let count = order.known_ahead();
            assert!(count > 0);
            (0..count).for_each(|_| {
                let i = order.next_block();
                order.passed(i, false);
            });
        }
        assert!(order.is_sound(Sampling::Permuted, 4, true));
    }

    // Here two cached passes follow every oracle pass, and two passes of draws follow every permuted pass. If cached
    // visits took part in the rounds, the permuted passes would all be cached, and all blocks but one would keep a gap
    // of zero.
    #[test]
    fn the_pass_that_looks_at_every_gap_waits_for_the_oracle() {
        let mut order = Order::new(Sampling::Gap, 5, 1, false);
        let mut asked = Vec::new();
        (0..5).for_each(|_| _ = order.next_known());
        for _ in 0..9 {
            for i in pass(&mut order, 5) {
                order.visited(i, true, f64::from(u8::from(i == 0)));
                asked.push(i);
            }
            (0..10).for_each(|_| _ = order.next_known());
        }
        for rounds in asked.chunks(3 * 5) {
            assert!((0..5).all(|i| rounds.contains(&i)), "{asked:?}");
        }
    }

    #[test]
    fn who_moves_again_is_back_in_every_round() {
        let mut order = Order::new(Sampling::Cyclic, 4, 0, true);
        visits(&mut order, 40, 1);
        // Shrinking has left blocks out, and from now on all of them move.
        let rounds = visits(&mut order, 2000, 4);
        assert!(rounds[600..].iter().all(|round| round.len() == 4));
    }

    #[test]
    fn all_can_be_woken_at_once_and_where_all_sleep_some_wake() {
        let mut order = Order::new(Sampling::Permuted, 10, 1, true);
        visits(&mut order, 50, 1);
        order.wake_all();
        let mut round = visits(&mut order, 1, 0).remove(0);
        round.sort_unstable();
        assert!(round.into_iter().eq(0..10));
        assert!(visits(&mut order, 500, 0).iter().all(|round| !round.is_empty()));
    }
}
