//! What a step sees of the rest of the problem, and what searches and audits return.

use crate::linalg::Measured;
use crate::term::Norm;

/// The result of a search for the best corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The loss at the corner that was found.
    pub value: f64,
    /// An upper bound on the loss of all corners: `value` if the search is exact, infinite if nothing is known.
    pub bound: f64,
}

impl Found {
    /// Returns the result of an exact search: no corner is better than the one found.
    pub fn exact(value: f64) -> Self {
        Self { value, bound: value }
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
