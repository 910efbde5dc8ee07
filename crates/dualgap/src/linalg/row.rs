//! One row of a data matrix: sparse, with values of 64 or 32 bits or none that are not one, or dense.
//!
//! A value of 32 bits is exact as a number of 64 bits, and all arithmetic has 64: what is computed with a row does not
//! depend on how it is stored, to the last bit.

use crate::{Error, Result};
use dualgap_map::fetch_all;

/// One row, borrowed. A sparse one is made by [`Row::sparse`], or is one of [`Rows`](super::Rows): both have checked its indices,
/// and nobody else can write one down.
///
/// ```compile_fail,E0639
/// # use dualgap::linalg::Row;
/// let twice = Row::Sparse { indices: &[1, 1], values: &[1.0, 2.0] };
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Row<'a> {
    /// Strictly ascending indices and their values.
    #[non_exhaustive]
    Sparse {
        /// Strictly ascending.
        indices: &'a [u32],
        /// One per index.
        values: &'a [f64],
    },
    /// The same with values that 32 bits hold exactly.
    #[non_exhaustive]
    Single {
        /// Strictly ascending.
        indices: &'a [u32],
        /// One per index.
        values: &'a [f32],
    },
    /// The same with the value one for every index: features that are there or not.
    #[non_exhaustive]
    Ones {
        /// Strictly ascending.
        indices: &'a [u32],
    },
    /// A value for every index from zero on.
    Dense(&'a [f64]),
}

/// A value that is one, and takes no memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct One;

impl From<One> for f64 {
    #[inline]
    fn from(_: One) -> Self {
        1.0
    }
}

/// Returns so many ones, for what is written for values of any kind.
#[inline]
pub(crate) fn ones(count: usize) -> &'static [One] {
    const ALL: &[One; usize::MAX] = &[One; usize::MAX];
    &ALL[..count]
}

