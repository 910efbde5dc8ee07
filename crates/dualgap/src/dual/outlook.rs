//! What the visits of a sweep tell of the next certificate.
//!
//! A visit computes the score of its example, and so could its part of the gap, before it steps:
//!
//! ```text
//! gap_i = φ_i(a) + φ_i*(−α_i) + α_i a,     P(w) − D(α) = Σ mass_i gap_i     if w and α stay as they are
//! ```
//!
//! They do not, and later visits find less: what a pass adds up is about twice the gap at its end. How much it is in this run,
//! every certificate tells. Where shrinking leaves examples out nothing is foretold: a short round sees a tenth of the gap, or a
//! thousandth, and several together a hundred times too much, as the gap falls from each to the next. A sample of the examples
//! is enough, because nothing but the moment of a certificate depends on it.

use crate::run::{Certificate, Expected};
use serde::{Deserialize, Serialize};

/// One example in this many is looked at, so that it costs next to nothing, ...
const STRIDE: usize = 32;

/// ... but where examples are few, at least about this many of them: most parts of a gap are near zero, and some large.
const ENOUGH: usize = 64;

/// The share of a pass's sum that is left at its end, until a certificate tells. Not tuned.
const LEFT: f64 = 0.5;

/// The gap may be wrong by this factor: a certificate that is due waits if the tolerance is further away.
const OFF: f64 = 4.0;

/// Sums over the visits of a pass.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Pass {
    gap: f64,
    loss: f64,
}

/// Numbers with these last bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits {
    mask: usize,
    bits: usize,
}

impl Bits {
    /// No number.
    pub const NONE: Self = Self { mask: 0, bits: 1 };

    #[inline]
    pub fn has(self, i: usize) -> bool {
        i & self.mask == self.bits
    }
}

/// The outlook on the next certificate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outlook {
    /// This round so far, and its visits.
    now: Pass,
    visits: usize,
    /// The last round, if it was a pass, seen from its beginning.
    last: Option<Pass>,
    /// The share of a pass's sum that the next certificate finds.
    left: f64,
    /// The dual value of the last certificate.
    dual: Option<f64>,
    /// Which examples are looked at: one in so many, a power of two, and others in every pass.
    stride: usize,
    turn: usize,
}

impl Outlook {
    pub(super) fn new(examples: usize) -> Self {
        let stride = 1 << (examples / ENOUGH).clamp(1, STRIDE).ilog2();
        Self {
            now: Pass::default(),
            visits: 0,
            last: None,
            left: LEFT,
            dual: None,
            stride,
            turn: 0,
        }
    }

    /// Whether a run over so many examples may have left this.
    pub(super) fn is_sound(&self, examples: usize) -> bool {
        self.stride == Self::new(examples).stride && self.turn < self.stride
    }

    /// Returns which examples are looked at in this pass: those with these last bits, all others masked.
    pub(super) fn which(&self) -> Bits {
        Bits { mask: self.stride - 1, bits: self.turn }
    }

    /// Looks at an example before its visit: at its part of the gap and of the loss.
    #[inline]
    pub(crate) fn see(&mut self, mass: f64, gap: f64, loss: f64) {
        self.now.gap += mass * gap;
        self.now.loss += mass * loss;
    }

    /// Counts visits of a round over some of the examples, or all, that may end with them.
    pub(super) fn count(&mut self, visits: usize, examples: usize, round_over: bool) {
        self.visits = self.visits.saturating_add(visits);
        if round_over {
            let (all, Pass { gap, loss }) = (self.stride as f64, self.now);
            let pass = self.visits == examples;
            self.last = pass.then_some(Pass { gap: all * gap, loss: all * loss });
            (self.now, self.visits) = (Pass::default(), 0);
            self.turn = (self.turn + 1) % self.stride;
        }
    }

    /// Learns from a certificate.
    pub(super) fn learn(&mut self, certificate: &Certificate) {
        self.dual = Some(certificate.dual);
        let share = self.last.map_or(f64::NAN, |last| certificate.gap() / last.gap);
        if share > 0.0 && share.is_finite() {
            self.left = share;
        }
    }

    /// Forgets what it has seen: the problem has changed, or the points.
    pub(super) fn forget(&mut self) {
        (self.now, self.visits) = (Pass::default(), 0);
        (self.last, self.dual) = (None, None);
    }

