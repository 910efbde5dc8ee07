//! Newton's method: the same optimum as dual ascent and as a quadratic program, from both ways to solve its equations.

use crate::common::distance;
use crate::common::fits::penalty;
use crate::linear::case::{Case, LOSSES, gamma};
use crate::linear::solvers::quadratic_program;
use dualgap::Result;
use dualgap::data::{DataSet, Examples, Numbers};
use dualgap::dual::Blocks;
use dualgap::linalg::{Random, Rows};
use dualgap::methods::newton::{CurvedBlocks, Equations, NewtonSettings};
use dualgap::run::{Budget, Certificate, InMemory, Observer, Progress, Report, Stop};
use dualgap::structure::{Choice, Linear, LinearBlocks, Multiclass, ScoreBlocks, Structure};
use dualgap::task::{DualMethod, Keep, Method, Model, Plan, Resume, Task};
use dualgap::term::{Costs, Loss, MulticlassLoss, Penalty, Regulariser, ScalarLoss};
use proptest::prelude::*;

/// Dual ascent to the end.
fn ascent() -> Method {
    DualMethod { handover: false, ..DualMethod::default() }.into()
}

const WAYS: [Equations; 2] = [Equations::Cholesky, Equations::ConjugateGradient];

fn by(equations: Equations) -> Method {
    NewtonSettings { equations, ..NewtonSettings::default() }.into()
}

fn fit(case: &Case, method: Method, budget: Budget) -> Result<Report<Model<Linear>>> {
    let task = Task::new(Linear::new(case.loss), penalty(case.lambda, case.regulariser));
    let data = match case.weights.clone() {
        Some(weights) => case.examples().weighted(weights)?,
        None => case.examples(),
    };
    let report = task.fit(&data, Plan { method, ..Plan::new(budget) })?;
    report.model.certify(&data)?;
    Ok(report)
}

#[test]
fn the_weights_are_those_of_a_quadratic_program_and_of_dual_ascent() {
    for (seed, loss) in LOSSES.into_iter().enumerate() {
        let plain = Case { lambda: 0.02, ..Case::random(seed as u64, loss, 15, 4) };
        let weights = Some((1..=15).map(|i| f64::from(i % 4)).collect());
        let weighed = Case { weights, ..plain.clone() };
        for case in
            [plain.clone(), weighed.clone(), plain.with_intercept(), weighed.with_intercept()]
        {
            let dual = fit(&case, ascent(), Budget::relative(1e-9)).unwrap();
            for way in WAYS {
                let report = fit(&case, by(way), Budget::relative(1e-9)).unwrap();
                assert_eq!(report.stop, Stop::GapReached, "{loss:?} {way:?}");
                let found = &report.model.weights;
                assert!((case.primal(found) - report.certificate.primal).abs() < 1e-12);
                let gap = report.certificate.gap_bound() + dual.certificate.gap_bound();
                assert!((report.certificate.primal - dual.certificate.primal).abs() <= gap);
                if let Some(exact) = quadratic_program(&case, &[]) {
                    assert!(
                        distance(&exact, found) < 1e-3,
                        "{loss:?} {way:?}: {exact:?} {found:?}"
                    );
                }
            }
        }
    }
}

// Columns of sizes from 0.01 to 1,000: dual ascent would take thousands of passes. (Still larger ones have a rounding of v that
// no certificate gets below.)
#[test]
fn sizes_of_columns_do_not_matter() {
    let sizes = [0.01, 1.0, 30.0, 1e3];
    let smooth = [ScalarLoss::Logistic, ScalarLoss::SquaredHinge, ScalarLoss::Squared];
    let with_corners =
        [ScalarLoss::Hinge, ScalarLoss::Absolute, ScalarLoss::EpsilonInsensitive { epsilon: 0.3 }];
    for (losses, most) in [(smooth, 40), (with_corners, 120)] {
        for loss in losses {
            let mut case = Case { lambda: 1e-4, ..Case::random(3, loss, 60, 4) };
            case.rows
                .iter_mut()
                .for_each(|row| row.iter_mut().zip(sizes).for_each(|(x, s)| *x *= s));
            let case = case.with_intercept();
            for way in WAYS {
                let report = fit(&case, by(way), Budget::relative(1e-6)).unwrap();
                assert_eq!(report.stop, Stop::GapReached, "{loss:?} {way:?}");
                let steps = report.work.steps;
                assert!(steps <= most, "{loss:?} {way:?}: {steps} steps");
            }
        }
    }
}

