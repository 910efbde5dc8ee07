//! Paths: models that together are within a tolerance at every λ of an interval.

use crate::cv::Ends;
use crate::data::Data;
use crate::errors::OrRaise;
use crate::fit::{Request, report_of, unknown};
use crate::model::{Model, certificate_of};
use crate::running::{dict, observed, settled, to_python};
use crate::structures::{PyStructure, for_structure};
use dualgap::linalg::Measured;
use dualgap::run::{Budget, Interrupt, Interval, Observer};
use dualgap::task::{Ending, PathPlan, Piece, Strength, TrialPlan};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// What one model and its dual point prove at every λ; see the library's `Reach`.
#[pyclass(frozen, module = "dualgap._dualgap")]
pub struct Reach(dualgap::run::Reach);

/// A number and a bound on its error.
type Part = (f64, f64);

#[pymethods]
impl Reach {
    /// Restore a pickled one.
    #[new]
    fn new(
        fixed: Part,
        square: Part,
        dual: Part,
        conjugate: Part,
        certified: bool,
        basis: &str,
    ) -> PyResult<Self> {
        let measured = |(value, error): Part| Measured { value, error };
        Ok(Self(dualgap::run::Reach {
            fixed: measured(fixed),
            square: measured(square),
            dual: measured(dual),
            conjugate: measured(conjugate),
            certified,
            basis: serde_json::from_str(basis).or_raise()?,
        }))
    }

    fn __getnewargs__(&self) -> PyResult<(Part, Part, Part, Part, bool, String)> {
        let part = |measured: Measured| (measured.value, measured.error);
        let Self(reach) = self;
        let basis = serde_json::to_string(&reach.basis).or_raise()?;
        let (fixed, square) = (part(reach.fixed), part(reach.square));
        Ok((fixed, square, part(reach.dual), part(reach.conjugate), reach.certified, basis))
    }

    /// Return the certificate of the model at a λ, as a dict.
    fn certificate<'py>(&self, py: Python<'py>, lam: f64) -> PyResult<Bound<'py, PyAny>> {
        certificate_of(py, &self.0.certificate(lam).or_raise()?)
    }
}

/// Compute a path between `low` and `high`, which are numbers or multiples of 1/n as text. Either may be the larger.
///
/// Returns the pieces, each as a tuple of the model, its report, the ends of its interval and its `Reach`; a dict that
/// says how much is covered; and the exception of a signal or of the callback that ended the path early, if there was one.
#[pyfunction]
#[pyo3(signature = (structure, data, request, arrays, low, high, *, callback=None))]
#[allow(clippy::too_many_arguments)] // named by the caller
pub fn path<'py>(
    py: Python<'py>,
    structure: &str,
    data: &Data,
    request: &str,
    arrays: &Bound<'py, PyDict>,
    low: &str,
    high: &str,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let ends = [low.parse::<Strength>().or_raise()?, high.parse::<Strength>().or_raise()?];
    for_structure!(structure, path_of(py, data, request, arrays, ends, callback))
        .unwrap_or_else(|| Err(unknown(structure)))
}

