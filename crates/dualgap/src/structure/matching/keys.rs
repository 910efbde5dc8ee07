//! The keys of a matching's point: its edges, and what stays free.
//!
//! A row that stays free has an edge to a column [`FREE`] of its own, and likewise a column. So every row and every column
//! of a matching has exactly one key, and the weights of a row's keys add up to one in every mixture of matchings. How
//! much a row can be left free is then a weight like any other, and never a difference of rounded numbers.

use crate::linalg::Assignment;

/// Stands for the partner of what stays free.
pub(super) const FREE: u32 = u32::MAX;

/// `row << 32 | column`, so that keys ascend with the row, and those of free columns come last.
pub(super) fn key_of(row: u32, column: u32) -> u64 {
    u64::from(row) << 32 | u64::from(column)
}

/// Returns the row and the column of a key.
pub(super) fn ends_of(key: u64) -> (u32, u32) {
    ((key >> 32) as u32, key as u32)
}

/// Whether a key is that of an edge, and of nothing that stays free.
pub(super) fn is_edge(key: u64) -> bool {
    let (row, column) = ends_of(key);
    row != FREE && column != FREE
}

/// Writes the keys of a matching, given by the column of each row and the row of each column.
pub(super) fn write_keys(
    (rows, columns): (usize, usize),
    column_of: impl Fn(usize) -> Option<usize>,
    row_of: impl Fn(usize) -> Option<usize>,
    keys: &mut Vec<u64>,
) {
    keys.clear();
    let of_row = |row| key_of(row as u32, column_of(row).map_or(FREE, |column| column as u32));
    keys.extend((0..rows).map(of_row));
    let free = (0..columns).filter(|&column| row_of(column).is_none());
    keys.extend(free.map(|column| key_of(FREE, column as u32)));
}

/// Writes the keys of a solved assignment.
pub(super) fn write_assigned(size: (usize, usize), solved: &Assignment, keys: &mut Vec<u64>) {
    write_keys(size, |row| solved.column_of(row), |column| solved.row_of(column), keys);
}
