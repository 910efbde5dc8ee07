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
use crate::run::Basis;
use crate::{Error, Result};

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
        // A stored vector has rounding of its own, so the scores are computed again before anybody is accused.
        let least = |plane: &Plane<_>| {
            let Scored { value, slack, .. } = self.scored(i, w, plane);
            value - slack
        };
        let (claimed, required) = match share {
            None => (found.bound, least(best)),
            // A share ν of the largest gap from the point is at least ν of the gap to any corner.
            Some(nu) => {
                let own: f64 = at.corners.iter().map(|(plane, part)| part * least(plane)).sum();
                let Scored { value, slack, .. } = self.scored(i, w, corner);
                (value + slack, (1.0 - nu) * own + nu * least(best))
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
