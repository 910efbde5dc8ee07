//! Pure l1 runs that were interrupted go on, bit for bit, as if they never had been; and a memory of other bits, of
//! theirs or of rounds, is refused or does no harm.

use crate::common::cases;
use crate::linear::accelerated::ill_conditioned;
use crate::linear::case::{Case, LOSSES};
use crate::linear::kept_rounds::run;
use crate::linear::rounding::{dual, primal};
use crate::linear::survival::{Fit, bits};
use dualgap::Result;
use dualgap::dual::{Acceleration, Begin, Settings};
use dualgap::run::{Budget, Checkpoint, CheckpointSink, InMemory, Report, Solution};
use dualgap::structure::{Choice, LinearBlocks, train_pure_l1_from};
use dualgap::term::{Regulariser, ScalarLoss};
use proptest::prelude::*;

fn case(seed: u64, loss: ScalarLoss, free: bool, nonnegative: bool) -> Case {
    let regulariser = Regulariser { l1: 0.02, nonnegative, ..Regulariser::PLAIN };
    let case = Case { lambda: 0.0, regulariser, ..Case::random(seed, loss, 12, 4) };
    if free { case.with_intercept() } else { case }
}

#[test]
fn a_resumed_pure_l1_run_is_bit_for_bit_the_run_that_went_through() {
    let folder = tempfile::tempdir().unwrap();
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for free in [false, true] {
            let case = case(k as u64, loss, free, k % 2 == 1);
            let settings = Settings { batch: 1 + 2 * (k % 2), ..case.settings() };
            let fit = Fit { case: &case, choice: Choice::I, settings: &settings };
            let whole = bits(&fit.run(40, None, None));
            let file = folder.path().join(format!("{k}-{free}"));
            for (resume, passes) in [1, 2, 5, 9, 16, 40].into_iter().enumerate() {
                let from = (resume > 0).then_some(&*file);
                let report = fit.run(passes, Some(&file), from);
                assert!(passes < 40 || bits(&report) == whole, "{loss:?} {free}");
            }
        }
    }
}

fn run_l1(
    case: &Case,
    kept: Option<Checkpoint>,
    passes: u64,
    sink: Option<&mut dyn CheckpointSink>,
) -> Result<Report<Solution<f64>>> {
    let rows = case.sparse_or_dense(false);
    let blocks = LinearBlocks::new(&rows, case.targets.clone(), case.loss, Choice::I).unwrap();
    let (settings, budget) = (case.settings(), Budget::passes(passes));
    train_pure_l1_from(&blocks, &settings, kept, &budget, &mut (), sink)
}

fn assert_true(case: &Case, report: Result<Report<Solution<f64>>>) {
    let Ok(report) = report else { return };
    let c = report.certificate;
    if c.primal > 1e250 {
        return; // numbers of 32 digits end there, too
    }
    let above = (primal(case, &report.model.weights) - c.primal.into()).abs().float();
    let below = (dual(case, &report.model.points) - c.dual.into()).abs().float();
    assert!(above + below <= c.rounding_error, "{above:e} {below:e} {c:?}");
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn a_memory_of_other_bits_is_refused_or_does_no_harm(
        seed in 0..1000_u64,
        loss in 0..LOSSES.len(),
        (free, nonnegative, on) in any::<(bool, bool, bool)>(),
        passes in 1..12_u64,
        flips in prop::collection::vec((0.0..1.0_f64, 0..8_u8), 1..4),
        cut in 0.0..1.0_f64,
    ) {
        let other_bits = |mut bytes: Vec<u8>, flips: &[(f64, u8)]| {
            for &(place, bit) in flips {
                let at = (place * bytes.len() as f64) as usize;
                bytes[at] ^= 1 << bit;
            }
            bytes
        };
        let mut memory = InMemory::default();
        let case = case(seed, LOSSES[loss], free, nonnegative);
        run_l1(&case, None, passes, Some(&mut memory)).unwrap();
        let Checkpoint { run: state, solver: bytes } = memory.last.unwrap();
        let at = |solver| Checkpoint { run: state.clone(), solver };
        let part = bytes[..(cut * bytes.len() as f64) as usize].to_vec();
        prop_assert!(run_l1(&case, Some(at(part)), 20, None).is_err(), "cut off");
        assert_true(&case, run_l1(&case, Some(at(other_bits(bytes, &flips))), 20, None));

        let case = ill_conditioned(seed, LOSSES[loss], 1e-4);
        let case = if free { case.with_intercept() } else { case };
        let acceleration = if on { Acceleration::On } else { Acceleration::Auto };
        let settings = Settings { acceleration, ..case.settings() };
        let mut memory = InMemory::default();
        run(&case, &settings, Begin::Fresh, passes, Some(&mut memory)).unwrap();
        let Checkpoint { run: state, solver: bytes } = memory.last.unwrap();
        let at = |solver| Checkpoint { run: state.clone(), solver };
        let part = bytes[..(cut * bytes.len() as f64) as usize].to_vec();
        prop_assert!(run(&case, &settings, Begin::At(at(part)), 20, None).is_err());
        let begin = Begin::At(at(other_bits(bytes, &flips)));
        assert_true(&case, run(&case, &settings, begin, 20, None));
    }
}
