//! The sealed file that is mapped and not read: arrays of numbers at aligned places, with a digest for every portion of it.
//!
//! ```text
//! dualgap KIND VERSION          a line that says what the file is, as in the files in lines
//! arrays                        each at a multiple of 64 bytes, little-endian, with zeros between them
//! {"seal": …, "header": {…}}    seal     SHA-256 of the header's text
//!                               header   the fields of the use, where the arrays are, and the SHA-256 of every portion
//! four words of 64 bits         where the header begins, its length, the length of the file, and `MARK`
//! ```
//!
//! A portion is 1 MiB of what comes before the header. The header is at the end because digests are known only when all is written:
//! a file is written front to back, whatever its size, with no more than a portion in memory.
//!
//! [`MappedFile::open`] checks every byte before any of them is used: the portions are read one after the other, on all threads.

mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::MappedFile;
pub use writer::MappedWriter;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The bytes that have a digest of their own.
const PORTION: usize = 1 << 20;

/// Where arrays begin is a multiple of this: a cache line, and more than any number needs.
const ALIGNED: u64 = 64;

/// The last word of a file. One that was cut off ends with another.
const MARK: u64 = u64::from_le_bytes(*b"dualgap\n");

/// The four words at the end.
const END: usize = 4 * size_of::<u64>();

/// Where an array is, in bytes, and what its numbers are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Place {
    of: String,
    at: u64,
    bytes: u64,
}

#[derive(Serialize, Deserialize)]
struct Layout {
    arrays: BTreeMap<String, Place>,
    portion: usize,
    digests: Vec<String>,
}

/// A number that a mapped file can have.
pub trait Element: dualgap_map::Pod {
    /// Its name in files.
    const NAME: &'static str;
}

impl Element for u32 {
    const NAME: &'static str = "u32";
}

impl Element for u64 {
    const NAME: &'static str = "u64";
}

/// As `u64`; only machines with words of 64 bits map files.
impl Element for usize {
    const NAME: &'static str = "u64";
}

impl Element for f32 {
    const NAME: &'static str = "f32";
}

impl Element for f64 {
    const NAME: &'static str = "f64";
}
