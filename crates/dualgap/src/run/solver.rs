//! What the training loop asks of a solver: to step, to certify, and to return its model.

use crate::Result;
use crate::run::Certificate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// What a solver counts besides its [`Work`], by name.
pub type Counters = BTreeMap<&'static str, u64>;

/// Work, counted and never timed: only these numbers decide anything that influences the iterates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Block steps.
    pub steps: u64,
    /// Calls of the max-oracle.
    pub oracle_calls: u64,
}

impl AddAssign for Work {
    fn add_assign(&mut self, more: Self) {
        self.steps = self.steps.saturating_add(more.steps);
        self.oracle_calls = self.oracle_calls.saturating_add(more.oracle_calls);
    }
}

/// How much a solver may do before it returns.
pub struct Quota<'a> {
    /// The largest number of oracle calls.
    pub oracle_calls: u64,
    /// The largest number of steps.
    pub steps: u64,
    /// After this many oracle calls, return at the next point where a pause changes nothing.
    pub pause: u64,
    /// Whether to return at once, after Ctrl-C or at the time limit.
    pub halted: &'a (dyn Fn() -> bool + Sync),
}

impl Quota<'_> {
    /// Whether work that costs `calls` may still be begun after `done`.
    pub fn allows(&self, done: Work, calls: u64) -> bool {
        done.oracle_calls + calls <= self.oracle_calls
            && done.steps < self.steps
            && done.oracle_calls < self.pause.min(self.oracle_calls)
            && !(self.halted)()
    }
}

/// The result of a certification.
#[derive(Clone, Copy, Debug)]
pub struct Certified {
    /// The certificate of the model that [`Solver::into_model`] would return now.
    pub model: Certificate,
    /// The certificate of the current iterate (or its average), which need not be the best one so far.
    pub iterate: Certificate,
}

/// What a solver knows of its next certificate without computing it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// P, rounded.
    pub primal: f64,
    /// The gap, about, ...
    pub gap: f64,
    /// ... which may be wrong by this factor.
    pub off: f64,
}

/// A solver only steps and certifies. It has no clock, no printing and no stopping test.
pub trait Solver {
    /// The model that a run returns.
    type Model;

    /// Returns how many oracle calls make one pass over the data. A certification costs as many, unless
    /// [`passes_per_certification`](Self::passes_per_certification) says otherwise.
    fn calls_per_pass(&self) -> u64;

    /// Returns how many passes take as long as a certification.
    fn passes_per_certification(&self) -> f64 {
        1.0
    }

    /// Steps until the quota is used up. May return early; a return without any work means that not even one step fits
    /// into the quota.
    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work>;

    /// Evaluates the primal and the dual value from the data.
    fn certify(&mut self) -> Result<Certified>;

    /// [`certify`](Self::certify) that ends soon after `halted` becomes true, with bounds that are then coarser but
    /// just as valid. A run cannot continue from the state after such a certification, so it ends with it.
    fn certify_until(&mut self, halted: &(dyn Fn() -> bool + Sync)) -> Result<Certified> {
        let _ = halted; // for solvers that have nothing long to cut short
        self.certify()
    }

    /// Returns about what a certification would find now, if the solver knows: the loop then certifies when the tolerance is
    /// reached, and seldom while it is far away.
    fn expected(&self) -> Option<Expected> {
        None
    }

    /// Whether a certification may come sooner than it is due, where the pace of the last ones promises that it ends the run. When that
    /// is depends on the tolerance, which steps must not: so it is for solvers that are not moved by being certified.
    fn may_hasten(&self) -> bool {
        false
    }

    /// Returns the certificate of the model, if the solver proved it when it resumed from an earlier run's state. For
    /// solvers whose state changes with a certification.
    fn proved(&self) -> Option<Result<Certificate>> {
        None
    }

    /// Whether certificates without progress mean that the solver has stalled.
    fn may_stall(&self) -> bool {
        true
    }

    /// Describes what the solver chose during the run, for people to read.
    fn tactics(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns what the solver counted besides the work, by name.
    fn counters(&self) -> Counters {
        Counters::new()
    }

    /// Returns the weights of the model that was certified last, or an empty slice if they are no plain vector.
    fn weights(&self) -> &[f64];

    /// Returns the model that was certified last.
    fn into_model(self) -> Self::Model;
}
