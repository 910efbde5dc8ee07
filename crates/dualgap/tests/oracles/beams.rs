//! Beam search on chains: its bounds hold, a beam that drops nothing is Viterbi's algorithm, and a run without bounds is
//! called uncertified wherever it is spoken of.

use crate::common::quadratic::optimum;
use crate::common::{Kind, MOST_WEIGHTS, Small, cases, small};
use dualgap::dual::{self, PrimalValue, Problem, Settings};
use dualgap::run::{Basis, Budget, Stop};
use dualgap::structure::{Beam, Chain, ChainBlocks, Hamming, Rescaling};
use dualgap::task::{DualEvidence, Model, Plan, RawModel, Task};
use dualgap::term::{L2, Penalty};
use proptest::prelude::*;

fn chains(seed: u64) -> Small {
    Small::random(seed, Kind::Chain(Hamming::Normalized), 8, 4, 4)
}

fn primal(small: &Small, beam: Beam, w: &[f64]) -> PrimalValue {
    let data = small.sequences();
    let Kind::Chain(hamming) = small.kind else { panic!("no chain") };
    let blocks = ChainBlocks::new(&data, hamming).unwrap().with_beam(beam).unwrap();
    let weights = small.weights.as_deref();
    Problem::new(&blocks, L2, small.lambda, weights).unwrap().primal(w).unwrap()
}

proptest! {
    #![proptest_config(cases(200))]

    // All labelings in numbers of 32 digits.
    #[test]
    fn the_primal_value_of_a_beam_is_never_below_the_exact_one(
        small in small().prop_filter("chains", |small| matches!(small.kind, Kind::Chain(_))),
        w in prop::collection::vec(-3.0..3.0_f64, MOST_WEIGHTS),
        width in 1_usize..4,
    ) {
        let w = &w[..small.dim()];
        let exact = small.explicit().primal(w).float();
        let bounded = primal(&small, Beam { width, bound: true }, w);
        prop_assert!(bounded.certified);
        prop_assert!(bounded.value.value + bounded.value.error >= exact, "{bounded:?} {exact}");
        let found = primal(&small, Beam { width, bound: false }, w);
        prop_assert!(found.value.value - found.value.error <= exact, "{found:?} {exact}");
        let wide = width >= small.labels;
        prop_assert_eq!((found.certified, bounded.basis == Basis::Exact), (wide, wide));
        prop_assert!(!wide || (bounded.value.value - exact).abs() <= bounded.value.error);
    }
}

#[test]
fn a_beam_as_wide_as_the_labels_is_viterbi_s_algorithm() {
    for seed in 0..3 {
        let small = if seed == 2 { chains(seed).with_pairs(1, 2) } else { chains(seed) };
        let data = small.sequences();
        let fit = |beam| {
            let task = Task::new(Chain::default().searched(beam), Penalty::ridge(0.05));
            task.fit(&data, Plan { threads: 1, ..Plan::new(Budget::passes(9)) }).unwrap()
        };
        let exact = fit(None);
        for bound in [false, true] {
            for width in [4, 100] {
                let beam = fit(Some(Beam { width, bound }));
                assert_eq!(beam.model.weights, exact.model.weights);
                assert_eq!(beam.certificate, exact.certificate);
            }
        }
    }
}

#[test]
fn runs_with_beams_bracket_the_optimum_and_wider_ones_more_narrowly() {
    let small = Small { lambda: 0.05, ..chains(3) };
    let data = small.sequences();
    let bracket = optimum(&small.explicit());
    let mut gaps = Vec::new();
    for width in 1..=4 {
        let blocks = ChainBlocks::new(&data, Hamming::Normalized).unwrap();
        let blocks = blocks.with_beam(Beam { width, bound: true }).unwrap();
        let settings = Settings { lambda: 0.05, threads: 1, ..Settings::default() };
        let budget = Budget { passes: Some(300), ..Budget::relative(1e-4) };
        let c = dual::train(&blocks, &settings, &budget, &mut ()).unwrap().certificate;
        assert!(c.certified && c.dual - c.rounding_error <= bracket.upper, "{c:?} {bracket:?}");
        assert!(c.primal + c.rounding_error >= bracket.lower, "{c:?} {bracket:?}");
        gaps.push(c.gap());
    }
    assert!(gaps[3] < gaps[0] && gaps[2] <= gaps[0] + 1e-12, "{gaps:?}");
}

#[test]
fn a_model_of_a_beam_says_what_it_rests_on() {
    let data = chains(4).sequences();
    for bound in [true, false] {
        let beam = Beam { width: 2, bound };
        let task = Task::new(Chain::default().searched(Some(beam)), Penalty::ridge(0.05));
        let report = task
            .fit(&data, Plan::new(Budget { passes: Some(20), ..Budget::relative(1e-9) }))
            .unwrap();
        assert_ne!(report.stop, Stop::GapReached);
        let bytes = report.model.to_bytes().unwrap();
        let raw = RawModel::from_bytes(bytes.clone()).unwrap();
        assert_eq!(raw.certificate().certified, bound);
        assert_eq!(raw.task()["structure"]["beam"]["width"], 2);
        let model = Model::<Chain>::from_bytes(&bytes).unwrap();
        let verified = model.certify(&data).unwrap();
        assert_eq!(
            (verified.certificate.certified, verified.evidence),
            (bound, DualEvidence::Witness)
        );
        assert_eq!(verified.certificate.basis, if bound { Basis::Bounds } else { Basis::Exact });
        assert_eq!(model.describe(Some(&data)).json["beam"]["bound"], bound);
        let mut forged = model.clone();
        forged.certificate.certified = !bound;
        assert!(forged.certify(&data).is_err());
        let mut forged = model;
        forged.task.structure.beam = None;
        assert!(forged.certify(&data).is_err(), "it does not rest on Viterbi's algorithm");
    }
}

#[test]
fn beams_that_make_no_sense_are_refused() {
    let data = chains(5).sequences();
    let fit = |structure: Chain| {
        Task::new(structure, Penalty::ridge(0.1)).fit(&data, Plan::new(Budget::passes(1)))
    };
    let beam = |width| Some(Beam { width, bound: true });
    assert!(fit(Chain::default().searched(beam(0))).is_err());
    assert!(fit(Chain::default().searched(beam(2)).rescaled(Rescaling::Slack)).is_err());
    assert!(fit(Chain::default().searched(beam(2))).is_ok());
}
