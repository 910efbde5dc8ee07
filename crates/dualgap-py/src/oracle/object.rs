//! The Python object behind an oracle: its methods, and the first exception that one of them raised.

use super::features::{Entries, entries};
use super::input::Input;
use super::value::{Value, described};
use dualgap::dual::Quality;
use dualgap::run::Interrupt;
use dualgap::structure::{Bound as Known, Decoded, Extent};
use numpy::PyArray1;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The work of a call that does not say what it takes: about a millisecond. A few lines of Python over arrays take a tenth
/// of it and searches more; either way a step on stored outputs is far cheaper, and the engine takes many of them.
const WORK: f64 = 1e6;

/// So many feature vectors are remembered. A visit of an example asks for those of the truth and of one output, twice
/// each, and a few threads may be at work.
const RECENT: usize = 8;

/// The arguments of features: an input by its content, and an output.
type Pair = (Arc<str>, Value);

/// A Python object with the methods of an oracle.
pub struct Object {
    features: Py<PyAny>,
    loss: Py<PyAny>,
    decode: Option<Py<PyAny>>,
    decode_slack: Option<Py<PyAny>>,
    decode_batch: Option<Py<PyAny>>,
    admits: Option<Py<PyAny>>,
    extent: Option<Py<PyAny>>,
    radius: Option<Py<PyAny>>,
    work: Work,
    pub quality: Quality,
    /// The class of an output with a bound.
    decoded: Py<PyAny>,
    dim: usize,
    trust: Trust,
    seen: Mutex<Seen>,
    raised: Mutex<Option<PyErr>>,
    /// Raised when nobody waits for a certified end any more: further calls then fail.
    pub halt: Interrupt,
}

/// The work of a call.
enum Work {
    Same(f64),
    /// A method that returns it for an input.
    Of(Py<PyAny>),
}

/// What is believed without a call of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Features are called each time, for a check of the oracle.
    Nothing,
    /// Outputs of a file, or of other data, are not known to be outputs unless the oracle says so.
    Calls,
    /// All outputs were decoded here.
    Outputs,
}

