//! Paths of structural models, held against runs at single λ and the objective over all outputs.

use crate::common::{Kind, Small};
use crate::fitting::Fit;
use dualgap::dual::Settings;
use dualgap::linalg::Random;
use dualgap::model::path::{Covered, Ending, PathPlan, Piece, path};
use dualgap::model::{Model, Plan, fit_vector_with, reach_examples, reach_sequences};
use dualgap::run::{Budget, Interval, Tolerance};
use dualgap::structure::Choice;
use dualgap::term::{Costs, MulticlassLoss, Regulariser};

const WITHIN: Interval = Interval { from: 0.01, to: 2.0 };
const SHARE: f64 = 0.03;

fn wanted() -> PathPlan {
    PathPlan { within: WITHIN, tolerance: Tolerance::Relative(SHARE), budget: Budget::default() }
}

fn assert_no_holes(covered: Covered, pieces: &[Piece]) {
    assert_eq!(covered, Covered { from: Some(WITHIN.from), ending: Ending::Whole });
    assert_eq!(pieces[0].interval.to, WITHIN.to);
    assert!(pieces.windows(2).all(|pair| pair[1].interval.to >= pair[0].interval.from));
}

fn at_random(seed: u64) -> impl Iterator<Item = f64> {
    let mut random = Random::new(seed);
    (0..8).map(move |_| WITHIN.from * (WITHIN.to / WITHIN.from).powf(random.unit()))
}

fn covering(pieces: &[Piece], lambda: f64) -> &Piece {
    pieces.iter().find(|piece| piece.interval.contains(lambda)).unwrap()
}

#[test]
fn every_lambda_has_a_structural_model_that_is_as_good_as_promised() {
    for (k, kind) in Kind::all(3).into_iter().enumerate() {
        for l1 in [0.0, 0.02] {
            let small = Small::random(k as u64, kind.clone(), 8, 3, 3);
            let settings = |lambda| Settings {
                regulariser: Regulariser { l1, ..Regulariser::PLAIN },
                ..Small { lambda, ..small.clone() }.settings()
            };
            let mut pieces: Vec<Piece> = Vec::new();
            let covered = path(
                &wanted(),
                |lambda, budget, near| {
                    let mut fit = Fit::new(&settings(lambda), budget.clone());
                    fit.warm_start = near;
                    fit.run(&small)
                },
                |model| match small.kind {
                    Kind::Chain(_) => reach_sequences(model, &small.sequences()),
                    Kind::Multiclass(_) => reach_examples(model, &small.examples()),
                },
                |piece| {
                    pieces.push(piece.clone());
                    Ok(())
                },
            );
            assert_no_holes(covered.unwrap(), &pieces);
            for lambda in at_random(k as u64) {
                let piece = covering(&pieces, lambda);
                let mut problem = Small { lambda, ..small.clone() }.explicit();
                problem.l1 = l1 / lambda; // the threshold
                let value = problem.primal(&piece.report.model.weights).float();
                let budget = Budget { passes: Some(2000), ..Budget::relative(1e-5) };
                let tight = Fit::new(&settings(lambda), budget).run(&small).unwrap().certificate;
                assert!(
                    value - tight.primal <= SHARE * value + 1e-12,
                    "{lambda} {tight:?} {kind:?}"
                );
                let claimed = piece.reach.certificate(lambda).unwrap();
                let error = claimed.rounding_error + tight.rounding_error;
                assert!((claimed.primal - value).abs() <= error, "{claimed:?} {value}");
                assert!(claimed.dual <= tight.primal + error, "{claimed:?} {tight:?}");
            }
        }
    }
}

#[test]
fn every_lambda_has_a_model_of_classes_under_other_losses() {
    let small = Small::random(1, Kind::Multiclass(Costs::ZeroOne), 12, 3, 1);
    let data = small.examples();
    for loss in [MulticlassLoss::Softmax, MulticlassLoss::SmoothHinge { width: 0.5 }] {
        let fit = |lambda, budget: &Budget, near: Option<&Model>| {
            let settings = Small { lambda, ..small.clone() }.settings();
            let mut nobody = ();
            let plan = Plan { warm_start: near, ..Plan::new(&settings, budget, &mut nobody) };
            fit_vector_with(&data, &Costs::ZeroOne, loss, Choice::I, plan)
        };
        let mut pieces = Vec::new();
        let covered = path(
            &wanted(),
            fit,
            |model| reach_examples(model, &data),
            |piece: &Piece| {
                pieces.push(piece.clone());
                Ok(())
            },
        );
        assert_no_holes(covered.unwrap(), &pieces);
        for lambda in at_random(3) {
            let claimed = covering(&pieces, lambda).reach.certificate(lambda).unwrap();
            let tight = fit(lambda, &Budget::relative(1e-5), None).unwrap().certificate;
            assert!(
                claimed.primal - tight.primal <= SHARE * claimed.primal,
                "{claimed:?} {tight:?}"
            );
            assert!(claimed.dual <= tight.primal + 1e-12, "{claimed:?} {tight:?}");
        }
    }
}
