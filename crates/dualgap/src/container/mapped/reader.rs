//! A mapped file, checked when it is opened.

use super::{ALIGNED, END, Element, Layout, MARK, PORTION, Place};
use crate::container::kind::first_line;
use crate::container::{Digest, Fault, Kind};
use dualgap_map::{Array, Map};
use rayon::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::Path;

/// A mapped file whose every byte was compared with its digest.
///
/// A fault is the rest of a sentence that begins with the file's name.
pub struct MappedFile {
    map: Map,
    header: Box<RawValue>,
    arrays: BTreeMap<String, Place>,
}

#[derive(Deserialize)]
struct Sealed {
    seal: String,
    header: Box<RawValue>,
}

fn no_sense(error: serde_json::Error) -> Fault {
    Fault::caused("has a header that makes no sense", error)
}

impl MappedFile {
    /// Maps a file of this kind and checks all of it.
    pub fn open(path: &Path, kind: &Kind) -> Result<Self, Fault> {
        if size_of::<usize>() != size_of::<u64>() || cfg!(target_endian = "big") {
            return Err("can be mapped only where words have 64 bits, the lowest first".into());
        }
        let map = Map::open(path).map_err(|error| Fault::caused("cannot be mapped", error))?;
        let bytes = map.bytes();
        let head = &bytes[..bytes.len().min(64)];
        let Some((name, version)) = first_line(head) else {
            return Err(format!("is not a {} of dualgap", kind.name).into());
        };
        if name != kind.name {
            return Err(format!("is a {name} and no {}", kind.name).into());
        }
        kind.check_version(version)?;
        let cut =
            || Fault::from("is cut off, or has something at its end that does not belong there");
        let (rest, end) = bytes.split_last_chunk::<END>().ok_or_else(cut)?;
        let [at, length, whole, mark] = words(*end);
        let ends = at.checked_add(length).filter(|&ends| ends == rest.len() as u64);
        if mark != MARK || whole != bytes.len() as u64 || ends.is_none() {
            return Err(cut());
        }
        let (body, text) = rest.split_at(at as usize);
        let Sealed { seal, header } = serde_json::from_slice(text).map_err(no_sense)?;
        if Digest::of(header.get().as_bytes()) != seal {
            return Err("is damaged: the seal of its header does not fit".into());
        }
        let layout: Layout = serde_json::from_str(header.get()).map_err(no_sense)?;
        check_portions(body, &layout)?;
        for (name, place) in &layout.arrays {
            let end = place.at.checked_add(place.bytes).filter(|&end| end <= at);
            if end.is_none() || place.at % ALIGNED != 0 {
                return Err(format!("has no place for the array `{name}`").into());
            }
        }
        Ok(Self { map, header, arrays: layout.arrays })
    }

    /// Returns the header's fields as the use has them; fields that it does not know are ignored.
    pub fn header<H: DeserializeOwned>(&self) -> Result<H, Fault> {
        serde_json::from_str(self.header.get()).map_err(no_sense)
    }

    /// Whether there is an array of such numbers.
    pub fn has<T: Element>(&self, name: &str) -> bool {
        self.arrays.get(name).is_some_and(|place| place.of == T::NAME)
    }

    /// Returns an array, in its place.
    pub fn array<T: Element>(&self, name: &str) -> Result<Array<T>, Fault> {
        let place = self.arrays.get(name).filter(|place| place.of == T::NAME);
        let array = place.and_then(|place| {
            let size = size_of::<T>();
            let (at, bytes) = (place.at as usize, place.bytes as usize);
            bytes.is_multiple_of(size).then(|| self.map.array(at, bytes / size)).flatten()
        });
        array.ok_or_else(|| format!("has no array `{name}` of {}", T::NAME).into())
    }
}

fn words(end: [u8; END]) -> [u64; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(end.chunks_exact(size_of::<u64>())) {
        *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    }
    words
}

/// Compares every portion with its digest, on all threads.
fn check_portions(body: &[u8], layout: &Layout) -> Result<(), Fault> {
    let count = body.len().div_ceil(PORTION);
    if layout.portion != PORTION || layout.digests.len() != count {
        return Err("has digests of other portions than it has".into());
    }
    let portions = body.par_chunks(PORTION).zip(&layout.digests);
    match portions.position_first(|(portion, digest)| Digest::of(portion) != *digest) {
        None => Ok(()),
        Some(k) => Err(format!(
            "is damaged: of its {count} portions, number {} has another digest, from byte {} on",
            k + 1,
            k * PORTION
        )
        .into()),
    }
}
