//! Whether acceleration pays: the gap is watched, and the other way tried where it shrinks slowly.

use serde::{Deserialize, Serialize};

/// No gap shrinks or grows by more powers of e a pass.
const FASTEST: f64 = 1e3;

/// The bound that the condition number gives is for the worst data of their kind: on most data of many features plain
/// steps are far faster. So it is seen how fast the gap shrinks; where that is slower than it might be, the other way
/// is tried, and whichever was faster goes on.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Trial {
    /// Oracle calls and the gap when it was last judged.
    seen: Option<(u64, f64)>,
    /// Judged again after so many passes.
    pub window: f64,
    /// A gap that shrinks more slowly (in powers of e a pass) makes the other way worth a trial.
    floor: f64,
    /// During a trial: how fast the gap shrank before.
    pub rival: Option<f64>,
}

impl Trial {
    /// Judges after so many passes, and tries the other way where the gap shrinks more slowly than this.
    pub fn new(window: f64, floor: f64) -> Self {
        Self { window, floor, ..Self::default() }
    }

    /// Is told of a certification, and tells how fast the gap shrinks once it has seen enough passes of it.
    pub fn rate(&mut self, calls: u64, gap: f64, pass: u64) -> Option<f64> {
        let Some((since, before)) = self.seen else {
            self.seen = Some((calls, gap));
            return None;
        };
        let passes = calls.saturating_sub(since) as f64 / pass as f64;
        if passes < self.window {
            return None;
        }
        self.seen = Some((calls, gap));
        // What has shrunk to nothing has shrunk fast enough, and of what was never finite nothing can be said.
        let rate = if gap > 0.0 { (before / gap).ln() / passes } else { FASTEST };
        (!rate.is_nan()).then_some(rate.clamp(-FASTEST, FASTEST))
    }

    /// Whether to change to the other way, at this rate.
    pub fn changes(&mut self, rate: f64) -> bool {
        match self.rival.take() {
            // The other way was slower, and is tried again when this one is slower than half of that.
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
