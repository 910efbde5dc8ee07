//! Coordinate descent under the l1 norm: the optimum of quadratic programs and of dual ascent, and the optimality conditions.

use crate::common::fits::penalty;
use crate::linear::case::{Case, LOSSES, gamma, is_binary};
use crate::linear::solvers::quadratic_program;
use dualgap::data::{DataSet, Examples};
use dualgap::linalg::Random;
use dualgap::methods::coordinates::CoordinateSettings;
use dualgap::run::{Budget, InMemory, Report, Stop};
use dualgap::structure::{Linear, Multiclass};
use dualgap::task::{DualMethod, Keep, Method, Model, Plan, Resume, Task};
use dualgap::term::{MulticlassLoss, Penalty, Regulariser, ScalarLoss};

fn smooth() -> impl Iterator<Item = (u64, ScalarLoss)> {
    let of_curves = |(_, loss): &(u64, ScalarLoss)| gamma(*loss).is_some();
    (0..).zip(LOSSES).filter(of_curves)
}

fn by_coordinates<'a>(tolerance: f64) -> Plan<'a, Linear> {
    Plan { method: CoordinateSettings::default().into(), ..Plan::new(Budget::relative(tolerance)) }
}

fn task(case: &Case) -> Task<Linear> {
    let Regulariser { l1: sigma, nonnegative, free, .. } = case.regulariser;
    let penalty = if case.lambda == 0.0 {
        Penalty::Lasso { sigma, nonnegative, free }
    } else {
        penalty(case.lambda, case.regulariser)
    };
    Task::new(Linear::new(case.loss), penalty)
}

fn data(case: &Case, sparse: bool) -> Examples {
    let data = case.examples_of(case.sparse_or_dense(sparse));
    match case.weights.clone() {
        Some(weights) => data.weighted(weights).unwrap(),
        None => data,
    }
}

fn fit(case: &Case, tolerance: f64) -> Report<Model<Linear>> {
    let data = data(case, case.rows[0].len() % 2 == 1);
    let report = task(case).fit(&data, by_coordinates(tolerance)).unwrap();
    report.model.certify(&data).unwrap();
    assert_eq!(report.stop, Stop::GapReached, "{:?} {:?}", case.loss, report.certificate);
    assert!((case.primal(&report.model.weights) - report.certificate.primal).abs() < 1e-10);
    report
}

/// Every combination of a ridge, signs, a weight without penalty and sample weights, on more and on fewer columns than rows.
fn cases(seed: u64, loss: ScalarLoss) -> Vec<Case> {
    let mut cases = Vec::new();
    for k in 0..16_usize {
        let (n, d) = if k % 3 == 0 { (12, 20) } else { (25, 5) };
        let regulariser = Regulariser { l1: 0.04, nonnegative: k & 1 > 0, ..Regulariser::PLAIN };
        let lambda = if k & 2 > 0 { 0.02 } else { 0.0 };
        let weights = (k & 8 > 0).then(|| (0..n).map(|i| (i % 4) as f64).collect());
        let case = Case { lambda, regulariser, weights, ..Case::random(seed, loss, n, d) };
        cases.push(if k & 4 > 0 { case.with_intercept() } else { case });
    }
    cases
}

#[test]
fn the_optimum_is_that_of_a_quadratic_program() {
    for (seed, loss) in smooth() {
        for (k, case) in cases(seed, loss).iter().enumerate() {
            let report = fit(case, 1e-9);
            if let Some(exact) = quadratic_program(case, &[]) {
                let (ours, theirs) = (report.certificate.primal, case.primal(&exact));
                assert!((ours - theirs).abs() < 1e-7, "{loss:?} {k}: {ours} {theirs}");
            }
        }
    }
}

// The slope of the losses is that of differences of the objective written out, for the logistic loss too.
#[test]
fn weights_meet_their_optimality_conditions() {
    for (seed, loss) in smooth() {
        for case in cases(seed + 100, loss) {
            let w = fit(&case, 1e-9).model.weights;
            let smooth = Case {
                lambda: 0.0,
                regulariser: Regulariser { l1: 0.0, nonnegative: false, ..case.regulariser },
                ..case.clone()
            };
            for j in 0..w.len() {
                let at = |change: f64| {
                    let mut w = w.clone();
                    w[j] += change;
                    smooth.primal(&w)
                };
                let ridge = if case.is_free(j) { 0.0 } else { case.lambda * w[j] };
                let slope = (at(1e-5) - at(-1e-5)) / 2e-5 + ridge;
                let sigma = case.regulariser.l1;
                let off = if case.is_free(j) {
                    slope.abs()
                } else if w[j] != 0.0 {
                    (slope + sigma * w[j].signum()).abs()
                } else if case.regulariser.nonnegative {
                    (-slope - sigma).max(0.0)
                } else {
                    (slope.abs() - sigma).max(0.0)
                };
                assert!(off < 1e-4, "{loss:?} {j}: {off}");
            }
        }
    }
}

