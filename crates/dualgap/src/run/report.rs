//! How a run goes and what it ends with: the state of the loop, why it ended, and the report.

use crate::run::{Budget, Certificate, Counters, Progress, Solver, Work};
use serde::{Deserialize, Serialize};

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The certified gap, rounding included, is within the tolerance.
    GapReached,
    /// The passes are used up.
    PassLimit,
    /// The time is up.
    TimeLimit,
    /// The oracle calls are used up.
    OracleLimit,
    /// Someone raised the [`crate::run::Interrupt`].
    Interrupted,
    /// Nothing moves any more: the gap is down to rounding, or neither side has improved for long.
    Stalled,
}

/// How a run went and what it ended with.
#[derive(Clone, Debug)]
pub struct Report<M> {
    /// The model.
    pub model: M,
    /// Of exactly this model.
    pub certificate: Certificate,
    /// Why the run ended.
    pub stop: Stop,
    /// What solving took.
    pub work: Work,
    /// Passes over the data, certification not counted.
    pub passes: f64,
    /// Seconds spent on solving.
    pub solve_seconds: f64,
    /// Seconds spent on certifying.
    pub certify_seconds: f64,
    /// What the solver chose and did while the run went on.
    pub tactics: Vec<String>,
    /// What else the solver counted, by name.
    pub counters: Counters,
    /// Every certification of the run, the last one included.
    pub history: Vec<Progress>,
}

impl<M> Report<M> {
    /// The same report of another form of the model.
    pub fn map<N>(self, form: impl FnOnce(M) -> N) -> Report<N> {
        Report {
            model: form(self.model),
            certificate: self.certificate,
            stop: self.stop,
            work: self.work,
            passes: self.passes,
            solve_seconds: self.solve_seconds,
            certify_seconds: self.certify_seconds,
            tactics: self.tactics,
            counters: self.counters,
            history: self.history,
        }
    }
}

/// So many certifications in a row without any progress are taken for a standstill.
const PATIENCE: u32 = 10;

/// Where a run stands: everything that the loop itself remembers. The solver's own memory is apart.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunState {
    /// What solving took.
    pub work: Work,
    /// Seconds spent on solving.
    pub solve_seconds: f64,
    /// Seconds spent on certifying.
    pub certify_seconds: f64,
    /// Certifications in a row without any progress.
    pub(super) standstill: u32,
    /// Every certification so far.
    pub history: Vec<Progress>,
}

impl RunState {
    /// Why a run with this certificate ends by itself, if it does.
    pub(super) fn end(&self, budget: &Budget, certificate: &Certificate) -> Option<Stop> {
        let stalled =
            certificate.gap() <= certificate.rounding_error || self.standstill >= PATIENCE;
        let reached = budget.is_met(certificate).then_some(Stop::GapReached);
        reached.or(stalled.then_some(Stop::Stalled))
    }

    pub(super) fn report<S: Solver>(
        self,
        solver: S,
        last: Progress,
        stop: Stop,
    ) -> Report<S::Model> {
        Report {
            tactics: solver.tactics(),
            counters: solver.counters(),
            model: solver.into_model(),
            certificate: last.certificate,
            stop,
            work: self.work,
            passes: last.passes,
            solve_seconds: self.solve_seconds,
            certify_seconds: self.certify_seconds,
            history: self.history,
        }
    }
}
