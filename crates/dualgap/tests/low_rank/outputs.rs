//! Models of several numbers, in both balls: beside whole matrices, a closed form, and whoever alters them.

use crate::Case;
use crate::judge::Judge;
use dualgap::data::{Examples, Outputs, Scaling};
use dualgap::dual::Settings;
use dualgap::linalg::{LowRank, Rows};
use dualgap::model::{
    DualEvidence, InBall, Model, Plan, fit_linear_in_ball, fit_outputs_in_ball, verify_labels,
    verify_linear, verify_outputs,
};
use dualgap::run::{Budget, Report, Stop};
use dualgap::term::ScalarLoss;
use dualgap::{Error, Result};
use faer::Mat;
use faer::linalg::solvers::Solve;

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

fn fit(case: &Case, loss: ScalarLoss, within: InBall, budget: &Budget) -> Result<Report<Model>> {
    let settings = Settings { lambda: case.mu, ..Settings::default() };
    fit_outputs_in_ball(&examples(case), loss, within, Plan::new(&settings, budget, &mut ()))
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
            let report = fit(&case, loss, InBall::trace(radius), &budget).unwrap();
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
    for within in [InBall::l1(1e3), InBall::trace(1e3)] {
        let model =
            fit(&case, ScalarLoss::Squared, within, &Budget::relative(1e-12)).unwrap().model;
        for (k, own) in weights(&model).iter().enumerate() {
            assert!((own - x[(k / 4, k % 4)]).abs() < 1e-5, "{within:?}: {own}");
        }
        // Of ridge every output is a problem of its own; so the first is that of its numbers alone.
        let numbers: Vec<f64> = case.targets.iter().step_by(4).copied().collect();
        let alone = Examples::from_dense_numbers(&case.rows, &numbers).unwrap();
        let settings = Settings { lambda: case.mu, ..Settings::default() };
        let (budget, nobody) = (Budget::relative(1e-12), &mut ());
        let plan = Plan::new(&settings, &budget, nobody);
        let one = fit_linear_in_ball(&alone, ScalarLoss::Squared, InBall::l1(1e3), plan).unwrap();
        for (j, w) in one.model.weights.iter().enumerate() {
            assert!((w - x[(j, 0)]).abs() < 1e-5);
        }
    }
}

#[test]
fn a_model_is_stored_verified_and_applied() {
    for (loss, scale) in LOSSES.into_iter().flat_map(|l| [(l, Scaling::None), (l, Scaling::Rms)]) {
        for within in [InBall::l1(2.0), InBall::trace(1.0)] {
            let case = case();
            let data = examples(&case);
            let settings = Settings { lambda: case.mu, ..Settings::default() };
            let (budget, nobody) = (Budget::relative(1e-3), &mut ());
            let plan = Plan { scale, ..Plan::new(&settings, &budget, nobody) };
            let model = fit_outputs_in_ball(&data, loss, within, plan).unwrap().model;
            let stored = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
            assert_eq!((&stored.low_rank, &stored.weights), (&model.low_rank, &model.weights));
            assert_eq!(stored.alphabet.names(), ["w", "h", "9", "10"], "in the given order");
            let verified = verify_outputs(&stored, &data).unwrap();
            assert_eq!(verified.evidence, DualEvidence::Witness);
            assert_eq!(verified.certificate, model.certificate);
            assert!(verify_linear(&stored, &data).is_err());
            assert!(verify_labels(&stored, &data).is_err());
            let x = weights(&stored);
            let mut squared = 0.0;
            for (i, (row, y)) in case.rows.iter().zip(case.targets.chunks(4)).enumerate() {
                let said = stored.predict_outputs(data.rows().row(i));
                for k in 0..4 {
                    let naive: f64 = row.iter().enumerate().map(|(j, a)| a * x[j * 4 + k]).sum();
                    assert!((said[k] - naive).abs() < 1e-12);
                    squared += (naive - y[k]).powi(2);
                }
            }
            let figures = stored.evaluate_outputs(&data).unwrap().figures();
            assert!((figures.rmse - (squared / 120.0).sqrt()).abs() < 1e-12);
        }
    }
}

#[test]
fn whatever_is_altered_is_refused() {
    let case = case();
    let data = examples(&case);
    let balls: [fn(f64) -> InBall; 2] = [InBall::l1, InBall::trace];
    for ball in balls {
        let budget = Budget::passes(2);
        let model = fit(&case, ScalarLoss::Squared, ball(1.0), &budget).unwrap().model;
        let refused = |change: &dyn Fn(&mut Model)| {
            let mut changed = model.clone();
            change(&mut changed);
            matches!(
                verify_outputs(&changed, &data),
                Err(Error::Refused { .. } | Error::Witness { .. } | Error::Unsound { .. })
            )
        };
        assert!(verify_outputs(&model, &data).is_ok());
        assert!(refused(&|m| {
            m.low_rank = m.low_rank.take().map(|x| x.scaled(0.5));
            m.weights.iter_mut().for_each(|w| *w *= 0.5);
        }));
        assert!(refused(&|m| m.provenance.ball = None));
        assert!(refused(&|m| m.provenance.ball = Some(ball(0.01))));
        assert!(refused(&|m| m.provenance.ball = Some(ball(1.01))));
        assert!(refused(&|m| m.provenance.lambda *= 2.0));
        assert!(refused(&|m| m.witness.as_mut().unwrap().weights[0] += 0.1));
        assert!(refused(&|m| m.witness.as_mut().unwrap().keys[1] = 0));
        let huber = ScalarLoss::Huber { width: 0.1 };
        assert!(refused(&|m| m.structure = dualgap::model::Structure::MultiOutput { loss: huber }));
        for names in [["h", "w", "9", "10"], ["a", "b", "c", "d"]] {
            assert!(refused(&|m| m.alphabet = names.map(String::from).to_vec().into()));
            assert!(verify_outputs(&model, &named(&case, &names)).is_err());
        }
        // A number that has changed, by one unit in the last place, is another data set.
        let mut other = Case { rows: case.rows.clone(), targets: case.targets.clone(), ..case };
        other.targets[7] = other.targets[7].next_up();
        assert!(verify_outputs(&model, &examples(&other)).is_err());
    }
}

#[test]
fn what_makes_no_outputs_is_refused() {
    let settings = Settings { lambda: 0.1, ..Settings::default() };
    let try_with = |data: &Examples, loss| {
        let (nobody, budget) = (&mut (), Budget::passes(1));
        let plan = Plan::new(&settings, &budget, nobody);
        fit_outputs_in_ball(data, loss, InBall::l1(1.0), plan).map(|_| ())
    };
    let data = examples(&case());
    assert!(try_with(&data, ScalarLoss::Squared).is_ok());
    for loss in [ScalarLoss::Absolute, ScalarLoss::EpsilonInsensitive { epsilon: 0.1 }] {
        let error = try_with(&data, loss).unwrap_err();
        assert!(error.to_string().contains("huber"), "{error}");
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
