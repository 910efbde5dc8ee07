//! From tensors to a sealed file.

use super::{Digest, Form, Kind};
use crate::{Error, Result, Source};
use safetensors::tensor::{Dtype, TensorView};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap};

/// A tensor to write: its shape and its little-endian bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tensor {
    /// Floats of 64 bits.
    pub fn f64(shape: &[usize], values: &[f64]) -> Self {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        Self { dtype: Dtype::F64, shape: shape.to_vec(), bytes }
    }

    /// A list of floats of 32 bits, to which the numbers are rounded.
    pub fn f32(values: &[f64]) -> Self {
        let bytes = values.iter().flat_map(|&x| (x as f32).to_le_bytes()).collect();
        Self { dtype: Dtype::F32, shape: vec![values.len()], bytes }
    }

    /// A list of integers of 64 bits.
    pub fn u64(values: &[u64]) -> Self {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        Self { dtype: Dtype::U64, shape: vec![values.len()], bytes }
    }

    /// A list of integers of 32 bits.
    pub fn u32(values: &[u32]) -> Self {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        Self { dtype: Dtype::U32, shape: vec![values.len()], bytes }
    }

    /// Returns the number of bytes.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the SHA-256 of the bytes, which the header of a file has.
    pub fn digest(&self) -> String {
        Digest::of(&self.bytes)
    }

    /// Bytes, which may be text.
    pub fn bytes(bytes: Vec<u8>) -> Self {
        Self { dtype: Dtype::U8, shape: vec![bytes.len()], bytes }
    }
}

/// A sealed file to be: a header and named tensors.
pub struct Writer<'h, H> {
    kind: Kind,
    header: &'h H,
    tensors: Vec<(String, Tensor)>,
}

/// The header of a safetensors file.
#[derive(Serialize)]
struct OfTensors<'a, H> {
    format_version: u32,
    #[serde(flatten)]
    fields: &'a H,
    digests: BTreeMap<&'a str, String>,
}

/// The header of a file in lines.
#[derive(Serialize)]
struct OfLines<'a, H> {
    #[serde(flatten)]
    fields: &'a H,
    digest: String,
}

/// A header with the digest of its text.
#[derive(Serialize)]
struct Sealed {
    seal: String,
    header: Box<RawValue>,
}

impl<'h, H: Serialize> Writer<'h, H> {
    /// A file without tensors. The header is an object: a struct or a map.
    pub fn new(kind: &Kind, header: &'h H) -> Self {
        Self { kind: *kind, header, tensors: Vec::new() }
    }

    /// Adds a tensor.
    pub fn tensor(&mut self, name: &str, tensor: Tensor) {
        self.tensors.push((name.to_string(), tensor));
    }

    /// Returns the bytes of the file. Two tensors of one name are an error.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        match self.kind.form {
            Form::Tensors { .. } => self.as_tensors(),
            Form::Lines => self.as_lines(),
        }
    }

    fn as_tensors(&self) -> Result<Vec<u8>> {
        let digest =
            |(name, tensor): &'_ (String, Tensor)| (name.clone(), Digest::of(&tensor.bytes));
        let digests: BTreeMap<String, String> = self.tensors.iter().map(digest).collect();
        if digests.len() < self.tensors.len() {
            return Err(self.unwritable("two tensors have the same name"));
        }
        let sealed = self.sealed(&OfTensors {
            format_version: self.kind.version,
            fields: self.header,
            digests: digests.iter().map(|(name, digest)| (&name[..], digest.clone())).collect(),
        })?;
        let views: BTreeMap<&str, TensorView<'_>> = self
            .tensors
            .iter()
            .map(|(name, t)| {
                TensorView::new(t.dtype, t.shape.clone(), &t.bytes).map(|view| (&name[..], view))
            })
            .collect::<Result<_, _>>()
            .map_err(|error| self.unwritable(error))?;
        let metadata = HashMap::from([(self.kind.key(), sealed)]);
        safetensors::serialize(views, Some(metadata)).map_err(|error| self.unwritable(error))
    }

    fn as_lines(&self) -> Result<Vec<u8>> {
        let body = match &self.tensors[..] {
            [(name, Tensor { dtype: Dtype::U8, bytes, .. })] if name == "body" => bytes,
            _ => return Err(self.unwritable("it has other tensors than `body`, of bytes")),
        };
        let sealed = self.sealed(&OfLines { fields: self.header, digest: Digest::of(body) })?;
        let mut bytes = format!("{}{sealed}\n", self.kind.first_line()).into_bytes();
        bytes.extend_from_slice(body);
        Ok(bytes)
    }

    /// Returns the header and its seal as text.
    fn sealed(&self, header: &impl Serialize) -> Result<String> {
        let header = serde_json::value::to_raw_value(header).map_err(|e| self.unwritable(e))?;
        let sealed = Sealed { seal: Digest::of(header.get().as_bytes()), header };
        serde_json::to_string(&sealed).map_err(|error| self.unwritable(error))
    }

    fn unwritable(&self, error: impl Into<Source>) -> Error {
        let error = error.into();
        Error::setting(format!("the {} cannot be written: {error}", self.kind.name))
            .caused_by(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() -> crate::Result<()> {
        use crate::container::Reader;

        const NOTES: Kind =
            Kind { name: "notes", form: Form::Tensors { main: false }, oldest: 1, version: 1 };
        let header = serde_json::json!({ "author": "me" });
        let mut writer = Writer::new(&NOTES, &header);
        writer.tensor("pitch", Tensor::f64(&[2], &[440.0, 880.0]));
        let bytes = writer.to_bytes()?;

        let reader = Reader::new(&bytes, &NOTES).unwrap();
        assert_eq!(reader.header::<serde_json::Value>().unwrap()["author"], "me");
        assert_eq!(reader.f64("pitch", &[2]).unwrap(), [440.0, 880.0]);
        Ok(())
    }
}
