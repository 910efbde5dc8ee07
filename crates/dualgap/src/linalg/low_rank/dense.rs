//! The few dense operations that low-rank matrices need, on the matrices of `dualgap_dense`.
//!
//! Everywhere else a matrix is a slice in row-major order, like label-factored weights; only this file and its
//! neighbours use those types.

use super::interruptible::called_until;
use crate::linalg::{Halted, gamma};
use crate::{Error, Result};
use dualgap_dense::{Mat, MatMut, MatRef, thin_qr};
pub(crate) use dualgap_dense::{add_product, multiply};

/// Views a row-major slice with `columns` numbers per row as a matrix.
pub(crate) fn by_rows(values: &[f64], rows: usize, columns: usize) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(values, rows, columns)
}

/// Returns the entries of the matrix in row-major order.
pub(crate) fn to_rows(matrix: MatRef<'_, f64>) -> Vec<f64> {
    let mut values = vec![0.0; matrix.nrows() * matrix.ncols()];
    MatMut::from_row_major_slice_mut(&mut values, matrix.nrows(), matrix.ncols()).copy_from(matrix);
    values
}

/// Returns `a · b`.
pub(crate) fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    multiply(out.as_mut(), a, b);
    out
}

/// Returns `[a b]`.
pub(crate) fn beside(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows().max(b.nrows()), a.ncols() + b.ncols());
    out.subcols_mut(0, a.ncols()).copy_from(a);
    out.subcols_mut(a.ncols(), b.ncols()).copy_from(b);
    out
}

/// Multiplies column j by `factors[j]`.
pub(crate) fn scale_columns(matrix: &mut Mat<f64>, factors: &[f64]) {
    for (j, &factor) in factors.iter().enumerate() {
        matrix.col_as_slice_mut(j).iter_mut().for_each(|x| *x *= factor);
    }
}

/// Returns the largest magnitude, or infinity if an entry is not a number.
pub(crate) fn largest(values: &[f64]) -> f64 {
    values
        .iter()
        .fold(0.0, |top: f64, &x| if x.is_nan() { f64::INFINITY } else { top.max(x.abs()) })
}

/// Returns a power of two near `x`: dividing by it, even twice, rounds nothing except where it underflows. The
/// exponent stays within ±1000, so the inverse is a normal number too.
pub(crate) fn power_near(x: f64) -> f64 {
    let exponent = (x.abs().to_bits() >> 52).clamp(23, 2023);
    f64::from_bits(exponent << 52)
}

/// Returns an upper bound on `√Σ x²`, at any scale.
pub(crate) fn frobenius(values: &[f64]) -> f64 {
    let top = largest(values);
    if top == 0.0 || !top.is_finite() {
        return top;
    }
    // The largest entry is near one: the squares that underflow are far below the rounding that the bound allows
    // for.
    let scale = power_near(top);
    let squared = values.iter().fold(0.0, |sum, x| sum + (x / scale) * (x / scale));
    squared.sqrt() * scale * (1.0 + gamma(values.len() + 8)) + f64::MIN_POSITIVE
}

/// U, the singular values in descending order, and V of a thin decomposition.
pub(crate) type Decomposition = (Mat<f64>, Vec<f64>, Mat<f64>);

/// Computes `matrix = U diag(s) V'`, with as many columns as the shorter side.
pub(crate) fn thin_svd(mut matrix: Mat<f64>) -> Result<Decomposition> {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    let top = (0..columns).fold(0.0_f64, |top, j| top.max(largest(matrix.col_as_slice(j))));
    if rows == 0 || columns == 0 {
        return Ok((Mat::zeros(rows, 0), Vec::new(), Mat::zeros(columns, 0)));
    }
    if !top.is_finite() {
        return Err(Error::Unsound {
            message: "a matrix has an entry that is no number: it has no singular values".into(),
        });
    }
    // Without scaling, squares of entries far from one would overflow or underflow.
    let scale = if top > 0.0 { power_near(top) } else { 1.0 };
    scale_columns(&mut matrix, &vec![1.0 / scale; columns]);
    let found = dualgap_dense::thin_svd(matrix.as_ref());
    let (u, mut values, v) = found.ok_or_else(|| Error::Unsound {
        message: "the singular values of a small matrix did not converge".into(),
    })?;
    values.iter_mut().for_each(|s| *s *= scale);
    Ok((u, values, v))
}

