//! Steps never lower the dual value, whichever option chooses them and however many share the same w.

use crate::linear::case::{Case, LOSSES, REGULARISERS, choices};
use dualgap::data::Examples;
use dualgap::dual::{Acceleration, Algorithm, Blocks, Sampling, Settings, View};
use dualgap::run::{Budget, Report, Solution, Stop};
use dualgap::structure::{Choice, LinearBlocks, ScoreBlocks};
use dualgap::term::{Costs, MulticlassLoss, Norm, ScalarLoss};
use std::fmt::Debug;

/// A certification after every pass.
pub fn watched(passes: u64) -> Budget {
    Budget { certify_share: 1000.0, ..Budget::passes(passes) }
}

fn assert_ascends(case: &Case, choice: Choice, settings: &Settings) {
    // Momentum may carry the dual point down for a while.
    let settings = &Settings { acceleration: Acceleration::Off, ..settings.clone() };
    let report = case.train(choice, settings, &watched(60));
    assert_never_falls(&report, &(case.loss, choice, settings));
}

pub fn assert_never_falls(report: &Report<Solution<f64>>, of: &dyn Debug) {
    // Where the first pass comes to the optimum there is nothing to compare.
    assert!(report.history.len() > 1 || report.stop == Stop::Stalled, "{:?}", report.stop);
    for pair in report.history.windows(2) {
        let allowed = pair[0].certificate.rounding_error + pair[1].certificate.rounding_error;
        assert!(pair[1].iterate_dual >= pair[0].iterate_dual - allowed, "{of:?} {pair:?}");
    }
}

#[test]
fn the_dual_value_never_falls_from_one_certification_to_the_next() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for regulariser in REGULARISERS {
            for lambda in [1e-3, 0.3] {
                // Few examples in a batch that share features: their steps get into each other's way.
                let random = Case::random(k as u64, loss, 7, 2);
                let weights = (lambda < 0.01).then(|| (1..=7).map(f64::from).collect());
                let case = Case { lambda, regulariser, weights, ..random };
                for choice in choices(loss) {
                    for (batch, sampling) in [
                        (1, Sampling::Permuted),
                        (7, Sampling::Permuted),
                        (5, Sampling::Uniform),
                        (2, Sampling::Cyclic),
                    ] {
                        let settings = Settings { batch, sampling, ..case.settings() };
                        assert_ascends(&case, choice, &settings);
                    }
                }
                let settings = Settings { method: Algorithm::Fw, ..case.settings() };
                assert_ascends(&case, Choice::I, &settings);
            }
        }
    }
}

// Rows ten to ten thousand times as long as the shortest: where the longest is all that counts, and where not.
#[test]
fn the_dual_value_never_falls_for_rows_of_all_lengths() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        let mut case = Case::random(50 + k as u64, loss, 8, 3);
        for (row, length) in case.rows.iter_mut().zip([0.1, 1.0, 10.0, 1e2, 1e3].iter().cycle()) {
            row.iter_mut().for_each(|x| *x *= length);
        }
        for choice in choices(loss) {
            for batch in [1, 3] {
                assert_ascends(&case, choice, &Settings { batch, ..case.settings() });
            }
        }
    }
}

#[test]
fn the_exact_step_gains_at_least_as_much_as_every_other() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for regulariser in REGULARISERS {
            let case = Case { regulariser, ..Case::random(80 + k as u64, loss, 4, 2) };
            let settings = Settings { sampling: Sampling::Cyclic, ..case.settings() };
            let after_one = |choice| {
                let budget = crate::common::calls(1);
                let c = case.train(choice, &settings, &budget).certificate;
                (c.dual, c.rounding_error)
            };
            // Under the plain regulariser the step is exact; under others it is so for a lower bound.
            let (best, error) = after_one(Choice::I);
            for choice in choices(loss) {
                let (dual, other) = after_one(choice);
                let exact = regulariser.is_plain();
                assert!(!exact || dual <= best + error + other, "{loss:?} {choice:?}");
                assert!(dual >= -error - other, "{loss:?} {choice:?}");
            }
        }
    }
}

/// The first step from zero, where the gap of every hinge is one: a share 1/(4L²R²/λn) of the way, and one at most. L is 1
/// for one score, and 2 for several in the largest of them.
#[test]
fn lipschitz_steps_have_the_length_of_the_theorem() {
    let rows = [vec![0.5, 0.0], vec![0.0, 2.0], vec![1.0, 1.0]];
    let data = Examples::from_dense(&rows, &["a", "b", "c"]).unwrap();
    for lambda in [0.01, 1.0, 1e3] {
        let share = |steepness: f64| (lambda * 3.0 / (4.0 * steepness.powi(2) * 4.0)).min(1.0);
        let view = View {
            w: &[0.0; 6],
            factor: 1.0,
            scale: 1.0 / (3.0 * lambda),
            norm: Norm::Euclidean,
            fresh: true,
        };
        let signs = vec![1.0, -1.0, 1.0];
        let choice = Choice::IVLipschitz;
        let blocks = LinearBlocks::new(data.rows(), signs.clone(), ScalarLoss::Hinge, choice);
        let blocks = blocks.unwrap();
        for (i, y) in signs.into_iter().enumerate() {
            let (mut to, mut scratch) = (0.0, blocks.scratch());
            blocks.aim(i, &0.0, &view, &mut to, &mut scratch).unwrap();
            assert!((to - y * share(1.0)).abs() < 1e-15, "{to} {lambda}");
            // Where it is already: no step, and no division by zero.
            blocks.aim(i, &y, &view, &mut to, &mut scratch).unwrap();
            assert!(to == y, "{to}");
        }
        let blocks =
            ScoreBlocks::new(&data, &Costs::ZeroOne, MulticlassLoss::Hinge, choice).unwrap();
        for i in 0..3 {
            let (mut to, mut scratch) = (Vec::new(), blocks.scratch());
            blocks.aim(i, &blocks.start(i), &view, &mut to, &mut scratch).unwrap();
            assert!((to[i] - (1.0 - share(2.0))).abs() < 1e-15, "{to:?} {lambda}");
        }
    }
}
