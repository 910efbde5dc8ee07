//! Models in a ball: fitted, stored, verified from their data, and refused when anything in them was altered.

use crate::balls::case::{Case, Kind};
use crate::balls::exact;
use crate::balls::judge::judge;
use crate::common::fits::{self, Fit};
use crate::common::wide::Wide;
use dualgap::ball::{BallMethod, BallSettings};
use dualgap::data::{Examples, Outputs, Scaling, Sets};
use dualgap::dual::{self, Witness};
use dualgap::linalg::Rows;
use dualgap::run::{Budget, Report, Stop};
use dualgap::structure::{Choice, Linear, MultiLabel, MultiOutput, Multiclass, Structure};
use dualgap::task::{DualEvidence, Method as Solver, Model, Verified};
use dualgap::term::{MulticlassLoss, Penalty, ScalarLoss};
use dualgap::{Error, Result};

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

/// Evaluates an expression for the structure of a case, whichever it is.
macro_rules! with_structure {
    ($case:expr, |$structure:ident| $body:expr) => {
        match $case.kind {
            Kind::Outputs(loss, 1) => {
                let $structure = Linear::new(loss);
                $body
            }
            Kind::Outputs(loss, _) if loss.is_binary() => {
                let $structure = MultiLabel::new(loss);
                $body
            }
            Kind::Outputs(loss, _) => {
                let $structure = MultiOutput::new(loss);
                $body
            }
            Kind::Classes(loss, _) => {
                let $structure = Multiclass::new(loss);
                $body
            }
        }
    };
}

fn ball(case: &Case) -> Penalty {
    Penalty::l1_ball(case.radius, case.mu)
}

/// The fit of a case, with its weights.
fn asked<'a, S: Structure<Data = Examples>>(
    structure: S,
    case: &Case,
    ball: Penalty,
    method: BallMethod,
    budget: &Budget,
) -> Fit<'a, S> {
    let settings = BallSettings { method, ..BallSettings::default() };
    Fit::in_ball(structure, ball, settings, budget).weighed(case.weights.clone())
}

fn fit<S: Structure<Data = Examples>>(
    structure: S,
    case: &Case,
    budget: &Budget,
) -> Report<Model<S>> {
    asked(structure, case, ball(case), BallMethod::Auto, budget).run(&examples(case)).unwrap()
}

fn verify<S: Structure<Data = Examples>>(case: &Case, model: &Model<S>) -> Result<Verified> {
    model.certify(&examples(case))
}

/// Far enough from the optimum for every change to be one of values.
fn trained<S: Structure<Data = Examples>>(structure: S, case: &Case) -> Model<S> {
    fit(structure, case, &Budget::passes(2)).model
}

/// Whether a change makes the model one that is refused.
fn refused<S: Structure<Data = Examples>>(
    case: &Case,
    model: &Model<S>,
    change: impl FnOnce(&mut Model<S>),
) -> bool {
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
        let optimum = judge(&case);
        with_structure!(case, |structure| {
            let report = fit(structure, &case, &budget);
            assert_eq!(report.stop, Stop::GapReached, "{:?}", case.kind);
            assert!((report.certificate.primal - optimum.upper).abs() < 1e-6, "{:?}", case.kind);
        });
    }
}

#[test]
fn a_model_is_verified_also_after_it_was_stored() {
    for case in cases() {
        with_structure!(case, |structure| {
            let model = trained(structure, &case);
            let stored = fits::stored(&model);
            assert_eq!(stored.task.penalty, ball(&case));
            for model in [model, stored] {
                let verified = verify(&case, &model).unwrap();
                assert_eq!(verified.evidence, DualEvidence::Witness);
                let own = exact::primal(&case, &model.weights);
                let off = (own - Wide::from(verified.certificate.primal)).float().abs();
                assert!(off <= verified.certificate.rounding_error, "{:?}: {off}", case.kind);
                let without = Model { witness: None, ..model };
                assert_eq!(verify(&case, &without).unwrap().evidence, DualEvidence::Word);
            }
        });
    }
}

#[test]
fn every_method_makes_a_model_that_holds() {
    for method in BallMethod::BASELINES {
        let case = &Case::random(3, Kind::Outputs(ScalarLoss::Logistic, 1), 12, 5);
        let (logistic, budget) = (Linear::new(ScalarLoss::Logistic), Budget::passes(20));
        let fit = asked(logistic, case, ball(case), method, &budget);
        let model = fit.run(&examples(case)).unwrap().model;
        let settings = BallSettings { method, ..BallSettings::default() };
        assert_eq!(model.provenance.method, Solver::Ball(settings));
        verify(case, &model).unwrap();
    }
}

