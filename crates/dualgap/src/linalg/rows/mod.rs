//! Rows of a data matrix, sparse or dense, behind one interface.
//!
//! Indices have 32 bits. Values have 64, or 32 as long as all of them are exact in 32 bits, as counts and most
//! measured numbers of few digits are: the data enter the certificate, so storing them must not round. As long as all of them are
//! one, as those of words and other features that are there or not, there are no values.

mod changed;
mod growth;
mod mapped;
mod narrow;
mod neighbours;

pub(crate) use mapped::Values;

use super::buffer::{Buffer, Kept, Owner};
use super::{Row, csr};
use crate::{Error, Result};
use dualgap_map::{Array, fetch};
use mapped::Mapped;
use std::sync::Arc;

/// Matrices of more bytes than this do not stay in the cache of a core.
const CACHE: usize = 1 << 20;

/// Fewer rows than this are few: they are not far from each other, and an order in chunks would not mix them. Of 2,000 texts it took 28
/// passes where a permutation took 20; of 32,561 rows both take the same.
const MANY: usize = 1 << 13;

/// Mapped matrices of more bytes than this are read in long stretches. Smaller ones stay in memory once they are read.
const LARGE: usize = 1 << 26;

/// In a matrix with longer rows on average, in bytes, the order of the rows makes little difference.
const SHORT: usize = 2048;

/// The place of a row that comes so many rows later is asked for with a row: two cache lines of places further on, so that it is there
/// by then.
const SOON: usize = 16;

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

/// Sparse matrices share what they have in common, such as the values of a matrix and of the same one with other numbers for its
/// columns; an array is copied when it is changed.
#[derive(Clone)]
enum Storage {
    /// Row `i` is at `starts[i]..starts[i + 1]`, its indices ascend, and all are below the width.
    Sparse {
        starts: Arc<Vec<usize>>,
        indices: Arc<Vec<u32>>,
        values: Arc<Vec<f64>>,
    },
    /// The same with values that are exact in 32 bits.
    Single {
        starts: Arc<Vec<usize>>,
        indices: Arc<Vec<u32>>,
        values: Arc<Vec<f32>>,
    },
    /// The same with the value one everywhere.
    Ones {
        starts: Arc<Vec<usize>>,
        indices: Arc<Vec<u32>>,
    },
    /// Row-major, `len · width` numbers.
    Dense {
        len: usize,
        values: Vec<f64>,
    },
    /// Sparse and dense rows, in shared arrays.
    SharedSparse {
        starts: Owner<usize>,
        indices: Owner<u32>,
        values: Owner<f64>,
    },
    SharedDense {
        len: usize,
        values: Owner<f64>,
    },
    /// Sparse rows in a mapped file.
    Mapped(Mapped),
}

impl Storage {
    /// Returns mapped rows, copied into memory.
    fn of_mapped(rows: &Mapped) -> Self {
        let (mut starts, mut indices) = (vec![0], Vec::with_capacity(rows.stored()));
        let (mut wide, mut single) = (Vec::new(), Vec::new());
        for i in 0..rows.len() {
            match rows.row(i) {
                Row::Sparse { values, .. } | Row::Dense(values) => wide.extend_from_slice(values),
                Row::Single { values, .. } => single.extend_from_slice(values),
                Row::Ones { indices } => single.resize(single.len() + indices.len(), 1.0),
            }
            indices.extend_from_slice(rows.row(i).indices().unwrap_or_default());
            starts.push(indices.len());
        }
        let (starts, indices) = (starts.into(), indices.into());
        if single.is_empty() {
            Self::Sparse { starts, indices, values: wide.into() }
        } else {
            Self::Single { starts, indices, values: single.into() }
        }
    }
}

