//! As many iterations as the theorems of the Prox-SDCA paper ask for are enough, with blocks drawn uniformly
//! and rows of at most R in length. The theorems speak of expectations; a mean over some seeds stands for them.

use crate::common::calls;
use crate::linear::case::{Case, LOSSES, REGULARISERS, choices, gamma};
use dualgap::dual::{Acceleration, Average, Sampling, Settings};
use dualgap::structure::Choice;

const SEEDS: u64 = 10;

/// Targets small enough for a mean loss of at most one at w = 0, which both theorems assume.
fn case(seed: u64, loss: dualgap::term::ScalarLoss, n: usize) -> Case {
    let mut case = Case::random(seed, loss, n, 3);
    case.targets.iter_mut().for_each(|y| *y = y.clamp(-1.0, 1.0));
    assert!(case.primal(&[0.0; 3]) <= 1.0);
    case
}

fn longest_squared(case: &Case) -> f64 {
    case.rows.iter().map(|x| x.iter().map(|x| x * x).sum()).fold(0.0, f64::max)
}

/// The mean gap of the last iterate, or average, after so many steps.
fn mean_gap(case: &Case, choice: Choice, average: Average, steps: u64) -> f64 {
    let gap = |seed| {
        // The theorems' own steps: no momentum.
        let settings = Settings {
            sampling: Sampling::Uniform,
            acceleration: Acceleration::Off,
            average,
            seed,
            ..case.settings()
        };
        let report = case.train(choice, &settings, &calls(steps));
        let last = report.history.last().unwrap();
        assert_eq!(last.work.steps, steps);
        last.iterate_primal - last.iterate_dual
    };
    (0..SEEDS).map(gap).sum::<f64>() / SEEDS as f64
}

#[test]
fn smooth_losses_converge_within_the_iterations_of_theorem_1() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        let Some(gamma) = gamma(loss) else { continue };
        for regulariser in [REGULARISERS[0], REGULARISERS[3]] {
            for (lambda, epsilon) in [(1.0, 1e-3), (0.05, 1e-2), (0.005, 1e-1)] {
                let case = Case { lambda, regulariser, ..case(k as u64, loss, 15) };
                let condition = 15.0 + longest_squared(&case) / (lambda * gamma);
                let steps = (condition * (condition / epsilon).ln()).ceil() as u64;
                for choice in choices(loss) {
                    let gap = mean_gap(&case, choice, Average::None, steps);
                    assert!(gap <= epsilon, "{loss:?} {choice:?} {lambda}: {gap} after {steps}");
                }
            }
        }
    }
}

// The paper averages the iterates T0 to T − 1. Ours since the last power of two are those of T0 = 2^k to
// T − 1 = 2^(k + 1) − 1: k is chosen to make both T0 and T − T0 as large as the theorem asks for. All of
// these losses are 1-Lipschitz.
#[test]
fn lipschitz_losses_converge_within_the_iterations_of_theorem_2() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        if gamma(loss).is_some() {
            continue;
        }
        for regulariser in [REGULARISERS[0], REGULARISERS[3]] {
            for (lambda, epsilon) in [(1.0, 0.04), (0.1, 0.2), (0.02, 0.6)] {
                let n = 10_f64;
                let case = Case { lambda, regulariser, ..case(90 + k as u64, loss, 10) };
                let r = longest_squared(&case);
                let before = (n * (0.5 * lambda * n / r).ln()).ceil().max(0.0)
                    + 16.0 * r / (lambda * epsilon);
                let averaged = n + 4.0 * r / (lambda * epsilon);
                let power = (before.max(averaged).ceil() as u64).next_power_of_two();
                for choice in choices(loss) {
                    let gap = mean_gap(&case, choice, Average::Suffix, 2 * power - 1);
                    assert!(gap <= epsilon, "{loss:?} {choice:?} {lambda}: {gap} of {epsilon}");
                }
            }
        }
    }
}
