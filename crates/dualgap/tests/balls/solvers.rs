//! Runs in the l1 ball: the same optimum as clarabel's, straight to it, and without work that grows with d.

use crate::balls::case::{Case, Kind, with_problem};
use crate::balls::judge::judge;
use crate::common::cases;
use dualgap::ball::{
    self, BallMethod, BallProblem, BallSettings, BallTable, Losses, PerOutput, TheoremConstants,
};
use dualgap::linalg::{Random, Rows};
use dualgap::run::{Budget, Certificate, Report, Solution, Stop};
use dualgap::term::ScalarLoss;
use proptest::prelude::*;

fn train(case: &Case, settings: &BallSettings, budget: &Budget) -> Report<Solution<f64>> {
    with_problem!(case, |problem| ball::train(&problem, settings, budget, &mut ()).unwrap())
}

/// As close to the optimum as is asked for, or so many passes.
fn within(gap: f64, passes: u64) -> Budget {
    Budget { absolute: Some(gap), passes: Some(passes), ..Budget::passes(passes) }
}

fn theorem(constants: TheoremConstants) -> BallSettings {
    BallSettings { method: BallMethod::Pdbfw, constants, ..BallSettings::default() }
}

/// The constants for as many examples as there are, with a δ for losses that the theorem has none for: that of one
/// with β/α = 1.
fn constants<L: Losses>(problem: &BallProblem<BallTable<'_>, L>) -> TheoremConstants {
    let (n, largest) = (problem.len() as f64, problem.squared_norms().iter().copied());
    let curvature = 12.5 * largest.fold(0.0, f64::max) / (problem.mu() * n);
    let delta = 1.0 / (problem.losses().smoothness() + curvature);
    let missing = problem.losses().conditioning().is_none();
    TheoremConstants { delta: missing.then_some(delta), ..TheoremConstants::default() }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn every_loss_ends_at_clarabels_optimum(
        seed in 0..10_000_u64,
        kind in 0..Kind::all().len(),
        mu in prop_oneof![Just(0.0), (-4.0..0.5_f64).prop_map(|e| 10_f64.powf(e))],
        radius in -1.0..1.5_f64,
        (n, d) in (2..12_usize, 1..8_usize),
        weighted in any::<bool>(),
    ) {
        let mut case = Case::random(seed, Kind::all()[kind], n, d);
        (case.mu, case.radius) = (mu, 10_f64.powf(radius));
        case.weights = weighted.then(|| (0..n).map(|i| 0.2 + (i % 3) as f64).collect());
        let optimum = judge(&case);
        let report = train(&case, &BallSettings::default(), &within(1e-8, 20_000));
        let Certificate { primal, dual, rounding_error, .. } = report.certificate;
        prop_assert!(report.stop == Stop::GapReached, "{:?} {:?}", report.stop, report.certificate);
        prop_assert!(optimum.upper - optimum.lower < 1e-6, "{optimum:?}");
        prop_assert!((primal - optimum.upper).abs() < 1e-6, "{primal} {optimum:?}");
        prop_assert!(dual <= optimum.upper + 1e-7 && dual <= primal + rounding_error);
        let norm: f64 = report.model.weights.iter().map(|w| w.abs()).sum();
        prop_assert!(norm <= case.radius);
    }

    #[test]
    fn the_theorems_steps_get_there_too(
        seed in 0..10_000_u64,
        kind in 0..Kind::all().len(),
        (n, d) in (2..7_usize, 1..6_usize),
        eta in prop_oneof![Just(None), Just(Some(0.9)), Just(Some(0.2))],
    ) {
        let mut case = Case::random(seed, Kind::all()[kind], n, d);
        case.mu = 0.5;
        let optimum = judge(&case);
        let report = with_problem!(&case, |problem| {
            let settings = theorem(TheoremConstants { eta, ..constants(&problem) });
            ball::train(&problem, &settings, &within(1e-7, 200_000), &mut ()).unwrap()
        });
        prop_assert!((report.certificate.primal - optimum.upper).abs() < 1e-6, "{:?} {optimum:?}", report.certificate);
        prop_assert!(report.stop == Stop::GapReached, "{:?}", report.certificate);
    }

    #[test]
    fn a_weight_of_two_is_a_row_twice(seed in 0..10_000_u64, kind in 0..Kind::all().len(), n in 2..7_usize) {
        let case = Case::random(seed, Kind::all()[kind], n, 4);
        let counts: Vec<usize> = (0..n).map(|i| 1 + i % 3).collect();
        let weighted = Case { weights: Some(counts.iter().map(|&c| c as f64).collect()), ..case.clone() };
        let each = case.targets.len() / n;
        let copies: Vec<usize> = (0..n).flat_map(|i| vec![i; counts[i]]).collect();
        let repeated = Case {
            rows: copies.iter().map(|&i| case.rows[i].clone()).collect(),
            targets: copies.iter().flat_map(|&i| case.targets[i * each..][..each].to_vec()).collect(),
            ..case
        };
        let [a, b] = [weighted, repeated].map(|case| train(&case, &BallSettings::default(), &within(1e-11, 20_000)));
        prop_assert!((a.certificate.primal - b.certificate.primal).abs() < 1e-10);
        // The objective is strongly convex: μ/2‖X − X*‖² is at most the gap.
        let apart = a.model.weights.iter().zip(&b.model.weights).map(|(a, b)| (a - b).powi(2));
        prop_assert!(apart.sum::<f64>() < 1e-8);
    }
}

