//! A data matrix by columns, for steps along features.

use super::{Row, Rows};

/// Columns are stored with all their zeros if at least one entry in this many is not zero: then they need no indices, and
/// their sums have no indirection.
const DENSE: usize = 3;

/// So many columns of a dense matrix are copied at once: each is a stream of writes, and caches have room for so many.
const STREAMS: usize = 16;

/// A copy of the entries of [`Rows`], column by column.
///
/// ```
/// # use dualgap::linalg::{Columns, Rows};
/// let rows = Rows::dense(&[vec![1.0, 0.0], vec![2.0, 3.0]])?;
/// let columns = Columns::of(&rows);
/// assert_eq!((columns.column(0).get(1), columns.column(1).get(1)), (2.0, 3.0));
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Columns {
    starts: Vec<usize>,
    /// The rows of the entries; empty if all entries are stored.
    indices: Vec<u32>,
    values: Vec<f64>,
}

/// Whether so many nonzero entries of a matrix are worth storing its zeros.
fn is_full(nonzero: usize, rows: &Rows) -> bool {
    nonzero.saturating_mul(DENSE) >= rows.len().saturating_mul(rows.width())
}

impl Columns {
    /// Returns the columns of these rows; zeros are left out unless there are few.
    pub fn of(rows: &Rows) -> Self {
        let (height, width) = (rows.len(), rows.width());
        if let Some(values) = rows.dense_values()
            && is_full(values.iter().filter(|x| **x != 0.0).count(), rows)
        {
            return Self::dense(rows);
        }
        let mut starts = vec![0; width + 1];
        for i in 0..height {
            rows.row(i).for_each(|j, x| starts[j + 1] += usize::from(x != 0.0));
        }
        let count: usize = starts.iter().sum();
        if is_full(count, rows) {
            return Self::dense(rows);
        }
        for j in 0..width {
            starts[j + 1] += starts[j];
        }
        let mut next = starts.clone();
        let (mut indices, mut values) = (vec![0; count], vec![0.0; count]);
        for i in 0..height {
            rows.row(i).for_each(|j, x| {
                if x != 0.0 {
                    let at = next[j];
                    (indices[at], values[at]) = (i as u32, x);
                    next[j] += 1;
                }
            });
        }
        Self { starts, indices, values }
    }

    fn dense(rows: &Rows) -> Self {
        let (height, width) = (rows.len(), rows.width());
        let mut values = vec![0.0; height * width];
        if let Some(all) = rows.dense_values() {
            for first in (0..width).step_by(STREAMS) {
                for (i, row) in all.chunks_exact(width).enumerate() {
                    for (j, &x) in row.iter().enumerate().skip(first).take(STREAMS) {
                        values[j * height + i] = x;
                    }
                }
            }
        } else {
            for i in 0..height {
                rows.row(i).for_each(|j, x| values[j * height + i] = x);
            }
        }
        Self { starts: (0..=width).map(|j| j * height).collect(), indices: Vec::new(), values }
    }

    /// Returns the entries of a column by their rows, in ascending order.
    #[inline]
    pub fn column(&self, j: usize) -> Row<'_> {
        let range = self.starts[j]..self.starts[j + 1];
        if self.indices.is_empty() {
            return Row::Dense(&self.values[range]);
        }
        Row::Sparse { indices: &self.indices[range.clone()], values: &self.values[range] }
    }

    /// Whether columns are stored with all their zeros.
    pub fn is_dense(&self) -> bool {
        self.indices.is_empty() && !self.values.is_empty()
    }

    /// Returns the number of columns.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of stored entries.
    pub fn stored(&self) -> usize {
        self.values.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn columns_are_the_rows_by_columns(
            (height, width) in (0..40_usize, 1..40_usize),
            numbers in prop::collection::vec(-1.0..1.0_f64, 1600),
            zeros in 0.0..1.0_f64,
        ) {
            let value = |i: usize, j: usize| {
                let x = numbers[i * 40 + j];
                if x.abs() < zeros { 0.0 } else { x }
            };
            let all: Vec<Vec<f64>> =
                (0..height).map(|i| (0..width).map(|j| value(i, j)).collect()).collect();
            let mut sparse = Rows::sparse();
            for row in &all {
                let entries = row.iter().enumerate().filter(|(_, x)| **x != 0.0);
                sparse.push_sparse(&entries.map(|(j, &x)| (j as u32, x)).collect::<Vec<_>>());
            }
            sparse.fit_width(width);
            for rows in [Rows::dense(&all).unwrap(), sparse] {
                let columns = Columns::of(&rows);
                prop_assert_eq!(columns.len(), rows.width());
                for j in 0..rows.width() {
                    for i in 0..height {
                        prop_assert_eq!(columns.column(j).get(i), value(i, j));
                    }
                }
            }
        }
    }
}
