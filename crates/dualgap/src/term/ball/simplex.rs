//! The simplex: `x_j ≥ 0` and `Σ x_j = r`.
//!
//! ```text
//! Proj(v) = max(v − θ, 0)      θ such that Σ max(v_j − θ, 0) = r
//! h(v)    = max over the simplex of ⟨v, x⟩ − μ/2‖x‖²  ≤  ‖R‖²/(2μ) + r·max_j(v_j − R_j)   for every R
//! ```
//!
//! with equality at R = μ·Proj(v/μ). Floating point numbers rarely add up to r exactly. So an x that misses the sum by
//! no more than rounding stands for x·r/Σx, which is in the simplex, and whoever computes a value of it adds what the
//! factor may change: [`miss`].

use super::l1;
use crate::linalg::sum::squared_norm;
use crate::linalg::underflow::product_above;
use crate::linalg::{Measured, Sum, UNDERFLOW, UNIT_ROUNDOFF};

/// An x is taken for a point of the simplex if its sum is within this share of the radius: far more than sums of
/// projections miss, and every value is charged with what an x misses.
const DEFECT: f64 = 1e-9;

/// Projects onto the simplex. `buffer` is a workspace.
pub fn project(x: &mut [f64], radius: f64, buffer: &mut Vec<f64>) {
    // No entry of the projection is above r, so θ is at least this, and numbers below it vanish.
    let low = x.iter().copied().fold(f64::NEG_INFINITY, f64::max) - radius;
    x.iter_mut().for_each(|x| *x = (*x - low).max(0.0));
    let theta = l1::threshold(x, radius, buffer);
    x.iter_mut().for_each(|x| *x = (*x - theta).max(0.0));
}

