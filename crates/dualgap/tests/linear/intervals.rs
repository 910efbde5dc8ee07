//! The certified interval contains the optimum, whatever is combined with whatever.

use crate::common::cases;
use crate::linear::case::{Case, LOSSES, REGULARISERS, choices, is_binary};
use dualgap::dual::{Algorithm, Average, Sampling, Settings, Step};
use dualgap::run::Budget;
use dualgap::structure::Choice;
use proptest::prelude::*;

const SAMPLINGS: [Sampling; 3] = [Sampling::Permuted, Sampling::Uniform, Sampling::Cyclic];
const AVERAGES: [Average; 3] = [Average::None, Average::Weighted, Average::Suffix];

fn any_case() -> impl Strategy<Value = Case> {
    let value = prop_oneof![1 => Just(0.0), 6 => -2.0..2.0_f64];
    let rows = prop::collection::vec(prop::collection::vec(value, 2), 1..=6);
    let targets = prop::collection::vec(-3.0..3.0_f64, 6);
    let weights = prop::option::of(prop::collection::vec(0.0..3.0_f64, 6));
    (0..LOSSES.len(), 0..REGULARISERS.len(), rows, targets, weights, -2.0..1.0_f64).prop_map(
        |(loss, regulariser, rows, mut targets, weights, exponent)| {
            let (loss, n) = (LOSSES[loss], rows.len());
            targets.truncate(n);
            if is_binary(loss) {
                targets.iter_mut().for_each(|y| *y = 1_f64.copysign(*y));
            }
            let weights = weights.map(|mut counts| {
                counts.truncate(n);
                counts[0] += 0.5;
                counts
            });
            let regulariser = REGULARISERS[regulariser];
            Case { loss, rows, targets, lambda: 10_f64.powf(exponent), regulariser, weights }
        },
    )
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn every_certified_interval_contains_the_optimum(
        case in any_case(),
        option in any::<prop::sample::Index>(),
        sampling in 0..3_usize,
        average in 0..3_usize,
        batch in 1..=4_usize,
        (fw, predefined) in (prop::bool::weighted(0.2), prop::bool::weighted(0.2)),
        passes in prop_oneof![0..5_u64, Just(40), Just(300)],
        seed in 0..1000_u64,
    ) {
        let options = choices(case.loss);
        let choice = options[option.index(options.len())];
        let settings = Settings {
            sampling: SAMPLINGS[sampling],
            average: AVERAGES[average],
            method: if fw { Algorithm::Fw } else { Algorithm::Bcfw },
            step: if predefined { Step::Predefined } else { Step::LineSearch },
            batch,
            seed,
            ..case.settings()
        };
        let report = case.train(choice, &settings, &Budget::passes(passes));
        let (c, optimum) = (report.certificate, case.optimum());
        let tolerance = 1e-9 * (1.0 + optimum);
        prop_assert!(c.certified && c.rounding_error <= tolerance, "{choice:?} {c:?}");
        prop_assert!(c.dual - c.rounding_error <= optimum + 1e-13, "{choice:?} {c:?} {optimum}");
        prop_assert!(c.primal + c.rounding_error >= optimum - tolerance, "{choice:?} {c:?} {optimum}");
        // The primal value is that of the weights that were returned.
        let own = case.primal(&report.model.weights);
        prop_assert!((own - c.primal).abs() <= c.rounding_error + tolerance * 1e-4, "{own} {c:?}");
    }
}

#[test]
fn some_hundred_passes_bring_every_combination_close() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for regulariser in REGULARISERS {
            let case = Case { regulariser, ..Case::random(k as u64, loss, 6, 2) };
            let scale = case.primal(&[0.0, 0.0]);
            let optimum = case.optimum();
            for choice in choices(loss) {
                for (sampling, average) in
                    SAMPLINGS.into_iter().flat_map(|s| AVERAGES.map(|a| (s, a)))
                {
                    for batch in [1, 4] {
                        let settings = Settings { sampling, average, batch, ..case.settings() };
                        // The steps of the theorem are the shortest, and as slow as it says; exact steps without averages
                        // converge to more than two digits.
                        let near = scale
                            * match (choice, average) {
                                (Choice::IVLipschitz, _) => 0.1,
                                (Choice::I, Average::None) => 1e-4,
                                _ => 0.01,
                            };
                        // A run that is near has shown what it should, and ends.
                        let budget = Budget { absolute: Some(near), ..Budget::passes(500) };
                        let c = case.train(choice, &settings, &budget).certificate;
                        let what =
                            format!("{loss:?} {regulariser:?} {choice:?} {settings:?} {c:?}");
                        assert!(c.gap() <= near, "{what}");
                        assert!(c.primal - optimum <= near, "{what}");
                    }
                }
            }
        }
    }
}
