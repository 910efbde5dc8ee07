//! A weight of two is a duplicate, a weight of zero is an absence, and only ratios count.

use crate::common::quadratic::optimum;
use crate::common::{
    Kind, MOST_WEIGHTS, Small, calls, cases, distance, generic, small, with_blocks,
};
use dualgap::dual::{self, Algorithm, Mixture, Problem, Settings};
use dualgap::linalg::Measured;
use dualgap::run::Budget;
use dualgap::term::{Costs, L2};
use dualgap::{Error, structure};
use proptest::prelude::*;

/// The same data twice: with integer weights, and with every example as often as its weight says.
fn both(small: Small, counts: &[usize]) -> (Small, Small, Vec<usize>) {
    let mut counts = counts[..small.len()].to_vec();
    counts[0] += 1; // something must be left
    let chosen: Vec<usize> =
        counts.iter().enumerate().flat_map(|(i, &count)| vec![i; count]).collect();
    let repeated = Small { weights: None, ..small.select(&chosen) };
    let weighted = Small { weights: Some(counts.iter().map(|&c| c as f64).collect()), ..small };
    (weighted, repeated, chosen)
}

fn primal(small: &Small, w: &[f64]) -> Measured {
    with_blocks!(small, |blocks| {
        let problem = Problem::new(&blocks, L2, small.lambda, small.weights.as_deref()).unwrap();
        problem.primal(w).unwrap().value
    })
}

fn dual(small: &Small, points: &[Mixture]) -> Measured {
    with_blocks!(small, |blocks| {
        let problem = Problem::new(&blocks, L2, small.lambda, small.weights.as_deref()).unwrap();
        problem.dual(points).unwrap().value
    })
}

fn agree(a: Measured, b: Measured) -> bool {
    (a.value - b.value).abs() <= a.error + b.error
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn weights_and_duplicates_have_the_same_objective_on_both_sides(
        small in small(),
        counts in prop::collection::vec(0..4_usize, 5),
        w in prop::collection::vec(-2.0..2.0_f64, MOST_WEIGHTS),
    ) {
        let (weighted, repeated, chosen) = both(small, &counts);
        let w = &w[..weighted.dim()];
        prop_assert!(agree(primal(&weighted, w), primal(&repeated, w)));

        let points = weighted.train(&weighted.settings(), &Budget::passes(5)).model.points;
        let copies: Vec<Mixture> = chosen.iter().map(|&i| points[i].clone()).collect();
        prop_assert!(agree(dual(&weighted, &points), dual(&repeated, &copies)));
    }

    // P is λ-strongly convex: weights within a gap g of the optimum are within √(2g/λ) of each other's
    // target.
    #[test]
    fn weights_and_duplicates_have_the_same_optimum(
        small in small(),
        counts in prop::collection::vec(0..4_usize, 5),
    ) {
        let (weighted, repeated, _) = both(small, &counts);
        let run = |small: &Small| small.train(&small.settings(), &Budget::passes(300));
        let (a, b) = (run(&weighted), run(&repeated));
        let error = a.certificate.rounding_error + b.certificate.rounding_error;
        prop_assert!(a.certificate.dual <= b.certificate.primal + error);
        prop_assert!(b.certificate.dual <= a.certificate.primal + error);
        let apart: f64 = a.model.weights.iter().zip(&b.model.weights)
            .map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let reach = |gap: f64| (2.0 * (gap + error).max(0.0) / weighted.lambda).sqrt();
        prop_assert!(apart <= reach(a.certificate.gap()) + reach(b.certificate.gap()));

        let (one, other) = (optimum(&weighted.explicit()), optimum(&repeated.explicit()));
        prop_assert!(one.is_within(1e-6) && other.is_within(1e-6));
        prop_assert!(a.certificate.dual - error <= other.upper);
        prop_assert!(b.certificate.dual - error <= one.upper);
    }

    // With two classes a block step is exact and convergence fast, so that the two optima can be
    // compared to many digits.
    #[test]
    fn two_classes_agree_on_the_optimum_to_nine_digits(
        small in generic(),
        labels in prop::collection::vec(0..2_u16, 5),
        counts in prop::collection::vec(0..4_usize, 5),
    ) {
        let small = Small {
            kind: Kind::Multiclass(Costs::ZeroOne),
            labels: 2,
            inputs: small.inputs.iter().map(|x| vec![x[0].clone()]).collect(),
            truths: (0..small.len()).map(|i| vec![labels[i]]).collect(),
            lambda: small.lambda.max(0.02),
            ..small
        };
        let (weighted, repeated, _) = both(small, &counts);
        let budget = Budget { passes: Some(200_000), ..Budget::relative(1e-10) };
        let run = |small: &Small| small.train(&small.settings(), &budget);
        let (a, b) = (run(&weighted), run(&repeated));
        let tolerance = 1e-9 * a.certificate.primal.max(1e-3);
        prop_assert!(a.certificate.gap() <= tolerance && b.certificate.gap() <= tolerance);
        prop_assert!((a.certificate.primal - b.certificate.primal).abs() <= tolerance);
        prop_assert!(distance(&a.model.weights, &b.model.weights) < 1e-3);
    }

    #[test]
    fn only_the_ratios_of_weights_count(small in generic(), factor in 0.01..100.0_f64) {
        let plain = Small { weights: None, ..small };
        let scaled = Small { weights: Some(vec![factor; plain.len()]), ..plain.clone() };
        let problem = plain.explicit();
        for method in [Algorithm::Bcfw, Algorithm::Fw] {
            let per_step = if method == Algorithm::Fw { plain.len() as u64 } else { 1 };
            for k in 1..=12_u64 {
                let run = |small: &Small| {
                    let settings = Settings { method, ..small.settings() };
                    small.train(&settings, &calls(k * per_step)).model.weights
                };
                let (w, again) = (run(&plain), run(&scaled));
                prop_assert!(distance(&w, &again) < 1e-9, "{method:?}, step {k}");
                if problem.is_tied(&w) {
                    break;
                }
            }
        }
    }
}

#[test]
fn weights_that_make_no_sense_are_refused() {
    let small = Small::random(1, Kind::Multiclass(Costs::ZeroOne), 3, 2, 1);
    let data = small.examples();
    let blocks = structure::MulticlassBlocks::new(&data, &Costs::ZeroOne).unwrap();
    let nonsense = [
        vec![1.0, 1.0],
        vec![1.0; 4],
        vec![1.0, -1.0, 1.0],
        vec![1.0, f64::NAN, 1.0],
        vec![1.0, f64::INFINITY, 1.0],
        vec![0.0; 3],
        vec![f64::MAX; 3],
    ];
    for weights in nonsense {
        for method in [Algorithm::Bcfw, Algorithm::Fw] {
            let settings =
                Settings { method, sample_weights: Some(weights.clone()), ..small.settings() };
            let result = dual::train(&blocks, &settings, &Budget::passes(1), &mut ());
            assert!(matches!(result, Err(Error::Setting { .. })), "{weights:?}");
        }
    }
}
