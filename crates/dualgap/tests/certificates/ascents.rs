//! Steps that take weight from corners never lower the dual value either, with the oracle or without.

use crate::common::{Kind, Small, with_blocks, with_oracle};
use dualgap::dual::{self, Cache, Direction, Engine, Mixture, Problem, Sampling, Settings};
use dualgap::run::{Budget, Quota, Report, Solution, Solver, Stop};
use dualgap::structure::{MulticlassBlocks, OracleBlocks};
use dualgap::term::{Costs, L2, Regulariser};

fn assert_never_falls<P>(report: &Report<Solution<P>>, settings: &Settings) {
    assert!(report.history.len() > 1 || report.stop == Stop::Stalled, "{:?}", report.stop);
    for pair in report.history.windows(2) {
        let allowed = pair[0].certificate.rounding_error + pair[1].certificate.rounding_error;
        assert!(pair[1].iterate_dual >= pair[0].iterate_dual - allowed, "{settings:?} {pair:?}");
    }
}

/// Ways without momentum, which may carry the dual point down for a while.
fn ways(small: &Small) -> Vec<Settings> {
    let regularisers = [
        Regulariser::PLAIN,
        Regulariser { l1: 0.02, ..Regulariser::PLAIN },
        Regulariser { nonnegative: true, ..Regulariser::PLAIN },
    ];
    let orders = [
        (1, Sampling::Permuted),
        (7, Sampling::Permuted),
        (7, Sampling::Uniform), // the same block may be in a batch more than once
        (7, Sampling::Gap),
    ];
    let mut ways = Vec::new();
    for direction in [Direction::Away, Direction::Pairwise] {
        for cache in [Cache::Auto, Cache::On, Cache::Off] {
            for regulariser in regularisers {
                for (batch, sampling) in orders {
                    let base = Settings { regulariser, batch, sampling, ..small.settings() };
                    ways.push(Settings { direction, cache, ..base });
                }
            }
        }
    }
    ways
}

#[test]
fn the_dual_value_never_falls_when_weight_is_taken_from_corners() {
    // A certification after every pass; in a dozen of them corners have come and gone.
    let budget = Budget { certify_share: 1000.0, ..Budget::passes(12) };
    for (seed, kind) in Kind::all(3).into_iter().enumerate() {
        for lambda in [0.003, 0.3] {
            let small = Small::random(seed as u64, kind.clone(), 7, 3, 4);
            let small = if seed == 1 { small.with_pairs(1, 2) } else { small };
            let small = Small { lambda, ..small };
            for settings in ways(&small) {
                with_blocks!(small, |blocks| assert_never_falls(
                    &dual::train(&blocks, &settings, &budget, &mut ()).unwrap(),
                    &settings
                ));
                with_oracle!(small, |oracle, examples| assert_never_falls(
                    &dual::train(
                        &OracleBlocks::new(&oracle, &examples).unwrap(),
                        &settings,
                        &budget,
                        &mut ()
                    )
                    .unwrap(),
                    &settings
                ));
            }
        }
    }
}

// Rounding has left a little less than one on the only corner of the second example. The first example's step makes that
// corner a bad one before its turn comes, and what is missing is nothing that weight could be moved to.
#[test]
fn the_only_corner_of_a_point_keeps_its_weight() {
    let small = Small {
        kind: Kind::Multiclass(Costs::ZeroOne),
        labels: 2,
        inputs: vec![vec![vec![0.5]], vec![vec![2.0]]],
        edges: Vec::new(),
        truths: vec![vec![0], vec![0]],
        sparse: false,
        weights: Some(vec![16.0, 1.0]),
        lambda: 10.0 / 17.0,
    };
    let data = small.examples();
    let blocks = MulticlassBlocks::new(&data, &Costs::ZeroOne).unwrap();
    let problem = Problem::new(&blocks, L2, small.lambda, small.weights.as_deref()).unwrap();
    let nearly = Mixture::from_entries(vec![(1, 1.0 - 1e-10)]).unwrap();
    let points = vec![Mixture::corner(&[0]), nearly];
    let settings = Settings {
        direction: Direction::Away,
        sampling: Sampling::Cyclic,
        batch: 2,
        ..small.settings()
    };
    let mut engine = Engine::at(problem, &settings, points).unwrap();
    let quota = Quota { oracle_calls: 2, steps: 2, pause: u64::MAX, halted: &|| false };
    engine.advance(&quota).unwrap();
    for point in engine.points() {
        let total: f64 = point.iter().map(|(_, weight)| weight).sum();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
    }
}
