//! Appraisals of anybody's weights: the interval contains the distance to the optimum, as numbers of 32 digits have it
//! between the two sides of a much tighter run, for every loss, penalty and kind of weights.

use crate::common::cases;
use crate::common::fits::penalty;
use crate::common::wide::{Wide, wide};
use crate::linear::case::{Case, LOSSES, REGULARISERS};
use crate::linear::rounding::{dual, primal};
use dualgap::data::{Examples, Scaling};
use dualgap::linalg::Random;
use dualgap::run::{Budget, Stop};
use dualgap::structure::{Linear, Multiclass};
use dualgap::task::{Appraisal, Model, Plan, Task};
use dualgap::term::{MulticlassLoss, Penalty, Regulariser, ScalarLoss};
use proptest::prelude::*;

/// The tolerance of the appraisals, and the most passes that they take.
fn budget() -> Budget {
    Budget { passes: Some(2000), ..Budget::relative(1e-7) }
}

fn task(case: &Case) -> Task<Linear> {
    Task::new(Linear::new(case.loss), penalty(case.lambda, case.regulariser))
}

fn data(case: &Case) -> Examples {
    match &case.weights {
        Some(weights) => case.examples().with_weights(weights.clone()).unwrap(),
        None => case.examples(),
    }
}

fn appraise(case: &Case, w: &[f64]) -> Appraisal {
    let plan = Plan { threads: 1, ..Plan::new(budget()) };
    task(case).appraise(&data(case), w, plan).unwrap_or_else(|error| panic!("{error}: {case:?}"))
}

/// A model much nearer to the optimum than appraisals ask for.
fn tight(case: &Case) -> Model<Linear> {
    let budget = Budget { passes: Some(20_000), ..Budget::relative(1e-10) };
    task(case).fit(&data(case), Plan { threads: 1, ..Plan::new(budget) }).unwrap().model
}

/// The smallest and the largest possible distance of w from the optimum.
fn distance(case: &Case, w: &[f64], tight: &Model<Linear>) -> [Wide; 2] {
    let alpha = &tight.witness.as_ref().unwrap().weights;
    let here = primal(case, w);
    [here - primal(case, &tight.weights), here - dual(case, alpha)]
}

/// Checks everything that is promised of an appraisal.
fn check(case: &Case, w: &[f64], tight: &Model<Linear>) -> Appraisal {
    let found = appraise(case, w);
    let [low, high] = distance(case, w, tight);
    let (least, most) = (found.at_least(), found.at_most());
    assert!(least <= most, "{least} {most} {case:?} {w:?}");
    assert!(wide(least) <= high, "{least:e} exceeds {high:?}: {case:?} {w:?}");
    assert!(wide(most) >= low, "{most:e} is below {low:?}: {case:?} {w:?}");
    let off = (wide(found.certificate.primal) - primal(case, w)).abs();
    assert!(off <= wide(found.primal_error), "{off:?} {case:?}");
    let close = most - least <= 0.11 * most || found.certificate.relative_gap_bound() <= 1e-7;
    assert!(close || found.stop != Stop::GapReached, "{found:?}");
    // Pure l1 without a smooth loss may need more passes than there are.
    assert!(close || case.lambda == 0.0 || found.stop == Stop::Stalled, "{found:?} {case:?}");
    found
}

/// The weights of others: none, the best ones, some near them, random ones, and huge ones.
fn weights_of_others(case: &Case, best: &[f64], seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::new(seed);
    let floor =
        |j: usize| if case.is_free(j) || !case.regulariser.nonnegative { -1.0 } else { 0.0 };
    let mut near = |size: f64| -> Vec<f64> {
        let moved = best.iter().map(|w| w + size * (2.0 * random.unit() - 1.0));
        moved.enumerate().map(|(j, w)| if floor(j) == 0.0 { w.max(0.0) } else { w }).collect()
    };
    let huge = best.iter().map(|w| 1e4 * (w.abs() + 1.0)).collect();
    vec![vec![0.0; best.len()], best.to_vec(), near(1e-3), near(0.1), near(2.0), huge]
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn the_interval_contains_the_distance_to_the_optimum(
        seed in 0..100_000_u64,
        loss in 0..LOSSES.len(),
        regulariser in 0..REGULARISERS.len(),
        (pure, free, weighted) in (any::<bool>(), any::<bool>(), any::<bool>()),
        n in 5..14_usize,
    ) {
        let mut case = Case { regulariser: REGULARISERS[regulariser], ..Case::random(seed, LOSSES[loss], n, 3) };
        if weighted {
            let mut random = Random::new(seed + 1);
            case.weights = Some((0..n).map(|_| 0.25 + random.unit()).collect());
        }
        if pure {
            (case.lambda, case.regulariser.l1) = (0.0, 0.04);
        }
        if free {
            case = case.with_intercept();
        }
        let tight = tight(&case);
        for w in weights_of_others(&case, &tight.weights, seed) {
            check(&case, &w, &tight);
        }
    }
}