#[test]
fn several_scores_have_the_optimum_of_dual_ascent() {
    let mut random = Random::new(8);
    let rows: Vec<Vec<f64>> =
        (0..40).map(|_| (0..3).map(|_| 2.0 * random.unit() - 1.0).collect()).collect();
    let labels: Vec<&str> = (0..40).map(|i| ["a", "b", "c", "d"][(i * 7 + i / 5) % 4]).collect();
    let data = Examples::from_dense(&rows, &labels).unwrap();
    let costs = Costs::Matrix((0..16).map(|k| f64::from((k / 4_i32 - k % 4).abs())).collect());
    let softmax = Multiclass::new(MulticlassLoss::Softmax);
    let smooth = Multiclass::new(MulticlassLoss::SmoothHinge { width: 0.7 });
    for structure in [softmax, smooth, Multiclass::default(), Multiclass::with_costs(costs)] {
        let loss = structure.loss;
        let task = Task::new(structure, Penalty::ridge(0.003));
        let dual = task
            .fit(&data, Plan { method: ascent(), ..Plan::new(Budget::relative(1e-9)) })
            .unwrap();
        for way in WAYS {
            let plan = Plan { method: by(way), ..Plan::new(Budget::relative(1e-9)) };
            let report = task.fit(&data, plan).unwrap();
            assert_eq!(report.stop, Stop::GapReached, "{loss:?} {way:?}");
            let gap = report.certificate.gap_bound() + dual.certificate.gap_bound();
            assert!((report.certificate.primal - dual.certificate.primal).abs() <= gap);
            report.model.certify(&data).unwrap();
        }
    }
}

// The dual point of the slopes at the weights themselves has a gap a hundred times as large at such a small λ, so that a run takes a
// step or two more, and ends much nearer to the optimum than it can tell.
#[test]
fn a_gap_is_worth_the_distance_from_the_optimum() {
    let mut random = Random::new(31);
    let rows = columns(1500, 6, 30);
    let mut label = |row: &Vec<f64>| {
        let score = row.iter().zip(0..).map(|(x, j)| x * f64::from(j).sin()).sum::<f64>();
        ["a", "b", "c"][((score + 4.0 * random.unit()).abs() as usize).min(2)]
    };
    let three: Vec<&str> = rows.iter().map(&mut label).collect();
    let two: Vec<&str> = three.iter().map(|&y| if y == "c" { "a" } else { y }).collect();
    let (three, two) = (
        Examples::from_dense(&rows, &three).unwrap(),
        Examples::from_dense(&rows, &two).unwrap().weighted(vec![2.0; 1500]).unwrap(),
    );
    let binary = Task::new(Linear::new(ScalarLoss::Logistic), Penalty::ridge(1e-6));
    let softmax = Task::new(Multiclass::new(MulticlassLoss::Softmax), Penalty::ridge(1e-6));
    for tolerance in [1e-2, 1e-4] {
        let of_binary = [1e-12, tolerance].map(|tolerance| certified(&binary, &two, tolerance));
        let of_softmax = [1e-12, tolerance].map(|tolerance| certified(&softmax, &three, tolerance));
        for [optimum, found] in [of_binary, of_softmax] {
            let above = found.primal - optimum.dual;
            assert!(found.gap() <= 5.0 * above, "{tolerance}: {} and {above}", found.gap());
        }
    }
}

fn certified<S: Structure<Data = Examples>>(
    task: &Task<S>,
    data: &Examples,
    tolerance: f64,
) -> Certificate {
    let method = by(Equations::Cholesky);
    let report = task.fit(data, Plan { method, ..Plan::new(Budget::relative(tolerance)) }).unwrap();
    assert_eq!(report.stop, Stop::GapReached);
    report.model.certify(data).unwrap();
    report.certificate
}

