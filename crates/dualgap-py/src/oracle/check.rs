//! The test of a Python oracle against its contract.

use super::definition::PyOracle;
use super::input::Input;
use super::object::Trust;
use super::value::Value;
use crate::data::{Data, Held};
use crate::errors::OrRaise;
use crate::running::{dict, interruptible};
use dualgap::structure::{OracleCheck, check_own_oracle};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Mutex;

/// Check an oracle on labelled data; see the library's `check_own_oracle`.
///
/// Returns how many outputs were decoded, how many of them no known output is better than, how many pairs were looked at,
/// and the breaches: the example, the clause, and how it is broken.
#[pyfunction]
#[pyo3(signature = (description, oracle, data, *, draws, seed, all_outputs=None, some_outputs=None))]
#[allow(clippy::too_many_arguments)] // named by the caller
pub fn check_oracle<'py>(
    py: Python<'py>,
    description: &str,
    oracle: &Bound<'py, PyAny>,
    data: &Data,
    draws: usize,
    seed: u64,
    all_outputs: Option<Py<PyAny>>,
    some_outputs: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let described: PyOracle = serde_json::from_str(description).or_raise()?;
    let oracle = described.attached(oracle, Trust::Nothing)?;
    let Held::Own(data) = &data.0 else {
        return Err(PyTypeError::new_err("an oracle is checked on inputs with their outputs"));
    };
    let raised = Mutex::new(None);
    let listed = |function: &Option<Py<PyAny>>, x: &Input| -> Option<Vec<Value>> {
        let function = function.as_ref()?;
        let list = Python::attach(|py| -> PyResult<_> {
            let found = function.bind(py).call1((&*x.object,))?;
            if found.is_none() {
                return Ok(None);
            }
            found.try_iter()?.map(|y| Value::from_python(&y?)).collect::<PyResult<_>>().map(Some)
        });
        list.unwrap_or_else(|error| {
            if let Ok(mut raised) = raised.lock() {
                raised.get_or_insert(error);
            }
            None
        })
    };
    let (checked, signal) = interruptible(py, &oracle.halt(), || {
        let all = |x: &Input| listed(&all_outputs, x);
        let some = |x: &Input| listed(&some_outputs, x).unwrap_or_default();
        let check = OracleCheck { draws, seed, all: Some(&all), some: Some(&some) };
        check_own_oracle(&oracle, data.examples(), &check)
    });
    let listing = raised.into_inner().unwrap_or_default();
    if let Some(error) = signal.or_else(|| oracle.raised()).or(listing) {
        return Err(error);
    }
    let breaches: Vec<(usize, String, String)> = checked
        .breaches
        .iter()
        .map(|breach| (breach.example, breach.clause.to_string(), breach.message.clone()))
        .collect();
    dict(
        py,
        &[
            ("breaches", breaches.into_pyobject(py)?.into_any()),
            ("decoded", checked.decoded.into_pyobject(py)?.into_any()),
            ("best", checked.best.into_pyobject(py)?.into_any()),
            ("pairs", checked.pairs.into_pyobject(py)?.into_any()),
        ],
    )
}
