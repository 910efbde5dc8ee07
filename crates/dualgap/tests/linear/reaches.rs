//! A reach is both values of a certificate at any λ, held against numbers of 32 digits; and its interval is where these
//! are near enough to each other, held against a scan of λ.

use crate::linear::case::{Case, LOSSES, REGULARISERS, is_binary};
use crate::linear::q_norms;
use crate::linear::rounding::{dual, primal};
use dualgap::run::{Budget, Interval, Tolerance};
use dualgap::structure::Linear;
use dualgap::term::{Regulariser, ScalarLoss};

type Model = dualgap::task::Model<Linear>;

const WITHIN: Interval = Interval { from: 1e-4, to: 30.0 };

const TOLERANCES: [Tolerance; 4] = [
    Tolerance::Relative(1e-3),
    Tolerance::Relative(0.05),
    Tolerance::Relative(0.6),
    Tolerance::Absolute(0.02),
];

/// From the smallest λ to the largest.
fn lambdas() -> impl Iterator<Item = f64> {
    let share = |k: i32| (WITHIN.to / WITHIN.from).powf(f64::from(k) / 60.0);
    (0..=60).map(move |k| WITHIN.from * share(k))
}

/// Every loss under every regulariser, with an intercept and without, some with sample weights.
fn problems() -> impl Iterator<Item = Case> {
    LOSSES.into_iter().enumerate().flat_map(|(k, loss)| {
        REGULARISERS.into_iter().enumerate().flat_map(move |(r, regulariser)| {
            let weights = (r % 2 == 1).then(|| (1..=9).map(f64::from).collect());
            let mut case = Case { regulariser, weights, ..Case::random(40 + k as u64, loss, 9, 3) };
            if !is_binary(loss) {
                case.targets.iter_mut().for_each(|y| *y += 0.5);
            }
            [case.clone().with_intercept(), case]
        })
    })
}

fn at(case: &Case, lambda: f64) -> Case {
    Case { lambda, ..case.clone() }
}

fn alpha(model: &Model) -> &[f64] {
    &model.witness.as_ref().unwrap().weights
}

/// The interval holds what it should, for a judge that knows both values at a λ up to so much.
fn assert_interval(case: &Case, model: &Model, judge: impl Fn(f64) -> (f64, f64), known: f64) {
    let reach = model.reach(&case.examples()).unwrap();
    for tolerance in TOLERANCES {
        let room = |lambda: f64| {
            let (primal, dual) = judge(lambda);
            match tolerance {
                Tolerance::Relative(share) => share * primal - (primal - dual),
                Tolerance::Absolute(gap) => gap - (primal - dual),
            }
        };
        let proved = reach.interval(WITHIN, tolerance);
        for lambda in lambdas() {
            let (size, room) = (1.0 + judge(lambda).0, room(lambda));
            let what = || format!("{lambda} {room:e} {proved:?} {tolerance:?} {case:?}");
            if proved.is_some_and(|proved| proved.contains(lambda)) {
                assert!(room >= -known * size, "{}", what());
            } else {
                assert!(room <= 1e-9 * size, "{}", what());
            }
        }
        let Some(Interval { from, to }) = proved else { continue };
        for (end, beyond, last) in [(from, 1.0 - 1e-5, WITHIN.from), (to, 1.0 + 1e-5, WITHIN.to)] {
            assert!(room(end) >= -known * (1.0 + judge(end).0), "{end} {tolerance:?} {case:?}");
            assert!(end == last || room(end * beyond) < 0.0, "{end} {tolerance:?} {case:?}");
        }
    }
}

fn assert_values(case: &Case, model: &Model) {
    let exact = |lambda| {
        let case = at(case, lambda);
        (primal(&case, &model.weights), dual(&case, alpha(model)))
    };
    let reach = model.reach(&case.examples()).unwrap();
    for lambda in lambdas() {
        let (c, (primal, dual)) = (reach.certificate(lambda).unwrap(), exact(lambda));
        let off = (primal - c.primal.into()).abs() + (dual - c.dual.into()).abs();
        assert!(off.float() <= c.rounding_error, "{off:?} {c:?} {case:?}");
        assert!(c.rounding_error <= 1e-9 * (1.0 + c.primal + c.dual.abs()), "{c:?} {case:?}");
    }
    let judge = |lambda| {
        let (primal, dual) = exact(lambda);
        (primal.float(), dual.float())
    };
    assert_interval(case, model, judge, 1e-15);
}

#[test]
fn both_values_hold_at_every_lambda_and_the_interval_is_where_they_are_near() {
    for case in problems() {
        for passes in [2, 200] {
            let mut model = case.fit(&case.settings(), &Budget::passes(passes)).model;
            assert_values(&case, &model);
            // Still feasible, but out of balance where a weight is free.
            model.witness.as_mut().unwrap().weights[0] *= 0.999;
            model.witness.as_mut().unwrap().weights[1] *= 0.5;
            assert_values(&case, &model);
        }
    }
}

