//! The order in which the engine visits blocks, and shrinking.

use super::gaps::Gaps;
use crate::linalg::Random;
use serde::{Deserialize, Serialize};

/// How the engine chooses the next block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sampling {
    /// A new random permutation for every pass: the fastest in practice.
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
}

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
    sleep: Option<Sleep>,
    /// For sampling by gap: the gaps, and how many draws are left before the next permuted pass.
    gaps: Option<(Gaps, usize)>,
    /// The cumulative importance of the blocks; not part of a checkpoint, but recomputed.
    #[serde(skip)]
    ends: Vec<f64>,
}

/// Shrinking: a block whose visits change nothing is left out of the next rounds, twice as many each time, until a
/// visit changes something. No block is left out for good, and certificates cover all blocks, so shrinking affects the
/// speed of a run and nothing else.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Sleep {
    round: u64,
    /// The number of consecutive visits to each block that changed nothing, with the bit `WAITS` if it waits for the
    /// oracle.
    idle: Vec<u8>,
    /// The blocks that return in each later round: a ring buffer, indexed by the number of the round.
    back: Vec<Vec<usize>>,
    /// Blocks that gain nothing from their known corners and wait for the oracle.
    waiting: Vec<usize>,
}

impl Sleep {
    /// Shrinking leaves a block out after more consecutive visits without change than this. A larger number wastes
    /// visits on idle blocks, a smaller one leaves out blocks that would soon move again.
    const PATIENCE: u8 = 2;
    /// Shrinking leaves a block out of at most `2^LONGEST` rounds in a row. A larger limit saves visits, a smaller one
    /// notices sooner that the block moves again.
    const LONGEST: u8 = 9;
    /// The bit of `idle` that marks a block that waits for the oracle.
    const WAITS: u8 = 0x80;
    /// The length of the ring: every block returns within fewer rounds.
    const RING: usize = 2 << Self::LONGEST;

    fn new(blocks: usize) -> Self {
        let back = vec![Vec::new(); Self::RING];
        Self { round: 0, idle: vec![0; blocks], back, waiting: Vec::new() }
    }

    fn visited(&mut self, i: usize, moved: bool) {
        if moved {
            self.idle[i] = 0;
            return;
        }
        self.idle[i] = (self.idle[i] + 1).min(Self::PATIENCE + Self::LONGEST + 1);
        if self.idle[i] > Self::PATIENCE {
            let left_out = 1 << (self.idle[i] - Self::PATIENCE - 1);
            self.back[(self.round as usize + 1 + left_out) % Self::RING].push(i);
        }
    }

    /// Records a cached visit that changed nothing: the block waits for the next oracle pass.
    fn passed(&mut self, i: usize) {
        if self.idle[i] & Self::WAITS == 0 {
            self.idle[i] |= Self::WAITS;
            self.waiting.push(i);
        }
    }

    /// Puts the blocks that wait for the oracle into the next round.
    fn ask_again(&mut self) {
        let Self { round, idle, back, waiting } = self;
        waiting.iter().for_each(|&i| idle[i] &= !Self::WAITS);
        back[(*round as usize + 1) % Self::RING].append(waiting);
    }

    /// Puts all blocks into the next round.
    fn wake_all(&mut self, sequence: &mut Vec<usize>) {
        self.back.iter_mut().for_each(Vec::clear);
        self.waiting.clear();
        self.idle.iter_mut().for_each(|idle| *idle &= !Self::WAITS);
        sequence.clear();
        sequence.extend(0..self.idle.len());
    }

    /// Fills `sequence` with the blocks of the next round that has any, after all blocks of this one were visited.
    fn wake(&mut self, sequence: &mut Vec<usize>) {
        sequence.retain(|&i| self.idle[i] <= Self::PATIENCE);
        // Every block that shrinking left out returns within one cycle of the ring.
        for _ in 0..Self::RING {
            self.round += 1;
            sequence.append(&mut self.back[self.round as usize % Self::RING]);
            if !sequence.is_empty() {
                return;
            }
        }
        // All other blocks wait for the oracle, or a state from an untrusted file has left all of them out for longer.
        self.wake_all(sequence);
    }

