//! Cross-validation: every λ, σ or radius of a grid on every fold.

use crate::data::Data;
use crate::errors::{OrRaise, exception};
use crate::fit::{Request, unknown};
use crate::model::certificate_of;
use crate::running::{dict, interruptible, to_python};
use crate::structures::{PyStructure, for_structure};
use dualgap::data::{DataSet, Folds};
use dualgap::run::{Interrupt, Stop};
use dualgap::structure::Structure;
use dualgap::task::{Candidate, CrossValidation, Grid, Over, Strength, TaskSpec, Trial, TrialPlan};
use dualgap::{Error, Result};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Try every number of a grid on every fold.
///
/// `values` are numbers, multiples of 1/n or fractions of the largest l1 as text, of what the grid is `over`: `lambda`, `l1` or
/// `radius`. With a `count`, they are the two ends of a grid of so many on a logarithmic scale; without any, the grid is
/// the one that suits the data. `folds` are a number of folds, which are dealt by the `seed`, or the fold of each example. The
/// `callback` receives the numbers of the runs that have ended and of all, and ends the search by returning `True`.
///
/// Returns a dict of what was found.
#[pyfunction]
#[pyo3(signature = (structure, data, request, arrays, values, folds, *, over="lambda", count=None, seed=0, callback=None))]
#[allow(clippy::too_many_arguments)] // named by the caller
pub fn cross_validate<'py>(
    py: Python<'py>,
    structure: &str,
    data: &Data,
    request: &str,
    arrays: &Bound<'py, PyDict>,
    values: Vec<String>,
    folds: Dealt,
    over: &str,
    count: Option<usize>,
    seed: u64,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let grid = Ends::read(over, &values, count)?;
    for_structure!(structure, search(py, data, request, arrays, grid, (folds, seed), callback))
        .unwrap_or_else(|| Err(unknown(structure)))
}

/// The folds as Python gives them.
#[derive(FromPyObject)]
pub enum Dealt {
    /// How many to deal.
    Count(usize),
    /// The fold of each example.
    Given(Vec<u8>),
}

/// The numbers to try, as Python gives them.
pub struct Ends {
    pub over: Over,
    values: Vec<Strength>,
    count: Option<usize>,
}

impl Ends {
    /// Reads the name of what a grid is over, and its numbers.
    pub fn read(over: &str, values: &[String], count: Option<usize>) -> PyResult<Self> {
        let over = serde_json::from_value(over.into()).or_raise()?;
        let values = values.iter().map(|text| text.parse()).collect::<Result<_>>().or_raise()?;
        Ok(Self { over, values, count })
    }

    /// Returns the numbers for these data. They are those of the program, bit for bit.
    pub fn resolve<S: Structure>(&self, task: &TaskSpec<S>, data: &S::Data) -> Result<Grid> {
        let Self { over, values, count } = self;
        if values.is_empty() {
            return task.default_grid(data, *over);
        }
        let values = values.iter().map(|&strength| task.number(data, *over, strength));
        let values = values.collect::<Result<Vec<f64>>>()?;
        let values = match (count, values.as_slice()) {
            (None, _) => values,
            (Some(count), &[from, to]) => Grid::spaced(from, to, *count)?,
            _ => return Err(Error::setting("a grid has two ends")),
        };
        Ok(Grid { over: *over, values })
    }
}

fn search<'py, S: PyStructure>(
    py: Python<'py>,
    data: &Data,
    request: &str,
    arrays: &Bound<'py, PyDict>,
    ends: Ends,
    (dealt, seed): (Dealt, u64),
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let request = Request::<S>::read(request, arrays)?;
    let train = S::data(&data.0)?;
    let interrupt = Interrupt::default();
    let raised_by_callback = Mutex::new(None);
    let (found, raised) = interruptible(py, &interrupt, || {
        let grid = ends.resolve(&request.task, train)?;
        for &value in &grid.values {
            request.task.at(grid.over, value)?.resolve(train)?.check()?;
        }
        let folds = match &dealt {
            Dealt::Count(count) => {
                let task = request.task.at(grid.over, grid.values[0])?.resolve(train)?;
                task.folds(train, *count, seed)?
            }
            Dealt::Given(numbers) => Folds::given(numbers)?,
        };
        request.task.check_folds(train, &folds)?;
        let plan = TrialPlan {
            budget: request.limits.budget(&interrupt),
            method: request.method()?,
            threads: request.threads,
        };
        let (done, runs) = (AtomicUsize::new(0), folds.count() * grid.values.len());
        let ended = || {
            let Some(function) = &callback else { return };
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            match Python::attach(|py| function.bind(py).call1((done, runs))?.is_truthy()) {
                Ok(false) => (),
                Ok(true) => interrupt.raise(),
                Err(error) => {
                    interrupt.raise();
                    raised_by_callback
                        .lock()
                        .expect("no thread panics with it")
                        .get_or_insert(error);
                }
            }
        };
        let found = request.task.cross_validate(train, &folds, grid, &plan, ended)?;
        let numbers = (0..train.len()).map(|i| folds.of(i)).collect();
        Ok(found.map(|found| (found, numbers)))
    });
    let raised_by_callback = raised_by_callback.into_inner().expect("no thread panics with it");
    if let Some(raised) = request.task.structure.raised().or(raised_by_callback).or(raised) {
        return Err(raised);
    }
    let (found, numbers) = found.map_err(exception)?.ok_or_else(|| {
        PyRuntimeError::new_err(
            "the cross-validation was ended before every number was tried, and none was chosen",
        )
    })?;
    findings(py, &found, numbers)
}

/// Returns the results as a dict. What has an entry for every trial has a list for every number, of one for each fold.
fn findings<'py>(
    py: Python<'py>,
    found: &CrossValidation,
    folds: Vec<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let candidates = &found.candidates;
    let of_each =
        |value: fn(&Candidate) -> f64| -> Vec<f64> { candidates.iter().map(value).collect() };
    let of_trials = |value: fn(&Trial) -> f64| -> Vec<Vec<f64>> {
        candidates.iter().map(|candidate| candidate.trials.iter().map(value).collect()).collect()
    };
    let certificates = candidates.iter().map(|candidate| {
        let trials = candidate.trials.iter();
        trials.map(|trial| certificate_of(py, &trial.certificate)).collect()
    });
    let certificates = certificates.collect::<PyResult<Vec<Vec<_>>>>()?;
    let reached = candidates.iter().map(|candidate| {
        let trials = candidate.trials.iter();
        trials.map(|trial| trial.stop == Stop::GapReached).collect()
    });
    let reached: Vec<Vec<bool>> = reached.collect();
    dict(
        py,
        &[
            ("values", to_python(py, &of_each(|candidate| candidate.value))?),
            ("mean", to_python(py, &of_each(Candidate::error))?),
            ("standard_error", to_python(py, &of_each(Candidate::standard_error))?),
            ("errors", to_python(py, &of_trials(|trial| trial.score.error))?),
            ("passes", to_python(py, &of_trials(|trial| trial.passes))?),
            ("seconds", to_python(py, &of_trials(|trial| trial.seconds))?),
            ("certificates", certificates.into_pyobject(py)?),
            ("worst_gap", to_python(py, &of_each(Candidate::worst_relative_gap_bound))?),
            ("reached", to_python(py, &reached)?),
            ("best", to_python(py, &found.best())?),
            ("simplest", to_python(py, &found.simplest())?),
            ("edge", to_python(py, &found.edge())?),
            ("folds", to_python(py, &folds)?),
        ],
    )
}
