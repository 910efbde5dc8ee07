//! A step toward the target of a block, as all kinds of visits can take it.

use super::definition::{Slot, Visit};
use crate::dual::{Blocks, Step};
use crate::term::Link;
use crate::{Error, Result};

impl<B: Blocks, L: Link> Visit<'_, '_, B, L> {
    /// Steps toward the target of the slot; returns whether the point changed.
    #[inline]
    pub fn toward(self, slot: &mut Slot<B>) -> Result<bool> {
        let Self { problem, primal, at, averages, steps, step, fresh, gained, counts, .. } = self;
        let Slot { block, to, scratch, .. } = slot;
        let (i, blocks) = (*block, problem.blocks);
        let scale = problem.weighed.scales.of(i);
        let gamma = match step {
            Step::LineSearch => {
                let view = primal.view(scale, fresh);
                blocks.step_length(i, at, to, &view, scratch)
            }
            Step::Predefined => {
                blocks.difference(i, at, to, scratch);
                let n = blocks.len() as f64;
                let nu = blocks.quality().share().unwrap_or(1.0);
                2.0 * n / (nu * steps as f64 + 2.0 * n)
            }
        };
        if gamma.is_nan() {
            return Err(no_number(i));
        }
        if gamma > 0.0 && counts {
            // A concave dual term lies above its chord, so this is a lower bound on the gain.
            let rise = blocks.difference(i, at, to, scratch);
            let gap = rise - blocks.slope(i, primal.view(scale, true).w, scratch);
            let curvature = scale * blocks.curvature(i, scratch);
            *gained += problem.weighed.masses.of(i) * gamma * (gap - 0.5 * gamma * curvature);
        }
        if gamma > 0.0 {
            if let Some(averages) = averages {
                averages.cover(blocks, i, steps, at);
            }
            blocks.displace(i, gamma * scale, primal, scratch);
            primal.settle();
            blocks.mix(i, gamma, at, to);
        }
        Ok(gamma > 0.0)
    }
}

/// Returns the error of a block whose gap is NaN.
pub(crate) fn no_number(example: usize) -> Error {
    Error::Unsound { message: format!("the gap of example {example} is no number") }
}
