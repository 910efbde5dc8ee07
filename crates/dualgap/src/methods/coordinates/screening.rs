//! Weights that a gap proves to be zero at the optimum.
//!
//! The losses are (1/γ)-smooth, so the dual is strongly concave, and a dual point α with a gap G is near the best one:
//!
//! ```text
//! γ/2 Σ mass_i ‖α_i − α*_i‖² ≤ G,     |z_c − z*_c| ≤ N_j √(2G/γ),     z = Σ mass_i X_i α_i
//! ```
//!
//! If `|z_c| + N_j √(2G/γ) < σ`, then `|z*_c| < σ` and weight c is zero at the optimum. The problem without it has the same
//! optimum, so gaps of that smaller problem drop more weights.

use super::data::Data;
use super::terms::Terms;

/// What the rounding of z and of the gap may be, as a share of the numbers that they were computed from: far more than it is.
const SLACK: f64 = 1e-10;

/// A dual point and its gap.
pub struct Sphere<'s> {
    /// z, or its negative times `scale`.
    pub slopes: &'s [f64],
    pub scale: f64,
    pub primal: f64,
    pub dual: f64,
    /// γ.
    pub smoothness: f64,
    /// √(Σ mass_i ‖α_i‖²) or more.
    pub size: f64,
}

/// Drops the weights that the gap proves to be zero.
pub fn drop(sphere: &Sphere<'_>, data: &Data<'_>, terms: &Terms, w: &[f64], dropped: &mut [bool]) {
    let Sphere { slopes, scale, primal, dual, smoothness, size } = *sphere;
    let gap = (primal - dual).max(0.0) + SLACK * (primal.abs() + dual.abs());
    let radius = (2.0 * gap / smoothness).sqrt() + SLACK * size;
    if !radius.is_finite() {
        return;
    }
    for (c, dropped) in dropped.iter_mut().enumerate() {
        let most = terms.pull(-scale * slopes[c]) + data.length(c) * radius;
        *dropped |= w[c] == 0.0 && !terms.is_free(c) && most < (1.0 - SLACK) * terms.sigma;
    }
}