proptest! {
    // Also those that a checkpoint may have, whatever it is.
    #[test]
    fn any_slopes_become_those_of_a_dual_point(
        slopes in prop::collection::vec(-2.0..2.0_f64, 3),
        size in -10_i32..300,
    ) {
        let slopes: Vec<f64> = slopes.iter().map(|s| s * 10.0_f64.powi(size.max(0))).collect();
        let rows = Rows::dense(&[vec![1.0, 2.0]]).unwrap();
        for loss in LOSSES.into_iter().filter(|loss| gamma(*loss).is_some()) {
            let blocks = LinearBlocks::new(&rows, vec![1.0], loss, Choice::I).unwrap();
            let mut near = [slopes[0]];
            blocks.confine(0, &mut near);
            let point = blocks.opposite(0, &near);
            prop_assert!(blocks.audit(0, &point, &mut blocks.scratch()).is_ok(), "{loss:?} {point}");
            let mut own = [-blocks.touching(0, &[slopes[1]])];
            let before = own;
            blocks.confine(0, &mut own);
            prop_assert_eq!(before, own);
        }
        let data = Examples::from_dense(&[vec![1.0], vec![2.0], vec![3.0]], &["a", "b", "c"]).unwrap();
        for loss in [MulticlassLoss::Softmax, MulticlassLoss::SmoothHinge { width: 0.7 }] {
            let blocks = ScoreBlocks::new(&data, &Costs::ZeroOne, loss, Choice::I).unwrap();
            let mut near = slopes.clone();
            blocks.confine(1, &mut near);
            let point = blocks.opposite(1, &near);
            prop_assert!(blocks.audit(1, &point, &mut blocks.scratch()).is_ok(), "{loss:?} {point:?}");
            let own = blocks.touching(1, &slopes);
            let mut slope = own.clone();
            slope[1] -= 1.0;
            blocks.confine(1, &mut slope);
            prop_assert!(distance(&own, &blocks.opposite(1, &slope)) < 1e-14, "{loss:?}");
        }
    }
}

// Columns like these take 20 to 30 products, and with the diagonal in the place of the preconditioner more than 100.
#[test]
fn raw_columns_of_several_scores_take_few_products() {
    let mut random = Random::new(3);
    let mut labels = Vec::new();
    let rows: Vec<Vec<f64>> = (0..300)
        .map(|_| {
            // Columns with much in common, of sizes from 1 to 10,000.
            let common = random.unit();
            let row: Vec<f64> =
                (0..8).map(|j| common + 0.1 * random.unit() * f64::from(j)).collect();
            let noise = 0.2 * random.unit();
            labels.push(["a", "b", "c"][((row[7] - row[1] + noise) * 4.0) as usize % 3]);
            row.iter().zip(0..).map(|(x, j)| x * 10.0_f64.powf(f64::from(j % 5))).collect()
        })
        .collect();
    let data = Examples::from_dense(&rows, &labels).unwrap();
    let task = Task::new(Multiclass::new(MulticlassLoss::Softmax), Penalty::ridge(1e-6));
    let plan =
        Plan { method: by(Equations::ConjugateGradient), ..Plan::new(Budget::relative(1e-6)) };
    let report = task.fit(&data, plan).unwrap();
    assert_eq!(report.stop, Stop::GapReached);
    let products = report.counters["products"];
    assert!(products < 60, "{products} products");
    report.model.certify(&data).unwrap();
}

fn plan<'a>(budget: Budget) -> Plan<'a, Linear> {
    Plan { method: by(Equations::ConjugateGradient), ..Plan::new(budget) }
}

#[test]
fn a_resumed_run_is_the_run_that_went_through() {
    for (loss, passes) in [(ScalarLoss::Logistic, 9), (ScalarLoss::Hinge, 40)] {
        resumes(loss, passes);
    }
}

fn resumes(loss: ScalarLoss, passes: u64) {
    let case = Case { lambda: 1e-3, ..Case::random(5, loss, 30, 4) }.with_intercept();
    let (task, data) = (
        Task::new(Linear::new(case.loss), penalty(case.lambda, case.regulariser)),
        case.examples(),
    );
    let whole = task.fit(&data, plan(Budget::relative(1e-9))).unwrap();
    let mut memory = InMemory::default();
    let first = Plan { checkpoints: Some(Keep::Sink(&mut memory)), ..plan(Budget::passes(passes)) };
    assert!(task.fit(&data, first).unwrap().passes < whole.passes);
    let resume = memory.last.take().map(Resume::Checkpoint);
    assert!(resume.is_some());
    let rest = task.fit(&data, Plan { resume, ..plan(Budget::relative(1e-9)) }).unwrap();
    assert_eq!(rest.model.weights, whole.model.weights);
    if gamma(loss).is_none() {
        return;
    }
    // Another λ is a place to begin at.
    let near = task.at_lambda(1.1e-3).unwrap();
    let warm = Plan { warm_start: Some(&whole.model), ..plan(Budget::relative(1e-9)) };
    let cold = near.fit(&data, plan(Budget::relative(1e-9))).unwrap();
    assert!(near.fit(&data, warm).unwrap().work.steps <= cold.work.steps);
}