/// Estimates the operations of a singular value decomposition.
pub(crate) fn cost_of_svd(rows: usize, columns: usize) -> f64 {
    let (short, long) = (rows.min(columns) as f64, rows.max(columns) as f64);
    short * short * (20.0 * short + 6.0 * long)
}

/// [`thin_svd`], or none if it is halted.
pub(crate) fn thin_svd_until(
    matrix: Mat<f64>,
    halted: Halted<'_>,
) -> Result<Option<Decomposition>> {
    let operations = cost_of_svd(matrix.nrows(), matrix.ncols());
    called_until(operations, halted, || thin_svd(matrix)).transpose()
}

/// `dualgap_dense::thin_qr`, or none if it is halted.
fn thin_qr_until(matrix: Mat<f64>, halted: Halted<'_>) -> Option<(Mat<f64>, Mat<f64>)> {
    let (rows, columns) = (matrix.nrows() as f64, matrix.ncols() as f64);
    called_until(4.0 * rows * columns * columns, halted, move || thin_qr(matrix.as_ref()))
}

/// Returns the eigenvectors and the eigenvalues, in descending order, of a symmetric matrix given by its lower
/// triangle.
pub(crate) fn symmetric_eigen(matrix: MatRef<'_, f64>) -> Result<(Mat<f64>, Vec<f64>)> {
    if !matrix.is_all_finite() {
        return Err(Error::Unsound {
            message: "a matrix has an entry that is no number: it has no eigenvalues".into(),
        });
    }
    dualgap_dense::symmetric_eigen(matrix).ok_or_else(|| Error::Unsound {
        message: "the eigenvalues of a small matrix did not converge".into(),
    })
}

/// The result of [`split_until`]: `block = basis · inside + fresh · outside`.
pub(crate) struct Split {
    /// Orthonormal, and orthogonal to the basis; as many columns as the block adds to its span.
    pub fresh: Mat<f64>,
    pub inside: Mat<f64>,
    pub outside: Mat<f64>,
}

