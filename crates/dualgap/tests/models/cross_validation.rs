//! Cross-validation judged by runs of their own: every trial is that of a run which knows nothing of the fold.

use crate::common::{Kind, Small, fits};
use crate::models::fitting::{Fit, Trace};
use dualgap::Result;
use dualgap::data::{ClassWeights, DataSet, Examples, Folds};
use dualgap::dual::Settings;
use dualgap::linalg::Random;
use dualgap::run::{Budget, Interrupt, Stop};
use dualgap::structure::{Chain, Hamming, Linear, Multiclass, Structure};
use dualgap::task::{
    CrossValidation, Model, PenaltySpec, Plan, Score, Search, SearchEnd, Strength, Task, TaskSpec,
    Told, TrialPlan,
};
use dualgap::term::{Penalty, ScalarLoss};
use std::sync::atomic::{AtomicUsize, Ordering};

const LAMBDAS: [f64; 3] = [1.0, 0.1, 0.02];

fn problems() -> impl Iterator<Item = Small> {
    let kinds = Kind::all(3).into_iter().enumerate();
    kinds.map(|(k, kind)| Small::random(k as u64, kind, 12, 3, 3))
}

fn settings(lambda: f64, seed: u64) -> Settings {
    Settings { lambda, seed, threads: 1, ..Settings::default() }
}

fn validated(
    small: &Small,
    folds: &Folds,
    threads: usize,
    budget: &Budget,
) -> Result<Option<CrossValidation>> {
    fn run<S: Structure>(
        fit: fits::Fit<'_, S>,
        data: &S::Data,
        folds: &Folds,
        threads: usize,
    ) -> Result<Option<CrossValidation>> {
        let fits::Fit { task, plan, .. } = fit;
        let plan = TrialPlan { method: plan.method, threads, ..TrialPlan::new(plan.budget) };
        let ended = AtomicUsize::new(0);
        let count = || _ = ended.fetch_add(1, Ordering::Relaxed);
        let found = task.cross_validate(data, folds, &LAMBDAS, &plan, count)?;
        let all = folds.count() * LAMBDAS.len();
        assert!(found.is_none() || ended.into_inner() == all, "one for every run");
        Ok(found)
    }
    let settings = settings(77.0, 5); // the λ of the task does not matter
    match &small.kind {
        Kind::Chain(hamming) => {
            let fit = fits::Fit::new(Chain::new(*hamming), &settings, budget);
            run(fit, &small.sequences(), folds, threads)
        }
        Kind::Multiclass(costs) => {
            let structure = Multiclass::with_costs(costs.clone());
            let fit = fits::Fit::new(structure, &settings, budget);
            run(fit, &small.examples(), folds, threads)
        }
    }
}

/// Without the seconds.
fn told(found: &CrossValidation) -> String {
    let trials = found.candidates.iter().flat_map(|candidate| &candidate.trials);
    let told =
        trials.map(|t| format!("{:?} {:?} {:?} {}\n", t.score, t.certificate, t.stop, t.passes));
    told.collect()
}

