//! Matrices that grow, row by row.

use super::{Rows, Storage, is_single};
use crate::Result;
use crate::linalg::memory;

impl Rows {
    /// Stores all values of sparse rows in 64 bits.
    pub(super) fn widen(&mut self) {
        let taken = match &mut self.storage {
            Storage::Single { starts, indices, values } => {
                (starts, indices, std::mem::take(values).into_iter().map(f64::from).collect())
            }
            Storage::Ones { starts, indices } => {
                let values = as_many(indices);
                (starts, indices, values)
            }
            _ => return,
        };
        let (starts, indices) = (std::mem::take(taken.0), std::mem::take(taken.1));
        self.storage = Storage::Sparse { starts, indices, values: taken.2 };
    }

    /// Stores all values of sparse rows, in 32 bits if all of them are one.
    fn store_values(&mut self) {
        if let Storage::Ones { starts, indices } = &mut self.storage {
            let values = as_many(indices);
            let (starts, indices) = (std::mem::take(starts), std::mem::take(indices));
            self.storage = Storage::Single { starts, indices, values };
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
        } else if row.iter().any(|&(_, x)| x.to_bits() != 1.0_f64.to_bits()) {
            self.store_values();
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
            Storage::Ones { starts, indices } => (starts, indices),
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
            Storage::Ones { starts, indices } => {
                starts.try_reserve_exact(rows).and_then(|()| indices.try_reserve_exact(entries))
            }
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
            Storage::Ones { starts, indices } => {
                starts.try_reserve(1).and_then(|()| indices.try_reserve(entries))
            }
            Storage::Dense { values, .. } => values.try_reserve(entries),
            // Shared arrays never grow.
            Storage::SharedSparse { .. } | Storage::SharedDense { .. } | Storage::Mapped(_) => {
                Ok(())
            }
        };
        made.map_err(|_| memory::short_of("there is no room for all rows of the data"))
    }
}

/// Returns a one for every index, with room for as many as the indices have.
fn as_many<X: Copy + From<u8>>(indices: &Vec<u32>) -> Vec<X> {
    let mut values = Vec::with_capacity(indices.capacity());
    values.resize(indices.len(), X::from(1));
    values
}
