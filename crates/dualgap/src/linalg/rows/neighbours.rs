//! Whether rows are more like their neighbours than like others, as in a file that is in the order of place, time or class.
//!
//! Steps of neighbours, one soon after the other, then repeat each other. How much they do tells the sum of a run of rows. With
//! a_ij the agreement of two targets, positive for targets that are alike and zero on average,
//!
//! ```text
//! E ‖Σ a x‖² over m neighbours = m (q + (m − 1) s)      q = mean of a_ii ‖x_i‖²,  s = mean of a_ij ⟨x_i, x_j⟩ of neighbours
//! ```
//!
//! and as much over m rows from anywhere with their own mean, if the order is a random one.

use super::Rows;
use crate::linalg::Random;

/// How many pairs of neighbours are compared at most, and as many from anywhere. Rows whose order is random then have a ratio of 1 ± 0.5.
const PAIRS: usize = 4096;

/// The least number of pairs, by which the ratio is 1 ± 1.2, ...
const LEAST_PAIRS: usize = 256;

/// ... and one pair for so many rows in between: looking at them takes a small part of a pass.
const ROWS_PER_PAIR: usize = 32;

/// The rows whose sum is looked at.
const RUN: usize = 64;

/// The ratio of the two sums from which on rows count as alike. It is 26 for a map in the order of place (581,012 rows of covtype), where
/// runs of neighbours take ten times the passes of a permutation, and 2.6 for news in the order of time, where they take hardly more.
const ALIKE: f64 = 4.0;

impl Rows {
    /// Whether neighbours are alike, with targets that are numbers.
    pub(crate) fn resemble_neighbours(&self, targets: &[f64]) -> bool {
        let mean = targets.iter().sum::<f64>() / targets.len().max(1) as f64;
        self.are_ordered(&|i, j| (targets[i] - mean) * (targets[j] - mean))
    }

    /// Whether neighbours are alike, with targets that are classes.
    pub(crate) fn resemble_neighbours_of_classes(&self, labels: &[u32], classes: usize) -> bool {
        let mut counts = vec![0.0; classes];
        labels.iter().for_each(|&y| counts[y as usize] += 1.0);
        let by_chance: f64 = counts.iter().map(|count| (count / labels.len() as f64).powi(2)).sum();
        self.are_ordered(&|i, j| f64::from(u8::from(labels[i] == labels[j])) - by_chance)
    }

    fn are_ordered(&self, agreement: &dyn Fn(usize, usize) -> f64) -> bool {
        let n = self.len();
        if n < 2 * RUN {
            return false;
        }
        let mut random = Random::new(0);
        let (mut alone, mut near, mut far) = (0.0, 0.0, 0.0);
        let coupled = |i: usize, j: usize| agreement(i, j) * self.row(i).dot(self.row(j));
        for _ in 0..(n / ROWS_PER_PAIR).clamp(LEAST_PAIRS, PAIRS) {
            let i = random.below(n - RUN);
            alone += agreement(i, i) * self.row(i).squared_norm();
            near += coupled(i, i + 1 + random.below(RUN - 1));
            far += coupled(i, random.below(n));
        }
        let of_run = |coupled: f64| alone + (RUN - 1) as f64 * f64::max(coupled, 0.0);
        of_run(near) > ALIKE * of_run(far)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Result;

    /// Rows around a point that goes round in a circle, slowly or in any order; their targets tell opposite quarters from the others,
    /// which no plane does.
    fn wandering(in_order: bool) -> Result<(Rows, Vec<f64>)> {
        let mut random = Random::new(3);
        let mut angles: Vec<f64> = (0..3000).map(|i| f64::from(i) / 200.0).collect();
        if !in_order {
            random.shuffle(&mut angles);
        }
        let near = |at: f64, random: &mut Random| at + 0.2 * (random.unit() - 0.5);
        let rows: Vec<Vec<f64>> = angles
            .iter()
            .map(|at| vec![near(at.cos(), &mut random), near(at.sin(), &mut random)])
            .collect();
        Ok((Rows::dense(&rows)?, angles.iter().map(|at| (2.0 * at).sin().signum()).collect()))
    }

    #[test]
    fn neighbours_are_alike_in_the_order_of_place_and_not_in_a_random_one() -> Result<()> {
        for in_order in [true, false] {
            let (rows, targets) = wandering(in_order)?;
            assert_eq!(rows.resemble_neighbours(&targets), in_order);
            let labels: Vec<u32> = targets.iter().map(|&y| u32::from(y > 0.0)).collect();
            assert_eq!(rows.resemble_neighbours_of_classes(&labels, 2), in_order);
        }
        Ok(())
    }

    #[test]
    fn rows_of_the_same_target_are_alike_only_where_it_is_told_apart_from_others() -> Result<()> {
        let (rows, targets) = wandering(true)?;
        assert!(!rows.resemble_neighbours(&vec![1.0; targets.len()]));
        assert!(!rows.resemble_neighbours_of_classes(&vec![0; targets.len()], 1));
        Ok(())
    }
}
