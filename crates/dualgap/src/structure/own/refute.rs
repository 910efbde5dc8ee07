//! What an oracle claims, compared with the outputs that it has found before.
//!
//! A search that calls its output the best, bounds all others, or promises not to miss much, makes a claim about every
//! output. The corners of a block's point are outputs too: one that scores higher than the claim allows, beyond rounding,
//! refutes it.

use super::blocks::OracleBlocks;
use super::oracle::Oracle;
use super::plane::{OraclePoint, Plane};
use super::score::Scored;
use crate::dual::{Blocks, Found};
use crate::linalg::underflow::{norm_above, product_above, size_of_product};
use crate::run::Basis;
use crate::{Error, Result};

/// A known output must be better by this much of its terms. The rounding of an oracle that does not know its extent can
/// only be guessed: features that cancel leave no trace in a stored vector. This allows for terms a million times larger,
/// and a claim that is false by less does no harm.
const SURE: f64 = 1e-9;

impl<O: Oracle> OracleBlocks<'_, O> {
    /// Returns an error if a corner of the point scores higher than the claim of a search allows.
    pub(super) fn refute(
        &self,
        i: usize,
        at: &OraclePoint<O::Output>,
        w: &[f64],
        corner: &<Self as Blocks>::Corner,
        found: &Found,
    ) -> Result<()> {
        let stored = |plane: &Plane<_>| plane.loss - plane.psi.dot(w);
        let known = at.corners.iter().map(|(plane, _)| plane);
        let known = known.chain(at.spare.iter().map(|(plane, _)| plane));
        let (mut best, mut top) = (None, f64::NEG_INFINITY);
        for plane in known {
            let score = stored(plane);
            if score > top {
                (best, top) = (Some(plane), score);
            }
        }
        let (Some(best), Some(corner)) = (best, corner) else { return Ok(()) };
        let share = self.quality().share().filter(|_| found.bound == f64::INFINITY);
        let suspicious = match share {
            None => top > found.bound,
            Some(nu) => {
                let own: f64 = at.corners.iter().map(|(plane, part)| part * stored(plane)).sum();
                found.value < (1.0 - nu) * own + nu * top
            }
        };
        if !suspicious {
            return Ok(());
        }
        // Outputs of a checkpoint may be anything, so none but the one that was just decoded is scored anew.
        let Scored { value, slack, .. } = self.scored(i, w, corner);
        let largest = w.iter().fold(0.0_f64, |largest, w| largest.max(w.abs()));
        let rounding = 4.0 * slack + self.rounding(i, w, largest);
        let norm = norm_above(w);
        let least = |plane: &Plane<_>| {
            let sizes = plane.psi.entries().iter().map(|&(j, x)| size_of_product(w[j], x));
            let doubt = SURE * (plane.loss + sizes.sum::<f64>());
            stored(plane) - doubt - product_above(plane.off, norm)
        };
        let (claimed, required) = match share {
            None => (found.bound + rounding, least(best)),
            // A share ν of the largest gap from the point is at least ν of the gap to any corner.
            Some(nu) => {
                let own: f64 = at.corners.iter().map(|(plane, part)| part * least(plane)).sum();
                (value + rounding, (1.0 - nu) * own + nu * least(best))
            }
        };
        if required <= claimed {
            return Ok(());
        }
        let claim = match (share, found.basis) {
            (Some(nu), _) => format!("than its promise to find {nu} of the largest gap allows"),
            (None, Basis::Exact) => "than the one it called the best".into(),
            (None, Basis::Additive(delta)) => {
                format!("than its promise to miss no more than {delta} allows")
            }
            (None, _) => "than the bound it gave".into(),
        };
        let message = format!(
            "an output that it found before scores higher {claim}, by {:e}",
            required - claimed
        );
        Err(Error::Oracle { example: i, message })
    }
}
