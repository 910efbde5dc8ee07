//! Rows of a data matrix, sparse or dense, behind one face.
//!
//! Indices are 32 bits, values 64: the data enters the certificate, so nothing is rounded on the
//! way in.

use super::memory;
use crate::{Error, Result};

/// One row, borrowed.
#[derive(Clone, Copy, Debug)]
pub enum Row<'a> {
    /// Strictly ascending indices and their values.
    Sparse {
        /// Strictly ascending.
        indices: &'a [u32],
        /// One per index.
        values: &'a [f64],
    },
    /// A value for every index from zero on.
    Dense(&'a [f64]),
}

impl<'a> Row<'a> {
    /// The stored entries, in ascending order of their index.
    pub fn iter(self) -> impl Iterator<Item = (usize, f64)> + 'a {
        let (indices, values) = match self {
            Row::Sparse { indices, values } => (Some(indices), values),
            Row::Dense(values) => (None, values),
        };
        values
            .iter()
            .enumerate()
            .map(move |(k, &x)| (indices.map_or(k, |indices| indices[k] as usize), x))
    }

    /// Calls `visit` with every stored entry: [`Row::iter`] where each nanosecond counts.
    #[inline]
    pub fn for_each(self, mut visit: impl FnMut(usize, f64)) {
        match self {
            Row::Sparse { indices, values } => {
                indices.iter().zip(values).for_each(|(&j, &x)| visit(j as usize, x));
            }
            Row::Dense(values) => values.iter().enumerate().for_each(|(j, &x)| visit(j, x)),
        }
    }

    /// How many entries are stored.
    pub fn stored(self) -> usize {
        match self {
            Row::Sparse { values, .. } | Row::Dense(values) => values.len(),
        }
    }

    /// The value of an index.
    ///
    /// ```
    /// # use dualgap::linalg::Row;
    /// let row = Row::Sparse { indices: &[0, 2], values: &[1.0, 3.0] };
    /// assert_eq!((row.get(2), row.get(1)), (3.0, 0.0));
    /// ```
    pub fn get(self, index: usize) -> f64 {
        let place = match self {
            Row::Sparse { indices, .. } => {
                indices.binary_search_by_key(&index, |&j| j as usize).ok()
            }
            Row::Dense(_) => Some(index),
        };
        let (Row::Sparse { values, .. } | Row::Dense(values)) = self;
        place.and_then(|k| values.get(k)).copied().unwrap_or(0.0)
    }

    /// `Σ |x|`.
    pub fn norm1(self) -> f64 {
        self.iter().fold(0.0, |sum, (_, x)| sum + x.abs())
    }

    /// `Σ x²`.
    pub fn squared_norm(self) -> f64 {
        self.iter().fold(0.0, |sum, (_, x)| sum + x * x)
    }

    /// The inner product of two rows.
    ///
    /// ```
    /// # use dualgap::linalg::Row;
    /// let sparse = Row::Sparse { indices: &[0, 2], values: &[1.0, 3.0] };
    /// assert_eq!(sparse.dot(Row::Dense(&[2.0, 9.0, 5.0])), 17.0);
    /// ```
    pub fn dot(self, other: Row<'_>) -> f64 {
        match (self, other) {
            (Row::Dense(a), Row::Dense(b)) => a.iter().zip(b).map(|(a, b)| a * b).sum(),
            (sparse, Row::Dense(dense)) | (Row::Dense(dense), sparse) => {
                sparse.iter().map(|(j, x)| x * dense.get(j).copied().unwrap_or(0.0)).sum()
            }
            (Row::Sparse { indices: a, values: x }, Row::Sparse { indices: b, values: y }) => {
                let (mut i, mut j, mut total) = (0, 0, 0.0);
                while i < a.len() && j < b.len() {
                    if a[i] == b[j] {
                        total += x[i] * y[j];
                    }
                    let (left, right) = (a[i], b[j]);
                    i += usize::from(left <= right);
                    j += usize::from(right <= left);
                }
                total
            }
        }
    }
}

/// A data matrix by rows.
///
/// ```
/// # use dualgap::linalg::Rows;
/// let mut rows = Rows::sparse();
/// rows.push_sparse(&[(0, 1.0), (3, 2.5)]);
/// assert_eq!((rows.len(), rows.width(), rows.stored()), (1, 4, 2));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Rows {
    /// Compressed sparse rows.
    Sparse {
        /// Row `i` is stored at `starts[i]..starts[i + 1]`.
        starts: Vec<usize>,
        /// Ascending within a row.
        indices: Vec<u32>,
        /// One per index.
        values: Vec<f64>,
        /// One more than the largest index, or more.
        width: usize,
    },
    /// Row after row.
    Dense {
        /// The length of every row.
        width: usize,
        /// `len · width` numbers.
        values: Vec<f64>,
    },
}

