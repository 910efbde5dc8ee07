//! What a constant would gain: the best number to add to all predictions of a model, and the best one without a model.
//!
//! ```text
//! beside the model   min_b Σ mass_i φ(a_i + b, y_i)        alone   min_b Σ mass_i φ(b, y_i)
//! ```
//!
//! With a free intercept both are feasible, the second with weights of zero: they bound its optimum from above.

use super::Loss;

/// A share of the minimum to which it is found.
const ACCURACY: f64 = 1e-6;

/// A bound on the evaluations: tangents need a dozen, bisection as many as a number has bits.
const MOST_STEPS: usize = 100;

/// A constant, and the mean loss with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant {
    /// b.
    pub value: f64,
    /// The mean loss.
    pub loss: f64,
}

/// The mean loss of a model, with and without a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// The mean loss of the model itself.
    pub without: f64,
    /// The best constant to add to the predictions.
    pub beside: Constant,
    /// The best constant in the place of the predictions.
    pub alone: Constant,
}

/// Returns the best constants for predictions and targets, or `None` if a loss is no finite number. Examples count as
/// `weights` say, or all the same.
pub fn best_constants<L: Loss>(
    loss: &L,
    predictions: &[f64],
    targets: &[f64],
    weights: Option<&[f64]>,
) -> Option<Constants> {
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let total: f64 = (0..targets.len()).map(weight).sum();
    let mean = |share: f64, b: f64| {
        let (mut value, mut slope) = (0.0, 0.0);
        for (i, (&a, &y)) in predictions.iter().zip(targets).enumerate() {
            let a = share * a + b;
            value += weight(i) * loss.value(a, y).value;
            slope -= weight(i) * loss.corner(a, y);
        }
        (value / total, slope / total)
    };
    let (without, _) = mean(1.0, 0.0);
    let beside = lowest(|b| mean(1.0, b))?;
    let alone = lowest(|b| mean(0.0, b))?;
    Some(Constants { without, beside, alone })
}

/// A point of a convex function with its tangent.
#[derive(Clone, Copy)]
struct Tangent {
    at: f64,
    value: f64,
    slope: f64,
}

