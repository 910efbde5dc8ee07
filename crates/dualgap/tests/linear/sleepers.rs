//! Shrinking: blocks whose visits change nothing are visited less often. The optimum is the same, oracle calls are
//! saved, and a run that was interrupted goes on as it would have.

use crate::common::{Kind, Small};
use crate::linear::accelerated::assert_meet;
use crate::linear::case::{Case, LOSSES, REGULARISERS};
use crate::linear::survival::{Fit, bits};
use dualgap::dual::{Acceleration, Sampling, Settings};
use dualgap::run::{Budget, Stop};
use dualgap::structure::{Choice, Hamming};
use dualgap::term::ScalarLoss;

#[test]
fn structures_have_the_same_optimum_with_shrinking_and_without() {
    for (k, kind) in Kind::all(3).into_iter().enumerate() {
        for batch in [1, 3, 30] {
            for sampling in [Sampling::Permuted, Sampling::Cyclic] {
                let small = Small::random(k as u64, kind.clone(), 30, 3, 4);
                let solve = |shrinking| {
                    let settings = Settings { shrinking, batch, sampling, ..small.settings() };
                    let budget = Budget { passes: Some(2000), ..Budget::relative(1e-3) };
                    let report = small.train(&settings, &budget);
                    assert_eq!(report.stop, Stop::GapReached, "{kind:?} {batch} {shrinking}");
                    report.certificate
                };
                assert_meet(solve(true), solve(false), &format!("{kind:?} {batch} {sampling:?}"));
            }
        }
    }
}

#[test]
fn linear_models_have_the_same_optimum_with_shrinking_and_without() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for regulariser in REGULARISERS {
            for batch in [1, 4] {
                let case = Case { regulariser, ..Case::random(k as u64, loss, 40, 3) };
                let solve = |shrinking| {
                    let settings = Settings { shrinking, batch, ..case.settings() };
                    let budget = Budget { passes: Some(20_000), ..Budget::relative(1e-8) };
                    let report = case.train(Choice::I, &settings, &budget);
                    assert!(report.certificate.gap() < 1e-7, "{loss:?} {:?}", report.stop);
                    report.certificate
                };
                assert_meet(solve(true), solve(false), &format!("{loss:?} {batch}"));
            }
        }
    }
}

// Most examples are far on the right side, and a few decide.
#[test]
fn examples_that_stay_at_their_bound_cost_few_calls() {
    let mut case = Case { lambda: 1e-3, ..Case::random(5, ScalarLoss::Hinge, 400, 6) };
    for (row, y) in case.rows.iter_mut().zip(&case.targets).skip(20) {
        row[0] = y * (3.0 + row[0]);
    }
    for (batch, sampling) in
        [(1, Sampling::Permuted), (1, Sampling::Cyclic), (4, Sampling::Permuted)]
    {
        let calls = |shrinking| {
            let settings = Settings {
                shrinking,
                batch,
                sampling,
                acceleration: Acceleration::Off,
                ..case.settings()
            };
            let budget =
                Budget { passes: Some(20_000), certify_share: 1.0, ..Budget::relative(1e-6) };
            let report = case.train(Choice::I, &settings, &budget);
            assert_eq!(report.stop, Stop::GapReached);
            report.work.oracle_calls
        };
        let (with, without) = (calls(true), calls(false));
        assert!(2 * with < without, "{batch} {sampling:?}: {with} calls, and {without} without");
    }
}

// Long enough for most blocks to be asleep, and for some to be woken again.
#[test]
fn a_resumed_run_knows_who_is_asleep() {
    let folder = tempfile::tempdir().unwrap();
    for (k, loss) in
        [ScalarLoss::Hinge, ScalarLoss::Absolute, ScalarLoss::SquaredHinge].into_iter().enumerate()
    {
        for (batch, sampling) in
            [(1, Sampling::Permuted), (5, Sampling::Permuted), (3, Sampling::Cyclic)]
        {
            let case = Case { lambda: 1e-2, ..Case::random(k as u64, loss, 30, 3) };
            let acceleration = Acceleration::Off;
            let settings = Settings { batch, sampling, acceleration, ..case.settings() };
            let fit = Fit { case: &case, choice: Choice::I, settings: &settings };
            let whole = bits(&fit.run(45, None, None));
            let awake = Settings { shrinking: false, ..settings.clone() };
            let awake = bits(&Fit { settings: &awake, ..fit }.run(45, None, None));
            assert_ne!(whole, awake, "{loss:?}: someone sleeps");
            let file = folder.path().join(format!("{k}-{batch}"));
            for (resume, passes) in [5, 11, 19, 26, 45].into_iter().enumerate() {
                let from = (resume > 0).then_some(&*file);
                let report = fit.run(passes, Some(&file), from);
                assert!(passes < 45 || bits(&report) == whole, "{loss:?} {batch} {sampling:?}");
            }
        }
    }
}

// What is drawn for a batch must not depend on how many calls a run was given at a time.
#[test]
fn chains_in_batches_do_not_depend_on_threads() {
    let small = Small::random(9, Kind::Chain(Hamming::Plain), 25, 3, 4);
    let weights = |threads| {
        let settings = Settings { batch: 6, threads, ..small.settings() };
        small.train(&settings, &Budget::passes(60)).model.weights
    };
    assert_eq!(weights(1), weights(3));
}
