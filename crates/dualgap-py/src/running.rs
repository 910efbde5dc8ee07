//! A run that Python started: detached from the interpreter, answering Ctrl-C, with a callback that can end it.

use crate::errors::{OrRaise, exception};
use dualgap::Result;
use dualgap::run::{Interrupt, Observer, Progress};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How often the waiting thread looks for signals. Ctrl-C should be answered within 0.2 seconds, and a look takes the
/// interpreter lock for less than a microsecond.
const PATIENCE: Duration = Duration::from_millis(50);

/// A flag that ends the runs that were given it, from any thread.
///
/// Signals reach only the main thread, which raises this for runs in others.
#[pyclass(frozen, name = "Interrupt", module = "dualgap._dualgap")]
#[derive(Clone, Default)]
pub struct Flag(pub Interrupt);

#[pymethods]
impl Flag {
    /// Return a flag that is not raised.
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// End the runs, and those that begin with this flag.
    fn set(&self) {
        self.0.raise();
    }
}

/// Runs `work` on a thread of its own while the caller, detached from the interpreter, waits for its end and for signals.
/// A signal whose handler raises an exception ends the run through `interrupt`; the exception is returned beside the
/// result.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    interrupt: &Interrupt,
    work: impl FnOnce() -> T + Send,
) -> (T, Option<PyErr>) {
    observed(py, interrupt, None, None, |_| work())
}

/// [`interruptible`], where `work` receives an observer that calls `function` with each certification as a dict, and
/// between them now and then with the number of passes so far. The function ends the run through `interrupt` by
/// returning `True`, or by raising an exception, which is returned beside the result. A second signal raises `halt`, for
/// work whose certified end may take long.
///
/// The function is called by the thread that waits. So a user's code runs where it was written: with its context
/// variables, its debugger, the output cell of its notebook, and Ctrl-C.
pub fn observed<T: Send>(
    py: Python<'_>,
    interrupt: &Interrupt,
    halt: Option<&Interrupt>,
    function: Option<&Py<PyAny>>,
    work: impl FnOnce(Option<Callback>) -> T + Send,
) -> (T, Option<PyErr>) {
    let mut desk = Desk { interrupt, halt, function, raised: None };
    let result = py.detach(|| {
        let (sender, events) = channel();
        let callback = desk.function.map(|_| Callback::new(&sender));
        thread::scope(|scope| {
            let worker = scope.spawn(move || {
                let _end = SendEnd(sender);
                work(callback)
            });
            loop {
                match events.recv_timeout(PATIENCE) {
                    Ok(Event::Certified(progress, answered)) => {
                        Python::attach(|py| desk.call(py, progress.as_ref()));
                        // The run waits for this, and nothing else can end its waiting.
                        let _ = answered.send(());
                    }
                    Ok(Event::Advanced(passes)) => Python::attach(|py| desk.call(py, &passes)),
                    Ok(Event::End) | Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {}
                }
                Python::attach(|py| desk.check_signals(py));
            }
            worker.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    });
    // A signal of the last moment must not be raised by the interpreter before the caller has the result.
    desk.check_signals(py);
    (result, desk.raised)
}

/// Returns what a run has found, and what was raised beside it. If it found nothing, the cause is raised: an exception in the
/// structure's own Python code, which is `called`, comes before all others.
pub fn settled<T>(
    found: Result<T>,
    called: Option<PyErr>,
    raised: Option<PyErr>,
) -> PyResult<(T, Option<PyErr>)> {
    match (found, called, raised) {
        (_, Some(called), _) => Err(called),
        (Ok(found), None, raised) => Ok((found, raised)),
        (Err(_), None, Some(raised)) => Err(raised),
        (Err(error), None, None) => Err(exception(error)),
    }
}

/// What the thread of a run tells the thread that waits for it.
enum Event {
    /// A certification. The run goes on when it gets an answer.
    Certified(Box<Progress>, Sender<()>),
    /// The number of passes so far. The run does not wait.
    Advanced(f64),
    /// The run is over.
    End,
}

/// Sends the end when it is dropped, so that a panic ends the waiting, too.
struct SendEnd(Sender<Event>);

impl Drop for SendEnd {
    fn drop(&mut self) {
        // The receiver waits until the end.
        let _ = self.0.send(Event::End);
    }
}

/// The thread that waits for a run.
struct Desk<'a> {
    interrupt: &'a Interrupt,
    /// What a second exception raises.
    halt: Option<&'a Interrupt>,
    /// The user's function, as long as it wants the run to go on.
    function: Option<&'a Py<PyAny>>,
    /// The first exception of a signal or of the function.
    raised: Option<PyErr>,
}

impl Desk<'_> {
    /// Calls the function. It is not called again once it has ended the run.
    fn call(&mut self, py: Python<'_>, event: &impl serde::Serialize) {
        let Some(function) = self.function else { return };
        let answer = to_python(py, event)
            .and_then(|fields| function.bind(py).call1((fields,)))
            .and_then(|answer| Ok(!answer.is_none() && answer.is_truthy()?));
        match answer {
            Ok(false) => {}
            Ok(true) => {
                self.function = None;
                self.interrupt.raise();
            }
            Err(error) => {
                self.function = None;
                self.end_with(error);
            }
        }
    }

    fn check_signals(&mut self, py: Python<'_>) {
        if let Err(error) = py.check_signals() {
            self.end_with(error);
        }
    }

    fn end_with(&mut self, error: PyErr) {
        self.interrupt.raise();
        if let (Some(halt), Some(_)) = (self.halt, &self.raised) {
            halt.raise();
        }
        self.raised.get_or_insert(error);
    }
}

/// An observer that passes events on to the waiting thread. Clones do the same, for work of several runs.
#[derive(Clone)]
pub struct Callback {
    events: Sender<Event>,
    /// When a number of passes was sent last.
    last: Instant,
}

impl Callback {
    fn new(events: &Sender<Event>) -> Self {
        Self { events: events.clone(), last: Instant::now() }
    }
}

impl Observer for Callback {
    fn certified(&mut self, progress: &Progress, _: &[f64]) -> Result<()> {
        let (answered, answer) = channel();
        if self.events.send(Event::Certified(Box::new(*progress), answered)).is_ok() {
            let _ = answer.recv();
        }
        Ok(())
    }

    fn reads_weights(&self) -> bool {
        false
    }

    fn advanced(&mut self, passes: f64) {
        // Passes over little data take microseconds, and nobody wants to see each of them.
        if self.last.elapsed() >= PATIENCE {
            self.last = Instant::now();
            let _ = self.events.send(Event::Advanced(passes));
        }
    }
}

/// Returns a value in its JSON form: dicts, lists, strings and numbers. No Python code runs, so no signal is raised here.
pub fn to_python<'py>(
    py: Python<'py>,
    value: &impl serde::Serialize,
) -> PyResult<Bound<'py, PyAny>> {
    from_json(py, &serde_json::to_value(value).or_raise()?)
}

fn from_json<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (_, Some(whole)) => whole.into_pyobject(py)?.into_any(),
            _ => number.as_f64().into_pyobject(py)?.into_any(),
        },
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Array(values) => {
            let list = PyList::empty(py);
            for value in values {
                list.append(from_json(py, value)?)?;
            }
            list.into_any()
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (name, value) in fields {
                dict.set_item(name, from_json(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// Returns a dict of values that are JSON themselves.
pub fn dict<'py>(
    py: Python<'py>,
    fields: &[(&str, Bound<'py, PyAny>)],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in fields {
        dict.set_item(name, value)?;
    }
    Ok(dict)
}
