//! What an oracle claims, compared with the outputs that it has found before.
//!
//! A search that calls its output the best, bounds all others, or promises not to miss much, makes a claim about every
//! output. The corners of a block's point are outputs too: one that scores higher than the claim allows, beyond rounding,
//! refutes it.

use super::blocks::OracleBlocks;
use super::oracle::Oracle;
use super::plane::{OraclePoint, Plane};
use super::rescaling::Rescaling;
use crate::dual::{Blocks, Found};
use crate::linalg::underflow::{product_above, size_of_product};
use crate::linalg::{Accumulate, gamma};
use crate::run::Basis;
use crate::{Error, Result};

/// ⟨w, φ⟩ and Σ|w φ|, for scores and their rounding.
struct Score<'a> {
    w: &'a [f64],
    value: f64,
    magnitude: f64,
    terms: usize,
}

impl Accumulate for Score<'_> {
    fn add(&mut self, index: usize, value: f64) {
        // An index out of range gives NaN, and the check of the bound then reports it.
        let w = self.w.get(index).copied().unwrap_or(f64::NAN);
        self.value += w * value;
        self.magnitude += size_of_product(w, value);
        self.terms += 1;
    }
}

/// The loss of an output at some weights, computed from its features.
pub(super) struct Scored {
    /// L − ⟨w, ψ⟩, or L (1 − ⟨w, ψ⟩).
    pub value: f64,
    /// What rounding here and in the oracle may make of it.
    pub slack: f64,
    /// The score of the truth.
    pub right: f64,
}

impl<O: Oracle> OracleBlocks<'_, O> {
    /// Scores an output anew, not by its stored vector.
    pub(super) fn scored(&self, i: usize, w: &[f64], plane: &Plane<O::Output>) -> Scored {
        let (x, truth) = &self.examples[i];
        let score_of = |y| {
            let mut score = Score { w, value: 0.0, magnitude: 0.0, terms: 0 };
            self.oracle.features(x, y, &mut score);
            score
        };
        let (found, right) = (score_of(&plane.output), score_of(truth));
        let (value, magnitude) = match self.rescaling {
            Rescaling::Margin => (
                plane.loss + found.value - right.value,
                plane.loss + found.magnitude + right.magnitude,
            ),
            Rescaling::Slack => (
                plane.loss * (1.0 + found.value - right.value),
                size_of_product(plane.loss, 1.0 + found.magnitude + right.magnitude),
            ),
        };
        // Both the oracle and these lines may round every term of either score, and the product with the loss.
        let terms = found.terms + right.terms + 4;
        let slack = product_above(4.0 * gamma(terms), magnitude);
        Scored { value, slack, right: right.value }
    }

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
