//! λ'/λ of the rounds, which follows what they gain.

use serde::{Deserialize, Serialize};

/// λ'/λ at first, and where the first rounds raise it to, by a factor of two each, as long as they gain much: many problems are
/// solved by then, and those whose examples have few columns in common are solved sooner without a centre.
const FIRST: f64 = 2.0;
const RISEN: f64 = 16.0;
const RISING: f64 = 4.0;

/// The smallest and the largest λ'/λ later. At the one there is almost no centre; beyond the other the rounds went astray in all
/// problems that were tried.
const LEAST: f64 = 1.05;
const LARGEST: f64 = 64.0;

/// The gain of a round, in units of κ/2‖w − z‖², for which κ stays the same. Below it the round was solved more accurately than
/// the next centre needs, and κ is too large; above it the weights that determine the next centre are far from those of a
/// solved round.
const ENOUGH: std::ops::Range<f64> = 3.0..24.0;

/// So many rounds in a row have to agree before κ changes: momentum makes it wander otherwise.
const PATIENCE: i32 = 2;

/// λ'/λ, and what the last rounds have said of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Ratio {
    /// λ'/λ of the next round.
    now: f64,
    /// Whether the first rounds still raise it.
    rises: bool,
    /// How many rounds in a row have asked for a larger κ, or less than zero for a smaller one.
    votes: i32,
}

impl Default for Ratio {
    fn default() -> Self {
        Self { now: FIRST, rises: true, votes: 0 }
    }
}

impl Ratio {
    /// Returns λ'/λ of the next round.
    pub fn get(&self) -> f64 {
        self.now
    }

    /// Learns what a round has gained, in units of κ/2‖w − z‖².
    pub fn learn(&mut self, gain: f64) {
        if self.rises {
            self.rises = gain >= RISING;
            if self.rises {
                self.now *= 2.0;
                self.rises = self.now < RISEN;
                return;
            }
        }
        let vote = match gain {
            gain if gain < ENOUGH.start => -1,
            gain if gain > ENOUGH.end => 1,
            _ => 0,
        };
        self.votes = if vote * self.votes > 0 { self.votes + vote } else { vote };
        if self.votes.abs() >= PATIENCE {
            let kappa = (self.now - 1.0) * if self.votes > 0 { 2.0 } else { 0.5 };
            self.now = (1.0 + kappa).clamp(LEAST, LARGEST);
            self.votes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(gains: &[f64]) -> f64 {
        let mut ratio = Ratio::default();
        gains.iter().for_each(|&gain| ratio.learn(gain));
        ratio.get()
    }

    #[test]
    fn the_ratio_follows_the_gains() {
        assert_eq!(after(&[9.0]), 4.0);
        assert_eq!(after(&[9.0, 9.0, 9.0]), RISEN);
        assert_eq!(after(&[9.0; 20]), RISEN, "enough is enough");
        // A round that gains little ends the rise; two of them halve κ, and no more than almost all of it is taken.
        assert_eq!(after(&[1.0]), 2.0);
        assert_eq!(after(&[1.0, 1.0]), 1.5);
        assert_eq!(after(&[1.0; 40]), LEAST);
        assert_eq!(after(&[1.0, 9.0, 1.0, 9.0, 1.0]), 2.0, "they disagree");
        assert_eq!(after(&[99.0; 5]), 31.0);
        assert_eq!(after(&[99.0; 40]), LARGEST);
        assert_eq!(after(&[f64::NAN; 9]), FIRST, "at the centre there is nothing to learn");
    }
}
