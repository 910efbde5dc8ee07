//! Examples in several processes: a shard in each of them, and what is made of all.
//!
//! A shard borrows its data and lives on a thread of its own, which the calls of Python send their work to.

use crate::data::Data;
use crate::errors::OrRaise;
use crate::fit::{Request, unknown};
use crate::model::Model;
use crate::structures::{PyStructure, for_structure};
use dualgap::data::joined_print;
use dualgap::dual::Witness;
use dualgap::dual::shard::{self, Change, DualPart, LossPart, Move, Rounds};
use dualgap::linalg::Measured;
use dualgap::run::Stop;
use dualgap::task::{Method, Outcome};
use dualgap::{Error, Result};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::thread;

type Work = Box<dyn FnOnce(&mut dyn Rounds) + Send>;

/// Some of the examples, with their dual points.
#[pyclass(frozen, module = "dualgap._dualgap")]
pub struct Shard {
    works: Sender<Work>,
    /// The exception that Python code of the structure has raised, if one has.
    raised: Box<dyn Fn() -> Option<PyErr> + Send + Sync>,
}

#[pymethods]
impl Shard {
    /// Return a shard of these data, whose task is a request as `fit` has it. The examples of all shards weigh `total`.
    #[new]
    fn new(
        py: Python<'_>,
        structure: &str,
        data: &Data,
        request: &str,
        arrays: &Bound<'_, PyDict>,
        total: f64,
    ) -> PyResult<Self> {
        for_structure!(structure, open(py, data, request, arrays, total))
            .unwrap_or_else(|| Err(unknown(structure)))
    }

    /// Take steps for so many passes around the position of all shards, where `share` is λ/λ'; return the change as bytes.
    fn round<'py>(
        &self,
        py: Python<'py>,
        at: &Position,
        share: f64,
        sigma: f64,
        passes: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let start = at.0.start(share);
        let round = move |shard: &mut dyn Rounds| shard.round(&start, share, sigma, passes);
        let change = self.call(py, move |shard| round(shard).map(|it| it.to_bytes()))?;
        Ok(PyBytes::new(py, &change))
    }

    /// Go this share of the last round.
    fn apply(&self, py: Python<'_>, gamma: f64) -> PyResult<()> {
        self.call(py, move |shard| shard.apply(gamma))
    }

    /// Return the shard's part of the dual value and of v, as bytes.
    fn dual<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let part = self.call(py, |shard| shard.dual().map(|it| it.to_bytes()))?;
        Ok(PyBytes::new(py, &part))
    }

    /// Return the losses at these weights, as bytes.
    fn losses<'py>(&self, py: Python<'py>, w: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let w = numbers(w)?;
        let part = self.call(py, move |shard| shard.losses(&w).map(|it| it.to_bytes()))?;
        Ok(PyBytes::new(py, &part))
    }

    /// Return the state from which another shard of the same examples goes on.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = self.call(py, |shard| Ok(shard.state()))?;
        Ok(PyBytes::new(py, &state))
    }

    /// Go on from a state.
    fn restore(&self, py: Python<'_>, state: PyBackedBytes) -> PyResult<()> {
        self.call(py, move |shard| shard.restore(&state))
    }

    /// Return the dual points: how many entries each example has, their keys and their weights, and the outputs that keys of an
    /// oracle of one's own are places in, all as bytes.
    fn witness<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyBytes>; 4]> {
        let Witness { starts, keys, weights, outputs } =
            self.call(py, |shard| Ok(shard.witness()))?;
        let bytes = |bytes: &[u8]| PyBytes::new(py, bytes);
        Ok([
            bytes(bytemuck::cast_slice(&starts)),
            bytes(bytemuck::cast_slice(&keys)),
            bytes(bytemuck::cast_slice(&weights)),
            bytes(&outputs),
        ])
    }

    /// Return the number of weights.
    fn dim(&self, py: Python<'_>) -> PyResult<usize> {
        self.call(py, |shard| Ok(shard.dim()))
    }
}

