//! Multiclass models whose weights are in factors: fitted, stored, verified from their data, and refused when anything in
//! them was altered.

use crate::common::fits::{self, Fit};
use crate::low_rank::Case;
use crate::low_rank::judge::Judge;
use dualgap::ball::{self, BallMethod};
use dualgap::data::{Examples, Scaling};
use dualgap::linalg::LowRank;
use dualgap::run::{Budget, Report, Stop};
use dualgap::structure::Multiclass;
use dualgap::task::{DualEvidence, Method as Solver, Verified};
use dualgap::term::{MulticlassLoss, Penalty};
use dualgap::{Error, Result};
use faer::Mat;

type Model = dualgap::task::Model<Multiclass>;

/// Four classes of five features.
fn case() -> Case {
    Case { mu: 0.05, ..Case::random(5, 31, 5, 4) }
}

fn examples(case: &Case) -> Examples {
    let names: Vec<String> = case.labels().iter().map(u32::to_string).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Examples::from_dense(&case.rows, &names).unwrap()
}

fn fit(
    case: &Case,
    method: BallMethod,
    loss: MulticlassLoss,
    scale: Scaling,
    budget: &Budget,
) -> Result<Report<Model>> {
    let ball = Penalty::trace_ball(case.radius, case.mu);
    let settings = ball::BallSettings { method, ..ball::BallSettings::default() };
    let fit = Fit::in_ball(Multiclass::new(loss), ball, settings, budget).scaled(scale);
    fit.run(&examples(case))
}

fn softmax(case: &Case, budget: &Budget) -> Report<Model> {
    fit(case, BallMethod::Auto, MulticlassLoss::Softmax, Scaling::None, budget).unwrap()
}

fn verify(case: &Case, model: &Model) -> Result<Verified> {
    model.certify(&examples(case))
}

fn factors(model: &Model) -> &LowRank {
    model.low_rank.as_ref().unwrap()
}

/// The mean of `ln Σ exp a_k − a_y` and its gradient, for the whole matrix. Which column is which class is the data's.
fn mean_softmax(data: &Examples, rows: &[Vec<f64>], x: &Mat<f64>) -> (f64, Mat<f64>) {
    let (mut value, mut gradient) = (0.0, Mat::zeros(x.nrows(), x.ncols()));
    let share = 1.0 / rows.len() as f64;
    for (row, &label) in rows.iter().zip(data.classes().unwrap().numbers()) {
        let score = |k: usize| row.iter().enumerate().map(|(j, a)| a * x[(j, k)]).sum::<f64>();
        let scores: Vec<f64> = (0..x.ncols()).map(score).collect();
        let sum: f64 = scores.iter().map(|a| a.exp()).sum();
        value += share * (sum.ln() - scores[label as usize]);
        for (k, score) in scores.iter().enumerate() {
            let slope = score.exp() / sum - f64::from(u8::from(k == label as usize));
            row.iter().enumerate().for_each(|(j, a)| gradient[(j, k)] += share * slope * a);
        }
    }
    (value, gradient)
}

#[test]
fn a_fitted_model_is_at_the_optimum_of_the_whole_matrix_problem() {
    for radius in [0.7, 2.0, 100.0] {
        let case = Case { radius, ..case() };
        let report = softmax(&case, &Budget::relative(1e-9));
        assert_eq!(report.stop, Stop::GapReached);
        let data = examples(&case);
        let square = |row: &Vec<f64>| row.iter().map(|a| a * a).sum::<f64>();
        let smoothness = case.rows.iter().map(square).fold(0.0, f64::max);
        let loss = |x: &Mat<f64>| mean_softmax(&data, &case.rows, x);
        let judge = Judge { loss: &loss, smoothness, mu: case.mu, radius, shape: (5, 4) };
        let (best, x) = judge.optimum(4000);
        assert!((report.certificate.primal - best).abs() < 1e-7, "{radius}: {best}");
        let own = factors(&report.model).to_dense();
        for (k, own) in own.iter().enumerate() {
            assert!((own - x[(k / 4, k % 4)]).abs() < 1e-3, "{radius}");
        }
    }
}

#[test]
fn a_model_is_verified_also_after_it_was_stored() {
    let case = case();
    let losses = [MulticlassLoss::Softmax, MulticlassLoss::SmoothHinge { width: 0.5 }];
    for (loss, passes) in losses.into_iter().flat_map(|loss| [(loss, 1), (loss, 30)]) {
        let budget = Budget::passes(passes);
        let model = fit(&case, BallMethod::Auto, loss, Scaling::None, &budget).unwrap().model;
        let (bytes, stored) = (model.to_bytes().unwrap(), fits::stored(&model));
        assert_eq!(stored.low_rank, model.low_rank);
        assert_eq!((stored.to_bytes().unwrap(), stored.dim()), (bytes, 20));
        assert!(stored.weights.is_empty());
        let verified = verify(&case, &stored).unwrap();
        assert_eq!(verified.evidence, DualEvidence::Witness);
        assert_eq!(verified.certificate, model.certificate);
        let zero = Model { low_rank: Some(LowRank::zero(5, 4)), ..stored.clone() };
        let zero = fits::stored(&zero);
        assert_eq!((factors(&zero).rank(), zero.predict(&examples(&case)).unwrap()[0]), (0, 0));
        let without = Model { witness: None, ..stored };
        assert_eq!(verify(&case, &without).unwrap().evidence, DualEvidence::Word);
    }
}

