//! Data with weights and without targets, and model files with the recipes of earlier programs.

use crate::common::{Kind, Small};
use crate::fitting::Fit;
use dualgap::data::{DataSet, Digest, Examples, Format, Numbers, Recipe, TargetKind};
use dualgap::dual::Settings;
use dualgap::linalg::Rows;
use dualgap::model::{
    InBall, Model, Plan, fit_chain_with, fit_linear_in_ball, fit_linear_with, fit_multiclass_with,
};
use dualgap::run::{Budget, Report};
use dualgap::structure::{Choice, Hamming};
use dualgap::term::{Costs, ScalarLoss};
use serde_json::{Value, json};

fn bits(report: &Report<Model>) -> (Vec<u64>, Option<Vec<f64>>) {
    let model = &report.model;
    (model.weights.iter().map(|w| w.to_bits()).collect(), model.sample_weights.clone())
}

#[test]
fn weights_of_the_data_are_those_of_the_run_unless_it_has_others() {
    let small = |kind: Kind| Small::random(2, kind, 6, 3, 3);
    let weights = vec![1.0, 2.0, 0.5, 3.0, 1.0, 0.0];
    let settings = |sample_weights: Option<Vec<f64>>| Settings {
        lambda: 0.1,
        threads: 1,
        sample_weights,
        ..Settings::default()
    };
    let (none, own) = (settings(None), settings(Some(weights.clone())));
    let fit = |settings: &Settings| Fit::new(settings, Budget::passes(5));
    let chains = small(Kind::Chain(Hamming::Plain)).sequences();
    let weighted = chains.clone().with_weights(weights.clone()).unwrap();
    let run = |data, settings: &Settings| {
        bits(&fit_chain_with(data, Hamming::Plain, fit(settings).plan(&mut ())).unwrap())
    };
    assert_eq!(run(&weighted, &none), run(&chains, &own));
    assert_ne!(run(&weighted, &none), run(&chains, &none));
    let other = settings(Some(vec![1.0; 6]));
    assert_eq!(run(&weighted, &other), run(&chains, &other));

    let classes = small(Kind::Multiclass(Costs::ZeroOne)).examples();
    let weighted = classes.clone().with_weights(weights.clone()).unwrap();
    let run = |data, settings: &Settings| {
        bits(&fit_multiclass_with(data, &Costs::ZeroOne, fit(settings).plan(&mut ())).unwrap())
    };
    assert_eq!(run(&weighted, &none), run(&classes, &own));
    assert_ne!(run(&weighted, &none), run(&classes, &none));

    let numbers = Numbers::new(vec![1.0, -1.0, 0.5, 2.0, 0.0, 4.0]).unwrap();
    let numbers = Examples::new(classes.rows().clone(), numbers).unwrap();
    let weighted = numbers.clone().with_weights(weights).unwrap();
    let run = |data, settings: &Settings| {
        let (loss, within) = (ScalarLoss::Squared, InBall::l1(1.0));
        let alone = fit_linear_with(data, loss, Choice::I, fit(settings).plan(&mut ())).unwrap();
        let in_ball = fit_linear_in_ball(data, loss, within, fit(settings).plan(&mut ())).unwrap();
        (bits(&alone), bits(&in_ball))
    };
    assert_eq!(run(&weighted, &none), run(&numbers, &own));
    assert_ne!(run(&weighted, &none), run(&numbers, &none));
}

#[test]
fn rows_without_targets_are_predicted_and_nothing_else() {
    let small = Small::random(2, Kind::Multiclass(Costs::ZeroOne), 8, 3, 3);
    let data = small.examples();
    let model = Fit::new(&small.settings(), Budget::passes(5)).run(&small).unwrap().model;
    let bare = Examples::unlabelled(data.rows().clone()).unwrap();
    assert_eq!(model.predict_examples(&bare), model.predict_examples(&data));
    assert!(model.evaluate_examples(&bare).is_err());
    assert!(model.evaluate_numbers(&bare).is_err() && model.evaluate_sets(&bare).is_err());
    let fit = Fit::new(&small.settings(), Budget::passes(1));
    assert!(fit_multiclass_with(&bare, &Costs::ZeroOne, fit.plan(&mut ())).is_err());
    assert_eq!(bare.subset(&[1, 2]).len(), 2);
}

/// The header of a model's file, and the file with another one, sealed again.
fn header_of(bytes: &[u8]) -> (Value, Value, &[u8]) {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let container: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let sealed = container["__metadata__"]["dualgap"].as_str().unwrap();
    let sealed: Value = serde_json::from_str(sealed).unwrap();
    (container, sealed["header"].clone(), &bytes[8 + length..])
}

fn with_header(mut container: Value, header: &Value, tensors: &[u8]) -> Vec<u8> {
    let seal = Digest::of(header.to_string().as_bytes());
    container["__metadata__"]["dualgap"] =
        json!(format!("{{\"seal\":\"{seal}\",\"header\":{header}}}"));
    let container = container.to_string();
    let length = (container.len() as u64).to_le_bytes();
    [&length[..], container.as_bytes(), tensors].concat()
}

#[test]
fn models_with_older_recipes_are_read() {
    let rows = Rows::dense(&[vec![1.0], vec![2.0]]).unwrap();
    let data = Examples::new(rows, Numbers::new(vec![1.0, 2.0]).unwrap()).unwrap();
    let (settings, budget, mut nobody) = (Settings::default(), Budget::passes(1), ());
    let plan = Plan::new(&settings, &budget, &mut nobody);
    let mut model = fit_linear_with(&data, ScalarLoss::Squared, Choice::I, plan).unwrap().model;
    let target = TargetKind::Number;
    model.provenance.recipe = Some(Recipe { target, ..Recipe::whole(Format::Libsvm) });
    let bytes = model.to_bytes().unwrap();
    let (container, mut header, tensors) = header_of(&bytes);
    let recipe = &mut header["provenance"]["recipe"];
    assert_eq!(recipe["numbers"], json!(true));
    for old in [
        r#"{"format":"libsvm","folds":null}"#,
        r#"{"format":"libsvm","folds":null,"constant":false}"#,
    ] {
        header["provenance"]["recipe"] = serde_json::from_str(old).unwrap();
        let file = with_header(container.clone(), &header, tensors);
        let older = Model::from_bytes(&file).unwrap();
        assert_eq!(older.provenance.recipe, model.provenance.recipe);
        assert_eq!(older.weights, model.weights);
    }
    // Of two classes, the recipe says what it did.
    let data = Examples::from_dense(&[vec![1.0], vec![2.0]], &["1", "2"]).unwrap();
    let plan = Plan::new(&settings, &budget, &mut nobody);
    let mut model = fit_linear_with(&data, ScalarLoss::Hinge, Choice::I, plan).unwrap().model;
    model.provenance.recipe = Some(Recipe::whole(Format::Libsvm));
    let back = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(back.provenance.recipe.unwrap().target, TargetKind::Class);
}
