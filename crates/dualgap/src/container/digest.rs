//! Digests: SHA-256 of tensors and files, which any tool computes, and a quicker one of data sets.

use super::groups::Groups;
use crate::{Error, Result};
use sha2::Digest as _;
use std::fmt::Write as _;

/// A running digest, of a file unless it is said to be one [`of_data`](Self::of_data).
///
/// ```
/// # use dualgap::container::Digest;
/// let mut digest = Digest::default();
/// digest.bytes(b"abc");
/// assert!(digest.hex().starts_with("ba7816bf8f01cfea")); // the standard's own test vector of SHA-256
/// ```
#[derive(Clone)]
pub struct Digest(Kind);

#[derive(Clone)]
enum Kind {
    Sha256(sha2::Sha256),
    Data(Box<Groups>),
}

/// What the digests of data begin with.
const OF_DATA: &str = "blake3-";

impl Default for Digest {
    fn default() -> Self {
        Self(Kind::Sha256(sha2::Sha256::default()))
    }
}

impl Digest {
    /// Returns the digest of these bytes alone, in hexadecimal digits.
    pub fn of(bytes: &[u8]) -> String {
        let mut digest = Self::default();
        digest.bytes(bytes);
        digest.hex()
    }

    /// Begins the digest of a data set: in software it is many times as fast as SHA-256.
    ///
    /// ```
    /// # use dualgap::container::Digest;
    /// let mut digest = Digest::of_data();
    /// digest.bytes(b"abc");
    /// assert!(digest.hex().starts_with("blake3-"));
    /// ```
    pub fn of_data() -> Self {
        Self(Kind::Data(Box::new(Groups::of_all())))
    }

    /// Begins a shard's part of the digest of a data set.
    pub(crate) fn of_shard() -> Self {
        Self(Kind::Data(Box::new(Groups::of_shard())))
    }

    /// Whether a digest in hexadecimal digits is one of data. Those of earlier versions are not.
    pub(crate) fn is_of_data(hex: &str) -> bool {
        hex.starts_with(OF_DATA)
    }

    /// Adds raw bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            Kind::Sha256(sha) => sha.update(bytes),
            Kind::Data(groups) => groups.bytes(bytes),
        }
    }

    /// Begins a section of a data set: items that are of one kind, such as rows, of which so many are in shards before this one.
    pub(crate) fn section(&mut self, before: u64) {
        if let Kind::Data(groups) = &mut self.0 {
            groups.section(before);
        }
    }

    /// Ends an item of a section: shards may be cut here.
    pub(crate) fn end_item(&mut self) {
        if let Kind::Data(groups) = &mut self.0 {
            groups.end_item();
        }
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    /// Returns the part of a shard, for [`joined`](Self::joined).
    pub(crate) fn part(self) -> Vec<u8> {
        match self.0 {
            Kind::Sha256(_) => Vec::new(),
            Kind::Data(groups) => groups.part(),
        }
    }

    /// Returns the digest of a data set from the parts of its shards, in their order.
    pub(crate) fn joined(parts: &[impl AsRef<[u8]>]) -> Result<String> {
        let joined = Groups::joined(parts).ok_or_else(|| {
            Error::setting(
                "these bytes are no parts of a fingerprint: all workers need the same version",
            )
        })?;
        Ok(in_digits(OF_DATA, &joined.end()))
    }

    /// Returns the digest in hexadecimal digits; those of data have `blake3-` in front.
    pub fn hex(self) -> String {
        match self.0 {
            Kind::Sha256(sha) => in_digits("", &sha.finalize()),
            Kind::Data(groups) => in_digits(OF_DATA, &groups.end()),
        }
    }
}

fn in_digits(before: &str, bytes: &[u8]) -> String {
    bytes.iter().fold(before.to_string(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
