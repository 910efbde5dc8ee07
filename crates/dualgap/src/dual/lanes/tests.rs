//! Lanes that get in each other's way, and threads that come and go.

use crate::data::{Graph, Mark, Matchings, Sequences};
use crate::dual::{Acceleration, Cache, Direction, Engine, Problem, Settings};
use crate::linalg::{Random, Rows};
use crate::run::{Quota, Solver};
use crate::structure::{ChainBlocks, Hamming, LinkLoss, MatchingBlocks};
use crate::term::L2;
use std::sync::atomic::{AtomicU64, Ordering};

/// Chains of two words over `kinds` different sentences: the fewer, the more lanes have in common.
fn chains(n: usize, kinds: usize) -> Sequences {
    let mut random = Random::new(5);
    let mut word = || (0..5).map(|_| 2.0 * random.unit() - 1.0).collect::<Vec<f64>>();
    let sentences: Vec<Vec<Vec<f64>>> = (0..kinds).map(|_| vec![word(), word()]).collect();
    let words: Vec<_> = (0..n).map(|i| sentences[i % kinds].clone()).collect();
    let tags: Vec<Vec<u16>> = (0..n).map(|i| vec![(i % kinds % 3) as u16, 2]).collect();
    Sequences::from_dense(&words, &tags, &["a", "b", "c"].map(String::from)).unwrap()
}

fn settings(lambda: f64, threads: usize) -> Settings {
    let acceleration = Acceleration::Off;
    Settings { lambda, threads, lanes: true, acceleration, ..Settings::default() }
}

/// Runs until so many visits with the oracle are made, however few at once.
fn advance<B: crate::dual::Blocks>(engine: &mut Engine<'_, B, L2>, calls: u64) {
    let quota = Quota { oracle_calls: calls, steps: u64::MAX, pause: u64::MAX, halted: &|| false };
    engine.advance(&quota).unwrap();
}

// Both lanes find the same sentences, and what one has learnt of them the other has, too: together they would overshoot.
#[test]
fn the_dual_never_falls_and_reaches_the_primal() {
    let data = chains(64, 1);
    let blocks = ChainBlocks::new(&data, Hamming::Normalized).unwrap();
    for lambda in [1e-1, 1e-3] {
        let problem = || Problem::new(&blocks, L2, lambda, None).unwrap();
        let mut engine = Engine::new(problem(), &settings(lambda, 1)).unwrap();
        let mut before = problem().dual(engine.points()).unwrap().value.value;
        engine.count_onto(before);
        for visits in 1..40 {
            advance(&mut engine, 16 * (1 + visits % 3));
            let after = problem().dual(engine.points()).unwrap().value.value;
            assert!(after >= before - 1e-12, "{lambda}: {before} {after}");
            let counted = engine.gained();
            assert!((after - counted).abs() < 1e-12, "{lambda}: {after}, counted as {counted}");
            before = after;
        }
        let gap = engine.certify().unwrap().model.gap();
        assert!(gap < 1e-2, "{lambda}: a gap of {gap}");
    }
}

// v of every thread is that of the points; and a thread that makes some series alone changes nothing.
#[test]
fn threads_may_come_and_go() {
    let data = chains(700, 50);
    let blocks = ChainBlocks::new(&data, Hamming::Normalized).unwrap();
    let problem = || Problem::new(&blocks, L2, 1e-3, None).unwrap();
    let run = |threads: usize, alone: &[u64]| {
        let mut engine = Engine::new(problem(), &settings(1e-3, threads)).unwrap();
        for pass in 0..6 {
            if alone.contains(&pass) {
                engine.lanes_alone(2);
            }
            advance(&mut engine, 700);
        }
        engine.weights()
    };
    let one = run(1, &[]);
    assert_eq!(one, run(2, &[]));
    assert_eq!(one, run(2, &[0, 2, 3]));
    assert_eq!(one, run(3, &[1]));
    let mut engine = Engine::new(problem(), &settings(1e-3, 2)).unwrap();
    engine.lanes_without_threads();
    (0..6).for_each(|_| advance(&mut engine, 700));
    assert_eq!(one, engine.weights(), "no thread can be started");
    let mut engine = Engine::new(problem(), &settings(1e-3, 2)).unwrap();
    advance(&mut engine, 2000);
    let exact = problem().image(engine.points());
    let off = engine.weights().iter().zip(&exact).map(|(w, v)| (w - v).abs()).fold(0.0, f64::max);
    assert!(off < 1e-12, "v is off by {off}");
}