/// Feature vectors that were computed.
#[derive(Default)]
struct Seen {
    /// The hashes of all of them: a pair whose features change has no certificate.
    hashes: HashMap<Pair, u64>,
    /// Those of the last pairs.
    recent: Vec<(Pair, Arc<Entries>)>,
    next: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Object {
    /// Returns the methods of an object, or raises an error if one is missing.
    pub fn new(object: &Bound<'_, PyAny>, dim: usize, trust: Trust) -> PyResult<Self> {
        let method = |name: &str| -> PyResult<Option<Py<PyAny>>> {
            match object.getattr_opt(name)? {
                Some(method) if !method.is_none() => Ok(Some(method.unbind())),
                _ => Ok(None),
            }
        };
        let required = |name: &str, what: &str| {
            if let Some(method) = method(name)? {
                return Ok(method);
            }
            let kind = object.get_type().name()?;
            let message = format!("the oracle {kind} has no method `{name}({what})`");
            Err(PyTypeError::new_err(message))
        };
        let oracle = Self {
            features: required("features", "x, y")?,
            loss: required("loss", "truth, y")?,
            decode: method("decode")?,
            decode_slack: method("decode_slack")?,
            decode_batch: method("decode_batch")?,
            admits: method("admits")?,
            extent: method("extent")?,
            radius: method("radius")?,
            work: match object.getattr_opt("work")?.filter(|work| !work.is_none()) {
                None => Work::Same(WORK),
                Some(method) if method.is_callable() => Work::Of(method.unbind()),
                Some(number) => Work::Same(positive(&number)?),
            },
            quality: quality(object)?,
            decoded: object.py().import("dualgap.structured")?.getattr("Decoded")?.unbind(),
            dim,
            trust,
            seen: Mutex::default(),
            raised: Mutex::default(),
            halt: Interrupt::default(),
        };
        if oracle.decode.is_none() && oracle.decode_batch.is_none() {
            required("decode", "w, x, truth=None")?;
        }
        Ok(oracle)
    }

    /// Returns the first exception that a method raised, once.
    pub fn take_raised(&self) -> Option<PyErr> {
        lock(&self.raised).take()
    }

    /// Calls Python, and keeps the first exception: the library's traits have no room for it. Later calls fail, so that the
    /// run ends soon.
    pub fn call<T>(&self, work: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
        if self.halt.raised() || lock(&self.raised).is_some() {
            return None;
        }
        match Python::attach(work) {
            Ok(value) => Some(value),
            Err(error) => {
                lock(&self.raised).get_or_insert(error);
                None
            }
        }
    }

    /// Returns the features of a pair.
    pub fn features(&self, py: Python<'_>, x: &Input, y: &Value) -> PyResult<Arc<Entries>> {
        let pair = (Arc::clone(&x.digest), y.clone());
        if self.trust != Trust::Nothing
            && let Some((_, known)) =
                lock(&self.seen).recent.iter().find(|(known, _)| *known == pair)
        {
            return Ok(Arc::clone(known));
        }
        let found = self.features.bind(py).call1((&*x.object, y.to_python(py)?))?;
        let found = Arc::new(entries(&found, self.dim)?);
        if self.trust == Trust::Nothing {
            return Ok(found);
        }
        // The library would say so, too, unless the output is the truth, whose features cancel.
        if let Some((j, _)) = found.iter().find(|(j, _)| *j >= self.dim) {
            return Err(PyValueError::new_err(format!(
                "there is a feature at index {j} of {}: the dimension of the oracle is {}",
                self.dim, self.dim
            )));
        }
        let mut hasher = DefaultHasher::new();
        found.iter().for_each(|(j, value)| (j, value.to_bits()).hash(&mut hasher));
        let hash = hasher.finish();
        // No Python is called while this is locked: it might let another thread go on that waits here.
        let mut seen = lock(&self.seen);
        if *seen.hashes.entry(pair.clone()).or_insert(hash) != hash {
            drop(seen);
            return Err(PyRuntimeError::new_err(format!(
                "the features of the same input and output changed between two calls, so that no certificate could \
                 hold: `features` must depend on x and y alone (the output is {})",
                described(&y.to_python(py)?)
            )));
        }
        let Seen { recent, next, .. } = &mut *seen;
        if recent.len() < RECENT {
            recent.push((pair, Arc::clone(&found)));
        } else {
            recent[*next % RECENT] = (pair, Arc::clone(&found));
            *next += 1;
        }
        Ok(found)
    }

    /// Returns the loss of an output.
    pub fn loss(&self, py: Python<'_>, truth: &Value, y: &Value) -> PyResult<f64> {
        let loss = self.loss.bind(py).call1((truth.to_python(py)?, y.to_python(py)?))?;
        loss.extract().map_err(|_| not_a_number("loss", &loss))
    }

    /// Decodes an input, against a truth if there is one.
    pub fn decode(
        &self,
        py: Python<'_>,
        w: &[f64],
        x: &Input,
        truth: Option<&Value>,
    ) -> PyResult<Decoded<Value>> {
        let Some(decode) = &self.decode else {
            let truth = truth.as_slice();
            let found = self.decode_batch(py, w, &[x], (!truth.is_empty()).then_some(truth))?;
            return found.into_iter().flatten().next().ok_or_else(|| {
                PyValueError::new_err("`decode_batch` returned no output for its only input")
            });
        };
        let (w, x) = (weights(py, w)?, &*x.object);
        let found = match truth {
            Some(truth) => decode.bind(py).call1((w, x, truth.to_python(py)?))?,
            None => decode.bind(py).call1((w, x))?,
        };
        self.read(&found)
    }

    /// Decodes several inputs, if the object can.
    pub fn decode_batch(
        &self,
        py: Python<'_>,
        w: &[f64],
        inputs: &[&Input],
        truths: Option<&[&Value]>,
    ) -> PyResult<Option<Vec<Decoded<Value>>>> {
        let Some(decode) = &self.decode_batch else { return Ok(None) };
        let inputs = PyList::new(py, inputs.iter().map(|x| &*x.object))?;
        let truths = match truths {
            None => None,
            Some(truths) => {
                let truths: Vec<_> =
                    truths.iter().map(|truth| truth.to_python(py)).collect::<PyResult<_>>()?;
                Some(PyList::new(py, truths)?)
            }
        };
        let found = decode.bind(py).call1((weights(py, w)?, inputs, truths))?;
        found.try_iter()?.map(|found| self.read(&found?)).collect::<PyResult<_>>().map(Some)
    }

    /// Decodes an input under slack rescaling, if the object can.
    pub fn decode_slack(
        &self,
        py: Python<'_>,
        w: &[f64],
        x: &Input,
        truth: &Value,
    ) -> PyResult<Option<Decoded<Value>>> {
        let Some(decode) = &self.decode_slack else { return Ok(None) };
        let found = decode.bind(py).call1((weights(py, w)?, &*x.object, truth.to_python(py)?))?;
        self.read(&found).map(Some)
    }

    /// Reads what was decoded: an output, which is then the best, or one with a bound.
    fn read(&self, found: &Bound<'_, PyAny>) -> PyResult<Decoded<Value>> {
        if !found.is_instance(self.decoded.bind(found.py()))? {
            return Ok(Decoded { output: Value::from_python(found)?, bound: Known::Exact });
        }
        let output = Value::from_python(&found.getattr("output")?)?;
        let bound = found.getattr("bound")?;
        let bound = if bound.is_none() {
            Known::Unknown
        } else {
            Known::AtMost(bound.extract().map_err(|_| not_a_number("bound", &bound))?)
        };
        Ok(Decoded { output, bound })
    }

    /// Whether a pair is one.
    pub fn admits(&self, py: Python<'_>, x: &Input, y: &Value) -> PyResult<bool> {
        match &self.admits {
            Some(admits) => admits.bind(py).call1((&*x.object, y.to_python(py)?))?.is_truthy(),
            None if self.trust == Trust::Calls => Err(PyTypeError::new_err(
                "outputs of a model file, or of a model of other data, may be no outputs of these inputs: to check a \
                 witness with them, or to start from it, the oracle needs a method `admits(x, y)`",
            )),
            None => Ok(true),
        }
    }

    /// Returns how large scores can get, if that is known.
    pub fn extent(&self, x: &Input) -> Option<Extent> {
        let extent = self.extent.as_ref()?;
        self.call(|py| {
            let found = extent.bind(py).call1((&*x.object,))?;
            if found.is_none() {
                return Ok(None);
            }
            let (terms, norm1, loss) = found.extract().map_err(|_| {
                PyTypeError::new_err(format!(
                    "`extent` returns the largest number of features, sum of their sizes, and loss, not {}",
                    described(&found)
                ))
            })?;
            Ok(Some(Extent { terms, norm1, loss }))
        })
        .flatten()
    }

    /// Returns a bound on the length of feature vectors, if one is known.
    pub fn radius(&self, x: &Input) -> Option<f64> {
        match &self.radius {
            Some(radius) => {
                self.call(|py| radius.bind(py).call1((&*x.object,))?.extract()).flatten()
            }
            None => self.extent(x).map(|extent| extent.norm1),
        }
    }

    /// Returns the work of a call. The interpreter is asked only if it depends on the input: the engine calls this often.
    pub fn work(&self, x: &Input) -> f64 {
        match &self.work {
            Work::Same(work) => *work,
            Work::Of(method) => {
                let found = self.call(|py| positive(&method.bind(py).call1((&*x.object,))?));
                found.unwrap_or(WORK)
            }
        }
    }
}

/// Returns a number of multiplications.
fn positive(work: &Bound<'_, PyAny>) -> PyResult<f64> {
    match work.extract() {
        Ok(number) if number > 0.0 && f64::is_finite(number) => Ok(number),
        _ => Err(PyValueError::new_err(format!(
            "the work of a call is a positive number of multiplications, not {}",
            described(work)
        ))),
    }
}

fn not_a_number(what: &str, found: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("a {what} is a number, not {}", described(found)))
}