fn path_of<'py, S: PyStructure>(
    py: Python<'py>,
    data: &Data,
    request: &str,
    arrays: &Bound<'py, PyDict>,
    ends: [Strength; 2],
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let request = Request::<S>::read(request, arrays)?;
    let train = S::data(&data.0)?;
    let (interrupt, halt) = (Interrupt::default(), request.task.structure.halt());
    let mut pieces: Vec<Piece<S>> = Vec::new();
    let (covered, raised) = observed(py, &interrupt, Some(&halt), callback.as_ref(), |callback| {
        let total = request.task.total(train)?;
        let [a, b] = ends.map(|end| end.resolve(total));
        let (a, b) = (a?, b?);
        let wanted = PathPlan {
            within: Interval::new(a.min(b), a.max(b))?,
            tolerance: request.limits.of_path(),
            budget: request.limits.budget(&interrupt),
            method: request.method()?,
            threads: request.threads,
        };
        let observe =
            |_: &Budget| callback.clone().map(|callback| Box::new(callback) as Box<dyn Observer>);
        // A λ of its own, since the task's may be zero, which is another problem.
        let task = request.task.at_lambda(wanted.within.to)?.resolve(train)?;
        let covered = task.path(train, &wanted, observe, |piece| {
            pieces.push(piece.clone());
            Ok(())
        })?;
        Ok::<_, dualgap::Error>((covered, wanted.within))
    });
    let ((covered, within), raised) = settled(covered, request.task.structure.raised(), raised)?;
    let pieces = pieces.into_iter().map(|Piece { report, reach, interval }| {
        let (mut model, report) = report.split();
        model.provenance.recipe.clone_from(&request.recipe);
        let report = report_of(py, &report)?;
        Ok((Model::new(model), report, (interval.from, interval.to), Reach(reach)))
    });
    let pieces = pieces.collect::<PyResult<Vec<_>>>()?;
    let (lambda, stop) = match covered.ending {
        Ending::Whole => (None, None),
        Ending::Short { lambda, stop } => (Some(lambda), Some(stop)),
    };
    let covered = dict(
        py,
        &[
            ("within", to_python(py, &within)?),
            ("from", to_python(py, &covered.from)?),
            ("passes", to_python(py, &covered.passes)?),
            ("short_of", to_python(py, &lambda)?),
            ("stop", to_python(py, &stop)?),
        ],
    )?;
    (pieces, covered, raised.map(|error| error.into_value(py))).into_pyobject(py)
}

/// Train a model at every number of a grid, from the simplest on. `values` and `count` are as in `cross_validate`.
///
/// Returns the models with their reports; why the path ended early, or None; and the exception of a signal or of the callback
/// that ended it, if there was one.
#[pyfunction]
#[pyo3(signature = (structure, data, request, arrays, over, values, *, count=None, callback=None))]
#[allow(clippy::too_many_arguments)] // named by the caller
pub fn grid_path<'py>(
    py: Python<'py>,
    structure: &str,
    data: &Data,
    request: &str,
    arrays: &Bound<'py, PyDict>,
    over: &str,
    values: Vec<String>,
    count: Option<usize>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let ends = Ends::read(over, &values, count)?;
    for_structure!(structure, grid_path_of(py, data, request, arrays, ends, callback))
        .unwrap_or_else(|| Err(unknown(structure)))
}

fn grid_path_of<'py, S: PyStructure>(
    py: Python<'py>,
    data: &Data,
    request: &str,
    arrays: &Bound<'py, PyDict>,
    ends: Ends,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let request = Request::<S>::read(request, arrays)?;
    let train = S::data(&data.0)?;
    let (interrupt, halt) = (Interrupt::default(), request.task.structure.halt());
    let mut reports = Vec::new();
    let (stop, raised) = observed(py, &interrupt, Some(&halt), callback.as_ref(), |callback| {
        let grid = ends.resolve(&request.task, train)?;
        let plan = TrialPlan {
            budget: request.limits.budget(&interrupt),
            method: request.method()?,
            threads: request.threads,
        };
        let observe =
            |_: &Budget| callback.clone().map(|callback| Box::new(callback) as Box<dyn Observer>);
        request.task.grid_path(train, grid, &plan, observe, |report| {
            reports.push(report.clone());
            Ok(())
        })
    });
    let (stop, raised) = settled(stop, request.task.structure.raised(), raised)?;
    let models = reports.into_iter().map(|report| {
        let (mut model, report) = report.split();
        model.provenance.recipe.clone_from(&request.recipe);
        Ok((Model::new(model), report_of(py, &report)?))
    });
    let models = models.collect::<PyResult<Vec<_>>>()?;
    (models, to_python(py, &stop)?, raised.map(|error| error.into_value(py))).into_pyobject(py)
}
