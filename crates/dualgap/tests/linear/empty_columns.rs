//! Columns without entries are left out of a run. It ends, bit for bit, where a run on the columns that have some does, and the
//! certificate of its model is one of all columns.

use dualgap::data::{Classes, Examples, Numbers, Scaling};
use dualgap::linalg::{Random, Rows};
use dualgap::run::{Budget, InMemory, Report};
use dualgap::structure::{Linear, Multiclass, Structure};
use dualgap::task::{Keep, Model, Plan, Resume, Task};
use dualgap::term::{Free, MulticlassLoss, Penalty, ScalarLoss};

const EXAMPLES: usize = 60;
const COLUMNS: usize = 30;
const WIDTH: usize = 21_000;

/// The place of a column among all of them; the last column is the last in both.
fn place(column: usize) -> usize {
    WIDTH - 1 - 700 * (COLUMNS - 1 - column)
}

/// Rows with entries in some of the columns, as they are and with empty columns between them. The last column is one everywhere.
fn both() -> [Rows; 2] {
    let mut random = Random::new(7);
    let (mut compact, mut wide) = (Rows::sparse(), Rows::sparse());
    for _ in 0..EXAMPLES {
        let drawn = (0..COLUMNS - 1).filter(|_| random.below(4) == 0).collect::<Vec<_>>();
        let mut row: Vec<(usize, f64)> = drawn.iter().map(|&j| (j, random.unit() - 0.3)).collect();
        row.push((COLUMNS - 1, 1.0));
        let at = |place: &dyn Fn(usize) -> usize| -> Vec<(u32, f64)> {
            row.iter().map(|&(j, x)| (place(j) as u32, x)).collect()
        };
        compact.push_sparse(&at(&|j| j));
        wide.push_sparse(&at(&place));
    }
    compact.fit_width(COLUMNS);
    [compact, wide]
}

