//! A prediction and the size of its terms, in one pass over a row: what a certificate needs to bound its rounding.

use super::Row;
use super::row::ones;
use super::underflow::{SMALLEST_SIZE, size_of_product};
use multiversion::multiversion;

/// The terms are added in this many interleaved sums, so that no addition waits for the last one.
const LANES: usize = 4;

/// Returns `Σ x_j w_j`, and an upper bound on the sum of the sizes of its terms, each counted as
/// [`size_of_product`] does: the rounding of the first is at most a multiple of the second, in whatever order
/// the terms are added.
pub fn sized_score(row: Row<'_>, w: &[f64]) -> (f64, f64) {
    let (score, size) = match row {
        Row::Dense(values) => dense(values, &w[..values.len()]),
        Row::Sparse { indices, values } => sparse(indices, values, w),
        Row::Single { indices, values } => sparse(indices, values, w),
        Row::Ones { indices } => sparse(indices, ones(indices.len()), w),
    };
    // Whatever underflows is worth no more than this; without any term that does not, the sum of sizes is exact.
    if size > 0.0 {
        (score, size + row.stored() as f64 * SMALLEST_SIZE)
    } else {
        (score, row.iter().fold(0.0, |sum, (j, x)| sum + size_of_product(x, w[j])))
    }
}

#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn dense(x: &[f64], w: &[f64]) -> (f64, f64) {
    let (mut sums, mut sizes) = ([0.0; 2 * LANES], [0.0; 2 * LANES]);
    let (head, tail) = x.split_at(x.len() / (2 * LANES) * (2 * LANES));
    let (head_w, tail_w) = w.split_at(head.len());
    for (x, w) in head.chunks_exact(2 * LANES).zip(head_w.chunks_exact(2 * LANES)) {
        for lane in 0..2 * LANES {
            let product = x[lane] * w[lane];
            sums[lane] += product;
            sizes[lane] += product.abs();
        }
    }
    for (lane, (x, w)) in tail.iter().zip(tail_w).enumerate() {
        let product = x * w;
        sums[lane] += product;
        sizes[lane] += product.abs();
    }
    (sums.iter().sum(), sizes.iter().sum())
}

fn sparse<X: Copy + Into<f64>>(indices: &[u32], values: &[X], w: &[f64]) -> (f64, f64) {
    let (mut sums, mut sizes) = ([0.0; LANES], [0.0; LANES]);
    let (full, rest) = indices.as_chunks::<LANES>();
    let (full_values, rest_values) = values.as_chunks::<LANES>();
    let mut add = |lane: usize, j: u32, x: X| {
        let product = x.into() * w[j as usize];
        sums[lane] += product;
        sizes[lane] += product.abs();
    };
    for (indices, values) in full.iter().zip(full_values) {
        for lane in 0..LANES {
            add(lane, indices[lane], values[lane]);
        }
    }
    for (lane, (&j, &x)) in rest.iter().zip(rest_values).enumerate() {
        add(lane, j, x);
    }
    (sums.iter().sum(), sizes.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // Integers below 2^20 have exact products and sums; large and small factors of two make some underflow.
        #[test]
        fn the_size_is_not_below_that_of_the_terms(
            terms in prop::collection::vec((-1000_i32..1000, -1000_i32..1000), 0..40),
            tiny in prop::bool::ANY,
        ) {
            let scale = if tiny { 1e-162 } else { 1.0 };
            let x: Vec<f64> = terms.iter().map(|&(x, _)| f64::from(x) * scale).collect();
            let w: Vec<f64> = terms.iter().map(|&(_, w)| f64::from(w) * scale).collect();
            let indices: Vec<u32> = (0..x.len() as u32).collect();
            for row in [Row::Dense(&x), Row::Sparse { indices: &indices, values: &x }] {
                let (score, size) = sized_score(row, &w);
                let least: f64 = x.iter().zip(&w).map(|(x, w)| size_of_product(*x, *w)).sum();
                prop_assert!(size >= least * (1.0 - 1e-14), "{size:e} {least:e}");
                prop_assert_eq!(size == 0.0, least == 0.0);
                if !tiny {
                    let exact: i64 = terms.iter().map(|&(x, w)| i64::from(x) * i64::from(w)).sum();
                    prop_assert_eq!(score, exact as f64);
                }
            }
        }
    }

    #[test]
    fn a_score_comes_with_the_size_of_its_terms() {
        let (score, size) = sized_score(Row::Dense(&[2.0, -1.0]), &[3.0, 1.0]);
        assert!(score == 5.0 && (7.0..7.1).contains(&size));
    }
}
