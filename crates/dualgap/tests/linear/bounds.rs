//! A regulariser that the library does not have, the very one of the example: weights within bounds of their own.

use crate::common::{cases, distance};
use crate::linear::ascent::{assert_never_falls, watched};
use crate::linear::case::{Case, LOSSES, REGULARISERS, choices};
use crate::linear::solvers::quadratic_program;
use dualgap::dual::{self, Algorithm, Sampling, Settings};
use dualgap::linalg::Random;
use dualgap::run::{Budget, Report, Solution};
use dualgap::structure::{self, Choice, LinearBlocks};
use dualgap::term::{Link, Regulariser};
use own_regulariser::Bounds;
use proptest::prelude::*;
use std::iter::zip;

#[path = "../../examples/own_regulariser.rs"]
#[allow(dead_code)] // its `main` is run as an example
mod own_regulariser;

/// Open on neither, on one or on both sides, or a single point; zero may be outside.
fn bounds(seed: u64, d: usize) -> Vec<(f64, f64)> {
    let mut random = Random::new(seed);
    let mut one = || {
        let low = random.unit() - 0.5;
        let high = low + 0.5 * random.unit();
        [(low, high), (low, low), (low, f64::INFINITY), (f64::NEG_INFINITY, high), EVERYTHING]
            [random.below(5)]
    };
    (0..d).map(|_| one()).collect()
}

const EVERYTHING: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn train(
    case: &Case,
    bounds: &[(f64, f64)],
    choice: Choice,
    settings: &Settings,
    budget: &Budget,
) -> Report<Solution<f64>> {
    let rows = case.sparse_or_dense(case.len() % 2 == 1);
    let blocks = LinearBlocks::new(&rows, case.targets.clone(), case.loss, choice).unwrap();
    dual::train_with(&blocks, Bounds(bounds.to_vec()), settings, budget, &mut ()).unwrap()
}

#[test]
fn under_the_square_the_settings_name_the_regulariser_and_under_a_link_of_one_s_own_they_may_not() {
    let budget = Budget::passes(15);
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for regulariser in REGULARISERS {
            for method in [Algorithm::Bcfw, Algorithm::Fw] {
                let case = Case { regulariser, ..Case::random(k as u64, loss, 20, 5) };
                let rows = case.sparse_or_dense(false);
                let targets = case.targets.clone();
                let blocks = LinearBlocks::new(&rows, targets, loss, Choice::I).unwrap();
                let settings = Settings { method, ..case.settings() };
                let by_link = dual::train(&blocks, &settings, &budget, &mut ()).unwrap();
                let by_settings =
                    structure::train_linear(&blocks, &settings, &budget, &mut ()).unwrap();
                assert_eq!(by_link.model.weights, by_settings.model.weights, "{regulariser:?}");
                assert_eq!(by_link.certificate, by_settings.certificate, "{regulariser:?}");
                // The value is that of the problem with the regulariser, by its formula.
                let primal = case.primal(&by_link.model.weights);
                assert!((by_link.certificate.primal - primal).abs() < 1e-9, "{regulariser:?}");
                let own = Bounds(vec![(-1.0, 1.0); 5]);
                let result = dual::train_with(&blocks, own, &settings, &budget, &mut ());
                assert_eq!(result.is_ok(), regulariser == Regulariser::PLAIN, "{regulariser:?}");
            }
        }
    }
}

#[test]
fn quadratic_programs_with_bounds_have_the_same_optimum() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for seed in 10 * k as u64..10 * k as u64 + 4 {
            let (case, bounds) = (Case::random(seed, loss, 20, 5), bounds(seed, 5));
            let Some(w) = quadratic_program(&case, &bounds) else { continue };
            let budget = Budget { passes: Some(100_000), ..Budget::relative(1e-11) };
            let report = train(&case, &bounds, Choice::I, &case.settings(), &budget);
            let (c, other) = (report.certificate, case.primal(&w));
            assert!(c.gap() <= 1e-7, "{loss:?} {bounds:?} {:?} {c:?}", report.stop);
            assert!(c.dual <= other + 1e-9, "{loss:?} {bounds:?} {c:?} {other}");
            assert!(other <= c.primal + 1e-6, "{loss:?} {bounds:?} {c:?} {other}");
            let trained = &report.model.weights;
            assert!(distance(trained, &w) < 0.01, "{loss:?} {bounds:?}");
            assert!(zip(trained, &bounds).all(|(w, (low, high))| low <= w && w <= high));
        }
    }
}

#[test]
fn the_dual_value_never_falls_within_bounds() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for lambda in [1e-3, 0.3] {
            let case = Case { lambda, ..Case::random(k as u64, loss, 7, 3) };
            let bounds = bounds(100 + k as u64, 3);
            let mut ways = vec![(Choice::I, Settings { method: Algorithm::Fw, ..case.settings() })];
            for choice in choices(loss) {
                for (batch, sampling) in [(1, Sampling::Permuted), (5, Sampling::Uniform)] {
                    ways.push((choice, Settings { batch, sampling, ..case.settings() }));
                }
            }
            for (choice, settings) in ways {
                let report = train(&case, &bounds, choice, &settings, &watched(60));
                assert_never_falls(&report, &(loss, choice, settings, &bounds));
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(256))]

    // A mistake in value, weight or conjugate breaks one of the two; the bounds on rounding are all that is allowed.
    #[test]
    fn fenchel_young_holds_and_is_tight_at_the_link(
        seed in any::<u64>(),
        v in prop::collection::vec(-3.0..3.0_f64, 4),
        other in prop::collection::vec(-3.0..3.0_f64, 4),
    ) {
        let link = Bounds(bounds(seed, 4));
        let image = |v: &[f64]| -> Vec<f64> { v.iter().enumerate().map(|(j, &v)| link.weight(j, v)).collect() };
        let conjugate = link.conjugate(&v);
        let excess = |w: &[f64]| {
            let value = link.value(w);
            let error = value.error + conjugate.error + 1e-15 * (1.0 + 4.0 * 9.0);
            (value.value + conjugate.value - w.iter().zip(&v).map(|(w, v)| w * v).sum::<f64>(), error)
        };
        let (at_the_link, error) = excess(&image(&v));
        prop_assert!(at_the_link.abs() <= error, "{at_the_link} {error}");
        for w in [image(&other), other] {
            let (elsewhere, error) = excess(&w);
            prop_assert!(elsewhere >= -error, "{elsewhere} {error}");
        }
    }
}
