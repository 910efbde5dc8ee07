//! Short rows with the inner products of long ones.
//!
//! Under λ/2‖w‖² a linear model depends on its n rows only through their inner products K = XX'. With K = LL' the n rows of L,
//! of n numbers each, have the same ones: a problem of long rows and that of L have the same dual, and the same dual points.
//!
//! K may be singular, so a trifle is added to its diagonal, of the size of the rounding of the factorisation.

use super::kernels::{dot, score};
use super::{Rows, UNIT_ROUNDOFF};
use multiversion::multiversion;

/// Rows with at least this share of entries are multiplied like dense ones: four products at a time, each of eight partial sums.
const FULL: f64 = 0.25;

/// Dense rows are multiplied in pieces of so many columns: those of a hundred rows then stay in the second cache.
const COLUMNS: usize = 512;

/// A multiplication of dense rows takes this share of the time of one in a pass over the rows.
const DENSE: f64 = 0.25;

/// If K is not positive definite in this arithmetic, what is added to its diagonal grows by this factor, so many times at most.
const GROWTH: f64 = 16.0;
const TRIALS: usize = 4;

fn is_full(rows: &Rows) -> bool {
    rows.stored() as f64 >= FULL * rows.len() as f64 * rows.width() as f64
}

/// Returns the work of [`compressed`] in passes of dual ascent, which multiplies every entry twice.
pub(crate) fn work_in_passes(rows: &Rows) -> f64 {
    let n = rows.len() as f64;
    let stored = (rows.stored() as f64).max(1.0);
    let products = if is_full(rows) { DENSE * n * rows.width() as f64 } else { stored };
    (n / 2.0 * products + n.powi(3) / 6.0) / (2.0 * stored)
}

/// Returns rows of n numbers with the inner products of these n rows, or `None` if these are too large to be multiplied.
pub fn compressed(rows: &Rows) -> Option<Rows> {
    let n = rows.len();
    let products = if is_full(rows) { of_full(rows) } else { of_sparse(rows) };
    let mut ridge = 4.0 * (n + 4) as f64 * UNIT_ROUNDOFF;
    for _ in 0..TRIALS {
        if let Some(factor) = factor(&products, n, ridge) {
            return Rows::from_dense(factor, n).ok();
        }
        ridge *= GROWTH;
    }
    None
}

/// Returns the lower half of XX', row by row.
fn of_full(rows: &Rows) -> Vec<f64> {
    let (n, width) = (rows.len(), rows.width());
    let mut products = vec![0.0; n * n];
    let mut piece = vec![0.0; n * COLUMNS.min(width)];
    // The place of the next entry of every row.
    let mut next = vec![0; n];
    for first in (0..width).step_by(COLUMNS) {
        let columns = COLUMNS.min(width - first);
        let piece = &mut piece[..n * columns];
        for (i, (out, next)) in piece.chunks_exact_mut(columns).zip(&mut next).enumerate() {
            rows.row(i).copy_columns(first, next, out);
        }
        add_products(piece, columns, &mut products);
    }
    products
}

/// Adds the lower half of ZZ', for rows of so many numbers.
#[multiversion(targets("x86_64+avx2", "x86_64+avx"))]
fn add_products(z: &[f64], columns: usize, products: &mut [f64]) {
    let n = z.len() / columns;
    for (i, (row, products)) in
        z.chunks_exact(columns).zip(products.chunks_exact_mut(n)).enumerate()
    {
        let mut j = 0;
        while j + 3 <= i {
            let others: [&[f64]; 4] = std::array::from_fn(|k| &z[(j + k) * columns..][..columns]);
            let sums = four_products(row, others);
            products[j..j + 4].iter_mut().zip(sums).for_each(|(product, sum)| *product += sum);
            j += 4;
        }
        for (product, other) in
            products[j..=i].iter_mut().zip(z[j * columns..].chunks_exact(columns))
        {
            *product += four_products(row, [other; 4])[0];
        }
    }
}

/// Returns four inner products, each in eight partial sums.
#[inline(always)]
#[allow(clippy::inline_always)]
fn four_products(a: &[f64], others: [&[f64]; 4]) -> [f64; 4] {
    let mut lanes = [[0.0; 8]; 4];
    let even = a.len() / 8 * 8;
    for at in (0..even).step_by(8) {
        let a = &a[at..at + 8];
        for (lanes, other) in lanes.iter_mut().zip(others) {
            let other = &other[at..at + 8];
            for lane in 0..8 {
                lanes[lane] += a[lane] * other[lane];
            }
        }
    }
    let mut sums = [0.0; 4];
    for ((sum, lanes), other) in sums.iter_mut().zip(lanes).zip(others) {
        let tail: f64 = a[even..].iter().zip(&other[even..]).map(|(a, b)| a * b).sum();
        *sum = lanes.iter().sum::<f64>() + tail;
    }
    sums
}

