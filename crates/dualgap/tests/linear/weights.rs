//! A weight of two is a duplicate, a weight of zero an absence; and two classes are a binary problem.

use crate::common::distance;
use crate::linear::case::{Case, LOSSES, REGULARISERS, choices};
use dualgap::data::Examples;
use dualgap::dual::{self, Settings};
use dualgap::run::{Budget, Certificate};
use dualgap::structure::{Choice, MulticlassBlocks};
use dualgap::term::{Costs, ScalarLoss};

/// With weights 2, 0, 1, 3 over and over, and with as many copies.
fn both(case: Case) -> (Case, Case) {
    let counts: Vec<usize> = (0..case.len()).map(|i| [2, 0, 1, 3][i % 4]).collect();
    let chosen = || counts.iter().enumerate().flat_map(|(i, &count)| vec![i; count]);
    let repeated = Case {
        rows: chosen().map(|i| case.rows[i].clone()).collect(),
        targets: chosen().map(|i| case.targets[i]).collect(),
        ..case.clone()
    };
    (Case { weights: Some(counts.iter().map(|&c| c as f64).collect()), ..case }, repeated)
}

fn overlap(a: Certificate, b: Certificate) -> bool {
    let error = a.rounding_error + b.rounding_error;
    a.dual <= b.primal + error && b.dual <= a.primal + error
}

#[test]
fn weights_and_duplicates_have_the_same_optimum() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for regulariser in REGULARISERS {
            let case = Case { regulariser, ..Case::random(k as u64, loss, 8, 3) };
            let (weighted, repeated) = both(case);
            let (a, b) = (weighted.solve(), repeated.solve());
            assert!(a.certificate.gap() < 1e-7 && b.certificate.gap() < 1e-7, "{loss:?}");
            assert!(overlap(a.certificate, b.certificate), "{loss:?} {regulariser:?}");
            assert!((a.certificate.primal - b.certificate.primal).abs() < 1e-7, "{loss:?}");
            assert!(distance(&a.model.weights, &b.model.weights) < 5e-3, "{loss:?}");
        }
    }
}

#[test]
fn no_option_contradicts_what_duplicates_say() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        let (weighted, repeated) = both(Case::random(30 + k as u64, loss, 8, 3));
        let budget = Budget::passes(20);
        for choice in choices(loss) {
            for batch in [1, 3] {
                let of = |case: &Case| {
                    let settings = Settings { batch, ..case.settings() };
                    case.train(choice, &settings, &budget).certificate
                };
                assert!(overlap(of(&weighted), of(&repeated)), "{loss:?} {choice:?}");
            }
        }
    }
}

#[test]
fn an_example_that_counts_nothing_changes_nothing() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        let case = Case::random(60 + k as u64, loss, 6, 2);
        let mut more = case.clone();
        more.rows.push(vec![1e3, -1e3]);
        more.targets.push(-1.0);
        more.weights = Some([vec![1.0; 6], vec![0.0]].concat());
        let (a, b) = (case.solve().certificate, more.solve().certificate);
        assert!((a.primal - b.primal).abs() < 1e-7, "{loss:?} {a:?} {b:?}");
    }
}

// Two weight vectors share the norm: at the optimum each is half of the binary one, with opposite signs.
#[test]
fn a_multiclass_model_of_two_classes_is_a_binary_one_at_half_of_lambda() {
    for seed in 0..5 {
        let binary = Case { lambda: 0.1, ..Case::random(seed, ScalarLoss::Hinge, 12, 3) };
        let labels: Vec<&str> =
            binary.targets.iter().map(|&y| if y > 0.0 { "yes" } else { "no" }).collect();
        let data = Examples::from_dense(&binary.rows, &labels).unwrap();
        let budget = Budget { passes: Some(100_000), ..Budget::relative(1e-9) };
        let settings = Settings { lambda: 2.0 * binary.lambda, threads: 1, ..Settings::default() };
        let blocks = MulticlassBlocks::new(&data, &Costs::ZeroOne).unwrap();
        let classes = dual::train(&blocks, &settings, &budget, &mut ()).unwrap();
        let linear = binary.train(Choice::I, &binary.settings(), &budget);
        let (a, b) = (classes.certificate, linear.certificate);
        assert!(overlap(a, b) && a.gap() < 1e-6 && b.gap() < 1e-6, "{a:?} {b:?}");
        assert!((a.primal - b.primal).abs() < 1e-6, "{a:?} {b:?}");
        let apart: Vec<f64> = classes.model.weights.chunks(2).map(|w| w[1] - w[0]).collect();
        assert!(distance(&apart, &linear.model.weights) < 0.01);
    }
}
