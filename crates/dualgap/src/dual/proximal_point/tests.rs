//! Tests the counted gains, by which κ adapts, against the dual value itself; and where κ converges.

use super::adapt::PASSES;
use super::*;
use crate::data::Examples;
use crate::dual::{Acceleration, Cache, Direction, Settings};
use crate::linalg::{Random, Rows};
use crate::structure::{Choice, LinearBlocks, MulticlassBlocks};
use crate::term::{Costs, L2, ScalarLoss};

/// Two overlapping classes, with one direction far weaker than the others.
fn rows(n: usize, noise: f64) -> (Rows, Vec<f64>) {
    let mut random = Random::new(7);
    let mut targets = Vec::new();
    let rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let y = if i % 2 == 0 { 1.0 } else { -1.0 };
            targets.push(y);
            (0..60)
                .map(|j| {
                    0.3 * y / f64::from(1 << j.min(6))
                        + noise * (random.unit() - 0.5) / f64::from(1 + j / 8)
                })
                .collect()
        })
        .collect();
    (Rows::dense(&rows).unwrap(), targets)
}

fn everything(steps: u64) -> Quota<'static> {
    Quota { oracle_calls: u64::MAX, steps, pause: u64::MAX, halted: &|| false }
}

/// Takes a few steps, and compares their counted gains with the rise of the dual value computed from scratch.
fn check_gains<B: Blocks>(blocks: &B, settings: &Settings) {
    let problem = || Problem::new(blocks, L2, settings.lambda, None).unwrap();
    let value = |points: &[B::Point]| problem().dual(points).unwrap().value.value;
    let mut engine = Engine::new(problem(), settings).unwrap();
    engine.count_gains();
    for _ in 0..5 {
        let before = value(engine.points());
        engine.count_onto(0.0);
        engine.advance(&everything(30)).unwrap();
        let (gained, rose) = (engine.gained(), value(engine.points()) - before);
        assert!((gained - rose).abs() < 1e-12, "{gained} counted, {rose} gained");
        assert!(rose > 0.0, "nothing was to be gained");
    }
}

#[test]
fn counted_gains_are_what_the_dual_rose_by() {
    let (rows, targets) = rows(60, 1.0);
    let names: Vec<&str> = (0..60).map(|i| ["a", "b", "c"][i % 3]).collect();
    let dense = |i: usize| rows.row(i).iter().map(|(_, x)| x).collect();
    let data = Examples::from_dense(&(0..60).map(dense).collect::<Vec<_>>(), &names).unwrap();
    let classes = MulticlassBlocks::new(&data, &Costs::ZeroOne).unwrap();
    let linear = LinearBlocks::new(&rows, targets, ScalarLoss::Hinge, Choice::I).unwrap();
    for batch in [1, 4] {
        let plain = Settings { lambda: 0.01, batch, ..Settings::plain() };
        check_gains(&linear, &plain);
        check_gains(&classes, &plain);
        check_gains(&classes, &Settings { direction: Direction::Away, ..plain.clone() });
        let pairwise = Settings { direction: Direction::Pairwise, ..plain };
        check_gains(&classes, &pairwise);
        check_gains(&classes, &Settings { cache: Cache::On, ..pairwise });
    }
}

/// Returns the means of λ'/λ and of the passes of a round over the second half of a run that starts at λ'/λ = `begin`.
fn at_rest(lambda: f64, begin: f64) -> (f64, f64) {
    let (rows, targets) = rows(300, 3.0);
    let blocks = LinearBlocks::new(&rows, targets, ScalarLoss::Hinge, Choice::I).unwrap();
    let settings = Settings { lambda, acceleration: Acceleration::On, ..Settings::plain() };
    let momentum = momentum(&blocks, &settings).unwrap();
    let momentum = Momentum { kappa: (begin - 1.0) * lambda, ..momentum };
    let mut rounds = InRounds::start(&blocks, &L2, Some(momentum), &settings, None).unwrap();
    rounds.advance(&everything(40 * 300)).unwrap();
    let (mut logs, mut passes) = (0.0, 0.0);
    for _ in 0..40 {
        rounds.advance(&everything(300)).unwrap();
        logs += (1.0 + rounds.centred.kappa / lambda).ln() / 40.0;
        passes += rounds.rule.memory.passes as f64 / 40.0;
    }
    (logs.exp(), passes)
}

#[test]
fn kappa_comes_to_rest_wherever_it_begins_and_higher_where_less_is_penalised() {
    let mut below = 0.0;
    for lambda in [1e-2, 1e-4, 1e-7] {
        let ends = [4.0, 64.0, 1024.0].map(|begin| at_rest(lambda, begin).0);
        let least = ends.into_iter().fold(f64::MAX, f64::min);
        let most = ends.into_iter().fold(0.0, f64::max);
        assert!(most < 8.0 * least, "λ = {lambda}: {ends:?}");
        assert!(least > below, "λ = {lambda}: {ends:?}, and {below} with a stronger λ");
        below = most;
    }
}

#[test]
fn rounds_are_shorter_or_longer_where_kappa_has_come_to_its_end() {
    let passes = |lambda| [4.0, 1024.0].map(|begin| at_rest(lambda, begin).1);
    assert!(passes(1e-2).iter().all(|&passes| passes < PASSES as f64), "{:?}", passes(1e-2));
    assert!(passes(1e-9).iter().all(|&passes| passes > PASSES as f64), "{:?}", passes(1e-9));
}