impl<'a> Row<'a> {
    /// Returns the row with these entries, or an error unless there is a value for every index and the indices ascend, each greater
    /// than the one before.
    ///
    /// ```
    /// # use dualgap::linalg::Row;
    /// let row = Row::sparse(&[0, 2], &[1.0, 3.0])?;
    /// assert_eq!((row.get(2), row.stored()), (3.0, 2));
    /// assert!(Row::sparse(&[2, 0], &[3.0, 1.0]).is_err());
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn sparse(indices: &'a [u32], values: &'a [f64]) -> Result<Self> {
        if indices.len() != values.len() {
            return Err(Error::setting(format!(
                "a row has {} indices and {} values: every entry has one of each",
                indices.len(),
                values.len()
            )));
        }
        if let Some([before, after, ..]) = indices.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(Error::setting(format!(
                "in a row, index {before} comes before index {after}: they must be sorted, each of them once"
            )));
        }
        Ok(Self::Sparse { indices, values })
    }

    /// Returns the stored entries, in ascending order of their index.
    pub fn iter(self) -> impl Iterator<Item = (usize, f64)> + 'a {
        (0..self.stored()).map(move |k| match self {
            Row::Sparse { indices, values } => (indices[k] as usize, values[k]),
            Row::Single { indices, values } => (indices[k] as usize, f64::from(values[k])),
            Row::Ones { indices } => (indices[k] as usize, 1.0),
            Row::Dense(values) => (k, values[k]),
        })
    }

    /// Calls `visit` with every stored entry: faster than [`Row::iter`], for inner loops.
    #[inline]
    pub fn for_each(self, mut visit: impl FnMut(usize, f64)) {
        match self {
            Row::Sparse { indices, values } => {
                indices.iter().zip(values).for_each(|(&j, &x)| visit(j as usize, x));
            }
            Row::Single { indices, values } => {
                indices.iter().zip(values).for_each(|(&j, &x)| visit(j as usize, x.into()));
            }
            Row::Ones { indices } => indices.iter().for_each(|&j| visit(j as usize, 1.0)),
            Row::Dense(values) => values.iter().enumerate().for_each(|(j, &x)| visit(j, x)),
        }
    }

    /// Asks for the row ahead of its use.
    #[inline]
    pub(crate) fn fetch(self) {
        // Beyond so many entries the hardware reads on by itself.
        let most = self.stored().min(64);
        if let Some(indices) = self.indices() {
            fetch_all(&indices[..most]);
        }
        match self {
            Row::Sparse { values, .. } | Row::Dense(values) => fetch_all(&values[..most]),
            Row::Single { values, .. } => fetch_all(&values[..most]),
            Row::Ones { .. } => {}
        }
    }

    /// Writes the values of neighbouring columns, zeros included: those from `first` on, as many as `out` has. `place` is that of
    /// the first of their entries among the stored ones, and then that of the first one after them.
    pub(crate) fn copy_columns(self, first: usize, place: &mut usize, out: &mut [f64]) {
        if let Row::Dense(values) = self {
            return out.copy_from_slice(&values[first..first + out.len()]);
        }
        let indices = &self.indices().unwrap_or_default()[*place..];
        let count = indices.partition_point(|&j| (j as usize) < first + out.len());
        let (indices, stored) = (&indices[..count], *place..*place + count);
        out.fill(0.0);
        let places = indices.iter().map(|&j| j as usize - first);
        match self {
            Row::Sparse { values, .. } | Row::Dense(values) => {
                places.zip(&values[stored]).for_each(|(j, &x)| out[j] = x);
            }
            Row::Single { values, .. } => {
                places.zip(&values[stored]).for_each(|(j, &x)| out[j] = x.into());
            }
            Row::Ones { .. } => places.for_each(|j| out[j] = 1.0),
        }
        *place += count;
    }

    /// Returns the number of stored entries.
    #[inline]
    pub fn stored(self) -> usize {
        match self {
            Row::Sparse { values, .. } | Row::Dense(values) => values.len(),
            Row::Single { values, .. } => values.len(),
            Row::Ones { indices } => indices.len(),
        }
    }

    /// Returns the indices of the stored entries, unless there is a value for every index.
    ///
    /// ```
    /// # use dualgap::linalg::Row;
    /// assert_eq!(Row::sparse(&[0, 2], &[1.0, 3.0])?.indices(), Some(&[0, 2][..]));
    /// assert_eq!(Row::Dense(&[1.0, 3.0]).indices(), None);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    #[inline]
    pub fn indices(self) -> Option<&'a [u32]> {
        match self {
            Row::Sparse { indices, .. } | Row::Single { indices, .. } | Row::Ones { indices } => {
                Some(indices)
            }
            Row::Dense(_) => None,
        }
    }

    /// Returns the same row with values of 64 bits, in the buffer if they have fewer: for work that reads every value often.
    ///
    /// ```
    /// # use dualgap::linalg::{Row, Rows};
    /// let mut rows = Rows::sparse();
    /// rows.push_sparse(&[(0, 0.5), (2, 3.0)]);
    /// assert!(matches!(rows.row(0), Row::Single { .. }));
    /// let mut wide = Vec::new();
    /// assert!(matches!(rows.row(0).widened(&mut wide), Row::Sparse { values: [0.5, 3.0], .. }));
    /// ```
    pub fn widened<'b>(self, wide: &'b mut Vec<f64>) -> Row<'b>
    where
        'a: 'b,
    {
        wide.clear();
        let indices = match self {
            Row::Single { indices, values } => {
                wide.extend(values.iter().map(|&x| f64::from(x)));
                indices
            }
            Row::Ones { indices } => {
                wide.resize(indices.len(), 1.0);
                indices
            }
            Row::Sparse { .. } | Row::Dense(_) => return self,
        };
        Row::Sparse { indices, values: wide }
    }

    /// Returns the value at an index.
    ///
    /// ```
    /// # use dualgap::linalg::Row;
    /// let row = Row::sparse(&[0, 2], &[1.0, 3.0])?;
    /// assert_eq!((row.get(2), row.get(1)), (3.0, 0.0));
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn get(self, index: usize) -> f64 {
        let place = match self.indices() {
            Some(indices) => indices.binary_search_by_key(&index, |&j| j as usize).ok(),
            None => Some(index),
        };
        let value = place.and_then(|k| match self {
            Row::Sparse { values, .. } | Row::Dense(values) => values.get(k).copied(),
            Row::Single { values, .. } => values.get(k).map(|&x| x.into()),
            Row::Ones { indices } => indices.get(k).map(|_| 1.0),
        });
        value.unwrap_or(0.0)
    }

    /// Returns `Σ |x|`.
    pub fn norm1(self) -> f64 {
        let mut sum = 0.0;
        self.for_each(|_, x| sum += x.abs());
        sum
    }

    /// Returns `Σ x²`.
    pub fn squared_norm(self) -> f64 {
        let mut sum = 0.0;
        self.for_each(|_, x| sum += x * x);
        sum
    }

    /// Returns the inner product of two rows.
    ///
    /// ```
    /// # use dualgap::linalg::Row;
    /// let sparse = Row::sparse(&[0, 2], &[1.0, 3.0])?;
    /// assert_eq!(sparse.dot(Row::Dense(&[2.0, 9.0, 5.0])), 17.0);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn dot(self, other: Row<'_>) -> f64 {
        use Row::{Dense, Ones, Single, Sparse};
        match (self, other) {
            (Dense(a), Dense(b)) => a.iter().zip(b).map(|(a, b)| a * b).sum(),
            (sparse, Dense(dense)) | (Dense(dense), sparse) => {
                sparse.iter().map(|(j, x)| x * dense.get(j).copied().unwrap_or(0.0)).sum()
            }
            (Sparse { indices, values }, other) => dot_sparse(indices, values, other),
            (Single { indices, values }, other) => dot_sparse(indices, values, other),
            (Ones { indices }, other) => dot_sparse(indices, ones(indices.len()), other),
        }
    }
}

