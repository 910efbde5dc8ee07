//! Compares every loss with brute force that uses only its values.

use super::{Loss, ScalarLoss};
use proptest::prelude::*;

const LOSSES: [ScalarLoss; 10] = [
    ScalarLoss::Hinge,
    ScalarLoss::SmoothHinge { width: 1.0 },
    ScalarLoss::SmoothHinge { width: 0.3 },
    ScalarLoss::SquaredHinge,
    ScalarLoss::Logistic,
    ScalarLoss::Squared,
    ScalarLoss::Absolute,
    ScalarLoss::EpsilonInsensitive { epsilon: 0.4 },
    ScalarLoss::Huber { width: 0.7 },
    ScalarLoss::Huber { width: 2.0 },
];

/// Returns the maximum of a concave function on an interval, by golden section search.
fn top(f: impl Fn(f64) -> f64, (mut low, mut high): (f64, f64)) -> f64 {
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    for _ in 0..200 {
        let (a, b) = (high - golden * (high - low), low + golden * (high - low));
        if f(a) < f(b) { low = a } else { high = b }
    }
    f(low).max(f(high)).max(f(low + (high - low) / 2.0))
}

/// Returns a valid target of the loss, and an α in its domain.
fn feasible(loss: ScalarLoss, target: f64, share: f64) -> (f64, f64) {
    let y = if loss.is_binary() { target.signum() } else { target };
    let (low, high) = loss.domain(y);
    let (low, high) = (low.max(-3.0), high.min(3.0));
    (y, low + share * (high - low))
}

