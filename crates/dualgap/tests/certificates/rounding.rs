//! Both sides of a certificate are within their stated error of the exact value, whatever the scale of
//! the data, and the stated error is small enough to be of use. The judge computes to 32 digits.

use crate::common::wide::Wide;
use crate::common::{Kind, MOST_WEIGHTS, Small, cases, small, with_blocks};
use dualgap::dual::{Algorithm, Average, Blocks, Mixture, Problem, Settings};
use dualgap::linalg::{Accumulate, CompensatedVec, Measured, Random, Row};
use dualgap::run::Budget;
use dualgap::structure::{self, Bound, Decoded, Hamming, Oracle, OracleBlocks};
use dualgap::term::{Costs, L2};
use proptest::prelude::*;

fn primal(small: &Small, w: &[f64]) -> Measured {
    with_blocks!(small, |blocks| {
        let weights = small.weights.as_deref();
        let problem = Problem::new(&blocks, L2, small.lambda, weights).unwrap();
        problem.primal(w).unwrap().value
    })
}

fn dual(small: &Small, points: &[Mixture]) -> Measured {
    with_blocks!(small, |blocks| {
        let weights = small.weights.as_deref();
        let problem = Problem::new(&blocks, L2, small.lambda, weights).unwrap();
        problem.dual(points).unwrap().value
    })
}

fn off(computed: Measured, exact: Wide) -> f64 {
    (exact - Wide::from(computed.value)).abs().float()
}

/// The same problem with the features of pairs multiplied by a factor.
fn with_other_pairs(mut small: Small, factor: f64) -> Small {
    small.edges.iter_mut().flatten().flatten().for_each(|x| *x *= factor);
    small
}

/// Nothing, something like one, very large and very small.
fn factor() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1.0), Just(1e6), Just(1e-6), (-8.0..8.0_f64).prop_map(|e| 10_f64.powf(e))]
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn the_primal_value_is_within_its_error_at_any_scale(
        small in small(),
        of_features in factor(),
        of_pairs in factor(),
        of_weights in factor(),
        w in prop::collection::vec(-1.0..1.0_f64, MOST_WEIGHTS),
    ) {
        let small = with_other_pairs(small.scaled(of_features), of_pairs / of_features);
        let w: Vec<f64> = w[..small.dim()].iter().map(|w| of_weights * w).collect();
        let computed = primal(&small, &w);
        let off = off(computed, small.explicit().primal(&w));
        prop_assert!(off <= computed.error, "{off:e} {computed:?}");
        // A product for each of some ten weights along four positions, and twice that compared.
        let largest = of_features.max(of_pairs).max(1.0) * of_weights;
        let size = 1.0 + largest * 40.0 + small.lambda * of_weights.powi(2) * MOST_WEIGHTS as f64;
        prop_assert!(computed.error <= 1e-13 * size, "{computed:?} {size}");
    }

    // Weights that nearly cancel: the score is what rounding leaves of numbers a billion times larger.
    #[test]
    fn the_primal_value_is_within_its_error_when_scores_cancel(
        small in small(),
        x in 1e5..1e6_f64,
        w in prop::collection::vec(-1.0..1.0_f64, MOST_WEIGHTS),
        nudge in prop::collection::vec(-4.0..4.0_f64, MOST_WEIGHTS),
    ) {
        let mut small = small;
        small.inputs.iter_mut().flatten().for_each(|row| *row = vec![x, x, 1.0 + row[0]]);
        small.edges.iter_mut().flatten().for_each(|row| *row = vec![x, x]);
        let labels = small.labels;
        let mut w = w[..small.dim()].to_vec();
        for y in 0..labels {
            // The first two features have the same value and nearly opposite weights.
            w[labels + y] = -w[y] * (1.0 + nudge[y] * f64::EPSILON);
        }
        if small.pairs() > 0 {
            let tables = small.dim() - 2 * labels * labels;
            let (one, other) = w[tables..].split_at_mut(labels * labels);
            for (k, (one, other)) in one.iter().zip(other).enumerate() {
                *other = -one * (1.0 + nudge[k] * f64::EPSILON);
            }
        }
        let computed = primal(&small, &w);
        let off = off(computed, small.explicit().primal(&w));
        prop_assert!(off <= computed.error, "{off:e} {computed:?}");
    }

    #[test]
    fn both_sides_of_a_run_are_within_their_error_at_any_scale(
        small in small(),
        scale in factor(),
        of_pairs in prop_oneof![Just(1.0), Just(1e4), Just(1e-4)],
        fw in any::<bool>(),
        averaged in any::<bool>(),
    ) {
        // λ follows the features, so that the weights are of a size to meet them.
        let small = Small { lambda: small.lambda * scale * scale, ..small.scaled(scale) };
        let small = with_other_pairs(small, of_pairs);
        let settings = Settings {
            method: if fw { Algorithm::Fw } else { Algorithm::Bcfw },
            average: if averaged { Average::Weighted } else { Average::None },
            ..small.settings()
        };
        let report = small.train(&settings, &Budget::passes(30));
        let (c, model) = (report.certificate, &report.model);
        let problem = small.explicit();
        // Batch steps sum in another order, so that the values may differ by rounding.
        let side = primal(&small, &model.weights);
        prop_assert!((side.value - c.primal).abs() <= side.error + c.rounding_error);
        prop_assert!(off(side, problem.primal(&model.weights)) <= side.error);
        let side = dual(&small, &model.points);
        prop_assert!((side.value - c.dual).abs() <= side.error + c.rounding_error);
        let off = off(side, problem.dual(&small.distributions(&model.points)));
        prop_assert!(off <= side.error, "{off:e} {side:?}");
    }
}

