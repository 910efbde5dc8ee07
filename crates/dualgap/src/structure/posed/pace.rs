//! Whether dual ascent or Newton's method is the faster one on a problem: before a run by the shape of the data, during dual
//! ascent by the gap of its certificates. Both depend on counted work alone.
//!
//! Dual ascent on a (1/γ)-smooth loss takes about `(1 + q/γ) log(1/ε)` passes, with q the mean of `mass_i ‖x_i‖²/λ` (theorem 1
//! of the Prox-SDCA paper): a few if λn is as large as the rows, thousands on raw columns. Newton's method takes a few steps
//! whatever the columns are, each as long as some passes of dual ascent.

use crate::dual::Settings;
use crate::methods::newton::{self, CurvedBlocks};
use crate::run::{Budget, Progress};

/// The steps of a run of Newton's method: between 5 and 12 on all that was tried.
const STEPS: f64 = 7.0;

/// What a run by conjugate gradients takes, in passes of dual ascent.
const BY_CONJUGATE_GRADIENTS: f64 = 60.0;

/// The relative gap that a run without a tolerance is taken to aim at.
const USUAL: f64 = 1e-6;

/// Dual ascent is left only if it would take this many times as long as Newton's method: the estimates are rough.
const MUCH: f64 = 1.5;

/// The estimates for a problem; see the module's head.
pub(super) struct Pace {
    /// The passes of dual ascent that take as long as a whole run of Newton's method.
    newton: f64,
    /// The passes that dual ascent would take.
    ascent: f64,
    relative: f64,
    absolute: f64,
}

impl Pace {
    pub fn new<B: CurvedBlocks>(blocks: &B, settings: &Settings, budget: &Budget) -> Self {
        let newton = match newton::passes_of_ascent_per_step(blocks) {
            Some(passes) => STEPS * passes,
            None => BY_CONJUGATE_GRADIENTS,
        };
        let n = blocks.len() as f64;
        let squares: f64 = (0..blocks.len()).map(|i| blocks.importance(i).powi(2)).sum();
        let q = squares / (n * n * settings.lambda);
        let none = budget.relative.is_none() && budget.absolute.is_none();
        let relative = budget.relative.unwrap_or(if none { USUAL } else { 0.0 });
        // An absolute tolerance is compared with a loss of about one.
        let absolute = budget.absolute.unwrap_or(0.0);
        let tolerance = relative.max(absolute).clamp(1e-12, 0.5);
        let ascent = (1.0 + q / blocks.smoothness()) * (1.0 / tolerance).ln();
        Self { newton, ascent, relative, absolute }
    }

    /// Whether a run begins with Newton's method.
    pub fn begins_with_newton(&self) -> bool {
        self.ascent > MUCH * self.newton
    }

    /// Describes why a run is one of Newton's method.
    pub fn describe(&self) -> String {
        let Self { ascent, newton, .. } = self;
        format!(
            "in the place of dual ascent, which may take {ascent:.0} passes where Newton's method takes as long as \
             {newton:.0}"
        )
    }

    /// Whether dual ascent, which falls behind or not between two certifications, would take longer than Newton's method from
    /// here.
    pub fn is_slow(&self, before: &Progress, now: &Progress) -> bool {
        let (earlier, gap) = (before.certificate.gap(), now.certificate.gap());
        let tolerance = self.absolute.max(self.relative * now.certificate.primal.abs());
        let rate = (earlier / gap).ln() / (now.passes - before.passes);
        let left = (gap / tolerance.max(f64::MIN_POSITIVE)).ln();
        // A gap that does not shrink takes forever; a rate of nothing known decides nothing.
        left > 0.0 && rate.max(0.0) * MUCH * self.newton < left
    }
}
