//! Averages of the iterates, updated block by block and only when a block changes.
//!
//! With w^(t) the iterate after t steps,
//!
//! ```text
//! weighted   w̄ = 2/(k(k+1)) Σ_{t=1}^{k} t·w^(t)              BCFW-wavg, the optional line of Algorithm 4
//! suffix     w̄ = mean of w^(t) for 2^r ≤ t ≤ k < 2^{r+1}     BCFW-tavg, the doubling trick
//! random     w̄ = w^(t) for a t that is drawn from those      the random output of the Prox-SDCA paper, ...
//! after      w̄ = mean of w^(t) for T₀ < t ≤ k                ... and both its outputs for a T₀ of the user's own:
//! random after   w̄ = w^(t) for a t that is drawn from those  the average, and the random one
//! ```
//!
//! As long as k ≤ T₀ there is nothing to average, and w̄ is the last iterate. (The paper's average has w^(t−1) in the place
//! of w^(t), which is the same with T₀ less by one step.)
//!
//! What is stored is the averaged dual point ᾱ, not w̄: ᾱ is feasible and has a certificate and a witness of its own,
//! and every certification rebuilds w̄ = w(ᾱ) from it. A block that did not change in the steps m+1 … k enters the
//! average for all of them at once, with their share of the average's total weight.

use super::Blocks;
use crate::linalg::Random;
use serde::{Deserialize, Serialize};

/// Which iterate a run returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Average {
    /// The iterates themselves, without averaging.
    #[default]
    None,
    /// Weight t on iterate t.
    Weighted,
    /// The plain mean since the last step whose number is a power of two.
    Suffix,
    /// One of those iterates, drawn uniformly.
    Random,
    /// The plain mean of all iterates but those of so many first steps: T₀.
    After(u64),
    /// One of those iterates, drawn uniformly.
    RandomAfter(u64),
}

impl Average {
    /// Returns the share of steps `m + 1 ..= k` in the average over steps up to `k`; for a random iterate, its mean.
    ///
    /// ```
    /// # use dualgap::dual::Average;
    /// assert_eq!(Average::Weighted.share(1, 2), 2.0 / 3.0); // weights 1 and 2
    /// assert_eq!(Average::Suffix.share(3, 4), 1.0); // 4 is a power of two: all begins anew
    /// assert_eq!(Average::Suffix.share(5, 7), 0.5); // steps 6 and 7 of 4, 5, 6, 7
    /// assert_eq!(Average::After(2).share(4, 6), 0.5); // steps 5 and 6 of 3, 4, 5, 6
    /// assert_eq!(Average::After(9).share(4, 6), 1.0); // nothing to average yet: the last iterate
    /// ```
    pub fn share(self, m: u64, k: u64) -> f64 {
        if k <= m {
            return 0.0;
        }
        match self {
            Self::None => 1.0,
            Self::Weighted => {
                let (m, k) = (m as f64, k as f64);
                // (k(k+1) − m(m+1)) / (k(k+1)), without the cancellation
                (k - m) * (k + m + 1.0) / (k * (k + 1.0))
            }
            Self::Suffix | Self::Random | Self::After(_) | Self::RandomAfter(_) => {
                let first = self.first(k);
                let before = (m + 1).saturating_sub(first);
                let all = k + 1 - first;
                (all - before) as f64 / all as f64
            }
        }
    }
}

impl Average {
    /// Returns the first step of a plain mean over steps up to `k`, at least 1.
    fn first(self, k: u64) -> u64 {
        match self {
            Self::After(steps) | Self::RandomAfter(steps) => steps.saturating_add(1).min(k),
            _ => 1 << k.ilog2(),
        }
    }

    /// Whether one iterate is drawn.
    pub(crate) fn is_random(self) -> bool {
        matches!(self, Self::Random | Self::RandomAfter(_))
    }
}

/// ᾱ, and up to which step each of its blocks has been averaged.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Averages<P> {
    kind: Average,
    pub points: Vec<P>,
    covered: Vec<u64>,
    /// For a random iterate: the random generator, and the step that is drawn so far.
    drawn: Option<(Random, u64)>,
}

