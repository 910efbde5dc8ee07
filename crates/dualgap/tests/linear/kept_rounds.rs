//! Rounds that were interrupted go on, bit for bit, as if they never had been, and whatever a forged memory of theirs
//! claims, the run that takes it up ends with a certificate that is true or not at all.

use crate::common::fits;
use crate::common::memory::{Outlook, Recall, Rounds};
use crate::linear::accelerated::ill_conditioned;
use crate::linear::case::{Case, LOSSES, REGULARISERS};
use crate::linear::rounding::{dual, primal};
use crate::linear::survival::{Fit, bits};
use dualgap::Result;
use dualgap::dual::{Acceleration, Begin, Sampling, Settings, train_from};
use dualgap::linalg::Measured;
use dualgap::run::{Budget, Checkpoint, CheckpointSink, InMemory, Report, RunState, Solution};
use dualgap::structure::{Choice, LinearBlocks};
use dualgap::term::{Free, Regulariser, ScalarLoss};

#[test]
fn a_resumed_run_of_rounds_is_bit_for_bit_the_run_that_went_through() {
    let folder = tempfile::tempdir().unwrap();
    let mut switched = 0;
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for (j, acceleration) in [Acceleration::Auto, Acceleration::On].into_iter().enumerate() {
            for free in [false, true] {
                let regulariser = REGULARISERS[(k + j) % 4];
                let case = Case { regulariser, ..ill_conditioned(k as u64, loss, 1e-4) };
                let case = if free { case.with_intercept() } else { case };
                let settings = Settings {
                    acceleration,
                    batch: 1 + 2 * (k % 2),
                    sampling: [Sampling::Permuted, Sampling::Cyclic, Sampling::Uniform]
                        [(k + j) % 3],
                    ..case.settings()
                };
                let fit = Fit { case: &case, choice: Choice::I, settings: &settings };
                let whole = bits(&fit.run(40, None, None));
                let off = Settings { acceleration: Acceleration::Off, ..settings.clone() };
                let plain = Fit { settings: &off, ..fit }.run(40, None, None);
                switched +=
                    usize::from(acceleration == Acceleration::Auto && bits(&plain) != whole);
                let file = folder.path().join(format!("{k}-{j}-{free}"));
                // Again and again, before the rounds begin, within one, and after.
                for (resume, passes) in [1, 2, 3, 7, 12, 15, 16, 17, 21, 40].into_iter().enumerate()
                {
                    let from = (resume > 0).then_some(&file);
                    let report = fit.run(passes, Some(&file), from.map(|file| &**file));
                    if passes == 40 {
                        assert_eq!(bits(&report), whole, "{loss:?} {acceleration:?} {free}");
                    }
                }
            }
        }
    }
    assert!(switched >= 8, "{switched}: acceleration began by itself on the way");
}

#[test]
fn a_checkpoint_of_other_rounds_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run");
    let case = ill_conditioned(3, ScalarLoss::Logistic, 1e-4).with_intercept();
    let settings = Settings { acceleration: Acceleration::On, ..case.settings() };
    Fit { case: &case, choice: Choice::I, settings: &settings }.run(3, Some(&file), None);
    let budget = Budget::passes(5);
    let resumes = |settings: &Settings| {
        let fit = fits::linear(case.loss, Choice::I, settings, &budget).resumed(Some(&file));
        fit.run(&case.examples()).is_ok()
    };
    assert!(resumes(&settings));
    for acceleration in [Acceleration::Auto, Acceleration::Off] {
        assert!(!resumes(&Settings { acceleration, ..settings.clone() }), "{acceleration:?}");
    }
    assert!(!resumes(&Settings { shrinking: false, ..settings.clone() }), "shrinking");
    let Free { column, bound } = case.regulariser.free.unwrap();
    for free in [None, Some(Free { column: 0, bound }), Some(Free { column, bound: bound / 2.0 })] {
        let regulariser = Regulariser { free, ..case.regulariser };
        assert!(!resumes(&Settings { regulariser, ..settings.clone() }), "{free:?}");
    }
}

// Batches of one w: who finds the corners does not matter.
#[test]
fn rounds_do_not_depend_on_threads() {
    for loss in [ScalarLoss::Logistic, ScalarLoss::Hinge] {
        let case = ill_conditioned(6, loss, 1e-4).with_intercept();
        let run = |threads| {
            let base = Settings { batch: 8, threads, ..case.settings() };
            let settings = Settings { acceleration: Acceleration::On, ..base };
            bits(&Fit { case: &case, choice: Choice::I, settings: &settings }.run(30, None, None))
        };
        assert_eq!(run(1), run(3));
    }
}