/// Four factors behind all columns, which have sizes from 0.05 to 1,000 and a mean far from zero.
fn correlated(loss: ScalarLoss, n: usize, d: usize) -> Case {
    let mut random = Random::new(9);
    let mut signed = || 2.0 * random.unit() - 1.0;
    let mix: Vec<f64> = (0..4 * d).map(|_| signed()).collect();
    let mut case = Case::random(4, loss, n, d);
    for row in &mut case.rows {
        let factors: Vec<f64> = (0..4).map(|_| signed()).collect();
        for (j, x) in row.iter_mut().enumerate() {
            let common: f64 = (0..4).map(|f| factors[f] * mix[f * d + j]).sum();
            *x = (3.0 + common + 0.05 * signed()) * [0.05, 1.0, 30.0, 1e3][j % 4];
        }
    }
    let noise: Vec<f64> = (0..n).map(|_| 0.3 * signed()).collect();
    case.targets = case.rows.iter().zip(noise).map(|(x, e)| x[1] - x[5] + e).collect();
    if is_binary(loss) {
        case.targets.iter_mut().for_each(|y| *y = 1_f64.copysign(*y));
    }
    let regulariser = Regulariser { l1: 1e-3, ..Regulariser::PLAIN };
    Case { lambda: 0.0, regulariser, ..case }
}

// Weight by weight this takes hundreds of thousands of cycles.
#[test]
fn correlated_columns_of_all_sizes_are_no_trouble() {
    for loss in [ScalarLoss::Squared, ScalarLoss::Logistic, ScalarLoss::SquaredHinge] {
        for case in [correlated(loss, 120, 12), correlated(loss, 120, 12).with_intercept()] {
            // No closer: the rounding of columns of this size is not far below.
            let report = fit(&case, 1e-5);
            assert!(report.passes < 400.0, "{loss:?}: {} passes", report.passes);
        }
    }
}

#[test]
fn no_weight_moves_where_sigma_is_too_large_or_columns_are_zero() {
    for x in [1.0, 0.0] {
        let rows = vec![vec![x, -x], vec![x, x], vec![-x, x]];
        let regulariser = Regulariser { l1: 100.0, ..Regulariser::PLAIN };
        let case = Case {
            loss: ScalarLoss::Squared,
            rows,
            targets: vec![1.0, -1.0, 1.0],
            lambda: 0.0,
            regulariser,
            weights: None,
        };
        let report = fit(&case, 1e-12);
        assert!(report.model.weights == [0.0, 0.0] && report.passes < 2.0);
        assert_eq!(report.certificate.primal, 0.5);
        // One column of zeros among others is left alone, too.
        let mut one = Case::random(1, ScalarLoss::Logistic, 20, 3);
        one.rows.iter_mut().for_each(|row| row[1] = 0.0);
        one = Case { lambda: 0.0, regulariser: Regulariser { l1: 0.01, ..regulariser }, ..one };
        assert_eq!(fit(&one, 1e-9).model.weights[1], 0.0);
    }
}

// A column that was proved to be zero must be zero at the optimum: the judge is a run with all its decimals.
#[test]
fn what_is_dropped_is_zero_at_the_optimum() {
    for (seed, loss) in smooth() {
        let case = Case {
            lambda: 0.0,
            regulariser: Regulariser { l1: 0.05, ..Regulariser::PLAIN },
            ..Case::random(seed + 7, loss, 40, 60)
        };
        let told = |report: &Report<Model<Linear>>| -> usize {
            let line = report.tactics[0].clone();
            let words: Vec<&str> = line.split_whitespace().collect();
            let at = words.iter().position(|word| *word == "proved").unwrap();
            words[at - 1].parse().unwrap()
        };
        let report = fit(&case, 1e-9);
        assert!(told(&report) > 5, "{:?}", report.tactics);
        if let Some(exact) = quadratic_program(&case, &[]) {
            let zeros = exact.iter().filter(|w| w.abs() < 1e-5).count();
            assert!(told(&report) <= zeros, "{loss:?}: {:?} {zeros}", report.tactics);
        }
    }
}

// Columns of zeros change nothing but the way: with as many of them the matrix of all weights would be larger than the data.
#[test]
fn few_weights_of_least_squares_go_by_rows_and_have_the_optimum_of_columns() {
    let by_rows = |report: &Report<Model<Linear>>| {
        report.tactics.iter().any(|line| line == "with the matrix of all weights")
    };
    for case in cases(50, ScalarLoss::Squared).into_iter().filter(|case| case.len() == 25) {
        let mut wide = case.clone();
        wide.rows.iter_mut().for_each(|row| row.resize(row.len() + 30, 0.0));
        let (few, many) = (fit(&case, 1e-9), fit(&wide, 1e-9));
        assert!(by_rows(&few) && !by_rows(&many), "{:?} {:?}", few.tactics, many.tactics);
        assert!((few.certificate.primal - many.certificate.primal).abs() < 1e-9);
        // One step to the optimum, and the check of the start.
        assert!(few.work.steps <= 3, "{}", few.work.steps);
    }
}

