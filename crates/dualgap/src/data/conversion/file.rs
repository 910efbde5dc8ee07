//! The file of a conversion, called a map.
//!
//! ```text
//! dualgap map 1                 a line that says what the file is
//! {"seal": …, "header": {…}}    a line: how files are read, names, sizes, the digest of what follows
//! …                             the grids and their bins
//! ```

use super::Conversion;
use crate::data::random_binning::Sizes;
use crate::data::{Alphabet, Digest, RandomBinning, Recipe, Sink};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::path::Path;

const MAGIC: &str = "dualgap map 1";

#[derive(Serialize, Deserialize)]
struct Header {
    recipe: Recipe,
    labels: Alphabet,
    /// The names of the features; empty if they have none.
    names: Vec<String>,
    features: usize,
    binning: Option<Sizes>,
    digest: String,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    seal: String,
    header: Box<RawValue>,
}

impl Conversion {
    /// Writes the map to the sink that the caller has chosen.
    pub fn save(&self, sink: &mut Sink) -> Result<()> {
        let (sizes, bytes) = self.binning.as_ref().map(RandomBinning::to_bytes).unzip();
        let bytes = bytes.unwrap_or_default();
        let header = Header {
            recipe: self.recipe.clone(),
            labels: self.alphabet.clone(),
            names: self.dictionary.names().map(String::from).collect(),
            features: self.features,
            binning: sizes,
            digest: Digest::of(&bytes),
        };
        let unwritable = |error| Error::setting(format!("the map cannot be written: {error}"));
        let header = serde_json::value::to_raw_value(&header).map_err(unwritable)?;
        let sealed = Sealed { seal: Digest::of(header.get().as_bytes()), header };
        let sealed = serde_json::to_string(&sealed).map_err(unwritable)?;
        sink.text(&format!("{MAGIC}\n{sealed}\n"))?;
        sink.bytes(&bytes)
    }

    /// Reads a map.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|error| {
            let message = format!("cannot be read: {error}");
            Error::file(path, message, "check the path and the permissions")
        })?;
        Self::from_bytes(&bytes).map_err(|message| {
            Error::file(path, message, "name a map that `dualgap convert --save-map` has written")
        })
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let (sealed, body) = parts(bytes).ok_or("is not a map of dualgap")?;
        let no_sense = |error| format!("has a header that makes no sense: {error}");
        let sealed: Sealed = serde_json::from_str(sealed).map_err(no_sense)?;
        if Digest::of(sealed.header.get().as_bytes()) != sealed.seal {
            return Err("is damaged: the seal of its header does not fit".into());
        }
        let header: Header = serde_json::from_str(sealed.header.get()).map_err(no_sense)?;
        if Digest::of(body) != header.digest {
            return Err("is damaged: its digest does not fit".into());
        }
        let Header { recipe, labels, names, features, binning, digest: _ } = header;
        let binning = match binning {
            None if body.is_empty() => None,
            None => return Err("has bins, and no grids".into()),
            Some(sizes) if sizes.dimension != features => {
                return Err("has grids for data of another width".into());
            }
            Some(sizes) => {
                Some(RandomBinning::from_bytes(&sizes, body).ok_or("has grids that are none")?)
            }
        };
        let dictionary = names.iter().map(String::as_str).collect();
        Ok(Self { recipe, alphabet: labels, dictionary, features, binning })
    }
}

/// Splits a map into the line of its header and the bytes that follow.
fn parts(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(MAGIC.as_bytes())?.strip_prefix(b"\n")?;
    let end = rest.iter().position(|&byte| byte == b'\n')?;
    Some((std::str::from_utf8(&rest[..end]).ok()?, &rest[end + 1..]))
}
