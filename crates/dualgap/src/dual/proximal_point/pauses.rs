//! Tests that rounds which pause, are stored in a checkpoint and resume at any moment equal uninterrupted rounds bit
//! for bit.

use super::rounds::Memory;
use super::*;
use crate::data::{Examples, Sequences};
use crate::dual::{Acceleration, Cache, Direction, Sampling, Witnessed};
use crate::linalg::Random;
use crate::structure::{
    ChainBlocks, Choice, Hamming, LinearBlocks, MulticlassBlocks, MulticlassOracle as Classes,
    OracleBlocks,
};
use crate::term::{Costs, L2, ScalarLoss};
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Certifications of a run, and the passes from one to the next.
const CERTIFICATIONS: u64 = 8;
const PASSES_EACH: u64 = 4;

/// The state of a run at each of its certifications, as bits; and the κ and the passes of its rounds at each of them.
type Trace = (Vec<Vec<u64>>, Vec<(u64, u64)>);

/// Runs rounds without a pause between two certifications; with `trouble`, at random pauses, halts and resumes.
fn trace<B: Blocks>(
    blocks: &B,
    settings: &Settings,
    bits_of: impl Fn(&B::Point) -> Vec<u64>,
    mut trouble: Option<Random>,
) -> Trace {
    let momentum = momentum(blocks, settings);
    let mut rounds = InRounds::start(blocks, &L2, momentum, settings, None).unwrap();
    let pass = rounds.calls_per_pass();
    let (mut seen, mut fitted) = (Vec::new(), Vec::new());
    let mut calls = 0;
    for certification in 1..=CERTIFICATIONS {
        let target = certification * PASSES_EACH * pass;
        while calls < target {
            let (pause, looks) = match &mut trouble {
                None => (u64::MAX, usize::MAX),
                Some(random) => (1 + random.below(2 * pass as usize) as u64, random.below(300)),
            };
            let left = AtomicUsize::new(looks);
            let less =
                |left: usize| if left == usize::MAX { Some(left) } else { left.checked_sub(1) };
            let halted = || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err();
            let quota =
                Quota { oracle_calls: target - calls, steps: u64::MAX, pause, halted: &halted };
            calls += rounds.advance(&quota).unwrap().oracle_calls;
            if trouble.as_mut().is_some_and(|random| random.below(2) == 0) {
                let state = rounds.state();
                rounds = InRounds::resume(blocks, &L2, momentum, settings, state).unwrap();
            }
        }
        let foreseen = rounds.expected().map_or(0, |expected| expected.gap.to_bits());
        let Certified { model, iterate } = rounds.certify().unwrap();
        let (centred, memory) = (&rounds.centred, &rounds.rule.memory);
        let (kappa, &Memory { passes, left, calls, gained, .. }) = (centred.kappa, memory);
        let values = [model.primal, model.dual, iterate.primal, iterate.dual, kappa, gained];
        let mut bits: Vec<u64> = [foreseen].into_iter().chain(values.map(f64::to_bits)).collect();
        bits.extend([passes, left, calls]);
        bits.extend(centred.engine.weights().iter().chain(rounds.weights()).map(|x| x.to_bits()));
        bits.extend(centred.engine.points().iter().flat_map(&bits_of));
        bits.extend(centred.best.points().unwrap().iter().flat_map(&bits_of));
        seen.push(bits);
        fitted.push((kappa.to_bits(), passes));
    }
    (seen, fitted)
}

/// Compares an uninterrupted run with one that pauses; returns whether κ or the passes of a round changed on the way.
fn compare<B: Blocks>(
    blocks: &B,
    settings: &Settings,
    bits_of: impl Fn(&B::Point) -> Vec<u64>,
    seed: u64,
) -> bool {
    let (through, mut fitted) = trace(blocks, settings, &bits_of, None);
    let (paused, _) = trace(blocks, settings, &bits_of, Some(Random::new(seed)));
    for (k, (through, paused)) in through.iter().zip(&paused).enumerate() {
        assert!(through == paused, "certification {k}: another run under {settings:?}");
    }
    fitted.dedup();
    fitted.len() > 1
}

