//! Runs that resume, on any number of threads, with weights, from given points; planes that are dropped; bad input.

use super::{BOTH, of, train};
use crate::common::quadratic::optimum;
use crate::common::{Kind, Small};
use dualgap::dual::{Begin, Mixture};
use dualgap::methods::cutting_plane::{self, CuttingPlaneSettings, Slacks};
use dualgap::run::{Budget, InMemory, Report, Solution};
use dualgap::structure::{ChainBlocks, Hamming};
use dualgap::term::{Free, Regulariser};
use dualgap::{Error, Result};

fn chain() -> Small {
    let mut small = Small::random(21, Kind::Chain(Hamming::Normalized), 14, 3, 4);
    small.lambda = 0.003;
    small
}

fn run(
    small: &Small,
    settings: &CuttingPlaneSettings,
    begin: Begin<Mixture>,
    budget: &Budget,
    memory: &mut InMemory,
) -> Result<Report<Solution<Mixture>>> {
    let data = small.sequences();
    let blocks = ChainBlocks::new(&data, Hamming::Normalized).unwrap();
    let (weights, sink) = (small.weights.as_deref(), Some(memory as _));
    let plain = Regulariser::PLAIN;
    cutting_plane::train_from(
        &blocks,
        small.lambda,
        plain,
        weights,
        settings,
        begin,
        budget,
        &mut (),
        sink,
    )
}

type Entries = Vec<Vec<(u64, f64)>>;

fn parts(report: &Report<Solution<Mixture>>) -> (Vec<f64>, Entries) {
    let Solution { weights, points } = &report.model;
    (weights.clone(), points.iter().map(|point| point.iter().collect()).collect())
}

#[test]
fn a_run_resumes_bit_for_bit() {
    let small = chain();
    for slacks in BOTH {
        let settings = CuttingPlaneSettings { seed: 5, ..of(slacks) };
        let go = |begin, passes: u64, memory: &mut InMemory| {
            run(&small, &settings, begin, &Budget::passes(passes), memory).unwrap()
        };
        // With one slack so many that planes are dropped.
        let (all, pauses) = match slacks {
            Slacks::One => (70, [4, 7, 60]),
            Slacks::Each => (12, [1, 4, 7]),
        };
        let whole = go(Begin::Fresh, all, &mut InMemory::default());
        assert!(slacks == Slacks::Each || whole.counters["planes_dropped"] > 0);
        for pause in pauses {
            let mut memory = InMemory::default();
            go(Begin::Fresh, pause, &mut memory);
            let begin = Begin::At(memory.last.unwrap());
            let resumed = go(begin, all, &mut InMemory::default());
            assert_eq!(parts(&resumed), parts(&whole), "{slacks:?} paused after {pause}");
            assert_eq!(resumed.certificate, whole.certificate);
            assert_eq!(resumed.counters, whole.counters);
        }
    }
}

