//! A dual point is believed only when it is proved feasible: whatever else is handed in as a witness is
//! refused, also when it looks right at every single position.

use crate::common::quadratic::optimum;
use crate::common::{Kind, Small, cases, small, with_blocks};
use dualgap::data::Sequences;
use dualgap::dual::{self, Blocks, Mixture, Problem, Witness, Witnessed};
use dualgap::linalg::Measured;
use dualgap::run::Budget;
use dualgap::structure;
use dualgap::structure::{ChainBlocks, Hamming, OracleBlocks};
use dualgap::term::{Costs, L2};
use dualgap::{Error, Result};
use proptest::prelude::*;

/// The dual value of a witness, or why it is refused.
fn judge(small: &Small, witness: &Witness) -> Result<Measured> {
    with_blocks!(small, |blocks| {
        let weights = small.weights.as_deref();
        let problem = Problem::new(&blocks, L2, small.lambda, weights).unwrap();
        Ok(problem.dual(&witness.points(&blocks)?)?.value)
    })
}

fn is_refused(small: &Small, witness: &Witness) -> bool {
    matches!(judge(small, witness), Err(Error::Witness { .. }))
}

/// The witness of a short run.
fn trained(small: &Small) -> Witness {
    let points = small.train(&small.settings(), &Budget::passes(6)).model.points;
    with_blocks!(small, |blocks| Witness::of(&blocks, &points))
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_witness_that_was_altered_anywhere_is_refused(
        small in small(),
        place in 0.0..1.0_f64,
        amount in prop_oneof![1e-6..1.0_f64, -1.0..-1e-6_f64],
    ) {
        let honest = trained(&small);
        prop_assert!(judge(&small, &honest).is_ok());
        let k = (place * honest.weights.len() as f64) as usize;
        let spoilt = |spoil: &dyn Fn(&mut Witness)| {
            let mut witness = honest.clone();
            spoil(&mut witness);
            is_refused(&small, &witness)
        };
        prop_assert!(spoilt(&|w| w.weights[k] += amount), "another weight");
        prop_assert!(spoilt(&|w| w.weights[k] = f64::NAN), "a weight that is no number");
        prop_assert!(spoilt(&|w| w.weights[k] = f64::INFINITY), "an infinite weight");
        prop_assert!(spoilt(&|w| w.weights[k] = -w.weights[k] - 1.0), "a negative weight");
        prop_assert!(spoilt(&|w| w.keys[k] |= 1 << 62), "a key of nothing");
        prop_assert!(spoilt(&|w| w.keys[k] += small.labels as u64), "a label too many");
        prop_assert!(spoilt(&|w| { w.keys.pop(); }), "a key too few");
        prop_assert!(spoilt(&|w| { w.starts.pop(); }), "an example too few");
        prop_assert!(spoilt(&|w| w.starts.push(w.keys.len() as u64)), "an example too many");
        prop_assert!(spoilt(&|w| w.starts[1] += 1_000_000), "entries out of range");
        prop_assert!(spoilt(&|w| w.starts.swap(0, 1)), "entries out of order");
    }

    // What rounding leaves is charged to the error bound and not refused: a point within 1e-9 of a
    // feasible one has a value within its stated error of that one's.
    #[test]
    fn a_trace_of_rounding_is_allowed_for_and_not_refused(
        small in small(),
        place in 0.0..1.0_f64,
        amount in -1e-11..1e-11_f64,
    ) {
        let honest = trained(&small);
        let mut nudged = honest.clone();
        let k = (place * honest.weights.len() as f64) as usize;
        nudged.weights[k] = (nudged.weights[k] + amount).max(0.0);
        let value = judge(&small, &nudged).unwrap();
        with_blocks!(small, |blocks| {
            let alpha = small.distributions(&nudged.points(&blocks).unwrap());
            let exact = small.explicit().dual(&alpha).float();
            prop_assert!((value.value - exact).abs() <= value.error, "{value:?} {exact}");
        });
    }
}

/// `t << 32 | y << 16 | y'`, with a mark in the place of y' at the last position.
fn edge(t: u64, y: u64, next: u64) -> u64 {
    t << 32 | y << 16 | next
}

const END: u64 = 0xffff;

/// One sequence of three positions with the labels 0 0 0. Inputs make a mistake at either end dear and
/// one in the middle cheap: all that the middle costs is its transitions.
fn sequence() -> Small {
    Small {
        kind: Kind::Chain(Hamming::Plain),
        labels: 2,
        inputs: vec![vec![vec![10.0], vec![0.0], vec![10.0]]],
        edges: Vec::new(),
        truths: vec![vec![0, 0, 0]],
        sparse: false,
        weights: None,
        lambda: 1.0,
    }
}

