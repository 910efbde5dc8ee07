//! Data that nobody would wish for.

use crate::common::{cases, fits};
use crate::linear::case::{Case, LOSSES, REGULARISERS, choices, is_binary};
use dualgap::Error;
use dualgap::data::Examples;
use dualgap::dual::{self, Blocks, Cache, Direction, Settings};
use dualgap::linalg::Rows;
use dualgap::run::{Budget, Stop};
use dualgap::structure::{Choice, LinearBlocks, MulticlassBlocks, ScoreBlocks};
use dualgap::term::{Costs, Free, MulticlassLoss, Regulariser, ScalarLoss};
use proptest::prelude::*;

fn case(loss: ScalarLoss, rows: &[[f64; 2]], targets: &[f64]) -> Case {
    Case {
        loss,
        rows: rows.iter().map(|row| row.to_vec()).collect(),
        targets: (targets.iter())
            .map(|&y| if is_binary(loss) { 1_f64.copysign(y) } else { y })
            .collect(),
        lambda: 0.1,
        regulariser: Regulariser::default(),
        weights: None,
    }
}

/// Every option and regulariser finds the optimum that the search finds.
fn assert_solved(case: &Case) {
    for regulariser in REGULARISERS {
        let case = Case { regulariser, ..case.clone() };
        let optimum = case.optimum();
        for choice in choices(case.loss) {
            for batch in [1, 2] {
                let settings = Settings { batch, ..case.settings() };
                let c = case.train(choice, &settings, &Budget::passes(400)).certificate;
                let what = format!("{choice:?} {case:?} {c:?} {optimum}");
                let scale = case.primal(&[0.0, 0.0]);
                assert!(c.dual - c.rounding_error <= optimum + 1e-13 * (1.0 + scale), "{what}");
                assert!(c.primal + c.rounding_error >= optimum - 1e-9 * (1.0 + scale), "{what}");
                assert!(c.gap() <= 0.02 * scale + c.rounding_error, "{what}");
            }
        }
    }
}

#[test]
fn rows_of_zeros_cost_what_they_cost() {
    for loss in LOSSES {
        assert_solved(&case(loss, &[[0.0, 0.0], [1.0, -0.5]], &[1.0, -1.0]));
        assert_solved(&case(loss, &[[0.0, 0.0]], &[1.0]));
        // Nothing can be done about them: the optimum is w = 0 at once.
        let nothing = case(loss, &[[0.0, 0.0], [0.0, 0.0]], &[1.0, -0.5]);
        let c = nothing.train(Choice::I, &nothing.settings(), &Budget::passes(1)).certificate;
        assert!(c.gap() <= c.rounding_error, "{loss:?} {c:?}");
    }
}

#[test]
fn a_single_example_is_a_problem_too() {
    for loss in LOSSES {
        for y in [1.0, -1.0, 0.05] {
            assert_solved(&case(loss, &[[0.7, -0.2]], &[y]));
        }
    }
}

#[test]
fn equal_targets_equal_rows_and_equal_features_are_solved() {
    for loss in LOSSES {
        assert_solved(&case(loss, &[[1.0, 0.3], [-0.2, 0.4], [0.5, -1.0]], &[1.0; 3]));
        assert_solved(&case(loss, &[[0.4, 0.9]; 4], &[1.0, -1.0, 1.0, 1.0]));
        assert_solved(&case(loss, &[[1.0, 1.0], [-0.4, -0.4], [0.3, 0.3]], &[1.0, -0.5, 0.2]));
    }
}

#[test]
fn targets_of_a_hundred_million_are_met_to_many_digits() {
    let rows = [[1.0, 0.5], [0.3, -1.0], [-0.8, 0.2], [0.1, 0.9]];
    let targets = [1e8, -2e8, 0.5e8, 3e8];
    for loss in [ScalarLoss::Squared, ScalarLoss::Absolute, ScalarLoss::Huber { width: 1e8 }] {
        let case = Case { lambda: 1e-3, ..case(loss, &rows, &targets) };
        let report = case.train(Choice::I, &case.settings(), &Budget::relative(1e-6));
        assert_eq!(report.stop, Stop::GapReached, "{loss:?} {:?}", report.certificate);
        let optimum = case.optimum();
        assert!((report.certificate.primal / optimum - 1.0).abs() < 2e-6, "{loss:?}");
    }
}

proptest! {
    #![proptest_config(cases(300))]

    // Whatever the sizes, a run ends with an interval that contains the optimum or with an error, and never in
    // a panic or a lie.
    #[test]
    fn huge_and_tiny_values_end_in_a_true_interval_or_an_error(
        loss in 0..LOSSES.len(),
        option in any::<prop::sample::Index>(),
        regulariser in 0..REGULARISERS.len(),
        exponents in (-150..150_i32, -150..150_i32, -12..12_i32),
        seed in 0..1000_u64,
    ) {
        let mut case = Case::random(seed, LOSSES[loss], 4, 2);
        case.rows.iter_mut().flatten().for_each(|x| *x *= 10_f64.powi(exponents.0));
        if !is_binary(case.loss) {
            case.targets.iter_mut().for_each(|y| *y *= 10_f64.powi(exponents.1));
        }
        case.lambda = 10_f64.powi(exponents.2);
        case.regulariser = REGULARISERS[regulariser];
        let options = choices(case.loss);
        let choice = options[option.index(options.len())];
        if let Ok(report) = case.try_train(choice, &case.settings(), &Budget::passes(20)) {
            let c = report.certificate;
            prop_assert!(c.primal.is_finite() && c.dual.is_finite());
            let (optimum, scale) = (case.optimum(), case.primal(&[0.0, 0.0]));
            prop_assert!(c.dual - c.rounding_error <= optimum + 1e-12 * scale, "{c:?} {optimum}");
        } else {
            // Only what overflows may be refused.
            prop_assert!(exponents.0.abs() > 50 || exponents.1.abs() > 50);
        }
    }
}

