//! Witnesses over a user's oracle: its outputs in the byte form that serde gives them.

use super::blocks::OracleBlocks;
use super::oracle::{Oracle, OwnOracle};
use super::plane::{OraclePoint, Plane};
use crate::dual::Witnessed;
use crate::linalg::SparseVec;
use crate::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// Oracles whose outputs can be stored and, when they come from a file, be checked.
pub trait StoredOutputs: Oracle<Output: Serialize + DeserializeOwned> {
    /// Whether `y` is one of the outputs of `x`.
    fn is_output(&self, x: &Self::Input, y: &Self::Output) -> bool;
}

impl<O: OwnOracle> StoredOutputs for O {
    fn is_output(&self, x: &Self::Input, y: &Self::Output) -> bool {
        self.admits(x, y)
    }
}

/// The corners are outputs in the byte form that serde gives them. A key is the place of an output's bytes, which have
/// their number before them.
impl<O: StoredOutputs> Witnessed for OracleBlocks<'_, O> {
    const REBUILT: bool = true;

    fn entries(&self, at: &Self::Point, outputs: &mut Vec<u8>) -> Vec<(u64, f64)> {
        let weighty = at.corners.iter().filter(|(_, weight)| *weight != 0.0);
        weighty
            .map(|(plane, weight)| {
                let key = outputs.len() as u64;
                // What serde cannot write has no bytes, and is refused when it is read.
                let bytes = postcard::to_stdvec(&plane.output).unwrap_or_default();
                outputs.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
                outputs.extend_from_slice(&bytes);
                (key, *weight)
            })
            .collect()
    }

    fn point(&self, i: usize, entries: Vec<(u64, f64)>, outputs: &[u8]) -> Result<Self::Point> {
        let refuse = |message: &str| Error::Witness { example: i, message: message.into() };
        let mut corners: Vec<(Arc<Plane<O::Output>>, f64)> = Vec::with_capacity(entries.len());
        for (key, weight) in entries {
            let bytes =
                bytes_at(outputs, key).ok_or_else(|| refuse("it has an output without bytes"))?;
            let output: O::Output = postcard::from_bytes(bytes)
                .map_err(|_| refuse("it has bytes that are no output"))?;
            if !self.oracle.is_output(&self.examples[i].0, &output) {
                return Err(refuse("it has an output that is none of this example's"));
            }
            if corners.iter().any(|(plane, _)| plane.output == output) {
                return Err(refuse("it has an output twice"));
            }
            corners.push((Arc::new(self.plane(i, output)?), weight));
        }
        let (spare, psi, loss) = (Vec::new(), SparseVec::default(), 0.0);
        let mut point = OraclePoint { corners, spare, psi, loss };
        point.remix();
        Ok(point)
    }
}

/// Returns the bytes of the output at a place, if they are there.
fn bytes_at(outputs: &[u8], key: u64) -> Option<&[u8]> {
    let (length, rest) = outputs.get(usize::try_from(key).ok()?..)?.split_first_chunk::<8>()?;
    rest.get(..usize::try_from(u64::from_le_bytes(*length)).ok()?)
}
