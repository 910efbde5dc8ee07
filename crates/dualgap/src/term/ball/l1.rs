//! The l1 ball: `Σ |x_j| ≤ r`.
//!
//! ```text
//! Proj(v) = soft(v, θ)         θ ≥ 0 such that Σ max(|v_j| − θ, 0) = r, or 0 where v is within the ball
//! h(v)    = max_{‖x‖₁ ≤ r} ⟨v, x⟩ − μ/2‖x‖²  ≤  ‖R‖²/(2μ) + r‖v − R‖_∞   for every R
//! ```
//!
//! with equality at R = soft(v, μθ), where μθ is the threshold at μr. A certificate rests on that bound, because it
//! holds whatever rounding did to R.

use crate::linalg::sum::squared_norm;
use crate::linalg::underflow::product_above;
use crate::linalg::{Measured, Sum, UNDERFLOW, UNIT_ROUNDOFF};

/// The soft threshold `sign(v)·max(|v| − threshold, 0)`.
#[inline]
pub fn soft(v: f64, threshold: f64) -> f64 {
    let left = v.abs() - threshold;
    if left > 0.0 { left.copysign(v) } else { 0.0 }
}

/// Returns the θ at which `Σ max(|v_j| − θ, 0)` is the radius; zero if the sum at θ = 0 is at most the radius.
///
/// Each iteration halves the undecided entries at their median, so the total is O(d). `buffer` is a workspace.
pub fn threshold(v: &[f64], radius: f64, buffer: &mut Vec<f64>) -> f64 {
    buffer.clear();
    buffer.extend(v.iter().map(|v| v.abs()));
    threshold_of(buffer, radius)
}

/// [`threshold`] of nonnegative numbers, which it reorders.
fn threshold_of(sizes: &mut [f64], radius: f64) -> f64 {
    if sizes.iter().sum::<f64>() <= radius {
        return 0.0;
    }
    let (mut above, mut count) = (0.0, 0.0); // of those that are known to be above θ
    let mut rest = sizes;
    while !rest.is_empty() {
        let middle = rest.len() / 2;
        let (high, &mut pivot, low) = rest.select_nth_unstable_by(middle, |a, b| b.total_cmp(a));
        let sum = high.iter().sum::<f64>() + pivot;
        let so_many = count + middle as f64 + 1.0;
        // The sum that would remain if θ were the pivot.
        if above + sum - so_many * pivot < radius {
            (above, count) = (above + sum, so_many);
            rest = low;
        } else {
            rest = high;
        }
    }
    ((above - radius) / count).max(0.0)
}

/// [`threshold`] by Newton's method from a guess, without a workspace unless it fails: the function is convex and
/// piecewise linear, and near the solution two loops over v suffice. Also returns how many it took.
pub fn threshold_near(v: &[f64], radius: f64, guess: f64, buffer: &mut Vec<f64>) -> (f64, u64) {
    const MOST: u64 = 8;
    let (mut theta, mut before) = (guess.max(0.0), f64::NAN);
    for looks in 1..=MOST {
        let (sum, count) = above(v, theta);
        if count == 0.0 || !sum.is_finite() {
            break;
        }
        let next = ((sum - radius) / count).max(0.0);
        if next == theta || count == before {
            return (next, looks);
        }
        (theta, before) = (next, count);
    }
    (threshold(v, radius, buffer), MOST + 4)
}

/// Returns the sum of the |v_j| above a threshold and their number, in four lanes.
fn above(v: &[f64], level: f64) -> (f64, f64) {
    let (mut sums, mut counts) = ([0.0; 4], [0.0; 4]);
    let chunks = v.chunks_exact(4);
    let rest = chunks.remainder();
    let mut add = |lane: usize, v: f64| {
        let (v, is) = (v.abs(), f64::from(u8::from(v.abs() > level)));
        sums[lane] += v * is;
        counts[lane] += is;
    };
    for chunk in chunks {
        chunk.iter().enumerate().for_each(|(lane, &v)| add(lane, v));
    }
    rest.iter().enumerate().for_each(|(lane, &v)| add(lane, v));
    (sums.iter().sum(), counts.iter().sum())
}

/// Projects onto the ball.
pub fn project(x: &mut [f64], radius: f64, buffer: &mut Vec<f64>) {
    let theta = threshold(x, radius, buffer);
    if theta > 0.0 {
        x.iter_mut().for_each(|x| *x = soft(*x, theta));
    }
}