    /// Returns what the next certificate may find, once there was a pass. The dual value only rises: so the primal one is not
    /// overestimated.
    pub(super) fn expected(&self) -> Option<Expected> {
        let Pass { gap, loss } = self.last?;
        let gap = self.left * gap;
        let primal = self.dual.map_or(loss, |dual| dual + gap);
        (gap > 0.0 && gap.is_finite() && primal.is_finite()).then_some(Expected {
            primal,
            gap,
            off: OFF,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dual::{Engine, Problem, Settings};
    use crate::linalg::{Random, Rows};
    use crate::run::{Quota, Solver};
    use crate::structure::{Choice, LinearBlocks};
    use crate::term::{L2, ScalarLoss};

    #[test]
    fn a_pass_of_each_kind_looks_at_every_example_once() {
        for n in [1, 63, 300, 5000] {
            let mut outlook = Outlook::new(n);
            let mut looks = vec![0; n];
            for _ in 0..outlook.stride {
                (0..n).filter(|&i| outlook.which().has(i)).for_each(|i| looks[i] += 1);
                outlook.count(n, n, true);
            }
            assert!(looks.iter().all(|&looks| looks == 1));
            assert!(n < ENOUGH || n / outlook.stride >= ENOUGH);
            assert!(outlook.is_sound(n) && outlook.is_sound(n + 40 * ENOUGH) == (n == 5000));
        }
    }

    /// A round that was not seen from its beginning tells nothing, nor does one without all examples.
    #[test]
    fn nothing_is_foretold_from_a_part_of_a_pass() {
        let expected =
            |loss: f64, gap: f64| Some(Expected { primal: loss, gap: LEFT * gap, off: OFF });
        let mut outlook = Outlook::new(2);
        let round = |outlook: &mut Outlook, visits: usize| {
            outlook.see(0.5, 3.0, 5.0);
            outlook.count(visits, 2, true);
            outlook.expected()
        };
        assert_eq!(outlook.expected(), None);
        assert_eq!(round(&mut outlook, 2), expected(2.5, 1.5));
        assert_eq!(round(&mut outlook, 1), None);
        assert_eq!(round(&mut outlook, 2), expected(2.5, 1.5));
        outlook.count(1, 2, false);
        outlook.forget();
        assert_eq!(outlook.expected(), None);
        assert_eq!(round(&mut outlook, 1), None);
        assert_eq!(round(&mut outlook, 2), expected(2.5, 1.5));
    }

    /// After every pass, beside the certificate that is then computed. Where losses have corners, w moves the parts up and down.
    #[test]
    fn the_gap_is_about_what_the_certificate_finds() {
        let mut random = Random::new(5);
        let rows: Vec<Vec<f64>> =
            (0..3000).map(|_| (0..6).map(|_| random.unit() - 0.5).collect()).collect();
        let targets: Vec<f64> = rows
            .iter()
            .map(|row| if row[0] + row[1] + 0.3 * (random.unit() - 0.5) > 0.0 { 1.0 } else { -1.0 })
            .collect();
        let rows = Rows::dense(&rows).unwrap();
        for loss in [ScalarLoss::Hinge, ScalarLoss::SquaredHinge, ScalarLoss::Logistic] {
            let blocks = LinearBlocks::new(&rows, targets.clone(), loss, Choice::I).unwrap();
            let settings = Settings { threads: 1, ..Settings::default() };
            let problem = Problem::new(&blocks, L2, 1e-3, None).unwrap();
            let mut engine = Engine::new(problem, &settings).unwrap();
            let mut told = 0;
            for _ in 0..8 {
                let pause = 3000;
                let quota = Quota { oracle_calls: 3000, steps: u64::MAX, pause, halted: &|| false };
                engine.advance(&quota).unwrap();
                let Some(expected) = engine.foreseen() else { continue };
                let found = engine.certify().unwrap().model;
                if found.gap() < 1e-9 {
                    continue; // down to rounding
                }
                let ratio = expected.gap / found.gap();
                let most = if loss == ScalarLoss::Hinge { 3.0 * OFF } else { OFF };
                assert!((1.0 / most..most).contains(&ratio), "{loss:?}: {ratio}");
                assert!(expected.primal < 1.1 * found.primal, "{loss:?}: {expected:?}, {found:?}");
                told += 1;
            }
            assert!(told >= 3, "{loss:?}: {told}");
        }
    }
}
