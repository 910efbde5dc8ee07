//! A data matrix by columns, for steps along features.

use super::Rows;

/// A copy of the entries of [`Rows`], column by column.
///
/// ```
/// # use dualgap::linalg::{Columns, Rows};
/// let rows = Rows::dense(&[vec![1.0, 0.0], vec![2.0, 3.0]])?;
/// let columns = Columns::of(&rows);
/// assert_eq!((columns.column(0), columns.column(1)), (&[(0, 1.0), (1, 2.0)][..], &[(1, 3.0)][..]));
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Columns {
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

impl Columns {
    /// Returns the columns of these rows, without entries that are zero.
    pub fn of(rows: &Rows) -> Self {
        let mut starts = vec![0; rows.width() + 1];
        for i in 0..rows.len() {
            rows.row(i).for_each(|j, x| starts[j + 1] += usize::from(x != 0.0));
        }
        for j in 0..rows.width() {
            starts[j + 1] += starts[j];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); starts[rows.width()]];
        for i in 0..rows.len() {
            rows.row(i).for_each(|j, x| {
                if x != 0.0 {
                    entries[next[j]] = (i as u32, x);
                    next[j] += 1;
                }
            });
        }
        Self { starts, entries }
    }

    /// Returns the rows and values of the entries of a column, in ascending order of the row.
    #[inline]
    pub fn column(&self, j: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[j]..self.starts[j + 1]]
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
        self.entries.len()
    }
}