#[test]
fn without_need_of_the_ball_the_optimum_is_that_without_one() {
    let loss = ScalarLoss::SquaredHinge;
    let mut case = Case::random(8, Kind::Outputs(loss, 1), 10, 4);
    case.radius = 1e3;
    let budget = Budget::relative(1e-9);
    let inside = fit(Linear::new(loss), &case, &budget).certificate;
    let settings = dual::Settings {
        lambda: case.mu,
        sample_weights: case.weights.clone(),
        ..dual::Settings::default()
    };
    let free = fits::linear(loss, Choice::I, &settings, &budget).run(&examples(&case));
    let free = free.unwrap().certificate;
    assert!(inside.dual - inside.rounding_error <= free.primal + free.rounding_error);
    assert!(free.dual - free.rounding_error <= inside.primal + inside.rounding_error);
}

#[test]
fn weights_outside_the_ball_are_refused_whatever_is_claimed_of_them() {
    for case in cases() {
        with_structure!(case, |structure| {
            let model = trained(structure, &case);
            let norm: f64 = model.weights.iter().map(|w| w.abs()).sum();
            let mut outside = model.clone();
            outside.weights.iter_mut().for_each(|w| *w *= 1.001 * case.radius / norm);
            // The value that the forger would have to claim is the true one of these weights.
            outside.certificate.primal = exact::primal(&case, &outside.weights).float();
            let error = verify(&case, &outside).unwrap_err();
            assert!(matches!(error, Error::Refused { .. }), "{error}");
            assert!(error.to_string().contains("not in the ball"), "{error}");
        });
    }
}

/// A problem under a penalty is another one, also where its structure has none.
#[test]
fn an_altered_model_is_refused() {
    for case in cases() {
        with_structure!(case, |structure| {
            let model = trained(structure, &case);
            let forged = |change: &dyn Fn(&mut Model<_>)| refused(&case, &model, change);
            let (radius, mu) = (case.radius, case.mu);
            assert!(forged(&|m| m.weights[0] *= 0.9) || model.weights[0] == 0.0);
            assert!(forged(&|m| m.certificate.primal -= 1e-4));
            assert!(forged(&|m| m.certificate.dual += 1e-4));
            assert!(forged(&|m| m.task.penalty = Penalty::l1_ball(radius, 1.01 * mu)));
            assert!(forged(&|m| m.task.penalty = Penalty::l1_ball(1.01 * radius, mu)));
            for penalty in [
                Penalty::ridge(mu),
                Penalty::elastic_net(mu, 0.1),
                Penalty::Ridge { lambda: mu, l1: 0.0, nonnegative: true, free: None },
                Penalty::lasso(0.1),
            ] {
                assert!(forged(&|m| m.task.penalty = penalty), "{penalty:?} {:?}", case.kind);
            }
            assert!(forged(&|m| m.sample_weights = Some((1..10).map(f64::from).collect())));
            assert!(forged(&|m| m.provenance.fingerprint = "0".repeat(64)));
        });
    }
}

#[test]
fn a_file_that_names_a_problem_that_is_none_is_refused() {
    let case = &Case::random(1, Kind::Outputs(ScalarLoss::Squared, 1), 8, 3);
    let model = trained(Linear::new(ScalarLoss::Squared), case);
    let with = |radius, mu| {
        let mut changed = model.clone();
        changed.task.penalty = Penalty::l1_ball(radius, mu);
        verify(case, &changed)
    };
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(with(radius, case.mu).is_err(), "{radius}");
    }
    for mu in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(with(case.radius, mu).is_err(), "{mu}");
    }
}

#[test]
fn an_infeasible_witness_is_refused() {
    for case in cases() {
        with_structure!(case, |structure| {
            let model = trained(structure, &case);
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
        });
    }
}