#[test]
fn a_state_of_another_problem_is_refused() {
    let small = chain();
    for slacks in BOTH {
        let mut memory = InMemory::default();
        run(&small, &of(slacks), Begin::Fresh, &Budget::passes(5), &mut memory).unwrap();
        let stored = memory.last.unwrap();
        let other = if slacks == Slacks::One { Slacks::Each } else { Slacks::One };
        let fewer = small.select(&[0, 1, 2, 3]);
        let cut = |kept: usize| {
            let mut checkpoint = stored.clone();
            checkpoint.solver.truncate(kept);
            checkpoint
        };
        for (small, settings, checkpoint) in [
            (&small, of(other), stored.clone()),
            (&fewer, of(slacks), stored.clone()),
            (&small, of(slacks), cut(stored.solver.len() / 2)),
            (&small, of(slacks), cut(0)),
        ] {
            let begin = Begin::At(checkpoint);
            let again = run(small, &settings, begin, &Budget::passes(9), &mut InMemory::default());
            assert!(again.is_err(), "{slacks:?}");
        }
        // Any byte may be wrong: what is not refused is a feasible point still.
        let whole = optimum(&small.explicit());
        for place in (0..stored.solver.len()).step_by(stored.solver.len() / 97) {
            let mut forged = stored.clone();
            forged.solver[place] ^= 0x55;
            let budget = Budget::passes(6);
            let again =
                run(&small, &of(slacks), Begin::At(forged), &budget, &mut InMemory::default());
            if let Ok(report) = again {
                let c = report.certificate;
                assert!(c.dual - c.rounding_error <= whole.upper, "{c:?} {whole:?}");
                assert!(c.primal + c.rounding_error >= whole.lower, "{c:?} {whole:?}");
            }
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let small = chain();
    for slacks in BOTH {
        let on = |threads| {
            train(&small, &CuttingPlaneSettings { threads, ..of(slacks) }, &Budget::passes(15))
        };
        let (one, three) = (on(1), on(3));
        assert_eq!(parts(&one), parts(&three));
        assert_eq!(one.certificate, three.certificate);
    }
}

#[test]
fn planes_are_dropped_and_the_optimum_stays_the_same() {
    let mut small = chain();
    small.lambda = 1e-4;
    let bracket = optimum(&small.explicit());
    for slacks in BOTH {
        let budget = Budget { passes: Some(400), ..Budget::relative(1e-8) };
        let report = train(&small, &of(slacks), &budget);
        let c = report.certificate;
        // With a slack for each example it is there before any plane was idle for long.
        let dropped = report.counters["planes_dropped"];
        assert!(dropped > 0 || slacks == Slacks::Each, "{:?} {c:?}", report.counters);
        assert!((c.primal - bracket.upper).abs() <= 1e-6 * bracket.upper, "{slacks:?} {c:?}");
        assert!((c.dual - bracket.lower).abs() <= 1e-6 * bracket.upper, "{slacks:?} {c:?}");
    }
}

#[test]
fn a_weight_of_two_is_a_duplicate() {
    let mut weighted = chain().select(&[0, 1, 2, 3, 4]);
    let twice = weighted.select(&[0, 1, 1, 2, 3, 4, 4]);
    weighted.weights = Some(vec![1.0, 2.0, 1.0, 1.0, 2.0]);
    for slacks in BOTH {
        let budget = Budget { passes: Some(500), ..Budget::relative(1e-9) };
        let [a, b] =
            [&weighted, &twice].map(|small| train(small, &of(slacks), &budget).certificate);
        assert!(a.dual <= b.primal + 1e-12 && b.dual <= a.primal + 1e-12, "{a:?} {b:?}");
        assert!(a.relative_gap() <= 1e-9 && b.relative_gap() <= 1e-9, "{a:?} {b:?}");
    }
}

#[test]
fn a_run_from_given_points_begins_with_their_value() {
    let small = chain();
    for slacks in BOTH {
        let go = |begin, passes| {
            run(&small, &of(slacks), begin, &Budget::passes(passes), &mut InMemory::default())
        };
        let first = go(Begin::Fresh, 8).unwrap();
        let more = go(Begin::Points(first.model.points.clone()), 1).unwrap();
        assert!(more.certificate.dual >= first.certificate.dual - 1e-14);
        let few = first.model.points[1..].to_vec();
        assert!(go(Begin::Points(few), 1).is_err());
    }
}

#[test]
fn what_does_not_go_with_cutting_planes_is_refused() {
    let small = chain();
    let data = small.sequences();
    let blocks = ChainBlocks::new(&data, Hamming::Normalized).unwrap();
    let free = Some(Free { column: 0, bound: 1.0 });
    let go = |lambda: f64, regulariser, weights: Option<&[f64]>| {
        let (settings, budget) = (CuttingPlaneSettings::default(), Budget::passes(1));
        cutting_plane::train(&blocks, lambda, regulariser, weights, &settings, &budget, &mut ())
            .map(|_| ())
    };
    for regulariser in [
        Regulariser { l1: 0.1, ..Regulariser::PLAIN },
        Regulariser { nonnegative: true, ..Regulariser::PLAIN },
        Regulariser { q_norm: true, ..Regulariser::PLAIN },
        Regulariser { free, ..Regulariser::PLAIN },
    ] {
        let error = go(0.1, regulariser, None).unwrap_err();
        assert!(matches!(error, Error::Setting { .. }), "{error}");
        assert!(error.to_string().contains("cutting planes go with the penalty"), "{error}");
    }
    for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(go(lambda, Regulariser::PLAIN, None).is_err());
    }
    assert!(go(0.1, Regulariser::PLAIN, Some(&[1.0])).is_err());
    assert!(go(0.1, Regulariser::PLAIN, Some(&[-1.0; 14])).is_err());
    // Nothing can be said where numbers overflow, and that is an error too.
    let error = go(1e-320, Regulariser::PLAIN, None).unwrap_err();
    assert!(matches!(error, Error::Unsound { .. }), "{error}");
}
