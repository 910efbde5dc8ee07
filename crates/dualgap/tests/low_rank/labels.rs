//! Models of label sets whose weights are in factors.

use crate::common::fits::{self, Fit};
use crate::low_rank::Case;
use crate::low_rank::judge::Judge;
use dualgap::data::{Examples, Scaling, Sets};
use dualgap::linalg::{LowRank, Rows};
use dualgap::run::{Budget, Report, Stop};
use dualgap::structure::{Linear, MultiLabel, Multiclass};
use dualgap::task::{DualEvidence, RawModel};
use dualgap::term::{Penalty, ScalarLoss};
use dualgap::{Error, Result, ball};
use faer::Mat;

type Model = dualgap::task::Model<MultiLabel>;

const LOSSES: [ScalarLoss; 3] =
    [ScalarLoss::SmoothHinge { width: 0.5 }, ScalarLoss::SquaredHinge, ScalarLoss::Logistic];

/// Four labels and five features.
fn case() -> Case {
    Case { mu: 0.05, ..Case::random(6, 30, 5, 4) }
}

/// A label is there where its target is positive.
fn examples(case: &Case) -> Examples {
    let set = |y: &[f64]| -> Vec<String> {
        let there = (0..y.len()).filter(|&k| y[k] > 0.0);
        there.map(|k| format!("label {k}")).collect()
    };
    let sets: Vec<Vec<String>> = case.targets.chunks(case.outputs).map(set).collect();
    with_sets(&case.rows, &sets)
}

fn with_sets<S: AsRef<str>>(rows: &[Vec<f64>], sets: &[Vec<S>]) -> Examples {
    Examples::new(Rows::dense(rows).unwrap(), Sets::named(sets).unwrap()).unwrap()
}

fn fit(case: &Case, loss: ScalarLoss, scale: Scaling, budget: &Budget) -> Result<Report<Model>> {
    let ball = Penalty::trace_ball(case.radius, case.mu);
    let fit = Fit::in_ball(MultiLabel::new(loss), ball, ball::BallSettings::default(), budget);
    fit.scaled(scale).run(&examples(case))
}

/// A loss and its slope at a score times ±1.
fn of_margin(loss: ScalarLoss, m: f64) -> (f64, f64) {
    match loss {
        ScalarLoss::SmoothHinge { width } => {
            if m >= 1.0 {
                (0.0, 0.0)
            } else if m <= 1.0 - width {
                (1.0 - m - width / 2.0, -1.0)
            } else {
                ((1.0 - m).powi(2) / (2.0 * width), -(1.0 - m) / width)
            }
        }
        ScalarLoss::SquaredHinge => ((1.0 - m).max(0.0).powi(2), -2.0 * (1.0 - m).max(0.0)),
        ScalarLoss::Logistic => ((-m).exp().ln_1p(), -1.0 / (1.0 + m.exp())),
        _ => unreachable!(),
    }
}

/// The mean of the losses of all labels, and its gradient.
fn mean_loss(case: &Case, loss: ScalarLoss, x: &Mat<f64>) -> (f64, Mat<f64>) {
    case.mean_loss(x, |score, y| {
        let (value, slope) = of_margin(loss, y.signum() * score);
        (value, y.signum() * slope)
    })
}

#[test]
fn a_fitted_model_is_at_the_optimum_of_the_whole_matrix_problem() {
    for loss in LOSSES {
        for radius in [0.7, 2.0] {
            let case = Case { radius, ..case() };
            let report = fit(&case, loss, Scaling::None, &Budget::relative(1e-9)).unwrap();
            assert_eq!(report.stop, Stop::GapReached, "{loss:?}");
            // No loss here bends more than twice.
            let smoothness = 2.0 * case.smoothness();
            let of = |x: &Mat<f64>| mean_loss(&case, loss, x);
            let judge = Judge { loss: &of, smoothness, mu: case.mu, radius, shape: (5, 4) };
            let (best, x) = judge.optimum(4000);
            assert!((report.certificate.primal - best).abs() < 1e-7, "{loss:?} {radius}: {best}");
            let own = report.model.low_rank.unwrap().to_dense();
            for (k, own) in own.iter().enumerate() {
                assert!((own - x[(k / 4, k % 4)]).abs() < 1e-3, "{loss:?} {radius}");
            }
        }
    }
}

