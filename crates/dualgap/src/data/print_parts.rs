//! The fingerprint of data in shards: each computes its part, and the parts together are the fingerprint of the data in one
//! piece.

use super::fingerprint::digest_targets;
use super::{Examples, Matchings, Sequences, Targets};
use crate::container::Digest;
use crate::{Error, Result};

/// Data whose fingerprint can be computed by shards, at the same time.
///
/// ```
/// use dualgap::data::{DataSet, Examples, PrintParts, joined_print};
/// let rows = [vec![1.0], vec![2.0], vec![0.0]];
/// let data = Examples::from_dense(&rows, &["a", "b", "a"])?;
/// let shards = [data.subset(&[0]), data.subset(&[1, 2])];
/// let total: Vec<u64> = vec![3];
/// let parts = [shards[0].print_part(&[0], &total)?, shards[1].print_part(&[1], &total)?];
/// assert_eq!(joined_print(&parts)?, data.fingerprint());
/// # Ok::<(), dualgap::Error>(())
/// ```
pub trait PrintParts {
    /// Returns the sizes of the shard, those of all shards being their sums: the number of examples, and others.
    fn sizes(&self) -> Vec<u64>;

    /// Returns the part of a shard. `before` are the sizes of all shards before this one, and `total` those of all.
    fn print_part(&self, before: &[u64], total: &[u64]) -> Result<Vec<u8>>;
}

/// Returns the fingerprint of all shards from their parts, in the order of the data.
pub fn joined_print(parts: &[impl AsRef<[u8]>]) -> Result<String> {
    Digest::joined(parts)
}

/// Returns the sizes, or an error if they are of other data.
fn sizes<const N: usize>(given: &[u64]) -> Result<[u64; N]> {
    given
        .try_into()
        .map_err(|_| Error::setting("the sizes of the shards are not those of such data"))
}

impl PrintParts for Examples {
    fn sizes(&self) -> Vec<u64> {
        vec![self.len() as u64]
    }

    fn print_part(&self, before: &[u64], total: &[u64]) -> Result<Vec<u8>> {
        let ([before], [total]) = (sizes(before)?, sizes(total)?);
        if matches!(self.targets, Targets::None | Targets::Outputs(_)) {
            return Err(Error::setting(
                "examples in shards have a class, a number or a set of labels each",
            ));
        }
        let mut digest = Digest::of_shard();
        if before == 0 {
            digest.text("examples");
            digest.number(total);
            digest.number(self.rows.width() as u64);
        }
        self.rows.digest_entries(&mut digest, before);
        digest_targets(&self.targets, &mut digest, before);
        Ok(digest.part())
    }
}

impl PrintParts for Sequences {
    fn sizes(&self) -> Vec<u64> {
        vec![self.len() as u64, self.rows.len() as u64]
    }

    fn print_part(&self, before: &[u64], total: &[u64]) -> Result<Vec<u8>> {
        let (before, [all, all_positions]) = (sizes(before)?, sizes(total)?);
        let [sequences, positions] = before;
        if self.edges.is_some() {
            return Err(Error::setting("sequences in shards have no features of pairs"));
        }
        let mut digest = Digest::of_shard();
        if sequences == 0 {
            digest.text("sequences");
            digest.number(all_positions);
            digest.number(self.rows.width() as u64);
        }
        self.rows.digest_entries(&mut digest, positions);
        digest.section(0);
        if sequences == 0 {
            digest.number(all + 1);
        }
        // The end of a shard is the beginning of the next one.
        let last = sequences + self.len() as u64 == all;
        let count = if last { self.len() + 1 } else { self.len() };
        self.digest_starts(&mut digest, before, count);
        self.digest_labels(&mut digest, positions);
        Ok(digest.part())
    }
}

impl PrintParts for Matchings {
    fn sizes(&self) -> Vec<u64> {
        vec![self.len() as u64, self.features().len() as u64]
    }

    fn print_part(&self, before: &[u64], total: &[u64]) -> Result<Vec<u8>> {
        let ([graphs, edges], [all, all_edges]) = (sizes(before)?, sizes(total)?);
        if !self.is_labelled() {
            return Err(Error::setting("graphs in shards have a mark for every edge"));
        }
        let mut digest = Digest::of_shard();
        if graphs == 0 {
            digest.text("matchings");
            digest.number(all_edges);
            digest.number(self.features().width() as u64);
        }
        self.features().digest_entries(&mut digest, edges);
        digest.section(0);
        if graphs == 0 {
            digest.number(all);
            digest.text("marked");
        }
        self.digest_graphs(&mut digest, graphs);
        Ok(digest.part())
    }
}
