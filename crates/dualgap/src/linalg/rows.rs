//! Rows of a data matrix, sparse or dense, behind one interface.
//!
//! Indices have 32 bits and values 64: the data enter the certificate, so reading them must not round.

use super::buffer::{Buffer, Kept, Owner};
use super::csr;
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
    /// Returns the stored entries, in ascending order of their index.
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

    /// Calls `visit` with every stored entry: faster than [`Row::iter`], for inner loops.
    #[inline]
    pub fn for_each(self, mut visit: impl FnMut(usize, f64)) {
        match self {
            Row::Sparse { indices, values } => {
                indices.iter().zip(values).for_each(|(&j, &x)| visit(j as usize, x));
            }
            Row::Dense(values) => values.iter().enumerate().for_each(|(j, &x)| visit(j, x)),
        }
    }

    /// Reads a number of every cache line, so that all of the row is in the cache soon. What it returns has no meaning.
    #[inline]
    pub(crate) fn touch(self) -> f64 {
        let (indices, values) = match self {
            Row::Sparse { indices, values } => (indices, values),
            Row::Dense(values) => (&[][..], values),
        };
        let mut read = 0;
        // Beyond so many entries the hardware reads on by itself.
        let most = 64;
        for line in indices[..indices.len().min(most)].chunks(LINE / size_of::<u32>()) {
            read ^= line[0];
        }
        let mut sum = f64::from(read);
        for line in values[..values.len().min(most)].chunks(LINE / size_of::<f64>()) {
            sum += line[0];
        }
        sum
    }

    /// Returns the number of stored entries.
    pub fn stored(self) -> usize {
        match self {
            Row::Sparse { values, .. } | Row::Dense(values) => values.len(),
        }
    }

    /// Returns the value at an index.
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

    /// Returns `Σ |x|`.
    pub fn norm1(self) -> f64 {
        self.iter().fold(0.0, |sum, (_, x)| sum + x.abs())
    }

    /// Returns `Σ x²`.
    pub fn squared_norm(self) -> f64 {
        self.iter().fold(0.0, |sum, (_, x)| sum + x * x)
    }

    /// Returns the inner product of two rows.
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

/// The bytes of a cache line.
const LINE: usize = 64;

/// Matrices of more bytes than this do not stay in the cache of a core.
const CACHE: usize = 1 << 20;

/// In a matrix with longer rows on average, in bytes, the order of the rows makes little difference.
const SHORT: usize = 2048;

/// A data matrix by rows.
///
/// ```
/// # use dualgap::linalg::Rows;
/// let mut rows = Rows::sparse();
/// rows.push_sparse(&[(0, 1.0), (3, 2.5)]);
/// assert_eq!((rows.len(), rows.width(), rows.stored()), (1, 4, 2));
/// ```
#[derive(Clone)]
pub struct Rows {
    width: usize,
    storage: Storage,
}

#[derive(Clone)]
enum Storage {
    /// Row `i` is at `starts[i]..starts[i + 1]`, its indices ascend, and all are below the width.
    Sparse {
        starts: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
    },
    /// Row-major, `len · width` numbers.
    Dense {
        len: usize,
        values: Vec<f64>,
    },
    /// The same two, in shared arrays.
    SharedSparse {
        starts: Owner<usize>,
        indices: Owner<u32>,
        values: Owner<f64>,
    },
    SharedDense {
        len: usize,
        values: Owner<f64>,
    },
}

/// The arrays of a matrix, owned or shared.
#[derive(Clone, Copy, PartialEq)]
enum Parts<'a> {
    Sparse { starts: &'a [usize], indices: &'a [u32], values: &'a [f64] },
    Dense { len: usize, values: &'a [f64] },
}

impl Parts<'_> {
    fn to_storage(self) -> Storage {
        match self {
            Self::Sparse { starts, indices, values } => Storage::Sparse {
                starts: starts.to_vec(),
                indices: indices.to_vec(),
                values: values.to_vec(),
            },
            Self::Dense { len, values } => Storage::Dense { len, values: values.to_vec() },
        }
    }
}

/// Two matrices are equal if both are sparse or both are dense, with the same entries.
impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        self.width == other.width && self.parts() == other.parts()
    }
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries((0..self.len()).map(|i| self.row(i))).finish()
    }
}

