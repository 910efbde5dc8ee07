//! Few examples with long rows: runs on compressed rows end where runs on the rows themselves do, and their certificates are those
//! of the data.

use crate::common::distance;
use dualgap::data::{DataSet, Examples};
use dualgap::linalg::Random;
use dualgap::run::{Budget, InMemory, Report, Stop};
use dualgap::structure::{Linear, Multiclass, Structure};
use dualgap::task::{DualMethod, Keep, Method, Model, Plan, Resume, Task};
use dualgap::term::{MulticlassLoss, Penalty, ScalarLoss};

const LOSSES: [ScalarLoss; 7] = [
    ScalarLoss::Hinge,
    ScalarLoss::SquaredHinge,
    ScalarLoss::Logistic,
    ScalarLoss::Squared,
    ScalarLoss::Absolute,
    ScalarLoss::Huber { width: 0.5 },
    ScalarLoss::SmoothHinge { width: 0.5 },
];

/// Rows of a share of entries, of which the second and the last are the same.
fn rows(n: usize, width: usize, share: f64) -> Vec<Vec<f64>> {
    let mut random = Random::new(11);
    let mut entry = || if random.unit() < share { random.unit() - 0.4 } else { 0.0 };
    let mut rows: Vec<Vec<f64>> = (0..n).map(|_| (0..width).map(|_| entry()).collect()).collect();
    let twin = rows[1].clone();
    rows[n - 1] = twin;
    rows
}

fn data(loss: ScalarLoss, share: f64) -> Examples {
    let rows = rows(14, 300, share);
    if loss.is_binary() {
        let names: Vec<&str> = (0..rows.len()).map(|i| ["a", "b"][i / 3 % 2]).collect();
        return Examples::from_dense(&rows, &names).unwrap();
    }
    let numbers: Vec<f64> = (0..rows.len()).map(|i| (i as f64 * 1.7).sin()).collect();
    Examples::from_dense_numbers(&rows, &numbers).unwrap()
}

fn task(loss: ScalarLoss, lambda: f64) -> Task<Linear> {
    Task::new(Linear::new(loss), Penalty::ridge(lambda))
}

/// Dual ascent on the rows themselves.
fn ascent() -> Method {
    DualMethod { handover: false, ..DualMethod::default() }.into()
}

fn is_compressed<S: Structure>(report: &Report<Model<S>>) -> bool {
    report.tactics.iter().any(|said| said.contains("compressed"))
}

#[test]
fn the_optimum_is_that_of_the_rows_themselves() {
    for loss in LOSSES {
        for (share, lambda) in [(1.0, 0.05), (0.5, 1e-3), (0.1, 1.0)] {
            let plain = data(loss, share);
            let weights = (0..plain.len()).map(|i| (i % 4) as f64).collect();
            for data in [plain.clone(), plain.weighted(weights).unwrap()] {
                let (task, budget) = (task(loss, lambda), Budget::relative(1e-7));
                let report = task.fit(&data, Plan::new(budget.clone())).unwrap();
                let judge =
                    task.fit(&data, Plan { method: ascent(), ..Plan::new(budget) }).unwrap();
                let what = format!("{loss:?} {share} {lambda}: {:?}", report.tactics);
                assert!(is_compressed(&report) && !is_compressed(&judge), "{what}");
                assert_eq!(report.stop, Stop::GapReached, "{what}");
                report.model.certify(&data).unwrap();
                let (own, other) = (report.certificate, judge.certificate);
                assert!((own.primal - other.primal).abs() <= own.gap_bound() + other.gap_bound());
                // λ/2 ‖w − w*‖² is at most the gap.
                let near = |gap: f64| (2.0 * gap / lambda).sqrt();
                let apart = distance(&report.model.weights, &judge.model.weights);
                assert!(apart <= near(own.gap_bound()) + near(other.gap_bound()), "{what}");
            }
        }
    }
}

#[test]
fn every_certificate_of_the_run_is_one_of_the_data() {
    let (data, task) = (data(ScalarLoss::Hinge, 1.0), task(ScalarLoss::Hinge, 1e-3));
    let report = task.fit(&data, Plan::new(Budget::relative(1e-6))).unwrap();
    let optimum = report.certificate;
    for progress in &report.history {
        let certificate = progress.certificate;
        assert!(certificate.primal + certificate.rounding_error >= optimum.dual);
        assert!(certificate.dual - certificate.rounding_error <= optimum.primal);
    }
    assert_eq!(report.model.weights.len(), 300);
}

