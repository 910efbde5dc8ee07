//! The check of compressed sparse rows, done once.

use super::buffer::Buffer;
use crate::{Error, Result};

/// The largest width: indices have 32 bits, and one constant feature may follow the last column.
const WIDEST: usize = u32::MAX as usize;

pub(super) fn check_width(width: usize) -> Result<()> {
    if width <= WIDEST {
        return Ok(());
    }
    Err(Error::setting(format!("{width} columns are too many: there may be {WIDEST}")))
}

/// Returns an error if the arrays are not compressed sparse rows of this width. Otherwise returns the indices and
/// values with ascending indices in every row: the arrays themselves if they are sorted, else a sorted copy.
pub(super) fn checked(
    starts: &[usize],
    indices: Buffer<u32>,
    values: Buffer<f64>,
    width: usize,
) -> Result<(Buffer<u32>, Buffer<f64>)> {
    check_width(width)?;
    let (j, x) = (indices.as_slice(), values.as_slice());
    if j.len() != x.len() {
        return Err(Error::setting(format!(
            "there are {} indices and {} values: every entry has one of each",
            j.len(),
            x.len()
        )));
    }
    check_starts(starts, j.len())?;
    let rows = || starts.windows(2).map(|ends| ends[0]..ends[1]).enumerate();
    let mut sorted = true;
    for (i, range) in rows() {
        let row = &j[range];
        if let Some(index) = row.iter().find(|&&index| index as usize >= width) {
            return Err(Error::setting(format!(
                "row {i} has an entry in column {index}, and there are {width} columns, from 0 on"
            )));
        }
        sorted &= row.is_sorted_by(|a, b| a < b);
    }
    if sorted {
        return Ok((indices, values));
    }
    let (mut new_indices, mut new_values) = (j.to_vec(), x.to_vec());
    let mut row: Vec<(u32, f64)> = Vec::new();
    for (i, range) in rows() {
        row.clear();
        row.extend(j[range.clone()].iter().copied().zip(x[range.clone()].iter().copied()));
        row.sort_unstable_by_key(|&(index, _)| index);
        if let Some(pair) = row.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::setting(format!(
                "row {i} has two entries in column {}: add them up, or keep one of them",
                pair[0].0
            )));
        }
        for (place, &(index, value)) in range.zip(&row) {
            (new_indices[place], new_values[place]) = (index, value);
        }
    }
    Ok((new_indices.into(), new_values.into()))
}

pub(super) fn check_starts(starts: &[usize], entries: usize) -> Result<()> {
    let (Some(&first), Some(&last)) = (starts.first(), starts.last()) else {
        return Err(Error::setting(
            "rows have one start more than there are rows, and there is none at all",
        ));
    };
    if first != 0 {
        return Err(Error::setting(format!(
            "the first row starts at entry {first}: it must start at 0"
        )));
    }
    if let Some(i) = starts.windows(2).position(|ends| ends[0] > ends[1]) {
        return Err(Error::setting(format!(
            "row {i} starts at entry {} and ends at {}",
            starts[i],
            starts[i + 1]
        )));
    }
    if last != entries {
        return Err(Error::setting(format!(
            "the last row ends at entry {last}, and there are {entries} entries"
        )));
    }
    Ok(())
}
