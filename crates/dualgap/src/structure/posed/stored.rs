//! Losses in a ball whose dual variables are stored as those of the engine's blocks are.

use crate::ball::{ClassLosses, Losses, PerOutput};
use crate::dual::Witness;
use crate::term::ScalarLoss;
use crate::{Error, Result};

/// Losses whose dual variables are stored in the same format as those of the engine's blocks.
pub trait StoredLosses: Losses {
    /// Returns the entries to store for example `i`, with ascending keys.
    fn entries(&self, i: usize, alpha: &[f64]) -> Vec<(u64, f64)>;

    /// Writes the dual variables of stored entries into `alpha`, which is zero. It does not check that they are
    /// feasible: the computation of the dual value does.
    fn point(&self, i: usize, entries: &[(u64, f64)], alpha: &mut [f64]) -> Result<()>;
}

/// Returns the witness that stores these dual variables.
pub(super) fn witness<L: StoredLosses>(losses: &L, alpha: &[f64]) -> Witness {
    let mut witness = Witness { starts: vec![0], ..Witness::default() };
    for (i, alpha) in alpha.chunks_exact(losses.outputs()).enumerate() {
        for (key, weight) in losses.entries(i, alpha) {
            witness.keys.push(key);
            witness.weights.push(weight);
        }
        witness.starts.push(witness.keys.len() as u64);
    }
    witness
}

/// Returns the dual variables of a stored witness.
pub(super) fn points<L: StoredLosses>(losses: &L, witness: &Witness) -> Result<Vec<f64>> {
    let (n, c) = (losses.len(), losses.outputs());
    witness.check(n)?;
    let mut alpha = vec![0.0; n * c];
    for (i, alpha) in alpha.chunks_exact_mut(c).enumerate() {
        let entries = witness.entries(i).unwrap_or_default();
        losses.point(i, &entries, alpha)?;
    }
    Ok(alpha)
}

/// Stores the numbers themselves.
impl StoredLosses for PerOutput<ScalarLoss> {
    fn entries(&self, _: usize, alpha: &[f64]) -> Vec<(u64, f64)> {
        alpha.iter().enumerate().map(|(k, &alpha)| (k as u64, alpha)).collect()
    }

    fn point(&self, i: usize, entries: &[(u64, f64)], alpha: &mut [f64]) -> Result<()> {
        let keys = entries.iter().map(|&(key, _)| key);
        if !keys.eq(0..alpha.len() as u64) {
            let message = "it has not one number an output".into();
            return Err(Error::Witness { example: i, message });
        }
        alpha.iter_mut().zip(entries).for_each(|(alpha, &(_, stored))| *alpha = stored);
        Ok(())
    }
}

/// Stores the distribution over classes: β = e_y − α.
impl StoredLosses for ClassLosses {
    fn entries(&self, i: usize, alpha: &[f64]) -> Vec<(u64, f64)> {
        let own = |k: usize| f64::from(u8::from(k == self.truth(i)));
        let entries = alpha.iter().enumerate().map(|(k, alpha)| (k as u64, own(k) - alpha));
        entries.filter(|&(_, weight)| weight != 0.0).collect()
    }

    fn point(&self, i: usize, entries: &[(u64, f64)], alpha: &mut [f64]) -> Result<()> {
        let refuse = |message: &str| Error::Witness { example: i, message: message.into() };
        if !entries.is_sorted_by(|a, b| a.0 < b.0) {
            return Err(refuse("its classes do not ascend"));
        }
        alpha[self.truth(i)] = 1.0;
        for &(class, weight) in entries {
            let class = usize::try_from(class).ok().and_then(|class| alpha.get_mut(class));
            *class.ok_or_else(|| refuse("it has a class that is none"))? -= weight;
        }
        Ok(())
    }
}
