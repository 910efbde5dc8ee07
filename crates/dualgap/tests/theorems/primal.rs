//! Theorems 1, 2 and C.1: the expected error after k steps.
//!
//! ```text
//! E h_k ≤ 2n/(νk + 2n) · (C⊗(1 + δ)/ν + h_0)       one block a step, k ≥ 0
//!   h_k ≤ 2/(k + 2) · C(1 + δ)                     all blocks a step, ν = 1, k ≥ 1
//! ```

use crate::theorems::{Case, NOTICED, STEPS, Way, excess, means, walk};
use dualgap::dual::{Algorithm, Step};
use dualgap::methods::product::{FrankWolfe, Point, ProductSettings};

const K: usize = 300;

fn errors(case: &Case) -> impl Fn(&[Point]) -> Vec<f64> {
    |iterates| iterates.iter().map(|at| case.error(at)).collect()
}

/// The bound of Theorem C.1.
fn rate(case: &Case, delta: f64) -> impl Fn(usize) -> f64 {
    let (n, nu, h0) = (case.n() as f64, case.nu, case.h0);
    let constant = case.c_blocks * (1.0 + delta) / nu + h0;
    move |k| 2.0 * n / (nu * k as f64 + 2.0 * n) * constant
}

#[test]
fn the_error_is_within_theorem_2() {
    for case in Case::both() {
        for step in STEPS {
            let worst =
                excess(&means(&case, Way::proper(step), K, errors(&case)), rate(&case, 0.0));
            assert!(worst <= 1.0, "{step:?}: {worst}");
        }
    }
}

#[test]
fn with_oracles_of_quality_nu_and_delta_within_theorem_c_1() {
    for (nu, delta) in [(0.5, 0.0), (0.1, 0.0), (1.0, 1.0), (1.0, 5.0), (0.5, 1.0)] {
        for case in Case::both() {
            let case = case.with_nu(nu);
            for step in STEPS {
                let way = Way { delta, ..Way::proper(step) };
                let worst = excess(&means(&case, way, K, errors(&case)), rate(&case, delta));
                assert!(worst <= 1.0, "ν = {nu}, δ = {delta}, {step:?}: {worst}");
            }
        }
    }
}

#[test]
fn shorter_steps_and_skewed_orders_are_noticed() {
    for (nu, delta) in [(1.0, 0.0), (0.5, 0.0), (1.0, 1.0), (0.5, 1.0)] {
        let case = Case::flat().with_nu(nu);
        let proper = Way { delta, ..Way::proper(Step::Predefined) };
        for way in [proper.short(), proper.skewed()] {
            let worst = excess(&means(&case, way, K, errors(&case)), rate(&case, delta));
            assert!(worst > NOTICED, "ν = {nu}, δ = {delta}, {way:?}: {worst}");
        }
    }
}

// 2n/(k + 2n) in the place of 2n/(νk + 2n): the paper says that these steps need to be longer, and they do.
#[test]
fn steps_that_forget_nu_are_noticed() {
    let case = Case::flat().with_nu(0.2);
    let n = case.n();
    let mut mean = vec![0.0; 10 * K];
    for seed in 0..5 {
        let settings = ProductSettings { step: Step::Predefined, ..ProductSettings::default() };
        let mut solver = case.solver(&settings);
        let mut random = dualgap::linalg::Random::new(seed);
        for (k, mean) in mean.iter_mut().enumerate() {
            *mean += case.error(solver.point()) / 5.0;
            let (i, gamma) = (random.below(n), 2.0 * n as f64 / (k + 2 * n) as f64);
            solver.step_on(i..i + 1, Some(gamma)).unwrap();
        }
    }
    let worst = excess(&mean, rate(&case, 0.0));
    assert!(worst > NOTICED, "{worst}");
}

/// E h_0, E h_1, … over all orders of two blocks, with these lengths.
fn expectations(case: &Case, at: &Point, k: usize, length: f64, sums: &mut [f64]) {
    sums[k] += case.error(at) / f64::from(1 << k);
    if k + 1 == sums.len() {
        return;
    }
    let settings = ProductSettings { step: Step::Predefined, ..ProductSettings::default() };
    for i in 0..2 {
        let mut solver = FrankWolfe::at(&case.product, &settings, at.clone()).unwrap();
        let gamma = length * 4.0 / (case.nu * k as f64 + 4.0);
        solver.step_on(i..i + 1, Some(gamma)).unwrap();
        expectations(case, solver.point(), k + 1, length, sums);
    }
}

// No mean over seeds, but the expectation itself.
#[test]
fn over_all_orders_of_two_blocks_the_expectation_is_within_the_bound() {
    for nu in [1.0, 0.5] {
        for lambda in [0.2, 40.0] {
            let case = Case::new(2, lambda, nu);
            let expected = |length| {
                let mut sums = vec![0.0; 11];
                let start = case.product.point(case.start.clone()).unwrap();
                expectations(&case, &start, 0, length, &mut sums);
                excess(&sums, rate(&case, 0.0))
            };
            assert!(expected(1.0) <= 1.0);
            assert!(lambda < 1.0 || expected(0.1) > NOTICED, "{}", expected(0.1));
        }
    }
}

#[test]
fn all_blocks_at_once_are_within_theorem_1() {
    for case in Case::both() {
        let bound = |k: usize| 2.0 / (k as f64 + 2.0) * case.c_whole;
        for step in STEPS {
            let way = Way { method: Algorithm::Fw, ..Way::proper(step) };
            let errors = errors(&case)(&walk(&case, way, K, 0));
            let worst = excess(&errors[1..], |k| bound(k + 1));
            assert!(worst <= 1.0, "{step:?}: {worst}");
            let gaps: Vec<f64> = walk(&case, way, K, 0).iter().map(|at| case.gap(at)).collect();
            for last in 1..=K {
                let least = gaps[1..=last].iter().copied().fold(f64::INFINITY, f64::min);
                assert!(least <= 6.0 * case.c_whole / (last as f64 + 1.0), "{step:?} {last}");
            }
        }
    }
    let case = Case::flat();
    let way = Way { method: Algorithm::Fw, ..Way::proper(Step::Predefined) };
    let errors = errors(&case)(&walk(&case, way.short(), K, 0));
    assert!(excess(&errors[1..], |k| 2.0 / (k as f64 + 3.0) * case.c_whole) > NOTICED);
    // With δ, the blocks share the tolerance.
    for delta in [1.0, 5.0] {
        let way = Way { delta, ..way };
        let errors = self::errors(&case)(&walk(&case, way, K, 0));
        let bound = |k: usize| 2.0 / (k as f64 + 3.0) * case.c_whole * (1.0 + delta);
        assert!(excess(&errors[1..], bound) <= 1.0);
    }
}
