//! A nearly tight upper bound on a spectral norm, proven with rounding included.
//!
//! A singular value found by an iteration is at most the largest one; a certificate needs the opposite bound. `‖E‖ ≤
//! t` holds exactly when t²I − E'E has no negative eigenvalue, and a Cholesky factor shows that:
//!
//! ```text
//! E'E = G + Δ₁           G as computed on the shorter side of E, ‖Δ₁‖ ≤ δ₁
//! τI − G = L L' + Δ₂     whatever L is: ‖Δ₂‖ ≤ δ₂ from L L', computed again
//! ‖E‖² ≤ τ + δ₁ + δ₂
//! ```
//!
//! This is the idea of Rump's "Verification of positive definiteness" (2006), with the shift measured from the
//! computed factor instead of bounded beforehand: the proof needs no knowledge of how L was computed. Both δ come
//! from the compensated products of `gram`, so the relative error of the bound is about 1e-13 for some hundred
//! columns and 1e-12 for some thousand.

use super::dense::{frobenius, largest, power_near, product, to_rows};
use super::factors::LowRank;
use super::gram::{VANISHING, gram, gram_of_triangle};
use super::interruptible::called_until;
use super::operator::{Dense, Operator};
use super::singular::{Search, top_singular_until};
use crate::linalg::halt::{Halted, never};
use crate::linalg::{UNIT_ROUNDOFF, gamma};
use crate::{Error, Result};
use dualgap_dense::{Mat, MatRef, cholesky, symmetric_eigenvalues};

/// The longest shorter side for which a tight bound is worth its cubic cost.
const SIDE: usize = 4096;

/// Up to this size all eigenvalues cost no more than a search for the largest.
const FEW: usize = 300;

/// How a bound is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// By a Cholesky factor: as tight as rounding allows.
    Cholesky,
    /// By the norm of a known low-rank part and the Frobenius norm of the rest, for matrices that are too large for
    /// a factor: loose if the rest spreads over many directions.
    Remainder,
    /// By the largest absolute row and column sums.
    Sums,
}

/// A proven upper bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpectralBound {
    /// At least the spectral norm.
    pub bound: f64,
    /// How the bound is proven.
    pub proof: Proof,
}

/// Returns an upper bound on the spectral norm of every matrix within the Frobenius distance `error` of this one. It ends soon after
/// it is halted, with a coarser bound that is proven all the same: by sums of the entries, or by the last factor found.
pub fn spectral_bound_until(
    matrix: &Dense<'_>,
    error: f64,
    halted: Halted<'_>,
) -> Result<SpectralBound> {
    bound_up_to(matrix, error, SIDE, halted)
}

/// [`spectral_bound_until`] with another longest side for the Cholesky factor.
fn bound_up_to(
    matrix: &Dense<'_>,
    error: f64,
    side: usize,
    halted: Halted<'_>,
) -> Result<SpectralBound> {
    let top = largest(matrix.values());
    if !(top + error).is_finite() {
        return Err(Error::Unsound {
            message: "a matrix has an entry that is no number: its norm has no bound".into(),
        });
    }
    if top == 0.0 {
        return Ok(SpectralBound { bound: error, proof: Proof::Sums });
    }
    let (rows, columns) = (matrix.rows(), matrix.columns());
    // The squares of entries near one neither overflow nor underflow.
    let scale = power_near(top);
    let mut values: Vec<f64> = matrix.values().iter().map(|x| x / scale).collect();
    let scaled = Dense::new(rows, columns, &values);
    let mut best = (sums(&scaled), Proof::Sums);
    let other = if halted() {
        (frobenius(&values), Proof::Sums)
    } else if rows.min(columns) > side {
        (remainder(&scaled, halted)?, Proof::Remainder)
    } else {
        if rows < columns {
            values = to_rows(MatRef::from_column_major_slice(&values, columns, rows));
        }
        let short = rows.min(columns);
        let f = MatRef::from_column_major_slice(&values, short, rows.max(columns));
        (by_cholesky(f, halted)?, Proof::Cholesky)
    };
    if other.0 <= best.0 {
        best = other;
    }
    let bound = ((best.0 + VANISHING) * scale + error) * (1.0 + 4.0 * UNIT_ROUNDOFF);
    Ok(SpectralBound { bound: bound.next_up(), proof: best.1 })
}

/// Returns `√(‖E‖_1 ‖E‖_∞)`, which the spectral norm never exceeds.
fn sums(matrix: &Dense<'_>) -> f64 {
    let columns = matrix.columns();
    let (mut across, mut down) = (0.0_f64, vec![0.0; columns]);
    for row in matrix.values().chunks_exact(columns) {
        across = across.max(row.iter().map(|x| x.abs()).sum());
        down.iter_mut().zip(row).for_each(|(sum, x)| *sum += x.abs());
    }
    (across * largest(&down)).sqrt() * (1.0 + 2.0 * gamma(matrix.rows() + columns + 4))
}

