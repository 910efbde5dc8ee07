//! What shards send: their change of v, and their sums of a certificate. All can be added, and travel as bytes.

use crate::dual::partial::{SomeDual, SomeLosses};
use crate::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What the steps of a round have changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Δv, of one shard or of several.
    #[serde(with = "crate::linalg::sparse")]
    pub v: Vec<f64>,
    /// By how much the dual terms rise.
    pub rise: f64,
    /// `Σ ‖d_k‖²` of the local steps, d_k from the centres of the local problems to where the steps have ended.
    pub square: f64,
}

/// The losses of some shards at given weights.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LossPart(pub(super) SomeLosses);

/// The dual terms of some shards, and their part of v.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DualPart(pub(super) SomeDual);

impl Change {
    /// Adds the change of other shards.
    pub fn add(&mut self, other: &Self) -> Result<()> {
        check(self.v.len(), other.v.len())?;
        self.v.iter_mut().zip(&other.v).for_each(|(v, more)| *v += more);
        self.rise += other.rise;
        self.square += other.square;
        Ok(())
    }

    /// Returns the change as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        bytes(self)
    }

    /// Reads a change.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        read(bytes)
    }
}

impl LossPart {
    /// Adds the losses of other shards, which come after these.
    pub fn add(&mut self, other: &Self) {
        self.0.add_losses(&other.0);
    }

    /// Returns the sums as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        bytes(self)
    }

    /// Reads sums.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        read(bytes)
    }
}

impl DualPart {
    /// Adds the dual terms of other shards, which come after these.
    pub fn add(&mut self, other: &Self) -> Result<()> {
        check(self.dim()?, other.dim()?)?;
        self.0.add_dual(&other.0);
        Ok(())
    }

    /// Returns the number of weights.
    pub(super) fn dim(&self) -> Result<usize> {
        self.0.v.dim().ok_or_else(unreadable)
    }

    /// Returns the sums as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        bytes(self)
    }

    /// Reads sums.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let part: Self = read(bytes)?;
        part.dim()?;
        Ok(part)
    }
}

/// Returns an error if two shards have different numbers of weights.
fn check(one: usize, other: usize) -> Result<()> {
    if one == other {
        return Ok(());
    }
    Err(Error::setting(format!(
        "one shard has {one} weights and another {other}: all shards have the same columns and labels"
    )))
}

/// Writing to memory fails for no value of ours.
pub(super) fn bytes(value: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(value).unwrap_or_default()
}

pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    postcard::from_bytes(bytes).map_err(|error| unreadable().caused_by(error))
}

fn unreadable() -> Error {
    Error::setting("these bytes are not those of a shard: all workers need the same version")
}
