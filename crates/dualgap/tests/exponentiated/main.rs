//! Exponentiated gradient on the dual of structural SVMs.
//!
//! - `steps`: trial by trial beside the dense update over all outputs.
//! - `runs`: the optimum, certificates, counted calls, checkpoints, and what is refused.

mod runs;
mod steps;

use crate::common::{Small, with_blocks};
use dualgap::Result;
use dualgap::dual::{Begin, Mixture};
use dualgap::methods::exponentiated_gradient::{GradientSettings, train_from};
use dualgap::run::{Budget, CheckpointSink, Report, Solution};
use dualgap::term::Regulariser;

/// One thread, and what else the defaults are.
fn settings() -> GradientSettings {
    GradientSettings { threads: 1, ..GradientSettings::default() }
}

/// A run under the problem's λ and sample weights.
fn train(
    small: &Small,
    settings: &GradientSettings,
    begin: Begin<Mixture>,
    budget: &Budget,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<Mixture>>> {
    let (plain, weights) = (Regulariser::PLAIN, small.weights.as_deref());
    with_blocks!(small, |blocks| train_from(
        &blocks,
        small.lambda,
        plain,
        weights,
        settings,
        begin,
        budget,
        &mut (),
        sink
    ))
}
