//! The state of the loop, why a run ended, and its report.

use crate::run::{Budget, Certificate, Counters, Progress, Solver, Work};
use serde::{Deserialize, Serialize};

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
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
    /// The run makes no more progress: the gap is down to rounding, or neither value has improved for many
    /// certifications.
    Stalled,
}

/// The result of a run, and how it went.
#[derive(Clone, Debug)]
pub struct Report<M> {
    /// The model.
    pub model: M,
    /// The certificate of exactly this model.
    pub certificate: Certificate,
    /// Why the run ended.
    pub stop: Stop,
    /// The work of solving.
    pub work: Work,
    /// Passes over the data, certification not counted.
    pub passes: f64,
    /// Seconds spent on solving.
    pub solve_seconds: f64,
    /// Seconds spent on certifying.
    pub certify_seconds: f64,
    /// What the solver chose during the run, for people to read.
    pub tactics: Vec<String>,
    /// What else the solver counted, by name.
    pub counters: Counters,
    /// Every certification of the run, the last one included.
    pub history: Vec<Progress>,
}

impl<M> Report<M> {
    /// Returns the model, and the report without it.
    pub fn split(self) -> (M, Report<()>) {
        let Self { model, certificate, stop, work, passes, solve_seconds, .. } = self;
        let Self { certify_seconds, tactics, counters, history, .. } = self;
        let report = Report {
            model: (),
            certificate,
            stop,
            work,
            passes,
            solve_seconds,
            certify_seconds,
            tactics,
            counters,
            history,
        };
        (model, report)
    }

    /// Returns the same report with another form of the model.
    pub fn map<N>(self, form: impl FnOnce(M) -> N) -> Report<N> {
        let (model, report) = self.split();
        report.with(form(model))
    }
}

impl Report<()> {
    /// Returns the state of the loop at the end of the run, for another solver to go on from.
    pub(crate) fn into_state(self) -> RunState {
        let Self { work, solve_seconds, certify_seconds, history, .. } = self;
        RunState {
            work,
            solve_seconds,
            certify_seconds,
            standstill: 0,
            history,
            handed_over: true,
            compressed: false,
            refuted: None,
        }
    }

    /// Returns the report of this model.
    fn with<M>(self, model: M) -> Report<M> {
        let Self { model: (), certificate, stop, work, passes, solve_seconds, .. } = self;
        let Self { certify_seconds, tactics, counters, history, .. } = self;
        Report {
            model,
            certificate,
            stop,
            work,
            passes,
            solve_seconds,
            certify_seconds,
            tactics,
            counters,
            history,
        }
    }
}

/// This many consecutive certifications without progress count as a stall: fewer may end a run that would still
/// improve, more waste work on one that does not.
const PATIENCE: u32 = 10;

/// The state of the loop. The solver's own state is apart.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunState {
    /// The work of solving.
    pub work: Work,
    /// Seconds spent on solving.
    pub solve_seconds: f64,
    /// Seconds spent on certifying.
    pub certify_seconds: f64,
    /// Consecutive certifications without progress.
    pub(super) standstill: u32,
    /// Every certification so far.
    pub history: Vec<Progress>,
    /// Whether the solver's state is that of the second of two methods.
    #[serde(default)]
    pub(crate) handed_over: bool,
    /// Whether the solver's state is that of a run on compressed rows.
    #[serde(default)]
    pub(crate) compressed: bool,
    /// The gap that the solver expected when a certificate did not end the run, because of rounding.
    #[serde(default)]
    pub(super) refuted: Option<f64>,
}

impl RunState {
    /// Returns why a run ends after this certification, or `None` if it continues.
    pub(super) fn end(&self, budget: &Budget, certificate: &Certificate) -> Option<Stop> {
        let stalled =
            certificate.gap() <= certificate.rounding_error || self.standstill >= PATIENCE;
        let reached = budget.is_met(certificate).then_some(Stop::GapReached);
        // An interrupt during the certification, or by the observer, finds a model that is certified already.
        let interrupted = budget.interrupt.raised().then_some(Stop::Interrupted);
        reached.or(stalled.then_some(Stop::Stalled)).or(interrupted)
    }

    /// Counts the certifications in a row that are no better than the one before.
    pub(super) fn compare(&mut self, certificate: &Certificate, may_stall: bool) {
        let Some(before) = self.history.last().map(|before| before.certificate) else { return };
        let better = certificate.primal < before.primal || certificate.dual > before.dual;
        let still = !better && may_stall;
        self.standstill = if still { self.standstill.saturating_add(1) } else { 0 };
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
