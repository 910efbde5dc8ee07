//! Runs that were interrupted go on, bit for bit, as if they never had been; and a memory of other bits is refused or
//! does no harm.

use crate::balls::case::{Case, Kind, with_problem};
use crate::balls::exact;
use crate::common::cases;
use dualgap::Result;
use dualgap::ball::{self, BallMethod, BallSettings};
use dualgap::run::{Budget, Checkpoint, CheckpointSink, InMemory, Report, Solution};
use proptest::prelude::*;

/// With and without a centre, by the theorem, and with rows so long that gradients take over.
fn variant(seed: u64, kind: Kind, which: usize) -> (Case, BallSettings) {
    let mut case = Case::random(seed, kind, 14, 6);
    let mut settings = BallSettings { seed, ..BallSettings::default() };
    match which {
        0 => case.mu = 0.0,
        1 => {
            settings.method = BallMethod::Pdbfw;
            settings.constants.delta = Some(0.1);
        }
        2 => {}
        _ => case.rows.iter_mut().flatten().for_each(|x| *x *= 1e4),
    }
    (case, settings)
}

fn run(
    (case, settings): &(Case, BallSettings),
    kept: Option<Checkpoint>,
    passes: u64,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<f64>>> {
    let budget = Budget::passes(passes);
    with_problem!(case, |problem| ball::train_from(
        &problem,
        settings,
        kept,
        &budget,
        &mut (),
        sink
    ))
}

#[test]
fn a_resumed_run_is_bit_for_bit_the_run_that_went_through() {
    for (k, kind) in Kind::all().into_iter().enumerate() {
        for which in 0..4 {
            let variant = variant(k as u64, kind, which);
            let whole = run(&variant, None, 90, None).unwrap();
            let handed = whole.tactics.iter().any(|told| told.contains("handed over"));
            let ended = whole.certificate.relative_gap() < 1e-6;
            assert!(handed || ended || which != 3, "{kind:?} {:?}", whole.certificate);
            let mut kept = None;
            for passes in [1, 2, 5, 9, 16, 35, 41, 70, 90] {
                let mut memory = InMemory::default();
                let report = run(&variant, kept, passes, Some(&mut memory)).unwrap();
                kept = memory.last;
                if passes == 90 {
                    assert_eq!(report.model, whole.model, "{kind:?} {which}");
                    assert_eq!(report.certificate, whole.certificate, "{kind:?} {which}");
                    assert_eq!(report.tactics, whole.tactics, "{kind:?} {which}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn a_memory_of_other_bits_is_refused_or_does_no_harm(
        seed in 0..1000_u64,
        kind in 0..Kind::all().len(),
        which in 0..4_usize,
        passes in prop_oneof![1..12_u64, 30..60_u64],
        flips in prop::collection::vec((0.0..1.0_f64, 0..8_u8), 1..4),
        cut in 0.0..1.0_f64,
    ) {
        let variant = variant(seed, Kind::all()[kind], which);
        let mut memory = InMemory::default();
        run(&variant, None, passes, Some(&mut memory)).unwrap();
        let Checkpoint { run: state, solver: mut bytes } = memory.last.unwrap();
        let at = |solver| Some(Checkpoint { run: state.clone(), solver });
        let part = bytes[..(cut * bytes.len() as f64) as usize].to_vec();
        prop_assert!(run(&variant, at(part), 70, None).is_err(), "cut off");
        for (place, bit) in flips {
            let at = (place * bytes.len() as f64) as usize;
            bytes[at] ^= 1 << bit;
        }
        let Ok(report) = run(&variant, at(bytes), 70, None) else { return Ok(()) };
        let (c, case) = (report.certificate, &variant.0);
        let off = |exact: f64, claimed: f64| (exact - claimed).abs();
        let above = off(exact::primal(case, &report.model.weights).float(), c.primal);
        let below = off(exact::dual(case, &report.model.points).float(), c.dual);
        // Numbers of 32 digits end at 1e250.
        prop_assert!(above + below <= c.rounding_error * 1.001 + 1e-15 || c.primal > 1e250, "{above:e} {below:e} {c:?}");
    }
}
