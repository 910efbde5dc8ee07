//! The outputs of the paper's theorems, an average of the last iterates or one of them drawn at random: their
//! certificates are true and contain the optimum, and the seed decides what is drawn.

use crate::common::{calls, cases};
use crate::linear::case::{Case, LOSSES, REGULARISERS, gamma};
use crate::linear::rounding::{dual, primal};
use crate::linear::solvers::quadratic_program;
use crate::linear::survival::{Fit, bits};
use dualgap::dual::{Average, Sampling, Settings};
use dualgap::run::Budget;
use dualgap::structure::Choice;
use dualgap::term::ScalarLoss;
use proptest::prelude::*;

const OUTPUTS: [Average; 2] = [Average::Suffix, Average::Random];

#[test]
fn the_interval_of_every_output_contains_the_optimum() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for regulariser in REGULARISERS {
            let case = Case { regulariser, ..Case::random(k as u64, loss, 20, 4) };
            let Some(optimum) = quadratic_program(&case, &[]).map(|w| case.primal(&w)) else {
                continue;
            };
            for average in OUTPUTS {
                for passes in [1, 7, 60] {
                    let base = Settings { sampling: Sampling::Uniform, ..case.settings() };
                    let settings = Settings { average, ..base };
                    let c = case.train(Choice::I, &settings, &Budget::passes(passes)).certificate;
                    let what = format!("{average:?} {c:?} {optimum} {case:?}");
                    assert!(c.dual - c.rounding_error <= optimum + 1e-9, "{what}");
                    assert!(optimum <= c.primal + c.rounding_error + 1e-7, "{what}");
                }
            }
        }
    }
}

// One certification, after the last step: the output is then that of the theorem and not the best that was seen.
#[test]
fn the_random_output_is_one_of_the_iterates_since_the_last_power_of_two() {
    let case = Case::random(3, ScalarLoss::SmoothHinge { width: 1.0 }, 6, 3);
    for batch in [1, 4] {
        let output = |average, seed, steps| {
            let base = Settings { sampling: Sampling::Uniform, batch, ..case.settings() };
            let settings = Settings { average, seed, ..base };
            case.train(Choice::I, &settings, &calls(steps)).model.points
        };
        for seed in 0..20 {
            for steps in [1, 2, 5, 8, 13, 16, 31] {
                let drawn = output(Average::Random, seed, steps);
                assert_eq!(drawn, output(Average::Random, seed, steps), "the seed decides");
                let first = 1 << steps.ilog2();
                let mut since = (first..=steps).map(|t| output(Average::None, seed, t));
                // Batches end where a run does: of shorter runs the last one is another.
                assert!(batch > 1 || since.any(|at| at == drawn), "{seed} {steps}");
            }
        }
    }
}

// Each as likely as the others: of 16 to 31 the mean is 23.5, and 600 draws are within five deviations of it.
#[test]
fn every_iterate_is_as_likely_to_be_drawn() {
    let case = Case::random(4, ScalarLoss::Logistic, 5, 3);
    let base = Settings { sampling: Sampling::Cyclic, shrinking: false, ..case.settings() };
    let iterates: Vec<Vec<f64>> =
        (16..=31).map(|t| case.train(Choice::I, &base, &calls(t)).model.points).collect();
    let place = |seed| {
        let settings = Settings { average: Average::Random, seed, ..base.clone() };
        let drawn = case.train(Choice::I, &settings, &calls(31)).model.points;
        iterates.iter().position(|at| *at == drawn).expect("one of the iterates") as f64
    };
    let mean = (0..600).map(place).sum::<f64>() / 600.0;
    assert!((mean - 7.5).abs() < 5.0 * 4.61 / 600_f64.sqrt(), "{mean}");
}

#[test]
fn a_resumed_run_draws_what_it_would_have_drawn() {
    let folder = tempfile::tempdir().unwrap();
    for (k, loss) in LOSSES.into_iter().enumerate() {
        let case = Case { regulariser: REGULARISERS[k % 4], ..Case::random(k as u64, loss, 9, 3) };
        for (batch, sampling) in [(1, Sampling::Uniform), (4, Sampling::Permuted)] {
            let average = Average::Random;
            let settings = Settings { average, batch, sampling, seed: 3, ..case.settings() };
            let fit = Fit { case: &case, choice: Choice::I, settings: &settings };
            let file = folder.path().join(format!("{k}-{batch}"));
            let whole = fit.run(23, None, None);
            fit.run(2, Some(&file), None);
            fit.run(9, Some(&file), Some(&file));
            assert_eq!(bits(&fit.run(23, None, Some(&file))), bits(&whole), "{loss:?} {batch}");
        }
    }
}

// Theorem 2 with a random output in the place of the average: the same number of iterations is enough.
#[test]
fn lipschitz_losses_converge_with_a_random_output_too() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        if gamma(loss).is_some() {
            continue;
        }
        let mut case = Case { lambda: 0.1, ..Case::random(90 + k as u64, loss, 10, 3) };
        case.targets.iter_mut().for_each(|y| *y = y.clamp(-1.0, 1.0));
        let squares = case.rows.iter().map(|x| x.iter().map(|x| x * x).sum::<f64>());
        let (epsilon, longest) = (0.1, squares.fold(0.0, f64::max));
        let before = (10.0 * (0.5 / longest).ln()).max(0.0) + 16.0 * longest / (0.1 * epsilon);
        let power = (before.ceil() as u64).next_power_of_two();
        let gap = |seed| {
            let base = Settings { sampling: Sampling::Uniform, seed, ..case.settings() };
            let settings = Settings { average: Average::Random, ..base };
            let report = case.train(Choice::I, &settings, &calls(2 * power - 1));
            let last = report.history.last().unwrap();
            last.iterate_primal - last.iterate_dual
        };
        let mean = (0..10).map(gap).sum::<f64>() / 10.0;
        assert!(mean <= epsilon, "{loss:?}: {mean}");
    }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn both_sides_are_what_numbers_of_32_digits_say(
        seed in 0..10_000_u64,
        loss in 0..LOSSES.len(),
        regulariser in 0..REGULARISERS.len(),
        random in any::<bool>(),
        (batch, sampling) in (1..5_usize, 0..4_usize),
        passes in 0..40_u64,
    ) {
        let regulariser = REGULARISERS[regulariser];
        let case = Case { regulariser, ..Case::random(seed, LOSSES[loss], 11, 3) };
        let sampling = [Sampling::Permuted, Sampling::Uniform, Sampling::Cyclic, Sampling::Importance][sampling];
        let average = OUTPUTS[usize::from(random)];
        let settings = Settings { average, batch, sampling, seed, ..case.settings() };
        let report = case.train(Choice::I, &settings, &Budget::passes(passes));
        let c = report.certificate;
        let above = (primal(&case, &report.model.weights) - c.primal.into()).abs().float();
        let below = (dual(&case, &report.model.points) - c.dual.into()).abs().float();
        prop_assert!(above + below <= c.rounding_error, "{above:e} {below:e} {c:?}");
    }
}
