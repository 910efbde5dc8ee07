//! The last known gap of every block, and draws in proportion to them.

use crate::linalg::Random;
use serde::{Deserialize, Serialize};

/// A tree of sums over the gaps: a draw or an update takes as many steps as the tree is high.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Vec<f64>", into = "Vec<f64>")]
pub(super) struct Gaps {
    blocks: usize,
    /// The root is at 1, the children of k are at 2k and 2k + 1, and the blocks come last. Every sum is recomputed from
    /// its two children when one of them changes, so it depends on the blocks' gaps alone, to the last bit.
    sums: Vec<f64>,
}

impl From<Vec<f64>> for Gaps {
    fn from(gaps: Vec<f64>) -> Self {
        let blocks = gaps.len();
        let leaves = blocks.next_power_of_two();
        let mut sums = vec![0.0; leaves];
        sums.extend(gaps);
        sums.resize(2 * leaves, 0.0);
        for k in (1..leaves).rev() {
            sums[k] = sums[2 * k] + sums[2 * k + 1];
        }
        Self { blocks, sums }
    }
}

impl From<Gaps> for Vec<f64> {
    fn from(gaps: Gaps) -> Self {
        gaps.of_blocks().to_vec()
    }
}

impl Gaps {
    fn leaves(&self) -> usize {
        self.sums.len() / 2
    }

    fn of_blocks(&self) -> &[f64] {
        let leaves = self.leaves();
        &self.sums[leaves..leaves + self.blocks]
    }

    /// Whether these are valid gaps of `blocks` blocks.
    pub fn is_sound(&self, blocks: usize) -> bool {
        self.blocks == blocks && self.of_blocks().iter().all(|&gap| gap >= 0.0 && gap.is_finite())
    }

    /// Sets a block's gap. A gap that rounding has made negative, or that is not finite, counts as zero.
    pub fn set(&mut self, block: usize, gap: f64) {
        let mut k = self.leaves() + block;
        self.sums[k] = if gap.is_finite() { gap.max(0.0) } else { 0.0 };
        while k > 1 {
            k /= 2;
            self.sums[k] = self.sums[2 * k] + self.sums[2 * k + 1];
        }
    }

    /// Draws a block in proportion to the gaps, or uniformly if all gaps are zero.
    pub fn draw(&self, random: &mut Random) -> usize {
        let total = self.sums[1];
        if !(total > 0.0 && total.is_finite()) {
            return random.below(self.blocks);
        }
        let mut place = random.unit() * total;
        let mut k = 1;
        while k < self.leaves() {
            k *= 2;
            // Rounding may lead to a subtree whose sum is zero; then the draw goes to the other one.
            if place >= self.sums[k] && self.sums[k + 1] > 0.0 {
                place -= self.sums[k];
                k += 1;
            }
        }
        k - self.leaves()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_in_proportion_to_the_gaps() {
        let mut gaps = Gaps::from(vec![5.0, 0.0, 1.0, 0.0, 2.0]);
        gaps.set(0, 1.0);
        gaps.set(3, -1e-17);
        let mut random = Random::new(1);
        let mut counts = [0_i32; 5];
        (0..16_000).for_each(|_| counts[gaps.draw(&mut random)] += 1);
        // Six standard deviations of a binomial.
        for (count, expected) in counts.iter().zip([4000, 0, 4000, 0, 8000]) {
            assert!((count - expected).abs() <= if expected == 0 { 0 } else { 380 }, "{counts:?}");
        }
    }

    #[test]
    fn what_is_stored_comes_back_with_the_same_sums() {
        let mut gaps = Gaps::from(vec![0.1; 7]);
        (0..7).for_each(|i| gaps.set(i, 0.1 / (i + 1) as f64));
        let again = Gaps::from(Vec::from(gaps.clone()));
        assert_eq!(again.sums, gaps.sums);
        assert!(again.is_sound(7) && !again.is_sound(6));
    }

    #[test]
    fn closed_gaps_are_drawn_evenly() {
        let gaps = Gaps::from(vec![0.0; 3]);
        let mut random = Random::new(2);
        let mut seen = [false; 3];
        (0..100).for_each(|_| seen[gaps.draw(&mut random)] = true);
        assert_eq!(seen, [true; 3]);
    }
}