impl Shard {
    /// Does some work on the shard's thread, detached from the interpreter.
    fn call<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn Rounds) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let (answer, answered) = channel();
        let sent = self.works.send(Box::new(move |shard| {
            // Nobody waits any more if the caller is gone.
            let _ = answer.send(work(shard));
        }));
        let lost = || PyRuntimeError::new_err("the thread of the shard has ended");
        sent.map_err(|_| lost())?;
        let answer = py.detach(move || answered.recv()).map_err(|_| lost())?.or_raise();
        (self.raised)().map_or(answer, Err)
    }
}

/// Opens a shard on a thread of its own, which ends when the shard is dropped.
fn open<S: PyStructure>(
    py: Python<'_>,
    data: &Data,
    request: &str,
    arrays: &Bound<'_, PyDict>,
    total: f64,
) -> PyResult<Shard> {
    let request = Request::<S>::read(request, arrays)?;
    let task = request.task.resolve_for(total).or_raise()?;
    let (method, threads) = (request.method().or_raise()?, request.threads);
    let structure = task.structure.clone();
    let held = data.0.clone();
    S::data(&held)?;
    let (sender, works) = channel::<Work>();
    let (opened, opening) = channel();
    thread::spawn(move || {
        let Ok(data) = S::data(&held) else { return };
        let ready = opened.clone();
        let end = task.with_shard(data, total, &method, threads, |shard| {
            let _ = ready.send(Ok(()));
            for work in works {
                work(&mut *shard);
            }
            Ok(())
        });
        let _ = opened.send(end);
    });
    let none = || Err(Error::setting("the thread of the shard has ended"));
    let opened = py.detach(move || opening.recv().unwrap_or_else(|_| none())).or_raise();
    structure.raised().map_or(opened, Err)?;
    let structure = Mutex::new(structure);
    let raised = move || structure.lock().ok()?.raised();
    Ok(Shard { works: sender, raised: Box::new(raised) })
}

/// Returns numbers from their bytes, which may begin at any address.
fn numbers(bytes: &[u8]) -> PyResult<Vec<f64>> {
    Ok(words(bytes)?.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect())
}

/// The same of whole numbers.
fn places(bytes: &[u8]) -> PyResult<Vec<u64>> {
    Ok(words(bytes)?.iter().map(|bytes| u64::from_ne_bytes(*bytes)).collect())
}

fn words(bytes: &[u8]) -> PyResult<&[[u8; 8]]> {
    let (each, rest) = bytes.as_chunks::<8>();
    if rest.is_empty() {
        Ok(each)
    } else {
        Err(PyValueError::new_err("these bytes are no numbers"))
    }
}

/// Add what shards have sent, in their order: "change", "dual" or "losses".
#[pyfunction]
pub fn add_parts<'py>(
    py: Python<'py>,
    kind: &str,
    parts: Vec<PyBackedBytes>,
) -> PyResult<Bound<'py, PyBytes>> {
    let sum = py.detach(|| match kind {
        "change" => added(&parts, Change::from_bytes, Change::add).map(|sum| sum.to_bytes()),
        "dual" => added(&parts, DualPart::from_bytes, DualPart::add).map(|sum| sum.to_bytes()),
        "losses" => added(&parts, LossPart::from_bytes, |sum, part| {
            sum.add(part);
            Ok(())
        })
        .map(|sum| sum.to_bytes()),
        _ => Err(Error::setting("parts are of kind change, dual or losses")),
    });
    Ok(PyBytes::new(py, &sum.or_raise()?))
}

fn added<T>(
    parts: &[PyBackedBytes],
    read: impl Fn(&[u8]) -> Result<T>,
    add: impl Fn(&mut T, &T) -> Result<()>,
) -> Result<T> {
    let mut parts = parts.iter();
    let first = parts.next().ok_or_else(|| Error::setting("there are no parts to add"))?;
    let mut sum = read(first)?;
    parts.try_for_each(|part| add(&mut sum, &read(part)?))?;
    Ok(sum)
}