/// A problem of n rows of so many entries each among d features, whose targets five features explain.
fn sparse(n: usize, d: usize, stored: usize, seed: u64) -> (Rows, Vec<f64>) {
    let mut random = Random::new(seed);
    let (mut rows, mut targets) = (Rows::sparse(), Vec::new());
    for _ in 0..n {
        let mut places: Vec<u32> = (0..3).map(|_| random.below(5) as u32).collect();
        places.extend((0..stored).map(|_| random.below(d) as u32));
        places.sort_unstable();
        places.dedup();
        places.truncate(stored);
        let row: Vec<(u32, f64)> = places.iter().map(|&j| (j, random.unit() + 0.5)).collect();
        let score: f64 =
            row.iter().map(|&(j, x)| if j < 5 { x * (f64::from(j) - 2.0) } else { 0.0 }).sum();
        targets.push(1_f64.copysign(score + 0.3 * (random.unit() - 0.5)));
        rows.push_sparse(&row);
    }
    rows.fit_width(d);
    (rows, targets)
}

/// Entries and selections of so many passes of both kinds of steps, for each step.
fn touched(n: usize, d: usize, settings: BallSettings) -> (f64, f64) {
    let (rows, targets) = sparse(n, d, 10, 1);
    let losses = PerOutput::new(ScalarLoss::SmoothHinge { width: 1.0 }, targets, 1).unwrap();
    let problem = BallProblem::l1(&rows, losses, 0.01, 5.0, None).unwrap();
    let budget = Budget { certify_share: 1e-9, ..Budget::passes(5) };
    let report = ball::train(&problem, &settings, &budget, &mut ()).unwrap();
    let [entries, selected] =
        ["entries_touched", "numbers_selected"].map(|name| report.counters[name]);
    let work = report.work;
    (entries as f64 / work.steps as f64, selected as f64 / work.steps as f64)
}

#[test]
fn entries_touched_in_a_step_do_not_grow_with_the_features() {
    let fixed =
        theorem(TheoremConstants { s: Some(10), k: Some(5), ..TheoremConstants::default() });
    for settings in [BallSettings::default(), fixed] {
        let (few, _) = touched(400, 500, settings);
        let (many, selected) = touched(400, 50_000, settings);
        assert!(many <= 1.2 * few, "{settings:?}: {few} {many}");
        assert!(selected > 0.0, "what is selected from is counted beside them");
    }
    // No more than three looks at a row of ten.
    assert!(touched(400, 50_000, BallSettings::default()).0 <= 30.0);
    // What is looked at to project is no more than the entries, where a pass has several for each feature.
    let (entries, selected) = touched(4000, 5000, BallSettings::default());
    assert!(selected <= entries, "{selected} {entries}");
}