/// The arrays of a matrix, owned or shared.
#[derive(Clone, Copy)]
enum Parts<'a> {
    Sparse { starts: &'a [usize], indices: &'a [u32], values: &'a [f64] },
    Single { starts: &'a [usize], indices: &'a [u32], values: &'a [f32] },
    Ones { starts: &'a [usize], indices: &'a [u32] },
    Dense { len: usize, values: &'a [f64] },
    Mapped(&'a Mapped),
}

/// Whether 32 bits hold a number, to the last bit and with its sign.
#[inline]
pub(crate) fn is_single(x: f64) -> bool {
    f64::from(x as f32).to_bits() == x.to_bits()
}

/// Two matrices are equal if both are sparse or both are dense, with the same entries.
impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        let same = match (self.parts(), other.parts()) {
            (Parts::Dense { len, values }, Parts::Dense { len: n, values: x }) => {
                len == n && values == x
            }
            (Parts::Dense { .. }, _) | (_, Parts::Dense { .. }) => false,
            _ => {
                let mut rows = (0..self.len()).map(|i| (self.row(i), other.row(i)));
                self.len() == other.len() && rows.all(|(a, b)| a.iter().eq(b.iter()))
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
        Self {
            width: 0,
            storage: Storage::Ones { starts: vec![0].into(), indices: Arc::default() },
        }
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
            ) => Storage::Sparse {
                starts: starts.into(),
                indices: indices.into(),
                values: values.into(),
            },
            (starts, indices, values) => Storage::SharedSparse {
                starts: starts.into_owner(),
                indices: indices.into_owner(),
                values: values.into_owner(),
            },
        };
        Ok(Self { width, storage })
    }

    /// Returns rows of this many features in a mapped file, read in place; every row ends with a spare entry, see `mapped`.
    pub(crate) fn mapped(
        starts: Array<usize>,
        indices: Array<u32>,
        values: Values,
        width: usize,
    ) -> Result<Self> {
        let rows = Mapped::new(starts, indices, values, width)?;
        Ok(Self { width, storage: Storage::Mapped(rows) })
    }

    /// Whether the rows are in a mapped file: they may be more than the memory holds.
    ///
    /// ```
    /// assert!(!dualgap::linalg::Rows::sparse().are_mapped());
    /// ```
    pub fn are_mapped(&self) -> bool {
        matches!(self.storage, Storage::Mapped(_))
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
            Storage::Ones { starts, indices } => Parts::Ones { starts, indices },
            Storage::Dense { len, values } => Parts::Dense { len: *len, values },
            Storage::SharedSparse { starts, indices, values } => Parts::Sparse {
                starts: starts.as_slice(),
                indices: indices.as_slice(),
                values: values.as_slice(),
            },
            Storage::SharedDense { len, values } => {
                Parts::Dense { len: *len, values: values.as_slice() }
            }
            Storage::Mapped(rows) => Parts::Mapped(rows),
        }
    }

    /// Returns the storage for changes; shared and mapped arrays are copied first.
    fn owned(&mut self) -> &mut Storage {
        let copy = match &self.storage {
            Storage::SharedSparse { starts, indices, values } => Some(Storage::Sparse {
                starts: starts.as_slice().to_vec().into(),
                indices: indices.as_slice().to_vec().into(),
                values: values.as_slice().to_vec().into(),
            }),
            Storage::SharedDense { len, values } => {
                Some(Storage::Dense { len: *len, values: values.as_slice().to_vec() })
            }
            Storage::Mapped(rows) => Some(Storage::of_mapped(rows)),
            Storage::Sparse { .. }
            | Storage::Single { .. }
            | Storage::Ones { .. }
            | Storage::Dense { .. } => None,
        };
        if let Some(copy) = copy {
            self.storage = copy;
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
            Parts::Sparse { .. } | Parts::Single { .. } | Parts::Ones { .. } | Parts::Mapped(_) => {
                None
            }
        }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        match self.parts() {
            Parts::Sparse { starts, .. }
            | Parts::Single { starts, .. }
            | Parts::Ones { starts, .. } => starts.len() - 1,
            Parts::Dense { len, .. } => len,
            Parts::Mapped(rows) => rows.len(),
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
            Parts::Ones { indices, .. } => indices.len(),
            Parts::Mapped(rows) => rows.stored(),
        }
    }

    /// Whether the rows are in a mapped file that memory may not hold.
    pub(crate) fn are_large_and_mapped(&self) -> bool {
        matches!(self.parts(), Parts::Mapped(rows) if rows.stored() * rows.entry() > LARGE)
    }

    /// Whether reading rows in a random order waits for memory: they do not fit the cache, and each of them is short, or they
    /// come from a file, which is read best in the order that it has.
    pub(crate) fn are_many_and_short(&self) -> bool {
        let entry = match self.parts() {
            Parts::Ones { .. } => 4,
            Parts::Dense { .. } | Parts::Single { .. } => 8,
            Parts::Sparse { .. } => 12,
            Parts::Mapped(rows) => rows.entry(),
        };
        let bytes = self.stored().saturating_mul(entry);
        let many = self.len() >= MANY && bytes < self.len().saturating_mul(SHORT);
        bytes > CACHE && (many || self.are_mapped())
    }

    /// Returns row `i`. Always inlined: a visit of a short row takes as long as a few calls.
    #[inline(always)]
    #[allow(clippy::inline_always)]
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
            Storage::Ones { starts, indices } => {
                Row::Ones { indices: &indices[starts[i]..starts[i + 1]] }
            }
            Storage::Dense { values, .. } => {
                Row::Dense(&values[i * self.width..(i + 1) * self.width])
            }
            Storage::SharedSparse { .. } | Storage::SharedDense { .. } | Storage::Mapped(_) => {
                self.shared_row(i)
            }
        }
    }

    /// Asks for row `i` ahead of its use, and for the places where rows begin that come soon after it: a row can only be asked for
    /// once its place is known.
    #[inline]
    pub(crate) fn fetch(&self, i: usize) {
        if let Storage::Sparse { starts, .. }
        | Storage::Single { starts, .. }
        | Storage::Ones { starts, .. } = &self.storage
        {
            starts.get(i + SOON).into_iter().for_each(fetch);
        }
        self.row(i).fetch();
    }

    #[inline(never)]
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
            Parts::Ones { starts, indices } => {
                Row::Ones { indices: &indices[starts[i]..starts[i + 1]] }
            }
            Parts::Dense { values, .. } => {
                Row::Dense(&values[i * self.width..(i + 1) * self.width])
            }
            Parts::Mapped(rows) => rows.row(i),
        }
    }

    /// Returns the identity matrix: row i has a one at i.
    pub(crate) fn identity(count: usize) -> Self {
        let (starts, indices): (Vec<_>, Vec<_>) =
            ((0..=count).collect(), (0..count).map(|i| i as u32).collect());
        let storage = Storage::Ones { starts: starts.into(), indices: indices.into() };
        Self { width: count, storage }
    }
}

#[cfg(test)]
mod tests;