// With many more weights than examples dual ascent is faster only where a digit takes it few passes.
#[test]
fn the_side_of_an_elastic_net_follows_the_passes_of_dual_ascent() {
    for (passes, along_weights) in [(100.0, true), (1.0, false)] {
        let case = Case::random(3, ScalarLoss::Squared, 20, 200);
        let squares: f64 = case.rows.iter().flatten().map(|x| x * x).sum();
        let regulariser = Regulariser { l1: 1e-4, ..Regulariser::PLAIN };
        let case = Case { lambda: squares / 400.0 / passes, regulariser, weights: None, ..case };
        let data = data(&case, true);
        let report = task(&case).fit(&data, Plan::new(Budget::relative(1e-7))).unwrap();
        report.model.certify(&data).unwrap();
        let told = report.tactics.iter().any(|line| line.starts_with("coordinate descent"));
        assert_eq!(told, along_weights, "{passes}: {:?}", report.tactics);
        let judge = fit(&case, 1e-9).certificate.primal;
        assert!((report.certificate.primal - judge).abs() <= 2e-7 * judge);
    }
}

#[test]
fn several_classes_have_the_optimum_of_dual_steps() {
    let mut random = Random::new(8);
    let rows: Vec<Vec<f64>> =
        (0..40).map(|_| (0..6).map(|_| 2.0 * random.unit() - 1.0).collect()).collect();
    let labels: Vec<&str> = (0..40).map(|i| ["a", "b", "c", "d"][(i * 7 + i / 5) % 4]).collect();
    let data = Examples::from_dense(&rows, &labels).unwrap();
    let penalties = [
        Penalty::lasso(0.01),
        Penalty::elastic_net(0.01, 0.01),
        Penalty::Lasso { sigma: 0.01, nonnegative: true, free: None },
    ];
    for loss in [MulticlassLoss::Softmax, MulticlassLoss::SmoothHinge { width: 0.7 }] {
        for penalty in penalties {
            let task = Task::new(Multiclass::new(loss), penalty);
            let ascent = DualMethod { handover: false, ..DualMethod::default() };
            let budget = Budget { passes: Some(100_000), ..Budget::relative(1e-5) };
            let dual = task.fit(&data, Plan { method: ascent.into(), ..Plan::new(budget) });
            let dual = dual.unwrap().certificate;
            let method = Method::named("coordinates", false).unwrap();
            let plan = Plan { method, ..Plan::new(Budget::relative(1e-9)) };
            let report = task.fit(&data, plan).unwrap();
            let c = report.certificate;
            assert_eq!(report.stop, Stop::GapReached, "{loss:?} {penalty:?} {c:?}");
            assert!(c.dual <= dual.primal + 1e-12 && dual.dual <= c.primal + 1e-12);
            report.model.certify(&data).unwrap();
        }
    }
}

#[test]
fn a_resumed_run_is_the_run_that_went_through() {
    for (seed, loss) in smooth() {
        for case in [correlated(loss, 60, 8), cases(seed, loss).swap_remove(14)] {
            let (task, data) = (task(&case), data(&case, true));
            let whole = task.fit(&data, by_coordinates(1e-9)).unwrap();
            for passes in [1, 2, 4] {
                let mut memory = InMemory::default();
                let first = Plan {
                    checkpoints: Some(Keep::Sink(&mut memory)),
                    budget: Budget { passes: Some(passes), ..Budget::relative(1e-9) },
                    ..by_coordinates(1e-9)
                };
                task.fit(&data, first).unwrap();
                let resume = memory.last.take().map(Resume::Checkpoint);
                let rest = task.fit(&data, Plan { resume, ..by_coordinates(1e-9) }).unwrap();
                assert_eq!(rest.model.weights, whole.model.weights, "{loss:?} {passes}");
                assert_eq!(rest.certificate, whole.certificate, "{loss:?} {passes}");
            }
        }
    }
}

#[test]
fn what_it_is_not_for_is_refused() {
    let net = Regulariser { l1: 0.1, ..Regulariser::PLAIN };
    let hinge = Case { regulariser: net, ..Case::random(1, ScalarLoss::Hinge, 6, 2) };
    let plain = Case::random(1, ScalarLoss::Logistic, 6, 2);
    for (case, word) in [(hinge, "smooth"), (plain, "l1 norm")] {
        let error = task(&case).fit(&case.examples(), by_coordinates(0.1)).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
}
