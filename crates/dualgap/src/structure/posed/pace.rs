//! Whether dual ascent or Newton's method is the faster one on a problem: before a run by the shape of the data, during dual
//! ascent by the gap of its certificates.
//!
//! Dual ascent on a (1/γ)-smooth loss takes about `(1 + q/γ) log(1/ε)` passes, with q the mean of `mass_i ‖x_i‖²/λ` (theorem 1
//! of the Prox-SDCA paper): a few if λn is as large as the rows, thousands on raw columns. Newton's method takes a few steps
//! whatever the columns are, each as long as some passes of dual ascent.
//!
//! Milliseconds to a relative gap of 1e-5 on one thread of a busy machine, solving and certifying, by dual ascent and by Newton's
//! method, and what was estimated, in passes of dual ascent:
//!
//! | data                     | loss          | λ    | ascent | Newton | passes of ascent: taken, theorem | as long as Newton |
//! | ------------------------ | ------------- | ---- | -----: | -----: | -------------------------------: | ----------------: |
//! | n = 270, d = 13, dense   | logistic      | 10/n |    0.6 |    0.4 |                            8, 14 |               3.6 |
//! |                          | logistic      | 1/n  |    1.0 |    0.6 |                           16, 35 |               3.6 |
//! |                          | squared hinge | 10/n |    0.7 |    0.5 |                           20, 30 |               3.6 |
//! |                          | squared hinge | 1/n  |    1.3 |    0.5 |                          36, 199 |               3.6 |
//! | a9a: d = 123, sparse     | logistic      | 10/n |     54 |    135 |                            8, 16 |               9.8 |
//! |                          | logistic      | 1/n  |    515 |    151 |                           24, 51 |               9.8 |
//! |                          | squared hinge | 10/n |    222 |     89 |                           24, 43 |               9.8 |
//! |                          | squared hinge | 1/n  |    258 |    131 |                          36, 331 |               9.8 |
//! | ijcnn1: d = 22, dense    | logistic      | 10/n |    284 |    248 |                            8, 12 |               6.1 |
//! |                          | logistic      | 1/n  |    576 |    265 |                           12, 16 |               6.1 |
//! |                          | squared hinge | 10/n |    284 |    211 |                            8, 15 |               6.1 |
//! |                          | squared hinge | 1/n  |    807 |    223 |                          24, 46 |               6.1 |
//! | texts, n = 2,000, d = 9,947 | logistic   | 1/n  |     48 |     28 |                            8, 14 |                   |
//! |                          | logistic      | 1e-4 |     31 |     59 |                            8, 26 |                   |
//! |                          | squared hinge | 1/n  |     23 |     42 |                            8, 35 |                   |
//! |                          | squared hinge | 1e-4 |     43 |     86 |                          12, 127 |                   |
//!
//! The estimates of the first and the third data are of rows that are stored with their zeros; without them they are 5.8 and 7.5.
//! The choice below is the faster side in all but logistic on ijcnn1 at 10/n, without the zeros squared hinge there, too, where it is a
//! third slower at most, and the first row of the texts, which is noise of that machine. On raw columns the theorem says millions of
//! passes.
//!
//! The texts have as many columns that Newton's equations need conjugate gradients, and how many products those take the shape does not
//! tell: 14 to 38 passes on texts whose rows have length one, and 1,880 passes to 1 % under softmax on those of news20, whose rows
//! are counts and some of them very long; dual ascent takes 12 there, where the theorem says 289. So such a run begins with dual
//! ascent, and leaves it when it stands still.
//!
//! A quadratic loss takes Newton's method one step: ridge regression on ijcnn1 at λ = 1e-4 took 7 ms by it, and 23 by dual ascent.
//!
//! Losses with corners have no such theorem: a run begins with dual ascent and is handed over by its pace, if the matrix of all weights
//! is small enough for Cholesky. Newton's method on smoothed losses takes 7 to 28 steps to 1e-4 from there (`methods/newton/smoothing`),
//! most of which look at few examples. Where even all of its steps from zero weights are no longer than the first passes of dual
//! ascent, because rows that lie anywhere in memory are waited for at every visit, it begins at once.
//!
//! Neither depends on the tolerance or a limit of the run, so that a run that resumes with others is the run that had them from
//! the start.

