//! In the steady state a step allocates nothing: after some passes all buffers have their size, and
//! what is left is a mixture that now and then meets a corner for the first time.
//!
//! Everything is in one test, because the counts are those of the whole program.

mod common;

use common::{Kind, Small};
use dualgap::data::{Graph, Mark, Matchings};
use dualgap::dual::{Average, Blocks, Direction, Engine, Problem, Settings};
use dualgap::linalg::{Random, Rows};
use dualgap::run::{Quota, Solver};
use dualgap::structure::{ChainBlocks, Hamming, LinkLoss, MatchingBlocks, MulticlassBlocks};
use dualgap::term::{Costs, L2};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::hint::black_box;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const EXAMPLES: usize = 400;

/// How often memory is asked for, or more of it, while something is done.
fn allocations(of: impl FnOnce()) -> usize {
    let region = Region::new(ALLOCATOR);
    of();
    let change = region.change();
    change.allocations + change.reallocations
}

/// The same of one pass, after fifty others.
fn in_a_late_pass<B: Blocks>(blocks: &B, settings: &Settings) -> usize {
    let problem = Problem::new(blocks, L2, settings.lambda, None).unwrap();
    let mut engine = Engine::new(problem, settings).unwrap();
    let mut advance = |calls| {
        let done = engine
            .advance(&Quota {
                oracle_calls: calls,
                steps: u64::MAX,
                pause: calls,
                halted: &|| false,
            })
            .unwrap();
        assert_eq!(done.steps, calls);
    };
    let pass = blocks.len() as u64;
    advance(50 * pass);
    allocations(|| advance(pass))
}

/// Grids of five rows and six columns with links on the diagonal, and features that say little of them.
fn grids() -> Matchings {
    let mut random = Random::new(3);
    let graph = Graph::full(5, 6);
    let count = EXAMPLES * graph.edges.len() * 4;
    let features: Vec<f64> = (0..count).map(|_| random.unit() - 0.5).collect();
    let mark = |&(r, c): &(u32, u32)| if r == c { Mark::Sure } else { Mark::None };
    let marks = (0..EXAMPLES).flat_map(|_| graph.edges.iter().map(mark)).collect();
    let graphs = vec![graph.clone(); EXAMPLES];
    Matchings::new(Rows::from_dense(features, 4).unwrap(), &graphs, marks).unwrap()
}

#[test]
fn a_pass_in_the_steady_state_allocates_far_less_than_once_a_step() {
    let boxes = allocations(|| {
        black_box((0..EXAMPLES).map(Box::new).collect::<Vec<_>>());
    });
    assert!(boxes >= EXAMPLES, "the counter is not in place: {boxes}");

    let chains = Small::random(1, Kind::Chain(Hamming::Normalized), EXAMPLES, 6, 9);
    let sequences = chains.sequences();
    let chain = ChainBlocks::new(&sequences, Hamming::Normalized).unwrap();
    let pairs = Small::random(1, Kind::Chain(Hamming::Normalized), EXAMPLES, 6, 9).with_pairs(1, 3);
    let with_pairs = pairs.sequences();
    let with_pairs = ChainBlocks::new(&with_pairs, Hamming::Normalized).unwrap();
    let classes = Small::random(2, Kind::Multiclass(Costs::ZeroOne), EXAMPLES, 8, 1);
    let examples = classes.examples();
    let multiclass = MulticlassBlocks::new(&examples, &Costs::ZeroOne).unwrap();
    let grids = grids();
    let matching = MatchingBlocks::new(&grids, LinkLoss::default()).unwrap();
    let pairwise = Settings { direction: Direction::Pairwise, ..chains.settings() };
    let count = in_a_late_pass(&matching, &pairwise);
    assert!(count < EXAMPLES / 20, "pairwise steps of matchings: {count}");
    for (average, batch) in [(Average::None, 1), (Average::None, 7), (Average::Weighted, 1)] {
        let settings = Settings { average, batch, ..chains.settings() };
        let counts = [
            in_a_late_pass(&chain, &settings),
            in_a_late_pass(&with_pairs, &settings),
            in_a_late_pass(&multiclass, &settings),
            in_a_late_pass(&matching, &settings),
        ];
        assert!(
            counts.iter().all(|&count| count < EXAMPLES / 20),
            "chains without and with pairs, classes and matchings, {average:?}, batch {batch}: {counts:?}"
        );
    }
}