/// Returns the bound of the module's head, for `F F'` where F has few rows, or infinity if no factor was found, in
/// time or at all.
fn by_cholesky(f: MatRef<'_, f64>, halted: Halted<'_>) -> Result<f64> {
    let g = gram(f, halted);
    let n = g.product.nrows();
    let near = largest_eigenvalue(&g.product, halted)?;
    let mut slack = 8.0 * UNIT_ROUNDOFF * (n as f64).sqrt();
    let (mut best, mut failed) = (f64::INFINITY, 0.0);
    // The estimate may be below the largest eigenvalue. Then the slack grows, and it shrinks again if it became
    // larger than rounding requires.
    for _ in 0..16 {
        if halted() {
            break;
        }
        match eigenvalue_bound(&g.product, near * (1.0 + slack), halted) {
            Some(bound) => {
                best = bound.min(best);
                if slack <= 1e-12 || slack <= 2.0 * failed {
                    break;
                }
                slack = (slack * failed).sqrt();
            }
            None if best.is_finite() => {
                failed = slack;
                slack *= 1.5;
            }
            None => {
                failed = slack;
                slack *= 8.0;
            }
        }
    }
    Ok((best + g.error).sqrt() * (1.0 + 4.0 * UNIT_ROUNDOFF))
}

/// Returns an estimate of the largest eigenvalue, usually from below.
fn largest_eigenvalue(g: &Mat<f64>, halted: Halted<'_>) -> Result<f64> {
    let n = g.nrows();
    if n <= FEW
        && let Some(values) = symmetric_eigenvalues(g.as_ref())
    {
        return Ok(values.first().copied().unwrap_or(0.0));
    }
    let values = to_rows(g.as_ref());
    let search = Search { tolerance: 1e-9, limit: 1000, seed: 0 };
    let matrix = Dense::new(n, n, &values);
    let top = top_singular_until(&matrix, 1, None, &search, &|_| f64::NEG_INFINITY, halted)?;
    Ok(top.found.s().first().copied().unwrap_or(0.0))
}

/// Returns an upper bound on the eigenvalues of the symmetric G, at `tau` or slightly above, or `None` if τI − G has
/// no Cholesky factor, or if it is halted.
fn eigenvalue_bound(g: &Mat<f64>, tau: f64, halted: Halted<'_>) -> Option<f64> {
    let n = g.nrows();
    // The diagonal is below the exact difference, the other entries are exact.
    let entry =
        |i: usize, j: usize| if i == j { (tau - g[(i, i)]).next_down() } else { -g[(i, j)] };
    let shifted = Mat::from_fn(n, n, entry);
    let operations = (n as f64).powi(3) / 3.0;
    let factor = called_until(operations, halted, move || cholesky(shifted.as_ref()))??;
    let again = gram_of_triangle(factor.as_ref(), halted);
    let mut difference = vec![0.0; n * n];
    for (j, column) in difference.chunks_exact_mut(n).enumerate() {
        for (i, x) in column.iter_mut().enumerate() {
            *x = entry(i, j) - again.product[(i, j)];
        }
    }
    // The differences are rounded once more.
    let rest = frobenius(&difference) * (1.0 + gamma(4)) + again.error;
    let bound = (tau + rest) * (1.0 + 2.0 * UNIT_ROUNDOFF);
    bound.is_finite().then_some(bound)
}

/// Bounds the norm by that of the part on a few right vectors K and the Frobenius norm of the rest.
///
/// ```text
/// W = E K as computed, N = E − W K':   E E' = W K'K W' + W (NK)' + (NK) W' + N N'
/// ‖E‖² ≤ ‖W‖² ‖K‖² + 2 ‖W‖ ‖NK‖ + ‖N‖²     NK is only rounding, and ‖K‖² ≤ 1 + ‖K'K − I‖
/// ```
fn remainder(matrix: &Dense<'_>, halted: Halted<'_>) -> Result<f64> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    let search = Search { tolerance: 1e-3, limit: 600, seed: 0 };
    let top = top_singular_until(matrix, 32, None, &search, &|_| f64::NEG_INFINITY, halted)?.found;
    let k = top.rank();
    let mut w = vec![0.0; rows * k];
    matrix.add_apply(1.0, top.v(), k, &mut w);
    let known = bound_up_to(&Dense::new(rows, k, &w), 0.0, k, &never)?.bound;
    let defect = top.defects().1;
    let part = LowRank::new(rows, columns, w, vec![1.0; k], top.v().to_vec())?;
    let (rest, rounding) = difference(matrix, &part);
    let mut crossed = vec![0.0; rows * k];
    Dense::new(rows, columns, &rest).add_apply(1.0, top.v(), k, &mut crossed);
    let (size, of_k) = (frobenius(&rest), frobenius(top.v()));
    let crossed = frobenius(&crossed) + (gamma(columns + 2) * size + rounding) * of_k;
    let size = size + rounding;
    let squared = known * known * (1.0 + defect) + 2.0 * known * crossed + size * size;
    Ok(squared.sqrt() * (1.0 + gamma(16)))
}

