//! Models of several numbers, in both balls: beside whole matrices, a closed form, and whoever alters them.

use crate::common::fits::{self, Fit};
use crate::low_rank::Case;
use crate::low_rank::judge::Judge;
use dualgap::ball::BallSettings;
use dualgap::data::{Examples, Outputs, Scaling};
use dualgap::linalg::{LowRank, Rows};
use dualgap::run::{Budget, Report, Stop};
use dualgap::structure::{Linear, MultiLabel, MultiOutput};
use dualgap::task::{DualEvidence, RawModel};
use dualgap::term::{Penalty, ScalarLoss};
use dualgap::{Error, Result};
use faer::Mat;
use faer::linalg::solvers::Solve;

type Model = dualgap::task::Model<MultiOutput>;

const LOSSES: [ScalarLoss; 2] = [ScalarLoss::Squared, ScalarLoss::Huber { width: 0.6 }];

/// Four numbers and five features.
fn case() -> Case {
    Case { mu: 0.05, ..Case::random(9, 30, 5, 4) }
}

fn named(case: &Case, names: &[&str]) -> Examples {
    let names = names.iter().map(ToString::to_string).collect();
    let outputs = Outputs::new(names, case.targets.clone()).unwrap();
    Examples::new(Rows::dense(&case.rows).unwrap(), outputs).unwrap()
}

fn examples(case: &Case) -> Examples {
    named(case, &["w", "h", "9", "10"])
}

fn fit(case: &Case, loss: ScalarLoss, ball: Penalty, budget: &Budget) -> Result<Report<Model>> {
    Fit::in_ball(MultiOutput::new(loss), ball, BallSettings::default(), budget).run(&examples(case))
}

/// The weights of a model, written out.
fn weights(model: &Model) -> Vec<f64> {
    model.low_rank.as_ref().map_or(model.weights.clone(), LowRank::to_dense)
}

#[test]
fn a_fitted_model_is_at_the_optimum_of_the_whole_matrix_problem() {
    for loss in LOSSES {
        for radius in [0.7, 2.0] {
            let case = Case { radius, ..case() };
            let budget = Budget::relative(1e-9);
            let report = fit(&case, loss, Penalty::trace_ball(radius, case.mu), &budget).unwrap();
            assert_eq!(report.stop, Stop::GapReached, "{loss:?}");
            let of = |x: &Mat<f64>| {
                case.mean_loss(x, |score, y| {
                    let r: f64 = score - y;
                    match loss {
                        ScalarLoss::Huber { width } if r.abs() > width => {
                            (width * (r.abs() - width / 2.0), width * r.signum())
                        }
                        _ => (r * r / 2.0, r),
                    }
                })
            };
            let (mu, smoothness) = (case.mu, case.smoothness());
            let judge = Judge { loss: &of, smoothness, mu, radius, shape: (5, 4) };
            let (best, x) = judge.optimum(4000);
            assert!((report.certificate.primal - best).abs() < 1e-7, "{loss:?} {radius}: {best}");
            for (k, own) in weights(&report.model).iter().enumerate() {
                assert!((own - x[(k / 4, k % 4)]).abs() < 1e-3, "{loss:?} {radius}");
            }
        }
    }
}

/// X = (A'A/n + μI)⁻¹ A'Y/n.
fn ridge(case: &Case) -> Mat<f64> {
    let (n, d, c) = (case.rows.len(), case.rows[0].len(), case.outputs);
    let a = Mat::from_fn(n, d, |i, j| case.rows[i][j]);
    let y = Mat::from_fn(n, c, |i, k| case.targets[i * c + k]);
    let (gram, right) = (a.transpose() * &a, a.transpose() * &y);
    let share = 1.0 / n as f64;
    let left = Mat::from_fn(d, d, |i, j| share * gram[(i, j)] + if i == j { case.mu } else { 0.0 });
    left.partial_piv_lu().solve(Mat::from_fn(d, c, |i, k| share * right[(i, k)]))
}

#[test]
fn in_a_ball_without_an_edge_in_sight_the_weights_are_those_of_ridge() {
    let case = case();
    let x = ridge(&case);
    for ball in [Penalty::l1_ball(1e3, case.mu), Penalty::trace_ball(1e3, case.mu)] {
        let budget = Budget::relative(1e-12);
        let model = fit(&case, ScalarLoss::Squared, ball, &budget).unwrap().model;
        for (k, own) in weights(&model).iter().enumerate() {
            assert!((own - x[(k / 4, k % 4)]).abs() < 1e-5, "{ball:?}: {own}");
        }
        // Of ridge every output is a problem of its own; so the first is that of its numbers alone.
        let numbers: Vec<f64> = case.targets.iter().step_by(4).copied().collect();
        let alone = Examples::from_dense_numbers(&case.rows, &numbers).unwrap();
        let (linear, ball) = (Linear::new(ScalarLoss::Squared), Penalty::l1_ball(1e3, case.mu));
        let one = Fit::in_ball(linear, ball, BallSettings::default(), &budget).run(&alone).unwrap();
        for (j, w) in one.model.weights.iter().enumerate() {
            assert!((w - x[(j, 0)]).abs() < 1e-5);
        }
    }
}

