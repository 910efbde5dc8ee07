//! Adapts κ, and the passes of a round, to what rounds gain.

use super::Centred;
use crate::dual::visit::Visits;
use crate::dual::{Blocks, Cache, Direction, Settings};
use crate::term::Link;

/// The smallest and the largest λ'/λ, where κ adapts.
pub(super) const LEAST_RATIO: f64 = 2.0;
pub(super) const LARGEST_RATIO: f64 = 4096.0;

/// The passes of a round, with the oracle or cached: at the start, and at most. Longer rounds would get by with a
/// smaller κ, so κ adapts first, and the number of passes only once κ has reached a bound.
pub(super) const PASSES: u64 = 4;
pub(super) const MOST_PASSES: u64 = 64;

/// The dual gain of a round's second half, in units of κ/2‖w − z‖², for which κ stays the same. Below this range, the
/// round is solved more accurately than the next centre needs, and a smaller κ would move the centre further; above it,
/// the weights that determine the next centre are still far from the solution of the round.
const ENOUGH: std::ops::Range<f64> = 1.5..6.0;

/// Whether κ adapts to the gains of the rounds. For smooth losses the condition number determines κ. Steps toward
/// corners alone converge slowly at the end of every round, whatever κ is, so their gains say little about it.
pub(super) fn adapts<B: Blocks>(blocks: &B, settings: &Settings) -> bool {
    let corners = B::Visits::KNOWS_CORNERS;
    let toward = settings.direction(corners).is_ok_and(|to| to == Direction::Toward);
    let crawls = corners && toward && settings.cache != Cache::On;
    blocks.smoothness() == 0.0 && !crawls
}

/// Returns κ and the passes for the next round, given the gain of this round's second half, its passes, and the weights
/// at its end.
pub(super) fn fitted<B: Blocks, L: Link>(
    centred: &Centred<'_, B, L>,
    lambda: f64,
    gained: f64,
    passes: u64,
    w: &[f64],
) -> (f64, u64) {
    let kappa = centred.kappa;
    let (pull, ratio) = (kappa / (lambda + kappa), 1.0 + kappa / lambda);
    // Before the centre first moves it is zero, and the engine has no offset.
    let offset = centred.engine.offset().iter().copied().chain(std::iter::repeat(0.0));
    let from_centre: f64 = w.iter().zip(offset).map(|(w, z)| (w - z / pull).powi(2)).sum();
    let share = gained / (0.5 * kappa * from_centre);
    let (ratio, passes) = if share < ENOUGH.start {
        weaker(ratio, passes)
    } else if share > ENOUGH.end {
        stronger(ratio, passes)
    } else {
        return (kappa, passes);
    };
    ((ratio - 1.0) * lambda, passes)
}

/// Halves the passes if they are above `PASSES` or λ'/λ is at its lower bound, else λ'/λ.
fn weaker(ratio: f64, passes: u64) -> (f64, u64) {
    if passes > PASSES || ratio <= LEAST_RATIO {
        (ratio, (passes / 2).max(1))
    } else {
        ((0.5 * ratio).max(LEAST_RATIO), passes)
    }
}

/// Doubles the passes if they are below `PASSES` or λ'/λ is at its upper bound, else λ'/λ.
fn stronger(ratio: f64, passes: u64) -> (f64, u64) {
    if passes < PASSES || ratio >= LARGEST_RATIO {
        (ratio, (2 * passes).min(MOST_PASSES))
    } else {
        ((2.0 * ratio).min(LARGEST_RATIO), passes)
    }
}