/// The same for rows with few entries.
fn of_sparse(rows: &Rows) -> Vec<f64> {
    let n = rows.len();
    let mut products = vec![0.0; n * n];
    let mut written = vec![0.0; rows.width()];
    for i in 0..n {
        rows.row(i).for_each(|j, x| written[j] = x);
        for (j, product) in products[i * n..=i * n + i].iter_mut().enumerate() {
            *product = score(rows.row(j), &written);
        }
        rows.row(i).for_each(|j, _| written[j] = 0.0);
    }
    products
}

/// Returns L of K + ridge·diag K = LL', by rows, or `None` if there is none in this arithmetic. A row without entries has none in L.
fn factor(products: &[f64], n: usize, ridge: f64) -> Option<Vec<f64>> {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        let (above, rest) = l.split_at_mut(i * n);
        let (row, of_row) = (&mut rest[..n], &products[i * n..=i * n + i]);
        for (j, other) in above.chunks_exact(n).enumerate() {
            let pivot = other[j];
            if pivot > 0.0 {
                row[j] = (of_row[j] - dot(&row[..j], &other[..j])) / pivot;
            }
        }
        let pivot = of_row[i] * (1.0 + ridge) - dot(&row[..i], &row[..i]);
        if !(pivot > 0.0 || of_row[i] == 0.0) || !pivot.is_finite() {
            return None;
        }
        row[i] = pivot.max(0.0).sqrt();
    }
    Some(l)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Random;

    fn check(rows: &Rows) {
        let short = compressed(rows).unwrap();
        assert_eq!((short.len(), short.width()), (rows.len(), rows.len()));
        for i in 0..rows.len() {
            for j in 0..rows.len() {
                let (long, other) = (rows.row(i), rows.row(j));
                let size = (long.squared_norm() * other.squared_norm()).sqrt();
                let off = short.row(i).dot(short.row(j)) - long.dot(other);
                assert!(off.abs() <= 1e-12 * size, "{i} {j}: {off} of {size}");
            }
        }
    }

    fn random(n: usize, width: usize, share: f64, seed: u64) -> Vec<Vec<f64>> {
        let mut random = Random::new(seed);
        let mut entry = || if random.unit() < share { random.unit() - 0.4 } else { 0.0 };
        (0..n).map(|_| (0..width).map(|_| entry()).collect()).collect()
    }

    #[test]
    fn inner_products_are_kept() {
        for (n, width, share) in [(1, 9, 1.0), (7, 1100, 1.0), (13, 700, 0.5), (10, 900, 0.02)] {
            let rows = random(n, width, share, 3);
            check(&Rows::dense(&rows).unwrap());
            let mut sparse = Rows::sparse();
            for row in &rows {
                let entries = (0_u32..).zip(row).filter(|(_, x)| **x != 0.0);
                sparse.push_sparse(&entries.map(|(j, x)| (j, *x)).collect::<Vec<_>>());
            }
            check(&sparse);
        }
    }

    #[test]
    fn rows_may_depend_on_each_other() {
        let mut rows = random(8, 300, 1.0, 5);
        rows[3] = rows[1].clone();
        rows[5] = rows[0].iter().zip(&rows[2]).map(|(a, b)| 1e3 * (a - b)).collect();
        rows[6] = vec![0.0; 300];
        rows[7] = rows[1].iter().map(|x| 1e-8 * x).collect();
        check(&Rows::dense(&rows).unwrap());
    }

    #[test]
    fn products_that_overflow_are_not_compressed() {
        assert!(compressed(&Rows::dense(&[vec![1e200; 3], vec![1.0; 3]]).unwrap()).is_none());
    }

    #[test]
    fn short_rows_have_the_same_inner_products() -> crate::Result<()> {
        use crate::linalg::compression::compressed;
        let long = Rows::dense(&[vec![3.0, 0.0, 4.0, 0.0], vec![0.0, 1.0, 2.0, 2.0]])?;
        let short = compressed(&long).unwrap();
        assert_eq!((short.len(), short.width()), (2, 2));
        assert!((short.row(0).dot(short.row(1)) - 8.0).abs() < 1e-12);
        Ok(())
    }
}
