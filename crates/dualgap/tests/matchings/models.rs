//! Fitted models of matchings: files, checkpoints, warm starts, paths and cross-validation.

use crate::common::cases;
use crate::common::fits::{Fit, stored};
use crate::matchings::{Case, generic};
use dualgap::data::{DataSet, Format, Graph, Mark, Matchings, Recipe, Sink, Source};
use dualgap::dual::{Cache, Direction, Settings};
use dualgap::linalg::Rows;
use dualgap::run::{Budget, Interval, Tolerance};
use dualgap::structure::{Matching, Purpose, Structure};
use dualgap::task::{Ending, PathPlan, Plan, Registry, Request, Task, TrialPlan};
use dualgap::term::Penalty;
use proptest::prelude::*;
use std::path::Path;

type Model = dualgap::task::Model<Matching>;

fn task(case: &Case) -> Task<Matching> {
    Task::new(Matching::new(case.loss), Penalty::ridge(case.lambda))
}

fn fitted(case: &Case, tolerance: f64) -> Model {
    let budget = Budget { passes: Some(2000), ..Budget::relative(tolerance) };
    task(case).fit(&case.data(), Plan::new(budget)).unwrap().model
}

#[test]
fn a_model_comes_back_from_its_file_and_is_verified() {
    let case = Case::random(1, 6, 4, 3);
    let (data, model) = (case.data(), fitted(&case, 1e-4));
    let back = stored(&model);
    assert_eq!((&back.weights, &back.witness), (&model.weights, &model.witness));
    assert_eq!(back.task, model.task);
    let verified = stored(&model).certify(&data).unwrap();
    assert!(verified.certificate.relative_gap() <= 1.1e-4);
    assert_eq!(back.predict(&data).unwrap(), model.predict(&data).unwrap());
    // Other weights, other marks, other features, another order of the examples.
    let mut altered = model.clone();
    altered.weights[0] += 0.25;
    assert!(altered.certify(&data).is_err());
    let mut other = case.clone();
    other.marks[0] = if other.marks[0] == Mark::Sure { Mark::None } else { Mark::Sure };
    assert!(stored(&model).certify(&other.data()).is_err());
    let mut other = case.clone();
    other.features[2][1] += 1e-9;
    assert!(stored(&model).certify(&other.data()).is_err());
    assert!(stored(&model).certify(&data.subset(&[1, 0, 2, 3, 4, 5])).is_err());
}

#[test]
fn a_forged_witness_is_refused() {
    let case = Case::random(8, 5, 4, 3);
    let (data, model) = (case.data(), fitted(&case, 0.05));
    assert!(stored(&model).certify(&data).is_ok());
    let witness = model.witness.clone().unwrap();
    let of = |change: &dyn Fn(&mut dualgap::dual::Witness)| {
        let mut forged = model.clone();
        let mut changed = witness.clone();
        change(&mut changed);
        forged.witness = Some(changed);
        forged.certify(&data).is_err()
    };
    let used = witness.weights.iter().position(|&weight| weight > 0.5).unwrap();
    assert!(of(&|witness| witness.weights[used] += 0.6));
    assert!(of(&|witness| witness.weights[used] = -0.1));
    assert!(of(&|witness| witness.keys[used] |= 1 << 20));
    assert!(of(&|witness| witness.starts[1] = witness.keys.len() as u64 + 1));
    // Weights within the bounds that belong to other edges: the dual value is another one.
    assert!(of(&|witness| witness.weights.fill(0.0)));
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn a_run_that_was_interrupted_is_the_run_that_never_was(case in generic(), few in 1_u64..4, more in 1_u64..5, away in any::<bool>()) {
        let direction = if away { Direction::Away } else { Direction::Auto };
        let settings = Settings { direction, ..case.auto() };
        let cached = Settings { direction: Direction::Pairwise, cache: Cache::On, batch: 2, ..case.plain() };
        for settings in [settings, cached] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("run");
            let data = case.data();
            let fit = |passes| Fit::new(Matching::new(case.loss), &settings, &Budget::passes(passes));
            fit(few).kept(Some(&file), 1.0).run(&data).unwrap();
            let resumed = fit(few + more).resumed(Some(&file)).run(&data).unwrap();
            let whole = fit(few + more).run(&data).unwrap();
            prop_assert_eq!(resumed.model.weights, whole.model.weights);
            prop_assert_eq!(resumed.certificate, whole.certificate);
        }
    }
}

