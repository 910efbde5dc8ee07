//! Training: a task as JSON, data, and what Python wants to see of the run.

use crate::data::Data;
use crate::errors::OrRaise;
use crate::model::{Model, certificate_of};
use crate::running::{Flag, dict, observed, settled, to_python};
use crate::structures::{PyStructure, for_structure};
use dualgap::data::Recipe;
use dualgap::run::{Budget, Interrupt, Observer, Report, Tolerance};
use dualgap::task::{Candidate, Chosen, Method, Over, PenaltySpec, Plan, TaskSpec, TrialPlan};
use dualgap::{Error, Result};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// When a run stops, by the program's names.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    tolerance: Option<f64>,
    absolute_tolerance: Option<f64>,
    passes: Option<u64>,
    oracle_calls: Option<u64>,
    time: Option<f64>,
}

impl Limits {
    /// Returns the budget, which `interrupt` can end.
    pub fn budget(&self, interrupt: &Interrupt) -> Budget {
        Budget {
            relative: self.tolerance,
            absolute: self.absolute_tolerance,
            passes: self.passes,
            oracle_calls: self.oracle_calls,
            seconds: self.time,
            interrupt: interrupt.clone(),
            ..Budget::default()
        }
    }

    /// Returns the gap that a path has at most at every λ.
    pub fn of_path(&self) -> Tolerance {
        match (self.tolerance, self.absolute_tolerance) {
            (None, Some(gap)) => Tolerance::Absolute(gap),
            (share, _) => Tolerance::Relative(share.unwrap_or(0.01)), // as in the program
        }
    }
}

/// A problem and how to solve it, as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request<S> {
    /// The problem.
    #[serde(bound(deserialize = "S: DeserializeOwned"))]
    pub task: TaskSpec<S>,
    /// What held-out data choose.
    #[serde(default)]
    pub auto: Option<Over>,
    /// The name of the solver.
    #[serde(default = "auto")]
    pub solver: String,
    /// Settings of the solver that differ from its defaults.
    #[serde(default)]
    pub method: Map<String, Value>,
    /// When to stop.
    #[serde(default)]
    pub limits: Limits,
    /// The number of threads; zero stands for all cores.
    #[serde(default)]
    pub threads: usize,
    /// How the program reads a file of such data, which it needs to predict with the model.
    #[serde(default)]
    pub recipe: Option<Recipe>,
}

fn auto() -> String {
    "auto".into()
}

impl<S: PyStructure> Request<S> {
    /// Reads a request; `arrays` complete the structure.
    pub fn read(text: &str, arrays: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut request: Self = serde_json::from_str(text).or_raise()?;
        request.task.structure = request.task.structure.complete(arrays)?;
        Ok(request)
    }

    /// Returns the seed of the solver, which also deals folds.
    fn seed(&self) -> u64 {
        self.method.get("seed").and_then(Value::as_u64).unwrap_or(0)
    }

    /// Returns the problem with definite strengths, σ_max if σ is a fraction of it, and what held-out data have chosen.
    fn settled(
        &self,
        data: &S::Data,
        interrupt: &Interrupt,
    ) -> Result<(TaskSpec<S>, Option<f64>, Option<Chosen>)> {
        let Some(over) = self.auto else {
            let (task, most) = self.task.settled(data)?;
            return Ok((task, most, None));
        };
        let plan = TrialPlan {
            budget: self.limits.budget(interrupt),
            method: self.method()?,
            threads: self.threads,
        };
        let Some(chosen) = self.task.choose(data, over, &plan, self.seed(), || ())? else {
            return Err(Error::setting(
                "the run was ended before held-out data had chosen anything",
            ));
        };
        let (task, most) = self.task.at(over, chosen.value)?.settled(data)?;
        Ok((task, most, Some(chosen)))
    }

    /// Returns the solver and its settings.
    pub fn method(&self) -> Result<Method> {
        let in_ball = matches!(self.task.penalty, PenaltySpec::Ball { .. });
        Method::named(&self.solver, in_ball)?.with(&self.method)
    }
}