impl<P> Averages<P> {
    /// Whether these are valid averages over `blocks` blocks and `steps` steps: a state from a file may contain
    /// anything.
    pub fn is_sound(&self, kind: Average, blocks: usize, steps: u64) -> bool {
        self.kind == kind
            && self.points.len() == blocks
            && self.covered.len() == blocks
            && self.covered.iter().all(|&covered| covered <= steps)
            && self.drawn.is_some() == kind.is_random()
    }
}

impl<P: Clone> Averages<P> {
    pub fn new(kind: Average, points: &[P], seed: u64) -> Self {
        // A different random sequence from that of the block order.
        let drawn = kind.is_random().then(|| (Random::new(!seed), 0));
        Self { kind, points: points.to_vec(), covered: vec![0; points.len()], drawn }
    }

    /// Records step k. For a random iterate, draws this step with the probability that makes all of them equally
    /// likely.
    pub fn taken(&mut self, k: u64) {
        if let Some((random, drawn)) = &mut self.drawn {
            let among = k + 1 - self.kind.first(k);
            if random.below(among as usize) == 0 {
                *drawn = k;
            }
        }
    }

    /// Averages `point` into block i, for all iterates up to the k-th that are not averaged yet.
    pub fn cover<B: Blocks<Point = P>>(&mut self, blocks: &B, i: usize, k: u64, point: &P) {
        let share = match self.drawn {
            // One if the drawn iterate is among those with the block at `point`, else zero.
            Some((_, drawn)) => f64::from(u8::from(drawn > self.covered[i])),
            None => self.kind.share(self.covered[i], k),
        };
        if share > 0.0 {
            blocks.blend(i, share, &mut self.points[i], point);
        }
        self.covered[i] = k;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // The reference is the recursion of Algorithm 4 (and its uniform sibling) on one number.
        #[test]
        fn lazy_averages_equal_the_paper_s_recursion(values in prop::collection::vec((-1.0..1.0_f64, any::<bool>()), 1..70)) {
            for kind in [Average::Weighted, Average::Suffix, Average::After(0), Average::After(9)] {
                let (mut lazy, mut covered, mut current) = (0.0, 0_u64, 0.0);
                let mut eager = 0.0;
                for (step, &(value, changes)) in values.iter().enumerate() {
                    let k = step as u64; // steps done so far
                    if changes {
                        lazy += kind.share(covered, k) * (current - lazy);
                        covered = k;
                        current = value;
                    }
                    let t = k + 1;
                    eager = match kind {
                        Average::Weighted => k as f64 / (k as f64 + 2.0) * eager + 2.0 / (k as f64 + 2.0) * current,
                        Average::After(skipped) if t <= skipped + 1 => current,
                        Average::After(skipped) => eager + (current - eager) / (t - skipped) as f64,
                        _ if t.is_power_of_two() => current,
                        _ => {
                            let count = (t - (1 << t.ilog2()) + 1) as f64;
                            eager + (current - eager) / count
                        }
                    };
                    let now = lazy + kind.share(covered, t) * (current - lazy);
                    prop_assert!((now - eager).abs() < 1e-12, "{kind:?} step {t}: {now} {eager}");
                }
            }
        }
    }

    // Every one of the averaged iterates is equally likely: over many seeds their mean is the average.
    #[test]
    fn a_random_iterate_is_drawn_from_those_after_the_first_steps() {
        let (skipped, steps, seeds) = (5, 12, 7000);
        let mut counts = vec![0; steps + 1];
        for seed in 0..seeds {
            let mut averages = Averages::new(Average::RandomAfter(skipped), &[0.0], seed);
            (1..=steps as u64).for_each(|k| averages.taken(k));
            counts[averages.drawn.unwrap().1 as usize] += 1;
        }
        for (t, &count) in counts.iter().enumerate() {
            let expected = if t as u64 > skipped { 1000.0 } else { 0.0 };
            assert!((f64::from(count) - expected).abs() <= 150.0, "{t}: {counts:?}");
        }
    }
}