#[test]
fn a_warm_start_begins_at_the_witness() {
    let case = Case::random(5, 8, 4, 3);
    let (data, model) = (case.data(), fitted(&case, 1e-7));
    let plan = |warm_start| Plan::<Matching> {
        warm_start,
        threads: 1,
        ..Plan::new(Budget::relative(1e-6))
    };
    let run = |data: &Matchings, start| task(&case).fit(data, plan(start)).unwrap();
    let (warm, cold) = (run(&data, Some(&model)), run(&data, None));
    assert!(2 * warm.work.steps < cold.work.steps, "{:?} {:?}", warm.work, cold.work);
    assert!(warm.certificate.dual >= model.certificate.dual - 1e-9);
    // A point says nothing about features or costs, and examples may come and go.
    let part = data.subset(&[0, 1, 2, 3, 4]);
    assert!(run(&part, Some(&model)).certificate.relative_gap() <= 1.1e-6);
    let turned = data.subset(&[7, 6, 5, 4, 3, 2, 1, 0]);
    assert!(run(&turned, Some(&model)).certificate.relative_gap() <= 1.1e-6);
}

#[test]
fn a_path_covers_its_interval() {
    let case = Case::random(9, 6, 3, 3);
    let (data, task) = (case.data(), task(&case));
    let within = Interval { from: 0.05, to: 1.0 };
    let plan = PathPlan { threads: 1, ..PathPlan::new(within, Tolerance::Relative(0.05)) };
    let mut pieces = Vec::new();
    let keep = |piece: &dualgap::task::Piece<Matching>| {
        pieces.push(piece.clone());
        Ok(())
    };
    let covered = task.path(&data, &plan, |_| None, keep).unwrap();
    assert_eq!((covered.from, covered.ending), (Some(0.05), Ending::Whole));
    for lambda in [0.06, 0.2, 0.5, 0.9] {
        let piece = pieces.iter().find(|piece| piece.interval.contains(lambda)).unwrap();
        let problem = Case { lambda, ..case.clone() }.explicit();
        let value = problem.primal(&piece.report.model.weights).float();
        let best = fitted(&Case { lambda, ..case.clone() }, 1e-5).certificate.primal;
        assert!(value - best <= 0.0501 * value, "{lambda}: {value} {best}");
    }
}

#[test]
fn cross_validation_compares_alignment_error_rates() {
    let case = Case::random(10, 12, 4, 4);
    let (data, task) = (case.data(), task(&case));
    let folds = task.folds(&data, 3, 1).unwrap();
    let plan = TrialPlan { threads: 1, ..TrialPlan::new(Budget::relative(0.01)) };
    let found = task.cross_validate(&data, &folds, &[1.0, 0.1], &plan, || ()).unwrap().unwrap();
    for candidate in &found.candidates {
        assert!(candidate.worst_gap().is_finite() && (0.0..=1.0).contains(&candidate.error()));
        for trial in &candidate.trials {
            assert!(trial.certificate.relative_gap() <= 0.0101);
        }
    }
}

const TEXT: &str = "0 0 1 same:1 near:1\n0 1 0 near:0.5\n1 0 0 near:0.5\n1 1 1 same:1 near:1\n\n\
                    0 0 ? near:1\n0 1 1 same:1 near:0.3\n\n2 2 1 same:1\n2 0 0 near:0.2\n";

