//! The fingerprint of data in shards: the digest goes from shard to shard, once for every stage, and ends as that of the data
//! in one piece.

use super::{Examples, Sequences, Targets};
use crate::container::Digest;
use crate::{Error, Result};

/// Data whose fingerprint can be computed shard by shard.
///
/// ```
/// use dualgap::data::{DataSet, Examples, PrintParts};
/// let rows = [vec![1.0], vec![2.0], vec![0.0]];
/// let data = Examples::from_dense(&rows, &["a", "b", "a"])?;
/// let shards = [data.subset(&[0]), data.subset(&[1, 2])];
/// let total: Vec<u64> = vec![3];
/// let mut state = Vec::new();
/// for stage in 0..Examples::STAGES {
///     state = shards[0].digest_part(stage, &[0], &total, &state)?;
///     state = shards[1].digest_part(stage, &[1], &total, &state)?;
/// }
/// assert_eq!(dualgap::data::print_of(&state)?, data.fingerprint());
/// # Ok::<(), dualgap::Error>(())
/// ```
pub trait PrintParts {
    /// How often the digest goes over all shards.
    const STAGES: usize;

    /// Returns the sizes of the shard, those of all shards being their sums: the number of examples, and others.
    fn sizes(&self) -> Vec<u64>;

    /// Returns the state of the digest after this shard's part of a stage, before which it was `state`; empty at the
    /// beginning. `before` are the sizes of all shards before this one, and `total` those of all.
    fn digest_part(
        &self,
        stage: usize,
        before: &[u64],
        total: &[u64],
        state: &[u8],
    ) -> Result<Vec<u8>>;
}

/// Returns the fingerprint of the last state.
pub fn print_of(state: &[u8]) -> Result<String> {
    Ok(resumed(state)?.hex())
}

/// Returns the digest of a state; a new one if it is empty.
pub(crate) fn resumed(state: &[u8]) -> Result<Digest> {
    if state.is_empty() {
        return Ok(Digest::of_data());
    }
    Digest::resumed(state).ok_or_else(|| {
        Error::setting("these bytes are no state of a digest: all workers need the same version")
    })
}

/// Returns the sizes, or an error if they are of other data.
fn sizes<const N: usize>(given: &[u64]) -> Result<[u64; N]> {
    given
        .try_into()
        .map_err(|_| Error::setting("the sizes of the shards are not those of such data"))
}

impl PrintParts for Examples {
    const STAGES: usize = 2;

    fn sizes(&self) -> Vec<u64> {
        vec![self.len() as u64]
    }

    fn digest_part(
        &self,
        stage: usize,
        before: &[u64],
        total: &[u64],
        state: &[u8],
    ) -> Result<Vec<u8>> {
        let ([before], [total]) = (sizes(before)?, sizes(total)?);
        let mut digest = resumed(state)?;
        if stage == 0 {
            if before == 0 {
                digest.text("examples");
                digest.number(total);
                digest.number(self.rows.width() as u64);
            }
            self.rows.digest_entries(&mut digest);
            return Ok(digest.state());
        }
        match &self.targets {
            Targets::Classes(classes) => {
                (0..classes.len()).for_each(|i| digest.text(classes.name(i)));
            }
            Targets::Numbers(numbers) => {
                numbers.values().iter().for_each(|value| digest.text(&value.to_string()));
            }
            Targets::Sets(sets) => (0..sets.len()).for_each(|i| digest.text(&sets.spelling(i))),
            Targets::None | Targets::Outputs(_) => {
                return Err(Error::setting(
                    "examples in shards have a class, a number or a set of labels each",
                ));
            }
        }
        Ok(digest.state())
    }
}

impl PrintParts for Sequences {
    const STAGES: usize = 3;

    fn sizes(&self) -> Vec<u64> {
        vec![self.len() as u64, self.rows.len() as u64]
    }

    fn digest_part(
        &self,
        stage: usize,
        before: &[u64],
        total: &[u64],
        state: &[u8],
    ) -> Result<Vec<u8>> {
        let ([sequences, positions], [all, all_positions]) = (sizes(before)?, sizes(total)?);
        if self.edges.is_some() {
            return Err(Error::setting("sequences in shards have no features of pairs"));
        }
        let mut digest = resumed(state)?;
        match stage {
            0 => {
                if sequences == 0 {
                    digest.text("sequences");
                    digest.number(all_positions);
                    digest.number(self.rows.width() as u64);
                }
                self.rows.digest_entries(&mut digest);
            }
            1 => {
                if sequences == 0 {
                    digest.number(all + 1);
                }
                // The end of a shard is the beginning of the next one.
                let last = sequences + self.len() as u64 == all;
                let count = if last { self.len() + 1 } else { self.len() };
                for &start in &self.starts()[..count] {
                    digest.number(positions + start as u64);
                }
            }
            _ => {
                for &label in self.labels() {
                    digest.text(&self.alphabet().names()[label as usize]);
                }
            }
        }
        Ok(digest.state())
    }
}
