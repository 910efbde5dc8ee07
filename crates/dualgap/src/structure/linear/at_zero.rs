//! The dual points of zero weights, where a weight without penalty is at its best.

use super::LinearBlocks;
use crate::dual::problem::Masses;
use crate::linalg::Sum;
use crate::term::{Free, Loss};

/// A bound on the steps: doubling needs no more, and bisection fewer than a number has bits.
const MOST_STEPS: usize = 1100;

impl<L: Loss> LinearBlocks<'_, L> {
    /// Returns subgradients of the losses at zero weights, with the opposite sign. The free weight b, if there is one, is
    /// at its best, where `Σ mass_i c_i α_i(b)` changes its sign, c being its column. If the sum jumps there, because a
    /// loss has a corner, the points are those on both sides of it in the proportion that makes the sum zero.
    pub(in crate::structure) fn points_at_zero(
        &self,
        masses: &Masses,
        free: Option<Free>,
    ) -> Vec<f64> {
        let (targets, loss) = (self.targets(), self.loss());
        let Some(Free { column, bound }) = free else {
            return targets.iter().map(|&y| loss.corner(0.0, y)).collect();
        };
        let entries: Vec<f64> =
            (0..targets.len()).map(|i| self.rows().row(i).get(column)).collect();
        let points = |b: f64| -> Vec<f64> {
            entries.iter().zip(targets).map(|(c, &y)| loss.corner(b * c, y)).collect()
        };
        let sum = |points: &[f64]| {
            let shares = masses.iter().zip(&entries).map(|(mass, c)| mass * c);
            points.iter().zip(shares).map(|(at, share)| at * share).collect::<Sum>().total().value
        };
        let (mut near, mut at_near) = (0.0, points(0.0));
        let begin = sum(&at_near);
        if begin == 0.0 {
            return at_near;
        }
        // The sum falls as b rises. Goes away from zero until its sign has changed, ...
        let mut far = begin.signum().clamp(-bound, bound);
        let mut at_far = points(far);
        for _ in 0..MOST_STEPS {
            if sum(&at_far) * begin <= 0.0 {
                break;
            }
            if far.abs() >= bound {
                return at_far;
            }
            (near, at_near) = (far, at_far);
            far = (2.0 * far).clamp(-bound, bound);
            at_far = points(far);
        }
        // ... and halves the way until no number lies in between.
        for _ in 0..MOST_STEPS {
            let middle = near + (far - near) / 2.0;
            if middle == near || middle == far {
                break;
            }
            let at_middle = points(middle);
            if sum(&at_middle) * begin > 0.0 {
                (near, at_near) = (middle, at_middle);
            } else {
                (far, at_far) = (middle, at_middle);
            }
        }
        let (before, after) = (sum(&at_near), sum(&at_far));
        let share = before / (before - after);
        let between = |((near, far), &y): ((&f64, &f64), &f64)| {
            let (low, high) = loss.domain(y); // which rounding must not leave
            (near + share * (far - near)).clamp(low, high)
        };
        at_near.iter().zip(&at_far).zip(targets).map(between).collect()
    }
}
