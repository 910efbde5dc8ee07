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
}

/// An endless sequence of block numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    sampling: Sampling,
    random: Random,
    sequence: Vec<usize>,
    next: usize,
}

impl Order {
    /// Over `blocks` blocks.
    pub fn new(sampling: Sampling, blocks: usize, seed: u64) -> Self {
        // `next` at the end: the first permutation is drawn with the first step.
        Self { sampling, random: Random::new(seed), sequence: (0..blocks).collect(), next: blocks }
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
        if self.sampling == Sampling::Uniform {
            return self.random.below(self.sequence.len());
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
    fn the_seed_decides_the_order() {
        let order = |seed| pass(&mut Order::new(Sampling::Permuted, 20, seed), 20);
        assert_eq!(order(5), order(5));
        assert_ne!(order(5), order(6));
    }
}