// Half the weight stands on the labels 0 1 0, whose true transitions are 0 → 1 and 1 → 0. The witness
// claims 0 → 0 and 1 → 1 instead. Every position has labels that add up to one, and the transitions
// summed over positions have the row and column sums that these labels ask for:
//
//     row 0: μ_1(0) + μ_2(0) = 1.5 = 0→0      column 0: μ_2(0) + μ_3(0) = 1.5 = 0→0
//     row 1: μ_1(1) + μ_2(1) = 0.5 = 1→1      column 1: μ_2(1) + μ_3(1) = 0.5 = 1→1
//
// Believed, it would have a loss of ½ and move the transitions by (½, −½) only: D = ½ − ½·½ = ¼.
#[test]
fn edges_that_only_add_up_over_all_positions_are_refused() {
    let small = sequence();
    let forged = Witness {
        starts: vec![0, 4],
        keys: vec![edge(0, 0, 0), edge(1, 0, 0), edge(1, 1, 1), edge(2, 0, END)],
        weights: vec![1.0, 0.5, 0.5, 1.0],
        ..Witness::default()
    };
    let data = small.sequences();
    let blocks = ChainBlocks::new(&data, Hamming::Plain).unwrap();
    let point = forged.points(&blocks).unwrap().remove(0);

    let mut v = vec![0.0; blocks.dim()];
    blocks.add(0, &point, 1.0, &mut v, &mut blocks.scratch());
    let mut expected = vec![0.0; blocks.dim()];
    let transitions = blocks.layout().transitions().start;
    (expected[transitions], expected[transitions + 3]) = (0.5, -0.5);
    assert_eq!(v, expected);
    let claimed = 0.5 - 0.5 * v.iter().map(|v| v * v).sum::<f64>();
    let bracket = optimum(&small.explicit());
    assert!(bracket.is_within(1e-6) && claimed > 2.0 * bracket.upper, "{claimed} {bracket:?}");
    assert!(is_refused(&small, &forged));

    // The same labels with their true transitions are a mixture of two labelings.
    let honest = Witness {
        starts: vec![0, 5],
        keys: [(0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 1, 0), (2, 0, END)]
            .map(|(t, y, next)| edge(t, y, next))
            .to_vec(),
        weights: vec![0.5, 0.5, 0.5, 0.5, 1.0],
        ..Witness::default()
    };
    // D = ½ − ½·‖(1, −½, −½)‖²
    let value = judge(&small, &honest).unwrap();
    assert!((value.value - (0.5 - 0.75)).abs() <= value.error);
}

#[test]
fn edges_of_a_chain_that_lead_nowhere_are_refused() {
    let small = sequence();
    let refused = |edges: &[(u64, u64, u64)]| {
        is_refused(
            &small,
            &Witness {
                starts: vec![0, edges.len() as u64],
                keys: edges.iter().map(|&(t, y, next)| edge(t, y, next)).collect(),
                weights: vec![1.0; edges.len()],
                ..Witness::default()
            },
        )
    };
    assert!(!refused(&[(0, 0, 0), (1, 0, 0), (2, 0, END)]));
    assert!(refused(&[(0, 0, 1), (1, 0, 0), (2, 0, END)]), "a jump between two positions");
    assert!(refused(&[(0, 0, 0), (2, 0, END)]), "a position left out");
    assert!(refused(&[(0, 0, 0), (1, 0, 0)]), "no end");
    assert!(refused(&[(0, 0, 0), (1, 0, END), (2, 0, END)]), "an end in the middle");
    assert!(refused(&[(0, 0, 0), (1, 0, 0), (2, 0, 0)]), "no end at the last position");
    assert!(refused(&[(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, END)]), "a position too many");
    assert!(refused(&[(0, 0, 2), (1, 2, 0), (2, 0, END)]), "a label that is none");
    assert!(refused(&[(1, 0, 0), (0, 0, 0), (2, 0, END)]), "positions out of order");
    assert!(refused(&[(0, 0, 0), (0, 0, 0), (1, 0, 0), (2, 0, END)]), "an edge twice");
    assert!(refused(&[(0, 0, 0), (0, 1, 0), (1, 0, 0), (2, 0, END)]), "two starts");
    assert!(refused(&[]), "nothing at all");
}

#[test]
fn the_corners_of_an_oracle_s_point_must_weigh_one_together() {
    let small = Small::random(2, Kind::Multiclass(Costs::ZeroOne), 4, 3, 1);
    let data = small.examples();
    let oracle = structure::MulticlassOracle::new(small.width(), 3, &Costs::ZeroOne).unwrap();
    let labels = data.classes().unwrap().numbers();
    let examples: Vec<_> = (0..4).map(|i| (data.rows().row(i), labels[i])).collect();
    let blocks = OracleBlocks::new(&oracle, &examples).unwrap();
    let points =
        dual::train(&blocks, &small.settings(), &Budget::passes(5), &mut ()).unwrap().model.points;
    let problem = Problem::new(&blocks, L2, small.lambda, None).unwrap();
    assert!(problem.dual(&points).is_ok());
    for weight in [-1.0, 1.5, f64::NAN, f64::INFINITY] {
        let mut spoilt = points.clone();
        spoilt[2].corners[0].1 += weight;
        assert!(
            matches!(problem.dual(&spoilt), Err(Error::Witness { example: 2, .. })),
            "{weight}"
        );
    }
    // Corners of one example prove nothing about another, and every example needs its point.
    let mut swapped = points.clone();
    swapped.swap(0, 3);
    assert!(matches!(problem.dual(&swapped), Err(Error::Witness { .. })));
    assert!(problem.dual(&points[..3]).is_err());
    assert!(problem.dual(&[&points[..], &points[..1]].concat()).is_err());
}

#[test]
fn keys_that_do_not_ascend_make_no_point() {
    let data = Sequences::from_dense(&[vec![vec![1.0]]], &[vec![0]], &["a", "b"].map(String::from))
        .unwrap();
    let blocks = ChainBlocks::new(&data, Hamming::Plain).unwrap();
    let point = |keys: [u64; 2]| blocks.point(0, keys.map(|key| (key, 0.5)).to_vec(), &[]);
    let (low, high) = (edge(0, 0, END), edge(0, 1, END));
    let both: Mixture = point([low, high]).unwrap();
    assert!(both.iter().eq([(low, 0.5), (high, 0.5)]));
    assert!(point([high, low]).is_err() && point([low, low]).is_err());
}
