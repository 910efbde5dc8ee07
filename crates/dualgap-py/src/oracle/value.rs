//! Outputs of a Python oracle: numbers, strings, bytes, and tuples of them. They are stored as such, so that a model file
//! has no code in it.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde::{Deserialize, Serialize};

/// How deep tuples may be nested. A list that contains itself has no end, and outputs in use have two or three levels.
const DEPTH: usize = 32;

/// An output. A tuple is followed by its members, so that bytes of a file, however deep they claim to be nested, are read
/// without a recursion.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Value(Vec<Token>);

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Token {
    Bool(bool),
    Int(i64),
    /// The bits of a 64-bit floating-point number.
    Float(u64),
    Text(String),
    Bytes(Vec<u8>),
    /// A tuple of so many members.
    Tuple(u64),
}

impl Value {
    /// Returns an output of Python. Lists and arrays become tuples, and numbers of numpy plain ones.
    pub fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut tokens = Vec::new();
        put(object, DEPTH, &mut tokens)?;
        Ok(Self(tokens))
    }

    /// Returns the output as Python has it, or an error for one that a strange file has made up.
    pub fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut tokens = self.0.iter();
        match take(py, DEPTH, &mut tokens)? {
            Some(object) if tokens.len() == 0 => Ok(object),
            _ => Err(PyValueError::new_err("an output of the model file is none that Python has")),
        }
    }
}

fn put(object: &Bound<'_, PyAny>, depth: usize, tokens: &mut Vec<Token>) -> PyResult<()> {
    if depth == 0 {
        return Err(PyValueError::new_err(format!("an output has more than {DEPTH} levels")));
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        tokens.push(Token::Tuple(tuple.len() as u64));
        return tuple.iter().try_for_each(|member| put(&member, depth - 1, tokens));
    }
    if let Ok(list) = object.cast::<PyList>() {
        return put(list.to_tuple().as_any(), depth, tokens);
    }
    tokens.push(if let Ok(flag) = object.cast::<PyBool>() {
        Token::Bool(flag.is_true())
    } else if object.is_instance_of::<PyInt>() {
        let too_large = |_| PyValueError::new_err(format!("{object} does not fit into 64 bits"));
        Token::Int(object.extract().map_err(too_large)?)
    } else if let Ok(number) = object.cast::<PyFloat>() {
        let number = number.value();
        if number.is_nan() {
            return Err(PyValueError::new_err("an output cannot contain nan: it equals nothing"));
        }
        // The two zeros are equal, so they have the same bits.
        Token::Float((number + 0.0).to_bits())
    } else if let Ok(text) = object.cast::<PyString>() {
        Token::Text(text.to_cow()?.into_owned())
    } else if let Ok(bytes) = object.cast::<PyBytes>() {
        Token::Bytes(bytes.as_bytes().to_vec())
    } else if object.hasattr("tolist")? {
        return put(&object.call_method0("tolist")?, depth - 1, tokens);
    } else {
        return Err(PyTypeError::new_err(format!(
            "an output is a number, a string, bytes, or a tuple of them, not {}",
            described(object)
        )));
    });
    Ok(())
}

/// Returns an object for a message: what it is, and what it looks like if that is short.
pub fn described(object: &Bound<'_, PyAny>) -> String {
    let kind =
        object.get_type().name().map_or_else(|_| "an object".into(), |name| name.to_string());
    match object.repr() {
        Ok(text) if text.len().is_ok_and(|len| len <= 60) => format!("{text} ({kind})"),
        _ => format!("an object of the type {kind}"),
    }
}

fn take<'py>(
    py: Python<'py>,
    depth: usize,
    tokens: &mut std::slice::Iter<'_, Token>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(token) = tokens.next().filter(|_| depth > 0) else { return Ok(None) };
    Ok(Some(match token {
        Token::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Token::Int(number) => number.into_pyobject(py)?.into_any(),
        Token::Float(bits) => f64::from_bits(*bits).into_pyobject(py)?.into_any(),
        Token::Text(text) => PyString::new(py, text).into_any(),
        Token::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Token::Tuple(len) => {
            // A file may claim any length; the members are there or not.
            let mut members = Vec::new();
            for _ in 0..*len {
                let Some(member) = take(py, depth - 1, tokens)? else { return Ok(None) };
                members.push(member);
            }
            PyTuple::new(py, members)?.into_any()
        }
    }))
}