/// Where all shards are: v, the weights, and the centre of the next round.
#[pyclass(module = "dualgap._dualgap")]
pub struct Position(shard::Position);

#[pymethods]
impl Position {
    /// Return the position at this v, with the centre at its weights.
    #[new]
    fn new(whole: &Whole, v: &[u8]) -> PyResult<Self> {
        Ok(Self(shard::Position::new(&whole.whole, numbers(v)?)))
    }

    /// Return a position from its bytes.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        shard::Position::from_bytes(bytes).map(Self).or_raise()
    }

    /// Return the position as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// Go the share γ of a change after a round, where λ/λ' was `share` and will be `next`.
    fn go(&mut self, whole: &Whole, change: &[u8], to: (f64, f64, f64)) -> PyResult<()> {
        let (gamma, share, next) = to;
        let change = Change::from_bytes(change).or_raise()?;
        self.0.go(&whole.whole, &change, &Move { gamma, share, next }).or_raise()
    }

    /// Replace v by the one that was rebuilt from the points.
    fn settle(&mut self, v: &[u8]) -> PyResult<()> {
        self.0.settle(numbers(v)?).or_raise()
    }

    /// Take the momentum away.
    fn rest(&mut self) {
        self.0.rest();
    }

    /// Return v as bytes.
    fn v<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes_of(py, self.0.v())
    }

    /// Return the weights that the last round has ended at, as bytes.
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes_of(py, self.0.weights())
    }
}

/// The κ and σ' of the rounds.
#[pyclass(module = "dualgap._dualgap")]
pub struct Course(shard::Course);

#[pymethods]
impl Course {
    /// Return the course at its beginning, for so many shards; or from the state of another one, as JSON.
    #[new]
    #[pyo3(signature = (shards, state=None))]
    fn new(shards: usize, state: Option<&str>) -> PyResult<Self> {
        match state {
            None => Ok(Self(shard::Course::new(shards))),
            Some(state) => serde_json::from_str(state).map(Self).or_raise(),
        }
    }

    /// σ' of the next round.
    #[getter]
    fn sigma(&self) -> f64 {
        self.0.sigma()
    }

    /// λ/λ' of the next round.
    #[getter]
    fn share(&self) -> f64 {
        self.0.share()
    }

    /// Go the best share of the change of all shards; return it, and λ/λ' of the round and of the next one.
    fn step(
        &mut self,
        whole: &Whole,
        at: &mut Position,
        change: &[u8],
    ) -> PyResult<(f64, f64, f64)> {
        let change = Change::from_bytes(change).or_raise()?;
        let Move { gamma, share, next } =
            self.0.step(&whole.whole, &mut at.0, &change).or_raise()?;
        Ok((gamma, share, next))
    }

    /// Return the state as JSON.
    fn state(&self) -> PyResult<String> {
        serde_json::to_string(&self.0).or_raise()
    }
}

/// The problem of all shards, without their examples.
#[pyclass(frozen, module = "dualgap._dualgap")]
pub struct Whole {
    whole: shard::Whole,
    lambda: f64,
}

#[pymethods]
impl Whole {
    /// Return the problem of a request as `fit` has it, for examples that weigh `total`.
    #[new]
    fn new(
        structure: &str,
        request: &str,
        arrays: &Bound<'_, PyDict>,
        total: f64,
    ) -> PyResult<Self> {
        for_structure!(structure, whole_of(request, arrays, total))
            .unwrap_or_else(|| Err(unknown(structure)))
    }

    /// The strength of the penalty.
    #[getter]
    fn lam(&self) -> f64 {
        self.lambda
    }

