//! In which order the blocks are visited.

use crate::linalg::Random;
use serde::{Deserialize, Serialize};

/// The order of the blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sampling {
    /// A new random permutation for every pass: the fastest in practice.
    #[default]
    Permuted,
    /// Each step draws a block, as in the papers' theory.
    Uniform,
    /// 0, 1, 2, … over and over.
    Cyclic,
    /// Each step draws a block, half of them evenly and half by importance: the length of an example's input.
    Importance,
}

/// An endless sequence of block numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    sampling: Sampling,
    random: Random,
    sequence: Vec<usize>,
    next: usize,
    /// Where each block's share of the importance ends; not kept, but made again.
    #[serde(skip)]
    ends: Vec<f64>,
}

impl Order {
    /// Over `blocks` blocks.
    pub fn new(sampling: Sampling, blocks: usize, seed: u64) -> Self {
        // `next` at the end: the first permutation is drawn with the first step.
        let sequence = (0..blocks).collect();
        Self { sampling, random: Random::new(seed), sequence, next: blocks, ends: Vec::new() }
    }

    /// Tells what each block's importance is, where that counts.
    pub(super) fn weigh(&mut self, importance: impl Fn(usize) -> f64) {
        if self.sampling == Sampling::Importance {
            let shares = (0..self.sequence.len()).map(importance);
            self.ends = shares
                .scan(0.0, |end, share| {
                    *end += share.max(0.0);
                    Some(*end)
                })
                .collect();
        }
    }

    /// Whether this is an order of so many blocks: what came from a file may be anything.
    pub(super) fn is_sound(&self, sampling: Sampling, blocks: usize) -> bool {
        let mut seen = vec![false; blocks];
        self.sampling == sampling
            && self.sequence.len() == blocks
            && self.next <= blocks
            && self.sequence.iter().all(|&i| i < blocks && !std::mem::replace(&mut seen[i], true))
    }

    /// The next block.
    pub fn next_block(&mut self) -> usize {
        let blocks = self.sequence.len();
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
            Sampling::Permuted | Sampling::Cyclic => {}
        }
        if self.next == self.sequence.len() {
            self.next = 0;
            if self.sampling == Sampling::Permuted {
                self.random.shuffle(&mut self.sequence);
            }
        }
        self.next += 1;
        self.sequence[self.next - 1]
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
        let mut order = Order::new(Sampling::Permuted, 50, 3);
        let (first, second) = (pass(&mut order, 50), pass(&mut order, 50));
        assert_ne!(first, second);
        for mut visited in [first, second] {
            visited.sort_unstable();
            assert!(visited.into_iter().eq(0..50));
        }
    }

    #[test]
    fn a_cyclic_pass_goes_in_order_and_a_uniform_one_repeats_blocks() {
        let mut order = Order::new(Sampling::Cyclic, 4, 0);
        assert_eq!(pass(&mut order, 8), [0, 1, 2, 3, 0, 1, 2, 3]);
        let mut visited = pass(&mut Order::new(Sampling::Uniform, 50, 0), 50);
        visited.sort_unstable();
        visited.dedup();
        assert!(visited.len() < 50 && visited.iter().all(|&i| i < 50));
    }

    #[test]
    fn half_of_the_draws_go_by_importance() {
        let mut order = Order::new(Sampling::Importance, 4, 1);
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
        let order = |seed| pass(&mut Order::new(Sampling::Permuted, 20, seed), 20);
        assert_eq!(order(5), order(5));
        assert_ne!(order(5), order(6));
    }
}
