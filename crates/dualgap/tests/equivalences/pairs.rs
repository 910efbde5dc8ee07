//! Features of label pairs that say nothing new: the problem is the one without them, or one with other
//! transitions that can be written down.
//!
//! A constant feature c of all pairs repeats the transitions: a labeling meets u = w_transitions + c w_pairs, and
//! the shortest two vectors with that sum have ‖w_transitions‖² + ‖w_pairs‖² = ‖u‖²/(1 + c²), w_pairs = c w_transitions.
//! So it is the plain chain whose transitions count √(1 + c²) instead of 1.

use crate::common::explicit::Explicit;
use crate::common::quadratic::optimum;
use crate::common::wide::Wide;
use crate::common::{Kind, Small, calls, cases, distance, generic};
use dualgap::data::DataSet;
use dualgap::dual::{Algorithm, Average, Settings, Step};
use dualgap::run::{Budget, Certificate};
use dualgap::structure::Hamming;
use proptest::prelude::*;

/// A small problem of sequences without features of pairs.
fn plain() -> impl Strategy<Value = Small> {
    (generic(), any::<bool>()).prop_map(|(small, plain)| {
        let hamming = if plain { Hamming::Plain } else { Hamming::Normalized };
        Small { kind: Kind::Chain(hamming), edges: Vec::new(), ..small }
    })
}

/// The same problem with these features of every pair.
fn with_constant(small: &Small, row: &[f64]) -> Small {
    let edges = small.truths.iter().map(|truth| vec![row.to_vec(); truth.len()]).collect();
    Small { edges, ..small.clone() }
}

/// The problem written out, its transitions counted `factor` times.
fn counted(small: &Small, factor: f64) -> Explicit {
    let mut problem = small.explicit();
    let first = small.width() * small.labels + 2 * small.labels;
    for corner in problem.examples.iter_mut().flatten() {
        corner.psi[first..].iter_mut().for_each(|psi| *psi *= factor);
        for psi in &mut corner.exact_psi[first..] {
            *psi = *psi * Wide::from(factor);
        }
    }
    problem
}

fn overlap(a: Certificate, b: Certificate) -> bool {
    let error = a.rounding_error + b.rounding_error;
    a.dual <= b.primal + error && b.dual <= a.primal + error
}

fn ways(small: &Small) -> Vec<Settings> {
    let base = small.settings();
    vec![
        base.clone(),
        Settings { method: Algorithm::Fw, ..base.clone() },
        Settings { step: Step::Predefined, average: Average::Weighted, ..base.clone() },
        Settings { batch: 3, average: Average::Suffix, ..base },
    ]
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn features_that_are_all_zero_leave_the_iterates_of_the_plain_chain(small in plain()) {
        let zeros = with_constant(&small, &[0.0, 0.0]);
        let (dim, problem) = (small.dim(), small.explicit());
        for k in 1..=6 * small.len() as u64 {
            let run = |small: &Small| small.train(&small.settings(), &calls(k));
            let (one, other) = (run(&small), run(&zeros));
            prop_assert!(distance(&one.model.weights, &other.model.weights[..dim]) < 1e-9);
            prop_assert!(other.model.weights[dim..].iter().all(|&w| w == 0.0));
            prop_assert!(overlap(one.certificate, other.certificate));
            if problem.is_tied(&one.model.weights) {
                break;
            }
        }
    }

    #[test]
    fn a_constant_feature_is_a_plain_chain_whose_transitions_count_more(
        small in plain(),
        c in prop_oneof![Just(1.0), 0.2..3.0_f64],
    ) {
        let repeated = with_constant(&small, &[c]);
        let bracket = optimum(&counted(&small, (1.0 + c * c).sqrt()));
        prop_assert!(bracket.is_within(1e-6), "{bracket:?}");
        let transitions = small.dim() - small.labels * small.labels..small.dim();
        for settings in ways(&repeated) {
            let report = repeated.train(&settings, &Budget::passes(40));
            let certificate = report.certificate;
            let error = certificate.rounding_error + 1e-12;
            prop_assert!(certificate.dual <= bracket.upper + error, "{certificate:?} {bracket:?}");
            prop_assert!(certificate.primal >= bracket.lower - error, "{certificate:?} {bracket:?}");
            let (plain, pairs) = report.model.weights.split_at(small.dim());
            let scaled: Vec<f64> = plain[transitions.clone()].iter().map(|w| c * w).collect();
            prop_assert!(distance(&scaled, pairs) < 1e-9);
        }
    }

    // (0.6, 0.8) is (1, 0) seen from another side, and the norm of the weights does not care.
    #[test]
    fn turning_the_features_of_pairs_changes_nothing(small in plain()) {
        let (one, turned) = (with_constant(&small, &[1.0]), with_constant(&small, &[0.6, 0.8]));
        for (a, b) in ways(&one).iter().zip(ways(&turned)) {
            let budget = Budget::passes(12);
            let (a, b) = (one.train(a, &budget).certificate, turned.train(&b, &budget).certificate);
            prop_assert!(overlap(a, b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn every_feature_of_a_pair_is_part_of_the_fingerprint(
        small in plain(),
        place in 0.0..1.0_f64,
        sparse in any::<bool>(),
    ) {
        let mut small = small.with_pairs(1, 2);
        let original = small.sequences().fingerprint();
        small.sparse = sparse;
        prop_assert_eq!(&original, &small.sequences().fingerprint());
        let without = Small { edges: Vec::new(), ..small.clone() };
        prop_assert_ne!(&original, &without.sequences().fingerprint());
        let mut values: Vec<&mut f64> = small.edges.iter_mut().flatten().flatten().collect();
        let place = (place * values.len() as f64) as usize;
        *values[place] *= 1.0 + f64::EPSILON;
        prop_assert_ne!(&original, &small.sequences().fingerprint());
    }
}