    /// Return the dual value with its error, and v as bytes, of the sum of the shards' parts.
    fn dual<'py>(
        &self,
        py: Python<'py>,
        sum: &[u8],
    ) -> PyResult<((f64, f64), Bound<'py, PyBytes>)> {
        let dual = self.whole.dual(DualPart::from_bytes(sum).or_raise()?);
        Ok(((dual.value.value, dual.value.error), bytes_of(py, &dual.v)))
    }

    /// Return the weights at this v, both as bytes.
    fn weights<'py>(&self, py: Python<'py>, v: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        Ok(bytes_of(py, &self.whole.weights(&numbers(v)?)))
    }

    /// Return the primal value with its error, and whether it is a bound, at these weights and the sum of their losses.
    fn primal(&self, w: &[u8], sum: &[u8]) -> PyResult<((f64, f64), bool)> {
        let primal = self.whole.primal(&numbers(w)?, LossPart::from_bytes(sum).or_raise()?);
        Ok(((primal.value.value, primal.value.error), primal.certified))
    }
}

fn bytes_of<'py>(py: Python<'py>, numbers: &[f64]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, bytemuck::cast_slice(numbers))
}

fn whole_of<S: PyStructure>(
    request: &str,
    arrays: &Bound<'_, PyDict>,
    total: f64,
) -> PyResult<Whole> {
    let task = Request::<S>::read(request, arrays)?.task.resolve_for(total).or_raise()?;
    Ok(Whole { whole: task.whole().or_raise()?, lambda: task.penalty.lambda().unwrap_or(0.0) })
}

/// Make an ordinary model of what rounds on shards have ended with.
///
/// `any` are examples with the columns and labels of the shards; `outcome` has the weights `w`, the sum of their `losses`, the
/// `dual` value with its error, the `witness` of every shard, and what the run was.
#[pyfunction]
pub fn assemble(
    py: Python<'_>,
    structure: &str,
    any: &Data,
    request: &str,
    arrays: &Bound<'_, PyDict>,
    total: f64,
    outcome: &Bound<'_, PyDict>,
) -> PyResult<Model> {
    for_structure!(structure, assemble_one(py, any, request, arrays, total, outcome))
        .unwrap_or_else(|| Err(unknown(structure)))
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Ended {
    w: PyBackedBytes,
    losses: PyBackedBytes,
    dual: (f64, f64),
    witness: Vec<[PyBackedBytes; 4]>,
    stop: String,
    passes: f64,
    examples: usize,
    print: Vec<PyBackedBytes>,
    weights: Option<PyBackedBytes>,
}

fn assemble_one<S: PyStructure>(
    py: Python<'_>,
    any: &Data,
    request: &str,
    arrays: &Bound<'_, PyDict>,
    total: f64,
    outcome: &Bound<'_, PyDict>,
) -> PyResult<Model> {
    let request = Request::<S>::read(request, arrays)?;
    let any = S::data(&any.0)?;
    let ended: Ended = outcome.extract()?;
    let stop: Stop = serde_json::from_value(ended.stop.into()).or_raise()?;
    let mut witness = Witness { starts: vec![0], ..Witness::default() };
    for [starts, keys, weights, outputs] in &ended.witness {
        let (starts, keys, weights) = (places(starts)?, places(keys)?, numbers(weights)?);
        witness.append(&Witness { starts, keys, weights, outputs: outputs.to_vec() });
    }
    let (w, weights) =
        (numbers(&ended.w)?, ended.weights.as_ref().map(|weights| numbers(weights)).transpose()?);
    let method: Method = request.method().or_raise()?;
    let model: Result<_> = py.detach(move || {
        let task = request.task.resolve_for(total)?;
        let primal = task.whole()?.primal(&w, LossPart::from_bytes(&ended.losses)?);
        let dual = Measured { value: ended.dual.0, error: ended.dual.1 };
        let certificate = dualgap::run::Certificate::new(primal.value, dual, primal.certified)?;
        let outcome = Outcome {
            weights: w,
            witness: Some(witness),
            certificate: certificate.resting_on(primal.basis),
            method,
            stop,
            passes: ended.passes,
            examples: ended.examples,
            fingerprint: joined_print(&ended.print)?,
            sample_weights: weights,
        };
        let mut model = task.assemble(any, outcome)?;
        model.provenance.recipe = request.recipe;
        Ok(model)
    });
    Ok(Model::new(model.or_raise()?))
}
