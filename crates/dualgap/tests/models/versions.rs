//! Model files of version 1, whose header had the settings of a run in the place of its task: they are read, verified
//! and refused as those of today.

use crate::common::fits::{self, Fit};
use crate::common::{Kind, Small};
use dualgap::ball;
use dualgap::container::Digest;
use dualgap::data::{
    Examples, Format, Numbers, Outputs, Ratings, Recipe, Scaling, Sets, TargetKind,
};
use dualgap::dual::Settings;
use dualgap::linalg::Rows;
use dualgap::run::Budget;
use dualgap::structure::{
    Centring, Chain, Choice, Completion, Hamming, Linear, MultiLabel, MultiOutput, Multiclass,
    Structure,
};
use dualgap::task::{Method, Model};
use dualgap::term::{Costs, Penalty, Regulariser, ScalarLoss};
use serde_json::{Value, json};

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

/// The header that version 1 had for a model, field by field as its documentation lists them.
fn version_1(header: &Value) -> Value {
    let (task, provenance) = (&header["task"], &header["provenance"]);
    let mut structure = task["structure"].clone();
    structure["name"] = header["structure"].clone();
    let (penalty, method) = (&task["penalty"], &provenance["method"]);
    let mut old = json!({
        "solver": "bcfw", "step": "line_search", "sampling": "permuted", "average": "none", "batch": 1, "seed": 0,
    });
    for name in ["program", "stop", "passes", "oracle_calls", "examples", "recipe", "fingerprint"] {
        old[name] = provenance[name].clone();
    }
    let fields = method.as_object().unwrap().iter();
    if method["family"] == "dual" {
        fields.filter(|(name, _)| *name != "family").for_each(|(name, x)| old[name] = x.clone());
    } else {
        old["seed"] = method["seed"].clone();
    }
    match penalty["name"].as_str().unwrap() {
        "ball" => {
            old["lambda"] = penalty["mu"].clone();
            old["ball"] = penalty["ball"].clone();
            // The default went by the name of the paper's method.
            let default = method["method"] == "auto";
            old["ball"]["method"] = if default { json!("pdbfw") } else { method["method"].clone() };
            old["ball"]["steps"] = json!({ "name": "search" });
        }
        name => {
            old["lambda"] = if name == "lasso" { json!(0.0) } else { penalty["lambda"].clone() };
            let l1 = if name == "lasso" { "sigma" } else { "l1" };
            old["l1"] = penalty[l1].clone();
            old["nonnegative"] = penalty.get("nonnegative").cloned().unwrap_or(false.into());
            if let Some(free) = penalty.get("free") {
                old["free"] = free.clone();
            }
            if name == "q_norm" {
                old["q_norm"] = true.into();
            }
        }
    }
    if let Some(scaling) = task.get("scaling") {
        old["scale"] = scaling.clone();
    }
    let mut all = header.clone();
    all.as_object_mut().unwrap().remove("structure");
    all["format_version"] = 1.into();
    all["task"] = structure;
    all["provenance"] = old;
    all
}

/// The file of a model as version 1 wrote it.
fn older<S: Structure>(model: &Model<S>) -> Vec<u8> {
    let bytes = model.to_bytes().unwrap();
    let (container, header, tensors) = header_of(&bytes);
    assert_eq!(header["format_version"], 2);
    with_header(container, &version_1(&header), tensors)
}

/// The older file is the model, and altered it is refused.
fn assert_read<S: Structure>(model: &Model<S>, data: &S::Data) {
    let file = older(model);
    let read = Model::<S>::from_bytes(&file).unwrap();
    assert_eq!((&read.task, &read.names), (&model.task, &model.names));
    assert_eq!((&read.weights, &read.low_rank), (&model.weights, &model.low_rank));
    let mut provenance = model.provenance.clone();
    if let Method::Dual(method) = &mut provenance.method {
        method.handover = false; // which runs of that version did not have
    }
    assert_eq!((&read.provenance, &read.witness), (&provenance, &model.witness));
    assert_eq!(read.sample_weights, model.sample_weights);
    assert_eq!(read.certify(data).unwrap().certificate, model.certify(data).unwrap().certificate);
    let (container, header, tensors) = header_of(&file);
    let mut lambda = header.clone();
    lambda["provenance"]["lambda"] = json!(header["provenance"]["lambda"].as_f64().unwrap() + 0.1);
    let altered = with_header(container.clone(), &lambda, tensors);
    let altered = Model::<S>::from_bytes(&altered);
    assert!(altered.is_err() || altered.unwrap().certify(data).is_err(), "another λ");
    for part in ["task", "provenance", "certificate"] {
        let mut without = header.clone();
        without.as_object_mut().unwrap().remove(part);
        let without = with_header(container.clone(), &without, tensors);
        assert!(Model::<S>::from_bytes(&without).is_err(), "without its {part}");
    }
}

