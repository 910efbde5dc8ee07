//! Steps under an l1 norm: within an orthant, where the objective is smooth (OWL-QN, Andrew and Gao 2007).
//!
//! ```text
//! P(w) = F(w) + σ‖w‖₁,     F = L + λ/2‖·‖²
//! ◇_j = ∂_j F + σ sign(w_j)            w_j ≠ 0
//!       the number of least size in ∂_j F + [−σ, σ]     w_j = 0
//! p_j = −(B◇)_j where that has the sign of −◇_j, else 0
//! w ← π(w + t p)                       π: zero where the sign is not that of w_j, or of −◇_j at w_j = 0
//! ```
//!
//! −◇ is the steepest way down, and no entry of a step crosses zero, so that P is smooth along all of it. The pairs of the
//! memory are those of F.

use crate::term::ball::l1::soft;

/// Returns ◇, for the gradient of F at w.
pub fn steepest(w: &[f64], gradient: &[f64], sigma: f64) -> Vec<f64> {
    let each = w
        .iter()
        .zip(gradient)
        .map(|(&w, &g)| if w == 0.0 { soft(g, sigma) } else { g + sigma * w.signum() });
    each.collect()
}

/// Leaves out the entries of a direction that are no way down.
pub fn align(p: &mut [f64], steepest: &[f64]) {
    for (p, g) in p.iter_mut().zip(steepest) {
        if *p * g >= 0.0 {
            *p = 0.0;
        }
    }
}

/// Returns π(w + t p).
pub fn walk(w: &[f64], p: &[f64], t: f64, steepest: &[f64]) -> Vec<f64> {
    let each = w.iter().zip(p).zip(steepest).map(|((&w, &p), &g)| {
        let (next, side) = (w + t * p, if w == 0.0 { -g } else { w });
        if next * side > 0.0 { next } else { 0.0 }
    });
    each.collect()
}

/// Returns ‖w‖₁.
pub fn norm(w: &[f64]) -> f64 {
    w.iter().map(|w| w.abs()).sum()
}

/// Returns the gap of w and its own dual point, `g(w) + g*(u) − ⟨w, u⟩` with `g = λ/2‖·‖² + σ‖·‖₁` and u = λw − ∇F.
pub fn gap(w: &[f64], gradient: &[f64], lambda: f64, sigma: f64) -> f64 {
    let each = w.iter().zip(gradient).map(|(&w, &g)| {
        let u = lambda * w - g;
        let top = soft(u, sigma);
        lambda / 2.0 * w * w + sigma * w.abs() + top * top / (2.0 * lambda) - w * u
    });
    each.sum::<f64>().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_stays_in_its_orthant_and_goes_down() {
        let w = [0.5, 0.0, 0.0, -0.1, 0.0];
        let gradient = [0.2, -3.0, 0.5, -0.3, 2.0];
        let down = steepest(&w, &gradient, 1.0);
        assert_eq!(down, [1.2, -2.0, 0.0, -1.3, 1.0]);
        let mut p = vec![-2.0, 1.0, 7.0, 2.0, 3.0];
        align(&mut p, &down);
        // The third may not leave zero, and the last would go up.
        assert_eq!(p, [-2.0, 1.0, 0.0, 2.0, 0.0]);
        assert_eq!(walk(&w, &p, 1.0, &down), [0.0, 1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn the_gap_vanishes_where_the_gradient_allows_no_step() {
        // F' = −σ sign(w) at w ≠ 0, and |F'| ≤ σ at 0.
        assert!(gap(&[0.5, -2.0, 0.0], &[-0.3, 0.3, 0.1], 0.25, 0.3) < 1e-15);
        assert!(gap(&[0.5, -2.0, 0.0], &[-0.3, 0.3, 0.4], 0.25, 0.3) > 0.01);
        // Without an l1 norm it is that of the ridge.
        let found = gap(&[0.5, -2.0], &[0.5, 1.0], 0.25, 0.0);
        assert!((found - 1.25 / 0.5).abs() < 1e-14, "{found}");
    }
}