#[test]
fn a_model_is_stored_verified_and_applied() {
    for (loss, scale) in LOSSES.into_iter().flat_map(|l| [(l, Scaling::None), (l, Scaling::Rms)]) {
        let case = case();
        for ball in [Penalty::l1_ball(2.0, case.mu), Penalty::trace_ball(1.0, case.mu)] {
            let data = examples(&case);
            let (outputs, budget) = (MultiOutput::new(loss), Budget::relative(1e-3));
            let fit = Fit::in_ball(outputs, ball, BallSettings::default(), &budget).scaled(scale);
            let model = fit.run(&data).unwrap().model;
            let stored = fits::stored(&model);
            assert_eq!((&stored.low_rank, &stored.weights), (&model.low_rank, &model.weights));
            assert_eq!(stored.names.alphabet.names(), ["w", "h", "9", "10"], "in the given order");
            let verified = stored.certify(&data).unwrap();
            assert_eq!(verified.evidence, DualEvidence::Witness);
            assert_eq!(verified.certificate, model.certificate);
            let raw = RawModel::from_bytes(model.to_bytes().unwrap()).unwrap();
            assert!(raw.read::<Linear>().is_err() && raw.read::<MultiLabel>().is_err());
            let predictions = stored.predict(&data).unwrap();
            let x = weights(&stored);
            let mut squared = 0.0;
            for (i, (row, y)) in case.rows.iter().zip(case.targets.chunks(4)).enumerate() {
                let said = &predictions[i];
                for k in 0..4 {
                    let naive: f64 = row.iter().enumerate().map(|(j, a)| a * x[j * 4 + k]).sum();
                    assert!((said[k] - naive).abs() < 1e-12);
                    squared += (naive - y[k]).powi(2);
                }
            }
            let figures = stored.evaluate(&data).unwrap().outputs().unwrap().figures();
            assert!((figures.rmse - (squared / 120.0).sqrt()).abs() < 1e-12);
        }
    }
}

#[test]
fn whatever_is_altered_is_refused() {
    let case = case();
    let data = examples(&case);
    let balls: [fn(f64, f64) -> Penalty; 2] = [Penalty::l1_ball, Penalty::trace_ball];
    for ball in balls {
        let budget = Budget::passes(2);
        let model = fit(&case, ScalarLoss::Squared, ball(1.0, case.mu), &budget).unwrap().model;
        let refused = |change: &dyn Fn(&mut Model)| {
            let mut changed = model.clone();
            change(&mut changed);
            matches!(
                changed.certify(&data),
                Err(Error::Refused { .. } | Error::Witness { .. } | Error::Unsound { .. })
            )
        };
        assert!(model.certify(&data).is_ok());
        assert!(refused(&|m| {
            m.low_rank = m.low_rank.take().map(|x| x.scaled(0.5));
            m.weights.iter_mut().for_each(|w| *w *= 0.5);
        }));
        assert!(refused(&|m| m.task.penalty = Penalty::ridge(case.mu)));
        assert!(refused(&|m| m.task.penalty = ball(0.01, case.mu)));
        assert!(refused(&|m| m.task.penalty = ball(1.01, case.mu)));
        assert!(refused(&|m| m.task.penalty = ball(1.0, 2.0 * case.mu)));
        assert!(refused(&|m| m.witness.as_mut().unwrap().weights[0] += 0.1));
        assert!(refused(&|m| m.witness.as_mut().unwrap().keys[1] = 0));
        let huber = ScalarLoss::Huber { width: 0.1 };
        assert!(refused(&|m| m.task.structure.loss = huber));
        for names in [["h", "w", "9", "10"], ["a", "b", "c", "d"]] {
            assert!(refused(&|m| m.names.alphabet = names.map(String::from).to_vec().into()));
            assert!(model.certify(&named(&case, &names)).is_err());
        }
        // A number that has changed, by one unit in the last place, is another data set.
        let mut other = Case { rows: case.rows.clone(), targets: case.targets.clone(), ..case };
        other.targets[7] = other.targets[7].next_up();
        assert!(model.certify(&examples(&other)).is_err());
    }
}

#[test]
fn what_makes_no_outputs_is_refused() {
    let try_with = |data: &Examples, loss| {
        let (ball, budget) = (Penalty::l1_ball(1.0, 0.1), Budget::passes(1));
        let fit = Fit::in_ball(MultiOutput::new(loss), ball, BallSettings::default(), &budget);
        fit.run(data).map(|_| ())
    };
    let data = examples(&case());
    assert!(try_with(&data, ScalarLoss::Squared).is_ok());
    for loss in [ScalarLoss::Absolute, ScalarLoss::EpsilonInsensitive { epsilon: 0.1 }] {
        let error = try_with(&data, loss).unwrap_err();
        assert!(error.to_string().to_lowercase().contains("huber"), "{error}");
    }
    assert!(try_with(&data, ScalarLoss::Logistic).is_err());
    let labels = Examples::from_dense(&[vec![1.0], vec![2.0]], &["1", "2"]).unwrap();
    let rows = Rows::dense(&[vec![1.0], vec![2.0]]).unwrap();
    let one = Outputs::new(vec!["only".into()], vec![1.0, 2.0]).unwrap();
    let one = Examples::new(rows, one).unwrap();
    for (data, words) in [(labels, "several numbers"), (one, "regression")] {
        let error = try_with(&data, ScalarLoss::Squared).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}
