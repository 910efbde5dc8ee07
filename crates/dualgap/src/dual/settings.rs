//! The settings of the engine.

use super::{Average, Sampling};
use crate::term::Regulariser;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Whether the engine runs in accelerated rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Acceleration {
    /// If the condition number suggests it, and as long as it turns out to pay.
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
#[non_exhaustive]
pub enum Step {
    /// To the maximum of the dual along the segment.
    #[default]
    LineSearch,
    /// `γ = 2n/(k + 2n)`, whatever the dual does; `2n/(νk + 2n)` with an oracle that promises a share ν of the largest gap.
    Predefined,
}

/// From which corners of a block to which a step moves weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Direction {
    /// Pairwise if blocks know their corners, steps move one block by line search and nothing is averaged; otherwise
    /// toward.
    #[default]
    Auto,
    /// From all corners, in proportion to their weight, to the best one: Frank-Wolfe.
    Toward,
    /// Toward the best corner, or away from the worst of those that have weight, whichever has the larger gap.
    Away,
    /// From the worst corner that has weight to the best one.
    Pairwise,
}

/// Whether the engine also steps on corners that it found before, without the oracle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cache {
    /// If steps are pairwise or away steps, and as long as cached steps pay by counted work.
    #[default]
    Auto,
    /// At least one cached pass after every pass with the oracle; more as long as they pay.
    On,
    /// Never.
    Off,
}

/// Which blocks a step moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Algorithm {
    /// One at a time: block-coordinate Frank-Wolfe, Algorithm 4.
    #[default]
    Bcfw,
    /// All at once: batch Frank-Wolfe, Algorithm 2.
    Fw,
}

/// The settings of the engine. Everything except `lambda` has a default that needs no thought.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The strength of the regulariser, in `mean loss + λ/2‖w‖² + …`.
    pub lambda: f64,
    /// What is added to `λ/2‖w‖²`, if the regulariser comes from these settings.
    pub regulariser: Regulariser,
    /// One block a step, or all.
    pub method: Algorithm,
    /// The step length.
    pub step: Step,
    /// From which corners to which a step moves weight.
    pub direction: Direction,
    /// Whether the engine reuses corners that it found before.
    pub cache: Cache,
    /// The order of the blocks.
    pub sampling: Sampling,
    /// Whether shrinking visits blocks less often whose visits change nothing, if the order goes in rounds.
    pub shrinking: bool,
    /// Whether visits go in two lanes, each on a thread of its own: chains and matchings, one block a step by line search, in a
    /// permuted order with shrinking, without averages. It pays where there are two cores and few weights.
    pub lanes: bool,
    /// Whether a run that takes long goes on by Newton's method, where the loss is smooth and λ/2‖w‖² the whole penalty. Tasks
    /// read it; the functions of this module do not.
    pub handover: bool,
    /// Whether the engine runs in accelerated rounds, if these settings choose the solver.
    pub acceleration: Acceleration,
    /// Which average of the iterates is returned.
    pub average: Average,
    /// The size of a mini-batch: how many corners the engine finds at the same w.
    pub batch: usize,
    /// The number of threads; zero stands for all cores. The result does not depend on it.
    pub threads: usize,
    /// The seed of the random order.
    pub seed: u64,
    /// The sample weight of each example; one each when absent.
    pub sample_weights: Option<Vec<f64>>,
}

impl Settings {
    /// Returns the settings of the papers' algorithms and nothing beyond them: every pass visits every block, every
    /// step calls the oracle and goes toward the best corner of the whole block, and there is no momentum. Only the
    /// order is ours: permuted, where the papers' theory draws each block ([`Sampling::Uniform`]).
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
            handover: false,
            acceleration: Acceleration::Off,
            ..Self::default()
        }
    }

    /// Returns the direction of the steps, given whether blocks know their corners, or an error if the settings
    /// conflict.
    pub(crate) fn direction(&self, faces: bool) -> Result<Direction> {
        let plain = self.step == Step::LineSearch && self.method == Algorithm::Bcfw;
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
    /// Leaves to the run every choice that it can make while it goes on.
    fn default() -> Self {
        Self {
            lambda: 0.01,
            regulariser: Regulariser::default(),
            method: Algorithm::default(),
            step: Step::default(),
            direction: Direction::default(),
            cache: Cache::default(),
            sampling: Sampling::default(),
            shrinking: true,
            lanes: false,
            handover: true,
            acceleration: Acceleration::default(),
            average: Average::default(),
            batch: 1,
            threads: 0,
            seed: 0,
            sample_weights: None,
        }
    }
}
