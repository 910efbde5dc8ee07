//! Witnesses that can be stored: dual points as plain arrays, block after block.

use super::Blocks;
use crate::linalg::Sum;
use crate::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// By how much a witness may miss feasibility, in the sum of its absolute differences from a feasible
/// point. Whatever it misses is charged to the certificate's error bound, so any number is sound
/// here; a real point misses by no more than accumulated rounding.
pub(crate) const DEFECT: f64 = 1e-9;

/// Proves that weights are a distribution, and returns by how much they miss one: dividing them by
/// their sum moves them no further than that.
pub(crate) fn distribution(example: usize, weights: impl Iterator<Item = f64>) -> Result<f64> {
    let mut total = Sum::default();
    for weight in weights {
        if !(weight >= 0.0 && weight.is_finite()) {
            let message = format!("it has a weight of {weight}");
            return Err(Error::Witness { example, message });
        }
        total.add(weight);
    }
    let total = total.total();
    let defect = (total.value - 1.0).abs() + total.error;
    if defect > DEFECT {
        let message = format!("its weights add up to {}, not to 1", total.value);
        return Err(Error::Witness { example, message });
    }
    Ok(defect)
}

/// The dual points of all blocks as arrays: block `i` has the entries `starts[i]..starts[i + 1]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Witness {
    /// One more than there are blocks, ascending from zero.
    pub starts: Vec<u64>,
    /// The keys that carry weight; each structure defines its own.
    pub keys: Vec<u64>,
    /// The weights of the keys.
    pub weights: Vec<f64>,
    /// The bytes that keys are places in, where a corner is an output of a user's own structure; else empty.
    pub outputs: Vec<u8>,
}

/// Blocks whose points can be stored, and proved feasible when they are loaded.
pub trait Witnessed: Blocks<Point: Serialize + DeserializeOwned> {
    /// Whether a point has more in it than its entries say, which a checkpoint could forge: the certificate of a run is
    /// then computed from points that are made anew.
    const REBUILT: bool = false;

    /// Returns the entries of a point, keys ascending. Corners that a number cannot name have their bytes appended to
    /// `outputs`, and their place in it is the key.
    fn entries(&self, at: &Self::Point, outputs: &mut Vec<u8>) -> Vec<(u64, f64)>;

    /// Returns the point with these entries. [`Blocks::audit`] then proves it feasible or refuses it.
    fn point(&self, i: usize, entries: Vec<(u64, f64)>, outputs: &[u8]) -> Result<Self::Point>;
}

impl Witness {
    /// Stores the points of all blocks.
    pub fn of<B: Witnessed>(blocks: &B, points: &[B::Point]) -> Self {
        let mut witness = Self { starts: vec![0], ..Self::default() };
        for at in points {
            for (key, weight) in blocks.entries(at, &mut witness.outputs) {
                witness.keys.push(key);
                witness.weights.push(weight);
            }
            witness.starts.push(witness.keys.len() as u64);
        }
        witness
    }

    /// Appends the points of further blocks. Keys that are places in `outputs` move with them.
    ///
    /// ```
    /// use dualgap::dual::Witness;
    /// let one = |bytes: &[u8]| Witness {
    ///     starts: vec![0, 1],
    ///     keys: vec![0],
    ///     weights: vec![1.0],
    ///     outputs: bytes.to_vec(),
    /// };
    /// let mut all = one(b"first");
    /// all.append(&one(b"second"));
    /// assert_eq!((all.starts, all.keys, &all.outputs[5..]), (vec![0, 1, 2], vec![0, 5], &b"second"[..]));
    /// ```
    pub fn append(&mut self, more: &Self) {
        let (offset, place) = (self.keys.len() as u64, self.outputs.len() as u64);
        let moved = if more.outputs.is_empty() { 0 } else { place };
        self.starts.extend(more.starts.iter().skip(1).map(|start| start + offset));
        self.keys.extend(more.keys.iter().map(|key| key + moved));
        self.weights.extend_from_slice(&more.weights);
        self.outputs.extend_from_slice(&more.outputs);
    }

    /// Returns the entries of block `i`, or `None` if the arrays have none.
    pub fn entries(&self, i: usize) -> Option<Vec<(u64, f64)>> {
        let range = *self.starts.get(i)? as usize..*self.starts.get(i + 1)? as usize;
        let (keys, weights) = (self.keys.get(range.clone())?, self.weights.get(range)?);
        Some(keys.iter().copied().zip(weights.iter().copied()).collect())
    }

    /// Returns an error if the arrays do not fit together or have another number of blocks.
    pub fn check(&self, blocks: usize) -> Result<()> {
        let malformed = |message: &str| Error::Witness { example: 0, message: message.into() };
        if self.starts.len() != blocks + 1 {
            return Err(malformed("it has another number of examples than the data"));
        }
        if self.keys.len() != self.weights.len()
            || self.starts.first() != Some(&0)
            || self.starts.last() != Some(&(self.keys.len() as u64))
            || !self.starts.is_sorted()
        {
            return Err(malformed("its arrays do not fit together"));
        }
        Ok(())
    }

    /// Returns the points of all blocks. Feasibility is proved later, in [`Blocks::audit`].
    pub fn points<B: Witnessed>(&self, blocks: &B) -> Result<Vec<B::Point>> {
        self.check(blocks.len())?;
        self.starts
            .windows(2)
            .enumerate()
            .map(|(i, range)| {
                let range = range[0] as usize..range[1] as usize;
                let keys = self.keys[range.clone()].iter().copied();
                let weights = self.weights[range].iter().copied();
                blocks.point(i, keys.zip(weights).collect(), &self.outputs)
            })
            .collect()
    }
}
