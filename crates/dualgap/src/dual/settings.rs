//! How a run of the engine is set up.

use super::{Average, Sampling};
use crate::term::Regulariser;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Whether the engine runs in accelerated rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Acceleration {
    /// Where the condition number asks for it, and as long as it turns out to pay.
    #[default]
    Auto,
    /// From the start, and as long as the gap shrinks; unless the problem is too well conditioned to gain.
    On,
    /// Never.
    Off,
}

/// How far a step goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// To the top of the dual along the segment.
    #[default]
    LineSearch,
    /// `γ = 2n/(k + 2n)`, whatever the dual does.
    Predefined,
}

/// Between what a step moves a block's weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Pairwise where blocks know their corners, steps go by line search and nothing is averaged; else toward.
    #[default]
    Auto,
    /// From all corners alike to the best one: Frank-Wolfe.
    Toward,
    /// Toward the best corner, or away from the worst of those that have weight, whatever has the larger gap.
    Away,
    /// From the worst corner that has weight to the best one.
    Pairwise,
}

/// Whether steps are also taken on corners that were found before, without the oracle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// Where blocks know their corners, and as long as that pays by counted work.
    #[default]
    Auto,
    /// After every pass with the oracle, at least one pass; more as long as they pay.
    On,
    /// Never.
    Off,
}

/// Which blocks a step moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// One at a time: block-coordinate Frank-Wolfe, Algorithm 4.
    #[default]
    Bcfw,
    /// All at once: batch Frank-Wolfe, Algorithm 2.
    Fw,
}

/// How the engine is set up. Everything has a default that needs no thought but `lambda`.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The strength of the regulariser, in `mean loss + λ/2‖w‖² + …`.
    pub lambda: f64,
    /// What is added to `λ/2‖w‖²`, where the regulariser is chosen by these settings.
    pub regulariser: Regulariser,
    /// One block a step, or all.
    pub method: Method,
    /// The step length.
    pub step: Step,
    /// Between what a step moves weight.
    pub direction: Direction,
    /// Whether corners that were found before are used again.
    pub cache: Cache,
    /// The order of the blocks.
    pub sampling: Sampling,
    /// Whether blocks whose visits change nothing are visited less often, where the order goes in rounds.
    pub shrinking: bool,
    /// Whether the engine runs in accelerated rounds, where settings choose the solver.
    pub acceleration: Acceleration,
    /// Which average of the iterates is returned.
    pub average: Average,
    /// How many corners are looked for at the same w.
    pub batch: usize,
    /// Zero stands for all cores. The result does not depend on it.
    pub threads: usize,
    /// Of the random order.
    pub seed: u64,
    /// What each example counts; one each when absent.
    pub sample_weights: Option<Vec<f64>>,
}

impl Settings {
    /// The papers' algorithms and nothing beyond them: every block has its turn in every pass, steps go toward the best
    /// corner of the whole block, each after a call of the oracle, and there is no momentum. The order alone is ours:
    /// permuted, where the papers' theory draws each block ([`Sampling::Uniform`]).
    ///
    /// ```
    /// # use dualgap::dual::{Direction, Settings};
    /// let settings = Settings { lambda: 0.1, ..Settings::plain() };
    /// assert_eq!(settings.direction, Direction::Toward);
    /// assert!(!settings.shrinking);
    /// ```
    pub fn plain() -> Self {
        Self {
            direction: Direction::Toward,
            cache: Cache::Off,
            shrinking: false,
            acceleration: Acceleration::Off,
            ..Self::default()
        }
    }

    /// The direction, once it is known whether blocks know their corners.
    pub(crate) fn direction(&self, faces: bool) -> Result<Direction> {
        let plain = self.step == Step::LineSearch && self.method == Method::Bcfw;
        match self.direction {
            Direction::Auto if faces && plain && self.average == Average::None => {
                Ok(Direction::Pairwise)
            }
            Direction::Auto | Direction::Toward => Ok(Direction::Toward),
            _ if faces && plain => Ok(self.direction),
            _ => Err(Error::setting(
                "away and pairwise steps go with structural blocks, one at a time, by line search",
            )),
        }
    }
}

impl Default for Settings {
    /// Whatever can be chosen while the run goes on is.
    fn default() -> Self {
        Self {
            lambda: 0.01,
            regulariser: Regulariser::default(),
            method: Method::default(),
            step: Step::default(),
            direction: Direction::default(),
            cache: Cache::default(),
            sampling: Sampling::default(),
            shrinking: true,
            acceleration: Acceleration::default(),
            average: Average::default(),
            batch: 1,
            threads: 0,
            seed: 0,
            sample_weights: None,
        }
    }
}