/// Returns the weights as an array of their own: an oracle may keep it.
fn weights<'py>(py: Python<'py>, w: &[f64]) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let array = PyArray1::from_slice(py, w);
    array.getattr("flags")?.setattr("writeable", false)?;
    Ok(array)
}

/// Reads the promise of an approximate oracle: `{"additive": δ}` or `{"multiplicative": ν}`, as a certificate names it.
fn quality(object: &Bound<'_, PyAny>) -> PyResult<Quality> {
    let Some(quality) = object.getattr_opt("quality")?.filter(|quality| !quality.is_none()) else {
        return Ok(Quality::Exact);
    };
    let promise = match quality.cast::<PyDict>() {
        Ok(dict) if dict.len() == 1 => dict.iter().next(),
        _ => None,
    };
    let read = |(kind, number): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let number: f64 = number.extract().ok()?;
        match kind.extract::<String>().ok()?.as_str() {
            "additive" => Some(Quality::Additive(number)),
            "multiplicative" => Some(Quality::Multiplicative(number)),
            _ => None,
        }
    };
    promise.and_then(read).ok_or_else(|| {
        PyValueError::new_err(format!(
            "the quality of an oracle is {{\"additive\": δ}} or {{\"multiplicative\": ν}}, not {}",
            described(&quality)
        ))
    })
}
