//! A weight without penalty, for the constant column of every row: other solvers find the same optimum, the dual point
//! is balanced, and both sides are what numbers of 32 digits say.

use crate::common::cases;
use crate::linear::case::{Case, LOSSES, REGULARISERS, is_binary};
use crate::linear::rounding::{dual, primal};
use crate::linear::solvers::quadratic_program;
use dualgap::dual::{Acceleration, Algorithm, Average, Sampling, Settings, Step};
use dualgap::run::{Budget, Report, Solution, Stop};
use dualgap::structure::{Choice, LinearBlocks, train_pure_l1};
use dualgap::term::{Free, Regulariser, ScalarLoss};
use dualgap::{Error, Result};
use proptest::prelude::*;

/// Targets off the origin, or more of one class than of the other: an intercept has something to do.
fn case(seed: u64, loss: ScalarLoss, regulariser: Regulariser) -> Case {
    let weights = (seed % 2 == 1).then(|| (0..20).map(|i| f64::from(i % 4)).collect());
    let mut case = Case { regulariser, weights, ..Case::random(seed, loss, 20, 4) };
    for (i, y) in case.targets.iter_mut().enumerate() {
        *y = if is_binary(loss) { 1_f64.copysign(*y + 0.6 * f64::from(i > 1)) } else { *y - 3.0 };
    }
    case.with_intercept()
}

fn pure_l1(case: &Case, budget: &Budget) -> Result<Report<Solution<f64>>> {
    let rows = case.sparse_or_dense(case.len() % 2 == 1);
    let blocks = LinearBlocks::new(&rows, case.targets.clone(), case.loss, Choice::I).unwrap();
    train_pure_l1(&blocks, &case.settings(), budget, &mut ())
}

/// Whether the dual point has no part in the free column: Σ mass α x = 0.
fn assert_balanced(case: &Case, report: &Report<Solution<f64>>) {
    let Free { column, .. } = case.regulariser.free.unwrap();
    let parts = || {
        let each = case.masses().into_iter().zip(&case.rows).zip(&report.model.points);
        each.map(|((mass, x), alpha)| mass * alpha * x[column])
    };
    let (sum, size) = (parts().sum::<f64>(), parts().map(f64::abs).sum::<f64>());
    assert!(sum.abs() <= 1e-14 * size, "{sum:e} of {size}: {case:?}");
}

/// Whether the certificate is true to 32 digits, narrow, and contains what clarabel finds.
fn assert_solved(case: &Case, report: &Report<Solution<f64>>, tolerance: f64) {
    let (c, what) = (report.certificate, format!("{:?} {case:?}", report.certificate));
    assert!(c.gap() <= tolerance, "{:?} {what}", report.stop);
    assert_true(case, report);
    assert_balanced(case, report);
    if let Some(w) = quadratic_program(case, &[]) {
        let other = case.primal(&w);
        assert!(c.dual - c.rounding_error <= other + 1e-9, "{other} {what}");
        assert!(other <= c.primal + 1e-6, "{other} {what}");
    }
}

fn assert_true(case: &Case, report: &Report<Solution<f64>>) {
    let c = report.certificate;
    let above = (primal(case, &report.model.weights) - c.primal.into()).abs().float();
    let below = (dual(case, &report.model.points) - c.dual.into()).abs().float();
    assert!(above + below <= c.rounding_error, "{above:e} {below:e} {c:?} {case:?}");
}

#[test]
fn quadratic_programs_have_the_same_optimum_and_the_dual_point_is_balanced() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for (j, regulariser) in REGULARISERS.into_iter().enumerate() {
            for acceleration in [Acceleration::Off, Acceleration::Auto, Acceleration::On] {
                let case = case((10 * k + j) as u64, loss, regulariser);
                let settings = Settings { acceleration, ..case.settings() };
                let budget = Budget { passes: Some(10_000), ..Budget::relative(1e-8) };
                assert_solved(&case, &case.train(Choice::I, &settings, &budget), 1e-7);
            }
        }
    }
}

