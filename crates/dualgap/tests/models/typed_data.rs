//! Data with weights and without targets.

use crate::common::{Kind, Small, fits};
use dualgap::ball;
use dualgap::data::{DataSet, Examples, Numbers};
use dualgap::dual::{self, Settings};
use dualgap::run::{Budget, Report};
use dualgap::structure::{
    Chain, ChainBlocks, Choice, Hamming, Linear, LinearBlocks, Multiclass, MulticlassBlocks,
    Structure, train_linear,
};
use dualgap::task::Model;
use dualgap::term::{Costs, Penalty, ScalarLoss};

fn bits(weights: &[f64]) -> Vec<u64> {
    weights.iter().map(|w| w.to_bits()).collect()
}

/// A run is that of the engine which is told the weights of its examples.
fn assert_weighed<S: Structure, P>(
    report: &Report<Model<S>>,
    weights: &[f64],
    engine: &Report<dualgap::run::Solution<P>>,
    plain: &Report<Model<S>>,
) {
    assert_eq!(bits(&report.model.weights), bits(&engine.model.weights));
    assert_eq!(report.certificate, engine.certificate);
    assert_eq!(report.model.sample_weights.as_deref(), Some(weights));
    assert_ne!(bits(&report.model.weights), bits(&plain.model.weights));
    assert_eq!(plain.model.sample_weights, None);
}

#[test]
fn weights_of_the_data_are_those_of_the_run() {
    let small = |kind: Kind| Small::random(2, kind, 6, 3, 3);
    let weights = vec![1.0, 2.0, 0.5, 3.0, 1.0, 0.0];
    let (none, budget) = (
        Settings { lambda: 0.1, threads: 1, handover: false, ..Settings::default() },
        Budget::passes(5),
    );
    let own = Settings { sample_weights: Some(weights.clone()), ..none.clone() };

    let chains = small(Kind::Chain(Hamming::Plain)).sequences();
    let weighted = chains.clone().with_weights(weights.clone()).unwrap();
    let run = |data| fits::Fit::new(Chain::new(Hamming::Plain), &none, &budget).run(data).unwrap();
    let blocks = ChainBlocks::new(&chains, Hamming::Plain).unwrap();
    let engine = dual::train(&blocks, &own, &budget, &mut ()).unwrap();
    assert_weighed(&run(&weighted), &weights, &engine, &run(&chains));

    let classes = small(Kind::Multiclass(Costs::ZeroOne)).examples();
    let weighted = classes.clone().with_weights(weights.clone()).unwrap();
    let run = |data| fits::Fit::new(Multiclass::default(), &none, &budget).run(data).unwrap();
    let blocks = MulticlassBlocks::new(&classes, &Costs::ZeroOne).unwrap();
    let engine = dual::train(&blocks, &own, &budget, &mut ()).unwrap();
    assert_weighed(&run(&weighted), &weights, &engine, &run(&classes));

    let (targets, loss) = (vec![1.0, -1.0, 0.5, 2.0, 0.0, 4.0], ScalarLoss::Squared);
    let numbers = Numbers::new(targets.clone()).unwrap();
    let numbers = Examples::new(classes.rows().clone(), numbers).unwrap();
    let weighted = numbers.clone().with_weights(weights.clone()).unwrap();
    let run = |data| fits::linear(loss, Choice::I, &none, &budget).run(data).unwrap();
    let blocks = LinearBlocks::new(numbers.rows(), targets, loss, Choice::I).unwrap();
    let engine = train_linear(&blocks, &own, &budget, &mut ()).unwrap();
    assert_weighed(&run(&weighted), &weights, &engine, &run(&numbers));

    let in_ball = |data| {
        let (ball, settings) = (Penalty::l1_ball(1.0, 0.1), ball::BallSettings::default());
        fits::Fit::in_ball(Linear::new(loss), ball, settings, &budget).run(data).unwrap().model
    };
    let (model, plain) = (in_ball(&weighted), in_ball(&numbers));
    assert_ne!(bits(&model.weights), bits(&plain.weights));
    assert_eq!((model.sample_weights, plain.sample_weights), (Some(weights), None));
}

#[test]
fn rows_without_targets_are_predicted_and_nothing_else() {
    let small = Small::random(2, Kind::Multiclass(Costs::ZeroOne), 8, 3, 3);
    let data = small.examples();
    let fit =
        |passes| fits::Fit::new(Multiclass::default(), &small.settings(), &Budget::passes(passes));
    let model = fit(5).run(&data).unwrap().model;
    let bare = Examples::unlabelled(data.rows().clone()).unwrap();
    assert_eq!(model.predict(&bare).unwrap(), model.predict(&data).unwrap());
    assert!(model.evaluate(&bare).is_err());
    assert!(model.certify(&bare).is_err() && model.reach(&bare).is_err());
    assert!(fit(1).run(&bare).is_err());
    assert_eq!(bare.subset(&[1, 2]).len(), 2);
}