    /// Whether the state is consistent and every block will be visited again.
    fn is_sound(&self, blocks: usize, sequence: &[usize]) -> bool {
        let mut seen = vec![false; blocks];
        sequence.iter().for_each(|&i| seen[i] = true);
        let asleep = || self.back.iter().flatten().chain(&self.waiting);
        let waits = |i: usize| self.idle[i] & Self::WAITS != 0;
        self.round < 1 << 60
            && self.idle.len() == blocks
            && self
                .idle
                .iter()
                .all(|&idle| idle & !Self::WAITS <= Self::PATIENCE + Self::LONGEST + 1)
            && self.back.len() == Self::RING
            && asleep().count() <= blocks
            && asleep().all(|&i| i < blocks)
            && self.waiting.iter().all(|&i| waits(i))
            && (0..blocks).filter(|&i| waits(i)).count() == self.waiting.len()
            && {
                asleep().for_each(|&i| seen[i] = true);
                seen.iter().all(|&seen| seen)
            }
    }
}

impl Order {
    /// Returns an order over `blocks` blocks; shrinking applies only if the sampling goes in rounds.
    pub fn new(sampling: Sampling, blocks: usize, seed: u64, shrinking: bool) -> Self {
        let rounds = matches!(sampling, Sampling::Permuted | Sampling::Cyclic);
        Self {
            sampling,
            random: Random::new(seed),
            blocks,
            sequence: (0..blocks).collect(),
            next: blocks, // the first permutation is drawn with the first step
            sleep: (rounds && shrinking).then(|| Sleep::new(blocks)),
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
    pub(super) fn visited(&mut self, i: usize, moved: bool, gap: f64) {
        if let Some(sleep) = &mut self.sleep {
            sleep.visited(i, moved);
        }
        if let Some((gaps, _)) = &mut self.gaps {
            gaps.set(i, gap);
        }
    }

    /// Records a cached visit. If it changed nothing, the oracle may still find a better corner.
    pub(super) fn passed(&mut self, i: usize, moved: bool) {
        match &mut self.sleep {
            Some(sleep) if moved => sleep.visited(i, true),
            Some(sleep) => sleep.passed(i),
            None => {}
        }
    }

    /// Ends a series of cached visits: the blocks that wait for the oracle return.
    pub(super) fn ask_again(&mut self) {
        if let Some(sleep) = &mut self.sleep
            && !sleep.waiting.is_empty()
        {
            // The blocks that are left in this round join them.
            let rest = self.sequence.split_off(self.next);
            sleep.back[(sleep.round as usize + 1) % Sleep::RING].extend(rest);
            self.sequence.retain(|&i| sleep.idle[i] & Sleep::WAITS == 0);
            self.next = self.sequence.len();
            sleep.ask_again();
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
    pub(super) fn is_sound(&self, sampling: Sampling, blocks: usize, shrinking: bool) -> bool {
        let mut seen = vec![false; blocks];
        let sleeps = Self::new(sampling, blocks, 0, shrinking).sleep.is_some();
        self.sampling == sampling
            && self.blocks == blocks
            && self.sequence.len() <= blocks
            && self.next <= self.sequence.len()
            && self.sleep.is_some() == sleeps
            && self.gaps.is_some() == (sampling == Sampling::Gap)
            && self.gaps.as_ref().is_none_or(|(gaps, draws)| {
                gaps.is_sound(blocks) && *draws <= DRAWN_PASSES * blocks
            })
            && self.sequence.iter().all(|&i| i < blocks && !std::mem::replace(&mut seen[i], true))
            && match &self.sleep {
                Some(sleep) => sleep.is_sound(blocks, &self.sequence),
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
            Sampling::Permuted | Sampling::Cyclic | Sampling::Gap => {}
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
        self.next += 1;
        self.sequence[self.next - 1]
    }

    /// Returns the next block of a cached visit. Such a visit does not measure the block's gap, so sampling by gap
    /// draws uniformly here: its permuted pass and its draws by gap wait for the oracle.
    pub(super) fn next_known(&mut self) -> usize {
        if self.gaps.is_some() { self.random.below(self.blocks) } else { self.next_block() }
    }

    /// Starts a round of all blocks, if there is shrinking.
    pub(super) fn wake_all(&mut self) {
        if let Some(sleep) = &mut self.sleep {
            sleep.wake_all(&mut self.sequence);
            self.next = 0;
            if self.sampling == Sampling::Permuted {
                self.random.shuffle(&mut self.sequence);
            }
        }
    }

    fn begin_round(&mut self) {
        self.next = 0;
        if let Some(sleep) = &mut self.sleep {
            sleep.wake(&mut self.sequence);
        }
        if self.sampling != Sampling::Cyclic {
            self.random.shuffle(&mut self.sequence);
        }
    }

    /// Returns how many blocks can be drawn before the order needs to know what their visits changed.
    pub(super) fn known_ahead(&mut self) -> usize {
        if self.sleep.is_none() {
            return usize::MAX;
        }
        if self.next == self.sequence.len() {
            self.begin_round();
        }
        self.sequence.len() - self.next
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
