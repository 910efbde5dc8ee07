//! Structural blocks and several scores in accelerated rounds: certificates are what numbers of 32 digits say over all
//! outputs, intervals meet those of plain steps, and what was interrupted goes on bit for bit.

use crate::common::{Kind, Small, cases, small, with_blocks};
use crate::linear::accelerated::assert_meet;
use dualgap::dual::{Acceleration, Begin, Mixture, Sampling, Settings, train_from};
use dualgap::run::{Budget, CheckpointSink, InMemory, Report, Solution};
use proptest::prelude::*;

fn run(
    small: &Small,
    settings: &Settings,
    begin: Begin<Mixture>,
    budget: &Budget,
    sink: Option<&mut dyn CheckpointSink>,
) -> Report<Solution<Mixture>> {
    with_blocks!(small, |blocks| {
        train_from(&blocks, settings, begin, budget, &mut (), sink).unwrap()
    })
}

fn accelerated(small: &Small) -> Settings {
    Settings { acceleration: Acceleration::On, ..small.settings() }
}

/// Everything but the seconds, as bits.
fn bits(report: &Report<Solution<Mixture>>) -> Vec<u64> {
    let c = report.certificate;
    let points = report.model.points.iter().flat_map(Mixture::iter);
    [c.primal, c.dual, c.rounding_error, report.passes]
        .into_iter()
        .chain(report.model.weights.iter().copied())
        .chain(points.map(|(_, weight)| weight))
        .chain(report.history.iter().flat_map(|at| [at.iterate_primal, at.iterate_dual]))
        .map(f64::to_bits)
        .collect()
}

#[test]
fn structures_have_the_same_optimum_in_rounds_and_in_plain_steps() {
    for (k, kind) in Kind::all(3).into_iter().enumerate() {
        for lambda in [0.1, 1e-2, 1e-3] {
            let small = Small { lambda, ..Small::random(k as u64, kind.clone(), 20, 3, 3) };
            let budget = Budget { passes: Some(400), ..Budget::relative(1e-3) };
            let rounds = run(&small, &accelerated(&small), Begin::Fresh, &budget, None);
            let plain = run(&small, &small.settings(), Begin::Fresh, &budget, None);
            assert_meet(rounds.certificate, plain.certificate, &format!("{kind:?} {lambda}"));
            let gap = rounds.certificate.relative_gap();
            assert!(gap < 0.05, "{kind:?} {lambda}: {gap} after {}", rounds.passes);
        }
    }
}

#[test]
fn structures_in_rounds_go_on_bit_for_bit() {
    for (k, kind) in Kind::all(3).into_iter().enumerate() {
        for (batch, sampling) in
            [(1, Sampling::Permuted), (4, Sampling::Cyclic), (3, Sampling::Uniform)]
        {
            let small = Small { lambda: 1e-2, ..Small::random(k as u64, kind.clone(), 15, 3, 3) };
            let settings = Settings { batch, sampling, ..accelerated(&small) };
            let whole = run(&small, &settings, Begin::Fresh, &Budget::passes(30), None);
            let mut begin = Begin::Fresh;
            for passes in [1, 3, 8, 17] {
                let mut memory = InMemory::default();
                run(&small, &settings, begin, &Budget::passes(passes), Some(&mut memory));
                begin = Begin::At(memory.last.unwrap());
            }
            let resumed = run(&small, &settings, begin, &Budget::passes(30), None);
            assert_eq!(bits(&resumed), bits(&whole), "{kind:?} {batch} {sampling:?}");
        }
    }
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn certificates_of_rounds_hold_over_all_outputs(
        small in small(),
        batch in 1..4_usize,
        sampling in 0..3_usize,
        shrinking in any::<bool>(),
        passes in 0..60_u64,
    ) {
        let sampling = [Sampling::Permuted, Sampling::Uniform, Sampling::Cyclic][sampling];
        let settings = Settings { batch, sampling, shrinking, ..accelerated(&small) };
        let report = run(&small, &settings, Begin::Fresh, &Budget::passes(passes), None);
        let (c, problem) = (report.certificate, small.explicit());
        let above = (problem.primal(&report.model.weights) - c.primal.into()).abs().float();
        let below = problem.dual(&small.distributions(&report.model.points)) - c.dual.into();
        let below = below.abs().float();
        prop_assert!(above + below <= c.rounding_error, "{above:e} {below:e} {c:?}");
    }
}