proptest! {
    // Away from kinks of the slope; a smooth loss has at most one within so short an interval.
    #[test]
    fn curvatures_are_slopes_of_slopes(target in -2.0..2.0_f64, a in -4.0..4.0_f64) {
        for loss in LOSSES {
            let (y, _) = feasible(loss, target, 0.0);
            let Some(curvature) = loss.curvature(a, y) else {
                prop_assert_eq!(loss.smoothness(), 0.0);
                continue;
            };
            let [value, slope, same] = loss.second_order(a, y).unwrap_or([f64::NAN; 3]);
            prop_assert!((value - loss.value(a, y).value).abs() < 1e-14, "{loss:?} at {a}");
            prop_assert!((slope + loss.corner(a, y)).abs() < 1e-14, "{loss:?} at {a}");
            prop_assert!((same - curvature).abs() < 1e-14, "{loss:?} at {a}");
            let h = 1e-6;
            let near = [a - h, a + h].map(|a| loss.curvature(a, y).unwrap_or(f64::NAN));
            if (near[0] - near[1]).abs() < 1e-3 {
                let quotient = (loss.corner(a - h, y) - loss.corner(a + h, y)) / (2.0 * h);
                prop_assert!((quotient - curvature).abs() < 1e-4, "{loss:?} at {a}");
            }
        }
    }

    // The vector forms are judged by those of one prediction; 37 predictions leave a rest in every vector length.
    #[test]
    fn many_predictions_at_once_are_each_by_itself(
        targets in prop::collection::vec(-2.0..2.0_f64, 37),
        a in prop::collection::vec(-40.0..40.0_f64, 37),
        scale in 0.0..=1.0_f64,
    ) {
        for loss in LOSSES {
            let y: Vec<f64> = targets.iter().map(|&y| feasible(loss, y, 0.0).0).collect();
            let mut conjugates = vec![0.0; 37];
            loss.scaled_conjugates(scale, &a, &y, &mut conjugates);
            let [mut values, mut slopes, mut curves] = [(); 3].map(|()| vec![0.0; 37]);
            loss.second_orders(&a, &y, [&mut values, &mut slopes, &mut curves]);
            for i in 0..37 {
                let expected = loss.second_order(a[i], y[i]).unwrap_or_default();
                for (found, expected) in [values[i], slopes[i], curves[i]].iter().zip(expected) {
                    let near = (found - expected).abs() <= 1e-14 * expected.abs();
                    prop_assert!(near, "{loss:?} at {}", a[i]);
                }
                let expected = loss.conjugate(scale * loss.corner(a[i], y[i]), y[i]).value;
                let near = (conjugates[i] - expected).abs() <= 1e-13 * (1.0 + expected.abs());
                prop_assert!(near, "{loss:?} at {} times {scale}", a[i]);
            }
        }
    }

    // The bounds hold for the loss of any prediction that is so near, and are not much larger than they have to be.
    #[test]
    fn values_and_conjugates_of_many_are_within_their_bounds(
        targets in prop::collection::vec(-2.0..2.0_f64, 37),
        a in prop::collection::vec(prop_oneof![-40.0..40.0_f64, -1.0..1.0_f64, Just(0.0), Just(-720.0), Just(720.0)], 37),
        off in prop_oneof![Just(0.0), 1e-12..1e-2_f64],
        shares in prop::collection::vec(prop_oneof![0.0..=1.0_f64, Just(0.0), Just(1.0), Just(1e-310), Just(1e-20), Just(1.0 - 1e-15)], 37),
        shift in -1.0..=1.0_f64,
    ) {
        for loss in LOSSES {
            let (y, alpha): (Vec<f64>, Vec<f64>) =
                targets.iter().zip(&shares).map(|(&y, &share)| feasible(loss, y, share)).unzip();
            let [mut values, mut errors] = [(); 2].map(|()| vec![0.0; 37]);
            loss.values_near(&a, &[off; 37], &y, [&mut values, &mut errors]);
            for i in 0..37 {
                let near = loss.value(a[i] + shift * off, y[i]);
                prop_assert!((values[i] - near.value).abs() <= errors[i] + near.error, "{loss:?} at {}", a[i]);
                let steep = loss.steepness(a[i].abs() + off, y[i]);
                prop_assert!(errors[i] <= steep * off * 1.001 + 1e-14 * (1.0 + values[i]), "{loss:?} at {}", a[i]);
            }
            loss.conjugates(&alpha, &y, [&mut values, &mut errors]);
            for i in 0..37 {
                let one = loss.conjugate(alpha[i], y[i]);
                prop_assert!((values[i] - one.value).abs() <= errors[i] + one.error, "{loss:?} at {}", alpha[i]);
                prop_assert!(errors[i] <= 1e-14 * (1.0 + alpha[i].powi(2)), "{loss:?} at {}", alpha[i]);
                prop_assert!(one.error > 0.0 || errors[i] == 0.0, "zero is exact");
            }
            let mut found = vec![0.0; 37];
            loss.nearest_feasible(&a, &y, &mut found);
            for i in 0..37 {
                let (low, high) = loss.domain(y[i]);
                prop_assert_eq!(found[i], a[i].max(low).min(high));
            }
        }
    }

    #[test]
    fn conjugates_are_those_of_the_values(target in -2.0..2.0_f64, share in 0.0..=1.0_f64) {
        for loss in LOSSES {
            let (y, alpha) = feasible(loss, target, share);
            // The maximiser is far out only at the ends of the domain, where the maximum is a limit.
            let brute = top(|a| -alpha * a - loss.value(a, y).value, (-60.0, 60.0));
            let conjugate = loss.conjugate(alpha, y).value;
            prop_assert!((conjugate - brute).abs() < 1e-7, "{loss:?} {alpha} {y}: {conjugate} {brute}");
        }
    }

    #[test]
    fn fenchel_and_young_agree_and_are_equal_at_the_corner(
        target in -2.0..2.0_f64,
        share in 0.0..=1.0_f64,
        a in -4.0..4.0_f64,
    ) {
        for loss in LOSSES {
            let (y, alpha) = feasible(loss, target, share);
            let gap = |alpha: f64| {
                loss.value(a, y).value + loss.conjugate(alpha, y).value + alpha * a
            };
            prop_assert!(gap(alpha) >= -1e-12, "{loss:?}");
            let u = loss.corner(a, y);
            let (low, high) = loss.domain(y);
            prop_assert!(low <= u && u <= high, "{loss:?} {u}");
            prop_assert!(gap(u).abs() < 1e-12, "{loss:?} {}", gap(u));
        }
    }

    #[test]
    fn corners_are_slopes_and_slopes_are_as_steep_as_stated(target in -2.0..2.0_f64, a in -4.0..4.0_f64) {
        for loss in LOSSES {
            let (y, _) = feasible(loss, target, 0.0);
            let h = 1e-6;
            let (left, right) = (loss.value(a - h, y).value, loss.value(a + h, y).value);
            let (before, after) = (loss.corner(a - h, y), loss.corner(a + h, y));
            let slope = -(right - left) / (2.0 * h);
            // The corner decreases in a; the difference quotient lies between its values at both ends.
            prop_assert!(after - 1e-6 <= slope && slope <= before + 1e-6, "{loss:?} at {a}");
            prop_assert!(slope.abs() <= loss.steepness(a.abs(), y) + 1e-6, "{loss:?} at {a}");
            if loss.smoothness() > 0.0 {
                prop_assert!(before - after <= 2.0 * h / loss.smoothness() + 1e-9, "{loss:?}");
            }
        }
    }

    #[test]
    fn the_maximizer_is_the_best_of_all(
        target in -2.0..2.0_f64,
        share in 0.0..=1.0_f64,
        a in -4.0..4.0_f64,
        q in prop_oneof![Just(0.0), 1e-3..1e3_f64],
    ) {
        for loss in LOSSES {
            let (y, alpha) = feasible(loss, target, share);
            let (low, high) = loss.domain(y);
            let dual = |beta: f64| {
                -loss.conjugate(beta, y).value - a * beta - 0.5 * q * (beta - alpha).powi(2)
            };
            let best = loss.maximizer(a, y, alpha, q);
            prop_assert!(low <= best && best <= high, "{loss:?}: {best}");
            let brute = top(dual, (low.max(-20.0), high.min(20.0)));
            prop_assert!(dual(best) >= brute - 1e-9 * (1.0 + brute.abs()), "{loss:?} {best} {} {brute}", dual(best));
        }
    }

    #[test]
    fn extreme_predictions_are_no_trouble(a in prop_oneof![Just(1e300), Just(-1e300), Just(800.0), Just(-800.0)]) {
        for loss in LOSSES.into_iter().filter(|loss| loss.steepness(1e300, 1.0) < 10.0) {
            for y in [-1.0, 1.0] {
                let u = loss.corner(a, y);
                prop_assert!(loss.value(a, y).value.is_finite() && u.is_finite(), "{loss:?}");
                prop_assert!(loss.conjugate(u, y).value.is_finite());
                prop_assert!(!loss.maximizer(a, y, 0.0, 0.5).is_nan(), "{loss:?}");
            }
        }
    }
}