/// Counts certifications with weights: those of an earlier part of a run come without.
#[derive(Default)]
struct Counted(usize);

impl Observer for Counted {
    fn certified(&mut self, _: &Progress, weights: &[f64]) -> Result<()> {
        self.0 += usize::from(!weights.is_empty());
        Ok(())
    }
}

/// Stops a run after so many passes, resumes it from its checkpoint, and returns the report of both parts.
fn in_two_parts(
    task: &Task<Linear>,
    data: &Examples,
    budget: &Budget,
    passes: u64,
) -> [Report<Model<Linear>>; 2] {
    let mut memory = InMemory::default();
    let limit = Budget { passes: Some(passes), ..budget.clone() };
    let plan = Plan { checkpoints: Some(Keep::Sink(&mut memory)), ..Plan::new(limit) };
    let first = task.fit(data, plan).unwrap();
    let resume = memory.last.take().map(Resume::Checkpoint);
    [first, task.fit(data, Plan { resume, ..Plan::new(budget.clone()) }).unwrap()]
}

fn handed_over(report: &Report<Model<Linear>>) -> bool {
    report.tactics.iter().any(|line| line.contains("handed over"))
}

/// Sixty rows of three columns, of which every twentieth is long, and an empty column so far away that the Newton equations are for
/// conjugate gradients.
fn uneven() -> Examples {
    let mut random = Random::new(11);
    let (mut rows, mut targets) = (Rows::sparse(), Vec::new());
    for i in 0..60 {
        let size = if i % 20 == 0 { 20.0 } else { 0.1 };
        let row: Vec<(u32, f64)> =
            (0..3).map(|j| (j, size * (1.0 + 0.1 * random.unit()))).collect();
        targets.push(row[0].1 - 2.0 * row[1].1 + random.unit());
        rows.push_sparse(&row);
    }
    rows.fit_width(2100);
    Examples::new(rows, Numbers::new(targets).unwrap()).unwrap()
}

// With so many columns dual ascent begins; the long rows make it slow, and it hands over when its gap says so. A run that
// pauses before or after that is the same run.
#[test]
fn a_run_that_takes_long_is_handed_over() {
    let (task, data) =
        (Task::new(Linear::new(ScalarLoss::Squared), Penalty::ridge(2e-6)), uneven());
    let budget = Budget::relative(1e-9);
    let at_most = Budget { passes: Some(1000), ..budget.clone() };
    let slow = task.fit(&data, Plan { method: ascent(), ..Plan::new(at_most) }).unwrap();
    let mut observer = Counted::default();
    let plan = Plan { observer: Some(&mut observer), ..Plan::new(budget.clone()) };
    let whole = task.fit(&data, plan).unwrap();
    assert_eq!(whole.stop, Stop::GapReached);
    assert!(whole.passes < slow.passes, "{} and {}", whole.passes, slow.passes);
    assert!(handed_over(&whole), "{:?}", whole.tactics);
    assert_eq!(observer.0, whole.history.len());
    whole.model.certify(&data).unwrap();
    let mut parts = [0, 0];
    for passes in [1, 2, 7, 30, 60, 63, 64, 65, 66, 70, 80] {
        let [first, rest] = in_two_parts(&task, &data, &budget, passes);
        parts[usize::from(handed_over(&first))] += 1;
        assert_eq!(rest.model.weights, whole.model.weights, "{passes}");
        assert_eq!(rest.certificate, whole.certificate, "{passes}");
    }
    assert!(parts[0] > 0 && parts[1] > 0, "the pauses are on both sides: {parts:?}");
}

