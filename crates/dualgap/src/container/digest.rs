//! SHA-256, of data sets and of tensors.

use sha2::Digest as _;
use sha2::digest::common::hazmat::SerializableState;
use std::fmt::Write as _;

/// A running SHA-256.
///
/// ```
/// # use dualgap::container::Digest;
/// let mut digest = Digest::default();
/// digest.bytes(b"abc");
/// assert!(digest.hex().starts_with("ba7816bf8f01cfea")); // the standard's own test vector
/// ```
#[derive(Clone, Default)]
pub struct Digest(sha2::Sha256);

impl Digest {
    /// Returns the digest of these bytes alone, in hexadecimal digits.
    pub fn of(bytes: &[u8]) -> String {
        let mut digest = Self::default();
        digest.bytes(bytes);
        digest.hex()
    }

    /// Adds raw bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    /// Returns what it has seen so far, to go on elsewhere.
    pub(crate) fn state(&self) -> Vec<u8> {
        self.0.serialize().to_vec()
    }

    /// Goes on from a state, if it is one.
    pub(crate) fn resumed(state: &[u8]) -> Option<Self> {
        let state = state.try_into().ok()?;
        sha2::Sha256::deserialize(&state).ok().map(Self)
    }

    /// Returns the digest in hexadecimal digits.
    pub fn hex(self) -> String {
        self.0.finalize().iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}
