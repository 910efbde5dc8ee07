//! A bandwidth from the data: the median distance between two rows.

use super::RandomBinning;
use crate::linalg::{Random, Row, Rows};
use crate::{Error, Result};

/// The number of pairs in the sample; with this many, the rank of the median is off by hardly more than a hundredth.
const PAIRS: usize = 4000;

impl RandomBinning {
    /// Returns the median of ‖x − x'‖₁ over a fixed sample of pairs of different rows: with this bandwidth the kernel is
    /// above 1/e for half of the pairs and below for the others.
    ///
    /// ```
    /// use dualgap::data::RandomBinning;
    /// use dualgap::linalg::Rows;
    ///
    /// let rows = Rows::dense(&[vec![0.0, 1.0], vec![3.0, 0.0]])?;
    /// assert_eq!(RandomBinning::median_distance(&rows)?, 4.0);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn median_distance(rows: &Rows) -> Result<f64> {
        let mut random = Random::new(0);
        let mut distances = Vec::with_capacity(PAIRS);
        for _ in 0..if rows.len() > 1 { PAIRS } else { 0 } {
            let i = random.below(rows.len());
            let other = random.below(rows.len() - 1);
            let other = other + usize::from(other >= i);
            distances.push(distance(rows.row(i), rows.row(other)));
        }
        distances.retain(|&distance| distance > 0.0 && distance.is_finite());
        let half = distances.len() / 2;
        if distances.is_empty() {
            return Err(Error::setting(
                "the rows do not differ, or too much for numbers to say how far, so the data suggest no \
                 bandwidth; give one",
            ));
        }
        Ok(*distances.select_nth_unstable_by(half, f64::total_cmp).1)
    }
}

/// Returns ‖a − b‖₁.
fn distance(a: Row<'_>, b: Row<'_>) -> f64 {
    let (mut left, mut right) = (a.iter().peekable(), b.iter().peekable());
    let mut sum = 0.0;
    loop {
        let (x, y) = match (left.peek(), right.peek()) {
            (None, None) => return sum,
            (Some(&(i, x)), Some(&(j, y))) if i == j => (Some(x), Some(y)),
            (Some(&(i, x)), Some(&(j, _))) if i < j => (Some(x), None),
            (Some(&(_, x)), None) => (Some(x), None),
            (_, Some(&(_, y))) => (None, Some(y)),
        };
        if x.is_some() {
            left.next();
        }
        if y.is_some() {
            right.next();
        }
        sum += (x.unwrap_or(0.0) - y.unwrap_or(0.0)).abs();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn distances_are_the_same_sparse_and_dense(
            a in prop::collection::vec(prop_oneof![Just(0.0), -2.0..2.0_f64], 6),
            b in prop::collection::vec(prop_oneof![Just(0.0), -2.0..2.0_f64], 6),
        ) {
            let mut rows = Rows::sparse();
            for row in [&a, &b] {
                let stored = row.iter().enumerate().filter(|(_, x)| **x != 0.0);
                rows.push_sparse(&stored.map(|(j, &x)| (j as u32, x)).collect::<Vec<_>>());
            }
            let expected: f64 = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).sum();
            for one in [rows.row(0), Row::Dense(&a)] {
                for other in [rows.row(1), Row::Dense(&b)] {
                    prop_assert!((distance(one, other) - expected).abs() < 1e-12);
                    prop_assert_eq!(distance(one, other), distance(other, one));
                }
            }
        }
    }

    // x − x'| of two uniform numbers is below 1 − √½ with probability one half.
    #[test]
    fn the_median_is_that_of_all_pairs_but_for_the_sample() {
        let mut random = Random::new(2);
        let rows: Vec<Vec<f64>> = (0..5000).map(|_| vec![random.unit()]).collect();
        let median = RandomBinning::median_distance(&Rows::dense(&rows).unwrap()).unwrap();
        assert!((median - (1.0 - 0.5_f64.sqrt())).abs() < 0.03, "{median}");
    }

    #[test]
    fn duplicates_do_not_count_and_rows_that_are_all_alike_are_refused() {
        let mut rows = vec![vec![1.0]; 50];
        rows.push(vec![3.5]);
        assert_eq!(RandomBinning::median_distance(&Rows::dense(&rows).unwrap()).unwrap(), 2.5);
        for alike in [vec![vec![1.0]; 5], vec![vec![1.0]], vec![]] {
            assert!(RandomBinning::median_distance(&Rows::dense(&alike).unwrap()).is_err());
        }
        let far = Rows::dense(&[vec![f64::MAX], vec![f64::MIN]]).unwrap();
        assert!(RandomBinning::median_distance(&far).is_err());
    }
}