/// A model of the file, in a file of its own.
fn of_file(folder: &Path) -> std::path::PathBuf {
    let recipe = Recipe::whole(Matching::guess(TEXT));
    assert_eq!(recipe.format, Format::Edges);
    let source = Source::from_bytes("train.edges", TEXT.as_bytes()).unwrap();
    let loaded = Matching::default().read(&recipe, source, Purpose::Train).unwrap();
    assert!(loaded.labelled && loaded.data.len() == 3);
    assert!(Matching::default().complaint(&loaded.data).is_none());
    let task = Task::new(Matching::default(), Penalty::ridge(0.01));
    let mut model = task.fit(&loaded.data, Plan::new(Budget::relative(1e-3))).unwrap().model;
    model.provenance.recipe = Some(loaded.recipe);
    let path = folder.join("model");
    model.save(&path).unwrap();
    path
}

#[test]
fn a_program_knows_the_model_by_its_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = of_file(folder.path());
    let source = |text: &'static str| Source::from_bytes("data.edges", text.as_bytes()).unwrap();
    let mut model = Registry::builtin().load(&path).unwrap();
    assert_eq!((model.structure(), model.dim()), ("matching", 2));
    let names: Vec<&str> = model.names().dictionary.names().collect();
    assert_eq!(names, ["same", "near"]);
    let (verified, description) = model.certify(source(TEXT)).unwrap();
    assert!(verified.certificate.relative_gap() <= 1.1e-3);
    assert_eq!(description.json["costs"]["false_negative"], 3.0);
    assert!(model.certify(source("0 0 1 same:1 near:1\n")).is_err());

    let (evaluation, unseen) = model.evaluate(source(TEXT), None).unwrap();
    assert_eq!((evaluation.error(), unseen.features), (0.0, 0));
    let figures = evaluation.links().unwrap().figures();
    assert_eq!((figures.precision, figures.recall, figures.exact), (1.0, 1.0, 1.0));
    let (_, unseen) = model.evaluate(source("0 0 1 other:1 same:1\n"), None).unwrap();
    assert_eq!((unseen.met, unseen.features), (2, 1));
    let bare = "0 1 near:0.5\n0 0 same:1\n1 1 same:0.5\n\n0 0 near:0\n";
    assert!(model.evaluate(source(bare), None).is_err(), "nothing to compare with");

    let out = folder.path().join("predictions");
    let mut sink = Sink::create(&out).unwrap();
    model.predict(source(bare), &Request::default(), &mut sink).unwrap();
    sink.finish().unwrap();
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "0-0 1-1\n\n");
    let scores = Request { scores: true, ..Request::default() };
    assert!(model.check_request(&scores).is_err());
}

#[test]
fn features_that_the_model_does_not_know_are_ignored() {
    let case = Case::random(6, 4, 3, 2);
    let model = fitted(&case, 0.01);
    let mut wider = case.clone();
    wider.features.iter_mut().for_each(|row| row.push(7.0));
    assert_eq!(model.predict(&wider.data()).unwrap(), model.predict(&case.data()).unwrap());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let case = Case::random(6, 4, 3, 2);
    let data = case.data();
    let refused = |penalty: Penalty| {
        Task::new(Matching::default(), penalty).fit(&data, Plan::new(Budget::passes(1))).is_err()
    };
    assert!(refused(Penalty::l1_ball(1.0, 0.1)));
    let bare =
        Matchings::unlabelled(Rows::dense(&[vec![1.0]]).unwrap(), &[Graph::full(1, 1)]).unwrap();
    assert!(task(&case).fit(&bare, Plan::new(Budget::passes(1))).is_err());
    let source = Source::from_bytes("demo", b"0 0 0 a:1\n0 1 ? a:2\n").unwrap();
    let (message, remedy) =
        Matching::default().complaint(&Matchings::read(source).unwrap()).unwrap();
    assert!(message.contains("no sure link") && !remedy.is_empty());
    let source = Source::from_bytes("demo", b"1 1:1\n").unwrap();
    let recipe = Recipe::whole(Format::Libsvm);
    let error = Matching::default().read(&recipe, source, Purpose::Train).unwrap_err();
    assert!(error.to_string().starts_with("demo") && error.remedy().is_some(), "{error}");
}
