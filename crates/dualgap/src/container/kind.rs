//! The kinds of sealed files, and how a file says which it is.

use super::Fault;
use serde::Deserialize;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The program's name, with which every key and every first line begins.
const PROGRAM: &str = "dualgap";

/// The longest header of a safetensors file; its readers accept no longer one.
const LONGEST_HEADER: u64 = 100_000_000;

/// A use of the container.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kind {
    /// What a file of this kind is called in messages and in the file.
    pub name: &'static str,
    /// How its bytes are laid out.
    pub form: Form,
    /// The oldest version that is read.
    pub oldest: u32,
    /// The version that is written, and the newest that is read.
    pub version: u32,
}

/// The layout of the bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// A safetensors file with the sealed header in its metadata: under the key `dualgap` for the kind of file that the
    /// program is about, and `dualgap.NAME` for all others.
    Tensors {
        /// Whether it is that kind.
        main: bool,
    },
    /// Two lines and a single tensor of bytes, `body`.
    Lines,
}

impl Kind {
    /// The key of the metadata that the sealed header has in a safetensors file.
    pub(super) fn key(&self) -> String {
        match self.form {
            Form::Tensors { main: true } => PROGRAM.to_string(),
            _ => format!("{PROGRAM}.{}", self.name),
        }
    }

    /// The first line of a file in lines, with its end.
    pub(super) fn first_line(&self) -> String {
        format!("{PROGRAM} {} {}\n", self.name, self.version)
    }

    pub(super) fn check_version(&self, version: u64) -> Result<(), Fault> {
        let (oldest, newest) = (u64::from(self.oldest), u64::from(self.version));
        if (oldest..=newest).contains(&version) {
            return Ok(());
        }
        let reads = match oldest {
            // "1 to 1" tells that every version so far is read.
            oldest if oldest == newest && newest > 1 => newest.to_string(),
            _ => format!("{oldest} to {newest}"),
        };
        let remedy = if version > newest || version == 0 {
            "use a newer dualgap"
        } else {
            "it is of an earlier dualgap"
        };
        Err(format!("has format version {version}, and this program reads {reads}: {remedy}")
            .into())
    }

    /// Whether these bytes begin with the first line of a file of this kind, in whatever version.
    pub(crate) fn begins(&self, bytes: &[u8]) -> bool {
        first_line(&bytes[..bytes.len().min(64)]).is_some_and(|(name, _)| name == self.name)
    }

    /// Whether the beginning of a file says that it is of this kind, in whatever version. Nothing else of it is
    /// checked.
    pub fn is_that_of(&self, path: &Path) -> bool {
        // Anything else than a file, such as a device, might never end.
        let is_file = std::fs::metadata(path).is_ok_and(|data| data.is_file());
        let Some(mut file) = is_file.then(|| File::open(path).ok()).flatten() else { return false };
        let mut head = Vec::new();
        if file.by_ref().take(64).read_to_end(&mut head).is_err() {
            return false;
        }
        if let Some((name, _)) = first_line(&head) {
            return name == self.name;
        }
        let Some((length, _)) = head.split_first_chunk::<8>() else { return false };
        let length = u64::from_le_bytes(*length);
        if length > LONGEST_HEADER {
            return false;
        }
        let rest = (length + 8).saturating_sub(head.len() as u64);
        if file.take(rest).read_to_end(&mut head).is_err() {
            return false;
        }
        let header = head.get(8..).unwrap_or_default();
        let header = header.get(..length as usize).unwrap_or_default();
        serde_json::from_slice(header)
            .is_ok_and(|head: Head| head.metadata.contains_key(&self.key()))
    }
}

/// The part of a safetensors header that says what the file is.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "__metadata__", default)]
    metadata: HashMap<String, String>,
}

/// Returns the kind and the version that the first line of a file names, if it is such a line.
pub(super) fn first_line(bytes: &[u8]) -> Option<(&str, u64)> {
    let line = bytes.split(|&byte| byte == b'\n').next()?;
    let (name, version) = std::str::from_utf8(line).ok()?.rsplit_once(' ')?;
    Some((name.strip_prefix(PROGRAM)?.strip_prefix(' ')?, version.parse().ok()?))
}

/// Returns the kind of which a key of the metadata is, unless it is the main one.
pub(super) fn kind_of_key(key: &str) -> Option<&str> {
    key.strip_prefix(PROGRAM)?.strip_prefix('.')
}
