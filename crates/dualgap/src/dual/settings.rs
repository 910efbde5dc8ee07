//! How a run of the engine is set up.

use super::{Average, Sampling};
use crate::term::Regulariser;
use serde::{Deserialize, Serialize};

/// Whether the engine runs in accelerated rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Acceleration {
    /// Where the losses are smooth, the condition number asks for it, and it turns out to pay.
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

impl Default for Settings {
    fn default() -> Self {
        Self {
            lambda: 0.01,
            regulariser: Regulariser::default(),
            method: Method::default(),
            step: Step::default(),
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
