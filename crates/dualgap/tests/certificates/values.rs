//! Every certificate is true: its two values are those of the weights and the dual point that are
//! returned, and the optimum lies between them. All outputs are looked at, to 32 digits, and the
//! optimum is bracketed by a solver that shares nothing with ours.

use crate::common::quadratic::optimum;
use crate::common::wide::Wide;
use crate::common::{Kind, Small, calls, cases, distance, generic, of, small, ways, with_blocks};
use dualgap::dual::{Algorithm, Problem, Settings, Witness};
use dualgap::run::{Budget, Certificate, Stop};
use dualgap::term::L2;
use proptest::prelude::*;

// A tolerance that the computed gap meets to the last bit is not met: the exact gap may be larger by
// the rounding error.
#[test]
fn the_rounding_error_counts_against_the_tolerance() {
    for kind in Kind::all(3) {
        let small = Small::random(1, kind, 8, 3, 3);
        let run = |absolute: Option<f64>| {
            let budget = Budget { absolute, ..Budget::passes(4) };
            small.train(&small.settings(), &budget)
        };
        let c = run(None).certificate;
        assert!(c.rounding_error > 0.0);
        assert_eq!(run(Some(c.gap())).stop, Stop::PassLimit);
        assert_eq!(run(Some(c.gap() + 2.0 * c.rounding_error)).stop, Stop::GapReached);
    }
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn the_optimum_lies_between_both_sides_of_every_certificate(small in small(), way in ways()) {
        let report = small.train(&of(&way, &small), &Budget::passes(40));
        let bracket = optimum(&small.explicit());
        prop_assert!(bracket.is_within(1e-6), "{bracket:?}");
        // A certification after every fourth pass, unless the gap is down to rounding before.
        let ended = (report.stop, report.history.len());
        prop_assert!(matches!(ended, (Stop::PassLimit, 10) | (Stop::Stalled, 1..=10)), "{ended:?}");
        let mut before: Option<Certificate> = None;
        for at in &report.history {
            let c = at.certificate;
            prop_assert!(c.certified && c.rounding_error < 1e-9 * c.primal.abs().max(1.0));
            prop_assert!(c.dual - c.rounding_error <= bracket.upper, "{c:?} {bracket:?}");
            prop_assert!(c.primal + c.rounding_error >= bracket.lower, "{c:?} {bracket:?}");
            prop_assert_eq!(at.gap, Some(c.primal - c.dual));
            // What the iterate itself has is no better than what the run would return.
            prop_assert!(at.iterate_dual <= c.dual + c.rounding_error);
            prop_assert!(at.iterate_primal >= c.primal - c.rounding_error);
            prop_assert!(at.iterate_dual - c.rounding_error <= bracket.upper);
            prop_assert!(at.iterate_primal + c.rounding_error >= bracket.lower);
            // The best of each side is kept.
            if let Some(before) = before {
                prop_assert!(c.primal <= before.primal + c.rounding_error);
                prop_assert!(c.dual >= before.dual - c.rounding_error);
            }
            before = Some(c);
        }
        prop_assert_eq!(report.certificate, before.unwrap());
    }

    // The same with our own solver as the judge, whose certificates the test above has judged.
    #[test]
    fn a_much_longer_run_stays_within_the_interval_of_a_shorter_one(small in generic(), way in ways()) {
        let budget = Budget { passes: Some(2000), ..Budget::relative(1e-7) };
        let long = small.train(&small.settings(), &budget).certificate;
        let short = small.train(&of(&way, &small), &Budget::passes(8)).certificate;
        let error = long.rounding_error + short.rounding_error;
        prop_assert!(short.dual <= long.primal + error && long.dual <= short.primal + error);
        prop_assert!(long.gap() <= short.gap().max(0.01 * long.primal) + error);
    }

    #[test]
    fn the_primal_value_is_that_of_exactly_the_weights_returned(small in small(), way in ways()) {
        let report = small.train(&of(&way, &small), &Budget::passes(9));
        let c = report.certificate;
        let exact = small.explicit().primal(&report.model.weights);
        let off = (exact - Wide::from(c.primal)).abs().float();
        prop_assert!(off <= c.rounding_error, "{off:e} {c:?}");
    }

    // The points are made distributions over outputs, which are feasible whatever the points were.
    #[test]
    fn the_dual_value_is_that_of_the_witness_returned(small in small(), way in ways()) {
        let report = small.train(&of(&way, &small), &Budget::passes(9));
        let c = report.certificate;
        let stored = with_blocks!(small, |blocks| {
            let witness = Witness::of(&blocks, &report.model.points);
            let points = witness.points(&blocks).unwrap();
            let problem = Problem::new(&blocks, L2, small.lambda, small.weights.as_deref()).unwrap();
            let dual = problem.dual(&points).unwrap().value;
            prop_assert!((dual.value - c.dual).abs() <= dual.error + c.rounding_error);
            points
        });
        let exact = small.explicit().dual(&small.distributions(&stored));
        let off = (exact - Wide::from(c.dual)).abs().float();
        prop_assert!(off <= c.rounding_error, "{off:e} {c:?}");
    }

    // Without averaging w = Aα, and then P − D is the mass-weighted sum of the block gaps.
    #[test]
    fn the_gap_of_an_iterate_is_the_sum_of_its_block_gaps(
        small in small(),
        fw in any::<bool>(),
        k in 1_u64..40,
    ) {
        let method = if fw { Algorithm::Fw } else { Algorithm::Bcfw };
        let report = small.train(&Settings { method, ..small.settings() }, &calls(k));
        let (problem, w) = (small.explicit(), &report.model.weights);
        let alpha = small.distributions(&report.model.points);
        let image: Vec<f64> = problem.image(&alpha).iter().map(|v| v.float()).collect();
        let apart = distance(&image, w);
        prop_assert!(apart < 1e-14 / small.lambda, "{apart:e}"); // v is a sum over λ
        let gaps: Wide = (0..small.len())
            .map(|i| problem.masses[i] * problem.block_gap(i, &alpha[i], w))
            .sum();
        let c = report.certificate;
        let off = (gaps - Wide::from(c.primal) + Wide::from(c.dual)).abs().float();
        prop_assert!(off <= c.rounding_error + 1e-12 * c.primal.abs().max(1.0), "{off:e} {c:?}");
    }

    // A tolerance is met by the gap with its rounding, in the units that the user gave it in.
    #[test]
    fn a_gap_that_is_called_reached_is_within_the_tolerance(small in small(), exponent in -3.0..0.0_f64) {
        let tolerance = 10_f64.powf(exponent);
        for relative in [true, false] {
            let reach = if relative {
                Budget::relative(tolerance)
            } else {
                Budget { relative: None, absolute: Some(tolerance), ..Budget::relative(0.0) }
            };
            let report = small.train(&small.settings(), &Budget { passes: Some(500), ..reach });
            let c = report.certificate;
            let allowed = if relative { tolerance * c.primal.abs() } else { tolerance };
            let within = c.primal - c.dual + c.rounding_error <= allowed;
            prop_assert_eq!(report.stop == Stop::GapReached, within, "{:?}", report.stop);
            if within {
                let bracket = optimum(&small.explicit());
                let excess = small.explicit().primal(&report.model.weights).float() - bracket.upper;
                prop_assert!(excess <= allowed);
            }
        }
    }
}
