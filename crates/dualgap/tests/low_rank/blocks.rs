//! Blocks of examples, where there are many of them for few outputs: the optimum is found, at a linear rate.

use crate::low_rank::Case;
use crate::low_rank::runs::{LOSSES, assert_optimal, assert_straight, optimum, run};
use dualgap::ball::trace::Features;
use dualgap::ball::{self, BallMethod, BallProblem, BallSettings, ClassLosses, Losses, PerOutput};
use dualgap::linalg::{LowRank, Random};
use dualgap::run::{Budget, Report, Solution};
use dualgap::term::{Costs, MulticlassLoss, ScalarLoss};

/// A run that took blocks, as its report says.
fn in_blocks<L: Losses>(
    problem: &BallProblem<Features<'_>, L>,
    relative: f64,
) -> Report<Solution<f64, LowRank>> {
    let report = run(problem, BallSettings::default(), relative, 20_000);
    assert!(report.tactics[0].starts_with("blocks of"), "{:?}", report.tactics);
    assert!(report.certificate.relative_gap() <= relative, "{:?}", report.certificate);
    report
}

/// As many examples as it takes.
fn many(seed: u64, d: usize, outputs: usize) -> Case {
    Case::random(seed, if seed.is_multiple_of(2) { 350 } else { 351 }, d, outputs)
}

#[test]
fn every_loss_reaches_the_optimum() {
    for (seed, loss) in LOSSES.into_iter().enumerate() {
        // Every loss meets every shape and every ball, and from loss to loss other shapes meet other balls.
        let mut balls = [(0.1, 1.0), (0.003, 0.6), (0.02, 50.0)];
        balls.rotate_left(seed % 3);
        for ((d, c), (mu, radius)) in [(5, 3), (3, 4), (6, 1)].into_iter().zip(balls) {
            let case = Case { mu, radius, ..many(seed as u64, d, c) };
            let rows = case.matrix();
            assert_optimal(&in_blocks(&case.problem(&rows, loss), 1e-9), &case, loss);
        }
    }
}

#[test]
fn without_mu_it_goes_around_a_centre_to_the_same_optimum() {
    for loss in [ScalarLoss::Squared, ScalarLoss::Logistic] {
        let case = Case { mu: 0.0, ..many(3, 5, 3) };
        let rows = case.matrix();
        let report = in_blocks(&case.problem(&rows, loss), 1e-7);
        let best = optimum(&case, loss);
        assert!((report.certificate.primal - best).abs() <= 1e-6 * best);
    }
}

/// All examples at once, with all singular values.
fn by_gradients<L: Losses>(problem: &BallProblem<Features<'_>, L>) -> f64 {
    let settings =
        BallSettings { method: BallMethod::ProjectedGradient, ..BallSettings::default() };
    let report = run(problem, settings, 1e-10, 20_000);
    assert!(report.certificate.relative_gap() <= 1e-10, "{:?}", report.certificate);
    report.certificate.primal
}

#[test]
fn classes_end_where_gradients_of_all_examples_end() {
    let costs = Costs::Matrix(vec![0.0, 1.0, 2.0, 0.5, 0.0, 1.0, 3.0, 1.0, 0.0]);
    for (loss, costs) in [
        (MulticlassLoss::Softmax, &Costs::ZeroOne),
        (MulticlassLoss::SmoothHinge { width: 0.7 }, &Costs::ZeroOne),
        (MulticlassLoss::SmoothHinge { width: 1.0 }, &costs),
    ] {
        let case = many(5, 4, 3);
        let rows = case.matrix();
        for (mu, radius) in [(0.05, 1.0), (1e-3, 6.0)] {
            let losses = ClassLosses::new(loss, &case.labels(), 3, costs).unwrap();
            let problem = BallProblem::trace(&rows, losses, mu, radius, None).unwrap();
            let (found, best) = (in_blocks(&problem, 1e-9), by_gradients(&problem));
            assert!(
                (found.certificate.primal - best).abs() <= 2e-9 * best.abs(),
                "{loss:?} {best}"
            );
        }
    }
}

// A weight of two is an example twice, and a weight of zero none.
#[test]
fn weights_are_numbers_of_examples() {
    let case = Case { mu: 0.01, ..many(8, 4, 3) };
    let weights: Vec<f64> = (0..case.rows.len()).map(|i| (i % 3) as f64).collect();
    let rows = case.matrix();
    let losses = PerOutput::new(ScalarLoss::Squared, case.targets.clone(), 3).unwrap();
    let weighed = BallProblem::trace(&rows, losses, 0.01, 2.0, Some(&weights)).unwrap();
    let places: Vec<usize> =
        (0..case.rows.len()).flat_map(|i| vec![i; weights[i] as usize]).collect();
    let repeated = rows.select(places.iter().copied());
    let targets = places.iter().flat_map(|&i| case.targets[3 * i..][..3].to_vec()).collect();
    let losses = PerOutput::new(ScalarLoss::Squared, targets, 3).unwrap();
    let counted = BallProblem::trace(&repeated, losses, 0.01, 2.0, None).unwrap();
    let [one, two] = [&weighed, &counted].map(|problem| in_blocks(problem, 1e-10));
    let away = (one.certificate.primal - two.certificate.primal).abs();
    assert!(away <= 2e-10 * one.certificate.primal, "{one:?} {two:?}");
}

