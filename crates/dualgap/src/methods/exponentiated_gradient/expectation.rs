//! Blocks that can sum over all their outputs.

use crate::dual::Blocks;

/// Blocks with an expectation oracle. An output is made of parts, each with a score, and a distribution over outputs is
/// given by parameters, one for each part:
///
/// ```text
/// α(y) ∝ exp(Σ_{r ∈ y} θ_r),     counts_r = E_α [how often r is in y]
/// L_i(y) − ⟨w, ψ_i(y)⟩ = Σ_{r ∈ y} score_r + a constant
/// ```
///
/// So counts determine `X_i α` and the dual term of a distribution. Chains have them by forward-backward, multiclass by
/// the softmax.
pub trait ExpectationBlocks: Blocks {
    /// Returns the number of parts of a block.
    fn parts(&self, i: usize) -> usize;

    /// Computes the scores of all parts at these weights, losses included.
    fn score_parts(&self, i: usize, w: &[f64], scores: &mut [f64], scratch: &mut Self::Scratch);

    /// The expectation oracle: computes the expected counts of all parts under the distribution with parameters θ.
    fn expect(&self, i: usize, theta: &[f64], counts: &mut [f64], scratch: &mut Self::Scratch);

    /// Prepares `X_i (to − at)` for two distributions given by their expected counts, so that
    /// [`curvature`](Blocks::curvature) and [`displace`](Blocks::displace) refer to it.
    fn prepare(&self, i: usize, at: &[f64], to: &[f64], scratch: &mut Self::Scratch);

    /// Returns the point of the distribution with parameters θ, feasible as [`audit`](Blocks::audit) demands it.
    fn point_of(&self, i: usize, theta: &[f64], scratch: &mut Self::Scratch) -> Self::Point;

    /// Returns the largest number of entries that a point of this block can have, to estimate the memory of a run.
    fn point_entries(&self, i: usize) -> usize;
}
