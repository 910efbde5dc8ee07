//! `F F'` with a proven bound on its rounding, the basis of both proofs about norms.
//!
//! Inner products are split into short runs. A run is a conventional product: for any order of its additions, fused
//! or not, its error is at most γ_B · |F||F'|, entry by entry. The runs are then summed with compensation, which
//! adds hardly any error. So the bound grows with the length of a run, 64, and not with that of the matrix.
//!
//! F||F'| has no negative entries, so its norm is at most `max_i (|F||F'|x)_i / x_i` for every positive x (Collatz and
//! Wielandt), and a few power steps find an x for which this is nearly tight.

use super::dense::{largest, multiply};
use crate::linalg::halt::Halted;
use crate::linalg::sum::two_sum;
use crate::linalg::{UNIT_ROUNDOFF, gamma};
use dualgap_dense::{Mat, MatRef};

/// The length of a run of inner products: longer runs are faster, shorter ones more accurate.
const RUN: usize = 64;

/// The side of the tiles of the result, chosen so that the two parts of a product stay in a cache.
const TILE: usize = 192;

/// An upper bound on what underflow can cost, by a wide margin, for any matrix that fits in memory.
pub(crate) const VANISHING: f64 = 1e-300;

/// `F F'` as computed, both triangles, and a bound on its error.
pub(crate) struct Gram {
    pub product: Mat<f64>,
    /// At least the spectral norm of the difference to the exact product.
    pub error: f64,
}

/// Computes `F F'` for a matrix with contiguous columns. Its entries should be near one: see
/// [`power_near`](super::dense::power_near). If halted, the error is infinite.
pub(crate) fn gram(f: MatRef<'_, f64>, halted: Halted<'_>) -> Gram {
    tiled(f, |_| f.ncols(), halted)
}

/// Computes `L L'` for a lower triangular matrix, whose upper triangle must be zero.
pub(crate) fn gram_of_triangle(l: MatRef<'_, f64>, halted: Halted<'_>) -> Gram {
    tiled(l, |end| end, halted)
}

/// Computes the product tile by tile; `inner(end)` is the number of columns that the rows before `end` need.
fn tiled(f: MatRef<'_, f64>, inner: impl Fn(usize) -> usize, halted: Halted<'_>) -> Gram {
    let (n, m) = (f.nrows(), f.ncols());
    let mut product = Mat::zeros(n, n);
    let mut part = Mat::<f64>::zeros(TILE.min(n), TILE.min(n));
    let mut sums = vec![[0.0; 2]; part.nrows() * part.ncols()];
    for left in (0..n).step_by(TILE) {
        let width = TILE.min(n - left);
        let terms = inner(left + width);
        for top in (left..n).step_by(TILE) {
            if halted() {
                return Gram { product, error: f64::INFINITY };
            }
            let height = TILE.min(n - top);
            let sums = &mut sums[..height * width];
            sums.fill([0.0; 2]);
            for start in (0..terms).step_by(RUN) {
                let run = RUN.min(terms - start);
                let a = f.submatrix(top, start, height, run);
                let b = f.submatrix(left, start, width, run);
                multiply(part.submatrix_mut(0, 0, height, width), a, b.transpose());
                for (j, sums) in sums.chunks_exact_mut(height).enumerate() {
                    for ([high, low], &x) in sums.iter_mut().zip(&part.col_as_slice(j)[..height]) {
                        two_sum(high, low, x);
                    }
                }
            }
            for (j, sums) in sums.chunks_exact(height).enumerate() {
                for (i, [high, low]) in sums.iter().enumerate() {
                    product[(top + i, left + j)] = high + low;
                    product[(left + j, top + i)] = high + low;
                }
            }
        }
    }
    // The bound counts each run, its own rounding, the last addition, and the second order of the compensation.
    let runs = (m.div_ceil(RUN) + 1) as f64 * UNIT_ROUNDOFF;
    let relative = gamma(RUN + 4) + 4.0 * runs * runs;
    Gram { product, error: relative * norm_of_magnitudes(f) + VANISHING }
}

