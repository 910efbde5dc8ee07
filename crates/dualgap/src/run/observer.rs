//! Observers of a run: a trace, a progress bar, a plot.

use crate::run::{Certificate, Work};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::io::Write;

/// The progress of a run at a certification.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Progress {
    /// Passes over the data, certification not counted.
    pub passes: f64,
    /// Steps and oracle calls of solving.
    #[serde(flatten)]
    pub work: Work,
    /// Seconds spent on solving.
    pub solve_seconds: f64,
    /// Seconds spent on certifying.
    pub certify_seconds: f64,
    /// The certificate of the model that the run would return if it ended now.
    #[serde(flatten)]
    pub certificate: Certificate,
    /// `primal − dual`, or `None` if the run is uncertified.
    pub gap: Option<f64>,
    /// P at the current iterate.
    pub iterate_primal: f64,
    /// D at the current iterate.
    pub iterate_dual: f64,
    /// The fraction of wrong labels on test data, if it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_error: Option<f64>,
}

/// Receives the events of a run. An error ends the run. An observer may move to another thread with the run.
pub trait Observer: Send {
    /// Receives a certification of the model with these weights. A resumed run first repeats the certifications of the
    /// earlier run, without weights.
    fn certified(&mut self, progress: &Progress, weights: &[f64]) -> Result<()>;

    /// Whether the observer reads the weights. A task gives them to those alone that do: they may be longer than those of its run.
    fn reads_weights(&self) -> bool {
        true
    }

    /// Receives the number of passes so far, about once a pass.
    fn advanced(&mut self, _passes: f64) {}

    /// Whether another method is to go on from here, after a certification that does not end the run. The run then ends as if
    /// it had been interrupted.
    fn hands_over(&mut self) -> bool {
        false
    }

    /// Receives the error of a checkpoint that could not be stored. Returns whether the run continues; otherwise it
    /// ends with the error.
    fn checkpoint_failed(&mut self, _error: &Error) -> bool {
        false
    }
}

/// Ignores all events.
impl Observer for () {
    fn certified(&mut self, _: &Progress, _: &[f64]) -> Result<()> {
        Ok(())
    }

    fn reads_weights(&self) -> bool {
        false
    }
}

/// Two observers, called in order.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn certified(&mut self, progress: &Progress, weights: &[f64]) -> Result<()> {
        self.0.certified(progress, weights)?;
        self.1.certified(progress, weights)
    }

    fn reads_weights(&self) -> bool {
        self.0.reads_weights() || self.1.reads_weights()
    }

    fn advanced(&mut self, passes: f64) {
        self.0.advanced(passes);
        self.1.advanced(passes);
    }

    fn checkpoint_failed(&mut self, error: &Error) -> bool {
        // Calls both, whatever the first one returns.
        let first = self.0.checkpoint_failed(error);
        self.1.checkpoint_failed(error) || first
    }
}

/// An observer that may be absent.
impl<O: Observer> Observer for Option<O> {
    fn certified(&mut self, progress: &Progress, weights: &[f64]) -> Result<()> {
        self.as_mut().map_or(Ok(()), |observer| observer.certified(progress, weights))
    }

    fn reads_weights(&self) -> bool {
        self.as_ref().is_some_and(Observer::reads_weights)
    }

    fn advanced(&mut self, passes: f64) {
        if let Some(observer) = self {
            observer.advanced(passes);
        }
    }

    fn checkpoint_failed(&mut self, error: &Error) -> bool {
        self.as_mut().is_some_and(|observer| observer.checkpoint_failed(error))
    }
}

/// A line of a trace: the progress, and the bounds on the gap with rounding included.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    progress: &'a Progress,
    /// Null if the run is uncertified, as the gap is.
    gap_bound: Option<f64>,
    relative_gap_bound: Option<f64>,
}

impl<'a> From<&'a Progress> for Line<'a> {
    fn from(progress: &'a Progress) -> Self {
        let finite = |x: f64| x.is_finite().then_some(x);
        Self {
            progress,
            gap_bound: finite(progress.certificate.gap_bound()),
            relative_gap_bound: finite(progress.certificate.relative_gap_bound()),
        }
    }
}

/// Writes one JSON object a line and flushes it at once, so that a run that is cut off leaves its trace so far.
pub struct JsonLines<W: Write> {
    out: W,
    name: String,
}

impl<W: Write> JsonLines<W> {
    /// Writes to `out`; `name` is what an error message calls it.
    pub fn new(out: W, name: impl Into<String>) -> Self {
        Self { out, name: name.into() }
    }
}

impl<W: Write + Send> Observer for JsonLines<W> {
    fn certified(&mut self, progress: &Progress, _: &[f64]) -> Result<()> {
        serde_json::to_writer(&mut self.out, &Line::from(progress))
            .map_err(std::io::Error::from)
            .and_then(|()| self.out.write_all(b"\n"))
            .and_then(|()| self.out.flush())
            .map_err(|error| {
                let message = format!("the trace cannot be written: {error}");
                Error::in_file(&self.name, message, "is there space, and may you write there?")
                    .caused_by(error)
            })
    }

    fn reads_weights(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Measured;

    #[test]
    fn the_trace_is_one_json_object_a_line() {
        let side = |value| Measured { value, error: 0.03125 };
        let certificate = Certificate::new(side(0.5), side(0.25), true).unwrap();
        let progress = Progress {
            passes: 4.0,
            work: Work { steps: 8, oracle_calls: 8 },
            solve_seconds: 0.1,
            certify_seconds: 0.2,
            certificate,
            gap: Some(0.25),
            iterate_primal: 0.6,
            iterate_dual: 0.25,
            test_error: None,
        };
        let mut out = Vec::new();
        let mut trace = JsonLines::new(&mut out, "trace");
        trace.certified(&progress, &[]).unwrap();
        trace.certified(&progress, &[]).unwrap();
        let lines: Vec<serde_json::Value> = String::from_utf8(out)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["primal"], 0.5);
        assert_eq!(lines[0]["oracle_calls"], 8);
        assert_eq!((&lines[0]["gap"], &lines[0]["gap_bound"]), (&0.25.into(), &0.3125.into()));
        assert_eq!(lines[0]["relative_gap_bound"], 0.625);
    }
}
