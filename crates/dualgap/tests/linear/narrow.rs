//! Values of 32 bits in the place of 64, or none where all are one: the same runs to the last bit.

use dualgap::data::{Alphabet, Classes, DataSet, Examples, Numbers, Scaling, Source, TargetKind};
use dualgap::linalg::{Random, Row, Rows};
use dualgap::run::{Budget, Report};
use dualgap::structure::{Linear, Multiclass, Structure};
use dualgap::task::{Method, Model, Plan, Task};
use dualgap::term::{MulticlassLoss, Penalty, ScalarLoss};

/// Rows whose values have few digits, in 32 bits, or are one and not stored, and the same in 64 bits.
fn both(n: usize, ones: bool) -> [Rows; 2] {
    let mut random = Random::new(11);
    let mut rows = Rows::sparse();
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..n {
        let cells = (0..12_u32).filter(|_| random.unit() < 0.4).collect::<Vec<_>>();
        let mut value = || if ones { 1.0 } else { (random.below(33) as f64 - 16.0) / 8.0 };
        let row: Vec<(u32, f64)> = cells.iter().map(|&j| (j, value())).collect();
        rows.push_sparse(&row);
        indices.extend(row.iter().map(|&(j, _)| j));
        values.extend(row.iter().map(|&(_, x)| x));
        starts.push(indices.len());
    }
    rows.fit_width(12);
    let wide = Rows::from_csr(starts, indices, values, 12).unwrap();
    assert!(matches!(wide.row(0), Row::Sparse { .. }));
    assert_eq!(matches!(rows.row(0), Row::Ones { .. }), ones);
    assert_eq!(matches!(rows.row(0), Row::Single { .. }), !ones);
    [rows, wide]
}

/// Trains on both, and compares every bit that can be seen.
fn same<S: Structure<Data = Examples, Output: PartialEq + std::fmt::Debug>>(
    task: &Task<S>,
    data: &[Examples; 2],
    method: &str,
) {
    let [one, other] = data.each_ref().map(|data| -> Report<Model<S>> {
        let plan = Plan {
            method: Method::named(method, task.penalty.ball().is_some()).unwrap(),
            ..Plan::new(Budget { passes: Some(30), ..Budget::relative(1e-6) })
        };
        task.fit(data, plan).unwrap()
    });
    let bits = |w: &[f64]| w.iter().map(|w| w.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&one.model.weights), bits(&other.model.weights), "{method} {task:?}");
    assert_eq!(one.certificate, other.certificate);
    assert_eq!(one.model.witness, other.model.witness);
    assert_eq!((one.passes, one.work, one.stop), (other.passes, other.work, other.stop));
    assert_eq!(data[0].fingerprint(), data[1].fingerprint());
    assert_eq!(one.model.predict(&data[1]).unwrap(), other.model.predict(&data[0]).unwrap());
    // A model of one proves its certificate on the other.
    one.model.certify(&data[1]).unwrap();
    other.model.certify(&data[0]).unwrap();
    assert_eq!(one.advice(&data[0]).unwrap(), other.advice(&data[1]).unwrap());
}

#[test]
fn runs_are_the_same_whatever_the_values_are_stored_as() {
    runs_are_the_same(false);
}

#[test]
fn runs_are_the_same_if_ones_are_not_stored() {
    runs_are_the_same(true);
}

fn runs_are_the_same(ones: bool) {
    let n = 120;
    let mut random = Random::new(5);
    let labels: Vec<u32> = (0..n).map(|_| random.below(2) as u32).collect();
    let numbers: Vec<f64> = (0..n).map(|_| 3.0 * random.unit()).collect();
    let binary = both(n, ones).map(|rows| {
        let names = Alphabet::new(["-1", "1"].map(String::from));
        Examples::new(rows, Classes::new(labels.clone(), names).unwrap()).unwrap()
    });
    let numeric = both(n, ones)
        .map(|rows| Examples::new(rows, Numbers::new(numbers.clone()).unwrap()).unwrap());
    let ridge = Penalty::ridge(0.01);
    for (loss, penalty, method) in [
        (ScalarLoss::Hinge, ridge, "auto"),
        (ScalarLoss::Logistic, ridge, "auto"),
        (ScalarLoss::Logistic, ridge, "newton"),
        (ScalarLoss::SquaredHinge, Penalty::elastic_net(0.01, 0.01), "auto"),
        (ScalarLoss::Logistic, Penalty::lasso(0.01), "auto"),
        (ScalarLoss::Logistic, Penalty::l1_ball(1.0, 0.01), "auto"),
        (ScalarLoss::Hinge, ridge, "ssg"),
    ] {
        same(&Task::new(Linear::new(loss), penalty), &binary, method);
    }
    for (loss, penalty) in [
        (ScalarLoss::Squared, ridge),
        (ScalarLoss::Absolute, ridge),
        (ScalarLoss::Squared, Penalty::lasso(0.1)),
    ] {
        same(&Task::new(Linear::new(loss), penalty), &numeric, "auto");
    }
    for loss in [MulticlassLoss::Hinge, MulticlassLoss::Softmax] {
        same(&Task::new(Multiclass::new(loss), ridge), &binary, "auto");
    }
    let scaled = Task { scaling: Scaling::Rms, ..Task::new(Linear::new(ScalarLoss::Hinge), ridge) };
    same(&scaled, &binary, "auto");
    let constant = binary.map(Examples::with_constant);
    same(&Task::new(Linear::new(ScalarLoss::Hinge), ridge), &constant, "auto");
}

#[test]
fn a_file_is_read_as_it_is_written_whatever_its_numbers() {
    let read = |text: &str| {
        Examples::read_libsvm(
            Source::from_bytes("t.svm", text.as_bytes()).unwrap(),
            TargetKind::Class,
        )
        .unwrap()
    };
    let bits = |data: &Examples| -> Vec<(usize, u64)> {
        let rows = data.rows();
        let all = (0..rows.len()).flat_map(|i| rows.row(i).iter().collect::<Vec<_>>());
        all.map(|(j, x)| (j, x.to_bits())).collect()
    };
    for (value, narrow) in [
        ("1", true),
        ("-0", true),
        ("0.5", true),
        ("16777216", true),
        ("3.4028234663852886e38", true),
        ("1.401298464324817e-45", true),
        ("0.1", false),
        ("16777217", false),
        ("3.5e38", false),
        ("1e300", false),
        ("1e-40", false),
        ("5e-324", false),
        ("1e-46", false),
    ] {
        // Alone, after rows that fit, and before them.
        for text in [
            format!("1 1:{value}\n-1 2:3\n"),
            format!("1 1:2 3:0.25\n-1 2:{value}\n1 1:1\n"),
            format!("1 1:{value} 2:1\n-1 2:0.5\n"),
        ] {
            let data = read(&text);
            let expected: Vec<(usize, u64)> = text
                .split_whitespace()
                .filter_map(|token| token.split_once(':'))
                .map(|(j, x)| {
                    (j.parse::<usize>().unwrap() - 1, x.parse::<f64>().unwrap().to_bits())
                })
                .collect();
            assert_eq!(bits(&data), expected, "{text}");
            let is_narrow = matches!(data.rows().row(0), Row::Single { .. });
            assert_eq!(is_narrow, narrow, "{text}");
        }
    }
    let data = read("1 1:1 3:1\n-1\n1 2:1.0\n");
    assert!(matches!(data.rows().row(0), Row::Ones { .. }));
    assert_eq!(bits(&data), [0, 2, 1].map(|j| (j, 1.0_f64.to_bits())));
}