impl Rows {
    /// No rows yet; sparse ones will follow.
    pub fn sparse() -> Self {
        Self::Sparse { starts: vec![0], indices: Vec::new(), values: Vec::new(), width: 0 }
    }

    /// Dense rows, all of one length.
    pub fn dense(rows: &[Vec<f64>]) -> Result<Self> {
        let width = rows.first().map_or(0, Vec::len);
        if let Some(i) = rows.iter().position(|row| row.len() != width) {
            return Err(Error::setting(format!(
                "row {i} has {} values and row 0 has {width}: dense rows must be equally long",
                rows[i].len()
            )));
        }
        Ok(Self::Dense { width, values: rows.concat() })
    }

    /// Appends a sparse row.
    ///
    /// # Panics
    /// On dense rows, and when the indices do not ascend.
    pub fn push_sparse(&mut self, row: &[(u32, f64)]) {
        let Self::Sparse { starts, indices, values, width } = self else {
            panic!("a sparse row among dense ones");
        };
        assert!(row.windows(2).all(|pair| pair[0].0 < pair[1].0), "indices must ascend");
        indices.extend(row.iter().map(|&(j, _)| j));
        values.extend(row.iter().map(|&(_, x)| x));
        starts.push(indices.len());
        if let Some(&(j, _)) = row.last() {
            *width = (*width).max(j as usize + 1);
        }
    }

    /// Makes room for a row of so many entries, where pushing one would end the program if there is none.
    pub fn try_reserve(&mut self, entries: usize) -> Result<()> {
        let made = match self {
            Self::Sparse { starts, indices, values, .. } => starts
                .try_reserve(1)
                .and_then(|()| indices.try_reserve(entries))
                .and_then(|()| values.try_reserve(entries)),
            Self::Dense { values, .. } => values.try_reserve(entries),
        };
        made.map_err(|_| memory::short_of("there is no room for all rows of the data"))
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Sparse { starts, .. } => starts.len() - 1,
            Self::Dense { width: 0, .. } => 0,
            Self::Dense { width, values } => values.len() / width,
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of features: one more than the largest index.
    pub fn width(&self) -> usize {
        match self {
            Self::Sparse { width, .. } | Self::Dense { width, .. } => *width,
        }
    }

    /// How many entries are stored in all.
    pub fn stored(&self) -> usize {
        match self {
            Self::Sparse { values, .. } | Self::Dense { values, .. } => values.len(),
        }
    }

    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        match self {
            Self::Sparse { starts, indices, values, .. } => {
                let range = starts[i]..starts[i + 1];
                Row::Sparse { indices: &indices[range.clone()], values: &values[range] }
            }
            Self::Dense { width, values } => Row::Dense(&values[i * width..(i + 1) * width]),
        }
    }

    /// The given rows in the given order, as a matrix of their own of the same width.
    #[must_use]
    pub fn select(&self, rows: impl Iterator<Item = usize>) -> Self {
        match self {
            Self::Dense { width, values } => Self::Dense {
                width: *width,
                values: rows.flat_map(|i| &values[i * width..(i + 1) * width]).copied().collect(),
            },
            Self::Sparse { width: all, .. } => {
                let mut chosen = Self::sparse();
                if let Self::Sparse { starts, indices, values, width } = &mut chosen {
                    *width = *all;
                    for i in rows {
                        if let Row::Sparse { indices: j, values: x } = self.row(i) {
                            indices.extend_from_slice(j);
                            values.extend_from_slice(x);
                            starts.push(indices.len());
                        }
                    }
                }
                chosen
            }
        }
    }