#[test]
fn the_optimum_of_a_smooth_problem_is_recognised_without_a_pass() {
    for loss in [ScalarLoss::Logistic, ScalarLoss::Squared, ScalarLoss::SquaredHinge] {
        let case = Case::random(5, loss, 30, 4).with_intercept();
        let pure = Case {
            lambda: 0.0,
            regulariser: Regulariser { l1: 0.02, ..case.regulariser },
            ..case.clone()
        };
        for case in [case, pure] {
            let tight = tight(&case);
            let found = check(&case, &tight.weights, &tight);
            assert!(found.passes == 0.0 && found.relative_at_most() <= 1e-7, "{found:?}");
        }
    }
}

#[test]
fn weights_of_scaled_columns_are_those_of_the_data() {
    let case = Case { regulariser: REGULARISERS[1], ..Case::random(8, ScalarLoss::Hinge, 20, 3) };
    let task = Task { scaling: Scaling::Max, ..task(&case) };
    let data = data(&case);
    let model = task.fit(&data, Plan::new(Budget::relative(1e-9))).unwrap().model;
    let zero = task.appraise(&data, &[0.0; 3], Plan::new(budget())).unwrap();
    let truth = 1.0 - model.certificate.primal; // the hinge at zero is 1
    assert!(zero.at_least() <= truth + 1e-8 && truth <= zero.at_most(), "{truth} {zero:?}");
    let best = task.appraise(&data, &model.weights, Plan::new(budget())).unwrap();
    assert!(best.relative_at_most() <= 1e-7, "{best:?}");
}

#[test]
fn classes_under_every_loss_and_penalty_are_appraised() {
    let rows: Vec<Vec<f64>> =
        (0..15).map(|i| vec![f64::from(i % 5) - 2.0, f64::from(i % 4) - 1.5, 1.0]).collect();
    let names: Vec<&str> = (0..15).map(|i| ["a", "b", "c"][(i + i / 4) % 3]).collect();
    let data = Examples::from_dense(&rows, &names).unwrap();
    for loss in
        [MulticlassLoss::Hinge, MulticlassLoss::SmoothHinge { width: 0.5 }, MulticlassLoss::Softmax]
    {
        for penalty in [Penalty::ridge(0.1), Penalty::elastic_net(0.1, 0.02), Penalty::lasso(0.05)]
        {
            let task = Task::new(Multiclass::new(loss), penalty);
            let fit = |tolerance: f64| {
                let budget = Budget { passes: Some(5000), ..Budget::relative(tolerance) };
                task.fit(&data, Plan::new(budget)).unwrap().model
            };
            let (rough, tight) = (fit(0.3), fit(1e-9));
            for w in [vec![0.0; 9], rough.weights, tight.weights.clone(), vec![3.0; 9]] {
                let found = task.appraise(&data, &w, Plan::new(budget())).unwrap();
                let here = found.certificate.primal;
                let (low, high) = (here - tight.certificate.primal, here - tight.certificate.dual);
                assert!(
                    found.at_least() <= high + 1e-12 && low - 1e-12 <= found.at_most(),
                    "{found:?}"
                );
                assert!(found.stop == Stop::GapReached || penalty.lambda().is_none(), "{found:?}");
            }
        }
    }
}

#[test]
fn weights_in_a_ball_are_appraised_and_those_outside_refused() {
    let case = Case::random(3, ScalarLoss::Logistic, 25, 4);
    for (penalty, w) in [
        (Penalty::l1_ball(1.5, 1e-3), [0.5, 0.0, -0.5, 0.0]),
        (Penalty::simplex(2.0, 0.0), [0.5; 4]),
    ] {
        let task = Task::new(Linear::new(case.loss), penalty);
        let data = case.examples();
        let tight = task.fit(&data, Plan::new(Budget::relative(1e-9))).unwrap().model;
        let found = task.appraise(&data, &w, Plan::new(budget())).unwrap();
        let here = found.certificate.primal;
        let (low, high) = (here - tight.certificate.primal, here - tight.certificate.dual);
        assert!(found.at_least() <= high + 1e-12 && low - 1e-12 <= found.at_most(), "{found:?}");
        assert!(found.at_least() > 0.8 * low, "{found:?}");
        let error = task.appraise(&data, &[1.0; 4], Plan::new(budget())).unwrap_err().to_string();
        assert!(error.contains("4e0") && error.contains("no gap"), "{error}");
    }
}

#[test]
fn weights_that_are_none_of_the_problem_are_refused_with_a_reason() {
    let case = Case { regulariser: REGULARISERS[2], ..Case::random(1, ScalarLoss::Squared, 9, 3) };
    let refused = |w: &[f64]| {
        task(&case).appraise(&data(&case), w, Plan::new(budget())).unwrap_err().to_string()
    };
    assert_eq!(refused(&[0.0; 2]), "there are 2 weights, and the problem has 3");
    assert_eq!(refused(&[0.0, f64::NAN, 1.0]), "weight 2 is NaN");
    assert!(refused(&[f64::INFINITY; 3]).starts_with("weight 1 is inf"));
    assert!(refused(&[1.0, 0.0, -0.25]).starts_with("weight 3 is -2.5e-1, and no weight"));
    assert!(refused(&[1e300; 3]).contains("larger than any number"));
    let free = Case::random(1, ScalarLoss::Squared, 9, 3).with_intercept();
    let far = task(&free).appraise(&data(&free), &[0.0, 0.0, 0.0, 1e9], Plan::new(budget()));
    assert!(far.unwrap_err().to_string().contains("the intercept is 1e9"));
}