impl Rows {
    /// Returns a sparse matrix without rows.
    pub fn sparse() -> Self {
        Self::of_sparse(vec![0], Vec::new(), Vec::new(), 0)
    }

    fn of_sparse(starts: Vec<usize>, indices: Vec<u32>, values: Vec<f64>, width: usize) -> Self {
        Self { width, storage: Storage::Sparse { starts, indices, values } }
    }

    /// Returns compressed sparse rows: row `i` has the entries `starts[i]..starts[i + 1]` of the indices, which
    /// count from 0, and of the values. The arrays are vectors or shared, see [`Buffer`]; neither is copied.
    ///
    /// The order of the entries within a row does not matter: unsorted rows are sorted, in a copy. Two entries of a
    /// row in the same column are an error, because some programs mean their sum and others the last one.
    ///
    /// ```
    /// # use dualgap::linalg::Rows;
    /// let rows = Rows::from_csr(vec![0, 2, 2], vec![3, 0], vec![2.5, 1.0], 5)?;
    /// assert_eq!((rows.len(), rows.width()), (2, 5));
    /// assert_eq!(rows.row(0).iter().collect::<Vec<_>>(), [(0, 1.0), (3, 2.5)]);
    /// let beyond = Rows::from_csr(vec![0, 1], vec![5], vec![1.0], 5).unwrap_err();
    /// assert_eq!(beyond.to_string(), "row 0 has an entry in column 5, and there are 5 columns, from 0 on");
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn from_csr(
        starts: impl Into<Buffer<usize>>,
        indices: impl Into<Buffer<u32>>,
        values: impl Into<Buffer<f64>>,
        width: usize,
    ) -> Result<Self> {
        let starts = starts.into();
        let (indices, values) =
            csr::checked(starts.as_slice(), indices.into(), values.into(), width)?;
        let storage = match (starts, indices, values) {
            (
                Buffer(Kept::Owned(starts)),
                Buffer(Kept::Owned(indices)),
                Buffer(Kept::Owned(values)),
            ) => Storage::Sparse { starts, indices, values },
            (starts, indices, values) => Storage::SharedSparse {
                starts: starts.into_owner(),
                indices: indices.into_owner(),
                values: values.into_owner(),
            },
        };
        Ok(Self { width, storage })
    }

    /// Returns dense rows of this width, in row-major order, from a vector or a shared array.
    ///
    /// ```
    /// # use dualgap::linalg::Rows;
    /// let rows = Rows::from_dense(vec![1.0, 2.0, 3.0, 4.0], 2)?;
    /// assert_eq!((rows.len(), rows.row(1).get(0)), (2, 3.0));
    /// assert!(Rows::from_dense(vec![1.0, 2.0, 3.0], 2).is_err());
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn from_dense(values: impl Into<Buffer<f64>>, width: usize) -> Result<Self> {
        let values = values.into();
        let count = values.as_slice().len();
        csr::check_width(width)?;
        if count.checked_rem(width).unwrap_or(count) != 0 {
            return Err(Error::setting(format!(
                "{count} values cannot be shared among dense rows of {width} each"
            )));
        }
        let len = count.checked_div(width).unwrap_or(0);
        let storage = match values.0 {
            Kept::Owned(values) => Storage::Dense { len, values },
            Kept::Shared(values) => Storage::SharedDense { len, values },
        };
        Ok(Self { width, storage })
    }

    /// Returns dense rows, which must have the same length.
    pub fn dense(rows: &[Vec<f64>]) -> Result<Self> {
        let width = rows.first().map_or(0, Vec::len);
        if let Some(i) = rows.iter().position(|row| row.len() != width) {
            return Err(Error::setting(format!(
                "row {i} has {} values and row 0 has {width}: dense rows must be equally long",
                rows[i].len()
            )));
        }
        csr::check_width(width)?;
        Ok(Self { width, storage: Storage::Dense { len: rows.len(), values: rows.concat() } })
    }

