//! The edges of a chain as keys: a position, its label, and the label that comes next.

use crate::structure::chain::Label;

/// Marks the end of the sequence, in place of the next label.
pub(super) const END: Label = Label::MAX;

/// `t << 32 | y << 16 | y'`, so that keys ascend with the position.
pub(super) fn edge_key(t: usize, y: Label, next: Label) -> u64 {
    (t as u64) << 32 | u64::from(y) << 16 | u64::from(next)
}

pub(super) fn edge_of(key: u64) -> (usize, Label, Label) {
    ((key >> 32) as usize, (key >> 16) as Label, key as Label)
}

/// Returns the keys of the edges that a labeling passes through.
pub(super) fn keys_of(path: &[Label]) -> impl Iterator<Item = u64> + Clone + '_ {
    let next = path.iter().skip(1).copied().chain([END]);
    path.iter().zip(next).enumerate().map(|(t, (&y, next))| edge_key(t, y, next))
}

/// Returns the position of an entry of a chain's witness.
pub(crate) fn position_of(key: u64) -> usize {
    edge_of(key).0
}

/// Returns the same marginals under other numbers of the labels, or `None` if a label has no new number.
pub(crate) fn relabelled(
    entries: &[(u64, f64)],
    label: impl Fn(usize) -> Option<usize>,
) -> Option<Vec<(u64, f64)>> {
    let number = |y: Label| match y {
        END => Some(END),
        y => label(y.into()).map(|y| y as Label),
    };
    let renamed = |&(key, weight): &(u64, f64)| {
        let (t, y, next) = edge_of(key);
        Some((edge_key(t, number(y)?, number(next)?), weight))
    };
    let mut entries: Vec<(u64, f64)> = entries.iter().map(renamed).collect::<Option<_>>()?;
    entries.sort_unstable_by_key(|&(key, _)| key);
    Some(entries)
}
