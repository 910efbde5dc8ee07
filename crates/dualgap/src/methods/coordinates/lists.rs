//! The entries of some sparse columns, by rows.

use super::design::Design;

/// For every example the columns that it has entries of, by their places in `slots`, which ascend.
#[derive(Default)]
pub struct Lists {
    slots: Vec<u32>,
    starts: Vec<usize>,
    places: Vec<u32>,
    values: Vec<f64>,
}

impl Lists {
    /// Makes these the lists of these weights, unless they are; returns the entries that were touched.
    pub fn update(&mut self, slots: &[u32], design: &Design) -> u64 {
        if self.slots == slots {
            return 0;
        }
        slots.clone_into(&mut self.slots);
        let columns = slots.iter().map(|&c| design.columns.column(c as usize));
        self.starts.clear();
        self.starts.resize(design.masses.len() + 1, 0);
        for column in columns.clone() {
            column.for_each(|i, _| self.starts[i + 1] += 1);
        }
        for i in 0..design.masses.len() {
            self.starts[i + 1] += self.starts[i];
        }
        let count = self.starts[design.masses.len()];
        self.places.resize(count, 0);
        self.values.resize(count, 0.0);
        let mut next = self.starts.clone();
        for (place, column) in columns.enumerate() {
            column.for_each(|i, x| {
                (self.places[next[i]], self.values[next[i]]) = (place as u32, x);
                next[i] += 1;
            });
        }
        2 * count as u64
    }

    /// Returns the places and the values of an example.
    #[inline]
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.places[range.clone()], &self.values[range])
    }
}
