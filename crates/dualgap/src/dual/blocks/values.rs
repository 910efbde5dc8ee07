//! What blocks say of their work and their data, what a step sees of the rest of the problem, and what searches and audits return.

use crate::linalg::Measured;
use crate::run::Basis;
use crate::term::Norm;
use crate::{Error, Result};

/// How much work blocks are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Workload {
    /// The multiplications of a pass over all blocks, if these are most of its work: a certificate looks at all weights besides.
    pub pass: Option<f64>,
    /// Whether a pass takes less time than it takes to wake other threads.
    pub is_little: bool,
    /// How many searches are done one after the other before results are put together: more than one if a search takes less time
    /// than that.
    pub searches: usize,
    /// Into how many parts `Σ X_i α_i` is split when several threads compute it (`linalg::parallel::parts`); each part takes twice the
    /// memory of v.
    pub image_parts: usize,
}

impl Default for Workload {
    fn default() -> Self {
        Self { pass: None, is_little: false, searches: 1, image_parts: 1 }
    }
}

/// How visits of blocks go through memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Locality {
    /// Whether neighbouring blocks should be visited soon after each other, because their data are larger than a cache and a block's own
    /// part is small; see [`Sampling::Chunked`](crate::dual::Sampling::Chunked).
    pub chunks: bool,
    /// Whether chunks should lie near each other, too, because the data come from a file that memory may not hold.
    pub stretches: bool,
    /// Whether the engine should [`fetch`](super::Blocks::fetch) blocks ahead of their visits.
    pub fetches: bool,
}

impl Locality {
    /// Whether every visit waits for data from anywhere in memory: they are more than a cache holds, and no chunks keep neighbours
    /// together.
    pub fn is_scattered(self) -> bool {
        self.fetches && !self.chunks
    }
}

/// The result of a search for the best corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The loss at the corner that was found.
    pub value: f64,
    /// An upper bound on the loss of all corners: `value` if the search is exact, infinite if nothing is known.
    pub bound: f64,
    /// What the bound rests on, if it is finite.
    pub basis: Basis,
}

impl Found {
    /// Returns the result of an exact search: no corner is better than the one found.
    pub fn exact(value: f64) -> Self {
        Self { value, bound: value, basis: Basis::Exact }
    }
}

/// What is promised of searches for the best corner that have no bound of their own: the approximate oracles of
/// appendix C of the BCFW paper. A certificate that rests on a promise says so ([`Basis`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Quality {
    /// Nothing: searches are exact, or have bounds, or are not certified.
    #[default]
    Exact,
    /// The gap of a block at the corner that is found is at least this share ν of its largest gap, 0 < ν ≤ 1. Predefined
    /// steps are then `2n/(νk + 2n)`.
    Multiplicative(f64),
    /// No corner has a loss that is larger by more than this δ than that of the one that is found, δ ≥ 0.
    Additive(f64),
}

impl Quality {
    /// Returns an error for a share or an error out of its range.
    ///
    /// ```
    /// # use dualgap::dual::Quality;
    /// assert!(Quality::Multiplicative(1.0).check().is_ok() && Quality::Additive(0.0).check().is_ok());
    /// assert!(Quality::Multiplicative(0.0).check().is_err() && Quality::Multiplicative(1.5).check().is_err());
    /// assert!(Quality::Additive(-1.0).check().is_err() && Quality::Additive(f64::INFINITY).check().is_err());
    /// ```
    pub fn check(self) -> Result<Self> {
        match self {
            Self::Multiplicative(nu) if !(nu > 0.0 && nu <= 1.0) => Err(Error::setting(format!(
                "an oracle finds a share of the largest gap above 0 and up to 1, not {nu}"
            ))),
            Self::Additive(delta) if !(delta >= 0.0 && delta.is_finite()) => Err(Error::setting(
                format!("an oracle misses a finite amount that is not negative, not {delta}"),
            )),
            quality => Ok(quality),
        }
    }

    /// Returns ν, the promised share of the largest gap, if that is the promise.
    pub fn share(self) -> Option<f64> {
        match self {
            Self::Multiplicative(nu) => Some(nu),
            Self::Exact | Self::Additive(_) => None,
        }
    }
}

/// What a step on a block sees of the rest of the problem.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The weights up to the factor.
    pub w: &'a [f64],
    /// The weights are `factor · w`. The factor is one unless the link changes every weight with every step; then the
    /// engine has made sure that the blocks use it ([`Blocks::SEES_FACTOR`](super::Blocks::SEES_FACTOR)).
    pub factor: f64,
    /// `mass_i / λ`.
    pub scale: f64,
    /// `scale · ‖X_i z‖²` in this norm bounds the dual's curvature along z. The Euclidean norm is never smaller.
    pub norm: Norm,
    /// Whether w is still the same as when the block aimed.
    pub fresh: bool,
}

/// What a certificate needs to know of a block's point, computed from scratch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Audit {
    /// The block's term of the dual, `dual_i(α_i)`.
    pub dual: Measured,
    /// With a factor of one, [`Blocks::add`](super::Blocks::add) adds a vector within this Euclidean distance of `X_i α_i`, for a point
    /// that is exactly feasible and has the dual term above. The distance covers rounding in the point and in the sum.
    pub reach: f64,
    /// With any other factor, `add` is within `factor · reach` plus this times [`UNDERFLOW`](crate::linalg::UNDERFLOW),
    /// which covers what is lost if the factor or a product with it underflows. It is at least `‖X_i α_i‖` plus, for
    /// each product, what multiplies it afterwards.
    pub span: f64,
}

/// At most so many blocks have their losses or audits computed at once: their numbers stay in the first cache.
pub(crate) const TOGETHER: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_scattered_where_visits_wait_and_no_chunks_keep_neighbours_together() {
        let of = |chunks, fetches| Locality { chunks, fetches, ..Locality::default() };
        assert!(of(false, true).is_scattered());
        assert!(!of(true, true).is_scattered() && !of(false, false).is_scattered());
    }
}