#[test]
fn targets_that_are_no_numbers_are_refused() {
    let rows = Rows::dense(&[vec![1.0], vec![2.0]]).unwrap();
    for loss in LOSSES {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let blocks = LinearBlocks::new(&rows, vec![1.0, bad], loss, Choice::I);
            assert!(matches!(blocks, Err(Error::Setting { .. })), "{loss:?} {bad}");
        }
        assert!(LinearBlocks::new(&rows, vec![1.0], loss, Choice::I).is_err(), "too few");
    }
    // Names are no numbers, even where they look like them.
    for names in [["1", "three"], ["1", "2"]] {
        let data = Examples::from_dense(&[vec![1.0], vec![2.0]], &names).unwrap();
        let (settings, budget) = (Settings::default(), Budget::passes(1));
        let result = fits::linear(ScalarLoss::Squared, Choice::I, &settings, &budget).run(&data);
        assert!(matches!(result, Err(Error::Setting { .. })), "{names:?}");
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let rows = Rows::dense(&[vec![1.0], vec![2.0]]).unwrap();
    for loss in LOSSES {
        let allowed = choices(loss).contains(&Choice::V);
        let blocks = LinearBlocks::new(&rows, vec![1.0, -1.0], loss, Choice::V);
        assert_eq!(blocks.is_ok(), allowed, "{loss:?}");
        let blocks = LinearBlocks::new(&rows, vec![1.0, -1.0], loss, Choice::IVLipschitz);
        assert_eq!(blocks.is_ok(), !allowed, "{loss:?}");
    }
    let case = Case::random(1, ScalarLoss::Squared, 4, 2);
    let refused = |settings: Settings| {
        matches!(
            case.try_train(Choice::I, &settings, &Budget::passes(1)),
            Err(Error::Setting { .. })
        )
    };
    assert!(!refused(case.settings()));
    for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(Settings { lambda, ..case.settings() }), "{lambda}");
    }
    for l1 in [-1.0, f64::NAN, f64::INFINITY] {
        let regulariser = Regulariser { l1, ..Regulariser::PLAIN };
        assert!(refused(Settings { regulariser, ..case.settings() }), "{l1}");
    }
    let fit = |loss| {
        let (settings, budget) = (case.settings(), Budget::passes(1));
        fits::linear(loss, Choice::I, &settings, &budget).run(&case.examples())
    };
    for width in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(fit(ScalarLoss::Huber { width }), Err(Error::Setting { .. })));
        assert!(matches!(fit(ScalarLoss::SmoothHinge { width }), Err(Error::Setting { .. })));
    }
    for epsilon in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            fit(ScalarLoss::EpsilonInsensitive { epsilon }),
            Err(Error::Setting { .. })
        ));
    }
}

#[test]
fn two_classes_are_two_classes() {
    for names in [["a", "a", "a"], ["a", "b", "c"]] {
        let rows = [vec![1.0], vec![2.0], vec![3.0]];
        let data = Examples::from_dense(&rows, &names).unwrap();
        let (settings, budget) = (Settings::default(), Budget::passes(1));
        let result = fits::linear(ScalarLoss::Hinge, Choice::I, &settings, &budget).run(&data);
        assert!(matches!(result, Err(Error::Setting { .. })), "{names:?}");
    }
}

// Blocks say by their types what they can do; settings are values, so what they ask for in vain is refused.
#[test]
fn what_blocks_cannot_do_is_refused_and_what_they_can_is_done() {
    fn does(blocks: &impl Blocks, settings: &Settings) -> bool {
        dual::train(blocks, settings, &Budget::passes(3), &mut ()).is_ok()
    }
    let inputs = [vec![1.0, 0.5], vec![0.2, 1.0], vec![0.6, 0.1]];
    let data = Examples::from_dense(&inputs, &["a", "b", "c"]).unwrap();
    let linear =
        LinearBlocks::new(data.rows(), vec![1.0, -1.0, 1.0], ScalarLoss::Hinge, Choice::I).unwrap();
    let classes = MulticlassBlocks::new(&data, &Costs::ZeroOne).unwrap();
    let softmax = MulticlassLoss::Softmax;
    let scores = ScoreBlocks::new(&data, &Costs::ZeroOne, softmax, Choice::I).unwrap();

    let plain = Settings::plain();
    for direction in [Direction::Away, Direction::Pairwise] {
        let settings = Settings { direction, ..plain.clone() };
        let did = (does(&linear, &settings), does(&scores, &settings));
        assert_eq!(did, (false, false), "{direction:?}");
        assert!(does(&classes, &settings), "{direction:?}");
    }
    let cached = Settings { cache: Cache::On, ..plain.clone() };
    assert!(!does(&linear, &cached) && !does(&scores, &cached));
    assert!(does(&classes, &cached));

    let free = |column| {
        let regulariser =
            Regulariser { free: Some(Free { column, bound: 1e3 }), ..plain.regulariser };
        Settings { regulariser, ..plain.clone() }
    };
    assert!(does(&linear, &free(1)));
    assert!(!does(&classes, &free(1)) && !does(&scores, &free(1)));
}