#[test]
fn a_model_is_stored_verified_and_applied() {
    for (loss, scale) in LOSSES.into_iter().flat_map(|l| [(l, Scaling::None), (l, Scaling::Max)]) {
        let case = case();
        let data = examples(&case);
        let model = fit(&case, loss, scale, &Budget::relative(1e-3)).unwrap().model;
        let stored = fits::stored(&model);
        assert_eq!((&stored.low_rank, &stored.task), (&model.low_rank, &model.task));
        let verified = stored.certify(&data).unwrap();
        assert_eq!(verified.evidence, DualEvidence::Witness);
        assert_eq!(verified.certificate, model.certificate);
        let raw = RawModel::from_bytes(model.to_bytes().unwrap()).unwrap();
        assert!(raw.read::<Linear>().is_err() && raw.read::<Multiclass>().is_err());
        let sets = stored.predict(&data).unwrap();
        let x = stored.low_rank.as_ref().unwrap().to_dense();
        let (mut wrong, mut whole) = (0, 0);
        for (i, (row, y)) in case.rows.iter().zip(case.targets.chunks(4)).enumerate() {
            let score =
                |k: usize| row.iter().enumerate().map(|(j, a)| a * x[j * 4 + k]).sum::<f64>();
            let set: Vec<usize> = (0..4).filter(|&k| score(k) > 0.0).collect();
            assert_eq!(sets[i], set);
            let off = (0..4).filter(|k| (y[*k] > 0.0) != set.contains(k)).count();
            wrong += off;
            whole += usize::from(off == 0);
        }
        let figures = stored.evaluate(&data).unwrap().sets().unwrap().figures();
        assert!((figures.hamming_loss - wrong as f64 / 120.0).abs() < 1e-15);
        assert!((figures.subset_accuracy - whole as f64 / 30.0).abs() < 1e-15);
    }
}

#[test]
fn whatever_is_altered_is_refused() {
    let case = case();
    let data = examples(&case);
    let model = fit(&case, ScalarLoss::Logistic, Scaling::None, &Budget::passes(2)).unwrap().model;
    let refused = |change: &dyn Fn(&mut Model)| {
        let mut changed = model.clone();
        change(&mut changed);
        matches!(
            changed.certify(&data),
            Err(Error::Refused { .. } | Error::Witness { .. } | Error::Unsound { .. })
        )
    };
    let doubled = |m: &mut Model| m.low_rank = m.low_rank.take().map(|x| x.scaled(2.0));
    assert!(refused(&doubled));
    assert!(refused(&|m| m.low_rank = Some(LowRank::zero(5, 4))));
    assert!(refused(&|m| m.task.penalty = Penalty::trace_ball(1.5, case.mu)));
    assert!(refused(&|m| m.task.penalty = Penalty::ridge(case.mu)));
    assert!(refused(&|m| m.task.penalty = Penalty::trace_ball(case.radius, 2.0 * case.mu)));
    assert!(refused(&|m| m.witness.as_mut().unwrap().weights[0] = -3.0));
    assert!(refused(&|m| m.witness.as_mut().unwrap().keys[1] = 0));
    let names = ["a", "b", "c", "d"].map(String::from);
    assert!(refused(&|m| m.names.alphabet = names.to_vec().into()));
    // A set that has changed is another data set.
    let mut other = self::case();
    other.targets[0] = -other.targets[0];
    let other = examples(&other);
    assert!(model.certify(&other).is_err());
}

#[test]
fn what_makes_no_label_sets_is_refused() {
    let rows = [vec![1.0], vec![-1.0]];
    let fit = |data: &Examples, loss| {
        let (ball, settings) = (Penalty::l1_ball(1.0, 0.1), ball::BallSettings::default());
        let fit = Fit::in_ball(MultiLabel::new(loss), ball, settings, &Budget::passes(1));
        fit.run(data).map(|_| ())
    };
    let try_with = |sets: [&[&str]; 2], loss| {
        let sets = sets.map(<[&str]>::to_vec);
        fit(&with_sets(&rows, &sets), loss)
    };
    assert!(try_with([&["a", "b"], &[]], ScalarLoss::Logistic).is_ok());
    for sets in [[&["a"][..], &[]], [&[], &[]], [&["a"], &["a"]]] {
        assert!(try_with(sets, ScalarLoss::Logistic).is_err(), "{sets:?}");
    }
    for loss in [ScalarLoss::Hinge, ScalarLoss::Squared, ScalarLoss::Huber { width: 1.0 }] {
        assert!(try_with([&["a", "b"], &[]], loss).is_err(), "{loss:?}");
    }
    // Classes are no sets.
    let data = Examples::from_dense(&rows, &["a", "b"]).unwrap();
    assert!(fit(&data, ScalarLoss::Logistic).is_err());
}
