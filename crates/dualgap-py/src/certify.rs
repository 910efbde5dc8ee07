//! Appraisal: how far from the optimum weights are that came from elsewhere.

use crate::data::Data;
use crate::fit::Request;
use crate::model::certificate_of;
use crate::running::{dict, observed, settled, to_python};
use crate::structures::PyStructure;
use dualgap::linalg::on_threads;
use dualgap::run::{Interrupt, Observer};
use dualgap::structure::{Linear, Multiclass, Structure};
use dualgap::task::{Appraisal, Plan};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Prove how far from the optimum of a problem weights are, whoever made them.
///
/// The weights are in the order of the structure: for classes, one for each label of the first feature, then of the
/// second. Returns the bounds as a dict, and the exception of a signal or of the callback that ended the run
/// early, if there was one.
#[pyfunction]
#[pyo3(signature = (structure, data, request, arrays, weights, *, callback=None))]
pub fn appraise<'py>(
    py: Python<'py>,
    structure: &str,
    data: &Data,
    request: &str,
    arrays: &Bound<'py, PyDict>,
    weights: Vec<f64>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    // Whatever other packages fit is one of these two; more structures would only make the extension larger.
    if structure == Linear::NAME {
        appraise_one::<Linear>(py, data, request, arrays, &weights, callback)
    } else if structure == Multiclass::NAME {
        appraise_one::<Multiclass>(py, data, request, arrays, &weights, callback)
    } else {
        Err(PyValueError::new_err(format!(
            "weights of the structure `{structure}` are certified with their model only"
        )))
    }
}

fn appraise_one<'py, S: PyStructure>(
    py: Python<'py>,
    data: &Data,
    request: &str,
    arrays: &Bound<'py, PyDict>,
    weights: &[f64],
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let request = Request::<S>::read(request, arrays)?;
    let data = S::data(&data.0)?;
    let interrupt = Interrupt::default();
    let (found, raised) = observed(py, &interrupt, None, callback.as_ref(), |mut callback| {
        let task = request.task.resolve(data)?;
        let plan = Plan {
            method: request.method()?,
            threads: request.threads,
            observer: callback.as_mut().map(|callback| callback as &mut dyn Observer),
            ..Plan::new(request.limits.budget(&interrupt))
        };
        on_threads(request.threads, || task.appraise(data, weights, plan))?
    });
    let (found, raised) = settled(found, None, raised)?;
    let found = appraisal_of(py, &found)?;
    (found, raised.map(|error| error.into_value(py))).into_pyobject(py)
}

/// Returns an appraisal as a dict.
fn appraisal_of<'py>(py: Python<'py>, found: &Appraisal) -> PyResult<Bound<'py, PyDict>> {
    dict(
        py,
        &[
            ("certificate", certificate_of(py, &found.certificate)?),
            ("at_most", to_python(py, &found.at_most())?),
            ("at_least", to_python(py, &found.at_least())?),
            ("passes", to_python(py, &found.passes)?),
            ("stop", to_python(py, &found.stop)?),
            ("problem", to_python(py, &found.problem.lines)?),
        ],
    )
}