    #[inline]
    fn parts(&self) -> Parts<'_> {
        match &self.storage {
            Storage::Sparse { starts, indices, values } => {
                Parts::Sparse { starts, indices, values }
            }
            Storage::Dense { len, values } => Parts::Dense { len: *len, values },
            Storage::SharedSparse { starts, indices, values } => Parts::Sparse {
                starts: starts.as_slice(),
                indices: indices.as_slice(),
                values: values.as_slice(),
            },
            Storage::SharedDense { len, values } => {
                Parts::Dense { len: *len, values: values.as_slice() }
            }
        }
    }

    /// Returns the storage for changes; shared arrays are copied first.
    fn owned(&mut self) -> &mut Storage {
        if let Storage::SharedSparse { .. } | Storage::SharedDense { .. } = self.storage {
            self.storage = self.parts().to_storage();
        }
        &mut self.storage
    }

    /// Returns all values in row-major order, if the rows are dense.
    ///
    /// ```
    /// # use dualgap::linalg::Rows;
    /// assert_eq!(Rows::dense(&[vec![1.0], vec![2.0]])?.dense_values(), Some(&[1.0, 2.0][..]));
    /// assert_eq!(Rows::sparse().dense_values(), None);
    /// # Ok::<(), dualgap::Error>(())
    /// ```
    pub fn dense_values(&self) -> Option<&[f64]> {
        match self.parts() {
            Parts::Dense { values, .. } => Some(values),
            Parts::Sparse { .. } => None,
        }
    }

    /// Appends a sparse row.
    ///
    /// # Panics
    /// If the rows are dense, or if the indices do not ascend.
    pub fn push_sparse(&mut self, row: &[(u32, f64)]) {
        let Storage::Sparse { starts, indices, values } = self.owned() else {
            panic!("a sparse row among dense ones");
        };
        assert!(row.windows(2).all(|pair| pair[0].0 < pair[1].0), "indices must ascend");
        indices.extend(row.iter().map(|&(j, _)| j));
        values.extend(row.iter().map(|&(_, x)| x));
        starts.push(indices.len());
        if let Some(&(j, _)) = row.last() {
            self.width = self.width.max(j as usize + 1);
        }
    }

    /// Reserves memory for a row of this many entries, or returns an error where pushing it would end the program.
    pub fn try_reserve(&mut self, entries: usize) -> Result<()> {
        let made = match &mut self.storage {
            Storage::Sparse { starts, indices, values } => starts
                .try_reserve(1)
                .and_then(|()| indices.try_reserve(entries))
                .and_then(|()| values.try_reserve(entries)),
            Storage::Dense { values, .. } => values.try_reserve(entries),
            // Shared arrays never grow.
            Storage::SharedSparse { .. } | Storage::SharedDense { .. } => Ok(()),
        };
        made.map_err(|_| memory::short_of("there is no room for all rows of the data"))
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        match self.parts() {
            Parts::Sparse { starts, .. } => starts.len() - 1,
            Parts::Dense { len, .. } => len,
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of features, at least the largest index plus one.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of stored entries.
    pub fn stored(&self) -> usize {
        let (Parts::Sparse { values, .. } | Parts::Dense { values, .. }) = self.parts();
        values.len()
    }

    /// Whether reading rows in a random order waits for memory: they do not fit the cache, and each of them is short.
    pub(crate) fn are_many_and_short(&self) -> bool {
        let entry = if self.dense_values().is_some() { 8 } else { 12 };
        let bytes = self.stored().saturating_mul(entry);
        bytes > CACHE && bytes < self.len().saturating_mul(SHORT)
    }

    /// Returns row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        match &self.storage {
            Storage::Sparse { starts, indices, values } => {
                let range = starts[i]..starts[i + 1];
                Row::Sparse { indices: &indices[range.clone()], values: &values[range] }
            }
            Storage::Dense { values, .. } => {
                Row::Dense(&values[i * self.width..(i + 1) * self.width])
            }
            Storage::SharedSparse { .. } | Storage::SharedDense { .. } => self.shared_row(i),
        }
    }

    #[inline]
    fn shared_row(&self, i: usize) -> Row<'_> {
        match self.parts() {
            Parts::Sparse { starts, indices, values } => {
                let range = starts[i]..starts[i + 1];
                Row::Sparse { indices: &indices[range.clone()], values: &values[range] }
            }
            Parts::Dense { values, .. } => {
                Row::Dense(&values[i * self.width..(i + 1) * self.width])
            }
        }
    }

    /// Returns the identity matrix: row i has a one at i.
    pub(crate) fn identity(count: usize) -> Self {
        let indices = (0..count).map(|i| i as u32).collect();
        Self::of_sparse((0..=count).collect(), indices, vec![1.0; count], count)
    }

    /// Returns the given rows in the given order, as a matrix of the same width.
    #[must_use]
    pub fn select(&self, rows: impl Iterator<Item = usize>) -> Self {
        let dense = self.dense_values().is_some();
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in rows {
            match self.row(i) {
                Row::Dense(x) => values.extend_from_slice(x),
                Row::Sparse { indices: j, values: x } => {
                    indices.extend_from_slice(j);
                    values.extend_from_slice(x);
                }
            }
            starts.push(indices.len());
        }
        if dense {
            let len = starts.len() - 1;
            return Self { width: self.width, storage: Storage::Dense { len, values } };
        }
        Self::of_sparse(starts, indices, values, self.width)
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

    /// Divides every column by its factor; entries that are not stored stay zero.
    ///
    /// ```
    /// # use dualgap::linalg::Rows;
    /// let mut rows = Rows::sparse();
    /// rows.push_sparse(&[(1, 6.0)]);
    /// rows.divide_columns(&[2.0, 3.0]);
    /// assert_eq!(rows.row(0).iter().collect::<Vec<_>>(), [(1, 2.0)]);
    /// ```
    pub fn divide_columns(&mut self, factors: &[f64]) {
        let width = self.width;
        match self.owned() {
            Storage::Sparse { indices, values, .. } => {
                values.iter_mut().zip(indices).for_each(|(x, j)| *x /= factors[*j as usize]);
            }
            Storage::Dense { values, .. } => {
                for row in values.chunks_exact_mut(width.max(1)) {
                    row.iter_mut().zip(factors).for_each(|(x, factor)| *x /= factor);
                }
            }
            Storage::SharedSparse { .. } | Storage::SharedDense { .. } => {} // owned by now
        }
    }

    /// Widens or narrows the matrix to `width` features; drops the entries beyond and returns their number.
    pub fn fit_width(&mut self, width: usize) -> usize {
        let before = self.stored();
        if self.width > width {
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
        if let Some(values) = self.dense_values().filter(|_| self.width < width) {
            let (old, len) = (self.width, self.len());
            let mut wider = Vec::with_capacity(len * width);
            for i in 0..len {
                wider.extend_from_slice(&values[i * old..(i + 1) * old]);
                wider.resize((i + 1) * width, 0.0);
            }
            self.storage = Storage::Dense { len, values: wider };
        }
        self.width = width;
        before.saturating_sub(self.stored())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;

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

    #[test]
    fn rows_without_columns_are_rows() {
        let mut rows = Rows::dense(&[vec![], vec![]]).unwrap();
        assert_eq!((rows.len(), rows.width(), rows.row(1).stored()), (2, 0, 0));
        assert_eq!(rows.select([1].into_iter()).len(), 1);
        rows.fit_width(2);
        assert_eq!((rows.len(), rows.dense_values()), (2, Some(&[0.0; 4][..])));
        assert_eq!(Rows::from_dense(vec![], 0).unwrap().len(), 0);
        assert!(Rows::from_dense(vec![1.0], 0).is_err());
    }

    #[test]
    fn what_is_no_matrix_is_refused_in_words() {
        let refused = |starts: &[usize], indices: &[u32], values: &[f64], width| {
            let rows = Rows::from_csr(starts.to_vec(), indices.to_vec(), values.to_vec(), width);
            rows.unwrap_err().to_string()
        };
        for (message, words) in [
            (refused(&[], &[], &[], 1), "there is none at all"),
            (refused(&[1, 2], &[0, 0], &[1.0, 1.0], 1), "starts at entry 1: it must start at 0"),
            (
                refused(&[0, 2, 1, 3], &[0, 1, 0], &[1.0; 3], 2),
                "row 1 starts at entry 2 and ends at 1",
            ),
            (refused(&[0, 9, 1], &[0], &[1.0], 1), "row 1 starts at entry 9 and ends at 1"),
            (refused(&[0, 1], &[0, 0], &[1.0; 2], 1), "ends at entry 1, and there are 2 entries"),
            (refused(&[0, 3], &[0, 1], &[1.0; 2], 2), "ends at entry 3, and there are 2 entries"),
            (refused(&[0, 2], &[0, 1], &[1.0], 2), "2 indices and 1 values"),
            (refused(&[0, 0, 1], &[2], &[1.0], 2), "row 1 has an entry in column 2"),
            (refused(&[0, 3], &[1, 0, 1], &[1.0; 3], 2), "row 0 has two entries in column 1"),
            (refused(&[0], &[], &[], 1 << 32), "too many"),
            (Rows::from_dense(vec![1.0; 3], 2).unwrap_err().to_string(), "rows of 2 each"),
        ] {
            assert!(message.contains(words), "{message}");
        }
    }

    proptest! {
        /// The reference is a naive table of cells, for arrays that are valid.
        #[test]
        fn compressed_rows_are_read_as_a_table_of_cells_would_be(
            starts in prop::collection::vec(0_usize..7, 0..5),
            entries in prop::collection::vec((0_u32..5, -3_i8..4), 0..6),
            width in 0_usize..6,
            ends_well: bool,
        ) {
            let mut starts = starts;
            if ends_well {
                starts.sort_unstable();
                starts.insert(0, 0);
                starts.push(entries.len());
            }
            let (indices, values): (Vec<u32>, Vec<f64>) =
                entries.iter().map(|&(j, x)| (j, f64::from(x))).unzip();
            let naive = table(&starts, &entries, width);
            let rows = Rows::from_csr(starts.clone(), indices.clone(), values.clone(), width);
            let shared = Rows::from_csr(starts, Arc::new(indices), Arc::new(values), width);
            prop_assert_eq!(rows.is_ok(), naive.is_some());
            prop_assert_eq!(shared.is_ok(), naive.is_some());
            if let (Ok(rows), Ok(mut shared), Some(cells)) = (rows, shared, naive) {
                prop_assert_eq!(&rows, &shared);
                prop_assert_eq!((rows.len(), rows.width()), (cells.len(), width));
                for (i, row) in cells.iter().enumerate() {
                    let stored: Vec<(usize, f64)> =
                        row.iter().enumerate().filter_map(|(j, x)| Some((j, (*x)?))).collect();
                    prop_assert_eq!(rows.row(i).iter().collect::<Vec<_>>(), stored.clone());
                    prop_assert_eq!(shared.row(i).iter().collect::<Vec<_>>(), stored);
                    for (j, x) in row.iter().enumerate() {
                        prop_assert_eq!(rows.row(i).get(j), x.unwrap_or(0.0));
                    }
                }
                // Shared arrays are copied before a change.
                shared.push_sparse(&[(0, 1.0)]);
                prop_assert_eq!(shared.select(0..rows.len()).fit_width(width), 0);
            }
        }

        #[test]
        fn dense_rows_are_what_they_are_in_either_kind_of_array(len in 0_usize..4, width in 1_usize..4, extra in 0_usize..3) {
            let values: Vec<f64> = (0..len * width + extra).map(|k| k as f64).collect();
            let rows = Rows::from_dense(values.clone(), width);
            let shared = Rows::from_dense(Arc::new(values.clone()), width);
            if extra % width > 0 {
                prop_assert!(rows.is_err() && shared.is_err());
            } else {
                let (rows, mut shared) = (rows.unwrap(), shared.unwrap());
                let cells: Vec<Vec<f64>> = values.chunks(width).map(<[f64]>::to_vec).collect();
                prop_assert_eq!(rows.len(), cells.len());
                prop_assert_eq!(&rows, &shared);
                if !cells.is_empty() {
                    prop_assert_eq!(&rows, &Rows::dense(&cells).unwrap());
                    shared.divide_columns(&vec![0.5; width]);
                    prop_assert_eq!(shared.row(0).norm1(), 2.0 * rows.row(0).norm1());
                }
            }
        }
    }

    /// A cell for every row and column, or nothing if the arrays are inconsistent: an entry of no row or of two, a
    /// row that ends before it begins, a column beyond the width, two entries in a cell.
    fn table(
        starts: &[usize],
        entries: &[(u32, i8)],
        width: usize,
    ) -> Option<Vec<Vec<Option<f64>>>> {
        let mut cells = Vec::new();
        let mut next = 0;
        if starts.is_empty() || starts[0] != 0 {
            return None;
        }
        for end in &starts[1..] {
            let mut row = vec![None; width];
            while next < *end {
                let &(j, x) = entries.get(next)?;
                if row.get_mut(j as usize)?.replace(f64::from(x)).is_some() {
                    return None;
                }
                next += 1;
            }
            if next > *end {
                return None;
            }
            cells.push(row);
        }
        (next == entries.len()).then_some(cells)
    }
}