#[test]
fn predictions_are_those_of_the_matrix_written_out() {
    let case = case();
    let mut model = softmax(&case, &Budget::relative(1e-4)).model;
    let (data, x) = (examples(&case), factors(&model).to_dense());
    let table = model.scores(&data).unwrap();
    for (i, row) in case.rows.iter().enumerate() {
        for (k, score) in table.row(i).iter().enumerate() {
            let own: f64 = row.iter().enumerate().map(|(j, a)| a * x[j * 4 + k]).sum();
            assert!((score - own).abs() < 1e-13);
        }
    }
    let wide: Vec<Vec<f64>> = case.rows.iter().map(|row| [&row[..], &[7.0]].concat()).collect();
    let names = vec!["0"; wide.len()];
    let wide = Examples::from_dense(&wide, &names).unwrap();
    assert_eq!(model.predict(&wide).unwrap(), model.predict(&data).unwrap());
    model.write_out().unwrap();
    assert_eq!(model.weights, x);
}

#[test]
fn every_method_of_the_trace_ball_makes_a_model_that_holds() {
    let case = case();
    let (loss, budget) = (MulticlassLoss::Softmax, Budget::passes(10));
    for method in [BallMethod::Auto].into_iter().chain(BallMethod::LOW_RANK_BASELINES) {
        let model = fit(&case, method, loss, Scaling::None, &budget).unwrap().model;
        let Solver::Ball(settings) = model.provenance.method else { panic!("no solver of a ball") };
        assert_eq!(settings.method, method);
        assert_eq!(model.task.penalty, Penalty::trace_ball(case.radius, case.mu));
        verify(&case, &model).unwrap();
    }
    for method in [BallMethod::AwaySteps, BallMethod::Pairwise] {
        assert!(fit(&case, method, loss, Scaling::None, &budget).is_err(), "{method:?}");
    }
}

#[test]
fn scaled_columns_stay_in_the_ball_on_their_way_back() {
    let mut case = case();
    case.rows.iter_mut().for_each(|row| row[1] *= 1234.567);
    for scale in [Scaling::Max, Scaling::Rms] {
        for radius in [0.1, 1.0 / 3.0, 1.0] {
            let case =
                Case { radius, rows: case.rows.clone(), targets: case.targets.clone(), ..case };
            let (budget, loss) = (Budget::relative(1e-4), MulticlassLoss::Softmax);
            let report = fit(&case, BallMethod::Auto, loss, scale, &budget).unwrap();
            assert_eq!(report.stop, Stop::GapReached);
            verify(&case, &report.model).unwrap();
        }
    }
}

#[test]
fn whatever_is_altered_is_refused() {
    let case = case();
    let model = softmax(&case, &Budget::passes(2)).model;
    verify(&case, &model).unwrap();
    let refused = |change: &dyn Fn(&mut Model)| {
        let mut changed = model.clone();
        change(&mut changed);
        matches!(
            verify(&case, &changed),
            Err(Error::Refused { .. } | Error::Witness { .. } | Error::Unsound { .. })
        )
    };
    let with = |u: f64, s: f64, v: f64| {
        let x = factors(&model);
        let scaled = |of: &[f64], by: f64| of.iter().map(|x| by * x).collect::<Vec<_>>();
        LowRank::new(5, 4, scaled(x.u(), u), scaled(x.s(), s), scaled(x.v(), v)).unwrap()
    };
    // Larger and smaller, and the same matrix by factors that are far from orthonormal.
    for (u, s, v) in [(1.0, 2.0, 1.0), (1.0, 0.5, 1.0), (3.0, 1.0, 1.0), (2.0, 1.0, 0.5)] {
        assert!(refused(&|m| m.low_rank = Some(with(u, s, v))), "{u} {s} {v}");
    }
    assert!(refused(&|m| m.low_rank = Some(LowRank::zero(5, 4))));
    assert!(refused(&|m| m.low_rank = None));
    assert!(
        verify(&case, &Model { low_rank: Some(LowRank::zero(4, 5)), ..model.clone() }).is_err()
    );
    // In a huge ball the rounding alone could be anything, which excuses nothing.
    for radius in [0.5, 2.0, 1e16, 1e300] {
        let ball = Penalty::trace_ball(radius, case.mu);
        assert!(refused(&|m| m.task.penalty = ball), "{radius}");
    }
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut changed = model.clone();
        changed.task.penalty = Penalty::trace_ball(radius, case.mu);
        assert!(verify(&case, &changed).is_err(), "{radius}");
    }
    let ball = Penalty::trace_ball(case.radius, 2.0 * case.mu);
    assert!(refused(&|m| m.task.penalty = ball));
    assert!(refused(&|m| m.certificate.primal *= 0.99));
    assert!(refused(&|m| m.certificate.dual *= 1.01));
    assert!(refused(&|m| m.witness.as_mut().unwrap().weights[0] += 1e-3));
    assert!(refused(&|m| m.witness.as_mut().unwrap().keys[0] = 17));
    assert!(model.reach(&examples(&case)).is_err());
}
