//! Averages of the iterates, against all iterates: each is had by a run of its own that stops there,
//! and then they are averaged as the paper says.

use crate::common::quadratic::optimum;
use crate::common::wide::Wide;
use crate::common::{Kind, Small, calls, cases, distance, small, with_blocks};
use dualgap::dual::{Algorithm, Average, Problem, Sampling, Settings, Step};
use dualgap::term::L2;
use proptest::prelude::*;

/// The largest power of two that is not beyond k.
fn first_of_suffix(k: usize) -> usize {
    (0..32).map(|r| 1 << r).rfind(|&power| power <= k).unwrap()
}

/// Σ_t share_t w^(t) with the shares written down from the definition.
fn average(kind: Average, iterates: &[Vec<f64>]) -> Vec<f64> {
    let k = iterates.len();
    let weight = |t: usize| match kind {
        Average::None => f64::from(u8::from(t == k)),
        Average::Weighted => t as f64,
        Average::Suffix => f64::from(u8::from(t >= first_of_suffix(k))),
        Average::After(steps) if k as u64 <= steps => f64::from(u8::from(t == k)),
        Average::After(steps) => f64::from(u8::from(t as u64 > steps)),
        _ => unreachable!("no mean"),
    };
    let total: f64 = (1..=k).map(weight).sum();
    let mut sum = vec![0.0; iterates[0].len()];
    for (t, w) in (1..=k).zip(iterates) {
        sum.iter_mut().zip(w).for_each(|(sum, w)| *sum += weight(t) / total * w);
    }
    sum
}

/// Runs with every average and compares with the average of all iterates.
fn check(small: &Small, base: &Settings, steps: u64) {
    let per_step = if base.method == Algorithm::Fw { small.len() as u64 } else { 1 };
    let iterate = |t: u64| {
        let settings = Settings { average: Average::None, ..base.clone() };
        small.train(&settings, &calls(t * per_step)).model.weights
    };
    let iterates: Vec<Vec<f64>> = (1..=steps).map(iterate).collect();
    let bracket = optimum(&small.explicit());
    let after = [Average::After(0), Average::After(6)];
    for kind in [Average::None, Average::Weighted, Average::Suffix].into_iter().chain(after) {
        let settings = Settings { average: kind, ..base.clone() };
        let report = small.train(&settings, &calls(steps * per_step));
        assert_eq!(report.work.steps, steps);
        let apart = distance(&average(kind, &iterates), &report.model.weights);
        assert!(apart < 1e-10, "{settings:?}, {steps} steps: {apart:e}");

        // A certificate and a feasible witness of its own.
        let c = report.certificate;
        assert!(c.dual - c.rounding_error <= bracket.upper);
        assert!(c.primal + c.rounding_error >= bracket.lower);
        with_blocks!(small, |blocks| {
            let problem =
                Problem::new(&blocks, L2, small.lambda, small.weights.as_deref()).unwrap();
            let dual = problem.dual(&report.model.points).unwrap();
            assert!((dual.value.value - c.dual).abs() <= c.rounding_error);
            // w̄ = w(ᾱ): the average of the weights is the weights of the averaged point; unless the starting
            // point, whose dual value is zero, is the better witness.
            assert!(c.dual == 0.0 || distance(&dual.v, &report.model.weights) < 1e-12);
        });
        let exact = small.explicit().dual(&small.distributions(&report.model.points));
        assert!((exact - Wide::from(c.dual)).abs().float() <= c.rounding_error);
    }
}

#[test]
fn an_average_is_that_of_all_iterates_at_every_step() {
    for (seed, kind) in Kind::all(3).into_iter().enumerate() {
        let small = Small::random(seed as u64, kind, 5, 3, 3);
        for steps in 1..=19 {
            check(&small, &small.settings(), steps);
        }
    }
}

#[test]
fn every_way_to_step_is_averaged_alike() {
    for (seed, kind) in Kind::all(3).into_iter().enumerate() {
        let mut small = Small::random(seed as u64 + 10, kind, 5, 3, 3);
        small.weights = Some(vec![1.0, 0.5, 2.0, 1.5, 1.0]);
        for method in [Algorithm::Bcfw, Algorithm::Fw] {
            for step in [Step::LineSearch, Step::Predefined] {
                for sampling in [Sampling::Uniform, Sampling::Cyclic] {
                    for batch in [1, 3] {
                        let base = Settings { method, step, sampling, batch, ..small.settings() };
                        check(&small, &base, 17);
                    }
                }
            }
        }
    }
}

/// Every seed draws one of the iterates since the last power of two, and all of them are drawn alike.
#[test]
fn a_random_iterate_is_one_of_the_last_ones_and_each_as_likely() {
    let small = Small::random(3, Kind::all(3)[0].clone(), 5, 3, 3);
    // In a cyclic order the seed decides nothing but the draw.
    let base = Settings { sampling: Sampling::Cyclic, ..small.settings() };
    let (steps, seeds) = (14, 350);
    let iterates: Vec<Vec<f64>> =
        (1..=steps).map(|t| small.train(&base, &calls(t)).model.weights).collect();
    let first = first_of_suffix(steps as usize);
    let mut counts = vec![0; steps as usize + 1];
    for seed in 0..seeds {
        let settings = Settings { average: Average::Random, seed, ..base.clone() };
        let drawn = small.train(&settings, &calls(steps)).model.weights;
        let near: Vec<usize> = (first..=steps as usize)
            .filter(|&t| distance(&iterates[t - 1], &drawn) < 1e-10)
            .collect();
        assert!(!near.is_empty(), "seed {seed}");
        // Where a step changes nothing, several iterates are the same.
        near.iter().for_each(|&t| counts[t] += 1);
    }
    // Seven of them, fifty times each: five standard deviations of a binomial are 33.
    assert!(counts[first..].iter().all(|&count| count > 17), "{counts:?}");
}

proptest! {
    #![proptest_config(cases(32))]

    // Zeros among the features make blocks stand still, which an average keeps up with lazily.
    #[test]
    fn an_average_over_any_small_problem_is_that_of_all_iterates(
        small in small(),
        steps in 1_u64..40,
        seed in 0_u64..50,
    ) {
        check(&small, &Settings { seed, ..small.settings() }, steps);
    }
}
