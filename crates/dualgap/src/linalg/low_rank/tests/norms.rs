//! A proven bound is never below the true norm, and hardly above it.

use super::{by_rows, random, with_values};
use crate::Result;
use crate::linalg::low_rank::spectral::{SpectralBound, spectral_bound_until};
use crate::linalg::{Dense, Proof, Random};
use faer::Mat;
use proptest::prelude::*;

fn spectral_bound(matrix: &Dense<'_>, error: f64) -> Result<SpectralBound> {
    spectral_bound_until(matrix, error, &|| false)
}

fn bound(matrix: &Mat<f64>) -> f64 {
    let values = by_rows(matrix.as_ref());
    spectral_bound(&Dense::new(matrix.nrows(), matrix.ncols(), &values), 0.0).unwrap().bound
}

/// Sylvester's Hadamard matrix: orthogonal up to the factor √n, with entries ±1.
fn sign(i: usize, j: usize) -> f64 {
    if (i & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// `H_d [diag(s); 0] H_c`, shuffled: whole numbers, so exact, with singular values `s · √(d c)`.
fn hadamard(d: usize, c: usize, s: &[f64], seed: u64) -> Mat<f64> {
    let mut random = Random::new(seed);
    let (mut down, mut across): (Vec<usize>, Vec<usize>) = ((0..d).collect(), (0..c).collect());
    random.shuffle(&mut down);
    random.shuffle(&mut across);
    Mat::from_fn(d, c, |i, j| {
        (0..s.len()).map(|k| s[k] * sign(down[i], k) * sign(k, across[j])).sum()
    })
}

/// Kronecker powers of (3 −4; 4 3): all singular values are 5^k, and the entries are whole.
fn givens(k: u32) -> Mat<f64> {
    let n = 1_usize << k;
    Mat::from_fn(n, n, |i, j| {
        (0..k).map(|bit| [[3.0, -4.0], [4.0, 3.0]][i >> bit & 1][j >> bit & 1]).product()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn hadamard_products_have_the_norm_they_were_made_with(
        rows in 1_u32..8, columns in 1_u32..8, seed in 0_u64..1000, top in 1_u32..5, exponent in -450_i32..450,
    ) {
        let (d, c) = (1_usize << rows, 1_usize << columns);
        // An even sum makes √(d c) whole; the largest value may be there several times.
        let c = if (rows + columns) % 2 == 0 { c } else { c * 2 };
        let mut random = Random::new(seed);
        let count = 1 + random.below(d.min(c));
        let mut s: Vec<f64> = (0..count).map(|_| random.below(top as usize + 1) as f64).collect();
        s[0] = f64::from(top);
        let scale = 2.0_f64.powi(exponent);
        let matrix = hadamard(d, c, &s, seed) * faer::Scale(scale);
        let norm = f64::from(top) * ((d * c) as f64).sqrt() * scale;
        let found = bound(&matrix);
        prop_assert!(found >= norm, "{found} is below {norm}");
        prop_assert!(found <= norm * (1.0 + 1e-12), "{found} is far above {norm}");
    }

    // ‖E x‖² ≤ ‖E‖² ‖x‖² for an x near the top vector, in whole numbers: no bound may be below the quotient.
    #[test]
    fn no_vector_is_stretched_beyond_the_bound(
        rows in 1_usize..24, columns in 1_usize..24, seed in 0_u64..1000, size in 1_i64..200,
    ) {
        let mut random = Random::new(seed);
        let whole: Vec<i64> = (0..rows * columns)
            .map(|_| ((2 * size + 1) as f64 * random.unit()).floor() as i64 - size)
            .collect();
        let matrix = Mat::from_fn(rows, columns, |i, j| whole[i * columns + j] as f64);
        let svd = matrix.thin_svd().unwrap();
        let unit = 2.0_f64.powi(40);
        let x: Vec<i128> = (0..columns).map(|j| (svd.V()[(j, 0)] * unit).round() as i128).collect();
        let image = (0..rows).map(|i| -> i128 {
            (0..columns).map(|j| i128::from(whole[i * columns + j]) * x[j]).sum()
        });
        let stretched: i128 = image.map(|y| y * y).sum();
        let length: i128 = x.iter().map(|x| x * x).sum();
        let quotient = stretched as f64 / length as f64;
        let found = bound(&matrix);
        // Three roundings stand between the quotient and its exact value.
        prop_assert!(found * found >= quotient * (1.0 - 4.0 * f64::EPSILON));
        prop_assert!(found * found <= quotient * (1.0 + 1e-12) + f64::MIN_POSITIVE);
    }
}

#[test]
fn powers_of_a_rotation_have_a_known_norm() {
    for k in 0..=9 {
        let norm = 5.0_f64.powi(k);
        let found = bound(&givens(k.unsigned_abs()));
        // All entries are about as large: the magnitudes' norm, on which the rounding depends, is at its worst.
        assert!(found >= norm && found <= norm * (1.0 + 4e-12), "{found} for {norm}");
    }
}

#[test]
fn clusters_and_lost_rank_leave_the_bound_tight() {
    let cases: [Vec<f64>; 4] = [
        vec![1.0; 60],                                        // all the same
        (0..60).map(|k| 1.0 - 1e-9 * f64::from(k)).collect(), // nearly the same
        vec![1.0, 1.0, 1.0, 1e-8],                            // of low rank
        (0..60).map(|k| 0.7_f64.powi(k)).collect(),
    ];
    for (seed, values) in (1_u64..).zip(&cases) {
        for (rows, columns) in [(80, 60), (60, 80), (400, 350)] {
            let found = bound(&with_values(rows, columns, values, seed));
            // The matrix itself is only known to rounding.
            assert!((1.0 - 1e-14..1.0 + 1e-12).contains(&found), "{found} for {values:?}");
        }
    }
}

#[test]
fn random_matrices_agree_with_a_full_decomposition() {
    for (rows, columns) in [(1, 1), (1, 50), (50, 1), (200, 20), (130, 340), (500, 320)] {
        let matrix = random(rows, columns, 5);
        let norm = matrix.singular_values().unwrap()[0];
        let found = bound(&matrix);
        assert!(found >= norm * (1.0 - 1e-14), "{found} is below {norm}");
        assert!(found <= norm * (1.0 + 2e-12), "{} above {norm}", found / norm - 1.0);
    }
}

#[test]
fn what_is_not_known_of_the_matrix_is_added() {
    let values = [3.0, 0.0, 0.0, 4.0];
    let matrix = Dense::new(2, 2, &values);
    let found = spectral_bound(&matrix, 0.5).unwrap().bound;
    assert!((4.5..4.5 * (1.0 + 1e-14)).contains(&found));
}

#[test]
fn zero_and_empty_matrices_have_the_norm_zero() {
    assert_eq!(spectral_bound(&Dense::new(2, 2, &[0.0; 4]), 0.0).unwrap().bound, 0.0);
    assert_eq!(spectral_bound(&Dense::new(0, 3, &[]), 0.0).unwrap().bound, 0.0);
    assert_eq!(spectral_bound(&Dense::new(3, 0, &[]), 0.25).unwrap().bound, 0.25);
}

#[test]
fn a_matrix_with_no_numbers_has_no_bound() {
    for bad in [f64::NAN, f64::INFINITY] {
        assert!(spectral_bound(&Dense::new(2, 1, &[1.0, bad]), 0.0).is_err());
        assert!(spectral_bound(&Dense::new(2, 1, &[1.0, 1.0]), bad).is_err());
    }
}

#[test]
fn tiny_and_huge_matrices_are_bounded_like_others() {
    for scale in [1e-320, 1e-310, 1e-300, 1e-150, 1e150, 1e300] {
        let values = [3.0 * scale, 0.0, 4.0 * scale, 5.0 * scale];
        let found = spectral_bound(&Dense::new(2, 2, &values), 0.0).unwrap();
        // Among subnormal numbers the entries themselves are coarse.
        assert!(found.bound >= 6.5 * scale, "{scale}");
        if scale > 1e-305 {
            assert!((found.bound / scale / 45.0_f64.sqrt() - 1.0).abs() < 1e-13, "{scale}");
            assert_eq!(found.proof, Proof::Cholesky);
        }
    }
}
