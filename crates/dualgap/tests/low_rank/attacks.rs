//! A certificate that can be talked into anything is none.

use crate::low_rank::Case;
use dualgap::ball::trace::Proving;
use dualgap::ball::{self, BallSettings};
use dualgap::linalg::LowRank;
use dualgap::run::{Budget, Certificate};
use dualgap::term::ScalarLoss;
use proptest::prelude::*;

#[test]
fn weights_outside_the_ball_have_no_value() {
    let case = Case::random(1, 8, 3, 2);
    let rows = case.matrix();
    let problem = case.problem(&rows, ScalarLoss::Squared);
    let rank_one =
        |s: f64| LowRank::new(3, 2, vec![1.0, 0.0, 0.0], vec![s], vec![0.0, 1.0]).unwrap();
    assert!(problem.primal(&rank_one(0.99)).unwrap().value.is_finite());
    for outside in [1.0 + 1e-12, 1.1, 1e300] {
        assert_eq!(problem.primal(&rank_one(outside)).unwrap().value, f64::INFINITY);
    }
    // Singular values that are small, of factors that are not orthonormal.
    let long = LowRank::new(3, 2, vec![1.0, 1.0, 1.0], vec![0.9], vec![1.0, 1.0]).unwrap();
    assert_eq!(problem.primal(&long).unwrap().value, f64::INFINITY);
    assert!(problem.primal(&LowRank::zero(2, 3)).is_err(), "another shape");
}

#[test]
fn dual_points_outside_their_domain_are_refused() {
    let case = Case::random(2, 8, 3, 2);
    let rows = case.matrix();
    let problem = case.problem(&rows, ScalarLoss::Logistic);
    let mut alpha = vec![0.0; 16];
    assert!(problem.dual(&alpha, &Proving::default()).is_ok());
    for bad in [2.0, -2.0, f64::NAN, f64::INFINITY] {
        alpha[5] = bad;
        assert!(problem.dual(&alpha, &Proving::default()).is_err(), "{bad}");
    }
    assert!(problem.dual(&alpha[..15], &Proving::default()).is_err(), "one is missing");
}

proptest! {
    // Weak duality for any X in the ball and any α of its domain, however crudely the dual is proven.
    #[test]
    fn no_dual_value_is_above_a_primal_one(seed in 0_u64..500, mu in prop_oneof![Just(0.0), 0.001..1.0_f64], radius in 0.1..5.0_f64, tight: bool, tolerance in prop_oneof![Just(1e-12), Just(1e-2)]) {
        let case = Case { mu, radius, ..Case::random(seed, 9, 6, 4) };
        let rows = case.matrix();
        let problem = case.problem(&rows, ScalarLoss::Squared);
        let budget = Budget { passes: Some(200), ..Budget::relative(1e-10) };
        let report = ball::train(&problem, &BallSettings::default(), &budget, &mut ()).unwrap();
            let proving = Proving { tight, tolerance, rank: 1, warm: None };
        for scale in [0.0, 0.5, 0.99, 1.0, 1.01, -1.0] {
            let alpha: Vec<f64> = report.model.points.iter().map(|a| a * scale).collect();
            let dual = problem.dual(&alpha, &proving).unwrap().value;
            let x = report.model.weights.clone().scaled(scale.clamp(0.0, 1.0));
            let primal = problem.primal(&x).unwrap();
            prop_assert!(Certificate::new(primal, dual, true).is_ok(), "{primal:?} {dual:?}");
        }
    }
}