/// Returns an upper bound on the spectral norm of `|F||F'|` that is rarely much too large.
fn norm_of_magnitudes(f: MatRef<'_, f64>) -> f64 {
    let (n, m) = (f.nrows(), f.ncols());
    let mut x = vec![1.0; n];
    let mut best = f64::INFINITY;
    for _ in 0..4 {
        let mut image = vec![0.0; n];
        for j in 0..m {
            let Some(column) = f.col(j).try_as_col_major() else { return f64::INFINITY };
            let column = column.as_slice();
            let dot = magnitude_dot(column, &x);
            image.iter_mut().zip(column).for_each(|(y, f)| *y += f.abs() * dot);
        }
        let top = largest(&image);
        if top == 0.0 || top == f64::INFINITY {
            return best.min(top) + VANISHING;
        }
        let ratio = image.iter().zip(&x).fold(0.0_f64, |top, (y, x)| top.max(y / x));
        best = best.min(ratio);
        // Any positive vector gives a valid bound; the floor keeps small entries from spoiling the ratio.
        x.iter_mut().zip(&image).for_each(|(x, y)| *x = (y / top).max(1e-3));
    }
    // Sums of nonnegative terms have a relative rounding error.
    best * (1.0 + 2.0 * gamma(n + m + 8)) + VANISHING
}

/// Returns `Σ |a_i| x_i`, in four interleaved sums.
fn magnitude_dot(a: &[f64], x: &[f64]) -> f64 {
    let (mut sums, cut) = ([0.0; 4], a.len() / 4 * 4);
    for (a, x) in a[..cut].chunks_exact(4).zip(x[..cut].chunks_exact(4)) {
        for lane in 0..4 {
            sums[lane] += a[lane].abs() * x[lane];
        }
    }
    let rest: f64 = a[cut..].iter().zip(&x[cut..]).map(|(a, x)| a.abs() * x).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Random;
    use crate::linalg::halt::never;
    use proptest::prelude::*;

    /// Integers below 2^26, divided by 2^26: their products are exact in 128 bits.
    fn whole(n: usize, m: usize, seed: u64) -> (Vec<i64>, Mat<f64>) {
        let mut random = Random::new(seed);
        let numbers: Vec<i64> =
            (0..n * m).map(|_| (random.unit() * f64::from(1 << 27)) as i64 - (1 << 26)).collect();
        let matrix = Mat::from_fn(n, m, |i, j| numbers[i * m + j] as f64 / f64::from(1 << 26));
        (numbers, matrix)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        // The Frobenius norm of the exact difference is at least the spectral one, so the bound is
        // compared with the largest entry, which is at most the spectral norm.
        #[test]
        fn the_error_bound_holds_against_exact_products(n in 1_usize..8, m in 1_usize..400, seed in 0_u64..100) {
            let (numbers, matrix) = whole(n, m, seed);
            let gram = gram(matrix.as_ref(), &never);
            for i in 0..n {
                for j in 0..n {
                    let exact: i128 = (0..m)
                        .map(|k| i128::from(numbers[i * m + k]) * i128::from(numbers[j * m + k]))
                        .sum();
                    // Two numbers of 52 bits each: the difference is exact to 2^-104.
                    let scaled = gram.product[(i, j)] * 2.0_f64.powi(52);
                    let high = scaled as i128;
                    let rest = scaled - high as f64;
                    let difference = ((high - exact) as f64 + rest) * 2.0_f64.powi(-52);
                    prop_assert!(difference.abs() <= gram.error);
                }
            }
            prop_assert!(gram.error <= 1e-14 * (n * m) as f64);
        }
    }

    #[test]
    fn tiles_and_triangles_change_nothing() {
        let (_, mut l) = whole(2 * TILE + 7, 2 * TILE + 7, 3);
        for j in 0..l.ncols() {
            l.col_as_slice_mut(j)[..j].fill(0.0);
        }
        let (plain, triangle) = (gram(l.as_ref(), &never), gram_of_triangle(l.as_ref(), &never));
        assert!((plain.product.as_ref() - triangle.product.as_ref()).norm_max() < 1e-12);
        let direct = super::super::dense::product(l.as_ref(), l.transpose());
        assert!((plain.product.as_ref() - direct.as_ref()).norm_max() < 1e-12);
        assert_eq!(plain.product[(0, 5)], plain.product[(5, 0)]);
    }

    #[test]
    fn the_norm_of_magnitudes_is_tight_where_it_is_known() {
        // Rank one: |f||f'| has the norm ‖f‖².
        let f = Mat::from_fn(3, 1, |i, _| [3.0, -4.0, 12.0][i]);
        let norm = norm_of_magnitudes(f.as_ref());
        assert!((169.0..169.0 * (1.0 + 1e-12)).contains(&norm));
        assert!(norm_of_magnitudes(Mat::<f64>::zeros(3, 2).as_ref()) <= VANISHING);
    }
}
