//! Matrices that grow, row by row.

use super::{Rows, Storage, is_single};
use crate::linalg::memory;
use crate::{Error, Result};
use std::collections::TryReserveError;
use std::sync::Arc;

impl Rows {
    /// Stores all values of sparse rows in 64 bits.
    pub(super) fn widen(&mut self) {
        let taken = match &mut self.storage {
            Storage::Single { starts, indices, values } => {
                (starts, indices, values.iter().copied().map(f64::from).collect())
            }
            Storage::Ones { starts, indices } => {
                let values = as_many(indices);
                (starts, indices, values)
            }
            _ => return,
        };
        let (starts, indices) = (std::mem::take(taken.0), std::mem::take(taken.1));
        self.storage = Storage::Sparse { starts, indices, values: Arc::new(taken.2) };
    }

    /// Stores all values of sparse rows, in 32 bits if all of them are one.
    fn store_values(&mut self) {
        if let Storage::Ones { starts, indices } = &mut self.storage {
            let values = Arc::new(as_many(indices));
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
                Arc::make_mut(values).extend(row.iter().map(|&(_, x)| x));
                (starts, indices)
            }
            Storage::Single { starts, indices, values } => {
                Arc::make_mut(values).extend(row.iter().map(|&(_, x)| x as f32));
                (starts, indices)
            }
            Storage::Ones { starts, indices } => (starts, indices),
            _ => panic!("a sparse row among dense ones"),
        };
        let indices = Arc::make_mut(indices);
        indices.extend(row.iter().map(|&(j, _)| j));
        Arc::make_mut(starts).push(indices.len());
        if let Some(&(j, _)) = row.last() {
            self.width = self.width.max(j as usize + 1);
        }
    }

    /// Appends sparse rows to sparse rows, or returns an error if there is no memory for them.
    pub(crate) fn append(&mut self, later: &Self) -> Result<()> {
        match &later.storage {
            Storage::Sparse { .. } => self.widen(),
            Storage::Single { .. } => self.store_values(),
            _ => {}
        }
        self.reserve(later.len(), later.stored())?;
        let (starts, indices) = match &mut self.storage {
            Storage::Sparse { starts, indices, values } => {
                let values = Arc::make_mut(values);
                match &later.storage {
                    Storage::Sparse { values: more, .. } => values.extend_from_slice(more),
                    Storage::Single { values: more, .. } => {
                        values.extend(more.iter().map(|&x| f64::from(x)));
                    }
                    _ => values.resize(values.len() + later.stored(), 1.0),
                }
                (starts, indices)
            }
            Storage::Single { starts, indices, values } => {
                let values = Arc::make_mut(values);
                match &later.storage {
                    Storage::Single { values: more, .. } => values.extend_from_slice(more),
                    _ => values.resize(values.len() + later.stored(), 1.0),
                }
                (starts, indices)
            }
            Storage::Ones { starts, indices } => (starts, indices),
            _ => return Err(Error::setting("sparse rows among dense ones")),
        };
        let (Storage::Sparse { starts: ends, indices: columns, .. }
        | Storage::Single { starts: ends, indices: columns, .. }
        | Storage::Ones { starts: ends, indices: columns }) = &later.storage
        else {
            return Err(Error::setting("dense rows among sparse ones"));
        };
        let indices = Arc::make_mut(indices);
        let before = indices.len();
        Arc::make_mut(starts).extend(ends[1..].iter().map(|end| before + end));
        indices.extend_from_slice(columns);
        self.width = self.width.max(later.width);
        Ok(())
    }

    /// Reserves memory for this many rows and entries in all, and no more, or returns an error if there is none.
    pub(crate) fn reserve_exact(&mut self, rows: usize, entries: usize) -> Result<()> {
        let made = match &mut self.storage {
            Storage::Sparse { starts, indices, values } => exactly(starts, rows)
                .and_then(|()| exactly(indices, entries))
                .and_then(|()| exactly(values, entries)),
            Storage::Single { starts, indices, values } => exactly(starts, rows)
                .and_then(|()| exactly(indices, entries))
                .and_then(|()| exactly(values, entries)),
            Storage::Ones { starts, indices } => {
                exactly(starts, rows).and_then(|()| exactly(indices, entries))
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
        self.reserve(1, entries)
    }

    fn reserve(&mut self, rows: usize, entries: usize) -> Result<()> {
        let made = match &mut self.storage {
            Storage::Sparse { starts, indices, values } => more(starts, rows)
                .and_then(|()| more(indices, entries))
                .and_then(|()| more(values, entries)),
            Storage::Single { starts, indices, values } => more(starts, rows)
                .and_then(|()| more(indices, entries))
                .and_then(|()| more(values, entries)),
            Storage::Ones { starts, indices } => {
                more(starts, rows).and_then(|()| more(indices, entries))
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

fn exactly<T: Clone>(array: &mut Arc<Vec<T>>, more: usize) -> Result<(), TryReserveError> {
    Arc::make_mut(array).try_reserve_exact(more)
}

fn more<T: Clone>(array: &mut Arc<Vec<T>>, more: usize) -> Result<(), TryReserveError> {
    Arc::make_mut(array).try_reserve(more)
}

/// Returns a one for every index, with room for as many as the indices have.
fn as_many<X: Copy + From<u8>>(indices: &Vec<u32>) -> Vec<X> {
    let mut values = Vec::with_capacity(indices.capacity());
    values.resize(indices.len(), X::from(1));
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Rows of ones, of values of 32 bits, or of any: each is stored in its own way.
    fn any_rows() -> impl Strategy<Value = Vec<Vec<(u32, f64)>>> {
        let row = |values: Vec<f64>| {
            prop::collection::btree_map(0_u32..9, prop::sample::select(values), 0..4)
                .prop_map(|row| row.into_iter().collect())
        };
        let rows =
            prop_oneof![Just(vec![1.0]), Just(vec![1.0, 0.5, -0.0]), Just(vec![1.0, 0.5, 0.1]),];
        rows.prop_flat_map(move |values| prop::collection::vec(row(values), 0..4))
    }

    fn pushed<'r>(rows: impl Iterator<Item = &'r Vec<(u32, f64)>>) -> Rows {
        let mut all = Rows::sparse();
        rows.for_each(|row| all.push_sparse(row));
        all
    }

    proptest! {
        #[test]
        fn appended_rows_are_those_that_are_pushed_one_by_one(parts in prop::collection::vec(any_rows(), 1..4)) {
            let mut all = Rows::sparse();
            for part in &parts {
                all.append(&pushed(part.iter())).unwrap();
            }
            let expected = pushed(parts.iter().flatten());
            prop_assert_eq!((&all, all.stored()), (&expected, expected.stored()));
            let same = std::mem::discriminant(&all.storage) == std::mem::discriminant(&expected.storage);
            prop_assert!(same, "as narrow as values allow");
        }
    }

    #[test]
    fn dense_and_sparse_rows_do_not_mix() {
        let (dense, sparse) = (Rows::dense(&[vec![1.0]]).unwrap(), Rows::sparse());
        assert!(dense.clone().append(&sparse).is_err() && sparse.clone().append(&dense).is_err());
    }
}
