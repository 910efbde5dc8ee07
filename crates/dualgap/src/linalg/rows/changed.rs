//! Matrices that are made of others: some of their rows, one more column, other units, another width.

use super::{Parts, Row, Rows, Storage};
use crate::Result;
use std::sync::Arc;

/// Rows are full if at least one in so many entries is not zero. A dense entry takes a quarter of the time of a sparse one, because
/// several are multiplied at once, and at this share 8 bytes of memory in the place of 4 or 6.
const FULL: usize = 2;

/// Shorter rows gain little: those of 13 and of 22 columns a tenth of a run's time, for weights that are no longer those of the same
/// rows in arrays of others to the last bit.
const WIDE: usize = 32;

impl Rows {
    /// Stores long rows that are full with their zeros. Those in arrays of others stay as they are, and so do all if there is no memory.
    ///
    /// ```
    /// # use dualgap::linalg::Rows;
    /// let entries: Vec<(u32, f64)> = (0..40).map(|j| (j, 2.5)).collect();
    /// let mut rows = Rows::sparse();
    /// rows.push_sparse(&entries);
    /// rows.densify_if_full();
    /// assert_eq!(rows.dense_values(), Some(&[2.5; 40][..]));
    /// ```
    pub fn densify_if_full(&mut self) {
        let (len, width) = (self.len(), self.width);
        if !matches!(
            self.storage,
            Storage::Sparse { .. } | Storage::Single { .. } | Storage::Ones { .. }
        ) {
            return;
        }
        let mut values = Vec::new();
        match len.checked_mul(width) {
            Some(entries)
                if entries > 0
                    && width >= WIDE
                    && self.stored() >= entries.div_ceil(FULL)
                    && values.try_reserve_exact(entries).is_ok() =>
            {
                values.resize(entries, 0.0);
            }
            _ => return,
        }
        for (i, values) in values.chunks_exact_mut(width).enumerate() {
            self.row(i).for_each(|j, x| values[j] = x);
        }
        self.storage = Storage::Dense { len, values };
    }

    /// Returns the given rows in the given order, as a matrix of the same width.
    #[must_use]
    pub fn select(&self, rows: impl Iterator<Item = usize>) -> Self {
        let width = self.width;
        if let Storage::Mapped(mapped) = &self.storage {
            return Self { width, storage: Storage::Mapped(mapped.select(rows)) };
        }
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
                Row::Ones { .. } | Row::Dense(_) => {}
            }
            indices.extend_from_slice(self.row(i).indices().unwrap_or_default());
            starts.push(indices.len());
        }
        let (starts, indices) = (starts.into(), indices.into());
        let storage = match self.parts() {
            Parts::Single { .. } => Storage::Single { starts, indices, values: single.into() },
            Parts::Ones { .. } => Storage::Ones { starts, indices },
            _ => Storage::Sparse { starts, indices, values: wide.into() },
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
        if let Storage::Mapped(rows) = &mut self.storage
            && rows.append_constant(last as usize)
        {
            self.width += 1;
            return;
        }
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
            Storage::Ones { starts, indices } => {
                append_to_rows(starts, indices, last);
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
        self.owned();
        self.widen();
        match self.owned() {
            Storage::Sparse { indices, values, .. } => {
                let entries = Arc::make_mut(values).iter_mut().zip(&**indices);
                entries.for_each(|(x, j)| *x /= factors[*j as usize]);
            }
            Storage::Dense { values, .. } => {
                for row in values.chunks_exact_mut(width.max(1)) {
                    row.iter_mut().zip(factors).for_each(|(x, factor)| *x /= factor);
                }
            }
            // Wide and owned by now.
            Storage::Single { .. }
            | Storage::Ones { .. }
            | Storage::SharedSparse { .. }
            | Storage::SharedDense { .. }
            | Storage::Mapped(_) => {}
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
        let divided = |(&x, &j): (&f32, &u32)| f64::from(x) / factors[j as usize];
        let values = Arc::new(values.iter().zip(&**indices).map(divided).collect());
        let (starts, indices) = (starts.clone(), indices.clone());
        Self { width: self.width, storage: Storage::Sparse { starts, indices, values } }
    }

    /// Returns these rows with other numbers for their columns, and without the columns that have none.
    pub(crate) fn renumbered(&self, numbers: &[Option<u32>], width: usize) -> Result<Self> {
        let (mut renumbered, mut row) = (Self::sparse(), Vec::new());
        for i in 0..self.len() {
            row.clear();
            let known =
                self.row(i).iter().filter_map(|(j, x)| Some((numbers.get(j).copied()??, x)));
            row.extend(known);
            row.sort_unstable_by_key(|&(j, _)| j);
            renumbered.try_reserve(row.len())?;
            renumbered.push_sparse(&row);
        }
        renumbered.fit_width(width);
        Ok(renumbered)
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
fn append_to_rows<T: Copy>(starts: &[usize], numbers: &mut Arc<Vec<T>>, last: T) {
    let numbers = Arc::make_mut(numbers);
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
fn shift(starts: &mut Arc<Vec<usize>>) {
    Arc::make_mut(starts).iter_mut().enumerate().for_each(|(i, start)| *start += i);
}
