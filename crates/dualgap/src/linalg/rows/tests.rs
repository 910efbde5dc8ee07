//! Rows have the same entries and products however they are stored, and what is no matrix is refused.

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
fn full_long_rows_are_stored_with_their_zeros_and_others_are_not() {
    let stored = |width: u32, entries: u32, value: f64| {
        let mut rows = Rows::sparse();
        rows.push_sparse(&(0..entries).map(|j| (j, value)).collect::<Vec<_>>());
        rows.push_sparse(&[(width - 1, 2.0)]);
        let before = rows.clone();
        rows.densify_if_full();
        for i in 0..2 {
            let nonzero = rows.row(i).iter().filter(|(_, x)| *x != 0.0).collect::<Vec<_>>();
            assert_eq!(nonzero, before.row(i).iter().collect::<Vec<_>>());
        }
        rows.dense_values().is_some()
    };
    // 40 of 80 entries, 39 of them, and all of short rows; values of 32 and of 64 bits.
    for value in [1.5, 0.1] {
        assert!(stored(40, 39, value));
        assert!(!stored(40, 38, value) && !stored(31, 31, value));
    }
    // Nothing to divide by, and nothing to store.
    let mut none = Rows::sparse();
    none.densify_if_full();
    none.push_sparse(&[]);
    none.densify_if_full();
    assert_eq!((none.len(), none.stored()), (1, 0));
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

/// Whether values have 32 bits, or are not stored.
fn is_compact(rows: &Rows) -> bool {
    matches!(rows.storage, Storage::Single { .. } | Storage::Ones { .. })
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
    for x in [0.1, 16_777_217.0, 1e39, -1e300, 1e-46, subnormal / 2.0, f64::MAX, f64::MIN_POSITIVE]
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

#[test]
fn ones_are_not_stored_as_long_as_there_is_nothing_else() {
    let are_ones = |rows: &Rows| matches!(rows.storage, Storage::Ones { .. });
    let mut rows = Rows::sparse();
    rows.push_sparse(&[(0, 1.0), (2, 1.0)]);
    rows.push_sparse(&[]);
    assert!(are_ones(&rows) && are_ones(&rows.select([1, 0].into_iter())));
    for (x, narrow) in [(2.0, true), (0.0, true), (-1.0, true), (0.1, false)] {
        let mut mixed = rows.clone();
        mixed.push_sparse(&[(1, 1.0), (2, x)]);
        assert!(!are_ones(&mixed) && is_narrow(&mixed) == narrow, "{x}");
        let stored: Vec<(usize, f64)> = (0..3).flat_map(|i| mixed.row(i).iter()).collect();
        assert_eq!(stored, [(0, 1.0), (2, 1.0), (1, 1.0), (2, x)]);
        assert_eq!(mixed.select(0..2), rows);
    }
    assert!(are_ones(&Rows::identity(3)) && Rows::identity(3).row(2).get(2) == 1.0);
    // Columns from the second on, of a row that is cut into two.
    let (mut out, mut place) = ([9.0; 2], 1);
    rows.row(0).copy_columns(1, &mut place, &mut out);
    assert_eq!((out, place), ([0.0, 1.0], 2));
}

proptest! {
    #[test]
    fn nothing_depends_on_how_values_are_stored(
        cells in prop::collection::vec(prop::collection::btree_map(0_u32..9, -64_i16..64, 0..6), 1..6),
        dense in prop::collection::vec(-2.0..2.0_f64, 9),
        factors in prop::collection::vec(0.1..7.0_f64, 9),
        ones: bool,
    ) {
        let mut rows = Rows::sparse();
        for cells in &cells {
            let value = |x: i16| if ones { 1.0 } else { f64::from(x) / 8.0 };
            let row: Vec<(u32, f64)> = cells.iter().map(|(&j, &x)| (j, value(x))).collect();
            rows.push_sparse(&row);
        }
        rows.fit_width(9);
        let wide = wide(&rows);
        prop_assert!(is_compact(&rows) && !is_compact(&wide));
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
                let mut buffer = Vec::new();
                prop_assert!(a.widened(&mut buffer).iter().eq(b.iter()));
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
        prop_assert!(is_compact(&one) && one == other);
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
        (refused(&[0, 2, 1, 3], &[0, 1, 0], &[1.0; 3], 2), "row 1 starts at entry 2 and ends at 1"),
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
fn table(starts: &[usize], entries: &[(u32, i8)], width: usize) -> Option<Vec<Vec<Option<f64>>>> {
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
