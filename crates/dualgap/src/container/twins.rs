//! Names that come twice in the header of a safetensors file, where a reader of JSON would take the last one without a word.

use super::Fault;
use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use std::collections::HashSet;

/// Refuses a file that has two tensors of one name, of which readers take one or the other.
pub(super) fn refuse_twins(bytes: &[u8]) -> Result<(), Fault> {
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else { return Ok(()) };
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    // Whatever else is wrong with the header is said by those who read it.
    let Some(header) = rest.get(..length) else { return Ok(()) };
    let mut twin = None;
    let _ = serde_json::Deserializer::from_slice(header).deserialize_map(Names(&mut twin));
    match twin {
        Some(name) => {
            Err(format!("has two tensors of the name `{name}`, of which one is false").into())
        }
        None => Ok(()),
    }
}

/// Looks at the names of an object, and keeps the first that comes twice.
struct Names<'t>(&'t mut Option<String>);

impl<'de> Visitor<'de> for Names<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some((name, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
            if let Some(name) = seen.replace(name) {
                *self.0 = Some(name);
                break;
            }
        }
        Ok(())
    }
}
