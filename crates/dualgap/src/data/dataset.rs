//! The interface of all data sets.

use super::fingerprint::{Fingerprint, fingerprint};
use super::{Examples, Factors, Matchings, Ratings, Scaling, Sequences};
use crate::container::Digest;
use crate::linalg::Rows;
use crate::linalg::memory::Need;
use crate::{Error, Result};
use std::borrow::Cow;

/// What the data of a structure must provide: the number of examples, subsets, weights, and a fingerprint.
///
/// ```
/// use dualgap::data::{DataSet, Examples, Sequences};
///
/// /// Every second example.
/// fn halved<D: DataSet>(data: &D) -> D {
///     data.subset(&(0..data.len()).step_by(2).collect::<Vec<_>>())
/// }
///
/// let data = Examples::from_dense(&[vec![1.0], vec![2.0], vec![3.0]], &["a", "b", "b"])?;
/// let data = data.with_weights(vec![1.0, 2.0, 0.5])?;
/// let half = halved(&data);
/// assert_eq!((half.len(), half.weights()), (2, Some(&[1.0, 0.5][..])));
/// assert_ne!(half.fingerprint(), data.fingerprint());
/// # Ok::<(), dualgap::Error>(())
/// ```
pub trait DataSet: Fingerprint {
    /// The number of examples.
    fn len(&self) -> usize;

    /// Whether there are no examples.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the given examples in the given order, with their weights.
    #[must_use]
    fn subset(&self, chosen: &[usize]) -> Self
    where
        Self: Sized;

    /// The weight of each example, unless all are the same. A weight of two is equivalent to a duplicate.
    fn weights(&self) -> Option<&[f64]>;

    /// Returns the data with these weights, or an error if they cannot have any.
    fn weighted(self, _weights: Vec<f64>) -> Result<Self>
    where
        Self: Sized,
    {
        Err(Error::setting("these data have no weights of examples"))
    }

    /// Returns the data with every column divided by its factor, and the factors, or an error if there are no columns to
    /// scale.
    fn scaled(&self, scaling: Scaling) -> Result<(Factors, Cow<'_, Self>)>
    where
        Self: Clone,
    {
        match scaling {
            Scaling::None => Ok((Factors::default(), Cow::Borrowed(self))),
            _ => Err(Error::setting("these data have no columns to scale")),
        }
    }

    /// Returns the data without the columns that no example has an entry in, and the columns that are left, if a run gains by that.
    fn narrowed(&self) -> Option<(Vec<u32>, Self)>
    where
        Self: Sized,
    {
        None
    }

    /// Returns the rows whose columns [`scaled`](Self::scaled) divides, if there are any.
    fn rows(&self) -> Option<&Rows> {
        None
    }

    /// Returns a digest of the examples in hexadecimal digits; their weights are not part of it.
    fn fingerprint(&self) -> String {
        let mut digest = Digest::of_data();
        self.digest(&mut digest);
        digest.hex()
    }

    /// Returns the fingerprint in the form of a known one: models and data files of earlier versions have a SHA-256 of the same
    /// bytes.
    fn fingerprint_like(&self, known: &str) -> String {
        if Digest::is_of_data(known) {
            return self.fingerprint();
        }
        let mut digest = Digest::default();
        self.digest(&mut digest);
        digest.hex()
    }

    /// Computes the fingerprint ahead of its use, if the data keep it: it is a digest of all that was read.
    fn identify(&self) {}
}

impl DataSet for Examples {
    fn len(&self) -> usize {
        Examples::len(self)
    }

    fn subset(&self, chosen: &[usize]) -> Self {
        self.select(chosen)
    }

    fn weights(&self) -> Option<&[f64]> {
        Examples::weights(self)
    }

    fn weighted(self, weights: Vec<f64>) -> Result<Self> {
        self.with_weights(weights)
    }

    fn rows(&self) -> Option<&Rows> {
        Some(Examples::rows(self))
    }

    fn fingerprint(&self) -> String {
        self.print.or(|| fingerprint(self))
    }

    fn identify(&self) {
        self.fingerprint();
    }

    /// Returns an error without memory for three numbers per column while the factors are computed, and a copy of the
    /// data.
    fn scaled(&self, scaling: Scaling) -> Result<(Factors, Cow<'_, Self>)> {
        if !scaling.is_none() {
            let others = self.rows().stored().saturating_mul(2);
            Need { weights: self.rows().width(), copies: 3, others }.check()?;
        }
        Ok(scaling.apply(self))
    }

    fn narrowed(&self) -> Option<(Vec<u32>, Self)> {
        let (columns, rows) = self.rows.narrowed()?;
        Some((columns, self.over(rows)))
    }
}

impl DataSet for Sequences {
    fn len(&self) -> usize {
        Sequences::len(self)
    }