fn in_ball<S: Structure>(structure: S, ball: Penalty, data: &S::Data) -> Model<S> {
    let (settings, budget) = (ball::BallSettings::default(), Budget::passes(3));
    Fit::in_ball(structure, ball, settings, &budget).run(data).unwrap().model
}

#[test]
fn models_of_the_first_version_are_read() {
    let (small, budget) =
        (Small::random(3, Kind::Chain(Hamming::Plain), 6, 3, 3), Budget::passes(3));
    let settings = Settings { lambda: 0.1, threads: 1, ..Settings::default() };
    let data = small.sequences();
    let fit = Fit::new(Chain::new(Hamming::Normalized), &settings, &budget);
    assert_read(&fit.run(&data).unwrap().model, &data);

    let data = Small::random(4, Kind::Multiclass(Costs::ZeroOne), 6, 3, 1).examples();
    let costs = Costs::Matrix(vec![0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0]);
    let weighted =
        Settings { sample_weights: Some(vec![1.0, 2.0, 0.5, 1.0, 1.0, 3.0]), ..settings.clone() };
    let fit = Fit::new(Multiclass::with_costs(costs), &weighted, &budget);
    assert_read(&fit.run(&data).unwrap().model, &data);
    let softmax = Multiclass::new(dualgap::term::MulticlassLoss::Softmax);
    assert_read(&in_ball(softmax, Penalty::trace_ball(1.0, 0.1), &data), &data);

    let plain = Regulariser::PLAIN;
    let row = |i: usize| {
        [&data.rows().row(i).iter().map(|(_, x)| x).collect::<Vec<_>>()[..2], &[1.0]].concat()
    };
    let rows = Rows::dense(&(0..6).map(row).collect::<Vec<_>>()).unwrap();
    let numbers = Numbers::new(vec![1.0, -1.0, 0.5, 2.0, 0.0, 4.0]).unwrap();
    let data = Examples::new(rows.clone(), numbers).unwrap();
    let squared = ScalarLoss::Squared;
    let free = dualgap::term::Free { column: 2, bound: 10.0 };
    for (lambda, regulariser) in [
        (0.1, plain),
        (0.1, Regulariser { l1: 0.02, nonnegative: true, ..plain }),
        (0.1, Regulariser { free: Some(free), ..plain }),
        (0.0, Regulariser { l1: 0.02, ..plain }),
    ] {
        for scaling in [Scaling::None, Scaling::Max] {
            let settings = Settings { lambda, regulariser, ..settings.clone() };
            let fit = fits::linear(squared, Choice::I, &settings, &budget).scaled(scaling);
            let model = fit.run(&data).unwrap().model;
            if lambda > 0.0 {
                assert_read(&model, &data);
            } else {
                // Its λ was zero, and any other makes it another problem under the same l1 norm.
                let read = Model::<Linear>::from_bytes(&older(&model)).unwrap();
                assert_eq!(read.task, model.task);
                read.certify(&data).unwrap();
            }
        }
    }
    assert_read(&in_ball(Linear::new(squared), Penalty::l1_ball(0.5, 0.1), &data), &data);
    let wide = Rows::dense(
        &(0..6)
            .map(|i| (0..9).map(|j| f64::from((i * j) % 5)).collect())
            .collect::<Vec<Vec<f64>>>(),
    );
    let numbers = Numbers::new(vec![1.0, -1.0, 0.5, 2.0, 0.0, 4.0]).unwrap();
    let wide = Examples::new(wide.unwrap(), numbers).unwrap();
    let q_norm =
        Settings { regulariser: Regulariser { q_norm: true, l1: 0.01, ..plain }, ..settings };
    assert_read(
        &fits::linear(squared, Choice::I, &q_norm, &budget).run(&wide).unwrap().model,
        &wide,
    );

    let sets = Sets::named(&[vec!["a"], vec!["a", "b"], vec![], vec!["b"], vec!["c"], vec!["a"]]);
    let data = Examples::new(rows.clone(), sets.unwrap()).unwrap();
    let logistic = MultiLabel::new(ScalarLoss::Logistic);
    assert_read(&in_ball(logistic, Penalty::l1_ball(1.0, 0.1), &data), &data);
    let outputs = Outputs::new(vec!["x".into(), "y".into()], (0..12).map(f64::from).collect());
    let data = Examples::new(rows, outputs.unwrap()).unwrap();
    let outputs = MultiOutput::new(squared);
    assert_read(&in_ball(outputs, Penalty::trace_ball(1.0, 0.1), &data), &data);
    let triples = [("ann", "tea", 5.0), ("ann", "milk", 1.0), ("bob", "tea", 4.0)];
    let data = Ratings::from_triples(&triples).unwrap();
    for centring in [Centring::None, Centring::Mean, Centring::Effects] {
        let completion = Completion::new(squared, centring);
        assert_read(&in_ball(completion, Penalty::trace_ball(1.0, 0.1), &data), &data);
    }
}

