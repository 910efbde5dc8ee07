//! Decides whether acceleration pays: measures the rate of the gap, and tries the other method if it shrinks slowly.

use serde::{Deserialize, Serialize};

/// Rates are clamped to this many powers of e a pass; no gap changes faster.
const FASTEST: f64 = 1e3;

/// A trial of acceleration against plain steps. The bound that the condition number gives is for the worst data: on
/// most data with many features plain steps are far faster. So the trial measures how fast the gap shrinks; if that is
/// slower than a floor, the run tries the other method, and the faster of the two continues.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Trial {
    /// The oracle calls and the gap at the last measurement.
    seen: Option<(u64, f64)>,
    /// The passes from one measurement to the next.
    pub window: f64,
    /// If the gap shrinks more slowly than this (in powers of e a pass), the other method is worth a trial.
    floor: f64,
    /// During a trial: the rate of the method before.
    pub rival: Option<f64>,
}

impl Trial {
    /// Measures over `window` passes, and tries the other method if the gap shrinks more slowly than `floor`.
    pub fn new(window: f64, floor: f64) -> Self {
        Self { window, floor, ..Self::default() }
    }

    /// Records a certification; returns how fast the gap shrinks once the window has passed. Before the `first` trial every window is as
    /// long as the run so far: the gap may rest for some passes and fall again, and a trial takes longer than that.
    pub fn rate(&mut self, calls: u64, gap: f64, pass: u64, first: bool) -> Option<f64> {
        let Some((since, before)) = self.seen else {
            self.seen = Some((calls, gap));
            return None;
        };
        let passes = calls.saturating_sub(since) as f64 / pass as f64;
        if passes < self.window {
            return None;
        }
        self.seen = Some((calls, gap));
        if first {
            self.window = self.window.max(calls as f64 / pass as f64);
        }
        // A gap of zero counts as the fastest rate; if the gap was never finite, the rate is NaN and there is none.
        let rate = if gap > 0.0 { (before / gap).ln() / passes } else { FASTEST };
        (!rate.is_nan()).then_some(rate.clamp(-FASTEST, FASTEST))
    }

    /// Returns whether to switch to the other method, given the rate of this one.
    pub fn changes(&mut self, rate: f64) -> bool {
        match self.rival.take() {
            // The method on trial was slower: switch back, and try it again when the rate is below half of its rate.
            Some(rival) if rate < rival => {
                self.floor = 0.5 * rate.max(0.0);
                true
            }
            Some(rival) => {
                self.floor = 0.5 * rival.max(0.0);
                false
            }
            None if rate < self.floor => {
                self.rival = Some(rate);
                true
            }
            None => false,
        }
    }

    pub fn is_sound(&self) -> bool {
        let numbers = [self.window, self.floor, self.rival.unwrap_or(0.0)];
        numbers.iter().all(|x| x.is_finite()) && self.window > 0.0
    }
}