/// Equation (8): the point of the ball with at most s nonzero entries that is nearest to v. It is the projection of the
/// s largest entries of v, and zero elsewhere; `x` receives it as pairs of index and value, in ascending order.
pub fn nearest_sparse(
    v: &[f64],
    s: usize,
    radius: f64,
    x: &mut Vec<(u32, f64)>,
    buffer: &mut Vec<f64>,
) {
    x.clear();
    x.extend(v.iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(j, &v)| (j as u32, v)));
    if s < x.len() {
        // Ties go to the first entries, so that the choice does not depend on the selection algorithm.
        x.select_nth_unstable_by(s, |a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        x.truncate(s);
        x.sort_unstable_by_key(|&(j, _)| j);
    }
    buffer.clear();
    buffer.extend(x.iter().map(|&(_, v)| v.abs()));
    let theta = threshold_of(buffer, radius);
    x.iter_mut().for_each(|(_, v)| *v = soft(*v, theta));
    x.retain(|&(_, v)| v != 0.0);
}

/// An upper bound on h(v) of the module's head, and its R: `R/μ` is the projection of `v/μ`. For μ = 0, where h is
/// r‖v‖_∞, R is zero.
#[derive(Clone, Debug)]
pub struct Conjugate {
    /// The exact bound is within the error of this value; h is at most the exact bound.
    pub bound: Measured,
    /// R.
    pub shrunk: Vec<f64>,
}

/// Computes the bound; see [`Conjugate`].
pub fn conjugate(v: &[f64], radius: f64, mu: f64) -> Conjugate {
    let mut shrunk = vec![0.0; v.len()];
    if mu > 0.0 {
        let level = threshold(v, mu * radius, &mut Vec::new());
        shrunk.iter_mut().zip(v).for_each(|(r, &v)| *r = soft(v, level));
    }
    let far = v.iter().zip(&shrunk).fold(0.0_f64, |far, (v, r)| far.max((v - r).abs()));
    let mut bound = Sum::default();
    // The largest difference is rounded once.
    let far = Measured { value: far, error: product_above(UNIT_ROUNDOFF, far) };
    bound.add_measured(far.scaled(radius));
    if mu > 0.0 {
        let norm = squared_norm(&shrunk);
        let mut square = norm.scaled(0.5 / mu);
        // 1/μ is also rounded, and may have underflowed.
        square.error += 2.0 * UNIT_ROUNDOFF * square.value;
        square.error += product_above(norm.value + norm.error, UNDERFLOW);
        bound.add_measured(square);
    }
    Conjugate { bound: bound.total(), shrunk }
}

/// Whether x is proved to be in the ball, whatever rounding did.
pub fn contains(x: &[f64], radius: f64) -> bool {
    let norm = x.iter().filter(|x| **x != 0.0).map(|x| x.abs()).collect::<Sum>().total();
    // The sum of value and error is rounded itself.
    (norm.value + norm.error) * (1.0 + f64::EPSILON) <= radius
}

