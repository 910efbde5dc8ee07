//! When a run ends: tolerances, limits, and a flag that anyone may raise.

use crate::run::{Certificate, Expected};
use crate::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that ends a run at the next step, with a certified model. Clones share the flag.
///
/// ```
/// let interrupt = dualgap::run::Interrupt::default();
/// interrupt.clone().raise();
/// assert!(interrupt.raised());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks the run to end. Safe to call from a signal handler's thread.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is raised.
    pub fn raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The limits of a run, and the gap that it should reach.
///
/// ```
/// # use dualgap::run::Budget;
/// let budget = Budget { passes: Some(50), ..Budget::relative(0.01) };
/// assert!(budget.check().is_ok());
/// assert!(Budget::relative(-1.0).check().is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Budget {
    /// Stop when the gap is at most this fraction of the primal value.
    pub relative: Option<f64>,
    /// Stop when the gap is at most this. With both tolerances given, either one stops the run.
    pub absolute: Option<f64>,
    /// The largest number of passes over the data.
    pub passes: Option<u64>,
    /// The largest number of oracle calls for solving; those of certification are counted apart.
    pub oracle_calls: Option<u64>,
    /// The time limit in seconds, certification included. The closing certification comes on top: after as many seconds again, and five
    /// at most, it makes do with coarser bounds where it has any.
    pub seconds: Option<f64>,
    /// The work that certifications may take during the run, as a fraction of the solving work.
    pub certify_share: f64,
    /// Ends the run when raised.
    pub interrupt: Interrupt,
}

impl Default for Budget {
    /// A relative gap of 1 %, without any other limit.
    fn default() -> Self {
        Self::relative(0.01)
    }
}

impl Budget {
    /// Returns a budget with a relative tolerance and nothing else.
    pub fn relative(tolerance: f64) -> Self {
        Self { relative: Some(tolerance), ..Self::unlimited() }
    }

    /// Returns a budget of this many passes, whatever gap they reach.
    pub fn passes(passes: u64) -> Self {
        Self { passes: Some(passes), ..Self::unlimited() }
    }

    fn unlimited() -> Self {
        Self {
            relative: None,
            absolute: None,
            passes: None,
            oracle_calls: None,
            seconds: None,
            certify_share: 0.25,
            interrupt: Interrupt::default(),
        }
    }

    /// Returns an error if a tolerance, the time limit or the share of certification is invalid.
    pub fn check(&self) -> Result<()> {
        let proper = |x: Option<f64>| x.is_none_or(|x| x >= 0.0 && x.is_finite());
        if !proper(self.relative) || !proper(self.absolute) {
            return Err(Error::setting("a tolerance must be a number that is not negative"));
        }
        if !proper(self.seconds) {
            return Err(Error::setting("a time limit must be a number that is not negative"));
        }
        if !(self.certify_share > 0.0 && self.certify_share.is_finite()) {
            return Err(Error::setting("the share of certification must be a positive number"));
        }
        Ok(())
    }

    /// Returns the largest gap that ends the run at this primal value, if any gap does.
    pub(super) fn allowed(&self, primal: f64) -> Option<f64> {
        let relative = self.relative.map(|share| share * primal.abs());
        self.absolute.into_iter().chain(relative).reduce(f64::max)
    }

    /// Whether a certificate of about these values would meet one of the tolerances.
    pub(super) fn would_be_met(&self, expected: Expected) -> bool {
        self.allowed(expected.primal).is_some_and(|allowed| expected.gap <= allowed)
    }

    /// Whether the certificate, rounding included, meets one of the tolerances.
    pub fn is_met(&self, certificate: &Certificate) -> bool {
        self.allowed(certificate.primal).is_some_and(|allowed| certificate.is_within(allowed))
    }
}