    /// Appends a feature that is 1 in every row.
    ///
    /// ```
    /// # use dualgap::linalg::Rows;
    /// let mut rows = Rows::dense(&[vec![2.0], vec![3.0]])?;
    /// rows.append_constant();
    /// assert_eq!(rows.row(1).iter().collect::<Vec<_>>(), [(0, 3.0), (1, 1.0)]);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn append_constant(&mut self) {
        let last = self.width() as u32;
        let mut wider = Self::sparse();
        let mut row: Vec<(u32, f64)> = Vec::new();
        for i in 0..self.len() {
            row.clear();
            row.extend(self.row(i).iter().map(|(j, x)| (j as u32, x)));
            row.push((last, 1.0));
            wider.push_sparse(&row);
        }
        wider.fit_width(last as usize + 1);
        *self = wider;
    }

    /// Divides every column by its factor; what is not stored stays so.
    ///
    /// ```
    /// # use dualgap::linalg::Rows;
    /// let mut rows = Rows::sparse();
    /// rows.push_sparse(&[(1, 6.0)]);
    /// rows.divide_columns(&[2.0, 3.0]);
    /// assert_eq!(rows.row(0).iter().collect::<Vec<_>>(), [(1, 2.0)]);
    /// ```
    pub fn divide_columns(&mut self, factors: &[f64]) {
        match self {
            Self::Sparse { indices, values, .. } => {
                values.iter_mut().zip(indices).for_each(|(x, j)| *x /= factors[*j as usize]);
            }
            Self::Dense { width, values } => {
                for row in values.chunks_exact_mut((*width).max(1)) {
                    row.iter_mut().zip(factors).for_each(|(x, factor)| *x /= factor);
                }
            }
        }
    }

    /// Widens or narrows the matrix to `width` features; entries beyond are dropped and counted.
    pub fn fit_width(&mut self, width: usize) -> usize {
        let before = self.stored();
        if self.width() > width {
            let mut narrow = Self::sparse();
            for i in 0..self.len() {
                let row: Vec<(u32, f64)> = self
                    .row(i)
                    .iter()
                    .filter(|&(j, _)| j < width)
                    .map(|(j, x)| (j as u32, x))
                    .collect();
                narrow.push_sparse(&row);
            }
            *self = narrow;
        }
        match self {
            Self::Sparse { width: w, .. } => *w = width,
            Self::Dense { width: w, .. } if *w == width => {}
            Self::Dense { width: old, values } => {
                let rows: Vec<f64> = values
                    .chunks((*old).max(1)) // without any column there are no values
                    .flat_map(|row| row.iter().copied().chain((*old..width).map(|_| 0.0)))
                    .collect();
                *self = Self::Dense { width, values: rows };
            }
        }
        before.saturating_sub(self.stored())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Rows, Rows) {
        let dense = vec![vec![1.0, 0.0, 2.0], vec![0.0, -3.0, 4.0], vec![0.0, 0.0, 0.0]];
        let mut sparse = Rows::sparse();
        for row in &dense {
            let entries: Vec<(u32, f64)> = row
                .iter()
                .enumerate()
                .filter(|(_, x)| **x != 0.0)
                .map(|(j, &x)| (j as u32, x))
                .collect();
            sparse.push_sparse(&entries);
        }
        (sparse, Rows::dense(&dense).unwrap())
    }

    #[test]
    fn sparse_and_dense_rows_have_the_same_products() {
        let (sparse, dense) = sample();
        for i in 0..3 {
            assert_eq!(sparse.row(i).norm1(), dense.row(i).norm1());
            for j in 0..3 {
                let expected = dense.row(i).dot(dense.row(j));
                assert_eq!(sparse.row(i).dot(sparse.row(j)), expected);
                assert_eq!(sparse.row(i).dot(dense.row(j)), expected);
                assert_eq!(dense.row(i).dot(sparse.row(j)), expected);
            }
        }
    }

    #[test]
    fn selected_rows_keep_their_entries_and_the_width() {
        for rows in [sample().0, sample().1] {
            let chosen = rows.select([1, 0].into_iter());
            assert_eq!((chosen.len(), chosen.width()), (2, 3));
            assert_eq!(chosen.row(0).dot(rows.row(1)), rows.row(1).squared_norm());
            assert_eq!(chosen.row(1).dot(rows.row(0)), rows.row(0).squared_norm());
        }
    }

    #[test]
    fn features_beyond_the_width_are_dropped_and_counted() {
        let (mut sparse, mut dense) = sample();
        assert_eq!(sparse.fit_width(2), 2);
        assert_eq!((sparse.width(), sparse.row(1).dot(Row::Dense(&[1.0, 1.0]))), (2, -3.0));
        assert_eq!(dense.fit_width(5), 0);
        assert_eq!((dense.width(), dense.len()), (5, 3));
        assert_eq!(dense.row(1).squared_norm(), 25.0);
    }

    #[test]
    fn ragged_dense_rows_are_refused() {
        assert!(Rows::dense(&[vec![1.0], vec![1.0, 2.0]]).is_err());
    }
}