// Raw columns: dual ascent would take thousands of passes, and does not begin.
#[test]
fn a_run_on_raw_columns_begins_with_newton() {
    let mut case = Case { lambda: 1e-5, ..Case::random(11, ScalarLoss::Logistic, 60, 3) };
    case.rows.iter_mut().for_each(|row| row[1] *= 100.0);
    let (task, data) =
        (Task::new(Linear::new(case.loss), Penalty::ridge(case.lambda)), case.examples());
    let budget = Budget::relative(1e-7);
    let whole = task.fit(&data, Plan::new(budget.clone())).unwrap();
    assert_eq!(whole.stop, Stop::GapReached);
    let told = |word: &str| whole.tactics.iter().any(|line| line.contains(word));
    assert!(told("in the place of dual ascent") && told("Newton steps"), "{:?}", whole.tactics);
    assert!(!handed_over(&whole) && whole.work.steps < 30, "{:?}", whole.work);
    for passes in [1, 5, 9, 20] {
        let [_, rest] = in_two_parts(&task, &data, &budget, passes);
        assert_eq!(rest.model.weights, whole.model.weights, "{passes}");
        assert_eq!(rest.certificate, whole.certificate, "{passes}");
    }
    // Strong regularisation of many columns is for dual ascent.
    let wide = Case { lambda: 1e6, ..Case::random(11, ScalarLoss::Logistic, 60, 100) };
    let task = Task::new(Linear::new(wide.loss), Penalty::ridge(wide.lambda));
    let strong = task.fit(&wide.examples(), Plan::new(budget)).unwrap();
    assert!(strong.tactics.iter().all(|line| !line.contains("Newton")), "{:?}", strong.tactics);
}

/// Correlated columns of different sizes.
fn columns(n: usize, d: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::new(seed);
    let row = |random: &mut Random| {
        let common = random.unit();
        (0..d).map(|j| (random.unit() + common) * (1 + j % 5) as f64).collect()
    };
    (0..n).map(|_| row(&mut random)).collect()
}

/// The certificate does not depend on how the dual point was found: D is computed here from the losses' definitions.
#[test]
fn hinges_on_raw_columns_are_handed_over_and_proved() {
    let mut case = Case { lambda: 1e-5, ..Case::random(11, ScalarLoss::Hinge, 60, 3) };
    case.rows.iter_mut().for_each(|row| row[1] *= 1000.0);
    let (task, data) =
        (Task::new(Linear::new(case.loss), Penalty::ridge(case.lambda)), case.examples());
    let budget = Budget::relative(1e-6);
    let whole = task.fit(&data, Plan::new(budget.clone())).unwrap();
    assert_eq!(whole.stop, Stop::GapReached, "{:?}", whole.tactics);
    assert!(handed_over(&whole), "{:?}", whole.tactics);
    let proved = whole.model.certify(&data).unwrap().certificate;
    assert!((proved.gap() - whole.certificate.gap()).abs() <= proved.gap_bound());
    let exact = quadratic_program(&case, &[]).unwrap();
    assert!(case.primal(&exact) >= whole.certificate.dual - 1e-9);
    for passes in [1, 3, 4, 5, 9, 20, 40] {
        let [_, rest] = in_two_parts(&task, &data, &budget, passes);
        assert_eq!(rest.model.weights, whole.model.weights, "{passes}");
        assert_eq!(rest.certificate, whole.certificate, "{passes}");
    }
}

// Who asks for the paper's method gets it.
#[test]
fn the_methods_of_the_papers_are_not_handed_over() {
    let mut case = Case { lambda: 1e-5, ..Case::random(11, ScalarLoss::Hinge, 60, 3) };
    case.rows.iter_mut().for_each(|row| row[1] *= 1000.0);
    let data = case.examples();
    let task = Task::new(Linear::new(case.loss), Penalty::ridge(case.lambda));
    let plan = Plan { method: DualMethod::plain().into(), ..Plan::new(Budget::passes(30)) };
    let report = task.fit(&data, plan).unwrap();
    assert!(report.tactics.iter().all(|line| !line.contains("Newton")), "{:?}", report.tactics);
}