/// Rows of `classes` overlapping classes, and their labels.
fn rows(n: usize, classes: usize) -> (Vec<Vec<f64>>, Vec<usize>) {
    let mut random = Random::new(3);
    let labels: Vec<usize> = (0..n).map(|i| i % classes).collect();
    let row = |&y: &usize| {
        let told = |j: usize| if j % classes == y { 0.4 } else { 0.0 };
        (0..6).map(|j| told(j) + 2.0 * random.unit() - 1.0).collect()
    };
    (labels.iter().map(row).collect(), labels)
}

fn entries<B: Witnessed>(blocks: &B) -> impl Fn(&B::Point) -> Vec<u64> + '_ {
    |at| {
        let entries = blocks.entries(at, &mut Vec::new()).into_iter();
        entries.flat_map(|(key, weight)| [key, weight.to_bits()]).collect()
    }
}

/// Compares runs of every structure, users' oracles included, under the same settings; returns how many changed κ or
/// the passes.
fn all_structures(settings: &Settings, seed: u64) -> usize {
    let (inputs, labels) = rows(24, 3);
    let names: Vec<&str> = labels.iter().map(|&y| ["a", "b", "c"][y]).collect();
    let data = Examples::from_dense(&inputs, &names).unwrap();
    let multiclass = MulticlassBlocks::new(&data, &Costs::ZeroOne).unwrap();

    let lengths = [1_usize, 4, 2, 3, 5, 3, 2, 4];
    let mut ends = lengths.iter().scan(0, |end, length| {
        *end += length;
        Some(*end - length..*end)
    });
    let parts: Vec<_> = ends.by_ref().collect();
    let words: Vec<_> = parts.iter().map(|part| inputs[part.clone()].to_vec()).collect();
    let tags: Vec<Vec<u16>> =
        parts.iter().map(|part| labels[part.clone()].iter().map(|&y| y as u16).collect()).collect();
    let names = ["a", "b", "c"].map(String::from);
    let sequences = Sequences::from_dense(&words, &tags, &names).unwrap();
    let chain = ChainBlocks::new(&sequences, Hamming::Normalized).unwrap();

    let oracle = Classes::new(6, 3, &Costs::ZeroOne).unwrap();
    let labels = data.classes().unwrap().numbers();
    let examples: Vec<_> = (0..24).map(|i| (data.rows().row(i), labels[i])).collect();
    let own = OracleBlocks::new(&oracle, &examples).unwrap();
    let corners = |at: &<OracleBlocks<'_, Classes<'_>> as Blocks>::Point| -> Vec<u64> {
        let corners = at.corners.iter();
        corners.flat_map(|(plane, x)| [u64::from(*plane.output()), x.to_bits()]).collect()
    };
    [
        compare(&multiclass, settings, entries(&multiclass), seed),
        compare(&chain, settings, entries(&chain), seed),
        compare(&own, settings, corners, seed),
    ]
    .into_iter()
    .filter(|&changed| changed)
    .count()
}

fn samplings() -> impl Strategy<Value = Sampling> {
    prop_oneof![
        3 => Just(Sampling::Permuted),
        1 => Just(Sampling::Cyclic),
        1 => Just(Sampling::Uniform),
        1 => Just(Sampling::Gap),
        1 => Just(Sampling::Chunked),
    ]
}

fn accelerations() -> impl Strategy<Value = Acceleration> {
    prop_oneof![3 => Just(Acceleration::On), 1 => Just(Acceleration::Auto)]
}

