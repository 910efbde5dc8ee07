//! The library's oracle that calls a Python object.

use super::input::Input;
use super::object::{Object, Trust};
use super::value::Value;
use dualgap::dual::Quality;
use dualgap::linalg::Accumulate;
use dualgap::run::Interrupt;
use dualgap::structure::{Decoded, Extent, Oracle, OwnExamples, OwnOracle};
use dualgap::{Error, Result};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// An oracle that is a Python object. A model file has its name and parameters, but not the object, which is attached
/// after the file was read.
#[derive(Clone, Serialize, Deserialize)]
pub struct PyOracle {
    /// The name of the user's structure.
    name: String,
    /// What the user says of it, as JSON.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    params: serde_json::Value,
    /// The dimension of the features.
    dim: usize,
    #[serde(skip)]
    object: Option<Arc<Object>>,
}

impl PyOracle {
    /// Attaches the object.
    pub fn attached(self, object: &Bound<'_, PyAny>, trust: Trust) -> PyResult<Self> {
        if self.dim == 0 {
            return Err(PyValueError::new_err("the oracle's features have no dimension"));
        }
        let object = Some(Arc::new(Object::new(object, self.dim, trust)?));
        Ok(Self { object, ..self })
    }

    /// Returns the first exception that a method of the object raised since the last call.
    pub fn raised(&self) -> Option<PyErr> {
        self.object.as_ref().and_then(|object| object.take_raised())
    }

    /// Returns the flag that makes all further calls of the object fail.
    pub fn halt(&self) -> Interrupt {
        self.object.as_ref().map(|object| object.halt.clone()).unwrap_or_default()
    }

    /// Calls the object; `None` if there is none, or if it raised an exception.
    fn call<T>(&self, work: impl FnOnce(Python<'_>, &Object) -> PyResult<T>) -> Option<T> {
        let object = self.object.as_ref()?;
        object.call(|py| work(py, object))
    }

    /// [`call`](Self::call) where the library has room for an error. The caller of the library raises the exception.
    fn try_call<T>(&self, work: impl FnOnce(Python<'_>, &Object) -> PyResult<T>) -> Result<T> {
        self.call(work).ok_or_else(|| {
            Error::setting(match self.object {
                Some(_) => "the oracle raised an exception",
                None => {
                    "the model file has no oracle in it: load it by StructuredSVM.load(path, oracle)"
                }
            })
        })
    }
}

impl fmt::Debug for PyOracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PyOracle").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for PyOracle {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.params, self.dim) == (&other.name, &other.params, other.dim)
    }
}

impl Oracle for PyOracle {
    type Input = Input;
    type Output = Value;
    type Scratch = ();

    fn dim(&self) -> usize {
        self.dim
    }

    /// An exception becomes a feature that is no number, which the library refuses.
    fn features(&self, x: &Input, y: &Value, out: &mut impl Accumulate) {
        match self.call(|py, object| object.features(py, x, y)) {
            Some(entries) => entries.iter().for_each(|&(j, value)| out.add(j, value)),
            None => out.add(0, f64::NAN),
        }
    }

    /// An exception becomes a loss that is no number, which the library refuses.
    fn loss(&self, _: &Input, truth: &Value, y: &Value) -> f64 {
        self.call(|py, object| object.loss(py, truth, y)).unwrap_or(f64::NAN)
    }

    // What the following raise is raised at the end of a run, whatever came of it.

    fn extent(&self, x: &Input) -> Option<Extent> {
        self.object.as_ref()?.extent(x)
    }

    fn radius(&self, x: &Input) -> Option<f64> {
        self.object.as_ref()?.radius(x)
    }

    fn quality(&self) -> Quality {
        self.object.as_ref().map_or(Quality::Exact, |object| object.quality)
    }

    fn work(&self, x: &Input) -> f64 {
        self.object.as_ref().map_or(1.0, |object| object.work(x))
    }

    fn decode(
        &self,
        w: &[f64],
        x: &Input,
        against: Option<&Value>,
        (): &mut (),
    ) -> Result<Decoded<Value>> {
        self.try_call(|py, object| object.decode(py, w, x, against))
    }

    fn decode_batch(
        &self,
        w: &[f64],
        inputs: &[&Input],
        against: Option<&[&Value]>,
    ) -> Result<Option<Vec<Decoded<Value>>>> {
        self.try_call(|py, object| object.decode_batch(py, w, inputs, against))
    }

    fn decode_slack(
        &self,
        w: &[f64],
        x: &Input,
        truth: &Value,
        (): &mut (),
    ) -> Result<Decoded<Value>> {
        self.try_call(|py, object| object.decode_slack(py, w, x, truth))?.ok_or_else(|| {
            Error::setting(
                "slack rescaling needs a method `decode_slack(w, x, truth)` of the oracle",
            )
        })
    }
}

impl OwnOracle for PyOracle {
    const NAME: &'static str = "python";

    fn admits(&self, x: &Input, y: &Value) -> bool {
        self.call(|py, object| object.admits(py, x, y)).unwrap_or(false)
    }
}

/// Returns data of inputs, whose content is that of `keys` if there are any, with outputs if there are any.
pub fn examples(
    inputs: &[Bound<'_, PyAny>],
    keys: Option<&[Bound<'_, PyAny>]>,
    outputs: Option<&[Bound<'_, PyAny>]>,
) -> PyResult<OwnExamples<Input, Value>> {
    let at = |what: &str, i: usize, error: PyErr| {
        Python::attach(|py| {
            let text = format!("the {what} of example {i}: {}", error.value(py));
            PyErr::from_type(error.get_type(py), text)
        })
    };
    let keys = keys.unwrap_or(inputs);
    let fits = keys.len() == inputs.len() && outputs.is_none_or(|all| all.len() == inputs.len());
    if !fits {
        let found = outputs.unwrap_or(keys).len();
        let message = format!("there are {} inputs and {found} outputs", inputs.len());
        return Err(PyValueError::new_err(message));
    }
    let each =
        |(i, (object, key))| Input::new(object, key).map_err(|error: PyErr| at("input", i, error));
    let inputs: Vec<Input> =
        inputs.iter().zip(keys).enumerate().map(each).collect::<PyResult<_>>()?;
    let Some(outputs) = outputs else { return Ok(OwnExamples::unlabelled(inputs)) };
    let each =
        |(i, output)| Value::from_python(output).map_err(|error: PyErr| at("output", i, error));
    let outputs: Vec<Value> = outputs.iter().enumerate().map(each).collect::<PyResult<_>>()?;
    Ok(OwnExamples::new(inputs.into_iter().zip(outputs).collect()))
}
