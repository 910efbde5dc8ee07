//! When one method hands over to another: where its certificates have hardly moved for a while.
//!
//! Ascent example by example is fast, but its steps are about one example each: where a few rows are far longer than the
//! others, or all are long beside what X may be, they can take very many of them. Gradients of all examples do not mind.
//! Whoever does not get on has the other take over, for twice as long each time both have had their turn, so a run never
//! takes much longer than the better of the two would.

use serde::{Deserialize, Serialize};

/// Over so many passes, at first, ...
const FIRST: f64 = 24.0;

/// ... the gap has to fall to this share of what it was.
const ENOUGH: f64 = 0.25;

/// Whose turn it is, and how it gets on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct HandoverPolicy {
    second: bool,
    passes: f64,
    /// When the passes were last counted from nothing.
    gap: f64,
    patience: f64,
    handed: u32,
    /// So many turns in a row changed nothing at all.
    still: u32,
}

impl HandoverPolicy {
    /// The first method begins.
    pub fn new() -> Self {
        Self {
            second: false,
            passes: 0.0,
            gap: f64::INFINITY,
            patience: FIRST,
            handed: 0,
            still: 0,
        }
    }

    /// Whether it is the second method's turn.
    pub fn is_second(&self) -> bool {
        self.second
    }

    /// Whether both have had a turn.
    pub fn is_shared(&self) -> bool {
        self.handed > 0
    }

    /// Whether certificates that stand still mean that nothing moves any more: not before both methods have tried.
    pub fn may_stall(&self) -> bool {
        self.still >= 2
    }

    /// Takes note of work.
    pub fn record_work(&mut self, passes: f64) {
        self.passes += passes;
    }

    /// Takes note of a certified gap, and says whether from now on it is the other's turn.
    pub fn certified(&mut self, gap: f64) -> bool {
        if self.gap.is_finite() && self.passes < self.patience {
            return false;
        }
        let slow = gap > ENOUGH * self.gap;
        self.still = if gap < self.gap { 0 } else { self.still.saturating_add(1) };
        (self.passes, self.gap) = (0.0, gap);
        if slow {
            (self.second, self.handed) = (!self.second, self.handed.saturating_add(1));
            self.patience *= if self.second { 1.0 } else { 2.0 };
        }
        slow
    }

    /// Whether a leg that came from elsewhere can be one of a run in which the second method has had a turn, or not.
    pub fn is_sound(&self, has_second: bool) -> bool {
        self.passes >= 0.0
            && !self.gap.is_nan()
            && self.patience >= FIRST
            && self.is_shared() == has_second
            && (has_second || !self.second)
    }

    /// What a report says of it.
    pub fn describe(&self) -> String {
        format!("handed over to gradients of all examples, or back, {} times", self.handed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_gets_on_keeps_its_turn_and_who_does_not_hands_over() {
        let mut policy = HandoverPolicy::new();
        assert!(!policy.certified(1.0), "nothing to compare with");
        policy.record_work(FIRST - 1.0);
        assert!(!policy.certified(1.0), "too early");
        policy.record_work(1.0);
        assert!(!policy.certified(ENOUGH) && !policy.is_shared());
        policy.record_work(FIRST);
        assert!(policy.certified(0.9 * ENOUGH) && policy.is_second());
        policy.record_work(FIRST);
        assert!(policy.certified(0.8 * ENOUGH) && !policy.is_second(), "back again");
        policy.record_work(FIRST);
        assert!(!policy.certified(0.8 * ENOUGH), "now it has twice as long");
        policy.record_work(FIRST);
        assert!(policy.certified(0.8 * ENOUGH) && policy.is_second() && !policy.may_stall());
        policy.record_work(2.0 * FIRST);
        assert!(
            policy.certified(0.8 * ENOUGH) && policy.may_stall(),
            "neither of them has moved it"
        );
        policy.record_work(4.0 * FIRST);
        assert!(policy.certified(0.7 * ENOUGH) && !policy.may_stall());
        assert!(
            policy.is_sound(true)
                && !policy.is_sound(false)
                && HandoverPolicy::new().is_sound(false)
        );
    }
}
