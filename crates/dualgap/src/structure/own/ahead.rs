//! What an oracle has decoded for several examples at once, until the searches of their blocks ask for it.

use super::oracle::{Decoded, Oracle};
use crate::{Error, Result};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Decoded outputs by their example.
pub(super) struct Ahead<Y>(Mutex<Batch<Y>>);

struct Batch<Y> {
    /// The weights that the outputs were decoded at. A search at any others decodes anew.
    w: Vec<f64>,
    decoded: HashMap<usize, Decoded<Y>>,
}

impl<Y> Default for Ahead<Y> {
    fn default() -> Self {
        Self(Mutex::new(Batch { w: Vec::new(), decoded: HashMap::new() }))
    }
}

impl<Y> Ahead<Y> {
    /// Decodes these examples against their truths, if the oracle decodes batches.
    pub fn decode<O: Oracle<Output = Y>>(
        &self,
        oracle: &O,
        examples: &[(O::Input, Y)],
        blocks: &mut dyn Iterator<Item = usize>,
        w: &[f64],
    ) -> Result<()> {
        let blocks: Vec<usize> = blocks.collect();
        let inputs: Vec<&O::Input> = blocks.iter().map(|&i| &examples[i].0).collect();
        let truths: Vec<&Y> = blocks.iter().map(|&i| &examples[i].1).collect();
        let Some(decoded) = batch(oracle, w, &inputs, Some(&truths))? else { return Ok(()) };
        let mut ahead = self.lock();
        ahead.w.clear();
        ahead.w.extend_from_slice(w);
        ahead.decoded = blocks.into_iter().zip(decoded).collect();
        Ok(())
    }

    /// Returns what was decoded for an example at these weights, once.
    pub fn take(&self, i: usize, w: &[f64]) -> Option<Decoded<Y>> {
        let mut ahead = self.lock();
        if ahead.decoded.is_empty() || ahead.w != w { None } else { ahead.decoded.remove(&i) }
    }

    /// A panic elsewhere leaves the outputs as they are, which are then never asked for.
    fn lock(&self) -> MutexGuard<'_, Batch<Y>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Decodes a batch, and returns an error if the oracle does not return an output for each input.
pub(super) fn batch<O: Oracle>(
    oracle: &O,
    w: &[f64],
    inputs: &[&O::Input],
    against: Option<&[&O::Output]>,
) -> Result<Option<Vec<Decoded<O::Output>>>> {
    let decoded = oracle.decode_batch(w, inputs, against)?;
    match &decoded {
        Some(decoded) if decoded.len() != inputs.len() => Err(Error::setting(format!(
            "a batch of {} inputs was decoded to {} outputs",
            inputs.len(),
            decoded.len()
        ))),
        _ => Ok(decoded),
    }
}
