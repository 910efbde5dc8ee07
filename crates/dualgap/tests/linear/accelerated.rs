//! Accelerated rounds on ill-conditioned problems: with them, without them and where the run decides by itself, all
//! certified intervals contain the same optimum, and they take far fewer passes where it counts.

use crate::common::cases;
use crate::linear::case::{Case, LOSSES, REGULARISERS};
use crate::linear::rounding::{dual, primal};
use crate::linear::solvers::quadratic_program;
use dualgap::data::Examples;
use dualgap::dual::{Acceleration, Begin, Sampling, Settings, train_from};
use dualgap::linalg::Random;
use dualgap::run::{Budget, Certificate, Stop};
use dualgap::structure::{Choice, ScoreBlocks};
use dualgap::term::{Costs, MulticlassLoss, Regulariser, ScalarLoss};
use proptest::prelude::*;

const ALL: [Acceleration; 3] = [Acceleration::Off, Acceleration::Auto, Acceleration::On];

/// Columns that are all but the same, and of different sizes.
pub fn ill_conditioned(seed: u64, loss: ScalarLoss, lambda: f64) -> Case {
    let mut case = Case { lambda, ..Case::random(seed, loss, 40, 4) };
    for row in &mut case.rows {
        let common = row[0];
        let sizes = [1.0, 5.0, 0.3, 1.0];
        row.iter_mut().zip(sizes).for_each(|(x, size)| *x = size * (common + 0.1 * *x));
    }
    case
}

/// Two certified intervals of the same problem have a point in common.
pub fn assert_meet(a: Certificate, b: Certificate, of: &str) {
    let error = a.rounding_error + b.rounding_error;
    assert!(a.dual <= b.primal + error && b.dual <= a.primal + error, "{of}: {a:?} {b:?}");
}

#[test]
fn every_interval_contains_the_optimum_of_a_quadratic_program() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for regulariser in REGULARISERS {
            for (lambda, free) in [(1e-4, false), (1e-6, true), (1e-8, false)] {
                let regulariser = Regulariser { l1: regulariser.l1 / 100.0, ..regulariser };
                let case = Case { regulariser, ..ill_conditioned(k as u64, loss, lambda) };
                let case = if free { case.with_intercept() } else { case };
                let optimum = quadratic_program(&case, &[]).map(|w| case.primal(&w));
                let certificates = ALL.map(|acceleration| {
                    let settings = Settings { acceleration, ..case.settings() };
                    let c = case.train(Choice::I, &settings, &Budget::passes(150)).certificate;
                    if let Some(optimum) = optimum {
                        let what = format!("{optimum} {c:?} {acceleration:?} {case:?}");
                        assert!(c.dual - c.rounding_error <= optimum + 1e-8, "{what}");
                        assert!(optimum <= c.primal + c.rounding_error + 1e-6, "{what}");
                    }
                    c
                });
                assert_meet(certificates[0], certificates[1], "Off and Auto");
                assert_meet(certificates[0], certificates[2], "Off and On");
                assert_meet(certificates[1], certificates[2], "Auto and On");
            }
        }
    }
}

// Condition numbers of a few thousands: what takes plain steps thousands of passes takes rounds a few hundred.
#[test]
fn rounds_take_a_fifth_of_the_passes_on_ill_conditioned_problems() {
    for loss in [ScalarLoss::Logistic, ScalarLoss::Huber { width: 3.0 }, ScalarLoss::SquaredHinge] {
        let lambda = if loss == ScalarLoss::Logistic { 1e-5 } else { 1e-4 };
        let case = Case { regulariser: REGULARISERS[3], ..ill_conditioned(1, loss, lambda) };
        let passes = |acceleration| {
            let settings = Settings { acceleration, ..case.settings() };
            let budget = Budget { passes: Some(20_000), ..Budget::relative(1e-6) };
            let report = case.train(Choice::I, &settings, &budget);
            if acceleration == Acceleration::On {
                assert_eq!(report.stop, Stop::GapReached, "{loss:?}");
            }
            report.passes
        };
        let (on, off) = (passes(Acceleration::On), passes(Acceleration::Off));
        assert!(5.0 * on <= off, "{loss:?}: {on} passes, and {off} without rounds");
    }
}