// Pure l1: weight by weight for smooth losses, and around a centre that moves for the others.
#[test]
fn pure_l1_problems_have_the_same_optimum_and_the_dual_point_is_balanced() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for nonnegative in [false, true] {
            let regulariser = Regulariser { l1: 0.05, nonnegative, ..Regulariser::PLAIN };
            let case = Case { lambda: 0.0, ..case(200 + k as u64, loss, regulariser) };
            let budget = Budget { passes: Some(5000), ..Budget::relative(1e-7) };
            assert_solved(&case, &pure_l1(&case, &budget).unwrap(), 1e-6);
        }
    }
}

#[test]
fn the_intercept_may_be_negative_where_other_weights_may_not() {
    for loss in [ScalarLoss::Squared, ScalarLoss::Absolute, ScalarLoss::Huber { width: 0.4 }] {
        let case = case(3, loss, REGULARISERS[2]);
        let w = case.solve().model.weights;
        assert!(w[4] < -2.0 && w[..4].iter().all(|&w| w >= 0.0), "{w:?}");
    }
}

// Without a penalty on it the intercept takes up the means, and what is left is a problem of centred data.
#[test]
fn least_squares_with_an_intercept_are_those_of_centred_data() {
    for seed in 0..6 {
        let case = case(seed, ScalarLoss::Squared, Regulariser::PLAIN);
        let masses = case.masses();
        let mean = |of: &dyn Fn(usize) -> f64| -> f64 {
            masses.iter().enumerate().map(|(i, mass)| mass * of(i)).sum()
        };
        let means: Vec<f64> = (0..4).map(|j| mean(&|i| case.rows[i][j])).collect();
        let level = mean(&|i| case.targets[i]);
        let mut centred = case.clone();
        centred.regulariser.free = None;
        for (row, y) in centred.rows.iter_mut().zip(&mut centred.targets) {
            row.pop();
            row.iter_mut().zip(&means).for_each(|(x, mean)| *x -= mean);
            *y -= level;
        }
        let (with, without) = (case.solve(), centred.solve());
        let (a, b) = (with.certificate, without.certificate);
        let error = a.rounding_error + b.rounding_error;
        assert!(a.dual <= b.primal + error && b.dual <= a.primal + error, "{a:?} {b:?}");
        let w = &without.model.weights;
        let intercept = level - means.iter().zip(w).map(|(mean, w)| mean * w).sum::<f64>();
        assert!(crate::common::distance(&with.model.weights[..4], w) < 1e-4);
        assert!((with.model.weights[4] - intercept).abs() < 1e-4);
    }
}

// All that there is to say is the intercept, and no dual variable but zero is balanced.
#[test]
fn a_single_class_costs_nothing() {
    for loss in LOSSES.into_iter().filter(|&loss| is_binary(loss)) {
        for y in [-1.0, 1.0] {
            let mut case = case(7, loss, REGULARISERS[1]);
            case.targets.fill(y);
            let report = case.train(Choice::I, &case.settings(), &Budget::passes(300));
            assert_true(&case, &report);
            let c = report.certificate;
            assert!(c.dual.abs() <= c.rounding_error && c.primal < 1e-2, "{loss:?} {c:?}");
            assert!(y * report.model.weights[4] >= 0.99, "{loss:?} {:?}", report.model.weights);
        }
    }
}

#[test]
fn targets_of_a_million_are_no_harm_to_least_squares() {
    for seed in 0..4 {
        let mut case = case(seed, ScalarLoss::Squared, REGULARISERS[seed as usize]);
        case.targets.iter_mut().for_each(|y| *y *= 1e6);
        case.regulariser.free = Some(Free::intercept(4, &case.targets));
        let budget = Budget { passes: Some(2000), ..Budget::relative(1e-7) };
        let report = case.train(Choice::I, &case.settings(), &budget);
        assert_eq!(report.stop, Stop::GapReached, "{:?}", report.certificate);
        assert_true(&case, &report);
        assert_balanced(&case, &report);
    }
}

