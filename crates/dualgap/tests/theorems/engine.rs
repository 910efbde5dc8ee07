//! Theorems 1 to 3, C.3 and C.4 through the block-dual engine with plain settings: every step of a uniform order is
//! certified, so that D and the gap of every iterate are known.

use crate::theorems::{Case, STEPS};
use dualgap::dual::{Algorithm, Average, Engine, Joined, Problem, Sampling, Settings, Step};
use dualgap::run::{Quota, Solver, Work};
use dualgap::structure::MulticlassBlocks;
use dualgap::term::{Costs, L2};

const SEEDS: u64 = 12;
const K: usize = 120;

/// h and g of the iterates, or averages, 0 to K.
fn certified<S: Solver>(mut solver: S, case: &Case, steps: usize) -> Vec<[f64; 2]> {
    let quota = Quota { oracle_calls: u64::MAX, steps: 1, pause: u64::MAX, halted: &|| false };
    (0..=steps)
        .map(|k| {
            let work = if k > 0 { solver.advance(&quota).unwrap() } else { Work::default() };
            assert_eq!(work.steps, u64::from(k > 0));
            let iterate = solver.certify().unwrap().iterate;
            [-case.minimum - iterate.dual, iterate.primal - iterate.dual]
        })
        .collect()
}

/// The means of h and g over the seeds.
fn expected(case: &Case, settings: &Settings) -> Vec<[f64; 2]> {
    let data = case.small.examples();
    let blocks = MulticlassBlocks::new(&data, &Costs::ZeroOne).unwrap();
    let mut sums = vec![[0.0; 2]; K + 1];
    let seeds = if settings.method == Algorithm::Fw { 1 } else { SEEDS };
    for seed in 0..seeds {
        let settings = Settings { seed, sampling: Sampling::Uniform, ..settings.clone() };
        let numbers = if settings.method == Algorithm::Fw {
            let joined = Joined::new(&blocks, None).unwrap();
            let problem = Problem::new(&joined, L2, settings.lambda, None).unwrap();
            certified(Engine::new(problem, &settings).unwrap(), case, K)
        } else {
            let problem = Problem::new(&blocks, L2, settings.lambda, None).unwrap();
            certified(Engine::new(problem, &settings).unwrap(), case, K)
        };
        for (sum, number) in sums.iter_mut().zip(numbers) {
            *sum = [sum[0] + number[0] / seeds as f64, sum[1] + number[1] / seeds as f64];
        }
    }
    sums
}

#[test]
fn batch_frank_wolfe_is_within_theorem_1() {
    for case in Case::both() {
        for step in STEPS {
            let settings = Settings { method: Algorithm::Fw, step, ..case.small.settings() };
            let numbers = expected(&case, &settings);
            let mut least = f64::INFINITY;
            for (k, [h, g]) in numbers.into_iter().enumerate().skip(1) {
                assert!(h <= 2.0 * case.c_whole / (k as f64 + 2.0), "{step:?}, step {k}");
                least = least.min(g);
                assert!(least <= 6.0 * case.c_whole / (k as f64 + 1.0), "{step:?}, step {k}");
            }
        }
    }
}

#[test]
fn bcfw_is_within_theorem_2_and_its_weighted_average_within_c_3() {
    for case in Case::both() {
        let (n, constant) = (case.n() as f64, case.c_blocks + case.h0);
        for step in STEPS {
            for (k, [h, _]) in
                expected(&case, &Settings { step, ..case.small.settings() }).into_iter().enumerate()
            {
                assert!(h <= 2.0 * n / (k as f64 + 2.0 * n) * constant, "{step:?}, step {k}");
            }
            let settings = Settings { step, average: Average::Weighted, ..case.small.settings() };
            for (k, [_, g]) in expected(&case, &settings).into_iter().enumerate() {
                assert!(g <= 6.0 * n / (k as f64 + 1.0) * constant, "{step:?}, step {k}");
            }
        }
    }
}

// With the constants that only need R, λ, n and the largest loss: C⊗ ≤ 4R²/(λn), h_0 ≤ L. Where L is the larger one,
// it is forgotten after n log(2Lλn/4R²) steps.
#[test]
fn bcfw_with_line_search_is_within_theorem_3() {
    for (case, forgets) in Case::both().into_iter().zip([true, false]) {
        let explicit = case.small.explicit();
        let longest = explicit
            .examples
            .iter()
            .flatten()
            .map(|corner| corner.psi.iter().map(|psi| psi * psi).sum::<f64>());
        let n = case.n() as f64;
        let c = 4.0 * longest.fold(0.0, f64::max) / (explicit.lambda * n);
        assert_eq!(c < 1.0, forgets, "the largest loss is one");
        assert!(case.c_blocks <= c * (1.0 + 1e-12));
        let settings = Settings { step: Step::LineSearch, ..case.small.settings() };
        let k0 = (n * (2.0 / c).ln()).ceil().max(0.0) as usize;
        assert!(K > 5 * k0);
        for (k, [h, _]) in expected(&case, &settings).into_iter().enumerate() {
            let bound = match k.checked_sub(k0) {
                _ if !forgets => 2.0 * n * 2.0 * c / (k as f64 + 2.0 * n),
                Some(since) => 2.0 * n * c / (since as f64 + 2.0 * n),
                None => continue, // the first phase
            };
            assert!(h <= bound, "step {k}: {h} {bound}");
        }
        let least =
            expected(&case, &settings).iter().map(|[_, g]| *g).fold(f64::INFINITY, f64::min);
        let constant = if forgets { c } else { 2.0 * c };
        assert!(least <= 6.0 * n / (K as f64 + 1.0) * constant);
    }
}
