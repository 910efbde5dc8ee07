//! Sparse rows in a mapped file: read in place, whole or some of them, with or without a constant feature.
//!
//! Every row of such a file has one entry more than it has features, at its end: a one in the column after the last. Rows without a
//! constant feature leave that entry out, and rows with one end after it, so that neither needs a copy.

use crate::linalg::{Row, csr};
use crate::{Error, Result};
use dualgap_map::Array;
use std::sync::Arc;

/// The values of a mapped file.
#[derive(Clone)]
pub(crate) enum Values {
    Single(Array<f32>),
    Double(Array<f64>),
}

/// Rows in a mapped file; see the module's head.
#[derive(Clone)]
pub(super) struct Mapped {
    /// Row `i` of the file is at `starts[i]..starts[i + 1]`, its last entry being that of the constant feature.
    starts: Array<usize>,
    indices: Array<u32>,
    values: Values,
    /// The column of the constant feature.
    last: usize,
    /// The entries that are left out at the end of every row: one, or none with a constant feature.
    spare: usize,
    /// The rows in use, unless all of them are, in their order.
    chosen: Option<Arc<Vec<usize>>>,
    stored: usize,
}

impl Mapped {
    /// Checks the arrays of a file whose rows have `width` features.
    pub fn new(
        starts: Array<usize>,
        indices: Array<u32>,
        values: Values,
        width: usize,
    ) -> Result<Self> {
        csr::check_width(width)?;
        let entries = match &values {
            Values::Single(values) => values.len(),
            Values::Double(values) => values.len(),
        };
        csr::check_starts(&starts, entries)?;
        if indices.len() != entries {
            return Err(Error::setting("there are more indices than values, or fewer"));
        }
        let one = |at: usize| match &values {
            Values::Single(values) => values[at] == 1.0,
            Values::Double(values) => values[at] == 1.0,
        };
        for (i, ends) in starts.windows(2).enumerate() {
            let row = &indices[ends[0]..ends[1]];
            // With the constant's column at its end, a row that ascends has no column beyond.
            let whole = row.last().is_some_and(|&j| j as usize == width) && one(ends[1] - 1);
            if !whole || !row.is_sorted_by(|a, b| a < b) {
                return Err(Error::setting(format!(
                    "the columns of row {i} do not ascend to the constant one"
                )));
            }
        }
        let stored = entries - (starts.len() - 1);
        Ok(Self { starts, indices, values, last: width, spare: 1, chosen: None, stored })
    }

    pub fn len(&self) -> usize {
        self.chosen.as_ref().map_or(self.starts.len() - 1, |chosen| chosen.len())
    }

    pub fn stored(&self) -> usize {
        self.stored
    }

    /// The bytes of an entry.
    pub fn entry(&self) -> usize {
        match self.values {
            Values::Single(_) => 8,
            Values::Double(_) => 12,
        }
    }

    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        let i = match &self.chosen {
            None => i,
            Some(chosen) => chosen[i],
        };
        let range = self.starts[i]..self.starts[i + 1] - self.spare;
        let indices = &self.indices[range.clone()];
        match &self.values {
            Values::Single(values) => Row::Single { indices, values: &values[range] },
            Values::Double(values) => Row::Sparse { indices, values: &values[range] },
        }
    }

    /// Returns the given rows in the given order, in the same place.
    pub fn select(&self, rows: impl Iterator<Item = usize>) -> Self {
        let chosen: Vec<usize> = match &self.chosen {
            None => rows.collect(),
            Some(before) => rows.map(|i| before[i]).collect(),
        };
        let length = |&i: &usize| self.starts[i + 1] - self.starts[i] - self.spare;
        let stored = chosen.iter().map(length).sum();
        Self { chosen: Some(Arc::new(chosen)), stored, ..self.clone() }
    }

    /// Has rows of this width end with a constant feature; returns whether there is one in their file.
    pub fn append_constant(&mut self, width: usize) -> bool {
        let fits = self.spare == 1 && self.last == width;
        if fits {
            self.spare = 0;
            self.stored += self.len();
        }
        fits
    }
}