#[test]
fn the_logarithm_of_the_gap_is_straight() {
    for (by_theorem, mu, share) in [(false, 0.002, 0.25), (true, 1.0, 0.25)] {
        let (rows, targets) = sparse(300, 60, 8, 3);
        let losses = PerOutput::new(ScalarLoss::Logistic, targets, 1).unwrap();
        let problem = BallProblem::l1(&rows, losses, mu, 3.0, None).unwrap();
        let settings =
            if by_theorem { theorem(constants(&problem)) } else { BallSettings::default() };
        let budget = Budget { certify_share: share, ..within(1e-12, 4000) };
        let report = ball::train(&problem, &settings, &budget, &mut ()).unwrap();
        let points: Vec<(f64, f64)> = report
            .history
            .iter()
            .map(|p| (p.work.steps as f64, p.certificate.gap()))
            .filter(|&(_, gap)| gap > 1e-12)
            .map(|(steps, gap)| (steps, gap.ln()))
            .collect();
        let tail = &points[points.len() / 3..];
        assert!(tail.len() >= 4, "{points:?}");
        let (slope, explained) = line(tail);
        assert!(slope < 0.0 && explained > 0.9, "{settings:?} {slope} {explained} {tail:?}");
    }
}

/// The slope of the line through these points, and the share of the variance that it explains.
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let n = points.len() as f64;
    let (mx, my) = points.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in points {
        xx += (x - mx).powi(2);
        xy += (x - mx) * (y - my);
        yy += (y - my).powi(2);
    }
    (xy / xx, xy * xy / (xx * yy))
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let case = Case::random(5, Kind::Outputs(ScalarLoss::Logistic, 3), 20, 6);
    let run =
        |seed| train(&case, &BallSettings { seed, ..BallSettings::default() }, &Budget::passes(7));
    assert_eq!(run(1).model, run(1).model);
    assert_ne!(run(1).model, run(2).model);
}

#[test]
fn the_theorems_steps_know_what_examples_weigh() {
    for kind in [
        Kind::Outputs(ScalarLoss::Squared, 1),
        Kind::Outputs(ScalarLoss::SmoothHinge { width: 0.5 }, 2),
    ] {
        let mut case = Case::random(11, kind, 6, 4);
        (case.mu, case.radius) = (0.5, 1.0);
        case.weights = Some(vec![1000.0, 0.01, 1000.0, 0.01, 1.0, 1000.0]);
        let best = train(&case, &BallSettings::default(), &within(1e-9, 20_000)).certificate;
        let report = train(&case, &theorem(TheoremConstants::default()), &within(1e-7, 20_000));
        assert_eq!(report.stop, Stop::GapReached, "{:?} {best:?}", report.certificate);
        assert!((report.certificate.primal - best.primal).abs() <= 2e-7);
        // A δ of one's own is for an example of mean weight.
        let given = theorem(TheoremConstants { delta: Some(0.5), ..TheoremConstants::default() });
        let report = train(&case, &given, &within(1e-7, 20_000));
        assert_eq!(report.stop, Stop::GapReached, "{:?} {best:?}", report.certificate);
    }
}

#[test]
fn for_the_theorems_steps_too_a_weight_of_two_is_a_row_twice() {
    let case = Case { mu: 0.3, ..Case::random(12, Kind::Outputs(ScalarLoss::Squared, 1), 5, 3) };
    let twice = |i: usize| if i == 1 { 2 } else { 1 };
    let copies: Vec<usize> = (0..5).flat_map(|i| vec![i; twice(i)]).collect();
    let repeated = Case {
        rows: copies.iter().map(|&i| case.rows[i].clone()).collect(),
        targets: copies.iter().map(|&i| case.targets[i]).collect(),
        ..case.clone()
    };
    let weighted = Case { weights: Some((0..5).map(|i| twice(i) as f64).collect()), ..case };
    let reach =
        |case: &Case| train(case, &theorem(TheoremConstants::default()), &within(1e-9, 50_000));
    let (one, other) = (reach(&weighted), reach(&repeated));
    assert_eq!((one.stop, other.stop), (Stop::GapReached, Stop::GapReached));
    assert!((one.certificate.primal - other.certificate.primal).abs() <= 2e-9);
    // μ = 0.3: no further from each other than √(2·gap/μ) each.
    let far = one.model.weights.iter().zip(&other.model.weights).map(|(a, b)| (a - b).abs());
    assert!(far.fold(0.0, f64::max) < 2e-4);
}

