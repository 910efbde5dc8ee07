//! Digests: SHA-256 of tensors and files, which any tool computes, and a quicker one of data sets.

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
    Data(Chain),
}

/// BLAKE3 over data of any length, in portions: each is hashed under a key that is the digest of those before it. A portion is
/// enough for all lanes of a vector unit, and what is left of the last one is all that has to be kept to go on elsewhere.
#[derive(Clone)]
struct Chain {
    key: [u8; 32],
    /// The number of portions that the key stands for.
    portions: u64,
    /// The beginning of the next one.
    rest: Vec<u8>,
}

/// The bytes of a portion.
const PORTION: usize = 1 << 16;

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
        let key = *blake3::hash(b"dualgap: the fingerprint of a data set").as_bytes();
        Self(Kind::Data(Chain { key, portions: 0, rest: Vec::new() }))
    }

    /// Whether a digest in hexadecimal digits is one of data. Those of earlier versions are not.
    pub(crate) fn is_of_data(hex: &str) -> bool {
        hex.starts_with(OF_DATA)
    }

    /// Adds raw bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            Kind::Sha256(sha) => sha.update(bytes),
            Kind::Data(chain) => chain.bytes(bytes),
        }
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    /// Returns what the digest of a data set has seen so far, to go on elsewhere; empty for any other.
    pub(crate) fn state(&self) -> Vec<u8> {
        match &self.0 {
            Kind::Sha256(_) => Vec::new(),
            Kind::Data(Chain { key, portions, rest }) => {
                [&key[..], &portions.to_le_bytes(), rest].concat()
            }
        }
    }

    /// Goes on from a state, if it is one.
    pub(crate) fn resumed(state: &[u8]) -> Option<Self> {
        let (&key, state) = state.split_first_chunk()?;
        let (&portions, rest) = state.split_first_chunk()?;
        let portions = u64::from_le_bytes(portions);
        let rest = (rest.len() < PORTION).then(|| rest.to_vec())?;
        Some(Self(Kind::Data(Chain { key, portions, rest })))
    }

    /// Returns the digest in hexadecimal digits; those of data have `blake3-` in front.
    pub fn hex(self) -> String {
        match self.0 {
            Kind::Sha256(sha) => in_digits("", &sha.finalize()),
            Kind::Data(chain) => in_digits(OF_DATA, &chain.end()),
        }
    }
}

impl Chain {
    fn bytes(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(PORTION - self.rest.len()));
            self.rest.extend_from_slice(now);
            bytes = later;
            if self.rest.len() == PORTION {
                self.key = blake3::keyed_hash(&self.key, &self.rest).into();
                self.portions += 1;
                self.rest.clear();
            }
        }
    }

    /// Hashes what is left, and how many portions there were: no two lengths end with the same bytes.
    fn end(mut self) -> [u8; 32] {
        self.rest.extend_from_slice(&self.portions.to_le_bytes());
        blake3::keyed_hash(&self.key, &self.rest).into()
    }
}

fn in_digits(before: &str, bytes: &[u8]) -> String {
    bytes.iter().fold(before.to_string(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of_data(bytes: &[u8]) -> String {
        let mut digest = Digest::of_data();
        digest.bytes(bytes);
        digest.hex()
    }

    fn numbered(length: usize) -> Vec<u8> {
        (0..length).map(|k| (k % 251) as u8).collect()
    }

    /// The same by the streaming interface of the crate, as the documentation of the file has it.
    fn by_hashers(bytes: &[u8]) -> String {
        let mut key = *blake3::hash(b"dualgap: the fingerprint of a data set").as_bytes();
        let whole = bytes.chunks_exact(PORTION);
        let (rest, count) = (whole.remainder(), whole.len() as u64);
        for portion in whole {
            key = *blake3::Hasher::new_keyed(&key).update(portion).finalize().as_bytes();
        }
        let mut last = blake3::Hasher::new_keyed(&key);
        format!("blake3-{}", last.update(rest).update(&count.to_le_bytes()).finalize().to_hex())
    }

    #[test]
    fn a_digest_of_data_is_a_chain_of_portions() {
        let lengths = [0, 1, PORTION - 8, PORTION - 1, PORTION, PORTION + 1, 3 * PORTION];
        let found = lengths.map(|length| of_data(&numbered(length)));
        for (length, digest) in lengths.iter().zip(&found) {
            assert_eq!(*digest, by_hashers(&numbered(*length)), "{length}");
            assert_eq!(found.iter().filter(|other| *other == digest).count(), 1, "{length}");
        }
    }

    proptest! {
        #[test]
        fn it_depends_on_the_bytes_and_not_on_where_they_are_split(length in 0..3 * PORTION, places in prop::collection::vec(any::<prop::sample::Index>(), 0..4)) {
            let bytes = numbered(length);
            let mut places: Vec<usize> = places.iter().map(|place| place.index(length + 1)).collect();
            places.sort_unstable();
            let (mut digest, mut from) = (Digest::of_data(), 0);
            for to in places.into_iter().chain([length]) {
                digest.bytes(&bytes[from..to]);
                digest = Digest::resumed(&digest.state()).unwrap();
                from = to;
            }
            prop_assert_eq!(digest.hex(), of_data(&bytes));
        }
    }

    #[test]
    fn what_is_no_state_is_refused() {
        assert!(Digest::resumed(b"").is_none() && Digest::resumed(&[0; 39]).is_none());
        assert!(
            Digest::resumed(&[0; 40]).is_some() && Digest::resumed(&[0; 40 + PORTION]).is_none()
        );
    }
}