use crate::methods::newton::{self, CurvedBlocks};
use crate::run::Progress;

/// The steps of a run of Newton's method: between 5 and 12 on all that was tried.
const STEPS: f64 = 7.0;

/// The same where the quadratic model is the loss itself: one, and one more for what it rounds away.
const STEPS_OF_QUADRATIC: f64 = 2.0;

/// The logarithm of 1/ε for a whole run: to a relative gap of 1e-5.
const WHOLE: f64 = 11.5;

/// The same for the rest of a run: three more digits.
const REST: f64 = 6.9;

/// Dual ascent is left only if it would take this many times as long as Newton's method: the theorem says about twice as many
/// passes as are taken.
const MUCH: f64 = 2.0;

/// The steps of Newton's method for losses with corners after some passes of dual ascent, ...
const STEPS_OF_CORNERS: f64 = 15.0;

/// ... and from zero weights, ...
const STEPS_FROM_ZERO: f64 = 20.0;

/// ... which are taken at once if they are no longer than this many passes: dual ascent is certified after four.
const FEW_PASSES: f64 = 8.0;

/// Dual ascent on losses with corners is tried for this share of what Newton's method takes: where rows are few and long its first
/// certificates prove nothing, and 40 passes are enough.
const TRIED: f64 = 0.2;

/// Conjugate gradients take its place only if three digits would take so many passes at the pace since the beginning: they may take
/// thousands themselves. From one certification to the next acceleration may stand still before it begins to pay.
const STILL: f64 = 2000.0;

/// The passes before which that pace says nothing.
const TOO_EARLY: f64 = 64.0;

/// The estimates for a problem; see the module's head.
pub(super) struct Pace {
    /// The passes of dual ascent that take as long as a whole run of Newton's method, if that is known.
    newton: Option<f64>,
    /// The passes that dual ascent would take; infinite if that is not known.
    ascent: f64,
    /// Whether the run begins with Newton's method.
    at_once: bool,
}

impl Pace {
    pub fn new<B: CurvedBlocks>(blocks: &B, lambda: f64) -> Self {
        if !blocks.is_curved() {
            return Self::of_corners(newton::passes_of_ascent_per_smoothed_step(blocks));
        }
        let steps = if blocks.is_quadratic() { STEPS_OF_QUADRATIC } else { STEPS };
        let newton = newton::passes_of_ascent_per_step(blocks).map(|passes| steps * passes);
        let n = blocks.len() as f64;
        let squares: f64 = (0..blocks.len()).map(|i| blocks.importance(i).powi(2)).sum();
        let q = squares / (n * n * lambda);
        let ascent = (1.0 + q / blocks.smoothness()) * WHOLE;
        let at_once = newton.is_some_and(|newton| ascent > MUCH * newton);
        Self { newton, ascent, at_once }
    }

    /// Returns the estimates for a loss with corners, given those for a step.
    fn of_corners(step: f64) -> Self {
        let at_once = STEPS_FROM_ZERO * step <= FEW_PASSES;
        Self { newton: Some(STEPS_OF_CORNERS * step), ascent: f64::INFINITY, at_once }
    }

    /// Whether a run begins with Newton's method.
    pub fn begins_with_newton(&self) -> bool {
        self.at_once
    }

    /// Describes why a run is one of Newton's method.
    pub fn describe(&self) -> String {
        let (ascent, newton) = (self.ascent, self.newton.unwrap_or_default());
        if ascent == f64::INFINITY {
            return "in the place of dual ascent, whose first passes take longer".into();
        }
        format!(
            "in the place of dual ascent, which may take {ascent:.0} passes where Newton's method takes as long as \
             {newton:.0}"
        )
    }

