//! Sets that are ready to use.
//!
//! - `simplex`: nonnegative numbers with a given sum.
//! - `l1_ball`: numbers whose absolute values have at most a given sum.
//! - `cuboid`: numbers between bounds.

mod cuboid;
mod l1_ball;
mod simplex;

pub use cuboid::Cuboid;
pub use l1_ball::L1Ball;
pub use simplex::Simplex;

use crate::{Error, Result};

/// Returns an error unless the size of a set is a positive number.
fn check_size(what: &str, size: f64) -> Result<()> {
    if size > 0.0 && size.is_finite() {
        Ok(())
    } else {
        Err(Error::setting(format!("the {what} must be a positive number, not {size}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::product::{Minimum, Query, Set};
    use proptest::prelude::*;

    fn sets() -> [Box<dyn Set>; 3] {
        let (lower, upper) = (vec![-1.0, 0.0, 2.0, -3.0], vec![1.0, 0.5, 2.0, -1.0]);
        [
            Box::new(Simplex::new(4, 2.5).unwrap()),
            Box::new(L1Ball::new(4, 1.5).unwrap()),
            Box::new(Cuboid::new(lower, upper).unwrap()),
        ]
    }

    /// Points of a set: what its oracle answers to these gradients, and their mixtures.
    fn points(set: &dyn Set, gradients: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut points = vec![vec![0.0; 4]];
        set.start(&mut points[0]);
        for gradient in gradients {
            let query = Query { gradient, at: &points[0], tolerance: 0.0 };
            let mut corner = vec![f64::NAN; 4];
            assert_eq!(set.minimise(&query, &mut corner).unwrap(), Minimum::Exact);
            let last = &points[points.len() - 1];
            let mixture = last.iter().zip(&corner).map(|(a, b)| a + 0.3 * (b - a)).collect();
            points.extend([mixture, corner]);
        }
        points
    }

    fn inner(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    proptest! {
        // Nothing that the oracle ever returns, nor a mixture of such points, is better than its answer.
        #[test]
        fn no_point_is_better_than_the_oracle_s(
            gradients in prop::collection::vec(prop::collection::vec(-1.0..1.0_f64, 4), 8)
        ) {
            for set in sets() {
                let points = points(&set, &gradients);
                for gradient in &gradients {
                    let mut best = vec![0.0; 4];
                    set.minimise(&Query { gradient, at: &points[0], tolerance: 0.0 }, &mut best).unwrap();
                    for point in &points {
                        prop_assert!(inner(&best, gradient) <= inner(point, gradient) + 1e-14);
                    }
                }
            }
        }

        // The projection is inside, and by the obtuse angle at it no point of the set is nearer.
        #[test]
        fn no_point_is_nearer_than_the_projection(
            gradients in prop::collection::vec(prop::collection::vec(-1.0..1.0_f64, 4), 8),
            outside in prop::collection::vec(-4.0..4.0_f64, 4),
        ) {
            for set in sets() {
                let mut nearest = outside.clone();
                set.project(&mut nearest).unwrap();
                prop_assert!(set.defect(&nearest) <= 1e-14, "{nearest:?}");
                for point in points(&set, &gradients) {
                    let distance = |from: &[f64]| from.iter().zip(&outside).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
                    prop_assert!(distance(&nearest) <= distance(&point) + 1e-12);
                }
            }
        }

        #[test]
        fn points_are_inside_and_within_the_radius(
            gradients in prop::collection::vec(prop::collection::vec(-1.0..1.0_f64, 4), 8),
            outside in prop::collection::vec(-4.0..4.0_f64, 4),
        ) {
            for set in sets() {
                for point in points(&set, &gradients) {
                    prop_assert!(set.defect(&point) <= 1e-14, "{point:?}");
                    prop_assert!(point.iter().map(|x| x.abs()).sum::<f64>() <= set.radius() + 1e-14);
                    // The defect of any other point is at most its distance from this one.
                    let distance: f64 = point.iter().zip(&outside).map(|(a, b)| (a - b).abs()).sum();
                    prop_assert!(set.defect(&outside) <= 2.0 * distance + 1e-14);
                }
            }
        }
    }

    #[test]
    fn what_is_outside_has_a_defect() {
        for set in sets() {
            for far in [[9.0; 4], [-9.0; 4], [f64::NAN; 4]] {
                // Also true where it is NaN.
                assert!(!matches!(
                    set.defect(&far).partial_cmp(&1.0),
                    Some(std::cmp::Ordering::Less)
                ));
            }
        }
    }

    #[test]
    fn sets_without_a_size_are_refused() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Simplex::new(3, bad).is_err() && L1Ball::new(3, bad).is_err());
        }
        assert!(Simplex::new(0, 1.0).is_err() && L1Ball::new(0, 1.0).is_err());
        assert!(Cuboid::new(vec![0.0], vec![-1.0]).is_err());
        assert!(Cuboid::new(vec![0.0], vec![f64::INFINITY]).is_err());
        assert!(Cuboid::new(vec![0.0], vec![1.0, 1.0]).is_err());
        assert!(Cuboid::new(Vec::new(), Vec::new()).is_err());
    }
}
