//! A run on scaled columns is a run on data that someone else has scaled, and its model one for the data as they are.

use crate::common::fits;
use crate::linear::case::{Case, LOSSES, REGULARISERS};
use dualgap::Error;
use dualgap::data::{Examples, Scaling};
use dualgap::dual::Settings;
use dualgap::linalg::Rows;
use dualgap::run::{Budget, Report, Stop};
use dualgap::structure::{Choice, Linear};
use dualgap::term::{Regulariser, ScalarLoss};

type Model = dualgap::task::Model<Linear>;

pub const SCALINGS: [Scaling; 2] = [Scaling::Max, Scaling::Rms];

/// What columns are divided by, by the formulas.
pub fn factors(scaling: Scaling, rows: &[Vec<f64>]) -> Vec<f64> {
    let column = |j: usize| rows.iter().map(move |row| row[j]);
    let size = |j: usize| match scaling {
        Scaling::None => 1.0,
        Scaling::Max => column(j).fold(0.0_f64, |size, x| size.max(x.abs())),
        Scaling::Rms => (column(j).map(|x| x * x).sum::<f64>() / rows.len() as f64).sqrt(),
    };
    (0..rows[0].len()).map(size).map(|s| if s > 0.0 { s } else { 1.0 }).collect()
}

pub fn divided(rows: &[Vec<f64>], by: &[f64]) -> Vec<Vec<f64>> {
    rows.iter().map(|row| row.iter().zip(by).map(|(x, s)| x / s).collect()).collect()
}

/// Columns of very different sizes, a column of zeros and a constant one.
pub fn uneven(seed: u64, loss: ScalarLoss, n: usize) -> Case {
    let mut case = Case::random(seed, loss, n, 3);
    for row in &mut case.rows {
        *row = vec![700.0 * row[0], 0.03 * row[1], row[2], 0.0, 1.0];
    }
    case
}

/// The same problem on data that are scaled already, and what they were divided by.
pub fn scaled(case: &Case, scaling: Scaling) -> (Case, Vec<f64>) {
    let by = factors(scaling, &case.rows);
    (Case { rows: divided(&case.rows, &by), ..case.clone() }, by)
}

pub fn fit(case: &Case, scale: Scaling, budget: &Budget) -> Report<Model> {
    fit_with(case, &case.settings(), scale, budget)
}

fn fit_with(case: &Case, settings: &Settings, scale: Scaling, budget: &Budget) -> Report<Model> {
    let fit = fits::linear(case.loss, Choice::I, settings, budget).scaled(scale);
    fit.run(&case.examples()).unwrap()
}

/// Every loss under every regulariser, and without λ.
fn problems() -> impl Iterator<Item = Case> {
    LOSSES.into_iter().enumerate().flat_map(|(k, loss)| {
        let lasso = Regulariser { l1: 0.04, ..Regulariser::default() };
        let pure = [lasso, Regulariser { nonnegative: true, ..lasso }].map(|pure| (0.0, pure));
        let kinds = REGULARISERS.map(|regulariser| (0.1, regulariser)).into_iter().chain(pure);
        kinds.map(move |(lambda, regulariser)| Case {
            lambda,
            regulariser,
            ..uneven(k as u64, loss, 9)
        })
    })
}

#[test]
fn a_run_on_scaled_columns_is_a_run_on_data_scaled_beforehand() {
    for case in problems() {
        for scaling in SCALINGS {
            let (beforehand, by) = scaled(&case, scaling);
            let (budget, what) = (Budget::passes(6), format!("{scaling:?} {case:?}"));
            // Whether shrinking leaves an example out may depend on the last bit.
            let settings = Settings { shrinking: false, ..case.settings() };
            let one = fit_with(&case, &settings, scaling, &budget);
            let other = fit_with(&beforehand, &settings, Scaling::None, &budget);
            let (a, b) = (one.certificate, other.certificate);
            let exact = scaling == Scaling::Max; // another formula for the root would round differently
            let error = if exact { a.rounding_error + b.rounding_error } else { 1e-7 };
            assert!((a.primal - b.primal).abs() <= error, "{what} {a:?} {b:?}");
            assert!((a.dual - b.dual).abs() <= error, "{what} {a:?} {b:?}");
            for ((w, other), s) in one.model.weights.iter().zip(&other.model.weights).zip(&by) {
                let expected = other / s;
                let error = if exact { 0.0 } else { 1e-6 * expected.abs().max(1e-6) };
                assert!((w - expected).abs() <= error, "{what}: {w} {expected}");
                assert!(*w >= 0.0 || !case.regulariser.nonnegative, "{what}");
            }
            // The certificate is that of exactly these weights.
            let back: Vec<f64> = one.model.weights.iter().zip(&by).map(|(w, s)| w * s).collect();
            let own = beforehand.primal(&back);
            assert!((own - a.primal).abs() <= 1e-12 * (1.0 + own), "{what}: {own} {a:?}");
        }
    }
}

