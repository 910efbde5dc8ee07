//! From a sealed file to tensors, all of them checked.

use super::kind::{first_line, kind_of_key};
use super::twins::refuse_twins;
use super::{Digest, Fault, Form, Kind};
use crate::linalg::memory::{reserve_check, short_of};
use crate::{Error, Result};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, SafeTensorError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::Path;

/// A sealed file that is being read. Its header is checked against the seal, and every tensor against its digest when it
/// is asked for.
///
/// A fault is the rest of a sentence that begins with the file's name.
pub struct Reader<'a> {
    header: Box<RawValue>,
    contents: Contents<'a>,
}

enum Contents<'a> {
    Tensors { file: SafeTensors<'a>, digests: BTreeMap<String, String> },
    Body(&'a [u8]),
}

#[derive(Deserialize)]
struct Sealed {
    seal: String,
    header: Box<RawValue>,
}

#[derive(Deserialize)]
struct Version {
    format_version: u32,
}

#[derive(Deserialize)]
struct Digests {
    digests: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct OneDigest {
    digest: String,
}

fn no_sense(error: serde_json::Error) -> Fault {
    Fault::caused("has a header that makes no sense", error)
}

impl<'a> Reader<'a> {
    /// Reads the bytes of a file of this kind.
    pub(crate) fn new(bytes: &'a [u8], kind: &Kind) -> Result<Self, Fault> {
        if let Some((name, version)) = first_line(bytes) {
            if name != kind.name {
                return Err(format!("is a {name} and no {}", kind.name).into());
            }
            kind.check_version(version)?;
        }
        match kind.form {
            Form::Tensors { .. } => Self::of_tensors(bytes, kind),
            Form::Lines => Self::of_lines(bytes, kind),
        }
    }

    fn of_tensors(bytes: &'a [u8], kind: &Kind) -> Result<Self, Fault> {
        let broken =
            |error: SafeTensorError| Fault::caused("is not a whole safetensors file", error);
        refuse_twins(bytes)?;
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let metadata = metadata.metadata().as_ref();
        let Some(sealed) = metadata.and_then(|metadata| metadata.get(&kind.key())) else {
            let other = metadata.and_then(|metadata| metadata.keys().find_map(|k| kind_of_key(k)));
            return Err(match other {
                Some(other) => format!("is a {other} and no {}", kind.name),
                None => format!("is a safetensors file, but not a dualgap {}", kind.name),
            }
            .into());
        };
        let sealed: Sealed = serde_json::from_str(sealed)
            .map_err(|error| Fault::caused("has metadata that make no sense", error))?;
        if Digest::of(sealed.header.get().as_bytes()) != sealed.seal {
            return Err("has a header that was altered: its seal does not fit".into());
        }
        // The version comes first: a newer file may differ in every other respect.
        let Version { format_version } = serde_json::from_str(sealed.header.get())
            .map_err(|error| Fault::caused("has a header without a version", error))?;
        kind.check_version(format_version.into())?;
        let Digests { digests } = serde_json::from_str(sealed.header.get()).map_err(no_sense)?;
        let file = SafeTensors::deserialize(bytes).map_err(broken)?;
        Ok(Self { header: sealed.header, contents: Contents::Tensors { file, digests } })
    }

    fn of_lines(bytes: &'a [u8], kind: &Kind) -> Result<Self, Fault> {
        let parts = || {
            let rest = bytes.strip_prefix(kind.first_line().as_bytes())?;
            let end = rest.iter().position(|&byte| byte == b'\n')?;
            Some((std::str::from_utf8(&rest[..end]).ok()?, &rest[end + 1..]))
        };
        let (sealed, body) =
            parts().ok_or_else(|| Fault::from(format!("is not a {} of dualgap", kind.name)))?;
        let sealed: Sealed = serde_json::from_str(sealed).map_err(no_sense)?;
        if Digest::of(sealed.header.get().as_bytes()) != sealed.seal {
            return Err("is damaged: the seal of its header does not fit".into());
        }
        let OneDigest { digest } = serde_json::from_str(sealed.header.get()).map_err(no_sense)?;
        if Digest::of(body) != digest {
            return Err("is damaged: its digest does not fit".into());
        }
        Ok(Self { header: sealed.header, contents: Contents::Body(body) })
    }

    /// Returns the header's fields as the use has them; fields that it does not know are ignored.
    pub fn header<H: DeserializeOwned>(&self) -> Result<H, Fault> {
        serde_json::from_str(self.header.get()).map_err(no_sense)
    }

    /// Whether the header has a digest of such a tensor.
    pub fn has(&self, name: &str) -> bool {
        match &self.contents {
            Contents::Tensors { digests, .. } => digests.contains_key(name),
            Contents::Body(_) => name == "body",
        }
    }

    /// Returns the names of the tensors that have a digest, in alphabetical order.
    pub fn names(&self) -> Vec<&str> {
        match &self.contents {
            Contents::Tensors { digests, .. } => digests.keys().map(String::as_str).collect(),
            Contents::Body(_) => vec!["body"],
        }
    }

    /// Returns the number of entries that a tensor has along its first side, where it exists.
    pub fn side(&self, name: &str) -> Option<usize> {
        match &self.contents {
            Contents::Tensors { file, .. } => file.tensor(name).ok()?.shape().first().copied(),
            Contents::Body(body) => (name == "body").then_some(body.len()),
        }
    }

    /// Returns the floats of a tensor of this shape. One that is not finite is a fault.
    pub fn f64(&self, name: &str, shape: &[usize]) -> Result<Vec<f64>, Fault> {
        let words = words(self.checked(name, Dtype::F64, Some(shape))?);
        finite(name, words.map(f64::from_le_bytes).collect())
    }

    /// Returns a list of floats of 32 or 64 bits. One that is not finite is a fault.
    pub fn floats(&self, name: &str) -> Result<Vec<f64>, Fault> {
        let mut all = Vec::new();
        self.each_float(name, |x| all.push(x))?;
        Ok(all)
    }

    /// Whether a tensor has floats of 32 bits.
    pub(crate) fn is_single(&self, name: &str) -> bool {
        match &self.contents {
            Contents::Tensors { file, .. } => {
                file.tensor(name).is_ok_and(|tensor| tensor.dtype() == Dtype::F32)
            }
            Contents::Body(_) => false,
        }
    }

    /// Hands over the floats of a list of 32 or 64 bits, all or those before one that is not finite, which is a fault.
    pub(crate) fn each_float(&self, name: &str, each: impl FnMut(f64)) -> Result<(), Fault> {
        if self.is_single(name) {
            let words = words(self.checked(name, Dtype::F32, None)?);
            return each_finite(name, words.map(|word| f64::from(f32::from_le_bytes(word))), each);
        }
        let words = words(self.checked(name, Dtype::F64, None)?);
        each_finite(name, words.map(f64::from_le_bytes), each)
    }

    /// Returns a list of integers of 64 bits.
    pub fn u64(&self, name: &str) -> Result<Vec<u64>, Fault> {
        Ok(words(self.checked(name, Dtype::U64, None)?).map(u64::from_le_bytes).collect())
    }

    /// Returns a list of integers of 32 bits.
    pub fn u32(&self, name: &str) -> Result<Vec<u32>, Fault> {
        Ok(words(self.checked(name, Dtype::U32, None)?).map(u32::from_le_bytes).collect())
    }

    /// Returns a list of bytes.
    pub fn bytes(&self, name: &str) -> Result<&'a [u8], Fault> {
        self.checked(name, Dtype::U8, None)
    }

    /// Returns the bytes of a tensor after checking its type, its shape and its digest. Without a shape it is a list.
    fn checked(
        &self,
        name: &str,
        dtype: Dtype,
        shape: Option<&[usize]>,
    ) -> Result<&'a [u8], Fault> {
        let absent = || Fault::from(format!("has no tensor `{name}`"));
        let (file, digests) = match &self.contents {
            Contents::Tensors { file, digests } => (file, digests),
            Contents::Body(body) if name == "body" && dtype == Dtype::U8 => return Ok(body),
            Contents::Body(_) => return Err(absent()),
        };
        let tensor = file.tensor(name).map_err(|_| absent())?;
        if tensor.dtype() != dtype
            || tensor.shape().len() != shape.map_or(1, <[usize]>::len)
            || shape.is_some_and(|shape| tensor.shape() != shape)
        {
            return Err(format!(
                "has a tensor `{name}` of {:?} {:?}, which does not fit its header",
                tensor.dtype(),
                tensor.shape()
            )
            .into());
        }
        match digests.get(name) {
            Some(expected) if *expected == Digest::of(tensor.data()) => Ok(tensor.data()),
            _ => Err(format!("has a tensor `{name}` that was altered: its digest differs").into()),
        }
    }
}

