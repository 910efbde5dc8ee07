//! Inputs of a Python oracle: any object, with a digest of its content for the fingerprint of the data.

use super::value::described;
use dualgap::container::Digest;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString,
    PyTuple,
};
use serde::{Serialize, Serializer};
use std::sync::Arc;

/// How deep an input may be nested: one that contains itself has no end.
const DEPTH: usize = 64;

/// An input. Its digest stands for its content, in fingerprints of data and wherever inputs are compared.
#[derive(Clone, Debug)]
pub struct Input {
    pub object: Arc<Py<PyAny>>,
    pub digest: Arc<str>,
}

impl Input {
    /// Returns an input whose content is that of `key`, which is the object itself unless the oracle has another one.
    pub fn new(object: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut content = Vec::new();
        put(key, DEPTH, &mut content)?;
        let digest = Digest::of(&content).into();
        Ok(Self { object: Arc::new(object.clone().unbind()), digest })
    }
}

impl Serialize for Input {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.digest)
    }
}

/// Appends a kind and the bytes of one, with their number before them: no two contents have the same bytes.
fn put_bytes(kind: u8, bytes: &[u8], content: &mut Vec<u8>) {
    content.push(kind);
    content.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    content.extend_from_slice(bytes);
}

fn put(object: &Bound<'_, PyAny>, depth: usize, content: &mut Vec<u8>) -> PyResult<()> {
    if depth == 0 {
        return Err(PyValueError::new_err(format!("an input has more than {DEPTH} levels")));
    }
    let put_members =
        |members: &mut dyn Iterator<Item = PyResult<Bound<'_, PyAny>>>| -> PyResult<Vec<Vec<u8>>> {
            let each = |member: PyResult<Bound<'_, PyAny>>| {
                let mut bytes = Vec::new();
                put(&member?, depth - 1, &mut bytes).map(|()| bytes)
            };
            members.map(each).collect()
        };
    if object.is_none() {
        content.push(b'n');
    } else if let Ok(flag) = object.cast::<PyBool>() {
        content.extend_from_slice(&[b'b', u8::from(flag.is_true())]);
    } else if object.is_instance_of::<PyInt>() {
        // Whole numbers of any size, as digits.
        put_bytes(b'i', object.str()?.to_cow()?.as_bytes(), content);
    } else if let Ok(number) = object.cast::<PyFloat>() {
        put_bytes(b'f', &number.value().to_le_bytes(), content);
    } else if let Ok(text) = object.cast::<PyString>() {
        put_bytes(b's', text.to_cow()?.as_bytes(), content);
    } else if let Ok(bytes) = object.cast::<PyBytes>() {
        put_bytes(b'y', bytes.as_bytes(), content);
    } else if let Ok(bytes) = object.cast::<PyByteArray>() {
        put_bytes(b'y', &bytes.to_vec(), content);
    } else if let Ok(tuple) = object.cast::<PyTuple>() {
        let members = put_members(&mut tuple.iter().map(Ok))?;
        put_bytes(b't', &members.concat(), content);
    } else if let Ok(list) = object.cast::<PyList>() {
        let members = put_members(&mut list.iter().map(Ok))?;
        put_bytes(b't', &members.concat(), content);
    } else if let Ok(dict) = object.cast::<PyDict>() {
        // The order in which a dict was filled is not part of its content.
        let mut members = put_members(&mut dict.items().iter().map(Ok))?;
        members.sort_unstable();
        put_bytes(b'd', &members.concat(), content);
    } else if object.is_instance_of::<PySet>() || object.is_instance_of::<PyFrozenSet>() {
        let mut members = put_members(&mut object.try_iter()?)?;
        members.sort_unstable();
        put_bytes(b'u', &members.concat(), content);
    } else {
        put_other(object, depth, content)?;
    }
    Ok(())
}

/// Appends the content of an array, a sparse matrix or a dataclass.
fn put_other(object: &Bound<'_, PyAny>, depth: usize, content: &mut Vec<u8>) -> PyResult<()> {
    let py = object.py();
    let numpy = py.import("numpy")?;
    if object.is_instance(&numpy.getattr("generic")?)? {
        return put(&object.call_method0("item")?, depth - 1, content);
    }
    if object.is_instance(&numpy.getattr("ndarray")?)? {
        let kind = object.getattr("dtype")?;
        if kind.getattr("hasobject")?.is_truthy()? {
            return put(&object.call_method0("tolist")?, depth - 1, content);
        }
        let little = kind.call_method1("newbyteorder", ("<",))?;
        let array = object.call_method1("astype", (&little,))?;
        put_bytes(b'a', little.getattr("str")?.str()?.to_cow()?.as_bytes(), content);
        put(&object.getattr("shape")?, depth - 1, content)?;
        let bytes = array.call_method0("tobytes")?;
        put_bytes(b'a', bytes.cast::<PyBytes>()?.as_bytes(), content);
        return Ok(());
    }
    if object.hasattr("tocoo")? && object.hasattr("sum_duplicates")? {
        content.push(b'm');
        let sorted = object.call_method0("tocsr")?.call_method0("copy")?;
        sorted.call_method0("sum_duplicates")?;
        for part in ["shape", "data"] {
            put(&sorted.getattr(part)?, depth - 1, content)?;
        }
        for part in ["indices", "indptr"] {
            // They have 32 or 64 bits, and mean the same.
            let wide = sorted.getattr(part)?.call_method1("astype", ("int64",))?;
            put(&wide, depth - 1, content)?;
        }
        return Ok(());
    }
    if object.hasattr("__dataclass_fields__")? {
        let fields = object.getattr("__dataclass_fields__")?;
        put_bytes(b'c', object.get_type().name()?.to_cow()?.as_bytes(), content);
        for name in fields.call_method0("keys")?.try_iter()? {
            let name = name?;
            put(&name, depth - 1, content)?;
            put(&object.getattr(name.cast::<PyString>()?)?, depth - 1, content)?;
        }
        return Ok(());
    }
    Err(PyTypeError::new_err(format!(
        "an input, or a part of it, is {}, which has no content that can be identified: give the oracle a method \
         `key(x)` that returns a string or bytes for every input, another one for another input",
        described(object)
    )))
}