/// Scales x, which is in the ball up to rounding, until it is proved to be inside.
pub fn bring_inside(x: &mut [f64], radius: f64) {
    let mut margin = 2.0 * f64::EPSILON;
    while !contains(x, radius) {
        let norm = x.iter().map(|x| x.abs()).sum::<f64>();
        if !norm.is_finite() || margin > 1.0 {
            x.fill(0.0); // nothing is known of such numbers, but that zero is in the ball
            return;
        }
        let factor = (radius / norm).min(1.0) * (1.0 - margin);
        x.iter_mut().for_each(|x| *x *= factor);
        margin *= 2.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers(most: usize) -> impl Strategy<Value = Vec<f64>> {
        // Small integers make ties and zeros frequent.
        prop::collection::vec(prop_oneof![(-4_i8..=4).prop_map(f64::from), -3.0..3.0_f64], 1..most)
    }

    fn distance(x: &[f64], v: &[f64]) -> f64 {
        x.iter().zip(v).map(|(x, v)| (x - v) * (x - v)).sum()
    }

    /// Returns the nearest point of the ball with this support and the signs of v, or a worse one, by Lagrange's
    /// condition on the face and without the threshold under test.
    fn on_face(v: &[f64], support: u32, radius: f64) -> Option<Vec<f64>> {
        let inside = |j: usize| support >> j & 1 == 1;
        let size = f64::from(support.count_ones());
        let sum: f64 = v.iter().enumerate().filter(|&(j, _)| inside(j)).map(|(_, v)| v.abs()).sum();
        let shift = if sum > radius { (sum - radius) / size } else { 0.0 };
        let entry = |(j, &v): (usize, &f64)| {
            if inside(j) { (v.abs() - shift) * 1_f64.copysign(v) } else { 0.0 }
        };
        let x: Vec<f64> = v.iter().enumerate().map(entry).collect();
        let norm: f64 = x.iter().map(|x| x.abs()).sum();
        (norm <= radius + 1e-9).then_some(x)
    }

    proptest! {
        #[test]
        fn equation_8_is_the_best_of_all_supports(v in numbers(9), s in 0_usize..9, radius in 0.05..6.0_f64) {
            let (mut found, mut buffer) = (Vec::new(), Vec::new());
            nearest_sparse(&v, s, radius, &mut found, &mut buffer);
            prop_assert!(found.len() <= s && found.is_sorted_by_key(|&(j, _)| j));
            let mut x = vec![0.0; v.len()];
            found.iter().for_each(|&(j, value)| x[j as usize] = value);
            prop_assert!(x.iter().map(|x| x.abs()).sum::<f64>() <= radius + 1e-12);
            let best = (0..1_u32 << v.len())
                .filter(|support| support.count_ones() as usize <= s)
                .filter_map(|support| on_face(&v, support, radius))
                .map(|x| distance(&x, &v))
                .fold(f64::INFINITY, f64::min);
            prop_assert!((distance(&x, &v) - best).abs() < 1e-9, "{x:?} {best}");
        }

        #[test]
        fn the_projection_is_nearer_than_any_other_point(v in numbers(12), other in numbers(12), radius in 0.05..6.0_f64) {
            let mut x = v.clone();
            project(&mut x, radius, &mut Vec::new());
            let mut other: Vec<f64> = (0..v.len()).map(|j| other[j % other.len()]).collect();
            let norm: f64 = other.iter().map(|x| x.abs()).sum();
            other.iter_mut().for_each(|x| *x *= (radius / norm.max(1e-9)).min(1.0));
            // The variational inequality: ⟨v − x, other − x⟩ ≤ 0.
            let product: f64 = v.iter().zip(&x).zip(&other).map(|((v, x), o)| (v - x) * (o - x)).sum();
            prop_assert!(product <= 1e-10, "{product}");
            let norm: f64 = x.iter().map(|x| x.abs()).sum();
            prop_assert!(norm <= radius * (1.0 + 1e-12));
        }

        #[test]
        fn thresholds_from_guesses_are_thresholds(v in numbers(40), radius in 0.05..20.0_f64, guess in -1.0..6.0_f64) {
            let exact = threshold(&v, radius, &mut Vec::new());
            let (near, _) = threshold_near(&v, radius, guess, &mut Vec::new());
            prop_assert!((exact - near).abs() < 1e-12, "{exact} {near}");
        }

        #[test]
        fn the_conjugate_is_the_maximum_over_the_ball(v in numbers(6), x in numbers(6), radius in 0.05..6.0_f64, mu in 0.01..4.0_f64) {
            let Conjugate { bound, shrunk } = conjugate(&v, radius, mu);
            let value = |x: &[f64], mu: f64| -> f64 {
                x.iter().zip(&v).map(|(x, v)| x * v - mu / 2.0 * x * x).sum()
            };
            let at: Vec<f64> = shrunk.iter().map(|r| r / mu).collect();
            prop_assert!((value(&at, mu) - bound.value).abs() < 1e-10 * (1.0 + bound.value.abs()));
            let mut x: Vec<f64> = (0..v.len()).map(|j| x[j % x.len()]).collect();
            bring_inside(&mut x, radius);
            prop_assert!(value(&x, mu) <= bound.value + 1e-12);
            prop_assert!(value(&x, 0.0) <= conjugate(&v, radius, 0.0).bound.value + 1e-12);
        }
    }

    #[test]
    fn soft_thresholds_keep_the_sign() {
        assert_eq!((soft(3.0, 1.0), soft(-3.0, 1.0), soft(0.5, 1.0)), (2.0, -2.0, 0.0));
    }

    #[test]
    fn the_threshold_spends_the_radius() {
        assert_eq!(threshold(&[3.0, -2.0, 0.5], 2.0, &mut Vec::new()), 1.5);
        assert_eq!(threshold(&[0.5, -0.5], 2.0, &mut Vec::new()), 0.0);
    }

    #[test]
    fn a_guess_does_not_change_the_threshold() {
        assert_eq!(threshold_near(&[3.0, -2.0, 0.5], 2.0, 1.4, &mut Vec::new()).0, 1.5);
    }

    #[test]
    fn the_nearest_point_of_the_ball_is_found() {
        let mut x = [3.0, -2.0, 0.5];
        project(&mut x, 2.0, &mut Vec::new());
        assert_eq!(x, [1.5, -0.5, 0.0]);
    }

    #[test]
    fn the_largest_entries_stay() {
        let (mut x, mut buffer) = (Vec::new(), Vec::new());
        nearest_sparse(&[3.0, -2.0, 2.5], 2, 2.0, &mut x, &mut buffer);
        assert_eq!(x, [(0, 1.25), (2, 0.75)]);
    }

    #[test]
    fn the_conjugate_of_a_small_vector_is_known() {
        let side = conjugate(&[3.0, -1.0], 1.0, 1.0);
        assert_eq!((side.bound.value, side.shrunk), (2.5, vec![1.0, 0.0])); // 3·1 − ½
    }

    #[test]
    fn a_point_just_outside_is_brought_inside() {
        let mut x = [0.1; 10];
        bring_inside(&mut x, 1.0);
        assert!(contains(&x, 1.0) && (x[0] - 0.1).abs() < 1e-15);
    }
}
