//! Models under slack rescaling have what all models have: witnesses that are proved and attacked, checkpoints, warm
//! starts, paths, cross-validation, and files.

use super::rescaled;
use crate::common::quadratic::optimum;
use crate::common::{Kind, Small};
use dualgap::data::{Examples, Sequences};
use dualgap::dual::Witness;
use dualgap::run::{Budget, InMemory, Interval, Report, Stop, Tolerance};
use dualgap::structure::{Chain, Hamming, Multiclass, Rescaling, Structure};
use dualgap::task::{
    Candidate, DualEvidence, DualMethod, Ending, Keep, Model, PathPlan, Plan, RawModel, Resume,
    Task, TrialPlan,
};
use dualgap::term::{Costs, MulticlassLoss, Penalty};
use dualgap::{Error, Result};

fn chains(seed: u64, n: usize) -> Small {
    Small::random(seed, Kind::Chain(Hamming::Normalized), n, 3, 3)
}

fn classes(seed: u64, n: usize) -> Small {
    Small::random(seed, Kind::all(4)[3].clone(), n, 4, 1)
}

fn chain(small: &Small, lambda: f64) -> (Task<Chain>, Sequences) {
    let Kind::Chain(hamming) = small.kind else { panic!("no chain") };
    let structure = Chain::new(hamming).rescaled(Rescaling::Slack);
    (Task::new(structure, Penalty::ridge(lambda)), small.sequences())
}

fn multiclass(small: &Small, lambda: f64) -> (Task<Multiclass>, Examples) {
    let Kind::Multiclass(costs) = &small.kind else { panic!("no classes") };
    let structure = Multiclass::with_costs(costs.clone()).rescaled(Rescaling::Slack);
    (Task::new(structure, Penalty::ridge(lambda)), small.examples())
}

fn plan<'a, S: Structure>(budget: Budget) -> Plan<'a, S> {
    Plan { threads: 1, ..Plan::new(budget) }
}

/// A run of so many passes by this method.
fn by<'a, S: Structure>(method: &DualMethod, passes: u64) -> Plan<'a, S> {
    Plan { method: method.clone().into(), ..plan(Budget::passes(passes)) }
}

fn tight() -> Budget {
    Budget { passes: Some(20_000), ..Budget::relative(1e-6) }
}

fn bits<S: Structure>(report: &Report<Model<S>>) -> (Vec<u64>, Witness) {
    let c = report.certificate;
    let numbers = report.model.weights.iter().copied().chain([c.primal, c.dual, c.rounding_error]);
    (numbers.map(f64::to_bits).collect(), report.model.witness.clone().unwrap())
}

