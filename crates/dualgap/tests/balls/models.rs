//! Models in a ball: fitted, stored, verified from their data, and refused when anything in them was altered.

use crate::case::{Case, Kind};
use crate::common::wide::Wide;
use crate::exact;
use crate::judge::judge;
use dualgap::Error;
use dualgap::Result;
use dualgap::ball::Method;
use dualgap::data::{Examples, Outputs, Scaling, Sets};
use dualgap::dual::{Settings, Witness};
use dualgap::linalg::Rows;
use dualgap::model::{
    Checkpoints, DualEvidence, InBall, Model, Plan, Provenance, Verified, fit_classes_in_ball,
    fit_labels_in_ball, fit_linear, fit_linear_in_ball, fit_outputs_in_ball, reach_linear,
    verify_examples, verify_labels, verify_linear, verify_outputs,
};
use dualgap::run::{Budget, Report, Stop};
use dualgap::structure::Choice;
use dualgap::term::{Costs, MulticlassLoss, Regulariser, ScalarLoss};

/// One output, sets of labels, several numbers, and classes: what a model can be of.
fn cases() -> Vec<Case> {
    Kind::all().into_iter().map(|kind| Case::random(5, kind, 9, 4)).collect()
}

/// The same data as a user has them: classes as words.
fn examples(case: &Case) -> Examples {
    if let Kind::Outputs(loss, c @ 2..) = case.kind
        && !loss.is_binary()
    {
        let names = (0..c).map(|k| format!("output {k}")).collect();
        let outputs = Outputs::new(names, case.targets.clone()).unwrap();
        return Examples::new(Rows::dense(&case.rows).unwrap(), outputs).unwrap();
    }
    if let Kind::Outputs(_, c @ 2..) = case.kind {
        let there = |y: &[f64]| (0..c).filter(|&k| y[k] > 0.0).map(|k| format!("l{k}")).collect();
        let sets: Vec<Vec<String>> = case.targets.chunks(c).map(there).collect();
        let sets = Sets::named(&sets).unwrap();
        return Examples::new(Rows::dense(&case.rows).unwrap(), sets).unwrap();
    }
    if let Kind::Outputs(loss, _) = case.kind
        && !loss.is_binary()
    {
        return Examples::from_dense_numbers(&case.rows, &case.targets).unwrap();
    }
    let name = |&y: &f64| match case.kind {
        Kind::Outputs(loss, _) if loss.is_binary() => (if y > 0.0 { "yes" } else { "no" }).into(),
        _ => y.to_string(),
    };
    let names: Vec<String> = case.targets.iter().map(name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Examples::from_dense(&case.rows, &names).unwrap()
}

fn settings(case: &Case) -> Settings {
    let (lambda, sample_weights) = (case.mu, case.weights.clone());
    Settings { lambda, sample_weights, ..Settings::default() }
}

fn fit_with(case: &Case, within: InBall, plan: Plan<'_, Examples>) -> Result<Report<Model>> {
    let data = examples(case);
    match case.kind {
        Kind::Outputs(loss, 1) => fit_linear_in_ball(&data, loss, within, plan),
        Kind::Outputs(loss, _) if loss.is_binary() => fit_labels_in_ball(&data, loss, within, plan),
        Kind::Outputs(loss, _) => fit_outputs_in_ball(&data, loss, within, plan),
        Kind::Classes(loss, _) => fit_classes_in_ball(&data, &Costs::ZeroOne, loss, within, plan),
    }
}

fn fit(case: &Case, budget: &Budget) -> Report<Model> {
    let settings = settings(case);
    fit_with(case, InBall::l1(case.radius), Plan::new(&settings, budget, &mut ())).unwrap()
}

fn verify(case: &Case, model: &Model) -> Result<Verified> {
    match case.kind {
        Kind::Outputs(_, 1) => verify_linear(model, &examples(case)),
        Kind::Outputs(loss, _) if loss.is_binary() => verify_labels(model, &examples(case)),
        Kind::Outputs(..) => verify_outputs(model, &examples(case)),
        Kind::Classes(..) => verify_examples(model, &examples(case)),
    }
}

/// Far enough from the optimum for every change to be one of values.
fn trained(case: &Case) -> Model {
    fit(case, &Budget::passes(2)).model
}

/// Whether a change makes the model one that is refused.
fn refused(case: &Case, model: &Model, change: impl FnOnce(&mut Model)) -> bool {
    let mut changed = model.clone();
    change(&mut changed);
    matches!(
        verify(case, &changed),
        Err(Error::Refused { .. } | Error::Witness { .. } | Error::Unsound { .. })
    )
}

#[test]
fn a_fitted_model_is_at_clarabels_optimum() {
    for mut case in cases() {
        case.weights = Some((0..case.len()).map(|i| 0.5 + (i % 3) as f64).collect());
        let budget = Budget { absolute: Some(1e-8), ..Budget::passes(20_000) };
        let report = fit(&case, &budget);
        let optimum = judge(&case);
        assert_eq!(report.stop, Stop::GapReached, "{:?}", case.kind);
        assert!((report.certificate.primal - optimum.upper).abs() < 1e-6, "{:?}", case.kind);
    }
}

#[test]
fn a_model_is_verified_also_after_it_was_stored() {
    for case in cases() {
        let model = trained(&case);
        let stored = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(stored.provenance.ball, Some(InBall::l1(case.radius)));
        for model in [model, stored] {
            let verified = verify(&case, &model).unwrap();
            assert_eq!(verified.evidence, DualEvidence::Witness);
            let own = exact::primal(&case, &model.weights);
            let off = (own - Wide::from(verified.certificate.primal)).float().abs();
            assert!(off <= verified.certificate.rounding_error, "{:?}: {off}", case.kind);
            let without = Model { witness: None, ..model };
            assert_eq!(verify(&case, &without).unwrap().evidence, DualEvidence::Word);
        }
    }
}

#[test]
fn every_method_makes_a_model_that_holds() {
    for method in Method::BASELINES {
        let case = &Case::random(3, Kind::Outputs(ScalarLoss::Logistic, 1), 12, 5);
        let within = InBall { method, ..InBall::l1(case.radius) };
        let (settings, budget) = (settings(case), Budget::passes(20));
        let report = fit_with(case, within, Plan::new(&settings, &budget, &mut ())).unwrap();
        assert_eq!(report.model.provenance.ball, Some(within));
        verify(case, &report.model).unwrap();
    }
}

#[test]
fn without_need_of_the_ball_the_optimum_is_that_without_one() {
    let mut case = Case::random(8, Kind::Outputs(ScalarLoss::SquaredHinge, 1), 10, 4);
    case.radius = 1e3;
    let budget = Budget::relative(1e-9);
    let inside = fit(&case, &budget).certificate;
    let (data, settings) = (examples(&case), settings(&case));
    let loss = ScalarLoss::SquaredHinge;
    let free = fit_linear(&data, loss, Choice::I, &settings, &budget, &mut ()).unwrap().certificate;
    assert!(inside.dual - inside.rounding_error <= free.primal + free.rounding_error);
    assert!(free.dual - free.rounding_error <= inside.primal + inside.rounding_error);
}

#[test]
fn weights_outside_the_ball_are_refused_whatever_is_claimed_of_them() {
    for case in cases() {
        let model = trained(&case);
        let norm: f64 = model.weights.iter().map(|w| w.abs()).sum();
        let mut outside = model.clone();
        outside.weights.iter_mut().for_each(|w| *w *= 1.001 * case.radius / norm);
        // The value that the forger would have to claim is the true one of these weights.
        outside.certificate.primal = exact::primal(&case, &outside.weights).float();
        let error = verify(&case, &outside).unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{error}");
        assert!(error.to_string().contains("not in the ball"), "{error}");
    }
}

#[test]
fn an_altered_model_is_refused() {
    for case in cases() {
        let model = trained(&case);
        let forged = |change: fn(&mut Model)| refused(&case, &model, change);
        let ball = |radius| Some(InBall::l1(radius));
        assert!(forged(|m| m.weights[0] *= 0.9) || model.weights[0] == 0.0);
        assert!(forged(|m| m.certificate.primal -= 1e-4));
        assert!(forged(|m| m.certificate.dual += 1e-4));
        assert!(forged(|m| m.provenance.lambda *= 1.01));
        assert!(forged(|m| m.provenance.ball = None), "{:?}", case.kind);
        assert!(refused(&case, &model, |m| m.provenance.ball = ball(1.01 * case.radius)));
        assert!(forged(|m| m.provenance.regulariser.l1 = 0.1));
        assert!(forged(|m| m.provenance.regulariser.nonnegative = true));
        assert!(forged(|m| m.sample_weights = Some((1..10).map(f64::from).collect())));
        assert!(forged(|m| m.provenance.fingerprint = "0".repeat(64)));
    }
}

#[test]
fn a_file_that_names_a_problem_that_is_none_is_refused() {
    let case = &Case::random(1, Kind::Outputs(ScalarLoss::Squared, 1), 8, 3);
    let model = trained(case);
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let ball = Some(InBall::l1(radius));
        let provenance = Provenance { ball, ..model.provenance.clone() };
        assert!(verify(case, &Model { provenance, ..model.clone() }).is_err(), "{radius}");
    }
    for lambda in [-1.0, f64::NAN, f64::INFINITY] {
        let provenance = Provenance { lambda, ..model.provenance.clone() };
        assert!(verify(case, &Model { provenance, ..model.clone() }).is_err(), "{lambda}");
    }
}

