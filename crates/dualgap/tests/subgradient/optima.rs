//! All solvers come to the same optimum, within what they have certified.

use crate::common::{Kind, Small, with_blocks, with_oracle};
use crate::subgradient::{grids, settings};
use dualgap::dual::{self, Blocks};
use dualgap::linalg::{Random, Rows};
use dualgap::methods::subgradient::{SubgradientAverage, SubgradientMethod, train};
use dualgap::run::{Budget, Stop};
use dualgap::structure::{Choice, LinearBlocks, LinkLoss, MatchingBlocks, OracleBlocks};
use dualgap::term::{L2, Regulariser, ScalarLoss};

/// A rate of 1/k reaches this in some hundred passes over a handful of examples at the λ below.
const TOLERANCE: f64 = 1e-3;

/// Runs both subgradient methods, and compares them with a tight run of the engine.
fn agree<B: Blocks>(name: &str, blocks: &B, lambda: f64, weights: Option<&[f64]>) {
    let tight = dual::Settings {
        lambda,
        sample_weights: weights.map(<[f64]>::to_vec),
        threads: 1,
        ..dual::Settings::default()
    };
    let tight = dual::train(blocks, &tight, &Budget::relative(1e-9), &mut ()).unwrap();
    let optimum = tight.certificate;
    let ways = [
        settings(SubgradientMethod::Stochastic, SubgradientAverage::Weighted),
        settings(SubgradientMethod::Stochastic, SubgradientAverage::Doubling),
        settings(SubgradientMethod::Batch, SubgradientAverage::Suffix { fraction: 0.5 }),
    ];
    for settings in ways {
        let budget = Budget { passes: Some(5000), ..Budget::relative(TOLERANCE) };
        let plain = Regulariser::PLAIN;
        let report = train(blocks, lambda, plain, weights, &settings, &budget, &mut ()).unwrap();
        let c = report.certificate;
        assert_eq!(report.stop, Stop::GapReached, "{name} {settings:?} {c:?}");
        assert!(c.dual - c.rounding_error <= optimum.primal + optimum.rounding_error, "{name}");
        assert!(c.primal + c.rounding_error >= optimum.dual - optimum.rounding_error, "{name}");
        // The certificate is that of the weights and the points that are returned.
        let problem = dual::Problem::new(blocks, L2, lambda, weights).unwrap();
        let primal = problem.primal(&report.model.weights).unwrap().value.value;
        let dual = problem.dual(&report.model.points).unwrap().value.value;
        assert_eq!((primal, dual), (c.primal, c.dual), "{name}");
    }
}

#[test]
fn classes_and_chains_agree_with_the_engine() {
    for (kind, seed) in Kind::all(3).into_iter().zip(1..) {
        let small = Small::random(seed, kind, 12, 3, 3);
        let counts = (0..12).map(|i| 0.5 + f64::from(i % 4)).collect();
        let small = Small { weights: (seed % 2 == 0).then_some(counts), lambda: 0.4, ..small };
        let weights = small.weights.as_deref();
        with_blocks!(small, |blocks| agree("blocks", &blocks, small.lambda, weights));
    }
}

#[test]
fn an_oracle_agrees_with_the_engine() {
    let small = Small::random(5, Kind::all(3)[1].clone(), 8, 3, 3);
    with_oracle!(small, |oracle, examples| {
        let blocks = OracleBlocks::new(&oracle, &examples).unwrap();
        agree("oracle", &blocks, 0.5, None);
    });
}

#[test]
fn matchings_agree_with_the_engine() {
    let data = grids(10);
    let blocks = MatchingBlocks::new(&data, LinkLoss::default()).unwrap();
    agree("matchings", &blocks, 0.1, None);
}

#[test]
fn losses_of_a_prediction_agree_with_the_engine() {
    let mut random = Random::new(2);
    let x: Vec<Vec<f64>> = (0..12).map(|_| (0..3).map(|_| random.unit() - 0.5).collect()).collect();
    let y = x.iter().map(|x| if x[0] + 0.5 * (random.unit() - 0.5) > 0.0 { 1.0 } else { -1.0 });
    let (rows, y) = (Rows::dense(&x).unwrap(), y.collect::<Vec<f64>>());
    for loss in [ScalarLoss::Hinge, ScalarLoss::Logistic, ScalarLoss::Squared] {
        let blocks = LinearBlocks::new(&rows, y.clone(), loss, Choice::I).unwrap();
        agree("linear", &blocks, 0.05, None);
    }
}
