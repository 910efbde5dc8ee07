//! Features in whatever units they came, and problems that are badly conditioned: runs that must neither die, nor stop
//! before their time, nor crawl.

use crate::linear::accelerated::ill_conditioned;
use crate::linear::case::Case;
use dualgap::dual::{Acceleration, Settings};
use dualgap::linalg::Rows;
use dualgap::run::{Budget, Stop};
use dualgap::structure::{self, Choice, LinearBlocks, train_pure_l1};
use dualgap::term::{Free, Regulariser, ScalarLoss};

fn relative(tolerance: f64) -> Budget {
    Budget { passes: Some(20_000), ..Budget::relative(tolerance) }
}

#[test]
fn pure_l1_allows_for_the_rounding_of_large_features() {
    let rows = Rows::dense(&[vec![1000.0], vec![1100.0], vec![-900.0], vec![800.0]]).unwrap();
    for loss in [ScalarLoss::Squared, ScalarLoss::Absolute] {
        let blocks = LinearBlocks::new(&rows, vec![1.0, 0.5, -1.0, 1.0], loss, Choice::I).unwrap();
        for l1 in [0.1, 0.01, 1e-3, 1e-4] {
            let regulariser = Regulariser { l1, ..Regulariser::PLAIN };
            let settings = Settings { regulariser, ..Settings::default() };
            let report = train_pure_l1(&blocks, &settings, &relative(1e-6), &mut ()).unwrap();
            assert_eq!(report.stop, Stop::GapReached, "{loss:?} {l1}");
        }
    }
}

// The optimum at the bound, by hand: with b fixed, w = (mean of x(y − b)) / (mean of x² + λ).
#[test]
fn a_free_weight_that_wants_beyond_its_bound_stays_within() {
    let (x, y) = ([1.0, -1.0, 0.5], [3.0, 3.5, 2.0]);
    let rows: Vec<Vec<f64>> = x.iter().map(|&x| vec![x, 1.0]).collect();
    let rows = Rows::dense(&rows).unwrap();
    let blocks = LinearBlocks::new(&rows, y.to_vec(), ScalarLoss::Squared, Choice::I).unwrap();
    for bound in [0.0, 1.0, 2.0] {
        let free = Some(Free { column: 1, bound });
        let regulariser = Regulariser { free, ..Regulariser::PLAIN };
        let settings = Settings { lambda: 0.1, regulariser, ..Settings::default() };
        let report =
            structure::train_linear(&blocks, &settings, &Budget::passes(2000), &mut ()).unwrap();
        let mean = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
            x.iter().zip(y).map(|(&x, y)| f(x, y)).sum::<f64>() / 3.0
        };
        let w = mean(&|x, y| x * (y - bound)) / (mean(&|x, _| x * x) + 0.1);
        let optimum = mean(&|x, y| 0.5 * (w * x + bound - y).powi(2)) + 0.05 * w * w;
        let c = report.certificate;
        assert!(report.model.weights[1].abs() <= bound);
        assert!(c.primal + c.rounding_error >= optimum && optimum >= c.dual - c.rounding_error);
    }
}

#[test]
fn a_run_whose_momentum_takes_its_time_is_no_standstill() {
    for acceleration in [Acceleration::Auto, Acceleration::On] {
        for (loss, lambda) in [
            (ScalarLoss::SmoothHinge { width: 1.0 }, 1e-6),
            (ScalarLoss::SquaredHinge, 1e-8),
            (ScalarLoss::Squared, 1e-6),
        ] {
            let case = ill_conditioned(0, loss, lambda);
            let settings = Settings { acceleration, ..case.settings() };
            let report = case.train(Choice::I, &settings, &relative(1e-3));
            assert_eq!(report.stop, Stop::GapReached, "{acceleration:?} {loss:?}");
        }
    }
}

#[test]
fn acceleration_that_does_not_pay_is_given_up() {
    let mut case = Case { lambda: 1.0, ..Case::random(3, ScalarLoss::SquaredHinge, 20, 3) };
    case.rows.iter_mut().for_each(|row| row[0] *= 100.0);
    let case = case.with_intercept();
    let passes = |acceleration| {
        let settings = Settings { acceleration, ..case.settings() };
        let report = case.train(Choice::I, &settings, &relative(1e-6));
        assert_eq!(report.stop, Stop::GapReached, "{acceleration:?}");
        report.passes
    };
    assert!(passes(Acceleration::Auto) < 3.0 * passes(Acceleration::Off));
}

#[test]
fn an_intercept_may_be_far_away() {
    for (loss, lambda, far) in [
        (ScalarLoss::Absolute, 0.1, 1e6),
        (ScalarLoss::Absolute, 10.0, 1e6),
        (ScalarLoss::Huber { width: 0.4 }, 0.1, 1e6),
        (ScalarLoss::Squared, 10.0, 1e4), // squares of 1e6 leave too few digits for a tolerance of 1e-3
    ] {
        let mut case = Case { lambda, ..Case::random(1, loss, 20, 3) };
        case.targets.iter_mut().for_each(|y| *y += far);
        let case = case.with_intercept();
        let report = case.train(Choice::I, &case.settings(), &relative(1e-3));
        assert_eq!(report.stop, Stop::GapReached, "{loss:?} {lambda}");
        let intercept = report.model.weights.last().unwrap();
        assert!((intercept - far).abs() < 10.0, "{loss:?} {lambda} {intercept}");
    }
}