/// Classes that depend on columns of different sizes.
fn classes(seed: u64, n: usize) -> Examples {
    let mut random = Random::new(seed);
    let mut signed = || 2.0 * random.unit() - 1.0;
    let rows: Vec<Vec<f64>> = (0..n)
        .map(|_| {
            let common = signed();
            vec![common, 4.0 * (common + 0.1 * signed()), 0.3 * signed()]
        })
        .collect();
    let name = |row: &Vec<f64>| {
        let score = row[0] + row[2] + 0.3 * signed();
        if score < -0.3 {
            "low"
        } else if score < 0.3 {
            "middle"
        } else {
            "high"
        }
    };
    let names: Vec<&str> = rows.iter().map(name).collect();
    Examples::from_dense(&rows, &names).unwrap()
}

#[test]
fn several_scores_have_the_same_optimum_with_rounds_and_without() {
    use MulticlassLoss::{Hinge, SmoothHinge, Softmax};
    let data = classes(2, 30);
    for loss in [Hinge, SmoothHinge { width: 1.0 }, SmoothHinge { width: 0.3 }, Softmax] {
        for regulariser in [Regulariser::PLAIN, Regulariser { l1: 1e-3, ..Regulariser::PLAIN }] {
            for lambda in [1e-2, 1e-4, 1e-6] {
                let blocks = ScoreBlocks::new(&data, &Costs::ZeroOne, loss, Choice::I).unwrap();
                let certificate = |acceleration, passes| {
                    let base = Settings { lambda, regulariser, threads: 1, ..Settings::default() };
                    let settings = Settings { acceleration, ..base };
                    let budget = Budget { passes: Some(passes), ..Budget::relative(1e-7) };
                    train_from(&blocks, &settings, Begin::Fresh, &budget, &mut (), None)
                        .unwrap()
                        .certificate
                };
                let judge = certificate(Acceleration::Off, 3000);
                for acceleration in ALL {
                    let c = certificate(acceleration, 200);
                    assert_meet(c, judge, &format!("{loss:?} {lambda} {acceleration:?}"));
                    let gap = c.gap() / c.primal;
                    assert!(lambda < 1e-3 || gap < 1e-3, "{loss:?} {acceleration:?} {gap}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn both_sides_are_what_numbers_of_32_digits_say(
        seed in 0..10_000_u64,
        loss in 0..LOSSES.len(),
        regulariser in 0..REGULARISERS.len(),
        exponent in -8.0..-1.0_f64,
        (batch, sampling) in (1..5_usize, 0..4_usize),
        on in any::<bool>(),
        passes in 0..60_u64,
        weighted in any::<bool>(),
    ) {
        let mut case = ill_conditioned(seed, LOSSES[loss], 10_f64.powf(exponent));
        case.regulariser = REGULARISERS[regulariser];
        case.weights = weighted.then(|| (0..40).map(|i| f64::from(i % 5)).collect());
        let sampling = [Sampling::Permuted, Sampling::Uniform, Sampling::Cyclic, Sampling::Importance][sampling];
        let acceleration = if on { Acceleration::On } else { Acceleration::Auto };
        let settings = Settings { batch, sampling, acceleration, ..case.settings() };
        let report = case.train(Choice::I, &settings, &Budget::passes(passes));
        let c = report.certificate;
        let above = (primal(&case, &report.model.weights) - c.primal.into()).abs().float();
        let below = (dual(&case, &report.model.points) - c.dual.into()).abs().float();
        prop_assert!(above + below <= c.rounding_error, "{above:e} {below:e} {c:?}");
    }
}