/// What must hold of a structure under slack rescaling, whichever it is.
fn has_everything<S: Structure>(small: &Small, (task, data): (Task<S>, S::Data)) {
    let bracket = optimum(&rescaled(small));
    let report = task.fit(&data, plan(tight())).unwrap();
    let c = report.certificate;
    assert_eq!(report.stop, Stop::GapReached);
    assert!(
        c.primal >= bracket.lower - c.rounding_error && c.dual <= bracket.upper + c.rounding_error
    );

    // A file with its witness, and proofs from it.
    let model = report.model;
    let stored = Model::<S>::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!((&stored.task, &stored.witness), (&model.task, &model.witness));
    for model in [&model, &stored] {
        let verified = model.certify(&data).unwrap();
        assert_eq!(verified.evidence, DualEvidence::Witness);
        assert!(verified.certificate.relative_gap() <= 1e-6);
    }
    let words = model.describe(None);
    assert!(words.json["rescaling"] == "slack", "{words:?}");

    // A resumed run is the run that went through.
    for method in [DualMethod::default(), DualMethod::plain()] {
        let whole = task.fit(&data, by(&method, 9)).unwrap();
        let mut memory = InMemory::default();
        task.fit(&data, Plan { checkpoints: Some(Keep::Sink(&mut memory)), ..by(&method, 4) })
            .unwrap();
        let resume = memory.last.map(Resume::Checkpoint);
        let resumed = task.fit(&data, Plan { resume, ..by(&method, 9) }).unwrap();
        assert_eq!(bits(&resumed), bits(&whole));
    }

    // A warm start begins where the other run ended.
    let warm = Plan { warm_start: Some(&model), ..plan(Budget::passes(0)) };
    let again = task.fit(&data, warm).unwrap().certificate;
    assert!((again.dual - c.dual).abs() <= again.rounding_error + c.rounding_error, "{again:?}");

    // A path, each of whose pieces is as good as promised.
    let within = Interval::new(0.05, 1.0).unwrap();
    let wanted = PathPlan { threads: 1, ..PathPlan::new(within, Tolerance::Relative(0.05)) };
    let mut pieces = Vec::new();
    let keep = |piece: &dualgap::task::Piece<S>| {
        pieces.push(piece.clone());
        Ok(())
    };
    let covered = task.path(&data, &wanted, |_| None, keep).unwrap();
    assert_eq!((covered.from, covered.ending), (Some(0.05), Ending::Whole));
    let piece = pieces.iter().find(|piece| piece.interval.contains(small.lambda)).unwrap();
    let claimed = piece.reach.certificate(small.lambda).unwrap();
    assert!(claimed.primal - bracket.lower <= 0.05 * claimed.primal + 1e-9, "{claimed:?}");
    assert!(claimed.dual <= bracket.upper + 1e-9, "{claimed:?}");

    let folds = task.folds(&data, 3, 1).unwrap();
    let trials = TrialPlan { threads: 1, ..TrialPlan::new(Budget::relative(1e-3)) };
    let found = task.cross_validate(&data, &folds, &[1.0, 0.1], &trials, || ()).unwrap().unwrap();
    assert!(found.candidates.iter().all(Candidate::is_reached));
}

#[test]
fn chains_under_slack_rescaling_have_everything() {
    let small = Small { lambda: 0.1, ..chains(1, 9) };
    has_everything(&small, chain(&small, 0.1));
    let small = Small { lambda: 0.1, ..chains(2, 9).with_pairs(3, 2) };
    has_everything(&small, chain(&small, 0.1));
}

#[test]
fn classes_under_slack_rescaling_have_everything() {
    let small = Small { lambda: 0.1, ..classes(3, 12) };
    has_everything(&small, multiclass(&small, 0.1));
}

fn witness<S>(model: &mut Model<S>) -> &mut Witness {
    model.witness.as_mut().unwrap()
}

/// Changes of a model that `certify` must refuse or that change nothing that is proved.
fn withstands_attacks<S: Structure>((task, data): (Task<S>, S::Data)) {
    let model = task.fit(&data, plan(Budget::passes(4))).unwrap().model;
    let honest = model.certify(&data).unwrap().certificate;
    let attempt = |change: &dyn Fn(&mut Model<S>)| {
        let mut changed = model.clone();
        change(&mut changed);
        changed.certify(&data).map(|verified| verified.certificate)
    };
    let refused = |change: &dyn Fn(&mut Model<S>)| match attempt(change) {
        Ok(_) => false,
        Err(Error::Refused { .. } | Error::Witness { .. } | Error::Unsound { .. }) => true,
        Err(other) => panic!("{other}"),
    };
    assert!(refused(&|model| model.weights[1] += 1e-3));
    assert!(refused(&|model| model.certificate.dual += 1e-4));
    let entries = model.witness.as_ref().unwrap().weights.len();
    for k in 0..entries {
        assert!(refused(&|model| witness(model).weights[k] += 1e-6), "weight {k}");
        assert!(refused(&|model| witness(model).weights[k] *= -1.0), "weight {k}");
        assert!(refused(&|model| witness(model).keys[k] = u64::MAX), "key {k}");
    }
    for at in 0..model.witness.as_ref().unwrap().outputs.len() {
        for bit in 0..8 {
            if let Ok(certificate) = attempt(&|model| witness(model).outputs[at] ^= 1 << bit) {
                assert_eq!(certificate, honest, "byte {at}, bit {bit}");
            }
        }
    }
}

#[test]
fn altered_witnesses_under_slack_rescaling_are_refused() {
    withstands_attacks(chain(&chains(4, 7), 0.05));
    withstands_attacks(multiclass(&classes(5, 9), 0.05));
}

