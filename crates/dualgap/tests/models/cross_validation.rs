//! Cross-validation judged by runs of their own: every trial is that of a run which knows nothing of the fold.

use crate::common::{Kind, Small};
use crate::fitting::{Fit, Trace};
use dualgap::data::Folds;
use dualgap::dual::Settings;
use dualgap::model::{CrossValidation, Evaluation, Model, Score, cross_validate};
use dualgap::run::{Budget, Interrupt, Report, Stop};
use dualgap::{Error, Result};
use std::sync::Mutex;

const LAMBDAS: [f64; 3] = [1.0, 0.1, 0.02];

/// What a fold that cannot be prepared would have been fitted with.
type Never = fn(f64, Option<&Model>) -> Result<(Report<Model>, Score)>;

fn problems() -> impl Iterator<Item = Small> {
    let kinds = Kind::all(3).into_iter().enumerate();
    kinds.map(|(k, kind)| Small::random(k as u64, kind, 12, 3, 3))
}

fn settings(lambda: f64, seed: u64) -> Settings {
    Settings { lambda, seed, threads: 1, ..Settings::default() }
}

/// How a model does on a small problem, whatever its kind.
fn score(model: &Model, test: &Small) -> Score {
    let evaluation: Evaluation = match test.kind {
        Kind::Chain(_) => model.evaluate_sequences(&test.sequences()),
        Kind::Multiclass(_) => model.evaluate_examples(&test.examples()).unwrap(),
    };
    (&evaluation).into()
}

fn validated(
    small: &Small,
    folds: &Folds,
    threads: usize,
    budget: &Budget,
) -> Result<Option<CrossValidation>> {
    cross_validate(folds.count(), &LAMBDAS, threads, |fold| {
        let (rest, test) = (small.select(&folds.outside(fold)), small.select(&folds.inside(fold)));
        Ok(move |lambda: f64, before: Option<&Model>| {
            let fit = Fit::new(&settings(lambda, 5), budget.clone());
            let report = match before {
                Some(model) => fit.warm(model).run(&rest)?,
                None => fit.run(&rest)?,
            };
            let score = score(&report.model, &test);
            Ok((report, score))
        })
    })
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
                let tight = Fit::new(&settings(candidate.lambda, 77), Budget::passes(300));
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

#[test]
fn each_lambda_begins_with_the_one_above_and_zero_with_none() {
    let small = problems().next().unwrap();
    let calls = Mutex::new(Vec::new());
    let budget = Budget::passes(1);
    cross_validate(2, &[0.1, 0.0, 2.0, 0.1], 1, |fold| {
        let (calls, small, budget) = (&calls, &small, &budget);
        Ok(move |lambda: f64, before: Option<&Model>| {
            calls.lock().unwrap().push((fold, lambda, before.map(|model| model.provenance.lambda)));
            let fit = Fit::new(&settings(lambda.max(1e-3), 0), budget.clone());
            Ok((fit.run(small)?, Score { error: 0.0, f1: None }))
        })
    })
    .unwrap();
    let of = |fold| [(fold, 2.0, None), (fold, 0.1, Some(2.0)), (fold, 0.0, None)];
    assert_eq!(calls.into_inner().unwrap(), [of(0), of(1)].concat());
}

#[test]
fn a_run_that_is_interrupted_leaves_no_result_and_an_error_is_passed_on() {
    let small = problems().next().unwrap();
    let folds = Folds::plain(12, 3, 0).unwrap();
    let interrupt = Interrupt::default();
    interrupt.raise();
    let budget = Budget { interrupt, ..Budget::relative(1e-3) };
    assert_eq!(validated(&small, &folds, 2, &budget).unwrap(), None);

    let refused = |count, lambdas: &[f64]| {
        let open = |_| Err::<Never, _>(Error::setting("closed"));
        cross_validate(count, lambdas, 2, open).unwrap_err().to_string()
    };
    assert_eq!(refused(3, &[1.0]), "closed");
    for (count, lambdas) in [(1, &[1.0][..]), (0, &[1.0]), (3, &[]), (3, &[f64::NAN]), (3, &[-1.0])]
    {
        assert_ne!(refused(count, lambdas), "closed", "{count} {lambdas:?}");
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
        assert_eq!(trial.score, score(&alone.model, &small.select(&folds.inside(1))));
    }
}
