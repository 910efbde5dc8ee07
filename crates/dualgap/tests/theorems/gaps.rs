//! Theorems 2 and C.3: the expected gap. f is quadratic, so that its gap is convex and the bound holds of averages too.
//!
//! ```text
//! E g(x̂) ≤ 6n/(ν(K + 1)) · (C⊗(1 + δ)/ν + h_0)       some iterate up to K, the weighted average, the mean of the last half
//! ```

use crate::common::distance;
use crate::theorems::{Case, NOTICED, STEPS, Way, means, walk};
use dualgap::dual::{Average, Sampling, Step};
use dualgap::methods::product::{Point, ProductSettings};

/// The K that are looked at.
const LASTS: [usize; 5] = [0, 3, 30, 100, 300];

/// The mean of the iterates with these weights.
pub fn mean(case: &Case, iterates: &[Point], weight: impl Fn(usize) -> f64) -> Point {
    let total: f64 = (0..iterates.len()).map(&weight).sum();
    let mut x = vec![0.0; case.start.len()];
    for (t, at) in iterates.iter().enumerate() {
        let share = weight(t) / total;
        x.iter_mut().zip(at.coordinates()).for_each(|(x, at)| *x += share * at);
    }
    case.product.point(x).unwrap()
}

/// (14): weight t on iterate t, the start if there is no other.
pub fn weighted(case: &Case, iterates: &[Point]) -> Point {
    let alone = iterates.len() == 1;
    mean(case, iterates, |t| if alone { 1.0 } else { t as f64 })
}

/// (15) with μ = ½.
pub fn suffix(case: &Case, iterates: &[Point]) -> Point {
    let first = (iterates.len() - 1).div_ceil(2);
    mean(case, &iterates[first..], |_| 1.0)
}

/// For each K: the least expected gap of an iterate, that of the weighted average, and that of the last half.
fn expected_gaps(case: &Case, way: Way) -> Vec<[f64; 3]> {
    let of = |iterates: &[Point]| {
        let averages = LASTS.iter().flat_map(|&last| {
            let iterates = &iterates[..=last];
            [case.gap(&weighted(case, iterates)), case.gap(&suffix(case, iterates))]
        });
        averages.chain(iterates.iter().map(|at| case.gap(at))).collect()
    };
    let all = means(case, way, LASTS[4], of);
    let (averages, gaps) = all.split_at(2 * LASTS.len());
    let least = |last: usize| gaps[..=last].iter().copied().fold(f64::INFINITY, f64::min);
    LASTS.iter().zip(averages.chunks(2)).map(|(&last, a)| [least(last), a[0], a[1]]).collect()
}

/// The quotients of the largest of these gaps and their bounds, for each of the three.
fn excesses(case: &Case, way: Way) -> [f64; 3] {
    let (n, nu) = (case.n() as f64, case.nu);
    let constant = case.c_blocks * (1.0 + way.delta) / nu + case.h0;
    let mut worst = [0.0_f64; 3];
    for (last, gaps) in LASTS.iter().zip(expected_gaps(case, way)) {
        let bound = 6.0 * n / (nu * (*last as f64 + 1.0)) * constant;
        worst.iter_mut().zip(gaps).for_each(|(worst, gap)| *worst = worst.max(gap / bound));
    }
    worst
}

#[test]
fn the_gap_is_within_theorem_c_3() {
    for (nu, delta) in [(1.0, 0.0), (0.3, 0.0), (1.0, 2.0), (0.5, 1.0)] {
        for case in Case::both() {
            let case = case.with_nu(nu);
            for step in STEPS {
                let worst = excesses(&case, Way { delta, ..Way::proper(step) });
                assert!(
                    worst.iter().all(|&worst| worst <= 1.0),
                    "{nu} {delta} {step:?}: {worst:?}"
                );
            }
        }
    }
}

#[test]
fn shorter_steps_and_skewed_orders_are_noticed() {
    for (nu, delta) in [(1.0, 0.0), (0.5, 1.0)] {
        let case = Case::flat().with_nu(nu);
        let proper = Way { delta, ..Way::proper(Step::Predefined) };
        for way in [proper.short(), proper.skewed()] {
            let [iterate, weighted, half] = excesses(&case, way);
            // The least of all expected gaps, and the two averages, which are worse.
            assert!(iterate > 1.0, "{nu} {way:?}: {iterate}");
            assert!(weighted > NOTICED && half > NOTICED, "{nu} {way:?}: {weighted} {half}");
        }
    }
}

#[test]
fn the_solver_s_weighted_average_is_that_of_the_paper() {
    let case = Case::curved();
    for step in STEPS {
        let settings = ProductSettings {
            step,
            sampling: Sampling::Uniform,
            average: Average::Weighted,
            seed: 7,
            ..ProductSettings::default()
        };
        let mut solver = case.solver(&settings);
        let iterates = walk(&case, Way::proper(step), 60, 7);
        for k in 1..=60 {
            solver.step().unwrap();
            let expected = weighted(&case, &iterates[..=k]);
            let average = solver.average().unwrap();
            assert!(
                distance(expected.coordinates(), average.coordinates()) < 1e-12,
                "{step:?} {k}"
            );
        }
    }
}