#[test]
fn the_q_norm_reaches_as_far_as_its_formulas_say() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for l1 in [0.0, 0.02] {
            let regulariser = Regulariser { l1, q_norm: true, ..Regulariser::PLAIN };
            let case = Case { lambda: 0.01, regulariser, ..Case::random(k as u64, loss, 9, 12) };
            let model = case.fit(&case.settings(), &Budget::passes(100)).model;
            let judge = |lambda| {
                let case = at(&case, lambda);
                (q_norms::primal(&case, &model.weights), q_norms::dual(&case, alpha(&model)))
            };
            let reach = model.reach(&case.examples()).unwrap();
            for lambda in lambdas() {
                let (c, (primal, dual)) = (reach.certificate(lambda).unwrap(), judge(lambda));
                let allowed = c.rounding_error + 1e-12 * (1.0 + primal + dual.abs());
                assert!((primal - c.primal).abs() <= allowed && (dual - c.dual).abs() <= allowed);
            }
            assert_interval(&case, &model, judge, 1e-11);
        }
    }
}

#[test]
fn at_its_own_lambda_a_model_proves_what_its_certificate_says() {
    for case in problems() {
        let model = case.fit(&case.settings(), &Budget::relative(0.01)).model;
        let data = case.examples();
        let c = model.certify(&data).unwrap().certificate;
        let own = model.reach(&data).unwrap().certificate(case.lambda).unwrap();
        let allowed = c.rounding_error + own.rounding_error;
        assert!((c.primal - own.primal).abs() <= allowed && (c.dual - own.dual).abs() <= allowed);
    }
}

// Whatever a forger does, he cannot reach further than the optimum allows: what is still proved is true.
#[test]
fn a_forged_model_proves_less_or_nothing() {
    let tolerance = Tolerance::Relative(0.05);
    for loss in [ScalarLoss::Hinge, ScalarLoss::Logistic, ScalarLoss::SquaredHinge] {
        let case = Case::random(7, loss, 30, 4);
        let data = case.examples();
        let honest = case.fit(&case.settings(), &Budget::relative(1e-6)).model;
        let length = |model: &Model| {
            let proved = model.reach(&data).ok()?.interval(WITHIN, tolerance)?;
            Some((proved.to / proved.from).ln())
        };
        let whole = length(&honest).unwrap();
        let smaller = |model: &Model| length(model).is_none_or(|part| part < whole);
        let mut weights = honest.clone();
        weights.weights[0] += 0.1;
        assert!(smaller(&weights), "other weights");
        let mut moved = honest.clone();
        moved.witness.as_mut().unwrap().weights.iter_mut().for_each(|alpha| *alpha *= 0.7);
        assert!(smaller(&moved), "another point that is feasible");
        let mut outside = honest.clone();
        outside.witness.as_mut().unwrap().weights[3] *= 100.0;
        if loss != ScalarLoss::SquaredHinge {
            assert!(outside.reach(&data).is_err(), "no feasible point");
        }
        let without = Model { witness: None, ..honest.clone() };
        assert!(without.reach(&data).unwrap_err().to_string().contains("witness"));
        let mut other = case.clone();
        other.targets[0] = -other.targets[0];
        let other = other.examples();
        assert!(honest.reach(&other).is_err(), "other data");
    }
}

#[test]
fn weights_that_are_not_allowed_prove_nothing() {
    for l1 in [0.0, 0.03] {
        let regulariser = Regulariser { l1, nonnegative: true, ..Regulariser::PLAIN };
        let plain = Case { regulariser, ..Case::random(2, ScalarLoss::Hinge, 20, 3) };
        let case = plain.with_intercept();
        let honest = case.fit(&case.settings(), &Budget::relative(1e-4)).model;
        let proved = |model: &Model| {
            let reach = model.reach(&case.examples()).unwrap();
            reach.interval(WITHIN, Tolerance::Relative(0.05))
        };
        assert!(proved(&honest).is_some());
        for (column, weight) in [(0, -1e-9), (3, 2e5), (3, f64::NAN), (1, f64::INFINITY)] {
            let mut model = honest.clone();
            model.weights[column] = weight;
            assert_eq!(proved(&model), None, "weight {column} is {weight}");
        }
    }
}

#[test]
fn pure_l1_has_no_other_lambda() {
    let regulariser = Regulariser { l1: 0.05, ..Regulariser::PLAIN };
    let case = Case { lambda: 0.0, regulariser, ..Case::random(1, ScalarLoss::Logistic, 20, 3) };
    let model = case.fit(&case.settings(), &Budget::relative(0.01)).model;
    assert!(model.reach(&case.examples()).unwrap_err().to_string().contains("l1"));
}