#[test]
fn scaled_columns_stay_in_the_ball_on_their_way_back() {
    for mut case in cases() {
        case.rows.iter_mut().for_each(|row| row[1] *= 1234.567);
        let budget = Budget::relative(1e-4);
        for scale in [Scaling::Max, Scaling::Rms] {
            for radius in [0.1, 1.0 / 3.0, 1.0] {
                let ball = Penalty::l1_ball(radius, case.mu);
                with_structure!(case, |structure| {
                    let fit =
                        asked(structure, &case, ball, BallMethod::Auto, &budget).scaled(scale);
                    let report = fit.run(&examples(&case)).unwrap();
                    assert_eq!(report.stop, Stop::GapReached);
                    verify(&case, &report.model).unwrap();
                });
            }
        }
    }
}

#[test]
fn what_does_not_go_with_a_ball_is_refused() {
    let case = &Case::random(1, Kind::Outputs(ScalarLoss::Squared, 1), 8, 3);
    let (data, budget, squared) = (examples(case), Budget::passes(1), ScalarLoss::Squared);
    let asked = |loss, ball| asked(Linear::new(loss), case, ball, BallMethod::Auto, &budget);
    let unit = Penalty::l1_ball(1.0, case.mu);
    assert!(asked(squared, unit).run(&data).is_ok());
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let ball = Penalty::l1_ball(radius, case.mu);
        assert!(asked(squared, ball).run(&data).is_err(), "{radius}");
    }
    for mu in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(asked(squared, Penalty::l1_ball(1.0, mu)).run(&data).is_err(), "{mu}");
    }
    let error = asked(squared, Penalty::trace_ball(1.0, case.mu)).run(&data).unwrap_err();
    assert!(error.to_string().contains("rank one"), "{error}");
    // Solvers of a ball are for balls, and the engine is for penalties.
    assert!(asked(squared, Penalty::ridge(1.0)).run(&data).is_err());
    let mut engine = asked(squared, unit);
    engine.plan.method = dualgap::task::DualMethod::default().into();
    assert!(engine.run(&data).is_err());

    for loss in [ScalarLoss::Absolute, ScalarLoss::EpsilonInsensitive { epsilon: 0.1 }] {
        let error = asked(loss, unit).run(&data).unwrap_err();
        assert!(error.to_string().contains("squared or huber"), "{error}");
    }
    let classes = Case::random(5, Kind::Classes(MulticlassLoss::Softmax, 3), 9, 4);
    let hinge = Multiclass::new(MulticlassLoss::Hinge);
    let fit = Fit::in_ball(hinge, unit, BallSettings::default(), &budget);
    let error = fit.run(&examples(&classes)).unwrap_err();
    assert!(error.to_string().contains("smooth"), "{error}");

    let old = trained(Linear::new(squared), case);
    assert!(asked(squared, unit).warm(Some(&old)).run(&data).is_err());
    assert!(old.reach(&data).is_err());
}

#[test]
fn a_run_that_was_kept_goes_on_bit_for_bit_and_no_other_does() {
    for case in cases() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        with_structure!(case, |structure| {
            let run = |passes, radius, method, keep: bool, resume: bool| {
                let budget = Budget { relative: Some(0.0), ..Budget::passes(passes) };
                let ball = Penalty::l1_ball(radius, case.mu);
                let fit = asked(Clone::clone(&structure), &case, ball, method, &budget);
                let fit = fit.kept(keep.then_some(&*file), 1.0);
                let fit = fit.resumed(resume.then_some(&*file));
                fit.run(&examples(&case)).map(|report| report.model)
            };
            let auto = BallMethod::Auto;
            let whole = run(11, 1.0, auto, false, false).unwrap();
            run(5, 1.0, auto, true, false).unwrap();
            let resumed = run(11, 1.0, auto, false, true).unwrap();
            assert_eq!((resumed.weights, resumed.witness), (whole.weights, whole.witness));
            assert!(run(11, 2.0, auto, false, true).is_err());
            let apg = BallMethod::ProjectedGradient;
            assert!(run(11, 1.0, apg, true, false).is_err());
            assert!(run(11, 1.0, apg, false, true).is_err());
        });
    }
}

#[test]
fn a_model_without_a_ball_says_nothing_of_one() {
    let case = &Case::random(1, Kind::Outputs(ScalarLoss::Squared, 1), 8, 3);
    let (settings, budget) = (dual::Settings::default(), Budget::passes(1));
    let fit = fits::linear(ScalarLoss::Squared, Choice::I, &settings, &budget);
    let bytes = fit.run(&examples(case)).unwrap().model.to_bytes().unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("ball"));
}
