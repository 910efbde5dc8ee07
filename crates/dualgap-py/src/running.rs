//! A run that Python started: detached from the interpreter, answering Ctrl-C, with a callback that can end it.

use crate::errors::OrRaise;
use dualgap::run::{Interrupt, Observer, Progress};
use dualgap::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How often a waiting thread looks for signals. Ctrl-C should be answered within 0.2 seconds, and a look takes the
/// interpreter lock for less than a microsecond.
const PATIENCE: Duration = Duration::from_millis(50);

/// Runs `work` on a thread of its own while the caller, detached from the interpreter, waits for its end and for signals.
/// A signal whose handler raises an exception ends the run through `interrupt`; the exception is returned beside the
/// result.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    interrupt: &Interrupt,
    work: impl FnOnce() -> T + Send,
) -> (T, Option<PyErr>) {
    py.detach(|| {
        thread::scope(|scope| {
            let (done, end) = channel();
            let worker = scope.spawn(move || {
                let result = work();
                // The receiver waits until the end.
                let _ = done.send(());
                result
            });
            let mut raised = None;
            while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(PATIENCE) {
                // `Python::check_signals` itself is no function of every lifetime.
                #[allow(clippy::redundant_closure_for_method_calls)]
                let signals = Python::attach(|py| py.check_signals());
                if let Err(error) = signals {
                    interrupt.raise();
                    raised = Some(error);
                }
            }
            let result = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            (result, raised)
        })
    })
}

/// A Python function that receives the progress of a run as a dict, and ends the run by returning `True`.
pub struct Callback {
    function: Py<PyAny>,
    interrupt: Interrupt,
    /// What the function raised, which also ends the run.
    pub raised: Option<PyErr>,
}

impl Callback {
    /// Returns the observer of a function, which ends a run through `interrupt`.
    pub fn new(function: Py<PyAny>, interrupt: &Interrupt) -> Self {
        Self { function, interrupt: interrupt.clone(), raised: None }
    }

    fn call(&self, py: Python<'_>, progress: &Progress) -> PyResult<bool> {
        let fields = to_python(py, &progress)?;
        let answer = self.function.bind(py).call1((fields,))?;
        Ok(!answer.is_none() && answer.is_truthy()?)
    }
}

impl Observer for Callback {
    fn certified(&mut self, progress: &Progress, _: &[f64]) -> Result<()> {
        match Python::attach(|py| self.call(py, progress)) {
            Ok(false) => Ok(()),
            Ok(true) => {
                self.interrupt.raise();
                Ok(())
            }
            Err(error) => {
                self.raised = Some(error);
                Err(Error::setting("the callback raised an exception"))
            }
        }
    }
}

/// Returns a value as Python's `json` reads its JSON form: dicts, lists, strings and numbers.
pub fn to_python<'py>(
    py: Python<'py>,
    value: &impl serde::Serialize,
) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).or_raise()?;
    py.import("json")?.getattr("loads")?.call1((text,))
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
