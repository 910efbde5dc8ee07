//! Steps that take weight from corners never lower the dual value either, with the oracle or without.

use crate::common::{Kind, Small, with_blocks, with_oracle};
use dualgap::dual::{Cache, Direction, Sampling, Settings, Solution};
use dualgap::run::{Budget, Report, Stop};
use dualgap::ssvm::{self, OracleBlocks};
use dualgap::term::Regulariser;

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
    // A certification after every pass.
    let budget = Budget { certify_share: 1000.0, ..Budget::passes(40) };
    for (seed, kind) in Kind::all(3).into_iter().enumerate() {
        for lambda in [0.003, 0.3] {
            let small = Small::random(seed as u64, kind.clone(), 7, 3, 4);
            let small = if seed == 1 { small.with_pairs(1, 2) } else { small };
            let small = Small { lambda, ..small };
            for settings in ways(&small) {
                with_blocks!(small, |blocks| assert_never_falls(
                    &ssvm::train(&blocks, &settings, &budget, &mut ()).unwrap(),
                    &settings
                ));
                with_oracle!(small, |oracle, examples| assert_never_falls(
                    &ssvm::train(
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