#[test]
fn a_model_of_the_other_form_is_refused_and_starts_no_run() {
    let small = chains(6, 8);
    let ((task, data), margin) =
        (chain(&small, 0.1), Task::new(Chain::default(), Penalty::ridge(0.1)));
    let model = task.fit(&data, plan(Budget::passes(3))).unwrap().model;
    let other = margin.fit(&data, plan(Budget::passes(3))).unwrap().model;
    let warm = |task: &Task<Chain>, old| {
        task.fit(&data, Plan { warm_start: Some(old), ..plan(Budget::passes(1)) })
    };
    assert!(warm(&task, &other).is_err() && warm(&margin, &model).is_err());
    assert!(warm(&task, &model).is_ok() && warm(&margin, &other).is_ok());
    let mut forged = model;
    forged.task.structure.rescaling = Rescaling::Margin;
    assert!(forged.certify(&data).is_err());
    let mut memory = InMemory::default();
    task.fit(&data, Plan { checkpoints: Some(Keep::Sink(&mut memory)), ..plan(Budget::passes(3)) })
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run");
    let checkpoints = dualgap::task::Checkpoints { file: file.clone(), every: 1.0 };
    let kept = Plan { checkpoints: Some(Keep::File(checkpoints)), ..plan(Budget::passes(3)) };
    task.fit(&data, kept).unwrap();
    let resumed = Plan { resume: Some(Resume::File(&file)), ..plan(Budget::passes(5)) };
    let error = margin.fit(&data, resumed).unwrap_err().to_string();
    assert!(error.contains("rescaling"), "{error}");
}

/// Files of models under margin rescaling are what they were: they do not mention it.
#[test]
fn margin_rescaling_leaves_no_trace_in_a_file() {
    let data = chains(7, 6).sequences();
    let model =
        Task::new(Chain::default(), Penalty::ridge(0.1)).fit(&data, plan(Budget::passes(1)));
    let raw = RawModel::from_bytes(model.unwrap().model.to_bytes().unwrap()).unwrap();
    assert!(raw.task()["structure"].get("rescaling").is_none(), "{}", raw.task());
    let data = classes(7, 6).examples();
    let model =
        Task::new(Multiclass::default(), Penalty::ridge(0.1)).fit(&data, plan(Budget::passes(1)));
    let raw = RawModel::from_bytes(model.unwrap().model.to_bytes().unwrap()).unwrap();
    assert!(raw.task()["structure"].get("rescaling").is_none(), "{}", raw.task());
}

#[test]
fn what_does_not_go_with_slack_rescaling_is_refused() {
    let data = classes(8, 6).examples();
    let fit = |loss, penalty, option| -> Result<()> {
        let structure = Multiclass::new(loss).rescaled(Rescaling::Slack);
        let method = DualMethod { option, ..DualMethod::default() };
        let plan = match option {
            None => plan(Budget::passes(1)),
            Some(_) => Plan { method: method.into(), ..plan(Budget::passes(1)) },
        };
        Task::new(structure, penalty).fit(&data, plan).map(drop)
    };
    let ridge = Penalty::ridge(0.1);
    fit(MulticlassLoss::Hinge, ridge, None).unwrap();
    assert!(fit(MulticlassLoss::Softmax, ridge, None).is_err());
    assert!(fit(MulticlassLoss::SmoothHinge { width: 1.0 }, ridge, None).is_err());
    assert!(fit(MulticlassLoss::Hinge, Penalty::l1_ball(1.0, 0.1), None).is_err());
    assert!(
        fit(MulticlassLoss::SmoothHinge { width: 1.0 }, Penalty::l1_ball(1.0, 0.1), None).is_err()
    );
    let costs = Costs::Matrix(vec![0.0; 16]);
    let nothing = Multiclass::with_costs(costs).rescaled(Rescaling::Slack);
    let report = Task::new(nothing, ridge).fit(&data, plan(tight())).unwrap();
    assert_eq!((report.stop, report.certificate.primal), (Stop::GapReached, 0.0));
}