fn of_classes(rows: Rows, classes: usize) -> Examples {
    let names: Vec<String> =
        (0..EXAMPLES).map(|i| format!("class {}", i * i % 7 % classes)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Examples::new(rows, Classes::named(&names)).unwrap()
}

fn of_numbers(rows: Rows) -> Examples {
    let numbers = (0..EXAMPLES).map(|i| (i as f64 * 1.7).sin()).collect();
    Examples::new(rows, Numbers::new(numbers).unwrap()).unwrap()
}

/// Returns the reports of both runs, after comparing them.
fn compared<S: Structure<Data = Examples>>(
    [compact, wide]: [&Task<S>; 2],
    [few, all]: [&Examples; 2],
    budget: &Budget,
) -> [Report<Model<S>>; 2] {
    let one = compact.fit(few, Plan::new(budget.clone())).unwrap();
    let other = wide.fit(all, Plan::new(budget.clone())).unwrap();
    let said = |report: &Report<Model<S>>| report.tactics.join("; ");
    assert!(said(&other).contains("30 of 21000 columns"), "{}", said(&other));
    assert!(!said(&one).contains("columns"), "{}", said(&one));
    let labels = one.model.weights.len() / COLUMNS;
    assert_eq!(other.model.weights.len(), labels * WIDTH);
    let mut expected = vec![0.0; labels * WIDTH];
    for (column, weights) in one.model.weights.chunks(labels).enumerate() {
        expected[place(column) * labels..][..labels].copy_from_slice(weights);
    }
    assert_eq!(other.model.weights, expected, "{}", said(&one));
    assert_eq!(other.model.witness, one.model.witness);
    assert_eq!((other.stop, other.work), (one.stop, one.work));
    let proved = other.model.certify(all).unwrap().certificate;
    assert!((proved.primal - other.certificate.primal).abs() <= 1e-12 * proved.primal.abs());
    assert!((proved.dual - other.certificate.dual).abs() <= 1e-12 * proved.primal.abs());
    [one, other]
}

#[test]
fn penalties_and_losses_end_where_they_do_without_empty_columns() {
    let [few, all] = both();
    let penalties = [Penalty::ridge(0.01), Penalty::elastic_net(0.01, 0.02), Penalty::lasso(0.02)];
    for penalty in penalties {
        for scaling in [Scaling::None, Scaling::Max] {
            for loss in [ScalarLoss::Hinge, ScalarLoss::Logistic, ScalarLoss::Squared] {
                let data = [few.clone(), all.clone()].map(|rows| {
                    if loss.is_binary() { of_classes(rows, 2) } else { of_numbers(rows) }
                });
                let task = Task { scaling, ..Task::new(Linear::new(loss), penalty) };
                compared([&task, &task], [&data[0], &data[1]], &Budget::relative(1e-6));
            }
        }
    }
}

#[test]
fn a_free_weight_is_free_in_its_place() {
    let data = both().map(|rows| of_classes(rows, 2));
    for loss in [ScalarLoss::Hinge, ScalarLoss::Logistic] {
        let task = |column| {
            let free = Free { column, bound: 1e4 };
            Task::new(Linear::new(loss), Penalty::ridge(0.1).with_free(free).unwrap())
        };
        let tasks = [task(COLUMNS - 1), task(WIDTH - 1)];
        let [one, _] =
            compared([&tasks[0], &tasks[1]], [&data[0], &data[1]], &Budget::relative(1e-6));
        assert!(one.model.weights[COLUMNS - 1] != 0.0);
    }
}

#[test]
fn several_classes_end_where_they_do_without_empty_columns() {
    let data = both().map(|rows| of_classes(rows, 3));
    for loss in [MulticlassLoss::Hinge, MulticlassLoss::Softmax] {
        let task = Task::new(Multiclass::new(loss), Penalty::ridge(0.01));
        compared([&task, &task], [&data[0], &data[1]], &Budget::relative(1e-5));
    }
}

#[test]
fn runs_resume_and_begin_at_other_models() {
    let data = both().map(of_numbers);
    let task = Task::new(Linear::new(ScalarLoss::Absolute), Penalty::ridge(0.01));
    let budget = |passes| Budget { passes: Some(passes), ..Budget::relative(1e-9) };
    let [_, through] = compared([&task, &task], [&data[0], &data[1]], &budget(60));
    let mut memory = InMemory::default();
    let mut last = None;
    for passes in [1, 7, 60] {
        let resume = memory.last.take().map(Resume::Checkpoint);
        let plan = Plan {
            resume,
            checkpoints: Some(Keep::Sink(&mut memory)),
            ..Plan::new(budget(passes))
        };
        last = Some(task.fit(&data[1], plan).unwrap());
    }
    assert_eq!(last.unwrap().model.weights, through.model.weights);

    // Under the l1 norm alone a run begins at the weights, and not at the dual point, of another model.
    let lasso = |sigma| Task::new(Linear::new(ScalarLoss::Squared), Penalty::lasso(sigma));
    let first = lasso(0.02).fit(&data[1], Plan::new(Budget::relative(1e-9))).unwrap();
    let warm = |old| Plan { warm_start: old, ..Plan::new(Budget::relative(1e-9)) };
    let cold = lasso(0.0201).fit(&data[1], warm(None)).unwrap();
    let again = lasso(0.0201).fit(&data[1], warm(Some(&first.model))).unwrap();
    let apart = dualgap::run::Certificate::gap_bound;
    assert!(
        (again.certificate.primal - cold.certificate.primal).abs()
            <= apart(&again.certificate) + apart(&cold.certificate)
    );
}

/// q depends on the number of columns, so that without some of them the problem would be another one.
#[test]
fn under_the_q_norm_all_columns_count() {
    let [_, all] = both();
    let data = of_numbers(all);
    let penalty = Penalty::QNorm { lambda: 0.01, l1: 0.0 };
    let task = Task::new(Linear::new(ScalarLoss::Squared), penalty);
    let report = task.fit(&data, Plan::new(Budget::relative(1e-3))).unwrap();
    assert!(report.tactics.iter().all(|said| !said.contains("columns")), "{:?}", report.tactics);
    report.model.certify(&data).unwrap();
}

/// A weight in a column without entries costs its penalty: the certificate of a model is one of all columns.
#[test]
fn a_weight_of_an_empty_column_is_seen_by_the_certificate() {
    let [_, all] = both();
    let data = of_classes(all, 2);
    let task = Task::new(Linear::new(ScalarLoss::Logistic), Penalty::ridge(0.1));
    let mut model = task.fit(&data, Plan::new(Budget::relative(1e-9))).unwrap().model;
    let before = model.certify(&data).unwrap().certificate.primal;
    assert_eq!(model.weights[5], 0.0);
    model.weights[5] = 2.0;
    let after = before + 0.1 / 2.0 * 4.0;
    let refused = model.certify(&data).unwrap_err().to_string();
    assert!(refused.contains(&format!("the data give {after:.6}")), "{refused} {after}");
}