/// Returns the inner product of two sparse rows.
fn dot_sparse<X: Copy + Into<f64>>(a: &[u32], x: &[X], other: Row<'_>) -> f64 {
    match other {
        Row::Sparse { indices: b, values: y } => matched(a, x, b, y),
        Row::Single { indices: b, values: y } => matched(a, x, b, y),
        Row::Ones { indices: b } => matched(a, x, b, ones(b.len())),
        Row::Dense(y) => a.iter().zip(x).map(|(&j, &x)| x.into() * y[j as usize]).sum(),
    }
}

/// Returns the sum of the products of values with the same index.
fn matched<X: Copy + Into<f64>, Y: Copy + Into<f64>>(
    a: &[u32],
    x: &[X],
    b: &[u32],
    y: &[Y],
) -> f64 {
    let (mut i, mut j, mut total) = (0, 0, 0.0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            total += x[i].into() * y[j].into();
        }
        let (left, right) = (a[i], b[j]);
        i += usize::from(left <= right);
        j += usize::from(right <= left);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::Row;

    #[test]
    fn a_row_whose_indices_do_not_ascend_is_refused() {
        for (indices, values) in [
            (&[0, 0][..], &[1.0, 2.0][..]), // twice
            (&[3, 1], &[1.0, 2.0]),         // descending
            (&[0, 4, 4], &[1.0, 2.0, 3.0]), // at the end
            (&[0, 1], &[1.0]),              // no value
            (&[], &[1.0]),                  // no index
        ] {
            assert!(Row::sparse(indices, values).is_err(), "{indices:?} {values:?}");
        }
        for (indices, values) in [(&[][..], &[][..]), (&[0, u32::MAX], &[1.0, 2.0])] {
            assert_eq!(Row::sparse(indices, values).unwrap().stored(), indices.len());
        }
    }
}