    fn subset(&self, chosen: &[usize]) -> Self {
        self.select(chosen)
    }

    fn weights(&self) -> Option<&[f64]> {
        Sequences::weights(self)
    }

    fn weighted(self, weights: Vec<f64>) -> Result<Self> {
        self.with_weights(weights)
    }

    fn fingerprint(&self) -> String {
        self.print.or(|| fingerprint(self))
    }

    fn identify(&self) {
        self.fingerprint();
    }
}

impl DataSet for Matchings {
    fn len(&self) -> usize {
        Matchings::len(self)
    }

    fn subset(&self, chosen: &[usize]) -> Self {
        self.select(chosen)
    }

    fn weights(&self) -> Option<&[f64]> {
        Matchings::weights(self)
    }

    fn weighted(self, weights: Vec<f64>) -> Result<Self> {
        self.with_weights(weights)
    }
}

/// Every rating is an example.
impl DataSet for Ratings {
    fn len(&self) -> usize {
        Ratings::len(self)
    }

    fn subset(&self, chosen: &[usize]) -> Self {
        self.select(chosen)
    }

    fn weights(&self) -> Option<&[f64]> {
        Ratings::weights(self)
    }

    fn weighted(self, weights: Vec<f64>) -> Result<Self> {
        self.with_weights(weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Source;
    use crate::linalg::Rows;
    use proptest::prelude::*;

    fn examples(n: usize) -> Examples {
        let rows: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let numbers: Vec<f64> = (0..n).map(|i| 10.0 + i as f64).collect();
        let targets = crate::data::Numbers::new(numbers).unwrap();
        Examples::new(Rows::from_dense(rows, 1).unwrap(), targets).unwrap()
    }

    #[test]
    fn what_cannot_be_weights_is_refused() {
        for bad in [
            vec![1.0],
            vec![1.0; 3],
            vec![1.0, -1.0],
            vec![1.0, f64::NAN],
            vec![1.0, f64::INFINITY],
            vec![0.0, 0.0],
            vec![f64::MAX, f64::MAX],
        ] {
            assert!(examples(2).with_weights(bad.clone()).is_err(), "{bad:?}");
            let rows = Rows::from_dense(vec![1.0; 5], 1).unwrap();
            let sequences = Sequences::unlabelled(rows, vec![0, 2, 5]).unwrap();
            assert!(sequences.with_weights(bad.clone()).is_err(), "{bad:?}");
        }
        assert!(examples(2).with_weights(vec![0.0, 3.0]).is_ok());
    }

    proptest! {
        #[test]
        fn weights_stay_with_their_examples(weights in prop::collection::vec(0.5..2.0_f64, 1..8), places in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
            let n = weights.len();
            let chosen: Vec<usize> = places.iter().map(|place| place.index(n)).collect();
            let data = examples(n).with_weights(weights.clone()).unwrap();
            let part = data.subset(&chosen);
            prop_assert_eq!(DataSet::len(&part), chosen.len());
            for (k, &i) in chosen.iter().enumerate() {
                prop_assert_eq!(part.weights().unwrap()[k], weights[i]);
                prop_assert_eq!(part.numbers().unwrap()[k], 10.0 + i as f64);
                prop_assert_eq!(part.rows().row(k).get(0), i as f64);
            }
            // The weights of examples are not part of their fingerprint.
            prop_assert_eq!(DataSet::fingerprint(&data), DataSet::fingerprint(&examples(n)));
        }
    }

    #[test]
    fn a_position_counts_what_its_sequence_does() {
        let rows = Rows::from_dense(vec![1.0; 5], 1).unwrap();
        let data = Sequences::unlabelled(rows, vec![0, 2, 5]).unwrap();
        let data = data.with_weights(vec![0.5, 3.0]).unwrap();
        assert_eq!(data.subset(&[1]).weights(), Some(&[3.0][..]));
        assert_eq!(Examples::from(data).weights(), Some(&[0.5, 0.5, 3.0, 3.0, 3.0][..]));
    }

    #[test]
    fn chosen_ratings_keep_their_names_and_no_others() {
        let text = b"ann tea 4\nbob tea 2\nbob milk 5\n";
        let all = Ratings::read(Source::from_bytes("ratings", text).unwrap()).unwrap();
        let some = all.subset(&[2, 1]);
        assert_eq!((some.len(), some.values(), some.weights()), (2, &[5.0, 2.0][..], None));
        assert_eq!(some.pairs().users().names().collect::<Vec<_>>(), ["bob"]);
        assert_eq!(some.pairs().items().names().collect::<Vec<_>>(), ["milk", "tea"]);
        assert_ne!(some.fingerprint(), all.fingerprint());
    }
}
