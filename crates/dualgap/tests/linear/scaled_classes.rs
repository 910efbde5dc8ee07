//! Scaled columns under losses of several scores, where a feature has a weight for every class; chains have none.

use crate::common::{Kind, Small, fits};
use crate::linear::scaling::{SCALINGS, divided, factors};
use dualgap::Error;
use dualgap::data::{Examples, Scaling};
use dualgap::dual::Settings;
use dualgap::linalg::Random;
use dualgap::run::{Budget, Report};
use dualgap::structure::{Chain, Choice, Hamming, Multiclass};
use dualgap::task::Model;
use dualgap::term::{MulticlassLoss, Regulariser};

const LOSSES: [MulticlassLoss; 3] =
    [MulticlassLoss::Hinge, MulticlassLoss::SmoothHinge { width: 0.7 }, MulticlassLoss::Softmax];

/// Rows of three classes with columns of very different sizes.
fn rows() -> (Vec<Vec<f64>>, Vec<&'static str>) {
    let mut random = Random::new(7);
    let mut row = |i: usize| {
        let mut signed = || 2.0 * random.unit() - 1.0;
        let pull = (i % 3) as f64;
        vec![500.0 * (signed() + pull), 0.02 * (signed() - pull), 0.0, signed()]
    };
    let rows = (0..12).map(&mut row).collect();
    (rows, (0..12).map(|i| ["a", "b", "c"][i % 3]).collect())
}

fn fit(
    data: &Examples,
    loss: MulticlassLoss,
    scale: Scaling,
    regulariser: Regulariser,
) -> Report<Model<Multiclass>> {
    let settings = Settings { lambda: 0.05, regulariser, threads: 1, ..Settings::default() };
    let fit = fits::classes(Multiclass::new(loss), Choice::I, &settings, &Budget::passes(6));
    fit.scaled(scale).run(data).unwrap()
}

#[test]
fn every_class_of_a_feature_is_scaled_back() {
    let (rows, labels) = rows();
    let data = Examples::from_dense(&rows, &labels).unwrap();
    for loss in LOSSES {
        for scaling in SCALINGS {
            for regulariser in [
                Regulariser::default(),
                Regulariser { l1: 0.01, ..Regulariser::default() },
                Regulariser { nonnegative: true, ..Regulariser::default() },
            ] {
                let by = factors(scaling, &rows);
                let beforehand = Examples::from_dense(&divided(&rows, &by), &labels).unwrap();
                let one = fit(&data, loss, scaling, regulariser);
                let other = fit(&beforehand, loss, Scaling::None, regulariser);
                let what = format!("{loss:?} {scaling:?} {regulariser:?}");
                let (a, b) = (one.certificate, other.certificate);
                assert!((a.primal - b.primal).abs() <= 1e-7, "{what} {a:?} {b:?}");
                assert!((a.dual - b.dual).abs() <= 1e-7, "{what} {a:?} {b:?}");
                for (k, (w, other)) in
                    one.model.weights.iter().zip(&other.model.weights).enumerate()
                {
                    let expected = other / by[k / 3];
                    let error =
                        if scaling == Scaling::Max { 0.0 } else { 1e-6 * (expected.abs() + 1e-6) };
                    assert!((w - expected).abs() <= error, "{what}: {w} {expected}");
                    assert!(*w >= 0.0 || !regulariser.nonnegative, "{what}");
                }
                // Predictions are made on the data as they are.
                let predicted = one.model.predict(&data).unwrap();
                assert_eq!(predicted, other.model.predict(&beforehand).unwrap(), "{what}");
            }
        }
    }
}

#[test]
fn a_scaled_model_of_classes_is_verified_and_another_scale_is_not_believed() {
    let (rows, labels) = rows();
    let data = Examples::from_dense(&rows, &labels).unwrap();
    for loss in LOSSES {
        for scaling in [Scaling::None, Scaling::Max, Scaling::Rms] {
            let model = fit(&data, loss, scaling, Regulariser::default()).model;
            let stored = fits::stored(&model);
            for claimed in [Scaling::None, Scaling::Max, Scaling::Rms] {
                for witness in [model.witness.clone(), None] {
                    let mut model = Model { witness, ..stored.clone() };
                    model.task.scaling = claimed;
                    match model.certify(&data) {
                        Ok(_) => assert_eq!(claimed, scaling, "{loss:?}"),
                        Err(Error::Refused { .. }) => assert_ne!(claimed, scaling, "{loss:?}"),
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        }
    }
}

#[test]
fn sequences_are_not_scaled() {
    let small = Small::random(3, Kind::Chain(Hamming::Plain), 5, 2, 3);
    let (data, settings, budget) = (small.sequences(), small.settings(), Budget::passes(2));
    for scale in SCALINGS {
        let fit = || fits::Fit::new(Chain::new(Hamming::Plain), &settings, &budget);
        assert!(matches!(fit().scaled(scale).run(&data), Err(Error::Setting { .. })));
        let mut model = fit().run(&data).unwrap().model;
        model.certify(&data).unwrap();
        model.task.scaling = scale;
        assert!(matches!(model.certify(&data), Err(Error::Refused { .. })));
    }
}
