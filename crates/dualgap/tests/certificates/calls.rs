//! What calls of the oracle are spent on: known corners save them, and gaps say where they are worth something.

use crate::common::{Kind, Small};
use dualgap::Result;
use dualgap::dual::{self, Cache, Engine, Problem, Sampling, Settings};
use dualgap::linalg::{Accumulate, SparseVec};
use dualgap::run::{Budget, Quota, Solver, Stop};
use dualgap::structure::{Bound, ChainBlocks, Decoded, Hamming, Oracle, OracleBlocks};
use dualgap::term::L2;
use std::sync::atomic::{AtomicU64, Ordering};

#[test]
fn steps_on_known_corners_save_calls_of_a_dear_oracle() {
    let small = Small::random(1, Kind::Chain(Hamming::Normalized), 30, 4, 12);
    let data = small.sequences();
    let blocks = ChainBlocks::new(&data, Hamming::Normalized).unwrap().with_oracle_work(1e7);
    let calls = |way: Settings| {
        let settings = Settings { lambda: 0.01, threads: 1, ..way };
        let report = dual::train(&blocks, &settings, &Budget::relative(0.01), &mut ()).unwrap();
        assert_eq!(report.stop, Stop::GapReached);
        report.work.oracle_calls
    };
    let [plain, cached] = [Settings::plain(), Settings::default()].map(calls);
    assert_eq!(Settings::default().cache, Cache::Auto);
    assert!(plain >= 3 * cached, "{plain} calls without a cache, {cached} with it");
}

/// How many examples have something to lose, and as many others have not.
const OPEN: usize = 8;

/// Every example is right or wrong about itself, and the open ones are in each other's way. Counts who asks how often.
struct Counting {
    asked: Vec<AtomicU64>,
}

impl Oracle for Counting {
    type Input = usize;
    type Output = bool;
    type Scratch = ();

    fn dim(&self) -> usize {
        OPEN
    }

    fn features(&self, &i: &usize, &right: &bool, out: &mut impl Accumulate) {
        if i < OPEN && right {
            (0..OPEN).for_each(|j| out.add(j, if i == j { 1.0 } else { 0.1 }));
        }
    }

    fn loss(&self, &i: &usize, truth: &bool, y: &bool) -> f64 {
        f64::from(u8::from(truth != y && i < OPEN))
    }

    fn decode(&self, w: &[f64], i: &usize, _: Option<&bool>, (): &mut ()) -> Result<Decoded<bool>> {
        self.asked[*i].fetch_add(1, Ordering::Relaxed);
        let mut features = SparseVec::default();
        self.features(i, &true, &mut features);
        let right = features.dot(w) >= self.loss(i, &true, &false);
        Ok(Decoded { output: right, bound: Bound::Exact })
    }
}

// Half of the gaps are zero from the start: those are looked at when all are, in the first of three passes.
#[test]
fn draws_by_gaps_go_where_gaps_are_open() {
    let examples: Vec<(usize, bool)> = (0..2 * OPEN).map(|i| (i, true)).collect();
    let oracle = Counting { asked: examples.iter().map(|_| AtomicU64::new(0)).collect() };
    let blocks = OracleBlocks::new(&oracle, &examples).unwrap();
    let settings = Settings { sampling: Sampling::Gap, threads: 1, ..Settings::plain() };
    let problem = Problem::new(&blocks, L2, 0.01, None).unwrap();
    let mut engine = Engine::new(problem, &settings).unwrap();
    let three_passes = 3 * examples.len() as u64;
    let quota =
        Quota { oracle_calls: three_passes, steps: u64::MAX, pause: u64::MAX, halted: &|| false };
    assert_eq!(engine.advance(&quota).unwrap().oracle_calls, three_passes);
    let asked: Vec<u64> = oracle.asked.iter().map(|count| count.load(Ordering::Relaxed)).collect();
    assert_eq!(asked[OPEN..], [1; OPEN], "{asked:?}");
    assert!(asked[..OPEN].iter().all(|&asked| asked > 1), "{asked:?}");
}

// Half of the examples never have anything to gain, and shrinking would leave them out.
#[test]
fn as_in_the_paper_every_example_is_asked_exactly_once_a_pass() {
    let examples: Vec<(usize, bool)> = (0..2 * OPEN).map(|i| (i, true)).collect();
    let passes = |settings: &Settings| -> Vec<Vec<u64>> {
        let oracle = Counting { asked: examples.iter().map(|_| AtomicU64::new(0)).collect() };
        let blocks = OracleBlocks::new(&oracle, &examples).unwrap();
        let problem = Problem::new(&blocks, L2, 0.01, None).unwrap();
        let mut engine = Engine::new(problem, settings).unwrap();
        let one_pass = Quota {
            oracle_calls: examples.len() as u64,
            steps: u64::MAX,
            pause: u64::MAX,
            halted: &|| false,
        };
        let mut pass = || {
            let work = engine.advance(&one_pass).unwrap();
            assert_eq!((work.oracle_calls, work.steps), (2 * OPEN as u64, 2 * OPEN as u64));
            oracle.asked.iter().map(|count| count.swap(0, Ordering::Relaxed)).collect()
        };
        (0..30).map(|_| pass()).collect()
    };
    for batch in [1, 3] {
        for sampling in [Sampling::Permuted, Sampling::Cyclic] {
            let settings = Settings { sampling, batch, threads: 1, ..Settings::plain() };
            assert!(passes(&settings).iter().flatten().all(|&asked| asked == 1));
            let shrinking = Settings { shrinking: true, ..settings };
            assert!(passes(&shrinking).iter().flatten().any(|&asked| asked == 0));
        }
    }
}