// Long sums: many examples, long sequences with repeated features, and λ far from one.
#[test]
fn the_dual_value_of_many_examples_is_within_its_error() {
    for (seed, kind) in Kind::all(3).into_iter().enumerate() {
        for lambda in [1e-6, 1e-2, 1e3] {
            let mut small = Small::random(seed as u64, kind.clone(), 200, 3, 4);
            if let Kind::Chain(_) = kind {
                small = small.with_pairs(seed as u64, 2);
            }
            small.lambda = lambda;
            small.weights =
                (seed % 2 == 1).then(|| (1..=200).map(|i| f64::from(i) / 7.0).collect());
            let points = small.train(&small.settings(), &Budget::passes(3)).model.points;
            let computed = dual(&small, &points);
            let off = off(computed, small.explicit().dual(&small.distributions(&points)));
            assert!(off <= computed.error, "{off:e} {computed:?}");
        }
    }
}

// All inputs of a labelling fall on one feature: its weight is a sum over all positions.
#[test]
fn the_values_of_longer_sequences_are_within_their_errors() {
    for seed in 0..6 {
        let mut small = Small::random(seed, Kind::Chain(Hamming::Normalized), 4, 2, 11);
        small.inputs.iter_mut().flatten().for_each(|row| *row = vec![row[0], 0.1, 1.0 / 3.0]);
        small.lambda = 1e-3;
        if seed % 2 == 0 {
            small = small.with_pairs(seed, 1);
            small.edges.iter_mut().flatten().for_each(|row| *row = vec![row[0], 0.1, 1.0 / 3.0]);
        }
        let report = small.train(&small.settings(), &Budget::passes(20));
        let problem = small.explicit();
        let side = primal(&small, &report.model.weights);
        assert!(off(side, problem.primal(&report.model.weights)) <= side.error);
        let side = dual(&small, &report.model.points);
        assert!(off(side, problem.dual(&small.distributions(&report.model.points))) <= side.error);
    }
}

// Class 2 is a sum of two huge terms that cancel, class 1 a small plain number that beats it by less
// than the rounding of that sum: the oracle may well take the wrong one for the best. That it calls its
// choice exact must not make the primal value too small.
#[test]
fn the_adapter_allows_for_the_rounding_of_outputs_that_were_not_chosen() {
    let oracle = structure::MulticlassOracle::new(3, 3, &Costs::ZeroOne).unwrap();
    let (lambda, mut random) = (1e-9, Random::new(3));
    for _ in 0..100 {
        let x = [1e6 * (1.0 + random.unit()), 1e6 * (1.0 + random.unit()), 1.0];
        let (a, plain) = (1.0 + random.unit(), random.unit());
        let b = -a * x[0] / x[1];
        let rest = plain - (a * x[0] + b * x[1]) - 1e-12;
        let w = [0.0, 0.0, a, 0.0, 0.0, b, 0.0, plain, rest];

        let examples = [(Row::Dense(&x), 0)];
        let blocks = OracleBlocks::new(&oracle, &examples).unwrap();
        let computed = Problem::new(&blocks, L2, lambda, None).unwrap().primal(&w).unwrap().value;
        let score = |y: usize| -> Wide {
            (0..3).map(|f| Wide::from(x[f]) * w[3 * f + y].into()).sum::<Wide>() + Wide::ONE
        };
        let squares: Wide = w.iter().map(|&w| Wide::from(w) * w.into()).sum();
        let exact = score(1).max(score(2)) + squares * Wide::from(lambda / 2.0);
        let missing = (exact - Wide::from(computed.value)).float();
        assert!(missing <= computed.error, "{missing:e} too small, and {computed:?}");
    }
}

