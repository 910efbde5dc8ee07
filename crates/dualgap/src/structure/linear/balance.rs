//! Dual variables that add up to zero, as the dual requires if a weight is not penalised.

use crate::linalg::Sum;

/// A bound on the steps: Newton's method needs a handful, bisection as many as there are bits, and doubling no more.
const MOST_STEPS: usize = 200;

/// Returns the points, all moved by the same t and clamped to their domains, for which `Σ share_i point_i` is zero, or
/// `None` if a share is negative. The sum is piecewise linear and rises with t: Newton's method finds its root,
/// safeguarded by bounds that shrink.
pub(super) fn balance(points: &[f64], shares: &[f64], domains: &[(f64, f64)]) -> Option<Vec<f64>> {
    if shares.iter().any(|&share| share < 0.0) {
        return None;
    }
    let moved = |t: f64| {
        let near = |(at, &(low, high)): (&f64, &(f64, f64))| (at + t).clamp(low, high);
        points.iter().zip(domains).map(near).collect::<Vec<f64>>()
    };
    let sum = |points: &[f64]| {
        points.iter().zip(shares).map(|(at, share)| at * share).collect::<Sum>().total().value
    };
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut t = 0.0;
    let mut best = moved(t);
    for _ in 0..MOST_STEPS {
        let excess = sum(&best);
        if excess == 0.0 {
            break;
        }
        if excess > 0.0 {
            high = t;
        } else {
            low = t;
        }
        // The slope counts the points that are free to move.
        let inside = |(&at, &(low, high)): (&f64, &(f64, f64))| low < at && at < high;
        let free = best.iter().zip(domains).map(inside);
        let slope: f64 = free.zip(shares).filter(|(free, _)| *free).map(|(_, share)| share).sum();
        let newton = t - excess / slope;
        let next = if newton > low && newton < high {
            newton
        } else if low.is_finite() && high.is_finite() {
            low + (high - low) / 2.0
        } else {
            // There is no bound on that side yet.
            t - excess.signum() * (1.0 + 2.0 * t.abs())
        };
        if next == t || !next.is_finite() {
            break;
        }
        t = next;
        best = moved(t);
    }
    Some(best)
}

/// Returns where a non-decreasing function changes its sign, to a millionth of its distance from the start: accurate
/// enough for a centre that the rounds then improve. If it never changes its sign, returns the furthest point that was
/// tried.
pub(super) fn root_of_rising(f: impl Fn(f64) -> f64, start: f64) -> f64 {
    let at_start = f(start);
    if at_start == 0.0 {
        return start;
    }
    // Goes away from the start in steps that double, until the sign has changed.
    let direction = -at_start.signum();
    let (mut near, mut step) = (start, 1.0);
    let mut far = start + direction * step;
    while f(far) * at_start > 0.0 {
        near = far;
        step *= 2.0;
        far = start + direction * step;
        if step > 1e12 {
            return far;
        }
    }
    for _ in 0..40 {
        let middle = near + (far - near) / 2.0;
        if f(middle) * at_start > 0.0 {
            near = middle;
        } else {
            far = middle;
        }
        if (far - near).abs() <= 1e-6 * step {
            break;
        }
    }
    near + (far - near) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(points: &[f64], shares: &[f64]) -> f64 {
        points.iter().zip(shares).map(|(at, share)| at * share).sum()
    }

    proptest! {
        #[test]
        fn the_points_add_up_to_zero_within_their_domains(
            parts in prop::collection::vec((0.0..1.0_f64, any::<bool>(), 0.0..1.0_f64), 2..30),
            unbounded in any::<bool>(),
            scale in -6..6_i32,
        ) {
            let scale = 10.0_f64.powi(scale);
            let domain = |positive: bool| match (unbounded, positive) {
                (true, _) => (f64::NEG_INFINITY, f64::INFINITY),
                (false, true) => (0.0, scale),
                (false, false) => (-scale, 0.0),
            };
            let domains: Vec<(f64, f64)> = parts.iter().map(|&(_, sign, _)| domain(sign)).collect();
            let points: Vec<f64> =
                parts.iter().map(|&(at, sign, _)| if sign { at } else { -at } * scale).collect();
            let shares: Vec<f64> = parts.iter().map(|&(_, _, share)| share).collect();
            let balanced = balance(&points, &shares, &domains).unwrap();
            let allowed = 1e-14 * scale * parts.len() as f64;
            prop_assert!(sum(&balanced, &shares).abs() <= allowed, "{}", sum(&balanced, &shares));
            let inside = |(at, &(low, high)): (&f64, &(f64, f64))| (low..=high).contains(at);
            prop_assert!(balanced.iter().zip(&domains).all(inside));
            // All points move in the same direction.
            let moves: Vec<f64> = balanced.iter().zip(&points).map(|(to, from)| to - from).collect();
            prop_assert!(moves.iter().all(|m| *m >= 0.0) || moves.iter().all(|m| *m <= 0.0));
        }
    }

    #[test]
    fn the_root_is_found_wherever_it_is() {
        for root in [-1e7, -3.0, 0.0, 0.2, 1e3, 1e9] {
            for start in [0.0, -5.0, 1e3] {
                let found = root_of_rising(|x| (x - root).tanh(), start);
                assert!((found - root).abs() <= 1e-5 * (1.0 + (root - start).abs()), "{found}");
            }
        }
        assert!(root_of_rising(|_| -1.0, 0.0) > 1e11, "as far as was looked");
    }

    #[test]
    fn points_that_add_up_to_zero_stay() {
        let domains = [(0.0, 1.0), (-1.0, 0.0)];
        assert_eq!(balance(&[0.5, -0.5], &[0.5, 0.5], &domains), Some(vec![0.5, -0.5]));
    }

    #[test]
    fn of_a_single_sign_only_zeros_are_left() {
        let domains = [(0.0, 1.0); 3];
        assert_eq!(balance(&[0.3, 1.0, 0.0], &[0.2, 0.3, 0.5], &domains), Some(vec![0.0; 3]));
    }

    #[test]
    fn shares_of_both_signs_are_not_handled() {
        assert_eq!(balance(&[0.5], &[-1.0], &[(0.0, 1.0)]), None);
    }
}
