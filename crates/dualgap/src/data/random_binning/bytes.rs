//! Grids and bins as bytes, for the file of a conversion.
//!
//! ```text
//! of every grid    1/w and s of every dimension, as 64-bit floats
//! of every grid    the names of its bins, in order, 16 bytes each
//! ```
//!
//! All numbers are little-endian. The widths are stored and not drawn again, because logarithms may differ in their
//! last bit between machines.

use super::grid::{Grid, Side};
use super::{Bins, RandomBinning, check};
use crate::data::libsvm::LARGEST_INDEX;
use serde::{Deserialize, Serialize};

/// The sizes that are needed to parse the bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::data) struct Sizes {
    pub bandwidth: f64,
    pub dimension: usize,
    /// The number of bins of each grid.
    pub bins: Vec<usize>,
}

impl RandomBinning {
    pub(in crate::data) fn to_bytes(&self) -> (Sizes, Vec<u8>) {
        let sides = self.grids.iter().flat_map(|grid| &grid.0);
        let floats = sides.flat_map(|side| [side.rate, side.shift]);
        let mut bytes: Vec<u8> = floats.flat_map(f64::to_le_bytes).collect();
        bytes.extend(self.bins.iter().flatten().flat_map(|name| name.to_le_bytes()));
        let bins = self.bins.iter().map(Bins::len).collect();
        (Sizes { bandwidth: self.bandwidth, dimension: self.dimension, bins }, bytes)
    }

    /// Returns `None` if sizes and bytes do not match, or describe no grids.
    pub(in crate::data) fn from_bytes(sizes: &Sizes, bytes: &[u8]) -> Option<Self> {
        let Sizes { bandwidth, dimension, ref bins } = *sizes;
        check(bins.len(), bandwidth, dimension).ok()?;
        let all = bins.iter().try_fold(0_usize, |sum, &count| sum.checked_add(count))?;
        // A side has as many bytes as a name; `check` has bounded the number of sides.
        let sides = bins.len() * dimension;
        let (words, []) = bytes.as_chunks::<16>() else { return None };
        if all > LARGEST_INDEX as usize || words.len() != sides + all {
            return None;
        }
        let (sides, mut names) = words.split_at(sides);
        let half = |bytes: &[u8]| bytes.try_into().map(f64::from_le_bytes).ok();
        let side = |word: &[u8; 16]| -> Option<Side> {
            let (rate, shift) = (half(&word[..8])?, half(&word[8..])?);
            let sound = rate > 0.0 && rate.is_finite() && (0.0..1.0).contains(&shift);
            sound.then_some(Side { rate, shift })
        };
        let sides: Vec<Side> = sides.iter().map(side).collect::<Option<_>>()?;
        let grid = |g: usize| Grid(sides[g * dimension..(g + 1) * dimension].to_vec());
        let grids = (0..bins.len()).map(grid).collect();
        let mut sets = Vec::with_capacity(bins.len());
        for &count in bins {
            let (own, rest) = names.split_at(count);
            let set: Bins = own.iter().map(|&name| u128::from_le_bytes(name)).collect();
            if set.len() != count {
                return None; // a name that is there twice
            }
            sets.push(set);
            names = rest;
        }
        Some(Self::new(bandwidth, dimension, grids, sets))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::*;

    #[test]
    fn grids_come_back_as_they_were() {
        let (rows, other) = (sample(200, 3, 1), sample(50, 3, 2));
        let binning = RandomBinning::fit(&rows, 15, 0.7, 4).unwrap();
        let (sizes, bytes) = binning.to_bytes();
        let again = RandomBinning::from_bytes(&sizes, &bytes).unwrap();
        assert_eq!(again.apply(&rows).unwrap(), binning.apply(&rows).unwrap());
        let (features, unseen) = again.apply(&other).unwrap();
        assert!(unseen > 0, "some bins are new");
        assert_eq!((features, unseen), binning.apply(&other).unwrap());
    }

    #[test]
    fn bytes_that_are_no_grids_are_refused() {
        let binning = RandomBinning::fit(&sample(20, 2, 1), 3, 0.7, 4).unwrap();
        let (sizes, bytes) = binning.to_bytes();
        let refused = |sizes: &Sizes, bytes: &[u8]| {
            assert!(RandomBinning::from_bytes(sizes, bytes).is_none());
        };
        refused(&sizes, &bytes[..bytes.len() - 1]);
        refused(&sizes, &bytes[..bytes.len() - 16]);
        refused(&sizes, &[]);
        refused(&Sizes { bandwidth: f64::NAN, ..sizes.clone() }, &bytes);
        for dimension in [0, 3, usize::MAX, usize::MAX / 16] {
            refused(&Sizes { dimension, ..sizes.clone() }, &bytes);
        }
        for bins in [vec![], vec![1; 3], vec![usize::MAX; 3], vec![usize::MAX, 2, 0]] {
            refused(&Sizes { bins, ..sizes.clone() }, &bytes);
        }
        let mut twice = bytes.clone();
        let names = 3 * 2 * 16;
        twice.copy_within(names..names + 16, names + 16);
        refused(&sizes, &twice);
        for float in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut damaged = bytes.clone();
            damaged[..8].copy_from_slice(&f64::to_le_bytes(float));
            refused(&sizes, &damaged);
        }
    }
}