// A v that is no number, so that every visit fails.
#[test]
fn of_several_failures_that_of_the_first_visit_is_told() {
    let data = chains(64, 50);
    let blocks = ChainBlocks::new(&data, Hamming::Normalized).unwrap();
    let told = |threads, lanes| {
        let settings = Settings { lanes, direction: Direction::Toward, ..settings(1e-3, threads) };
        let problem = Problem::new(&blocks, L2, 1e-3, None).unwrap();
        let mut engine = Engine::new(problem, &settings).unwrap();
        let v = vec![f64::NAN; engine.weights().len()];
        engine.begin_round(L2, 1e-3, Vec::new(), v);
        let quota = Quota { oracle_calls: 64, steps: u64::MAX, pause: u64::MAX, halted: &|| false };
        engine.advance(&quota).unwrap_err().to_string()
    };
    assert_eq!(told(1, true), told(1, false));
    assert_eq!(told(2, true), told(1, false));
}

// An assignment of a second each: so many of them are not made without a look at the clock.
#[test]
fn a_series_of_long_visits_ends_soon() {
    let graphs = vec![Graph::full(2, 2); 600];
    let mut random = Random::new(3);
    let rows: Vec<_> = (0..2400).map(|_| vec![random.unit(), random.unit()]).collect();
    let marks = (0..2400).map(|e| if e % 4 == 0 { Mark::Sure } else { Mark::None }).collect();
    let data = Matchings::new(Rows::dense(&rows).unwrap(), &graphs, marks).unwrap();
    let blocks = MatchingBlocks::new(&data, LinkLoss::default()).unwrap();
    let looks = |blocks: MatchingBlocks<'_>| {
        let looks = AtomicU64::new(0);
        let halted = || looks.fetch_add(1, Ordering::Relaxed) > u64::MAX / 2;
        let quota = Quota { oracle_calls: 600, steps: u64::MAX, pause: u64::MAX, halted: &halted };
        let problem = Problem::new(&blocks, L2, 1e-2, None).unwrap();
        let settings = Settings { cache: Cache::Off, ..settings(1e-2, 1) };
        Engine::new(problem, &settings).unwrap().advance(&quota).unwrap();
        looks.into_inner()
    };
    let long = MatchingBlocks::new(&data, LinkLoss::default()).unwrap().with_oracle_work(1e9);
    let (short, long) = (looks(blocks), looks(long));
    assert!(short < 4, "{short} series of short visits");
    // Two lanes of 64 visits at most.
    assert!(long > 5, "{long} series of long visits");
}

#[test]
fn lanes_are_refused_where_they_cannot_be() {
    let data = chains(20, 3);
    let blocks = ChainBlocks::new(&data, Hamming::Normalized).unwrap();
    let base = settings(0.1, 1);
    let refused = [
        Settings { batch: 2, ..base.clone() },
        Settings { shrinking: false, ..base.clone() },
        Settings { average: crate::dual::Average::Weighted, ..base.clone() },
        Settings { sampling: crate::dual::Sampling::Uniform, ..base },
    ];
    for settings in refused {
        let problem = Problem::new(&blocks, L2, 0.1, None).unwrap();
        let error = Engine::new(problem, &settings).err().unwrap();
        assert!(error.to_string().contains("lanes are for"), "{error}");
    }
}