/// Splits a block into a part in the span of an orthonormal basis and an orthonormal rest.
///
/// The singular values of the rest distinguish its directions from rounding, even if the columns differ in length.
/// After normalisation the directions are orthogonalised against the basis a second time: if the block lies nearly
/// in the span, the first pass leaves a component there. Returns none if it is halted.
pub(crate) fn split_until(
    basis: MatRef<'_, f64>,
    mut block: Mat<f64>,
    halted: Halted<'_>,
) -> Result<Option<Split>> {
    let top = (0..block.ncols()).fold(0.0_f64, |top, j| top.max(block.col(j).norm_l2()));
    let mut inside = product(basis.transpose(), block.as_ref());
    add_product(block.as_mut(), -1.0, basis, inside.as_ref());
    let Some((q, r)) = thin_qr_until(block, halted) else { return Ok(None) };
    let Some((x, s, y)) = thin_svd_until(r, halted)? else { return Ok(None) };
    let room = basis.nrows().saturating_sub(basis.ncols());
    let rank = s.iter().take_while(|&&s| s > 16.0 * f64::EPSILON * top).count().min(room);
    let mut fresh = product(q.as_ref(), x.subcols(0, rank));
    let mut shares = y.subcols(0, rank).to_owned();
    scale_columns(&mut shares, &s[..rank]);
    let kept = product(basis.transpose(), fresh.as_ref());
    add_product(fresh.as_mut(), -1.0, basis, kept.as_ref());
    add_product(inside.as_mut(), 1.0, kept.as_ref(), shares.transpose());
    let Some((fresh, r)) = thin_qr_until(fresh, halted) else { return Ok(None) };
    let outside = product(r.as_ref(), shares.transpose());
    Ok(Some(Split { fresh, inside, outside }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Random;
    use crate::linalg::halt::never;

    fn split(basis: MatRef<'_, f64>, block: Mat<f64>) -> Split {
        split_until(basis, block, &never).unwrap().unwrap()
    }

    fn random(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
        let mut random = Random::new(seed);
        Mat::from_fn(rows, columns, |_, _| random.unit() - 0.5)
    }

    fn distance(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
        (a - b).norm_max()
    }

    #[test]
    fn a_split_block_is_the_sum_of_its_parts_and_the_rest_is_orthonormal() {
        let basis = thin_qr(random(30, 6, 1).as_ref()).0;
        let mut block = random(30, 5, 2);
        // One column lies in the span of the basis, one repeats another, and one is tiny.
        let inside = product(basis.as_ref(), random(6, 1, 3).as_ref());
        block.col_mut(1).copy_from(inside.col(0));
        let copy = block.col(0).to_owned();
        block.col_mut(3).copy_from(copy);
        block.col_as_slice_mut(4).iter_mut().for_each(|x| *x *= 1e-9);
        let parts = split(basis.as_ref(), block.clone());
        assert_eq!(parts.fresh.ncols(), 3);
        let mut again = product(basis.as_ref(), parts.inside.as_ref());
        add_product(again.as_mut(), 1.0, parts.fresh.as_ref(), parts.outside.as_ref());
        assert!(distance(again.as_ref(), block.as_ref()) < 1e-14);
        let all = beside(basis.as_ref(), parts.fresh.as_ref());
        let gram = product(all.transpose(), all.as_ref());
        assert!(distance(gram.as_ref(), Mat::identity(9, 9).as_ref()) < 1e-14);
    }

    #[test]
    fn a_basis_of_the_whole_space_leaves_nothing() {
        let parts = split(Mat::<f64>::identity(3, 3).as_ref(), random(3, 2, 4));
        assert_eq!(parts.fresh.ncols(), 0);
        let parts = split(Mat::<f64>::zeros(3, 0).as_ref(), Mat::zeros(3, 2));
        assert_eq!(parts.fresh.ncols(), 0);
    }

    #[test]
    fn singular_values_survive_any_scale() {
        for scale in [1e-300, 1e-150, 1.0, 1e150, 1e300] {
            let matrix = Mat::from_fn(2, 2, |i, j| scale * [[3.0, 0.0], [4.0, 5.0]][i][j]);
            let (_, s, _) = thin_svd(matrix).unwrap();
            // The squares of the singular values are 45 and 5.
            assert!((s[0] / scale / 45.0_f64.sqrt() - 1.0).abs() < 1e-14);
            assert!((s[1] / scale / 5.0_f64.sqrt() - 1.0).abs() < 1e-14);
        }
        assert!(thin_svd(Mat::from_fn(1, 1, |_, _| f64::NAN)).is_err());
    }

    #[test]
    fn eigenvalues_fall_and_belong_to_their_vectors() {
        let basis = thin_qr(random(5, 5, 7).as_ref()).0;
        let mut scaled = basis.clone();
        scale_columns(&mut scaled, &[0.0, 3.0, -1.0, 7.0, 3.0]);
        let matrix = product(scaled.as_ref(), basis.transpose());
        let (vectors, values) = symmetric_eigen(matrix.as_ref()).unwrap();
        for (value, expected) in values.iter().zip([7.0, 3.0, 3.0, 0.0, -1.0]) {
            assert!((value - expected).abs() < 1e-13, "{values:?}");
        }
        let mut turned = vectors.clone();
        scale_columns(&mut turned, &values);
        let images = product(matrix.as_ref(), vectors.as_ref());
        assert!(distance(images.as_ref(), turned.as_ref()) < 1e-13);
        let gram = product(vectors.transpose(), vectors.as_ref());
        assert!(distance(gram.as_ref(), Mat::identity(5, 5).as_ref()) < 1e-13);
        assert!(symmetric_eigen(Mat::from_fn(2, 2, |_, _| f64::INFINITY).as_ref()).is_err());
    }

    #[test]
    fn the_power_is_near_and_its_inverse_is_a_number() {
        for x in [1e-320, 1e-300, 0.3, 1.0, 1.9, 1e300, f64::MAX] {
            let power = power_near(x);
            assert_eq!((1.0 / power) * power, 1.0);
            assert!(x / power < 2.0_f64.powi(25) && (x < 1e-299 || x / power >= 1.0));
        }
    }
}
