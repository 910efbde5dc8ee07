//! Matrices in factors: sums keep the matrix, norms are proven, and nothing trusts the factors.

use super::{by_rows, decomposed, dense, orthonormal, random, with_values};
use crate::linalg::{LowRank, Random, Row};
use faer::Mat;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_sum_is_the_sum_of_the_entries(
        rows in 1_usize..40, columns in 1_usize..40, a in 0_usize..6, b in 0_usize..6, eta in 0.0..1.0_f64, seed in 0_u64..1000,
    ) {
        let of = |k: usize, seed: u64| {
            let k = k.min(rows).min(columns);
            let values: Vec<f64> = (0..k).map(|j| 1.0 / (1 + j) as f64).collect();
            decomposed(&with_values(rows, columns, &values, seed)).first(k)
        };
        let (x, y) = (of(a, seed), of(b, seed + 7));
        let sum = LowRank::combined(1.0 - eta, &x, eta, &y).unwrap();
        let expected = dense(&x, rows, columns) * faer::Scale(1.0 - eta)
            + dense(&y, rows, columns) * faer::Scale(eta);
        prop_assert!((dense(&sum, rows, columns) - &expected).norm_max() < 4e-15);
        prop_assert!(sum.rank() <= (x.rank() + y.rank()).min(rows).min(columns));
        let exact: f64 = expected.singular_values().unwrap().iter().sum();
        let nuclear = sum.nuclear_norm();
        prop_assert!((nuclear.value - exact).abs() <= nuclear.error + 1e-13);
        prop_assert!(nuclear.error <= 1e-12 * nuclear.value);
        let frobenius = sum.squared_norm();
        prop_assert!((frobenius.value - expected.squared_norm_l2()).abs() <= frobenius.error + 1e-13);
    }

    // Factors that are far from orthonormal: the intervals must still hold the true norms.
    #[test]
    fn the_norms_of_bad_factors_are_bounded_all_the_same(
        rows in 2_usize..20, columns in 2_usize..20, k in 1_usize..5, tilt in 0.0..0.3_f64, seed in 0_u64..1000,
    ) {
        let k = k.min(rows).min(columns);
        let bent = |n: usize, seed: u64| {
            orthonormal(n, k, seed) + random(n, k, seed + 1) * faer::Scale(tilt)
        };
        let (u, v) = (bent(rows, seed), bent(columns, seed + 9));
        let s: Vec<f64> = (0..k).map(|j| 1.0 + j as f64).collect();
        let x = LowRank::new(rows, columns, by_rows(u.as_ref()), s, by_rows(v.as_ref())).unwrap();
        let matrix = dense(&x, rows, columns);
        let exact: f64 = matrix.singular_values().unwrap().iter().sum();
        let (nuclear, squared) = (x.nuclear_norm(), x.squared_norm());
        prop_assert!((nuclear.value - exact).abs() <= nuclear.error + 1e-13);
        prop_assert!((squared.value - matrix.squared_norm_l2()).abs() <= squared.error + 1e-13);
        let inside = x.within(0.5);
        let norm: f64 = dense(&inside, rows, columns).singular_values().unwrap().iter().sum();
        prop_assert!(norm <= 0.5 + 1e-14);
    }
}

#[test]
fn what_is_brought_within_a_radius_is_proven_to_be_there_and_stays() {
    let x = decomposed(&random(50, 30, 1)).first(10);
    let radius = x.nuclear_norm().value;
    let inside = x.clone().within(radius);
    let norm = inside.nuclear_norm();
    assert!(norm.value + norm.error <= radius);
    assert!(norm.value >= radius * (1.0 - 1e-12));
    assert_eq!(inside.clone().within(radius), inside);
    assert_eq!(x.clone().within(2.0 * radius), x);
}

#[test]
fn a_thousand_sums_leave_the_factors_orthonormal() {
    let mut x = decomposed(&random(40, 25, 1)).first(3);
    let mut expected = dense(&x, 40, 25);
    for k in 0..1000 {
        let y = decomposed(&with_values(40, 25, &[1.0], k)).first(1);
        x = LowRank::combined(0.9, &x, 0.1, &y).unwrap();
        expected = expected * faer::Scale(0.9) + dense(&y, 40, 25) * faer::Scale(0.1);
    }
    let norm = x.nuclear_norm();
    assert!(norm.error <= 1e-12 * norm.value);
    assert!((dense(&x, 40, 25) - expected).norm_max() < 1e-14);
}

#[test]
fn opposite_terms_cancel_to_nothing() {
    let x = decomposed(&random(20, 10, 1)).first(4);
    let zero = LowRank::combined(0.0, &x, 0.0, &x).unwrap();
    assert_eq!((zero.rank(), zero.nuclear_norm().value), (0, 0.0));
    // Two copies have the rank of one.
    let twice = LowRank::combined(0.5, &x, 0.5, &x).unwrap();
    assert_eq!(twice.rank(), 4);
}

#[test]
fn scores_are_those_of_the_dense_matrix() {
    let x = decomposed(&random(30, 7, 1)).first(3);
    let matrix = dense(&x, 30, 7);
    let mut random = Random::new(3);
    let values: Vec<f64> = (0..30).map(|_| random.unit()).collect();
    let sparse = Row::Sparse { indices: &[2, 11, 29], values: &values[..3] };
    let mut buffer = Vec::new();
    for row in [Row::Dense(&values), sparse] {
        let mut out = [f64::NAN; 7];
        x.scores(row, &mut out, &mut buffer);
        for (y, score) in out.iter().enumerate() {
            let expected: f64 = row.iter().map(|(f, value)| value * matrix[(f, y)]).sum();
            assert!((score - expected).abs() < 1e-14);
        }
    }
    let mut none = [f64::NAN; 7];
    LowRank::zero(30, 7).scores(sparse, &mut none, &mut buffer);
    assert_eq!(none, [0.0; 7]);
}

#[test]
fn factors_survive_being_written_and_bad_ones_are_refused() {
    let x = decomposed(&random(5, 4, 1)).first(2);
    let text = serde_json::to_string(&x).unwrap();
    assert_eq!(serde_json::from_str::<LowRank>(&text).unwrap(), x);
    let broken = text.replacen("\"rows\":5", "\"rows\":6", 1);
    assert!(serde_json::from_str::<LowRank>(&broken).is_err());
    for (u, s) in [(vec![1.0], vec![-1.0]), (vec![f64::NAN], vec![1.0]), (vec![], vec![1.0])] {
        assert!(LowRank::new(1, 1, u, s, vec![1.0]).is_err());
    }
}

#[test]
fn norms_hold_at_any_scale() {
    for scale in [1e-170, 1e-150, 1e150] {
        let x =
            decomposed(&Mat::from_fn(2, 2, |i, j| [[2.0, 1.0], [1.0, 2.0]][i][j])).scaled(scale);
        let nuclear = x.nuclear_norm();
        assert!(
            (nuclear.value / scale - 4.0).abs() < 1e-14 && nuclear.error < 1e-13 * nuclear.value
        );
        let squared = x.squared_norm();
        assert!(squared.value + squared.error >= 10.0 * scale * scale * (1.0 - 1e-15));
    }
    // Products of such factors overflow: nothing is proven, and nothing is claimed.
    let huge = LowRank::new(1, 1, vec![1e200], vec![1.0], vec![1e200]).unwrap();
    assert_eq!(huge.nuclear_norm().error, f64::INFINITY);
    assert_eq!(huge.within(1.0).s(), [0.0]);
}