    /// Whether the gap of dual ascent has fallen so slowly, between two certifications or so far, that Newton's method seems faster.
    pub fn is_slow(&self, before: Option<&Progress>, now: &Progress) -> bool {
        let gap = now.certificate.gap();
        // Under losses with corners the gap falls ever more slowly, so that the first certificate tells enough.
        let begun = (now.certificate.primal, 0.0);
        let of = |before: &Progress| (before.certificate.gap(), before.passes);
        let before = before.map(of).or((self.ascent == f64::INFINITY).then_some(begun));
        let Some((earlier, since)) = before else { return false };
        let Some(newton) = self.newton else {
            let digits = -now.certificate.relative_gap().ln();
            return now.passes >= TOO_EARLY && digits.max(0.0) * STILL < REST * now.passes;
        };
        if self.ascent == f64::INFINITY && now.passes < TRIED * newton {
            return false;
        }
        let rate = (earlier / gap).ln() / (now.passes - since);
        // Without a gap there is no rate, and no reason to go on otherwise.
        gap > 0.0 && rate.max(0.0) * MUCH * newton < REST
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Measured;
    use crate::run::{Certificate, Work};

    fn progress(passes: f64, gap: f64) -> Progress {
        let side = |value| Measured { value, error: 0.0 };
        let certificate = Certificate::new(side(1.0 + gap), side(1.0), true).unwrap();
        Progress {
            passes,
            work: Work::default(),
            solve_seconds: 0.0,
            certify_seconds: 0.0,
            certificate,
            gap: Some(gap),
            iterate_primal: 1.0,
            iterate_dual: 1.0,
            test_error: None,
        }
    }

    #[test]
    fn a_gap_that_falls_slowly_is_for_newton() {
        let pace = Pace { newton: Some(20.0), ascent: 20.0, at_once: false };
        assert!(!pace.begins_with_newton());
        // A digit in four passes takes 12 for three; one in forty takes 120.
        assert!(!pace.is_slow(Some(&progress(4.0, 1e-2)), &progress(8.0, 1e-3)));
        assert!(pace.is_slow(Some(&progress(40.0, 1e-2)), &progress(80.0, 1e-3)));
        assert!(pace.is_slow(Some(&progress(4.0, 1e-2)), &progress(8.0, 1e-2)), "it stands still");
        assert!(pace.is_slow(Some(&progress(4.0, 1e-2)), &progress(8.0, 2e-2)), "it grows");
        assert!(!pace.is_slow(Some(&progress(4.0, 1e-2)), &progress(8.0, 0.0)), "nothing is left");
        // Under losses with corners the first certificate counts, after a few passes.
        let pace = Pace::of_corners(1.0);
        assert!(!pace.begins_with_newton() && Pace::of_corners(0.3).begins_with_newton());
        assert!(pace.is_slow(None, &progress(4.0, 0.9)));
        assert!(!pace.is_slow(None, &progress(2.0, 0.9)), "too early to say");
        assert!(!pace.is_slow(None, &progress(4.0, 0.01)));
        // By conjugate gradients only where dual ascent stands still.
        let pace = Pace { newton: None, ascent: 1e9, at_once: false };
        assert!(!pace.begins_with_newton());
        assert!(
            !pace.is_slow(Some(&progress(12.0, 0.5)), &progress(16.0, 0.9)),
            "too early to say"
        );
        assert!(
            !pace.is_slow(Some(&progress(400.0, 1e-2)), &progress(404.0, 1e-2)),
            "two digits in 400"
        );
        assert!(
            pace.is_slow(Some(&progress(400.0, 0.9)), &progress(404.0, 0.9)),
            "it stands still"
        );
        assert!(!pace.is_slow(Some(&progress(4.0, 1e-2)), &progress(80.0, 0.0)), "nothing is left");
    }
}
