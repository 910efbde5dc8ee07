//! Cross-validation: every λ of a grid on every fold.

use crate::data::Data;
use crate::errors::{OrRaise, exception};
use crate::fit::{Request, unknown};
use crate::model::certificate_of;
use crate::running::{dict, interruptible, to_python};
use crate::structures::{PyStructure, for_structure};
use dualgap::data::{DataSet, Folds};
use dualgap::run::{Interrupt, Stop};
use dualgap::task::{Candidate, CrossValidation, Strength, Trial, TrialPlan, grid};
use dualgap::{Error, Result};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Try every λ on every fold.
///
/// `lambdas` are numbers or multiples of 1/n as text; with a `count`, they are the two ends of a grid of so many on a
/// logarithmic scale. `folds` are a number of folds, which are dealt by the `seed`, or the fold of each example. The
/// `callback` receives the numbers of the runs that have ended and of all, and ends the search by returning `True`.
///
/// Returns a dict of what was found.
#[pyfunction]
#[pyo3(signature = (structure, data, request, arrays, lambdas, folds, *, count=None, seed=0, callback=None))]
#[allow(clippy::too_many_arguments)] // named by the caller
pub fn cross_validate<'py>(
    py: Python<'py>,
    structure: &str,
    data: &Data,
    request: &str,
    arrays: &Bound<'py, PyDict>,
    lambdas: Vec<String>,
    folds: Dealt,
    count: Option<usize>,
    seed: u64,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let lambdas = lambdas.iter().map(|text| text.parse()).collect::<Result<_>>().or_raise()?;
    let grid = Grid { lambdas, count };
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

/// The λ to try.
struct Grid {
    lambdas: Vec<Strength>,
    count: Option<usize>,
}

impl Grid {
    /// Returns the λ; `total` is the total weight of the examples. The numbers are those of the program, bit for bit.
    fn resolve(&self, total: f64) -> Result<Vec<f64>> {
        let lambdas: Vec<f64> = self.lambdas.iter().map(|lambda| lambda.resolve(total)).collect();
        let Some(count) = self.count else { return Ok(lambdas) };
        let &[from, to] = lambdas.as_slice() else {
            return Err(Error::setting("a grid has two ends"));
        };
        grid(from, to, count)
    }
}

fn search<'py, S: PyStructure>(
    py: Python<'py>,
    data: &Data,
    request: &str,
    arrays: &Bound<'py, PyDict>,
    grid: Grid,
    (dealt, seed): (Dealt, u64),
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let request = Request::<S>::read(request, arrays)?;
    let train = S::data(&data.0)?;
    let interrupt = Interrupt::default();
    let raised_by_callback = Mutex::new(None);
    let (found, raised) = interruptible(py, &interrupt, || {
        let lambdas = grid.resolve(request.task.total(train)?)?;
        for &lambda in &lambdas {
            request.task.at_lambda(lambda)?.resolve(train)?.check()?;
        }
        let folds = match &dealt {
            Dealt::Count(count) => {
                let task = request.task.at_lambda(lambdas[0])?.resolve(train)?;
                task.folds(train, *count, seed)?
            }
            Dealt::Given(numbers) => Folds::given(numbers)?,
        };
        check_labels::<S>(&request, train, &folds)?;
        let plan = TrialPlan {
            budget: request.limits.budget(&interrupt),
            method: request.method()?,
            threads: request.threads,
        };
        let (done, runs) = (AtomicUsize::new(0), folds.count() * lambdas.len());
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
        let found = request.task.cross_validate(train, &folds, &lambdas, &plan, ended)?;
        let numbers = (0..train.len()).map(|i| folds.of(i)).collect();
        Ok(found.map(|found| (found, numbers)))
    });
    let raised_by_callback = raised_by_callback.into_inner().expect("no thread panics with it");
    if let Some(raised) = request.task.structure.raised().or(raised_by_callback).or(raised) {
        return Err(raised);
    }
    let (found, numbers) = found.map_err(exception)?.ok_or_else(|| {
        PyRuntimeError::new_err(
            "the cross-validation was ended before every lambda was tried, and none was chosen",
        )
    })?;
    findings(py, &found, numbers)
}

/// Returns an error if the data without a fold have fewer than two labels.
fn check_labels<S: PyStructure>(request: &Request<S>, data: &S::Data, folds: &Folds) -> Result<()> {
    for fold in 0..folds.count() {
        let outside = folds.outside(fold).into_iter();
        let labels = outside.map(|i| request.task.structure.labels(data, i));
        let Some(labels) = labels.collect::<Option<Vec<_>>>() else { return Ok(()) };
        if labels.concat().into_iter().collect::<BTreeSet<usize>>().len() < 2 {
            return Err(Error::setting(
                "without one of the folds there are no two labels to tell apart: every label needs examples in two folds at least",
            ));
        }
    }
    Ok(())
}

/// Returns the results as a dict. What has an entry for every trial has a list for every λ, of one for each fold.
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
            ("lambdas", to_python(py, &of_each(|candidate| candidate.lambda))?),
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
