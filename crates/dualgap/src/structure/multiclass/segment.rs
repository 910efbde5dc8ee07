//! Option II under softmax: the best distribution on the segment from one to another.
//!
//! With a the scores, z the direction from β and q = mass_i‖x_i‖²/λ, the dual along β + tz and its slope are
//!
//! ```text
//! h(t)  = t⟨z, a⟩ − Σ_j (β_j + t z_j) log(β_j + t z_j) − (q/2)t²‖z‖²
//! h'(t) = Σ_j z_j (a_j − log(β_j + t z_j)) − q t‖z‖²                      since Σ_j z_j = 0
//! ```
//!
//! h is concave, so its maximum is where the slope changes its sign. Newton's method finds it, safeguarded by bounds
//! that shrink. The penalties of the other losses are linear or quadratic, and the closed form of option III already is
//! the maximum.

/// The search ends after a step smaller than this, relative to the distance from the nearer end: h then misses its
/// maximum by about the square.
const CLOSE: f64 = 1e-10;

/// Bisection alone comes this close within this many steps, except for shares so small that they gain nothing.
const MOST_STEPS: u32 = 100;

/// Returns the slope at t, and how fast it falls there, −h''(t).
fn slope(scores: &[f64], at: &[f64], z: &[f64], q: f64, t: f64) -> (f64, f64) {
    // The entries of z add up to zero except for rounding. The largest score is subtracted so that this rounding is not
    // multiplied by an offset that all scores share.
    let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut slope, mut bend) = (0.0, 0.0);
    for ((score, at), &z) in scores.iter().zip(at).zip(z).filter(|(_, z)| **z != 0.0) {
        // Rounding may make the share of a class negative if the other end has none of it.
        let beta = (at + t * z).max(0.0);
        slope += z * (score - top - beta.ln() - q * t * z);
        bend += z * z * (1.0 / beta + q);
    }
    (slope, bend)
}

/// Returns the share of the step z from `at` that has the largest dual. The search begins at `begin`.
pub(super) fn best_share(scores: &[f64], at: &[f64], z: &[f64], q: f64, begin: f64) -> f64 {
    let slope = |t| slope(scores, at, z, q, t);
    if slope(1.0).0 >= 0.0 {
        return 1.0;
    }
    // A class without weight in `at` makes this slope infinite, which is above zero as it should be.
    if slope(0.0).0 <= 0.0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    let mut t = if begin > low && begin < high { begin } else { 0.5 };
    for _ in 0..MOST_STEPS {
        let (slope, bend) = slope(t);
        if slope.is_nan() {
            return begin; // inputs so large that nothing is known
        }
        if slope > 0.0 {
            low = t;
        } else {
            high = t;
        }
        let newton = t + slope / bend;
        let next = if newton > low && newton < high { newton } else { low + (high - low) / 2.0 };
        let moved = (next - t).abs();
        t = next;
        if moved <= CLOSE * t.min(1.0 - t) {
            break;
        }
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn x_log_x(x: f64) -> f64 {
        if x > 0.0 { x * x.ln() } else { 0.0 }
    }

    /// Returns h by its formula.
    fn dual(scores: &[f64], at: &[f64], to: &[f64], q: f64, t: f64) -> f64 {
        let each = scores.iter().zip(at).zip(to).map(|((s, at), to)| {
            let (z, beta) = (to - at, at + t * (to - at));
            t * z * s - x_log_x(beta) - 0.5 * q * t * t * z * z
        });
        each.sum()
    }

    /// Random distributions over four classes, some of which may have no weight.
    fn distribution() -> impl Strategy<Value = Vec<f64>> {
        let share = prop_oneof![1 => Just(0.0), 3 => 0.0..1.0_f64, 1 => 0.0..1e-12_f64];
        (prop::collection::vec(share, 4), 0..4_usize).prop_map(|(mut shares, k)| {
            shares[k] += 0.1;
            let sum: f64 = shares.iter().sum();
            shares.into_iter().map(|share| share / sum).collect()
        })
    }

    proptest! {
        #[test]
        fn no_share_of_the_way_has_a_larger_dual(
            scores in prop::collection::vec(-8.0..8.0_f64, 4),
            (at, to) in (distribution(), distribution()),
            q in prop_oneof![Just(0.0), (-3.0..6.0_f64).prop_map(|e| 10_f64.powf(e))],
            begin in 0.0..=1.0_f64,
        ) {
            let z: Vec<f64> = at.iter().zip(&to).map(|(at, to)| to - at).collect();
            let h = |t: f64| dual(&scores, &at, &to, q, t);
            let share = best_share(&scores, &at, &z, q, begin);
            prop_assert!((0.0..=1.0).contains(&share));
            let best = h(share);
            let slack = 1e-13 * (10.0 + best.abs());
            let near = |k: i32| (share * (1.0 + f64::from(k - 500) * 1e-5)).clamp(0.0, 1.0);
            for k in 0..=1000 {
                let grid = f64::from(k) / 1000.0;
                for t in [grid, grid.powi(4), near(k)] {
                    prop_assert!(best >= h(t) - slack, "{share}: {best}, and {t}: {}", h(t));
                }
            }
        }
    }
}