/// Returns the lowest point of a nonnegative convex function, from its values and subgradients, to [`ACCURACY`] of its
/// value. Between points on either side of the minimum the tangents meet below it, which is where to look next and how
/// much is left to gain.
fn lowest(f: impl Fn(f64) -> (f64, f64)) -> Option<Constant> {
    let look = |at: f64| {
        let (value, slope) = f(at);
        (value.is_finite() && slope.is_finite()).then_some(Tangent { at, value, slope })
    };
    let start = look(0.0)?;
    let mut best = start;
    // The tangent reaches zero there, so the distance has the unit of the targets.
    let mut step = -start.value / start.slope;
    let mut near = start;
    let mut ends = None;
    for _ in 0..MOST_STEPS {
        if near.slope == 0.0 || !step.is_finite() || step == 0.0 {
            break;
        }
        let Some(next) = look(near.at + step) else { break };
        best = if next.value < best.value { next } else { best };
        if next.slope * start.slope <= 0.0 {
            ends = Some((near, next));
            break;
        }
        // A loss that tends to a limit falls for ever, and less and less.
        if next.slope.abs() * step.abs() <= ACCURACY * next.value
            || next.value < ACCURACY * start.value
        {
            break;
        }
        near = next;
        step *= 2.0;
    }
    if let Some((mut from, mut to)) = ends {
        for k in 0..MOST_STEPS {
            let rise = to.slope - from.slope;
            let meet = (from.value - to.value + to.slope * to.at - from.slope * from.at) / rise;
            let floor = from.value + from.slope * (meet - from.at);
            if !meet.is_finite() || best.value - floor <= ACCURACY * best.value {
                break;
            }
            // Every third step halves the interval, so that it shrinks whatever the function is.
            let middle = from.at + (to.at - from.at) / 2.0;
            let at = if k % 3 == 2 { middle } else { meet };
            if at == from.at || at == to.at {
                break;
            }
            let Some(next) = look(at) else { break };
            best = if next.value < best.value { next } else { best };
            if next.slope == 0.0 {
                break;
            }
            if next.slope * start.slope > 0.0 {
                from = next;
            } else {
                to = next;
            }
        }
    }
    Some(Constant { value: best.at, loss: best.value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::ScalarLoss;
    use proptest::prelude::*;

    fn mean(loss: ScalarLoss, a: &[f64], y: &[f64], c: &[f64], b: f64) -> f64 {
        let total: f64 = c.iter().sum();
        let one = |i: usize| c[i] * loss.value(a[i] + b, y[i]).value;
        (0..a.len()).map(one).sum::<f64>() / total
    }

    proptest! {
        #[test]
        fn no_constant_of_a_fine_grid_is_better(
            a in prop::collection::vec(-3.0..3.0_f64, 1..20),
            seed in 0_u64..1000,
            which in 0_usize..8,
        ) {
            use ScalarLoss::{Absolute, EpsilonInsensitive, Hinge, Huber, Logistic, SmoothHinge, Squared, SquaredHinge};
            let loss = [Hinge, SmoothHinge { width: 0.5 }, SquaredHinge, Logistic, Squared, Absolute,
                EpsilonInsensitive { epsilon: 0.2 }, Huber { width: 0.7 }][which];
            let mut random = crate::linalg::Random::new(seed);
            let y: Vec<f64> = a.iter().map(|_| {
                let u = random.unit();
                if loss.is_binary() { if u < 0.2 { -1.0 } else { 1.0 } } else { 10.0 * u - 3.0 }
            }).collect();
            let c: Vec<f64> = a.iter().map(|_| random.unit() + 0.01).collect();
            let found = best_constants(&loss, &a, &y, Some(&c)).unwrap();
            let zeros = vec![0.0; a.len()];
            for (from, found) in [(&a, found.beside), (&zeros, found.alone)] {
                prop_assert!((mean(loss, from, &y, &c, found.value) - found.loss).abs() <= 1e-12 * (1.0 + found.loss));
                let zero = mean(loss, from, &y, &c, 0.0);
                for k in -2000..=2000 {
                    let grid = mean(loss, from, &y, &c, f64::from(k) * 0.01);
                    prop_assert!(found.loss <= grid + 2e-6 * (zero + grid), "{loss:?} {found:?} {grid}");
                }
            }
        }
    }

    #[test]
    fn one_class_alone_has_a_loss_that_only_tends_to_zero() {
        let found = best_constants(&ScalarLoss::Logistic, &[0.5, 0.1], &[1.0, 1.0], None).unwrap();
        assert!(found.beside.loss < 1e-5 && found.beside.value > 5.0, "{found:?}");
    }

    #[test]
    fn targets_of_any_size_have_their_mean() {
        for scale in [1e-100, 1e-9, 1.0, 1e9, 1e100] {
            let y = [3.0 * scale, 5.0 * scale, 4.0 * scale];
            let found = best_constants(&ScalarLoss::Squared, &[0.0; 3], &y, None).unwrap();
            let excess = (found.alone.value - 4.0 * scale).abs();
            assert!(excess <= 1e-2 * scale, "{scale}: {found:?}");
        }
        assert!(best_constants(&ScalarLoss::Squared, &[0.0], &[1e200], None).is_none());
    }

    #[test]
    fn predictions_that_are_right_stay() {
        let found = best_constants(&ScalarLoss::Hinge, &[2.0, -2.0], &[1.0, -1.0], None).unwrap();
        assert_eq!((found.without, found.beside), (0.0, Constant { value: 0.0, loss: 0.0 }));
    }

    #[test]
    fn the_best_constant_of_squares_is_the_mean() {
        use crate::term::ScalarLoss;
        let found =
            best_constants(&ScalarLoss::Squared, &[1.0, 2.0, 3.0], &[5.0, 6.0, 7.0], None).unwrap();
        assert!((found.beside.value - 4.0).abs() < 1e-2 && found.beside.loss < 1e-5);
        assert!((found.without - 8.0).abs() < 1e-12);
    }
}