/// Returns the entries of V − R in row-major order, and a bound on the Frobenius norm of their rounding.
pub fn difference(v: &Dense<'_>, r: &LowRank) -> (Vec<f64>, f64) {
    // Many rows at once for the matrix product to be fast, and few enough for R never to stand in memory beside V.
    const PANEL: usize = 256;
    let (columns, k) = (v.columns(), r.rank());
    let mut out = v.values().to_vec();
    let mut left = r.left().to_owned();
    super::dense::scale_columns(&mut left, r.s());
    for (p, out) in out.chunks_mut((PANEL * columns).max(1)).enumerate() {
        let rows = out.len() / columns;
        let panel = product(left.submatrix(p * PANEL, 0, rows, k), r.right().transpose());
        for (i, row) in out.chunks_exact_mut(columns).enumerate() {
            row.iter_mut().enumerate().for_each(|(j, x)| *x -= panel[(i, j)]);
        }
    }
    // ‖ |u||s||v'| ‖_F of each term is s‖u‖‖v‖: the Frobenius norms of the columns, term by term.
    let mut terms = 0.0;
    for j in 0..k {
        let length = |factor: MatRef<'_, f64>| factor.col(j).norm_l2();
        terms += r.s()[j] * length(r.left()) * length(r.right());
    }
    let rounding = UNIT_ROUNDOFF * frobenius(&out) + gamma(k + 2) * terms;
    // The factor covers the rounding of the sums here, the last term what underflows.
    let vanished = (out.len() as f64).sqrt() * (k + 1) as f64 * f64::MIN_POSITIVE;
    (out, rounding * (1.0 + 1e-6) + vanished)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Random;

    fn bound(matrix: &Dense<'_>, side: usize) -> SpectralBound {
        bound_up_to(matrix, 0.0, side, &never).unwrap()
    }

    /// Rank three and a little noise: the case that the proof by a remainder is for.
    fn sample(rows: usize, columns: usize) -> Vec<f64> {
        let mut random = Random::new(1);
        let mut numbers =
            |count: usize| -> Vec<f64> { (0..count).map(|_| random.unit() - 0.5).collect() };
        let (u, v, noise) = (numbers(rows * 3), numbers(columns * 3), numbers(rows * columns));
        let low = LowRank::new(rows, columns, u, vec![3.0, 2.0, 1.0], v).unwrap();
        low.to_dense().iter().zip(noise).map(|(x, noise)| x + 1e-3 * noise).collect()
    }

    #[test]
    fn a_matrix_too_large_for_a_factor_is_bounded_by_its_known_part_and_the_rest() {
        for (rows, columns) in [(250, 200), (200, 250)] {
            let values = sample(rows, columns);
            let matrix = Dense::new(rows, columns, &values);
            let (tight, loose) = (bound(&matrix, 500), bound(&matrix, 100));
            assert_eq!((tight.proof, loose.proof), (Proof::Cholesky, Proof::Remainder));
            // Both bound the same norm, and the rest is small: √(t² + rest²) is little more than t.
            assert!(loose.bound >= tight.bound * (1.0 - 1e-11));
            assert!(loose.bound <= tight.bound * (1.0 + 1e-5), "{loose:?} {tight:?}");
        }
    }

    // If no low-rank part dominates, the sums or the Frobenius norm still give a bound.
    #[test]
    fn noise_alone_is_bounded_too() {
        let mut random = Random::new(3);
        let values: Vec<f64> = (0..300 * 200).map(|_| random.unit() - 0.5).collect();
        let matrix = Dense::new(300, 200, &values);
        let loose = bound(&matrix, 100);
        let tight = bound(&matrix, 500);
        assert!(loose.bound >= tight.bound && loose.bound <= frobenius(&values) * (1.0 + 1e-12));
    }

    #[test]
    fn a_permutation_is_bounded_by_its_sums() {
        let matrix =
            Mat::<f64>::from_fn(40, 40, |i, j| if (7 * i + 3) % 40 == j { -1.0 } else { 0.0 });
        let values = to_rows(matrix.as_ref());
        let found = spectral_bound_until(&Dense::new(40, 40, &values), 0.0, &never).unwrap();
        assert!((1.0..1.0 + 1e-13).contains(&found.bound));
    }

    #[test]
    fn the_rest_is_what_the_factors_leave() -> crate::Result<()> {
        let r = LowRank::new(1, 2, vec![1.0], vec![2.0], vec![1.0, 0.0])?;
        let (entries, rounding) = difference(&Dense::new(1, 2, &[3.0, 4.0]), &r);
        assert_eq!(entries, [1.0, 4.0]);
        assert!(rounding < 1e-14);
        Ok(())
    }
}