#[test]
fn every_trial_is_certified_about_the_optimum_of_the_other_folds() {
    for small in problems() {
        let folds = Folds::plain(12, 3, 1).unwrap();
        let found = validated(&small, &folds, 2, &Budget::relative(1e-2)).unwrap().unwrap();
        for candidate in &found.candidates {
            for (fold, trial) in candidate.trials.iter().enumerate() {
                assert_eq!(trial.stop, Stop::GapReached);
                assert!(trial.certificate.relative_gap() <= 1e-2);
                // Another order, from the start, for long: both intervals hold the optimum.
                let tight = Fit::new(&settings(candidate.value, 77), Budget::passes(300));
                let tight = tight.run(&small.select(&folds.outside(fold))).unwrap().certificate;
                let error = tight.rounding_error + trial.certificate.rounding_error;
                assert!(trial.certificate.dual <= tight.primal + error);
                assert!(tight.dual <= trial.certificate.primal + error);
            }
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for small in problems() {
        let folds = Folds::plain(12, 4, 2).unwrap();
        let run = |threads| validated(&small, &folds, threads, &Budget::relative(1e-2));
        let one = told(&run(1).unwrap().unwrap());
        for threads in [0, 2, 3, 9] {
            assert_eq!(one, told(&run(threads).unwrap().unwrap()), "{threads} threads");
        }
    }
}

/// Two classes with an elastic net, which without λ is pure l1.
fn linear() -> (Examples, TaskSpec<Linear>) {
    let mut random = Random::new(4);
    let mut signed = || 2.0 * random.unit() - 1.0;
    let rows: Vec<Vec<f64>> = (0..12).map(|_| vec![signed(), signed(), 1.0]).collect();
    let label = |row: &Vec<f64>| if row[0] + 0.3 * row[1] > 0.3 { "yes" } else { "no" };
    let labels: Vec<&str> = rows.iter().map(label).collect();
    let lambda = Strength::Value(5.0);
    let penalty = PenaltySpec::Ridge { lambda, l1: Strength::Value(0.01), nonnegative: false };
    let spec = TaskSpec::new(Linear::new(ScalarLoss::Logistic), penalty);
    (Examples::from_dense(&rows, &labels).unwrap(), spec)
}

#[test]
fn each_lambda_begins_with_the_one_above_where_only_the_gap_ends_a_run() {
    trials_begin_so(&Budget::relative(1e-3), true);
    trials_begin_so(&Budget::passes(3), false);
}

fn trials_begin_so(budget: &Budget, warm: bool) {
    let (data, spec) = linear();
    let folds = Folds::plain(12, 2, 0).unwrap();
    let plan = TrialPlan { threads: 1, ..TrialPlan::new(budget.clone()) };
    let found = spec.cross_validate(&data, &folds, &[0.1, 0.0, 2.0, 0.1], &plan, || ());
    let found = found.unwrap().unwrap();
    let lambdas: Vec<f64> = found.candidates.iter().map(|candidate| candidate.value).collect();
    assert_eq!(lambdas, [2.0, 0.1, 0.0]);
    for fold in 0..2 {
        let (train, test) = (data.subset(&folds.outside(fold)), data.subset(&folds.inside(fold)));
        let mut before: Option<Model<Linear>> = None;
        for candidate in &found.candidates {
            let task = spec.at_lambda(candidate.value).unwrap().resolve(&train).unwrap();
            let warm_start = before.as_ref().filter(|_| warm);
            let plan = Plan { threads: 1, warm_start, ..Plan::new(budget.clone()) };
            let report = task.fit(&train, plan).unwrap();
            let trial = &candidate.trials[fold];
            assert_eq!(trial.certificate, report.certificate, "{} {fold}", candidate.value);
            assert_eq!(trial.score, Score::from(&report.model.evaluate(&test).unwrap()));
            before = Some(report.model);
        }
        assert_eq!(before.unwrap().task.penalty, Penalty::lasso(0.01));
    }
}

// Balanced weights and 1/n are those of the examples outside the fold.
#[test]
fn what_depends_on_the_data_depends_on_the_other_folds() {
    let (data, spec) = linear();
    let spec = TaskSpec { class_weights: Some(ClassWeights::Balanced), ..spec };
    let folds = Folds::plain(12, 3, 1).unwrap();
    let plan = TrialPlan { threads: 2, ..TrialPlan::new(Budget::relative(1e-3)) };
    let found = spec.cross_validate(&data, &folds, &[0.1], &plan, || ()).unwrap().unwrap();
    let mut differ = 0;
    for fold in 0..3 {
        let train = data.subset(&folds.outside(fold));
        let weights = ClassWeights::Balanced.weigh(train.classes().unwrap(), None).unwrap();
        let weighed = train.clone().with_weights(weights).unwrap();
        let task = Task::new(spec.structure, Penalty::elastic_net(0.1, 0.01));
        let by_hand = task.fit(&weighed, Plan::new(Budget::relative(1e-3))).unwrap().certificate;
        let trial = found.candidates[0].trials[fold].certificate;
        assert!(trial.dual <= by_hand.primal + 1e-12 && by_hand.dual <= trial.primal + 1e-12);
        let plain = task.fit(&train, Plan::new(Budget::relative(1e-3))).unwrap().certificate;
        differ += usize::from(plain.dual > trial.primal || plain.primal < trial.dual);
    }
    assert!(differ > 0, "the weights matter");
}

#[test]
fn a_run_that_is_interrupted_leaves_no_result_and_an_error_is_passed_on() {
    let small = problems().next().unwrap();
    let folds = Folds::plain(12, 3, 0).unwrap();
    let interrupt = Interrupt::default();
    interrupt.raise();
    let budget = Budget { interrupt, ..Budget::relative(1e-3) };
    assert_eq!(validated(&small, &folds, 2, &budget).unwrap(), None);

    let (data, plan) = (small.sequences(), TrialPlan::new(Budget::passes(1)));
    let chain = Task::new(Chain::new(Hamming::Plain), Penalty::ridge(1.0));
    let weighed = Task { class_weights: Some(ClassWeights::Balanced), ..chain.clone() };
    let refused = |task: &Task<Chain>, lambdas: &[f64]| {
        let found = task.cross_validate(&data, &folds, lambdas, &plan, || ());
        found.unwrap_err().to_string()
    };
    assert!(refused(&weighed, &[1.0]).contains("class weights"));
    for lambdas in [&[][..], &[f64::NAN], &[-1.0]] {
        assert!(refused(&chain, lambdas).contains("lambda"), "{lambdas:?}");
    }
    for count in [0, 1, 13] {
        assert!(chain.folds(&data, count, 0).is_err(), "{count} folds");
    }
}

#[test]
fn the_first_lambda_is_a_run_like_any_other() {
    for small in problems() {
        let folds = Folds::plain(12, 2, 3).unwrap();
        let rest = small.select(&folds.outside(1));
        let alone = Fit::new(&settings(LAMBDAS[0], 5), Budget::relative(1e-2)).run(&rest).unwrap();
        let found = validated(&small, &folds, 2, &Budget::relative(1e-2)).unwrap().unwrap();
        let trial = found.candidates[0].trials[1];
        assert_eq!(trial.certificate, alone.certificate);
        assert_eq!((trial.passes, trial.stop), (alone.passes, Trace::of(&alone).stop));
        let test = small.select(&folds.inside(1));
        assert_eq!(trial.score, Score::from(&alone.model.evaluate(&test)));
    }
}

#[test]
fn what_was_tried_before_an_interruption_is_left() {
    let small = Small::random(1, Kind::Chain(Hamming::Plain), 12, 3, 3);
    let (data, folds) = (small.sequences(), Folds::plain(12, 3, 1).unwrap());
    let task = TaskSpec::from(Task::new(Chain::default(), Penalty::ridge(1.0)));
    let whole = TrialPlan { threads: 2, ..TrialPlan::new(Budget::passes(3)) };
    let all = task.search(&data, &folds, &LAMBDAS, &whole, None, |_| ()).unwrap();
    assert_eq!((all.end, all.found.candidates.len()), (SearchEnd::Complete, LAMBDAS.len()));
    let interrupt = Interrupt::default();
    let budget = Budget { interrupt: interrupt.clone(), ..Budget::passes(3) };
    let plan = TrialPlan { threads: 2, ..TrialPlan::new(budget) };
    let told = |told: Told<'_>| {
        if let Told::Candidate(candidate) = told
            && candidate.value == LAMBDAS[1]
        {
            interrupt.raise();
        }
    };
    let some = task.search(&data, &folds, &LAMBDAS, &plan, None, told).unwrap();
    assert_eq!((some.end, some.found.candidates.len()), (SearchEnd::Interrupted, 2));
    let scores = |search: &Search| -> Vec<Score> {
        let trials = search.found.candidates[..2].iter().flat_map(|candidate| &candidate.trials);
        trials.map(|trial| trial.score).collect()
    };
    assert_eq!(scores(&some), scores(&all));
}

#[test]
fn a_patience_ends_a_grid_that_gets_no_better() {
    let small = Small::random(1, Kind::Chain(Hamming::Plain), 12, 3, 3);
    let (data, folds) = (small.sequences(), Folds::plain(12, 3, 1).unwrap());
    let task = TaskSpec::from(Task::new(Chain::default(), Penalty::ridge(1.0)));
    let plan = TrialPlan { threads: 2, ..TrialPlan::new(Budget::passes(3)) };
    // Under these λ all weights are nearly zero, and no model is better than another.
    let search = task.search(&data, &folds, &[1e9, 1e8, 1e7], &plan, Some(1), |_| ()).unwrap();
    assert_eq!((search.end, search.found.candidates.len()), (SearchEnd::NoBetter, 2));
}
