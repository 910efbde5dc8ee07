//! The structural solvers are the general one on their own dual, step by step: the same blocks in the same order, the
//! same corners, the same step lengths, the same weights.

use crate::common::explicit::Explicit;
use crate::common::structural::StructuralDual;
use crate::common::{Kind, Small, calls, distance};
use dualgap::dual::{Algorithm, Average, Sampling, Settings, Step};
use dualgap::methods::product::{self, FrankWolfe};

/// Compares the two after each of so many steps; how many were decided by more than rounding.
fn follow(small: &Small, settings: &Settings, steps: u64) -> u64 {
    let problem: Explicit = small.explicit();
    let dual = StructuralDual::new(&problem);
    let truths = dual.truths();
    let product = dual.product();
    let Settings { method, step, sampling, average, seed, .. } = *settings;
    let general = product::ProductSettings {
        method,
        step,
        sampling,
        average,
        seed,
        ..product::ProductSettings::default()
    };
    let mut solver = FrankWolfe::at(&product, &general, product.point(truths).unwrap()).unwrap();
    let calls_of_step = if method == Algorithm::Fw { small.len() as u64 } else { 1 };
    for k in 1..=steps {
        // A line search can end where two outputs tie: which of them comes next is then decided by rounding.
        if problem.is_tied(solver.point().image()) {
            return k - 1;
        }
        solver.step().unwrap();
        let report = small.train(settings, &calls(k * calls_of_step));
        let alpha: Vec<f64> =
            small.distributions(&report.model.points).concat().iter().map(|a| a.float()).collect();
        let point = match average {
            Average::None => solver.point().clone(),
            _ => solver.average().unwrap().clone(),
        };
        let apart = distance(&report.model.weights, point.image());
        assert!(apart < 1e-12, "{method:?} {step:?} {sampling:?} {average:?}, step {k}: {apart:e}");
        // Of a run whose dual value can fall, the points are those of the best dual value.
        let latest = step == Step::LineSearch && average == Average::None;
        if let (Kind::Multiclass(_), true) = (&small.kind, latest) {
            let apart = distance(&alpha, point.coordinates());
            assert!(apart < 1e-12, "{method:?} {step:?} {sampling:?}, step {k}: {apart:e}");
        }
    }
    steps
}

#[test]
fn one_block_at_a_time_the_engine_takes_the_steps_of_algorithm_3() {
    let (mut decided, mut asked) = (0, 0);
    for kind in Kind::all(3) {
        let small = Small { lambda: 0.5, ..Small::random(11, kind, 5, 3, 2) };
        for sampling in [Sampling::Uniform, Sampling::Permuted, Sampling::Cyclic, Sampling::Gap] {
            for step in [Step::LineSearch, Step::Predefined] {
                let settings = Settings { sampling, step, seed: 4, ..small.settings() };
                decided += follow(&small, &settings, 12);
                asked += 12;
            }
        }
    }
    assert!(decided > asked / 2, "{decided} of {asked} steps were decided by more than rounding");
}

#[test]
fn all_blocks_at_once_the_engine_takes_the_steps_of_algorithm_1() {
    let (mut decided, mut asked) = (0, 0);
    for kind in Kind::all(3) {
        for weights in [None, Some(vec![1.0, 0.5, 2.0, 1.5])] {
            let small = Small { lambda: 0.5, weights, ..Small::random(5, kind.clone(), 4, 3, 2) };
            for step in [Step::LineSearch, Step::Predefined] {
                let settings = Settings { method: Algorithm::Fw, step, ..small.settings() };
                decided += follow(&small, &settings, 12);
                asked += 12;
            }
        }
    }
    assert!(decided > asked / 2, "{decided} of {asked} steps were decided by more than rounding");
}

#[test]
fn over_one_block_and_with_averages_too() {
    let small = Small { lambda: 0.5, ..Small::random(3, Kind::all(3)[3].clone(), 5, 3, 1) };
    let one = small.select(&[1]);
    let settings = Settings { step: Step::Predefined, ..one.settings() };
    assert!(follow(&one, &settings, 10) > 5);
    let (mut decided, mut asked) = (0, 0);
    for average in [Average::Weighted, Average::Suffix] {
        for (method, step) in [
            (Algorithm::Bcfw, Step::Predefined),
            (Algorithm::Bcfw, Step::LineSearch),
            (Algorithm::Fw, Step::Predefined),
            (Algorithm::Fw, Step::LineSearch),
        ] {
            let sampling = Sampling::Uniform;
            let settings = Settings { average, method, step, sampling, ..small.settings() };
            decided += follow(&small, &settings, 20);
            asked += 20;
        }
    }
    assert!(decided > asked / 2, "{decided} of {asked} steps were decided by more than rounding");
}