/// Random settings of the rounds, except for direction and cache, and a seed for the pauses.
fn ways() -> impl Strategy<Value = (Settings, u64)> {
    let numbers = (-4.0..-1.0_f64, 1..=5_usize, 0..100_u64, 0..1000_u64);
    (numbers, samplings(), accelerations(), any::<bool>()).prop_map(
        |((exponent, batch, seed, trouble), sampling, acceleration, shrinking)| {
            let lambda = 10_f64.powf(exponent);
            let base = Settings { lambda, batch, threads: 1, seed, ..Settings::plain() };
            (Settings { sampling, shrinking, acceleration, ..base }, trouble)
        },
    )
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn structures_do_not_notice_pauses(
        (settings, trouble) in ways(),
        direction in prop_oneof![Just(Direction::Toward), Just(Direction::Away), Just(Direction::Pairwise)],
        cache in prop_oneof![Just(Cache::On), Just(Cache::Auto), Just(Cache::Off)],
    ) {
        all_structures(&Settings { direction, cache, ..settings }, trouble);
    }

    #[test]
    fn linear_models_do_not_notice_pauses((settings, trouble) in ways(), smooth in any::<bool>()) {
        let (inputs, labels) = rows(40, 2);
        let rows = crate::linalg::Rows::dense(&inputs).unwrap();
        let targets = labels.iter().map(|&y| if y == 0 { 1.0 } else { -1.0 }).collect();
        let loss = if smooth { ScalarLoss::Logistic } else { ScalarLoss::Hinge };
        let blocks = LinearBlocks::new(&rows, targets, loss, Choice::I).unwrap();
        let lambda = 0.01 * settings.lambda;
        // Logistic loss is accelerated only where the condition number asks for it.
        prop_assume!(momentum(&blocks, &Settings { lambda, ..settings.clone() }).is_some());
        compare(&blocks, &Settings { lambda, ..settings }, entries(&blocks), trouble);
    }
}

// If κ or the passes of a round change, the middle of the next round moves; a pause there once changed the run.
#[test]
fn every_direction_with_cached_outputs_and_fitted_rounds_does_not_notice_pauses() {
    let mut changed = 0;
    for direction in [Direction::Toward, Direction::Away, Direction::Pairwise] {
        for (batch, lambda) in [(1, 1e-2), (3, 1e-3), (1, 3e-4)] {
            let base = Settings { lambda, batch, threads: 1, ..Settings::default() };
            let acceleration = Acceleration::On;
            let settings = Settings { direction, cache: Cache::On, acceleration, ..base };
            changed += all_structures(&settings, 7);
        }
    }
    assert!(changed >= 20, "{changed} of 27 runs had their rounds fitted");
}

// What visits have seen of the gap decides when the loop certifies.
#[test]
fn what_is_foreseen_does_not_notice_pauses() {
    let (inputs, labels) = rows(40, 2);
    let rows = crate::linalg::Rows::dense(&inputs).unwrap();
    let targets: Vec<f64> = labels.iter().map(|&y| if y == 0 { 1.0 } else { -1.0 }).collect();
    for loss in [ScalarLoss::Logistic, ScalarLoss::SquaredHinge, ScalarLoss::Hinge] {
        let blocks = LinearBlocks::new(&rows, targets.clone(), loss, Choice::I).unwrap();
        let settings = Settings { lambda: 3e-3, threads: 1, ..Settings::default() };
        compare(&blocks, &settings, entries(&blocks), 5);
        let (through, _) = trace(&blocks, &settings, entries(&blocks), None);
        assert!(through.iter().any(|bits| bits[0] != 0), "{loss:?}: nothing is foreseen");
    }
}

// Lanes are as long as earlier ones have paid for, which a checkpoint has to know.
#[test]
fn lanes_do_not_notice_pauses() {
    let (inputs, labels) = rows(1200, 3);
    let words: Vec<_> = inputs.chunks(2).map(<[_]>::to_vec).collect();
    let tags: Vec<Vec<u16>> =
        labels.chunks(2).map(|tags| tags.iter().map(|&y| y as u16).collect()).collect();
    let names = ["a", "b", "c"].map(String::from);
    let sequences = Sequences::from_dense(&words, &tags, &names).unwrap();
    let blocks = ChainBlocks::new(&sequences, Hamming::Normalized).unwrap();
    for (threads, lambda, cache) in [(1, 1e-2, Cache::Auto), (2, 1e-3, Cache::On)] {
        let acceleration = Acceleration::On;
        let base = Settings { lambda, cache, acceleration, threads, ..Settings::default() };
        compare(&blocks, &Settings { lanes: true, ..base }, entries(&blocks), 11);
    }
}
