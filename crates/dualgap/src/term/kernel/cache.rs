//! Rows of a kernel matrix that are kept: those used last, within a bound on memory.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The rows that were used last.
#[derive(Debug, Default)]
pub(super) struct RowCache {
    /// The row of each example, and when it was last used.
    rows: Vec<Option<(Arc<[f64]>, u64)>>,
    /// The examples by the time of their last use.
    by_use: BTreeMap<u64, usize>,
    clock: u64,
    /// The most rows that are kept.
    most: usize,
}

impl RowCache {
    /// Returns an empty cache for rows of `count` examples, of at most this many bytes.
    pub fn new(count: usize, bytes: usize) -> Self {
        let row = count.saturating_mul(size_of::<f64>()).max(1);
        Self { rows: vec![None; count], most: bytes / row, ..Self::default() }
    }

    /// Returns a row and counts this as a use.
    pub fn get(&mut self, i: usize) -> Option<Arc<[f64]>> {
        let (row, used) = self.rows[i].as_mut()?;
        self.clock += 1;
        self.by_use.remove(used);
        self.by_use.insert(self.clock, i);
        *used = self.clock;
        Some(Arc::clone(row))
    }

    /// Returns a row without counting this as a use.
    pub fn peek(&self, i: usize) -> Option<Arc<[f64]>> {
        self.rows[i].as_ref().map(|(row, _)| Arc::clone(row))
    }

    /// Keeps a row, in the place of the one whose last use is longest ago if there is no room.
    pub fn insert(&mut self, i: usize, row: &Arc<[f64]>) {
        if self.most == 0 {
            return;
        }
        if self.by_use.len() >= self.most
            && let Some((_, oldest)) = self.by_use.pop_first()
        {
            self.rows[oldest] = None;
        }
        self.clock += 1;
        self.by_use.insert(self.clock, i);
        self.rows[i] = Some((Arc::clone(row), self.clock));
    }

    /// Returns the number of rows that are kept.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.by_use.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_that_was_used_longest_ago_makes_room() {
        let row = |x: f64| -> Arc<[f64]> { Arc::from(vec![x; 4]) };
        let mut cache = RowCache::new(4, 2 * 4 * 8);
        for i in 0..2 {
            cache.insert(i, &row(i as f64));
        }
        assert_eq!(cache.get(0).unwrap()[0], 0.0);
        cache.insert(2, &row(2.0));
        assert!(cache.peek(1).is_none() && cache.peek(0).is_some() && cache.peek(2).is_some());
        assert_eq!(cache.len(), 2);
    }

    #[test]
    fn less_than_a_row_keeps_none() {
        let mut cache = RowCache::new(4, 31);
        cache.insert(0, &Arc::from(vec![0.0; 4]));
        assert!(cache.get(0).is_none());
    }
}
