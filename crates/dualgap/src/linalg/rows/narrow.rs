//! Columns without entries, as most of those of hashed features and of a part of a collection of texts are: rows without them.

use super::{Rows, Storage};
use crate::linalg::buffer::Owner;
use std::sync::Arc;

/// Vectors of fewer numbers are in the nearest cache, and nothing is gained by shorter ones.
const LEAST: usize = 1 << 12;

/// Vectors of all weights matter only where there is a column for so many entries at least.
const ENTRIES: usize = 8;

/// Renumbering takes as long as a pass or two, so at most one in so many columns is left.
const LEFT: usize = 2;

/// A table of all columns is used where there are at most so many for an entry; else the numbers that occur are sorted.
const TABLE: usize = 64;

impl Rows {
    /// Returns these rows without the columns that have no entries, and the columns that are left, if they are so few that a run
    /// gains by it. Dense rows and mapped ones stay as they are.
    pub(crate) fn narrowed(&self) -> Option<(Vec<u32>, Self)> {
        let indices = match &self.storage {
            Storage::Sparse { indices, .. }
            | Storage::Single { indices, .. }
            | Storage::Ones { indices, .. } => indices.as_slice(),
            Storage::SharedSparse { indices, .. } => indices.as_slice(),
            Storage::Dense { .. } | Storage::SharedDense { .. } | Storage::Mapped(_) => {
                return None;
            }
        };
        if self.width < LEAST || self.width.saturating_mul(ENTRIES) <= indices.len() {
            return None;
        }
        let (columns, indices) = renumbered(indices, self.width)?;
        let indices = Arc::new(indices);
        let storage = match &self.storage {
            Storage::Sparse { starts, values, .. } => {
                Storage::Sparse { starts: starts.clone(), indices, values: values.clone() }
            }
            Storage::Single { starts, values, .. } => {
                Storage::Single { starts: starts.clone(), indices, values: values.clone() }
            }
            Storage::Ones { starts, .. } => Storage::Ones { starts: starts.clone(), indices },
            Storage::SharedSparse { starts, values, .. } => Storage::SharedSparse {
                starts: starts.clone(),
                indices: Owner::Vector(indices),
                values: values.clone(),
            },
            Storage::Dense { .. } | Storage::SharedDense { .. } | Storage::Mapped(_) => {
                return None;
            }
        };
        let width = columns.len();
        Some((columns, Self { width, storage }))
    }
}

/// Returns the columns that occur among the indices, in ascending order, and the place of every index among them; nothing if too many
/// of them do, or none.
fn renumbered(indices: &[u32], width: usize) -> Option<(Vec<u32>, Vec<u32>)> {
    let are_few = |columns: usize| (1..=width / LEFT).contains(&columns);
    if width > TABLE * indices.len() {
        let mut columns = indices.to_vec();
        columns.sort_unstable();
        columns.dedup();
        let place = |j: &u32| columns.partition_point(|column| column < j) as u32;
        let places = indices.iter().map(place).collect();
        return are_few(columns.len()).then_some((columns, places));
    }
    let mut table = vec![0_u32; width];
    indices.iter().for_each(|&j| table[j as usize] = 1);
    let count = table.iter().sum::<u32>() as usize;
    if !are_few(count) {
        return None;
    }
    // Without a branch, which would be wrong for every column that occurs: each is written, and stays if it does. The spare place is
    // for those that follow the last one.
    let (mut columns, mut place) = (vec![0; count + 1], 0);
    for (j, occurs) in (0..).zip(&mut table) {
        columns[place as usize] = j;
        place += std::mem::replace(occurs, place);
    }
    columns.truncate(count);
    let places = indices.iter().map(|&j| table[j as usize]).collect();
    Some((columns, places))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn narrowed_rows_have_the_same_entries_in_columns_that_occur(
            rows in prop::collection::vec(prop::collection::btree_map(0_u32..5000, 1..5_i32, 1..200), 1..9),
            wide in prop_oneof![Just(5000), Just(1_000_000)],
            halves in any::<bool>(),
            shared in any::<bool>(),
        ) {
            let mut all = Rows::sparse();
            for row in &rows {
                // Some matrices have ones alone, some values of 32 bits, some of 64.
                let value = |x: i32| if halves { f64::from(x) / 3.0 } else { f64::from(x.min(1)) };
                all.push_sparse(&row.iter().map(|(&j, &x)| (j, value(x))).collect::<Vec<_>>());
            }
            all.fit_width(wide);
            if shared {
                let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
                for i in 0..all.len() {
                    all.row(i).for_each(|j, x| {
                        indices.push(j as u32);
                        values.push(x);
                    });
                    starts.push(indices.len());
                }
                all = Rows::from_csr(Arc::new(starts), Arc::new(indices), Arc::new(values), wide).unwrap();
            }
            let occur: std::collections::BTreeSet<u32> = rows.iter().flat_map(|row| row.keys().copied()).collect();
            let (columns, narrow) = all.narrowed().unwrap();
            prop_assert_eq!(&columns, &occur.into_iter().collect::<Vec<_>>());
            prop_assert_eq!((narrow.len(), narrow.width()), (all.len(), columns.len()));
            for i in 0..all.len() {
                let widened = narrow.row(i).iter().map(|(j, x)| (columns[j] as usize, x));
                prop_assert!(all.row(i).iter().eq(widened));
            }
        }
    }

    #[test]
    fn rows_whose_columns_occur_stay_as_they_are() {
        let mut rows = Rows::sparse();
        (0..5000).for_each(|j| rows.push_sparse(&[(j, 1.0)]));
        assert!(rows.narrowed().is_none());
        rows.fit_width(10_000);
        assert_eq!(rows.narrowed().unwrap().1.width(), 5000);
        let mut none = Rows::sparse();
        none.push_sparse(&[]);
        none.fit_width(10_000);
        assert!(none.narrowed().is_none());
        assert!(Rows::dense(&[vec![0.0, 1.0, 0.0, 0.0]]).unwrap().narrowed().is_none());
    }
}