pub fn run(
    case: &Case,
    settings: &Settings,
    begin: Begin<f64>,
    passes: u64,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<f64>>> {
    let rows = case.sparse_or_dense(false);
    let blocks = LinearBlocks::new(&rows, case.targets.clone(), case.loss, Choice::I).unwrap();
    train_from(&blocks, settings, begin, &Budget::passes(passes), &mut (), sink)
}

/// Whether a run that goes on from this memory is refused; one that is not has a true certificate.
fn refused(case: &Case, settings: &Settings, run_state: &RunState, forged: &Rounds<f64>) -> bool {
    let bytes = postcard::to_stdvec(forged).unwrap();
    let begin = Begin::At(Checkpoint { run: run_state.clone(), solver: bytes });
    let Ok(report) = run(case, settings, begin, 30, None) else { return true };
    let c = report.certificate;
    let above = (primal(case, &report.model.weights) - c.primal.into()).abs().float();
    let below = (dual(case, &report.model.points) - c.dual.into()).abs().float();
    assert!(above + below <= c.rounding_error, "{above:e} {below:e} {c:?}");
    false
}

#[test]
fn a_forged_memory_of_rounds_is_refused_or_does_no_harm() {
    let mut foreseen = 0;
    for (loss, free) in [
        (ScalarLoss::Logistic, false),
        (ScalarLoss::SmoothHinge { width: 1.0 }, true),
        (ScalarLoss::Squared, false),
        (ScalarLoss::Hinge, true),
    ] {
        let case = ill_conditioned(4, loss, 1e-4);
        let case = if free { case.with_intercept() } else { case };
        let base = Settings { handover: true, ..case.settings() };
        let settings = Settings { acceleration: Acceleration::On, ..base };
        let mut memory = InMemory::default();
        run(&case, &settings, Begin::Fresh, 15, Some(&mut memory)).unwrap();
        let Checkpoint { run: run_state, solver: bytes } = memory.last.unwrap();
        let honest: Rounds<f64> = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(postcard::to_stdvec(&honest).unwrap(), bytes, "the mirror is another type");
        let spoilt = |spoil: &dyn Fn(&mut Rounds<f64>)| {
            let mut forged = honest.clone();
            spoil(&mut forged);
            refused(&case, &settings, &run_state, &forged)
        };
        assert!(!spoilt(&|_| ()));
        for bad in [f64::NAN, f64::INFINITY] {
            assert!(spoilt(&|s| s.memory.last[1] = bad));
            assert!(spoilt(&|s| s.offset[1] = bad));
            assert!(spoilt(&|s| s.engine.v[1] = bad));
            assert!(spoilt(&|s| s.engine.points[1] = bad));
            assert!(spoilt(&|s| s.best.points.as_mut().unwrap()[1] = bad));
            assert!(spoilt(&|s| s.best.primal.as_mut().unwrap().2[1] = bad));
        }
        assert!(spoilt(&|s| s.memory.last.push(0.0)), "last weights that are too long");
        assert!(spoilt(&|s| s.offset.push(0.0)), "a centre that is too long");
        assert!(spoilt(&|s| s.offset.truncate(1)), "a centre that is too short");
        assert!(spoilt(&|s| s.memory.left = u64::MAX), "a round that never ends");
        assert!(spoilt(&|s| s.memory.left = 0), "a round without a step");
        assert!(spoilt(&|s| s.engine.recall = Some(Recall::default())), "a cache of no corners");
        assert!(spoilt(&|s| s.engine.lanes = Some((8, 0, 1))), "lanes nobody asked for");
        assert!(spoilt(&|s| s.engine.order.gaps = Some((vec![1.0], 3))), "gaps nobody asked for");
        assert!(spoilt(&|s| s.memory.calls = u64::MAX - 5), "more calls than any run has");
        assert!(spoilt(&|s| s.best.points = None), "no best points");
        assert!(spoilt(&|s| s.best.points.as_mut().unwrap().truncate(1)), "too few");
        assert!(spoilt(&|s| s.best.primal.as_mut().unwrap().2.push(0.0)), "too long");
        assert!(spoilt(&|s| s.engine.points.truncate(3)), "too few points");
        match &honest.engine.outlook {
            None => assert!(spoilt(&|s| s.engine.outlook = Some(Outlook::default()))),
            Some(outlook) => {
                foreseen += 1;
                let spoilt =
                    |outlook: Option<Outlook>| spoilt(&|s| s.engine.outlook = outlook.clone());
                assert!(spoilt(None), "no outlook");
                assert!(spoilt(Some(Outlook { stride: 3, ..outlook.clone() })), "other examples");
                assert!(spoilt(Some(Outlook { turn: 1 << 20, ..outlook.clone() })), "no examples");
                for lie in [1e3, -1e3, 0.0, f64::NAN, f64::INFINITY] {
                    let (now, last, dual) = ((lie, lie), Some((lie, lie)), Some(lie));
                    let visits = usize::MAX;
                    spoilt(Some(Outlook { now, visits, last, dual, left: lie, ..outlook.clone() }));
                }
            }
        }
        // Lies that could be true.
        let claim = |value| Measured { value, error: 0.0 };
        for lie in [1e3, -1e3, f64::NAN, f64::INFINITY] {
            spoilt(&|s| s.best.dual = claim(lie));
            spoilt(&|s| s.best.primal.as_mut().unwrap().0 = claim(lie));
            spoilt(&|s| s.memory.primal = lie);
            spoilt(&|s| s.memory.trial.as_mut().unwrap().rival = Some(lie));
            spoilt(&|s| s.memory.trial.as_mut().unwrap().floor = lie);
            spoilt(&|s| s.memory.trial.as_mut().unwrap().window = lie);
            spoilt(&|s| s.memory.trial.as_mut().unwrap().seen = Some((0, lie)));
        }
        spoilt(&|s| s.best.primal.as_mut().unwrap().1 = false);
        spoilt(&|s| s.best.primal = None);
        spoilt(&|s| s.best.points.as_mut().unwrap().fill(0.0));
        spoilt(&|s| s.offset.fill(1e6));
        spoilt(&|s| s.offset.clear());
        spoilt(&|s| s.memory.last.fill(-1e6));
        spoilt(&|s| s.engine.v.fill(3.0));
        spoilt(&|s| s.memory.accelerated = false);
        spoilt(&|s| s.memory.trial = None);
        spoilt(&|s| s.memory.calls = 0);
        spoilt(&|s| s.memory.left = 1);
    }
    assert!(foreseen > 0, "no run had an outlook");
}
