//! Theorems C.4 and C.5: with a line search the error at the start is forgotten after k_0 steps.
//!
//! ```text
//! k_0 = max(0, ⌈log(2νh_0/C) / −log(1 − ν/n)⌉)                    with C for C⊗(1 + δ)
//! E h_k ≤ (1 − ν/n)^k h_0 + C/(2ν)                                k < k_0
//! E h_k ≤ 2nC / (ν(ν(k − k_0) + 2n))                              k ≥ k_0
//! E g(x̂) ≤ 6nC/(ν²(K + 2))                                        K ≥ 5k_0, some iterate up to K, the mean of the last half
//! ```

use crate::theorems::gaps::suffix;
use crate::theorems::{Case, NOTICED, Way, excess, means};
use dualgap::dual::Step;
use dualgap::methods::product::Point;

/// C and k_0.
fn first_phase(case: &Case, delta: f64) -> (f64, usize) {
    let (c, n, nu) = (case.c_blocks * (1.0 + delta), case.n() as f64, case.nu);
    let steps = (2.0 * nu * case.h0 / c).ln() / -(1.0 - nu / n).ln();
    (c, steps.ceil().max(0.0) as usize)
}

/// How far the expected errors exceed the bounds of both phases.
fn errors(case: &Case, way: Way) -> f64 {
    let (c, k0) = first_phase(case, way.delta);
    let (n, nu) = (case.n() as f64, case.nu);
    let of = |iterates: &[Point]| iterates.iter().map(|at| case.error(at)).collect();
    excess(&means(case, way, 5 * k0 + 100, of), |k| {
        if k < k0 {
            (1.0 - nu / n).powf(k as f64) * case.h0 + c / (2.0 * nu)
        } else {
            2.0 * n * c / (nu * (nu * (k - k0) as f64 + 2.0 * n))
        }
    })
}

/// How far the expected gaps exceed their bound: the least one of the iterates, and that of the last half.
fn gaps(case: &Case, way: Way) -> [f64; 2] {
    let (c, k0) = first_phase(case, way.delta);
    let mut worst = [0.0_f64; 2];
    for last in [5 * k0, 5 * k0 + 50] {
        let of = |iterates: &[Point]| {
            let half = case.gap(&suffix(case, iterates));
            iterates.iter().map(|at| case.gap(at)).chain([half]).collect()
        };
        let mut gaps = means(case, way, last, of);
        let half = gaps.pop().unwrap();
        let least = gaps.into_iter().fold(f64::INFINITY, f64::min);
        let bound = 6.0 * case.n() as f64 * c / (case.nu * case.nu * (last as f64 + 2.0));
        worst = [worst[0].max(least / bound), worst[1].max(half / bound)];
    }
    worst
}

#[test]
fn the_error_at_the_start_is_forgotten() {
    for (nu, delta) in [(1.0, 0.0), (0.5, 0.0), (1.0, 1.0)] {
        for case in Case::both() {
            let case = case.with_nu(nu);
            let way = Way { delta, ..Way::proper(Step::LineSearch) };
            let worst = errors(&case, way);
            assert!(worst <= 1.0, "ν = {nu}, δ = {delta}: {worst}");
            let worst = gaps(&case, way);
            assert!(worst.iter().all(|&worst| worst <= 1.0), "ν = {nu}, δ = {delta}: {worst:?}");
        }
    }
    // There is something to forget, and of the whole bound of Theorem 2 little is left.
    let case = Case::flat();
    let (c, k0) = first_phase(&case, 0.0);
    assert!(k0 > 10 && c < 0.1 * case.h0, "{k0}");
}

#[test]
fn predefined_steps_do_not_forget_it_and_shorter_ones_are_noticed() {
    let case = Case::flat();
    let proper = Way::proper(Step::LineSearch);
    for way in [proper.short(), proper.skewed(), Way::proper(Step::Predefined)] {
        let worst = errors(&case, way);
        assert!(worst > NOTICED, "{way:?}: {worst}");
    }
    for way in [proper.short(), proper.skewed()] {
        let worst = gaps(&case, way);
        assert!(worst[1] > NOTICED, "{way:?}: {worst:?}");
    }
}