/// The point of the simplex with at most s nonzero entries that is nearest to v: the projection of the s largest
/// entries of v. `x` receives it as pairs of index and value, in ascending order.
pub fn nearest_sparse(
    v: &[f64],
    s: usize,
    radius: f64,
    x: &mut Vec<(u32, f64)>,
    buffer: &mut Vec<f64>,
) {
    x.clear();
    x.extend(v.iter().enumerate().map(|(j, &v)| (j as u32, v)));
    if s < x.len() {
        // Ties go to the first entries, so that the choice does not depend on the selection algorithm.
        x.select_nth_unstable_by(s, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        x.truncate(s);
        x.sort_unstable_by_key(|&(j, _)| j);
    }
    let mut values: Vec<f64> = x.iter().map(|&(_, v)| v).collect();
    project(&mut values, radius, buffer);
    x.iter_mut().zip(values).for_each(|((_, x), value)| *x = value);
    x.retain(|&(_, v)| v != 0.0);
}

/// The bound on h(v) and its R, as [`l1::conjugate`] has them for the l1 ball. For μ = 0, where h is r·max v, R is zero.
pub fn conjugate(v: &[f64], radius: f64, mu: f64) -> l1::Conjugate {
    let mut shrunk = vec![0.0; v.len()];
    if mu > 0.0 {
        shrunk.copy_from_slice(v);
        project(&mut shrunk, mu * radius, &mut Vec::new());
    }
    let differences = v.iter().zip(&shrunk).map(|(v, r)| v - r);
    let far = differences.fold(f64::NEG_INFINITY, f64::max);
    let mut bound = Sum::default();
    let far = Measured { value: far, error: product_above(UNIT_ROUNDOFF, far.abs()) };
    bound.add_measured(far.scaled(radius));
    if mu > 0.0 {
        let norm = squared_norm(&shrunk);
        let mut square = norm.scaled(0.5 / mu);
        // 1/μ is also rounded, and may have underflowed.
        square.error += 2.0 * UNIT_ROUNDOFF * square.value;
        square.error += product_above(norm.value + norm.error, UNDERFLOW);
        bound.add_measured(square);
    }
    l1::Conjugate { bound: bound.total(), shrunk }
}

/// Returns a bound on |r/Σx − 1|, or none if x is not a point of the simplex up to rounding.
pub fn miss(x: &[f64], radius: f64) -> Option<f64> {
    if x.iter().any(|x| !(*x >= 0.0 && x.is_finite())) {
        return None;
    }
    let sum = x.iter().copied().collect::<Sum>().total();
    let far = ((sum.value - radius).abs() + sum.error) / radius * (1.0 + 4.0 * f64::EPSILON);
    // |r/Σ − 1| = |r − Σ|/Σ, and Σ is at least r(1 − far).
    (far <= DEFECT).then(|| far / (1.0 - far) * (1.0 + 4.0 * f64::EPSILON))
}

/// Brings an x that is near the simplex into it, up to rounding; an x of which nothing is known becomes the centre.
pub fn bring_inside(x: &mut [f64], radius: f64) {
    if miss(x, radius).is_some() {
        return;
    }
    x.iter_mut().for_each(|x| *x = x.max(0.0));
    let sum: f64 = x.iter().sum();
    let factor = radius / sum;
    let even = radius / x.len().max(1) as f64;
    let fine = factor.is_finite() && factor > 0.0;
    x.iter_mut().for_each(|x| *x = if fine { *x * factor } else { even });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers() -> impl Strategy<Value = Vec<f64>> {
        // Small integers make ties frequent.
        prop::collection::vec(prop_oneof![(-4_i8..=4).prop_map(f64::from), -3.0..3.0_f64], 1..8)
    }

    fn distance(x: &[f64], v: &[f64]) -> f64 {
        x.iter().zip(v).map(|(x, v)| (x - v) * (x - v)).sum()
    }

    /// The nearest point to v with this support and a sum of r, if it is nonnegative: by Lagrange's condition alone.
    fn on_face(v: &[f64], support: u32, radius: f64) -> Option<Vec<f64>> {
        let inside = |j: usize| support >> j & 1 == 1;
        let sum: f64 = v.iter().enumerate().filter(|&(j, _)| inside(j)).map(|(_, v)| v).sum();
        let shift = (sum - radius) / f64::from(support.count_ones());
        let x = v.iter().enumerate().map(|(j, v)| if inside(j) { v - shift } else { 0.0 });
        let x: Vec<f64> = x.collect();
        x.iter().all(|&x| x >= -1e-12).then_some(x)
    }

    proptest! {
        #[test]
        fn the_sparse_point_is_the_nearest_of_all_supports(v in numbers(), s in 1_usize..8, radius in 0.05..6.0_f64) {
            let mut found = Vec::new();
            nearest_sparse(&v, s, radius, &mut found, &mut Vec::new());
            let mut x = vec![0.0; v.len()];
            found.iter().for_each(|&(j, value)| x[j as usize] = value);
            prop_assert!(found.len() <= s && miss(&x, radius).unwrap() < 1e-12);
            let best = (1..1_u32 << v.len())
                .filter(|support| support.count_ones() as usize <= s)
                .filter_map(|support| on_face(&v, support, radius))
                .map(|x| distance(&x, &v))
                .fold(f64::INFINITY, f64::min);
            prop_assert!((distance(&x, &v) - best).abs() < 1e-9, "{x:?} {best}");
            if s >= v.len() {
                let mut all = v.clone();
                project(&mut all, radius, &mut Vec::new());
                prop_assert_eq!(all, x);
            }
        }

        #[test]
        fn the_conjugate_is_the_maximum_over_the_simplex(v in numbers(), x in numbers(), radius in 0.05..6.0_f64, mu in 0.01..4.0_f64) {
            let value = |x: &[f64], mu: f64| -> f64 {
                x.iter().zip(&v).map(|(x, v)| x * v - mu / 2.0 * x * x).sum()
            };
            let l1::Conjugate { bound, shrunk } = conjugate(&v, radius, mu);
            let at: Vec<f64> = shrunk.iter().map(|r| r / mu).collect();
            prop_assert!((value(&at, mu) - bound.value).abs() < 1e-10 * (1.0 + bound.value.abs()));
            let mut x: Vec<f64> = (0..v.len()).map(|j| x[j % x.len()]).collect();
            bring_inside(&mut x, radius);
            prop_assert!(miss(&x, radius).is_some());
            prop_assert!(value(&x, mu) <= bound.value + 1e-9);
            prop_assert!(value(&x, 0.0) <= conjugate(&v, radius, 0.0).bound.value + 1e-9);
        }
    }

    #[test]
    fn the_nearest_point_of_the_simplex_is_found() {
        let mut x = [3.0, -2.0, 2.5];
        project(&mut x, 2.0, &mut Vec::new());
        assert_eq!(x, [1.25, 0.0, 0.75]);
    }

    #[test]
    fn the_largest_entries_make_a_mixture() {
        let (mut x, mut buffer) = (Vec::new(), Vec::new());
        nearest_sparse(&[3.0, -4.0, 2.5], 2, 2.0, &mut x, &mut buffer);
        assert_eq!(x, [(0, 1.25), (2, 0.75)]);
    }

    #[test]
    fn the_conjugate_over_the_simplex_is_known() {
        let side = conjugate(&[-3.0, -5.0], 1.0, 1.0);
        assert_eq!((side.bound.value, side.shrunk), (-3.5, vec![1.0, 0.0])); // −3·1 − ½
    }

    #[test]
    fn a_point_off_the_simplex_is_told() {
        assert!(miss(&[0.1; 10], 1.0).unwrap() < 1e-15);
        assert!(miss(&[0.5, 0.4], 1.0).is_none() && miss(&[1.5, -0.5], 1.0).is_none());
    }
}