// A few rows that are far longer than the others ask for rounds of more than a pass, and get them.
#[test]
fn a_few_long_rows_do_not_keep_it_from_the_optimum() {
    let mut case = Case { mu: 1e-4, radius: 30.0, ..many(2, 6, 3) };
    for (i, row) in case.rows.iter_mut().enumerate().filter(|(i, _)| i.is_multiple_of(25)) {
        row.iter_mut().for_each(|x| *x *= if i.is_multiple_of(50) { 40.0 } else { 8.0 });
    }
    let rows = case.matrix();
    for loss in [ScalarLoss::Logistic, ScalarLoss::SmoothHinge { width: 1.0 }] {
        let problem = case.problem(&rows, loss);
        let (found, best) = (in_blocks(&problem, 1e-8), by_gradients(&problem));
        assert!((found.certificate.primal - best).abs() <= 2e-8 * best);
    }
}

#[test]
fn the_gap_falls_at_a_linear_rate() {
    let case = Case { mu: 1e-3, radius: 12.0, ..many(4, 12, 4) }.fading();
    let rows = case.matrix();
    let problem = case.problem(&rows, ScalarLoss::Squared);
    let budget = Budget { certify_share: 1.0, ..Budget::relative(1e-11) };
    let report = ball::train(&problem, &BallSettings::default(), &budget, &mut ()).unwrap();
    assert!(report.tactics[0].starts_with("blocks of"), "{:?}", report.tactics);
    assert_straight(&report);
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_one_the_same_optimum() {
    let case = many(6, 5, 3);
    let rows = case.matrix();
    let problem = case.problem(&rows, ScalarLoss::Logistic);
    let of = |seed| run(&problem, BallSettings { seed, ..BallSettings::default() }, 1e-9, 500);
    let [one, again, other] = [3, 3, 4].map(of);
    assert_eq!((&one.model, one.certificate), (&again.model, again.certificate));
    assert_ne!(one.model, other.model);
    assert!((one.certificate.primal - other.certificate.primal).abs() <= 2e-9);
}

// Numbers whose squares are none, or vanish, are left to the method that decomposes the numbers themselves.
#[test]
fn any_scale_of_the_data_is_certified() {
    let best = optimum(&many(6, 5, 3), ScalarLoss::Squared);
    for scale in [1e-130, 1e-40, 1e40, 1e130] {
        let mut case = many(6, 5, 3);
        case.rows.iter_mut().flatten().for_each(|x| *x *= scale);
        (case.mu, case.radius) = (case.mu * scale * scale, case.radius / scale);
        if case.mu == 0.0 || !case.mu.is_finite() {
            continue;
        }
        let rows = case.matrix();
        let report =
            run(&case.problem(&rows, ScalarLoss::Squared), BallSettings::default(), 1e-8, 5000);
        let told = format!("{scale}: {:?} {:?}", report.certificate, report.tactics);
        assert!(report.certificate.relative_gap() <= 1e-8, "{told}");
        assert!((report.certificate.primal - best).abs() <= 1e-6 * best, "{told} {best}");
        assert!(report.model.weights.rows() == 5);
    }
}

/// How many passes a run took that ended as near as was asked for.
fn passes<L: Losses>(problem: &BallProblem<Features<'_>, L>, relative: f64) -> f64 {
    let report = in_blocks(problem, relative);
    report.history.last().unwrap().passes
}

// The centre is as strong as the data ask for, however small mu is, and however firmly the ball holds X.
#[test]
fn a_small_mu_takes_no_more_passes_than_none() {
    for (loss, radius) in [(ScalarLoss::SquaredHinge, 1.0), (ScalarLoss::Squared, 0.05)] {
        let rows = many(7, 3, 2).matrix();
        for mu in [0.0, 1e-8, 1e-6, 1e-4] {
            let taken = passes(&Case { mu, radius, ..many(7, 3, 2) }.problem(&rows, loss), 1e-5);
            assert!(taken <= 200.0, "{loss:?} {mu}: {taken} passes");
        }
    }
}

// Rows of lengths that have no mean: blocks alone stand still at weights of zero on some of these.
#[test]
fn where_blocks_do_not_get_on_all_examples_take_over() {
    let mut handed = 0;
    for seed in 0..4 {
        let mut case = Case { mu: 1e-3, radius: 5.0, ..many(seed, 12, 3) };
        let mut random = Random::new(seed);
        for row in &mut case.rows {
            let length = 30.0 * (std::f64::consts::PI * (random.unit() - 0.5)).tan();
            row.iter_mut().for_each(|x| *x *= length);
        }
        let rows = case.matrix();
        let problem = case.problem(&rows, ScalarLoss::Logistic);
        let report = in_blocks(&problem, 1e-2);
        handed += usize::from(report.tactics.iter().any(|told| told.contains("handed over")));
        let settings =
            BallSettings { method: BallMethod::ProjectedGradient, ..BallSettings::default() };
        let other = run(&problem, settings, 1e-2, 20_000);
        assert!(other.certificate.dual <= report.certificate.primal);
        assert!(report.certificate.dual <= other.certificate.primal);
    }
    assert!(handed > 0);
}