/// One output beside the truth, whose features are thousands of numbers that nearly cancel, all at one index; given one by one,
/// or as a row times a factor.
struct Cancelling {
    terms: Vec<f64>,
    factor: Option<f64>,
}

impl Oracle for Cancelling {
    type Input = ();
    type Output = bool;
    type Scratch = ();

    fn dim(&self) -> usize {
        1
    }

    fn features(&self, (): &(), y: &bool, out: &mut impl Accumulate) {
        for &term in self.terms.iter().filter(|_| *y) {
            match self.factor {
                Some(factor) => out.add_outer(Row::Dense(&[term]), &[1.0 / 3.0], factor),
                None => out.add(0, term),
            }
        }
    }

    fn loss(&self, (): &(), truth: &bool, y: &bool) -> f64 {
        f64::from(u8::from(truth != y))
    }

    fn decode(
        &self,
        _: &[f64],
        (): &(),
        _: Option<&bool>,
        (): &mut (),
    ) -> dualgap::Result<Decoded<bool>> {
        Ok(Decoded { output: true, bound: Bound::Unknown })
    }
}

// What is left of the sum is near one, and its terms are near 1e8: what was lost has to do with the terms and their number.
#[test]
fn the_adapter_allows_for_the_rounding_of_features_that_cancel() {
    let mut random = Random::new(5);
    for factor in [None, Some(0.1)] {
        let mut terms: Vec<f64> = (0..4000).map(|_| 1e8 * random.unit()).collect();
        let opposite: Vec<f64> = terms.iter().map(|x| -x * (1.0 + 1e-12 * random.unit())).collect();
        terms.extend(opposite);
        let exact: Wide = (terms.iter())
            .map(|&x| match factor {
                Some(factor) => Wide::from(x) * factor.into() * Wide::from(1.0 / 3.0),
                None => x.into(),
            })
            .sum();
        let (oracle, examples) = (Cancelling { terms, factor }, [((), false)]);
        let blocks = OracleBlocks::new(&oracle, &examples).unwrap();
        let (mut corner, mut scratch) = (None, blocks.scratch());
        blocks.best_corner(0, &[0.0], &mut corner, &mut scratch).unwrap();
        let mut at = blocks.start(0);
        blocks.mix(0, 1.0, &mut at, &corner);
        let mut v = CompensatedVec::zeros(1);
        blocks.add(0, &at, 1.0, &mut v, &mut scratch);
        // ψ is the truth's features, of which there are none, less these.
        let off = (exact + Wide::from(v.round()[0])).abs().float();
        let reach = blocks.audit(0, &at, &mut scratch).unwrap().reach;
        assert!(off <= reach, "{off:e} {reach:e}");
        assert!(off > 0.0 && reach < 1e-2, "{off:e} {reach:e}");
    }
}

#[test]
fn wide_numbers_keep_what_floats_lose() {
    let (huge, tiny) = (Wide::from(1e20), Wide::from(1e-8));
    assert_eq!((huge + tiny - huge).float(), 1e-8);
    let third = Wide::ONE / Wide::from(3.0);
    assert!((third * Wide::from(3.0) - Wide::ONE).abs() < Wide::from(1e-31));
    // (1 + ε)² − 1 − 2ε = ε²
    let epsilon = Wide::from(f64::EPSILON);
    let near_one = Wide::ONE + epsilon;
    assert_eq!((near_one * near_one - Wide::ONE - epsilon - epsilon).float(), f64::EPSILON.powi(2));
}
