//! Runs on scaled columns whose weights are for the unscaled data.

use super::Model;
use super::sides::{Sides, certificate};
use crate::data::{Examples, Factors, Scaling};
use crate::dual::Witness;
use crate::linalg::memory::Need;
use crate::run::{Budget, Observer, Progress, Report, Stop};
use crate::{Error, Result};
use std::borrow::Cow;
use std::time::Instant;

/// Returns the factors of a data set and its scaled examples, or an error without memory for them: three numbers per
/// column while the factors are computed, and a copy of the data.
pub(super) fn apply(scale: Scaling, data: &Examples) -> Result<(Factors, Cow<'_, Examples>)> {
    if !scale.is_none() {
        let others = data.rows().stored().saturating_mul(2);
        Need { weights: data.rows().width(), copies: 3, others }.check()?;
    }
    Ok(scale.apply(data))
}

/// Recomputes the certificate for exactly the weights that are returned, because unscaling rounds. If they no longer
/// meet the tolerance, the run counts as stalled: rounding allows no more.
pub(super) fn recertify(
    report: &mut Report<Model>,
    witness: &Witness,
    sides: &dyn Sides,
    factors: &Factors,
    budget: &Budget,
) -> Result<()> {
    let begin = Instant::now();
    report.certificate = certificate(&report.model, witness, sides, factors)?;
    if report.stop == Stop::GapReached && !budget.is_met(&report.certificate) {
        report.stop = Stop::Stalled;
    }
    if let Some(last) = report.history.last_mut() {
        last.certificate = report.certificate;
        last.gap = report.certificate.certified.then(|| report.certificate.gap());
    }
    report.model.certificate = report.certificate;
    report.model.provenance.stop = report.stop;
    report.certify_seconds += begin.elapsed().as_secs_f64();
    Ok(())
}

/// An observer that unscales the weights of the run before it passes them on.
pub(super) struct Unscaled<'a> {
    pub factors: &'a Factors,
    pub observer: &'a mut dyn Observer,
}

impl Observer for Unscaled<'_> {
    fn certified(&mut self, progress: &Progress, weights: &[f64]) -> Result<()> {
        self.observer.certified(progress, &self.factors.raw(weights))
    }

    fn advanced(&mut self, passes: f64) {
        self.observer.advanced(passes);
    }

    fn checkpoint_failed(&mut self, error: &Error) -> bool {
        self.observer.checkpoint_failed(error)
    }
}
