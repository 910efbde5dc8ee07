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
//! While a group is visited, the next one is still in the order of memory and is asked for in it, which the hardware
//! recognises ([`Order::upcoming`]). A group has runs from several places, and others in every pass, so that a pass
//! converges like a permuted one. It does not where neighbours are much alike, as in a file in the order of place: there the engine
//! keeps to a permutation (`Rows::resemble_neighbours`).
//!
//! Rows of a file that memory may not hold are read from a disk again in every pass, where a run is too short. Their runs come from
//! a few places at a time:
//!
//! ```text
//! stretches   64 neighbouring runs each, in a new random order for every pass
//! windows     4 stretches, whose runs are permuted
//! ```

use super::gaps::Gaps;
use super::shrinking::{Pace, Shrinking};
use crate::linalg::Random;
use serde::{Deserialize, Serialize};

/// How the engine chooses the next block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Sampling {
    /// A new random permutation for every pass: the fastest in practice. With shrinking, where the rows are many and short,
    /// and neighbours no more alike than others, the engine takes [`Chunked`](Self::Chunked) in its place.
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

/// The runs of a stretch: 4096 blocks, megabytes of most data. Of a file of 1.2 GB in 600 MB of memory a pass in runs alone took
/// three minutes; 64 has not been compared with other lengths.
const STRETCH: usize = 64;

/// The stretches of a window.
const WINDOW: usize = 4;

/// So many visits ahead a permuted pass asks for a block: its data are there by then, and still there.
const AHEAD: usize = 8;

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
    /// Whether runs go in stretches, which the data decide; not part of a checkpoint either.
    #[serde(skip)]
    stretched: bool,
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
            stretched: false,
        }
    }

    /// Has the runs of a chunked order go in stretches, or not.
    pub(super) fn stretch(&mut self, stretched: bool) {
        self.stretched = stretched;
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
                Some(shrinking) => shrinking.is_sound(blocks, self.sequence.split_at(self.next)),
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
        self.permute_group();
        self.next += 1;
        self.sequence[self.next - 1]
    }

    /// Permutes the blocks of the group that the next visit begins, if it begins one.
    fn permute_group(&mut self) {
        if self.sampling == Sampling::Chunked && self.next.is_multiple_of(GROUP) {
            let end = self.sequence.len().min(self.next + GROUP);
            self.random.shuffle_few(&mut self.sequence[self.next..end]);
        }
    }

    /// Whether the order goes in rounds and needs to know nothing of a visit but whether it changed anything.
    pub(super) fn goes_in_runs(&self) -> bool {
        matches!(self.sampling, Sampling::Permuted | Sampling::Cyclic | Sampling::Chunked)
    }

    /// Visits up to `most` blocks of an order that [goes in runs](Self::goes_in_runs), as [`next_block`](Self::next_block) and
    /// [`visited`](Self::visited) would one by one, and returns how many. `visit` gets a block and, if blocks are asked for ahead,
    /// the one that is [upcoming](Self::upcoming), and returns whether its visit changed anything.
    #[inline]
    pub(super) fn visit_run<E>(
        &mut self,
        most: usize,
        fetches: bool,
        mut visit: impl FnMut(usize, Option<usize>) -> Result<bool, E>,
    ) -> Result<usize, E> {
        if self.next == self.sequence.len() {
            self.begin_round();
        }
        self.permute_group();
        let (from, ahead) = (self.next, self.ahead().filter(|_| fetches));
        let of_group = if self.sampling == Sampling::Chunked { GROUP - from % GROUP } else { most };
        let end = self.sequence.len().min(from + most.min(of_group));
        self.next = end;
        let Self { sequence, shrinking, .. } = self;
        for next in from + 1..=end {
            let i = sequence[next - 1];
            let upcoming = ahead.and_then(|ahead| sequence.get(next + ahead).copied());
            let moved = visit(i, upcoming)?;
            if let Some(shrinking) = shrinking {
                upcoming.into_iter().for_each(|i| shrinking.fetch(i));
                shrinking.visited(i, moved);
            }
        }
        Ok(end - from)
    }

    /// Whether the next visit begins a round.
    pub(super) fn is_round_over(&self) -> bool {
        self.next == self.sequence.len()
    }

    /// Returns how many visits ahead blocks may be asked for.
    #[inline]
    fn ahead(&self) -> Option<usize> {
        match self.sampling {
            Sampling::Chunked => Some(GROUP),
            Sampling::Permuted | Sampling::Gap => Some(AHEAD),
            Sampling::Uniform | Sampling::Cyclic | Sampling::Importance => None,
        }
    }

    /// Returns a block that will be visited soon and whose data should be asked for now, if there is one.
    #[inline]
    pub(super) fn upcoming(&self) -> Option<usize> {
        self.sequence.get(self.next + self.ahead()?).copied()
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
            Sampling::Chunked => {
                by_runs(&mut self.sequence, self.blocks, &mut self.random, self.stretched);
            }
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
fn by_runs(sequence: &mut Vec<usize>, blocks: usize, random: &mut Random, stretched: bool) {
    // A bit for every block: sorting them would take as long as visiting them.
    let mut members = vec![0_u64; blocks.div_ceil(RUN)];
    sequence.drain(..).for_each(|i| members[i / RUN] |= 1 << (i % RUN));
    let mut runs: Vec<usize> = (0..members.len()).filter(|&run| members[run] != 0).collect();
    if stretched {
        let mut stretches: Vec<&[usize]> =
            runs.chunk_by(|a, b| a / STRETCH == b / STRETCH).collect();
        random.shuffle(&mut stretches);
        let mut windows: Vec<Vec<usize>> = stretches.chunks(WINDOW).map(<[_]>::concat).collect();
        windows.iter_mut().for_each(|window| random.shuffle(window));
        runs = windows.concat();
    } else {
        random.shuffle(&mut runs);
    }
    for run in runs {
        let mut left = members[run];
        while left != 0 {
            sequence.push(run * RUN + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
}

#[cfg(test)]
mod tests;
