//! What the training loop asks of a solver: to step, to certify, to hand over its model.

use crate::Result;
use crate::run::Certificate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// What a solver counts beside its [`Work`], by name.
pub type Counters = BTreeMap<&'static str, u64>;

/// Work done, counted and never timed: what influences iterates is decided by these numbers.
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
    /// At most so many oracle calls.
    pub oracle_calls: u64,
    /// At most so many steps.
    pub steps: u64,
    /// Return once so many are done, at the next place where a pause changes nothing.
    pub pause: u64,
    /// Whether to return at once all the same: Ctrl-C, or the time is up.
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

/// What a certification pass found.
#[derive(Clone, Copy, Debug)]
pub struct Certified {
    /// Of the model that [`Solver::into_model`] would return now.
    pub model: Certificate,
    /// Of the current iterate (or its average), which need not be the best one seen.
    pub iterate: Certificate,
}

/// A solver only steps and certifies. No clock, no printing, no stopping test.
pub trait Solver {
    /// What a run ends with.
    type Model;

    /// How many oracle calls make one pass over the data. A certification costs as many.
    fn calls_per_pass(&self) -> u64;

    /// Steps until the quota is used up. May return early; having done nothing means that not even
    /// one step fits into the quota.
    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work>;

    /// Evaluates both sides from the data.
    fn certify(&mut self) -> Result<Certified>;

    /// [`certify`](Self::certify) that ends soon once it is halted: with bounds that are coarser then, and as proven. What
    /// such a certification leaves behind is no place to go on from, so the run ends with it.
    fn certify_until(&mut self, halted: &(dyn Fn() -> bool + Sync)) -> Result<Certified> {
        let _ = halted; // for solvers that have nothing long to cut short
        self.certify()
    }

    /// The certificate of the model, where it is known and was proved when the solver was made from an earlier run's
    /// state; for solvers that a certification moves.
    fn proved(&self) -> Option<Result<Certificate>> {
        None
    }

    /// Whether certificates that stand still mean that nothing moves any more.
    fn may_stall(&self) -> bool {
        true
    }

    /// What was chosen and done while the run went on, for people to read.
    fn tactics(&self) -> Vec<String> {
        Vec::new()
    }

    /// What was counted beside the work, by name.
    fn counters(&self) -> Counters {
        Counters::new()
    }

    /// The weights of that model, or none where they are no plain vector.
    fn weights(&self) -> &[f64];

    /// The model that was certified last.
    fn into_model(self) -> Self::Model;
}