#[test]
fn a_model_of_scaled_columns_is_verified_and_another_scale_is_not_believed() {
    for case in problems() {
        for scaling in SCALINGS {
            let model = fit(&case, scaling, &Budget::passes(3)).model;
            let stored = fits::stored(&model);
            assert_eq!(stored.task.scaling, scaling);
            for model in [model.clone(), Model { witness: None, ..model.clone() }, stored] {
                let verified = model.certify(&case.examples()).unwrap().certificate;
                let error = verified.rounding_error + model.certificate.rounding_error;
                assert!((verified.gap() - model.certificate.gap()).abs() <= error);
            }
            if model.weights.iter().all(|&w| w == 0.0) {
                continue; // those cost the same at any scale
            }
            for other in [Scaling::None, Scaling::Max, Scaling::Rms] {
                for witness in [model.witness.clone(), None] {
                    let mut forged = Model { witness, ..model.clone() };
                    forged.task.scaling = other;
                    let refused = forged.certify(&case.examples());
                    let refused = matches!(refused, Err(Error::Refused { .. }));
                    assert_eq!(refused, other != scaling, "{other:?} {scaling:?} {case:?}");
                }
            }
        }
    }
}

/// The larger a row, the smaller the steps of all others: one column of a thousand slows the rest down.
#[test]
fn a_large_column_costs_many_passes_that_scaling_saves() {
    for loss in [ScalarLoss::Hinge, ScalarLoss::Logistic, ScalarLoss::Squared] {
        let mut case = Case { lambda: 0.01, ..Case::random(5, loss, 40, 4) };
        case.rows.iter_mut().for_each(|row| row[1] *= 1000.0);
        let budget = Budget { passes: Some(2000), ..Budget::relative(1e-3) };
        let plain = fit(&case, Scaling::None, &budget);
        for scaling in SCALINGS {
            let quick = fit(&case, scaling, &budget);
            assert_eq!(quick.stop, Stop::GapReached, "{loss:?}");
            assert!(
                plain.passes >= 10.0 * quick.passes,
                "{loss:?}: {} {}",
                plain.passes,
                quick.passes
            );
        }
    }
}

/// Two classes told apart by one column, whatever its size, beside others of every size.
#[test]
fn columns_of_extreme_sizes_are_learnt_from_and_certified() {
    let tiny = f64::from_bits(1); // the smallest number there is
    for size in [1.0, 1e300, f64::MAX, 1e-300, 1e-280, 1e150] {
        for loss in [ScalarLoss::Hinge, ScalarLoss::Logistic, ScalarLoss::SquaredHinge] {
            let targets: Vec<f64> = [1.0, -1.0].repeat(5);
            let row = |(i, side): (u8, &f64)| {
                let noise = f64::from(i % 5) - 2.0;
                vec![side * size, 1e-300 * noise, tiny * noise, noise, 1e299 * noise]
            };
            let case = Case {
                loss,
                rows: (0..).zip(&targets).map(row).collect(),
                targets,
                lambda: 0.01,
                regulariser: Regulariser::default(),
                weights: None,
            };
            for scaling in SCALINGS {
                let report = fit(&case, scaling, &Budget::relative(0.01));
                assert_eq!(report.stop, Stop::GapReached, "{size:e} {loss:?} {scaling:?}");
                let model = &report.model;
                model.certify(&case.examples()).unwrap();
                fits::stored(model);
                assert_eq!(model.evaluate(&case.examples()).unwrap().error(), 0.0, "{size:e}");
            }
        }
    }
}

#[test]
fn sparse_rows_stay_sparse() {
    let case = uneven(1, ScalarLoss::Hinge, 9);
    let data = case.examples_of(case.sparse_or_dense(true));
    let entries = |rows: &Rows| -> Vec<Vec<usize>> {
        (0..rows.len()).map(|i| rows.row(i).iter().map(|(j, _)| j).collect()).collect()
    };
    for scaling in SCALINGS {
        let (_, scaled) = scaling.apply(&data);
        assert!(scaled.rows().dense_values().is_none());
        assert_eq!(entries(scaled.rows()), entries(data.rows()));
        assert!(scaled.rows().stored() < 9 * 5);
        // What is stored makes no difference to the run.
        let (settings, budget) = (case.settings(), Budget::passes(4));
        let weights = |data: &Examples| {
            let fit = fits::linear(case.loss, Choice::I, &settings, &budget).scaled(scaling);
            fit.run(data).unwrap().model.weights
        };
        let off = crate::common::distance(&weights(&data), &weights(&case.examples()));
        assert!(off < 1e-9, "{off}");
    }
}