#[test]
fn what_a_free_weight_does_not_go_with_is_refused() {
    let case = case(1, ScalarLoss::Logistic, Regulariser::PLAIN);
    let refused = |case: &Case, settings: Settings| {
        matches!(
            case.try_train(Choice::I, &settings, &Budget::passes(1)),
            Err(Error::Setting { .. })
        )
    };
    assert!(!refused(&case, case.settings()));
    for average in [Average::Weighted, Average::Suffix, Average::Random] {
        assert!(refused(&case, Settings { average, ..case.settings() }), "{average:?}");
    }
    assert!(refused(&case, Settings { method: Algorithm::Fw, ..case.settings() }));
    assert!(refused(&case, Settings { step: Step::Predefined, ..case.settings() }));
    for (column, bound) in [(5, 1.0), (4, -1.0), (4, f64::NAN), (4, f64::INFINITY)] {
        let regulariser = Regulariser { free: Some(Free { column, bound }), ..case.regulariser };
        let settings = Settings { regulariser, ..case.settings() };
        assert!(refused(&case, settings.clone()), "{column} {bound}");
        let pure = Regulariser { l1: 0.1, ..regulariser };
        let rows = case.sparse_or_dense(false);
        let blocks = LinearBlocks::new(&rows, case.targets.clone(), case.loss, Choice::I).unwrap();
        let settings = Settings { regulariser: pure, ..settings };
        assert!(train_pure_l1(&blocks, &settings, &Budget::passes(1), &mut ()).is_err());
    }
    // What is not constant may have no sign in common, and nobody knows how to balance it.
    let regulariser =
        Regulariser { free: Some(Free { column: 0, bound: 1.0 }), ..case.regulariser };
    assert!(refused(&case, Settings { regulariser, ..case.settings() }));
}

// Any column without negative entries can be balanced: zeros, and numbers of different sizes.
#[test]
fn a_free_column_need_not_be_constant() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for kind in 0..3 {
            let mut case = case(400 + k as u64, loss, REGULARISERS[kind]);
            for (i, row) in case.rows.iter_mut().enumerate() {
                row[4] = [(i % 3) as f64, 0.0, 0.5 + (i % 7) as f64 / 7.0][kind];
            }
            let budget = Budget { passes: Some(10_000), ..Budget::relative(1e-7) };
            assert_solved(&case, &case.train(Choice::I, &case.settings(), &budget), 1e-5);
        }
    }
}

proptest! {
    #![proptest_config(cases(200))]

    // The bound of the free weight is huge, and multiplies whatever is left of balance.
    #[test]
    fn both_sides_are_within_their_stated_error_or_there_is_no_certificate(
        seed in 0..10_000_u64,
        loss in 0..LOSSES.len(),
        regulariser in 0..REGULARISERS.len(),
        (of_rows, of_targets, of_bound) in (-4.0..4.0_f64, -4.0..4.0_f64, -1.0..3.0_f64),
        exponent in -6.0..2.0_f64,
        (batch, sampling) in (1..5_usize, 0..3_usize),
        acceleration in 0..3_usize,
        passes in 0..30_u64,
        pure in any::<bool>(),
    ) {
        let mut case = case(seed, LOSSES[loss], REGULARISERS[regulariser]);
        case.rows.iter_mut().for_each(|row| row[..4].iter_mut().for_each(|x| *x *= 10_f64.powf(of_rows)));
        if !is_binary(case.loss) {
            case.targets.iter_mut().for_each(|y| *y *= 10_f64.powf(of_targets));
        }
        case.lambda = 10_f64.powf(exponent);
        let Free { column, bound } = Free::intercept(4, &case.targets);
        case.regulariser.free = Some(Free { column, bound: bound * 10_f64.powf(of_bound) });
        let settings = Settings {
            batch,
            sampling: [Sampling::Permuted, Sampling::Uniform, Sampling::Importance][sampling],
            acceleration: [Acceleration::Off, Acceleration::Auto, Acceleration::On][acceleration],
            ..case.settings()
        };
        let budget = Budget::passes(passes);
        // No certificate is none that is wrong.
        if let Ok(report) = case.try_train(Choice::I, &settings, &budget) {
            assert_true(&case, &report);
        }
        case.lambda = 0.0;
        case.regulariser.l1 = 0.05;
        if pure && let Ok(report) = pure_l1(&case, &budget) {
            assert_true(&case, &report);
        }
    }
}
