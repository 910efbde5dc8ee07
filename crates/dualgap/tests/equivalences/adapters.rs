//! A structure's own blocks and the adapter around its oracle are the same solver: marginals, lazy
//! scales and Gram matrices on one side, a list of corners on the other, the same iterates.

use crate::common::explicit::dot;
use crate::common::{
    Kind, MOST_WEIGHTS, Small, calls, cases, distance, generic, small, with_oracle,
};
use dualgap::dual::{self, Algorithm, Average, Sampling, Settings, Step};
use dualgap::linalg::SparseVec;
use dualgap::run::{Budget, Certificate};
use dualgap::structure::{self, Oracle, OracleBlocks};
use proptest::prelude::*;

/// What a run with the adapter comes to.
fn adapted(small: &Small, settings: &Settings, budget: &Budget) -> (Vec<f64>, Certificate) {
    with_oracle!(small, |oracle, examples| {
        let blocks = OracleBlocks::new(&oracle, &examples).unwrap();
        let report = dual::train(&blocks, settings, budget, &mut ()).unwrap();
        (report.model.weights, report.certificate)
    })
}

/// Runs both sides and compares them; the weights they have come to.
fn assert_same(small: &Small, settings: &Settings, budget: &Budget) -> Vec<f64> {
    let report = small.train(settings, budget);
    let (weights, certificate) = adapted(small, settings, budget);
    let apart = distance(&report.model.weights, &weights);
    assert!(apart < 1e-9, "{apart:e} apart under {settings:?} and {budget:?}");
    let own = report.certificate;
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * own.primal.max(1.0);
    assert!(near(own.primal, certificate.primal), "{own:?} {certificate:?}");
    assert!(near(own.dual, certificate.dual), "{own:?} {certificate:?}");
    assert!(own.certified && certificate.certified);
    weights
}

/// Every way to run that the two sides must agree on.
fn all_settings(base: &Settings) -> Vec<Settings> {
    let mut all = Vec::new();
    for method in [Algorithm::Bcfw, Algorithm::Fw] {
        for step in [Step::LineSearch, Step::Predefined] {
            for average in [Average::None, Average::Weighted, Average::Suffix] {
                all.push(Settings { method, step, average, ..base.clone() });
            }
        }
    }
    for sampling in [Sampling::Permuted, Sampling::Uniform, Sampling::Cyclic] {
        all.push(Settings { sampling, ..base.clone() });
        let batch = Settings { sampling, batch: 3, ..base.clone() };
        all.push(Settings { step: Step::Predefined, average: Average::Weighted, ..batch.clone() });
        // A line search can end where two outputs of its block tie. If that is the last step of a batch
        // and the block is in the next one too, rounding decides which corner it is sent to.
        if sampling == Sampling::Cyclic {
            all.push(Settings { average: Average::Suffix, ..batch.clone() });
            all.push(batch);
        }
    }
    all
}

#[test]
fn the_adapter_and_a_structure_s_own_blocks_give_the_same_iterates() {
    for seed in 0..4 {
        for kind in Kind::all(3) {
            let mut small = Small::random(seed, kind, 10, 3, 4);
            if seed % 2 == 0 {
                small = small.with_pairs(seed, 2);
            }
            small.weights = (seed == 3).then(|| (0..10).map(|i| 0.5 + f64::from(i % 4)).collect());
            for settings in all_settings(&Settings { seed, ..small.settings() }) {
                for passes in [1, 2, 3, 7] {
                    assert_same(&small, &settings, &calls(passes * small.len() as u64));
                }
            }
        }
    }
}

// Long sequences keep another form of their inputs than short ones: beyond 64 positions, and with few
// labelings looked at, only the two sides can be compared.
#[test]
fn the_adapter_and_the_chain_blocks_agree_on_long_sequences() {
    let mut small = Small::random(5, Kind::Chain(structure::Hamming::Normalized), 6, 3, 150);
    assert!(small.truths.iter().any(|truth| truth.len() > 64));
    assert!(small.truths.iter().any(|truth| truth.len() <= 64));
    for pairs in [0, 2] {
        if pairs > 0 {
            small = small.with_pairs(7, pairs);
        }
        for sparse in [false, true] {
            small.sparse = sparse;
            for passes in [1, 3, 8] {
                assert_same(&small, &small.settings(), &calls(passes * small.len() as u64));
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn the_adapter_and_the_blocks_agree_on_any_small_problem(small in generic()) {
        let problem = small.explicit();
        for k in 1..=6 * small.len() as u64 {
            let weights = assert_same(&small, &small.settings(), &calls(k));
            if problem.is_tied(&weights) {
                break;
            }
        }
    }

    // φ and L as the documentation lays them out, written down once more in `Small::phi` and `loss`.
    #[test]
    fn features_and_losses_are_those_of_the_documentation(
        small in small(),
        w in prop::collection::vec(-1.0..1.0_f64, MOST_WEIGHTS),
    ) {
        let w = &w[..small.dim()];
        for i in 0..small.len() {
            for y in small.outputs(i) {
                let (features, loss) = with_oracle!(small, |oracle, examples| {
                    let (x, truth) = &examples[i];
                    let y = FromLabels::from_labels(&y);
                    let mut features = SparseVec::default();
                    oracle.features(x, &y, &mut features);
                    (features, oracle.loss(x, truth, &y))
                });
                let expected: Vec<f64> = small.phi(i, &y).iter().map(|x| x.float()).collect();
                prop_assert!((features.dot(w) - dot(&expected, w)).abs() < 1e-12);
                prop_assert!((loss - small.loss(i, &y).float()).abs() < 1e-15);
            }
        }
    }
}

/// An output of either structure from labels.
trait FromLabels {
    fn from_labels(labels: &[u16]) -> Self;
}

impl FromLabels for Vec<u16> {
    fn from_labels(labels: &[u16]) -> Self {
        labels.to_vec()
    }
}

impl FromLabels for u32 {
    fn from_labels(labels: &[u16]) -> Self {
        labels[0].into()
    }
}
