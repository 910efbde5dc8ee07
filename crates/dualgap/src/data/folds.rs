//! Folds: every example is held out once, and in the training data otherwise.
//!
//! The examples are shuffled, sorted by label, and dealt out in turn: the folds differ by at most one in size, and
//! by at most one in the number of examples of each label.

use crate::linalg::Random;
use crate::{Error, Result};

/// The fold of each example.
///
/// ```
/// use dualgap::data::Folds;
///
/// let folds = Folds::stratified(&[0, 0, 0, 1, 1, 1], 3, 7)?;
/// for fold in 0..folds.count() {
///     let held_out = folds.inside(fold);
///     assert_eq!(held_out.len(), 2);
///     assert!(held_out[0] < 3 && held_out[1] >= 3, "one of each label");
///     assert_eq!(folds.outside(fold).len(), 4);
/// }
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folds {
    of: Vec<usize>,
    count: usize,
}

impl Folds {
    /// Returns folds of n examples without stratification.
    pub fn plain(n: usize, count: usize, seed: u64) -> Result<Self> {
        Self::stratified(&vec![0; n], count, seed)
    }

    /// Returns folds with about as many examples of each label.
    pub fn stratified(labels: &[u32], count: usize, seed: u64) -> Result<Self> {
        let n = labels.len();
        if count < 2 || count > n {
            return Err(Error::setting(format!(
                "{count} folds of {n} examples: there must be at least two, and none may be empty"
            )));
        }
        let mut order: Vec<usize> = (0..n).collect();
        Random::new(seed).shuffle(&mut order);
        order.sort_by_key(|&i| labels[i]);
        let mut of = vec![0; n];
        for (place, i) in order.into_iter().enumerate() {
            of[i] = place % count;
        }
        Ok(Self { of, count })
    }

    /// Returns the folds that the data came with; their numbers need not be consecutive.
    ///
    /// ```
    /// # use dualgap::data::Folds;
    /// let folds = Folds::given(&[9, 2, 9])?;
    /// assert_eq!((folds.count(), folds.inside(0), folds.inside(1)), (2, vec![1], vec![0, 2]));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn given(numbers: &[u8]) -> Result<Self> {
        let mut present = numbers.to_vec();
        present.sort_unstable();
        present.dedup();
        if present.len() < 2 {
            return Err(Error::setting(
                "all examples are in one fold, and none is left to train on",
            ));
        }
        let of = numbers.iter().map(|number| present.partition_point(|p| p < number)).collect();
        Ok(Self { of, count: present.len() })
    }

    /// Returns the number of folds.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the fold of an example.
    pub fn of(&self, example: usize) -> usize {
        self.of[example]
    }

    /// Returns the examples of a fold, in their order.
    pub fn inside(&self, fold: usize) -> Vec<usize> {
        (0..self.of.len()).filter(|&i| self.of[i] == fold).collect()
    }

    /// Returns all other examples, in their order.
    pub fn outside(&self, fold: usize) -> Vec<usize> {
        (0..self.of.len()).filter(|&i| self.of[i] != fold).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn folds_are_dealt_evenly_whatever_the_labels(
            labels in prop::collection::vec(0..5_u32, 2..60),
            share in 0.0..1.0_f64,
            seed in any::<u64>(),
        ) {
            let n = labels.len();
            let count = 2 + ((n - 2) as f64 * share) as usize;
            let folds = Folds::stratified(&labels, count, seed).unwrap();
            let mut held_out = Vec::new();
            for fold in 0..count {
                let (inside, outside) = (folds.inside(fold), folds.outside(fold));
                prop_assert!(!inside.is_empty());
                prop_assert_eq!(inside.len() + outside.len(), n);
                prop_assert!(inside.iter().all(|i| !outside.contains(i)));
                held_out.extend(inside);
            }
            held_out.sort_unstable();
            prop_assert_eq!(held_out, (0..n).collect::<Vec<_>>(), "each example once");
            let spread = |of: &dyn Fn(usize) -> bool| {
                let sizes = (0..count).map(|k| folds.inside(k).into_iter().filter(|&i| of(i)).count());
                let sizes: Vec<usize> = sizes.collect();
                sizes.iter().max().unwrap() - sizes.iter().min().unwrap()
            };
            prop_assert!(spread(&|_| true) <= 1);
            for label in 0..5 {
                prop_assert!(spread(&|i| labels[i] == label) <= 1, "label {}", label);
            }
        }
    }

    #[test]
    fn the_seed_decides_and_every_example_can_be_anywhere() {
        assert_eq!(Folds::plain(20, 4, 3).unwrap(), Folds::plain(20, 4, 3).unwrap());
        let seen: Vec<usize> =
            (0..200).map(|seed| Folds::plain(8, 4, seed).unwrap().of(0)).collect();
        for fold in 0..4 {
            // Six standard deviations of a binomial with p = 1/4.
            let times = seen.iter().filter(|&&of| of == fold).count() as f64;
            assert!((times - 50.0).abs() < 37.0, "fold {fold}: {times}");
        }
    }

    #[test]
    fn folds_that_would_be_empty_or_alone_are_refused() {
        for (n, count) in [(5, 0), (5, 1), (5, 6), (0, 2), (1, 2)] {
            assert!(Folds::plain(n, count, 0).is_err(), "{count} folds of {n}");
        }
        assert!(Folds::plain(5, 5, 0).is_ok());
        assert!(Folds::given(&[]).is_err());
        assert!(Folds::given(&[3, 3]).is_err());
    }
}
