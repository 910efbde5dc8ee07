//! Rows of a data matrix, sparse or dense, behind one interface.
//!
//! Indices have 32 bits. Values have 64, or 32 as long as all of them are exact in 32 bits, as counts and most
//! measured numbers of few digits are: the data enter the certificate, so storing them must not round.

use super::buffer::{Buffer, Kept, Owner};
use super::{Row, csr, memory};
use crate::{Error, Result};

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
    /// The same with values that are exact in 32 bits.
    Single {
        starts: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f32>,
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
#[derive(Clone, Copy)]
enum Parts<'a> {
    Sparse { starts: &'a [usize], indices: &'a [u32], values: &'a [f64] },
    Single { starts: &'a [usize], indices: &'a [u32], values: &'a [f32] },
    Dense { len: usize, values: &'a [f64] },
}

/// Whether 32 bits hold a number, to the last bit and with its sign.
#[inline]
fn is_single(x: f64) -> bool {
    f64::from(x as f32).to_bits() == x.to_bits()
}

/// Two matrices are equal if both are sparse or both are dense, with the same entries.
impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        use Parts::{Dense, Single, Sparse};
        let same = match (self.parts(), other.parts()) {
            (Dense { len, values }, Dense { len: n, values: x }) => len == n && values == x,
            (Dense { .. }, _) | (_, Dense { .. }) => false,
            (
                Sparse { starts, indices, .. } | Single { starts, indices, .. },
                Sparse { starts: ends, indices: j, .. } | Single { starts: ends, indices: j, .. },
            ) => {
                let rows = || (0..self.len()).map(|i| (self.row(i), other.row(i)));
                starts == ends && indices == j && rows().all(|(a, b)| a.iter().eq(b.iter()))
            }
        };
        self.width == other.width && same
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
        let (starts, indices, values) = (vec![0], Vec::new(), Vec::new());
        Self { width: 0, storage: Storage::Single { starts, indices, values } }
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
            Storage::Single { starts, indices, values } => {
                Parts::Single { starts, indices, values }
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
        let copy = match &self.storage {
            Storage::SharedSparse { starts, indices, values } => Some(Storage::Sparse {
                starts: starts.as_slice().to_vec(),
                indices: indices.as_slice().to_vec(),
                values: values.as_slice().to_vec(),
            }),
            Storage::SharedDense { len, values } => {
                Some(Storage::Dense { len: *len, values: values.as_slice().to_vec() })
            }
            Storage::Sparse { .. } | Storage::Single { .. } | Storage::Dense { .. } => None,
        };
        if let Some(copy) = copy {
            self.storage = copy;
        }
        &mut self.storage
    }

    /// Stores all values of sparse rows in 64 bits.
    fn widen(&mut self) {
        if let Storage::Single { starts, indices, values } = &mut self.storage {
            let values = std::mem::take(values).into_iter().map(f64::from).collect();
            let (starts, indices) = (std::mem::take(starts), std::mem::take(indices));
            self.storage = Storage::Sparse { starts, indices, values };
        }
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
            Parts::Sparse { .. } | Parts::Single { .. } => None,
        }
    }

    /// Appends a sparse row.
    ///
    /// # Panics
    /// If the rows are dense, or if the indices do not ascend.
    pub fn push_sparse(&mut self, row: &[(u32, f64)]) {
        assert!(row.windows(2).all(|pair| pair[0].0 < pair[1].0), "indices must ascend");
        if !row.iter().all(|&(_, x)| is_single(x)) {
            self.widen();
        }
        let (starts, indices) = match self.owned() {
            Storage::Sparse { starts, indices, values } => {
                values.extend(row.iter().map(|&(_, x)| x));
                (starts, indices)
            }
            Storage::Single { starts, indices, values } => {
                values.extend(row.iter().map(|&(_, x)| x as f32));
                (starts, indices)
            }
            _ => panic!("a sparse row among dense ones"),
        };
        indices.extend(row.iter().map(|&(j, _)| j));
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
            Storage::Single { starts, indices, values } => starts
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
            Parts::Sparse { starts, .. } | Parts::Single { starts, .. } => starts.len() - 1,
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
        match self.parts() {
            Parts::Sparse { values, .. } | Parts::Dense { values, .. } => values.len(),
            Parts::Single { values, .. } => values.len(),
        }
    }

    /// Whether reading rows in a random order waits for memory: they do not fit the cache, and each of them is short.
    pub(crate) fn are_many_and_short(&self) -> bool {
        let entry = match self.parts() {
            Parts::Dense { .. } | Parts::Single { .. } => 8,
            Parts::Sparse { .. } => 12,
        };
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
            Storage::Single { starts, indices, values } => {
                let range = starts[i]..starts[i + 1];
                Row::Single { indices: &indices[range.clone()], values: &values[range] }
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
            Parts::Single { starts, indices, values } => {
                let range = starts[i]..starts[i + 1];
                Row::Single { indices: &indices[range.clone()], values: &values[range] }
            }
            Parts::Dense { values, .. } => {
                Row::Dense(&values[i * self.width..(i + 1) * self.width])
            }
        }
    }

    /// Returns the identity matrix: row i has a one at i.
    pub(crate) fn identity(count: usize) -> Self {
        let indices = (0..count).map(|i| i as u32).collect();
        let (starts, values) = ((0..=count).collect(), vec![1.0; count]);
        Self { width: count, storage: Storage::Single { starts, indices, values } }
    }

    /// Returns the given rows in the given order, as a matrix of the same width.
    #[must_use]
    pub fn select(&self, rows: impl Iterator<Item = usize>) -> Self {
        let width = self.width;
        if self.dense_values().is_some() {
            let (mut len, mut values) = (0, Vec::new());
            for i in rows {
                self.row(i).for_each(|_, x| values.push(x));
                len += 1;
            }
            return Self { width, storage: Storage::Dense { len, values } };
        }
        let (mut starts, mut indices) = (vec![0], Vec::new());
        let (mut wide, mut single) = (Vec::new(), Vec::new());
        for i in rows {
            match self.row(i) {
                Row::Sparse { values, .. } => wide.extend_from_slice(values),
                Row::Single { values, .. } => single.extend_from_slice(values),
                Row::Dense(_) => {}
            }
            indices.extend_from_slice(self.row(i).indices().unwrap_or_default());
            starts.push(indices.len());
        }
        let storage = match self.parts() {
            Parts::Single { .. } => Storage::Single { starts, indices, values: single },
            _ => Storage::Sparse { starts, indices, values: wide },
        };
        Self { width, storage }
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
        match &mut self.storage {
            Storage::Sparse { starts, indices, values } => {
                append_to_rows(starts, indices, last);
                append_to_rows(starts, values, 1.0);
                shift(starts);
                self.width += 1;
                return;
            }
            Storage::Single { starts, indices, values } => {
                append_to_rows(starts, indices, last);
                append_to_rows(starts, values, 1.0);
                shift(starts);
                self.width += 1;
                return;
            }
            _ => {} // the rows of a dense or shared matrix have no room for more
        }
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
        self.widen();
        match self.owned() {
            Storage::Sparse { indices, values, .. } => {
                values.iter_mut().zip(indices).for_each(|(x, j)| *x /= factors[*j as usize]);
            }
            Storage::Dense { values, .. } => {
                for row in values.chunks_exact_mut(width.max(1)) {
                    row.iter_mut().zip(factors).for_each(|(x, factor)| *x /= factor);
                }
            }
            // Wide and owned by now.
            Storage::Single { .. } | Storage::SharedSparse { .. } | Storage::SharedDense { .. } => {
            }
        }
    }

    /// Returns a copy with every column divided by its factor.
    pub(crate) fn divided(&self, factors: &[f64]) -> Self {
        let Storage::Single { starts, indices, values } = &self.storage else {
            let mut copy = self.clone();
            copy.divide_columns(factors);
            return copy;
        };
        // At once in 64 bits, without a copy in 32.
        let divided = values.iter().zip(indices).map(|(&x, &j)| f64::from(x) / factors[j as usize]);
        Self::of_sparse(starts.clone(), indices.clone(), divided.collect(), self.width)
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

/// Makes room at the end of every row, in place, and fills it with a number.
fn append_to_rows<T: Copy>(starts: &[usize], numbers: &mut Vec<T>, last: T) {
    let rows = starts.len() - 1;
    numbers.reserve_exact(rows);
    numbers.resize(numbers.len() + rows, last);
    // From the last row on, so that nothing is overwritten before it has moved.
    for i in (0..rows).rev() {
        numbers.copy_within(starts[i]..starts[i + 1], starts[i] + i);
        numbers[starts[i + 1] + i] = last;
    }
}

/// Moves the starts of rows that have all become longer by one.
fn shift(starts: &mut [usize]) {
    starts.iter_mut().enumerate().for_each(|(i, start)| *start += i);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::kernels;
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

    /// The same rows with values of 64 bits.
    fn wide(rows: &Rows) -> Rows {
        let mut wide = rows.clone();
        wide.widen();
        wide
    }

    fn is_narrow(rows: &Rows) -> bool {
        matches!(rows.storage, Storage::Single { .. })
    }

    #[test]
    fn values_have_32_bits_as_long_as_these_hold_them_all() {
        let exact = [1.0, -0.5, 0.0, -0.0, 16_777_216.0, 3e38_f32.into(), f32::MIN_POSITIVE.into()];
        let subnormal = f64::from(f32::from_bits(1));
        let mut rows = Rows::sparse();
        for x in exact.into_iter().chain([subnormal]) {
            rows.push_sparse(&[(0, x)]);
        }
        assert!(is_narrow(&rows));
        for (i, x) in exact.into_iter().chain([subnormal]).enumerate() {
            let (_, read) = rows.row(i).iter().next().unwrap();
            assert_eq!(read.to_bits(), x.to_bits(), "with the sign of a zero");
        }
        for x in
            [0.1, 16_777_217.0, 1e39, -1e300, 1e-46, subnormal / 2.0, f64::MAX, f64::MIN_POSITIVE]
        {
            let mut mixed = rows.clone();
            mixed.push_sparse(&[(1, 0.25), (2, x)]);
            assert!(!is_narrow(&mixed), "{x}");
            assert_eq!(mixed.row(rows.len()).get(2).to_bits(), x.to_bits());
            assert_eq!(mixed.select(0..rows.len()), {
                let mut first = rows.clone();
                first.fit_width(3);
                first
            });
        }
    }

    proptest! {
        #[test]
        fn nothing_depends_on_how_values_are_stored(
            cells in prop::collection::vec(prop::collection::btree_map(0_u32..9, -64_i16..64, 0..6), 1..6),
            dense in prop::collection::vec(-2.0..2.0_f64, 9),
            factors in prop::collection::vec(0.1..7.0_f64, 9),
        ) {
            let mut rows = Rows::sparse();
            for cells in &cells {
                let row: Vec<(u32, f64)> = cells.iter().map(|(&j, &x)| (j, f64::from(x) / 8.0)).collect();
                rows.push_sparse(&row);
            }
            rows.fit_width(9);
            let wide = wide(&rows);
            prop_assert!(is_narrow(&rows) && !is_narrow(&wide));
            prop_assert_eq!(&rows, &wide);
            for i in 0..rows.len() {
                let (a, b) = (rows.row(i), wide.row(i));
                prop_assert_eq!(a.norm1().to_bits(), b.norm1().to_bits());
                prop_assert_eq!(a.squared_norm().to_bits(), b.squared_norm().to_bits());
                prop_assert!(a.iter().eq(b.iter()));
                prop_assert!((0..9).all(|j| a.get(j) == b.get(j)));
                prop_assert_eq!(kernels::score(a, &dense).to_bits(), kernels::score(b, &dense).to_bits());
                let (mut scores, mut same) = ([0.25; 3], [0.25; 3]);
                let w: Vec<f64> = (0..27).map(|k| dense[k % 9] * (k as f64 + 0.3)).collect();
                kernels::add_scores(a, &w, &mut scores);
                kernels::add_scores(b, &w, &mut same);
                prop_assert_eq!(scores.map(f64::to_bits), same.map(f64::to_bits));
                let (mut v, mut u) = (w.clone(), w.clone());
                kernels::add_outer(a, &dense[..3], 0.7, &mut v);
                kernels::add_outer(b, &dense[..3], 0.7, &mut u);
                prop_assert_eq!(v, u);
                for j in 0..rows.len() {
                    let all = [(rows.row(j), a), (wide.row(j), a), (rows.row(j), b), (a, wide.row(j))];
                    let products = all.map(|(x, y)| x.dot(y).to_bits());
                    prop_assert_eq!(products, [wide.row(j).dot(b).to_bits(); 4]);
                }
                prop_assert_eq!(a.dot(Row::Dense(&dense)).to_bits(), b.dot(Row::Dense(&dense)).to_bits());
            }
            prop_assert_eq!(rows.divided(&factors), wide.divided(&factors));
            let (mut one, mut other) = (rows.clone(), wide.clone());
            one.divide_columns(&factors);
            prop_assert_eq!(&one, &wide.divided(&factors));
            (one, other) = (rows.clone(), other);
            one.append_constant();
            other.append_constant();
            prop_assert!(is_narrow(&one) && one == other);
            let mut by_row = Rows::sparse();
            for i in 0..rows.len() {
                let mut row: Vec<(u32, f64)> = rows.row(i).iter().map(|(j, x)| (j as u32, x)).collect();
                row.push((9, 1.0));
                by_row.push_sparse(&row);
            }
            prop_assert_eq!(&one, &by_row);
            prop_assert_eq!((one.width(), one.len()), (10, rows.len()));
            let order: Vec<usize> = (0..rows.len()).rev().chain([0]).collect();
            prop_assert_eq!(rows.select(order.iter().copied()), wide.select(order.iter().copied()));
        }
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
