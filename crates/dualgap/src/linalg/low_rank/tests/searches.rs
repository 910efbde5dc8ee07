//! Truncated searches against full decompositions, and what they cost.

use super::{by_rows, random, with_values};
use crate::linalg::{
    Dense, LowRank, Operator, OuterSum, Random, Rows, Search, Singular, top_singular,
};
use faer::Mat;

fn search(matrix: &Mat<f64>, k: usize, warm: Option<&LowRank>) -> Singular {
    let values = by_rows(matrix.as_ref());
    let dense = Dense::new(matrix.nrows(), matrix.ncols(), &values);
    top_singular(&dense, k, warm, &Search::default()).unwrap()
}

fn check(matrix: &Mat<f64>, top: &Singular, k: usize) {
    let exact = matrix.singular_values().unwrap();
    assert!(top.converged);
    assert!(top.found.rank() <= k);
    for (i, exact_value) in exact.iter().take(k).enumerate() {
        let found = top.found.s().get(i).copied().unwrap_or(0.0);
        assert!((found - exact_value).abs() <= 1e-12 * exact[0], "{i}: {found} for {exact_value}");
    }
    // E v = σ u, and both sides are orthonormal.
    let (d, c, r) = (matrix.nrows(), matrix.ncols(), top.found.rank());
    let u = Mat::from_fn(d, r, |i, j| top.found.u()[i * r + j]);
    let v = Mat::from_fn(c, r, |i, j| top.found.v()[i * r + j]);
    let scaled = Mat::from_fn(d, r, |i, j| u[(i, j)] * top.found.s()[j]);
    assert!((matrix * &v - scaled).norm_max() <= 1e-12 * exact[0]);
    for factor in [&u, &v] {
        assert!((factor.transpose() * factor - Mat::<f64>::identity(r, r)).norm_max() < 1e-13);
    }
}

#[test]
fn the_largest_values_are_those_of_a_full_decomposition() {
    for (rows, columns, k) in [(120, 90, 5), (90, 120, 5), (300, 200, 12), (40, 6, 3), (6, 40, 9)] {
        let matrix = random(rows, columns, 3);
        check(&matrix, &search(&matrix, k, None), k);
    }
}

#[test]
fn clustered_and_repeated_values_are_found() {
    let cluster: Vec<f64> =
        (0..80).map(|k| if k < 12 { 1.0 } else { 0.9 / f64::from(k) }).collect();
    let near: Vec<f64> = (0..80).map(|k| 1.0 - 1e-4 * f64::from(k)).collect();
    for values in [cluster, near] {
        let matrix = with_values(150, 100, &values, 7);
        check(&matrix, &search(&matrix, 8, None), 8);
    }
}

#[test]
fn a_matrix_of_lower_rank_than_asked_for_yields_what_it_has() {
    let matrix = with_values(120, 90, &[3.0, 2.0, 1e-3], 11);
    let top = search(&matrix, 6, None);
    check(&matrix, &top, 6);
    let zero = search(&Mat::zeros(120, 90), 6, None);
    assert!(zero.converged && zero.found.s().iter().all(|&s| s == 0.0));
}

#[test]
fn any_scale_gives_the_same_search() {
    let matrix = random(120, 90, 3);
    let plain = search(&matrix, 4, None);
    for exponent in [-500, -150, 150, 500] {
        let scale = 2.0_f64.powi(exponent);
        let scaled = search(&Mat::from_fn(120, 90, |i, j| matrix[(i, j)] * scale), 4, None);
        assert_eq!(scaled.applications, plain.applications);
        for (a, b) in scaled.found.s().iter().zip(plain.found.s()) {
            assert!((a / scale - b).abs() < 1e-13);
        }
    }
}

#[test]
fn a_warm_start_needs_fewer_products() {
    let matrix = random(300, 200, 5);
    let cold = search(&matrix, 6, None);
    let moved = &matrix + random(300, 200, 6) * faer::Scale(1e-4);
    // As exact as a step needs it.
    let values = by_rows(moved.as_ref());
    let of = |warm| {
        let search = Search { tolerance: 1e-8, ..Search::default() };
        top_singular(&Dense::new(300, 200, &values), 6, warm, &search).unwrap()
    };
    let (again, warm) = (of(None), of(Some(&cold.found)));
    check(&moved, &warm, 6);
    assert!(
        3 * warm.applications < 2 * again.applications,
        "{} warm, {} cold",
        warm.applications,
        again.applications
    );
}

// The earlier vectors are exact and span an invariant space: only the spare vectors can find the new value.
#[test]
fn a_new_direction_is_found_beside_exact_earlier_vectors() {
    let values: Vec<f64> =
        (0..60).map(|k| if k < 4 { 2.0 - 0.1 * f64::from(k) } else { 0.5 }).collect();
    let diagonal =
        |values: &[f64]| Mat::from_fn(60, 60, |i, j| if i == j { values[i] } else { 0.0 });
    let before = search(&diagonal(&values), 4, None);
    let mut after = values;
    after[59] = 3.0;
    let matrix = diagonal(&after);
    check(&matrix, &search(&matrix, 4, Some(&before.found)), 4);
}

#[test]
fn the_same_seed_gives_the_same_bits_and_the_limit_is_kept() {
    let matrix = random(300, 200, 5);
    let (a, b) = (search(&matrix, 6, None), search(&matrix, 6, None));
    assert_eq!(a.found, b.found);
    let values = by_rows(matrix.as_ref());
    let hasty = Search { limit: 30, ..Search::default() };
    let top = top_singular(&Dense::new(300, 200, &values), 6, None, &hasty).unwrap();
    // One round more than the limit at most, and it says that it is not done.
    assert!(!top.converged && top.applications <= 60);
}

#[test]
fn a_sum_over_sparse_rows_need_not_be_written_out() {
    let mut random = Random::new(2);
    let mut data = Rows::sparse();
    for _ in 0..200 {
        let first = random.below(40) as u32;
        data.push_sparse(&[(first, random.unit()), (first + 41, random.unit() - 0.5)]);
    }
    let y: Vec<f64> = (0..200 * 70).map(|_| random.unit() - 0.5).collect();
    let sum = OuterSum::new(&data, 90, 70, &y);
    let mut entries = vec![0.0; 90 * 70];
    let identity = by_rows(Mat::<f64>::identity(70, 70).as_ref());
    sum.add_apply(1.0, &identity, 70, &mut entries);
    let matrix = Mat::from_fn(90, 70, |i, j| entries[i * 70 + j]);
    check(&matrix, &top_singular(&sum, 3, None, &Search::default()).unwrap(), 3);
}