fn finite(name: &str, values: Vec<f64>) -> Result<Vec<f64>, Fault> {
    match values.iter().find(|x| !x.is_finite()) {
        Some(x) => Err(format!("has a tensor `{name}` with the value {x}").into()),
        None => Ok(values),
    }
}

fn each_finite(
    name: &str,
    values: impl Iterator<Item = f64>,
    mut each: impl FnMut(f64),
) -> Result<(), Fault> {
    for x in values {
        if !x.is_finite() {
            return Err(format!("has a tensor `{name}` with the value {x}").into());
        }
        each(x);
    }
    Ok(())
}

fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
    bytes.chunks_exact(N).map(|word| word.try_into().expect("chunks of this size"))
}

/// Reads the bytes of a regular file, if there is room for them and for `numbers` numbers of 64 bits for every 8 bytes,
/// which will be read from them.
pub fn read_file(path: &Path, numbers: usize) -> Result<Vec<u8>> {
    let unreadable = |error: std::io::Error| {
        let message = format!("cannot be read: {error}");
        Error::file(path, message, "check the path and the permissions").caused_by(error)
    };
    // Anything else, such as a device, might never end.
    if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(Error::file(path, "is not a file", "name a file that was written by dualgap"));
    }
    let in_file = |error: Error| {
        let remedy = error.remedy().unwrap_or_default().to_string();
        Error::file(path, error.to_string(), remedy).caused_by(error)
    };
    let bytes = std::fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::OutOfMemory => in_file(short_of("the file has no room")),
        _ => unreadable(error),
    })?;
    reserve_check((bytes.len() / 8).saturating_mul(numbers)).map_err(in_file)?;
    Ok(bytes)
}
