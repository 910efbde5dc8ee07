//! With the linear kernel a run takes the steps of the run that has weights.

use crate::common::{Kind, Small, calls, distance};
use crate::kernels::judge::{Way, fit};
use dualgap::dual::{Acceleration, Average, Cache, Direction, Sampling, Settings, Step};
use dualgap::term::KernelFunction;

/// Every way to step, except what counts work, whose unit is another one under a kernel, and shrinking, for which rounding
/// decides whether a step of length zero has moved anything.
fn ways(small: &Small) -> Vec<Settings> {
    let base = Settings { cache: Cache::Off, ..small.settings() };
    vec![
        base.clone(),
        Settings { step: Step::Predefined, average: Average::Weighted, ..base.clone() },
        Settings { direction: Direction::Pairwise, ..base.clone() },
        Settings { direction: Direction::Away, sampling: Sampling::Gap, ..base.clone() },
        Settings { direction: Direction::Pairwise, batch: 3, ..base.clone() },
        Settings { average: Average::Suffix, sampling: Sampling::Uniform, ..base },
    ]
}

/// Σ_j β_j x_j, and the weights behind the coefficients.
fn weights(small: &Small, coefficients: &[f64]) -> Vec<f64> {
    let (inputs, labels) = (small.inputs.concat(), small.labels);
    let mut weights = vec![0.0; small.width() * labels];
    for (x, beta) in inputs.iter().zip(coefficients.chunks_exact(labels)) {
        for (f, x) in x.iter().enumerate() {
            for (y, b) in beta.iter().enumerate() {
                weights[f * labels + y] += x * b;
            }
        }
    }
    weights.extend_from_slice(&coefficients[inputs.len() * labels..]);
    weights
}

/// The most calls, up to this many, before an iterate at which rounding decides between two outputs that tie: a line search
/// can end there.
fn untied(small: &Small, settings: &Settings, most: u64) -> u64 {
    if settings.average != Average::None {
        return most; // an average is no iterate, and steps toward a corner of the whole block seldom end at a tie
    }
    let explicit = small.explicit();
    let tied = |n: &u64| explicit.is_tied(&small.train(settings, &calls(*n)).model.weights);
    (1..most).find(tied).unwrap_or(most)
}

#[test]
fn the_iterates_are_those_of_the_solver_with_weights() {
    let mut compared = 0;
    for (k, kind) in Kind::all(3).into_iter().enumerate() {
        let small = Small::random(10 + k as u64, kind, 8, 3, 3);
        let small = if k == 0 { small.with_pairs(5, 2) } else { small };
        for (seed, settings) in (0..).zip(ways(&small)) {
            let settings = Settings { seed, acceleration: Acceleration::Off, ..settings };
            let steps = untied(&small, &settings, 16);
            compared += steps;
            let plain = small.train(&settings, &calls(steps));
            let way = Way::new(settings.clone().into(), calls(steps));
            let under = fit(&small, &KernelFunction::Linear, &way);
            let off = distance(&plain.model.weights, &weights(&small, &under.weights));
            assert!(off < 1e-9, "{off:e} {k} {settings:?}");
            let (a, b) = (plain.certificate, under.certificate);
            assert!((a.primal - b.primal).abs() + (a.dual - b.dual).abs() < 1e-9, "{a:?} {b:?}");
        }
    }
    assert!(compared > 4 * 6 * 6, "{compared} steps: nearly all iterates tie");
}
