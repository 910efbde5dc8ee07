//! The optimum of every structure, margin and slack rescaling, against a solver that shares nothing with ours.

use super::{BOTH, Brute, of, train};
use crate::common::quadratic::{Bracket, optimum};
use crate::common::{Kind, Small};
use crate::matchings::Case;
use crate::oracles::rescaled;
use dualgap::dual;
use dualgap::linalg::Rows;
use dualgap::methods::cutting_plane;
use dualgap::run::{Budget, Certificate, Stop};
use dualgap::structure::{Choice, LinearBlocks, MatchingBlocks, Rescaling};
use dualgap::term::{Regulariser, ScalarLoss};

fn budget() -> Budget {
    Budget { passes: Some(2000), ..Budget::relative(1e-7) }
}

/// Both values are at the optimum to 1e-6 of it, and on their sides of it.
fn judge(stop: Stop, c: &Certificate, bracket: Bracket) {
    assert!(bracket.is_within(1e-7), "{bracket:?}");
    assert!(stop == Stop::GapReached && c.certified, "{stop:?} {c:?}");
    assert!((c.primal - bracket.upper).abs() <= 1e-6 * bracket.upper, "{c:?} {bracket:?}");
    assert!((c.dual - bracket.lower).abs() <= 1e-6 * bracket.upper, "{c:?} {bracket:?}");
    assert!(c.dual - c.rounding_error <= bracket.upper, "{c:?} {bracket:?}");
    assert!(c.primal + c.rounding_error >= bracket.lower, "{c:?} {bracket:?}");
}

fn problems() -> Vec<Small> {
    let kinds = Kind::all(3);
    let chain = |k: u64| Small::random(k, kinds[k as usize % 2].clone(), 7, 3, 3);
    let classes = |k: u64| Small::random(k, kinds[2 + k as usize % 2].clone(), 12, 3, 1);
    let mut problems = vec![chain(2), chain(3).with_pairs(2, 2), classes(2), classes(3)];
    (problems[1].lambda, problems[2].lambda) = (0.01, 0.01);
    problems[0].weights = Some(vec![1.0, 2.0, 0.5, 0.0, 3.0, 1.0, 1.0]);
    problems[3].weights = Some((0..12).map(|i| 0.5 + f64::from(i % 3)).collect());
    problems
}

#[test]
fn chains_and_classes_come_to_the_optimum() {
    for small in problems() {
        let bracket = optimum(&small.explicit());
        for slacks in BOTH {
            let report = train(&small, &of(slacks), &budget());
            judge(report.stop, &report.certificate, bracket);
        }
    }
}

#[test]
fn a_user_s_oracle_comes_to_the_optimum_of_either_rescaling() {
    for small in problems() {
        let (explicit, rescaled) = (small.explicit(), rescaled(&small));
        for (form, problem) in [(Rescaling::Margin, &explicit), (Rescaling::Slack, &rescaled)] {
            let bracket = optimum(problem);
            for slacks in BOTH {
                let report = Brute::new(&explicit).train(form, &of(slacks), &budget());
                judge(report.stop, &report.certificate, bracket);
            }
        }
    }
}

#[test]
fn matchings_come_to_the_optimum() {
    let mut case = Case::random(3, 8, 3, 3);
    case.weights = Some((0..8).map(|i| 1.0 + f64::from(i % 2)).collect());
    let (bracket, data) = (optimum(&case.explicit()), case.data());
    let blocks = MatchingBlocks::new(&data, case.loss).unwrap();
    for slacks in BOTH {
        let (plain, weights) = (Regulariser::PLAIN, case.weights.as_deref());
        let (settings, budget) = (of(slacks), budget());
        let lambda = case.lambda;
        let report =
            cutting_plane::train(&blocks, lambda, plain, weights, &settings, &budget, &mut ());
        let report = report.unwrap();
        judge(report.stop, &report.certificate, bracket);
    }
}

// Planes are tangents of the loss, whatever it is: the optimum of each is what block-dual steps prove.
#[test]
fn losses_of_one_number_have_tangents_too() {
    let small = Small::random(4, Kind::all(2)[2].clone(), 20, 2, 1);
    let rows = Rows::dense(&small.inputs.concat()).unwrap();
    for loss in [
        ScalarLoss::Hinge,
        ScalarLoss::SmoothHinge { width: 0.5 },
        ScalarLoss::SquaredHinge,
        ScalarLoss::Logistic,
        ScalarLoss::Squared,
        ScalarLoss::Absolute,
        ScalarLoss::EpsilonInsensitive { epsilon: 0.1 },
        ScalarLoss::Huber { width: 0.5 },
    ] {
        let targets = small.truths.iter().map(|y| 2.0 * f64::from(y[0]) - 1.0).collect();
        let blocks = LinearBlocks::new(&rows, targets, loss, Choice::I).unwrap();
        let budget = Budget { passes: Some(3000), ..Budget::relative(1e-6) };
        let judge = dual::Settings { lambda: 0.05, threads: 1, ..dual::Settings::default() };
        let judge = dual::train(&blocks, &judge, &budget, &mut ()).unwrap().certificate;
        for slacks in BOTH {
            let (plain, settings) = (Regulariser::PLAIN, of(slacks));
            let report =
                cutting_plane::train(&blocks, 0.05, plain, None, &settings, &budget, &mut ());
            let report = report.unwrap();
            let c = report.certificate;
            assert_eq!(report.stop, Stop::GapReached, "{loss:?} {slacks:?} {c:?}");
            assert!(c.dual <= judge.primal + 1e-12 && judge.dual <= c.primal + 1e-12, "{loss:?}");
        }
    }
}