// Enough examples for several parts, which are added in order.
#[test]
fn the_bits_do_not_depend_on_the_threads() {
    let rows = columns(6000, 20, 1);
    let above =
        |row: &[f64]| row.iter().enumerate().map(|(j, x)| x * (j as f64).sin()).sum::<f64>();
    let labels: Vec<&str> =
        rows.iter().map(|row| if above(row) > 0.0 { "a" } else { "b" }).collect();
    let data = Examples::from_dense(&rows, &labels).unwrap();
    for way in WAYS {
        for loss in [ScalarLoss::Logistic, ScalarLoss::Hinge] {
            let fit = |threads| {
                let task = Task::new(Linear::new(loss), Penalty::ridge(1e-4));
                let plan = Plan { method: by(way), threads, ..Plan::new(Budget::relative(1e-6)) };
                task.fit(&data, plan).unwrap()
            };
            let [one, three] = [1, 3].map(fit);
            assert_eq!(one.stop, Stop::GapReached, "{loss:?} {way:?}");
            assert_eq!(one.model.weights, three.model.weights, "{loss:?} {way:?}");
            assert_eq!(one.certificate, three.certificate, "{loss:?} {way:?}");
            one.model.certify(&data).unwrap();
        }
    }
}

#[test]
fn the_bits_of_several_scores_do_not_depend_on_the_threads() {
    let rows = columns(4000, 6, 2);
    let class = |row: &Vec<f64>| ["a", "b", "c", "d"][(row[0] + row[1] + row[2]) as usize % 4];
    let labels: Vec<&str> = rows.iter().map(class).collect();
    let data = Examples::from_dense(&rows, &labels).unwrap();
    for (loss, way) in [
        (MulticlassLoss::Softmax, WAYS[0]),
        (MulticlassLoss::Softmax, WAYS[1]),
        (MulticlassLoss::SmoothHinge { width: 0.5 }, WAYS[0]),
        (MulticlassLoss::Hinge, WAYS[0]),
    ] {
        let fit = |threads| {
            let task = Task::new(Multiclass::new(loss), Penalty::ridge(1e-3));
            let plan = Plan { method: by(way), threads, ..Plan::new(Budget::relative(1e-7)) };
            task.fit(&data, plan).unwrap()
        };
        let [one, three] = [1, 3].map(fit);
        assert_eq!(one.stop, Stop::GapReached, "{loss:?} {way:?}");
        assert_eq!(one.model.weights, three.model.weights, "{loss:?} {way:?}");
        assert_eq!(one.certificate, three.certificate, "{loss:?} {way:?}");
    }
}

#[test]
fn what_it_is_not_for_is_refused() {
    let sparse = Case {
        regulariser: Regulariser { l1: 0.1, ..Regulariser::PLAIN },
        ..Case::random(1, ScalarLoss::Logistic, 6, 2)
    };
    let error = fit(&sparse, by(Equations::Auto), Budget::relative(0.1)).unwrap_err();
    assert!(error.to_string().contains("l1 norm"), "{error}");
}

proptest! {
    // A smoothed loss is the largest value of a concave function of its slope, whose derivatives are the slope and the curvature.
    #[test]
    fn smoothed_losses_are_those_of_their_definition(
        (a, y, width) in (-3.0..3.0_f64, prop_oneof![Just(-1.0), Just(1.0)], 0.01..2.0_f64),
        share in 0.0..=1.0_f64,
    ) {
        for loss in LOSSES.into_iter().filter(|loss| gamma(*loss).is_none()) {
            let (low, high) = loss.domain(y);
            let centre = -(low + share * (high - low));
            let found = |a: f64| {
                let mut out = [[0.0]; 4];
                loss.smoothed_orders((width, &[centre]), &[a], &[y], out.each_mut().map(|x| &mut x[..]));
                out.map(|[x]| x)
            };
            let [exact, value, slope, curve] = found(a);
            prop_assert!((exact - loss.value(a, y).value).abs() < 1e-12);
            let of_slope = |s: f64| a * s - loss.conjugate(-s, y).value - 0.5 * width * (s - centre).powi(2);
            prop_assert!((of_slope(slope) - value).abs() < 1e-12, "{loss:?}");
            for k in 0..=1000 {
                let s = -(low + f64::from(k) / 1000.0 * (high - low));
                prop_assert!(of_slope(s) <= value + 1e-12, "{loss:?} {s}");
            }
            let h = 1e-6;
            let ([_, below, before, _], [_, above, after, _]) = (found(a - h), found(a + h));
            prop_assert!(((above - below) / (2.0 * h) - slope).abs() < 1e-4 / width, "{loss:?}");
            // Between the kinks of the slope.
            let bend = (after - before) / (2.0 * h);
            let kinked = ((found(a)[2] - before) - (after - slope)).abs() > 1e-9;
            prop_assert!(kinked || (bend - curve).abs() < 1e-4 / width, "{loss:?} {bend} {curve}");
        }
    }
}