#[test]
fn an_infeasible_witness_is_refused() {
    for case in cases() {
        let model = trained(&case);
        let with = |change: fn(&mut Witness)| {
            refused(&case, &model, |m| change(m.witness.as_mut().unwrap()))
        };
        // No loss here has a dual variable of this size and finite conjugate but the squares, whose value tells.
        assert!(with(|w| w.weights[0] = 1e6) && with(|w| w.weights[0] = -1e6));
        assert!(with(|w| w.weights[0] += 1e-3));
        assert!(with(|w| w.keys[0] = 17));
        assert!(with(|w| w.starts[1] = 1 << 40));
        assert!(with(|w| {
            w.starts.pop();
        }));
        assert!(with(|w| {
            w.weights.pop();
        }));
    }
}

#[test]
fn scaled_columns_stay_in_the_ball_on_their_way_back() {
    for mut case in cases() {
        case.rows.iter_mut().for_each(|row| row[1] *= 1234.567);
        let (settings, budget) = (settings(&case), Budget::relative(1e-4));
        for scale in [Scaling::Max, Scaling::Rms] {
            for radius in [0.1, 1.0 / 3.0, 1.0] {
                let nobody = &mut ();
                let plan = Plan { scale, ..Plan::new(&settings, &budget, nobody) };
                let report = fit_with(&case, InBall::l1(radius), plan).unwrap();
                assert_eq!(report.stop, Stop::GapReached);
                verify(&case, &report.model).unwrap();
            }
        }
    }
}