#[test]
fn losses_without_a_constant_need_one_for_the_theorems_steps() {
    for kind in Kind::all() {
        let case = Case { mu: 0.5, ..Case::random(2, kind, 5, 3) };
        with_problem!(&case, |problem| {
            let run = |of| ball::train(&problem, &theorem(of), &Budget::passes(2), &mut ());
            let none = TheoremConstants::default();
            let missing = problem.losses().conditioning().is_none();
            let some = TheoremConstants { k: Some(2), eta: Some(0.3), ..none };
            assert_eq!(run(none).is_err(), missing, "{kind:?}");
            assert_eq!(run(some).is_err(), missing, "k and eta are not all");
            if missing {
                assert!(run(none).unwrap_err().to_string().contains("delta"));
            }
            assert!(run(TheoremConstants { delta: Some(0.1), ..none }).is_ok());
        });
    }
}

#[test]
fn constants_that_make_no_sense_are_refused() {
    let case = Case::random(1, Kind::Outputs(ScalarLoss::Squared, 1), 4, 3);
    let none = TheoremConstants::default();
    for bad in [
        TheoremConstants { s: Some(0), ..none },
        TheoremConstants { k: Some(0), ..none },
        TheoremConstants { eta: Some(0.0), ..none },
        TheoremConstants { eta: Some(1.1), ..none },
        TheoremConstants { delta: Some(f64::NAN), ..none },
    ] {
        with_problem!(&case, |problem| {
            assert!(ball::train(&problem, &theorem(bad), &Budget::passes(1), &mut ()).is_err());
        });
    }
    let flat = Case { mu: 0.0, ..case };
    with_problem!(&flat, |problem| {
        assert!(ball::train(&problem, &theorem(none), &Budget::passes(1), &mut ()).is_err());
    });
}

#[test]
fn data_that_nobody_would_wish_for_are_no_trouble() {
    for kind in Kind::all() {
        // No entry at all, a feature that no row has, one example.
        for (rows, n) in
            [(vec![vec![0.0; 3]; 4], 4), (vec![vec![1.0, 0.0, 2.0]; 4], 4), (vec![vec![1.0]], 1)]
        {
            let mut case = Case::random(1, kind, n, rows[0].len());
            case.rows = rows;
            for scale in [1.0, 1e-150, 1e100] {
                let mut case = case.clone();
                case.rows.iter_mut().flatten().for_each(|x| *x *= scale);
                with_problem!(&case, |problem| {
                    let budget = Budget::passes(5);
                    // An error says why; it is no panic, and no certificate is claimed.
                    if let Ok(report) =
                        ball::train(&problem, &BallSettings::default(), &budget, &mut ())
                    {
                        assert!(report.certificate.gap() >= -report.certificate.rounding_error);
                    } else {
                        assert!(scale > 1.0);
                    }
                });
            }
        }
    }
}

// Steps of one example at a time would take very many: what one of them leaves, the next ones undo.
#[test]
fn long_rows_and_wide_balls_are_solved_too() {
    for (k, kind) in Kind::all().into_iter().enumerate() {
        for (scale, mu, radius) in [(1e3, 0.025, 1.0), (1e5, 0.01, 1.0), (1.0, 0.0, 1e6)] {
            let mut case = Case::random(k as u64, kind, 40, 5);
            case.rows.iter_mut().flatten().for_each(|x| *x *= scale);
            (case.mu, case.radius) = (mu, radius);
            let budget = Budget { passes: Some(3000), ..Budget::relative(1e-2) };
            let report = train(&case, &BallSettings::default(), &budget);
            let told = format!("{kind:?} {scale} {radius}: {:?}", report.certificate);
            // Of an optimum of zero no share can be reached.
            assert!(report.stop == Stop::GapReached || report.certificate.primal < 1e-3, "{told}");
            let method = BallMethod::ProjectedGradient;
            let other = train(&case, &BallSettings { method, ..BallSettings::default() }, &budget);
            assert!(other.certificate.dual <= report.certificate.primal * (1.0 + 1e-9), "{told}");
            assert!(report.certificate.dual <= other.certificate.primal * (1.0 + 1e-9), "{told}");
        }
    }
}