/// Train a model.
///
/// Returns the model, a report as a dict, and the exception of a signal or of the callback that ended the run early, if
/// there was one.
#[pyfunction]
#[pyo3(signature = (structure, data, request, arrays, *, warm_start=None, watch=None, callback=None, interrupt=None))]
#[allow(clippy::too_many_arguments)] // named by the caller
pub fn fit<'py>(
    py: Python<'py>,
    structure: &str,
    data: &Data,
    request: &str,
    arrays: &Bound<'py, PyDict>,
    warm_start: Option<&Model>,
    watch: Option<&Data>,
    callback: Option<Py<PyAny>>,
    interrupt: Option<&Flag>,
) -> PyResult<Bound<'py, PyTuple>> {
    let interrupt = interrupt.map(|flag| flag.0.clone()).unwrap_or_default();
    let extras = Extras { warm_start, watch, callback, interrupt };
    for_structure!(structure, fit_one(py, data, request, arrays, extras))
        .unwrap_or_else(|| Err(unknown(structure)))
}

/// Returns the error for a structure that there is not.
pub fn unknown(structure: &str) -> PyErr {
    PyValueError::new_err(format!("there is no structure `{structure}`"))
}

/// What a run has besides its problem.
struct Extras<'a> {
    warm_start: Option<&'a Model>,
    watch: Option<&'a Data>,
    callback: Option<Py<PyAny>>,
    interrupt: Interrupt,
}

fn fit_one<'py, S: PyStructure>(
    py: Python<'py>,
    data: &Data,
    request: &str,
    arrays: &Bound<'py, PyDict>,
    extras: Extras<'_>,
) -> PyResult<Bound<'py, PyTuple>> {
    let request = Request::<S>::read(request, arrays)?;
    let train = S::data(&data.0)?;
    let watch = extras.watch.map(|data| S::data(&data.0)).transpose()?;
    let warm_start = match extras.warm_start {
        None => None,
        Some(model) => Some(model.of_structure::<S>()?),
    };
    let interrupt = extras.interrupt;
    let (halt, function) = (request.task.structure.halt(), extras.callback.as_ref());
    let (report, raised) = observed(py, &interrupt, Some(&halt), function, |mut callback| {
        let (task, most, chosen) = request.settled(train, &interrupt)?;
        let task = task.resolve(train)?;
        let plan = Plan {
            method: request.method()?,
            threads: request.threads,
            observer: callback.as_mut().map(|callback| callback as &mut dyn Observer),
            watch,
            warm_start,
            ..Plan::new(request.limits.budget(&interrupt))
        };
        let report = task.fit(train, plan)?;
        let remarks = report.advice(train)?;
        Ok((report, remarks, most, chosen))
    });
    let (found, raised) = settled(report, request.task.structure.raised(), raised)?;
    let (report, remarks, most, chosen) = found;
    let (mut model, report) = report.split();
    model.provenance.recipe = request.recipe;
    let report = report_of(py, &report)?;
    report.set_item("remarks", to_python(py, &remarks)?)?;
    report.set_item("l1_max", most)?;
    report.set_item("auto", chosen.map(|chosen| auto_of(py, &chosen)).transpose()?)?;
    (Model::new(model), report, raised.map(|error| error.into_value(py))).into_pyobject(py)
}

/// Returns what held-out data have chosen, as a dict.
fn auto_of<'py>(py: Python<'py>, chosen: &Chosen) -> PyResult<Bound<'py, PyDict>> {
    let of_each = |value: fn(&Candidate) -> f64| -> Vec<f64> {
        chosen.found.candidates.iter().map(value).collect()
    };
    dict(
        py,
        &[
            ("over", to_python(py, &chosen.found.over)?),
            ("value", to_python(py, &chosen.value)?),
            ("values", to_python(py, &of_each(|candidate| candidate.value))?),
            ("errors", to_python(py, &of_each(Candidate::error))?),
            ("standard_errors", to_python(py, &of_each(Candidate::standard_error))?),
            ("edge", to_python(py, &chosen.found.edge())?),
            ("folds", to_python(py, &chosen.folds)?),
            ("seed", to_python(py, &chosen.seed)?),
        ],
    )
}

/// Returns a report as a dict.
pub fn report_of<'py>(py: Python<'py>, report: &Report<()>) -> PyResult<Bound<'py, PyDict>> {
    dict(
        py,
        &[
            ("certificate", certificate_of(py, &report.certificate)?),
            ("stop", to_python(py, &report.stop)?),
            ("passes", to_python(py, &report.passes)?),
            ("work", to_python(py, &report.work)?),
            ("solve_seconds", to_python(py, &report.solve_seconds)?),
            ("certify_seconds", to_python(py, &report.certify_seconds)?),
            ("tactics", to_python(py, &report.tactics)?),
            ("counters", to_python(py, &report.counters)?),
            ("history", to_python(py, &report.history)?),
        ],
    )
}
