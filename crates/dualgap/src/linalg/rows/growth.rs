//! Matrices that grow, row by row.

use super::{Rows, Storage, is_single};
use crate::Result;
use crate::linalg::memory;

impl Rows {
    /// Stores all values of sparse rows in 64 bits.
    pub(super) fn widen(&mut self) {
        if let Storage::Single { starts, indices, values } = &mut self.storage {
            let values = std::mem::take(values).into_iter().map(f64::from).collect();
            let (starts, indices) = (std::mem::take(starts), std::mem::take(indices));
            self.storage = Storage::Sparse { starts, indices, values };
        }
    }

    /// Appends a sparse row.
    ///
    /// # Panics
    /// If the rows are dense, or if the indices do not ascend.
    pub fn push_sparse(&mut self, row: &[(u32, f64)]) {
        assert!(row.windows(2).all(|pair| pair[0].0 < pair[1].0), "indices must ascend");
        self.owned();
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

    /// Reserves memory for this many rows and entries in all, and no more, or returns an error if there is none.
    pub(crate) fn reserve_exact(&mut self, rows: usize, entries: usize) -> Result<()> {
        let made = match &mut self.storage {
            Storage::Sparse { starts, indices, values } => starts
                .try_reserve_exact(rows)
                .and_then(|()| indices.try_reserve_exact(entries))
                .and_then(|()| values.try_reserve_exact(entries)),
            Storage::Single { starts, indices, values } => starts
                .try_reserve_exact(rows)
                .and_then(|()| indices.try_reserve_exact(entries))
                .and_then(|()| values.try_reserve_exact(entries)),
            Storage::Dense { .. }
            | Storage::SharedSparse { .. }
            | Storage::SharedDense { .. }
            | Storage::Mapped(_) => Ok(()),
        };
        made.map_err(|_| memory::short_of("there is no room for all rows of the data"))
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
            Storage::SharedSparse { .. } | Storage::SharedDense { .. } | Storage::Mapped(_) => {
                Ok(())
            }
        };
        made.map_err(|_| memory::short_of("there is no room for all rows of the data"))
    }
}