/// A ball had no method and no steps at first, and the engine no directions, caches and rounds.
#[test]
fn settings_that_came_later_have_their_first_values() {
    let data = Small::random(4, Kind::Multiclass(Costs::ZeroOne), 6, 3, 1).examples();
    let softmax = Multiclass::new(dualgap::term::MulticlassLoss::Softmax);
    let model = in_ball(softmax, Penalty::l1_ball(1.0, 0.1), &data);
    let file = older(&model);
    let (container, mut header, tensors) = header_of(&file);
    let ball = header["provenance"]["ball"].as_object_mut().unwrap();
    assert!(ball.remove("method").is_some() && ball.remove("steps").is_some());
    let read = Model::<Multiclass>::from_bytes(&with_header(container, &header, tensors)).unwrap();
    assert_eq!(read.provenance.method, Method::Ball(ball::BallSettings::default()));
    read.certify(&data).unwrap();

    let (settings, budget) = (Settings::plain(), Budget::passes(2));
    let model = Fit::new(Multiclass::default(), &settings, &budget).run(&data).unwrap().model;
    let file = older(&model);
    let (container, mut header, tensors) = header_of(&file);
    let old = header["provenance"].as_object_mut().unwrap();
    for later in ["direction", "cache", "shrinking", "acceleration"] {
        assert!(old.remove(later).is_some(), "{later}");
    }
    let read = Model::<Multiclass>::from_bytes(&with_header(container, &header, tensors)).unwrap();
    read.certify(&data).unwrap();
    let Method::Dual(method) = read.provenance.method else { panic!("no engine") };
    assert_eq!((method.solver, method.seed), (settings.method, settings.seed));
}

/// What no model had is no model.
#[test]
fn regularisers_that_do_not_go_together_are_refused() {
    let data = Small::random(4, Kind::Multiclass(Costs::ZeroOne), 6, 3, 1).examples();
    let softmax = Multiclass::new(dualgap::term::MulticlassLoss::Softmax);
    let file = older(&in_ball(softmax, Penalty::l1_ball(1.0, 0.1), &data));
    let (container, header, tensors) = header_of(&file);
    for (name, value) in [("l1", json!(0.1)), ("nonnegative", json!(true)), ("q_norm", json!(true))]
    {
        let mut altered = header.clone();
        altered["provenance"][name] = value;
        let altered = with_header(container.clone(), &altered, tensors);
        let fault = Model::<Multiclass>::from_bytes(&altered).unwrap_err();
        assert!(fault.to_string().contains("ball"), "{name}: {fault}");
    }
}

#[test]
fn models_with_older_recipes_are_read() {
    let rows = Rows::dense(&[vec![1.0], vec![2.0]]).unwrap();
    let data = Examples::new(rows, Numbers::new(vec![1.0, 2.0]).unwrap()).unwrap();
    let (settings, budget) = (Settings::default(), Budget::passes(1));
    let fit = fits::linear(ScalarLoss::Squared, Choice::I, &settings, &budget);
    let mut model = fit.run(&data).unwrap().model;
    let target = TargetKind::Number;
    model.provenance.recipe = Some(Recipe { target, ..Recipe::whole(Format::Libsvm) });
    let file = older(&model);
    let (container, mut header, tensors) = header_of(&file);
    assert_eq!(header["provenance"]["recipe"]["numbers"], json!(true));
    for old in [
        r#"{"format":"libsvm","folds":null}"#,
        r#"{"format":"libsvm","folds":null,"constant":false}"#,
    ] {
        header["provenance"]["recipe"] = serde_json::from_str(old).unwrap();
        let file = with_header(container.clone(), &header, tensors);
        let older = Model::<Linear>::from_bytes(&file).unwrap();
        assert_eq!(older.provenance.recipe, model.provenance.recipe);
        assert_eq!(older.weights, model.weights);
    }
    // Of two classes, the recipe says what it did.
    let data = Examples::from_dense(&[vec![1.0], vec![2.0]], &["1", "2"]).unwrap();
    let fit = fits::linear(ScalarLoss::Hinge, Choice::I, &settings, &budget);
    let mut model = fit.run(&data).unwrap().model;
    model.provenance.recipe = Some(Recipe::whole(Format::Libsvm));
    for bytes in [model.to_bytes().unwrap(), older(&model)] {
        let back = Model::<Linear>::from_bytes(&bytes).unwrap();
        assert_eq!(back.provenance.recipe.unwrap().target, TargetKind::Class);
    }
}