#[test]
fn what_does_not_go_with_a_ball_is_refused() {
    let case = &Case::random(1, Kind::Outputs(ScalarLoss::Squared, 1), 8, 3);
    let (settings, budget) = (settings(case), Budget::passes(1));
    let try_with = |settings: &Settings, within| {
        fit_with(case, within, Plan::new(settings, &budget, &mut ())).map(|_| ())
    };
    let unit = InBall::l1(1.0);
    assert!(try_with(&settings, unit).is_ok());
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(try_with(&settings, InBall::l1(radius)).is_err(), "{radius}");
    }
    for lambda in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(try_with(&Settings { lambda, ..settings.clone() }, unit).is_err(), "{lambda}");
    }
    let l1 = Regulariser { l1: 0.1, ..Regulariser::PLAIN };
    let nonnegative = Regulariser { nonnegative: true, ..Regulariser::PLAIN };
    for regulariser in [l1, nonnegative] {
        assert!(try_with(&Settings { regulariser, ..settings.clone() }, unit).is_err());
    }
    let error = try_with(&settings, InBall::trace(1.0)).unwrap_err();
    assert!(error.to_string().contains("rank one"), "{error}");

    let (data, nobody) = (examples(case), &mut ());
    for loss in [ScalarLoss::Absolute, ScalarLoss::EpsilonInsensitive { epsilon: 0.1 }] {
        let plan = Plan::new(&settings, &budget, nobody);
        let error = fit_linear_in_ball(&data, loss, unit, plan).unwrap_err();
        assert!(error.to_string().contains("huber"), "{error}");
    }
    let classes = examples(&Case::random(5, Kind::Classes(MulticlassLoss::Softmax, 3), 9, 4));
    let plan = Plan::new(&settings, &budget, nobody);
    let hinge = MulticlassLoss::Hinge;
    let error = fit_classes_in_ball(&classes, &Costs::ZeroOne, hinge, unit, plan).unwrap_err();
    assert!(error.to_string().contains("smooth_hinge"), "{error}");

    let old = trained(case);
    let plan = Plan::new(&settings, &budget, nobody);
    assert!(fit_with(case, unit, Plan { warm_start: Some(&old), ..plan }).is_err());
    assert!(reach_linear(&old, &data).is_err());
}

#[test]
fn a_run_that_was_kept_goes_on_bit_for_bit_and_no_other_does() {
    for case in cases() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        let settings = settings(&case);
        let run = |passes, within, keep: bool, resume: bool| {
            let budget = Budget { relative: Some(0.0), ..Budget::passes(passes) };
            let nobody = &mut ();
            let checkpoints = keep.then(|| Checkpoints { file: file.clone(), every: 1.0 });
            let resume = resume.then_some(&*file);
            let plan = Plan { checkpoints, resume, ..Plan::new(&settings, &budget, nobody) };
            fit_with(&case, within, plan).map(|report| report.model)
        };
        let unit = InBall::l1(1.0);
        let whole = run(11, unit, false, false).unwrap();
        run(5, unit, true, false).unwrap();
        let resumed = run(11, unit, false, true).unwrap();
        assert_eq!((resumed.weights, resumed.witness), (whole.weights, whole.witness));
        assert!(run(11, InBall::l1(2.0), false, true).is_err());
        let apg = InBall { method: Method::ProjectedGradient, ..unit };
        assert!(run(11, apg, true, false).is_err() && run(11, apg, false, true).is_err());
    }
}

#[test]
fn a_model_without_a_ball_is_stored_as_ever() {
    let case = &Case::random(1, Kind::Outputs(ScalarLoss::Squared, 1), 8, 3);
    let (settings, budget) = (settings(case), Budget::passes(1));
    let loss = ScalarLoss::Squared;
    let report = fit_linear(&examples(case), loss, Choice::I, &settings, &budget, &mut ());
    let bytes = report.unwrap().model.to_bytes().unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("ball"));
}
