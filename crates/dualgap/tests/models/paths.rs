//! Paths of structural models, held against runs at single λ and the objective over all outputs.

use crate::common::fits::{self, Fit};
use crate::common::{Kind, Small};
use dualgap::linalg::Random;
use dualgap::run::{Budget, Interval, Tolerance};
use dualgap::structure::{Chain, Choice, Multiclass, Structure};
use dualgap::task::{Ending, PathPlan, Piece};
use dualgap::term::{Costs, MulticlassLoss};

const WITHIN: Interval = Interval { from: 0.01, to: 2.0 };
const SHARE: f64 = 0.03;

/// The pieces of a path without holes.
fn walked<S: Structure>(fit: Fit<'_, S>, data: &S::Data) -> Vec<Piece<S>> {
    let wanted = PathPlan {
        method: fit.plan.method,
        threads: fit.plan.threads,
        ..PathPlan::new(WITHIN, Tolerance::Relative(SHARE))
    };
    let mut pieces: Vec<Piece<S>> = Vec::new();
    let keep = |piece: &Piece<S>| {
        pieces.push(piece.clone());
        Ok(())
    };
    let covered = fit.task.path(data, &wanted, |_| None, keep).unwrap();
    assert_eq!((covered.from, covered.ending), (Some(WITHIN.from), Ending::Whole));
    let of_pieces: f64 = pieces.iter().map(|piece| piece.report.passes).sum();
    assert!(covered.passes >= of_pieces);
    assert_eq!(pieces[0].interval.to, WITHIN.to);
    assert!(pieces.windows(2).all(|pair| pair[1].interval.to >= pair[0].interval.from));
    pieces
}

fn at_random(seed: u64) -> impl Iterator<Item = f64> {
    let mut random = Random::new(seed);
    (0..8).map(move |_| WITHIN.from * (WITHIN.to / WITHIN.from).powf(random.unit()))
}

fn covering<S>(pieces: &[Piece<S>], lambda: f64) -> &Piece<S> {
    pieces.iter().find(|piece| piece.interval.contains(lambda)).unwrap()
}

/// Every λ has a model that is as good as promised.
fn assert_good<S: Structure>(structure: &S, data: &S::Data, small: &Small, seed: u64) {
    for l1 in [0.0, 0.02] {
        let asked = |lambda, budget: &Budget| {
            let mut settings = Small { lambda, ..small.clone() }.settings();
            settings.regulariser.l1 = l1;
            Fit::new(structure.clone(), &settings, budget)
        };
        let pieces = walked(asked(1.0, &Budget::default()), data);
        for lambda in at_random(seed) {
            let piece = covering(&pieces, lambda);
            let mut problem = Small { lambda, ..small.clone() }.explicit();
            problem.l1 = l1 / lambda; // the threshold
            let value = problem.primal(&piece.report.model.weights).float();
            let budget = Budget { passes: Some(2000), ..Budget::relative(1e-5) };
            let tight = asked(lambda, &budget).run(data).unwrap().certificate;
            assert!(value - tight.primal <= SHARE * value + 1e-12, "{lambda} {tight:?} {small:?}");
            let claimed = piece.reach.certificate(lambda).unwrap();
            let error = claimed.rounding_error + tight.rounding_error;
            assert!((claimed.primal - value).abs() <= error, "{claimed:?} {value}");
            assert!(claimed.dual <= tight.primal + error, "{claimed:?} {tight:?}");
        }
    }
}

#[test]
fn every_lambda_has_a_structural_model_that_is_as_good_as_promised() {
    for (k, kind) in (0..).zip(Kind::all(3)) {
        let small = Small::random(k, kind, 8, 3, 3);
        match &small.kind {
            Kind::Chain(hamming) => {
                assert_good(&Chain::new(*hamming), &small.sequences(), &small, k);
            }
            Kind::Multiclass(costs) => {
                assert_good(&Multiclass::with_costs(costs.clone()), &small.examples(), &small, k);
            }
        }
    }
}

#[test]
fn every_lambda_has_a_model_of_classes_under_other_losses() {
    let small = Small::random(1, Kind::Multiclass(Costs::ZeroOne), 12, 3, 1);
    let data = small.examples();
    for loss in [MulticlassLoss::Softmax, MulticlassLoss::SmoothHinge { width: 0.5 }] {
        let asked = |lambda, budget: &Budget| {
            let settings = Small { lambda, ..small.clone() }.settings();
            fits::classes(Multiclass::new(loss), Choice::I, &settings, budget)
        };
        let pieces = walked(asked(1.0, &Budget::default()), &data);
        for lambda in at_random(3) {
            let claimed = covering(&pieces, lambda).reach.certificate(lambda).unwrap();
            let tight = asked(lambda, &Budget::relative(1e-5)).run(&data).unwrap().certificate;
            assert!(
                claimed.primal - tight.primal <= SHARE * claimed.primal,
                "{claimed:?} {tight:?}"
            );
            assert!(claimed.dual <= tight.primal + 1e-12, "{claimed:?} {tight:?}");
        }
    }
}