#[test]
fn a_resumed_run_is_bit_for_bit_the_run_that_went_through() {
    for (loss, lambda) in
        [(ScalarLoss::Hinge, 1e-4), (ScalarLoss::Logistic, 1e-3), (ScalarLoss::Absolute, 0.1)]
    {
        let (data, task) = (data(loss, 1.0), task(loss, lambda));
        let budget = |passes| Budget { passes: Some(passes), ..Budget::relative(1e-9) };
        let through = task.fit(&data, Plan::new(budget(400))).unwrap();
        assert!(is_compressed(&through));
        let mut memory = InMemory::default();
        let mut last = None;
        for passes in [1, 3, 9, 40, 400] {
            let resume = memory.last.take().map(Resume::Checkpoint);
            let checkpoints = Some(Keep::Sink(&mut memory));
            let plan = Plan { resume, checkpoints, ..Plan::new(budget(passes)) };
            last = Some(task.fit(&data, plan).unwrap());
        }
        let last = last.unwrap();
        assert_eq!(last.model.weights, through.model.weights, "{loss:?}");
        assert_eq!(last.model.witness, through.model.witness, "{loss:?}");
        assert_eq!(last.work, through.work, "{loss:?}");
    }
}

#[test]
fn a_run_begins_at_the_dual_point_of_another_lambda() {
    for loss in [ScalarLoss::Hinge, ScalarLoss::Logistic] {
        let data = data(loss, 0.5);
        let fit = |lambda, warm_start| {
            let plan = Plan { warm_start, ..Plan::new(Budget::relative(1e-6)) };
            task(loss, lambda).fit(&data, plan).unwrap()
        };
        let first = fit(0.01, None);
        let (again, other) = (fit(0.01, Some(&first.model)), fit(0.012, Some(&first.model)));
        assert!(is_compressed(&again) && is_compressed(&other));
        assert!(again.work.steps <= first.work.steps, "{loss:?}");
        assert_eq!((again.stop, other.stop), (Stop::GapReached, Stop::GapReached));
    }
}

#[test]
fn several_classes_are_compressed() {
    let rows = rows(12, 400, 1.0);
    let names: Vec<&str> = (0..rows.len()).map(|i| ["a", "b", "c"][i % 3]).collect();
    let data = Examples::from_dense(&rows, &names).unwrap();
    for loss in [MulticlassLoss::Softmax, MulticlassLoss::SmoothHinge { width: 1.0 }] {
        let task = Task::new(Multiclass::new(loss), Penalty::ridge(0.01));
        let budget = Budget::relative(1e-7);
        let report = task.fit(&data, Plan::new(budget.clone())).unwrap();
        let judge = task.fit(&data, Plan { method: ascent(), ..Plan::new(budget) }).unwrap();
        assert!(is_compressed(&report), "{loss:?}: {:?}", report.tactics);
        report.model.certify(&data).unwrap();
        let gaps = report.certificate.gap_bound() + judge.certificate.gap_bound();
        assert!((report.certificate.primal - judge.certificate.primal).abs() <= gaps, "{loss:?}");
    }
}

// Many examples, other penalties, and methods that are asked for.
#[test]
fn other_runs_are_on_the_rows_themselves() {
    let long = data(ScalarLoss::Logistic, 1.0);
    let short = {
        let rows = rows(60, 100, 1.0);
        let names: Vec<&str> = (0..rows.len()).map(|i| ["a", "b"][i % 2]).collect();
        Examples::from_dense(&rows, &names).unwrap()
    };
    let plain = task(ScalarLoss::Logistic, 0.1);
    let l1 = Task { penalty: Penalty::elastic_net(0.1, 0.01), ..plain.clone() };
    let plan = || Plan::new(Budget::relative(1e-3));
    assert!(!is_compressed(&plain.fit(&short, plan()).unwrap()));
    assert!(!is_compressed(&l1.fit(&long, plan()).unwrap()));
    let named = Method::named("bcfw", false).unwrap();
    assert!(!is_compressed(&plain.fit(&long, Plan { method: named, ..plan() }).unwrap()));
}
