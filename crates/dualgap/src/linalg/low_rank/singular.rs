//! The largest singular values and vectors of an operator, by a block Krylov method with thick restarts.
//!
//! ```text
//! E K = Q B          K orthonormal on the shorter side, Q on the longer one, B small
//! B = X diag(σ) Y'   u = Q x, v = K y: then E v = σ u, and r = E' u − σ v is what is missing
//! K ← [K, orth(r)]   only for the values that have not converged
//! ```
//!
//! When K has grown to a few times its first size it is restarted with the best vectors, which costs no product with
//! E. The search starts from the vectors of an earlier one if there are any, and from seeded random ones otherwise.
//! It may miss a value whose vectors are orthogonal to the start, so its result is never a proof: see
//! [`spectral_bound_until`](super::spectral::spectral_bound_until).

use super::dense::{
    Decomposition, Split, beside, cost_of_svd, product, split_until, thin_svd_until, to_rows,
};
use super::factors::LowRank;
use super::operator::{Operator, Transposed, entries};
use crate::Result;
use crate::linalg::Random;
use crate::linalg::halt::{Halted, never};
use dualgap_dense::{Mat, MatRef};

/// The fraction of the cost of a full decomposition at which a search that has not converged should be replaced by
/// it: the values are then so close together that a block of this size separates them too slowly.
const DEAR: f64 = 0.125;

/// The largest number of entries of a matrix that is expanded for a full decomposition.
const LARGEST_WHOLE: usize = 1 << 24;

/// The number of rounds in which the spare vectors of the block are improved like the others.
const SEARCHING: usize = 2;

/// The options of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// A pair has converged when `‖E'u − σv‖ ≤ tolerance · σ_1`. The error of the value is then at most that, and of
    /// second order where it is away from its neighbours.
    pub tolerance: f64,
    /// The search ends after this many products of E or E' with one vector.
    pub limit: usize,
    /// The seed of the random vectors that fill up the start.
    pub seed: u64,
}

impl Default for Search {
    /// As accurate as a certificate needs, with a limit that only a hopeless search reaches.
    fn default() -> Self {
        Self { tolerance: 1e-12, limit: 20_000, seed: 0 }
    }
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Singular {
    /// The values in descending order, with their vectors.
    pub found: LowRank,
    /// Whether all values that had to have converged.
    pub converged: bool,
    /// Whether they come from a full decomposition of E, which is as accurate as rounding allows.
    pub whole: bool,
    /// The number of products of E or E' with one vector.
    pub applications: usize,
}

/// Returns the k largest singular values of an operator and their vectors, or all if there are fewer.
pub fn top_singular(
    operator: &dyn Operator,
    k: usize,
    warm: Option<&LowRank>,
    search: &Search,
) -> Result<Singular> {
    top_singular_above(operator, k, warm, search, &|_| f64::NEG_INFINITY)
}

/// [`top_singular`] in which only values above a floor have to converge; `floor` computes it from the k values found
/// so far. A projection does not need the values below its threshold, and these are the ones that lie close
/// together. For them it is enough that `σ + 10‖E'u − σv‖` is below the floor, which is no proof: a value may hide
/// behind others.
pub fn top_singular_above(
    operator: &dyn Operator,
    k: usize,
    warm: Option<&LowRank>,
    search: &Search,
    floor: &dyn Fn(&[f64]) -> f64,
) -> Result<Singular> {
    top_singular_until(operator, k, warm, search, floor, &never)
}

/// [`top_singular_above`] that ends soon after it is halted, with the values found so far, which then have not
/// converged. It looks at the start, once per round, and while a long decomposition is under way.
pub fn top_singular_until(
    operator: &dyn Operator,
    k: usize,
    warm: Option<&LowRank>,
    search: &Search,
    floor: &dyn Fn(&[f64]) -> f64,
    halted: Halted<'_>,
) -> Result<Singular> {
    top_singular_within(operator, k, warm, search, floor, halted, f64::INFINITY)
}

/// Returns the cost of a search above which a full decomposition is the better choice; infinite for matrices that
/// are too large for one.
pub(crate) fn dear(operator: &dyn Operator) -> f64 {
    let (rows, columns) = (operator.rows(), operator.columns());
    if rows.saturating_mul(columns) > LARGEST_WHOLE {
        return f64::INFINITY;
    }
    DEAR * cost_of_svd(rows, columns)
}

/// [`top_singular_until`] that also ends, without convergence, after `effort` operations beside the products. It
/// counts operations instead of measuring time, so it ends at the same point everywhere.
pub(crate) fn top_singular_within(
    operator: &dyn Operator,
    k: usize,
    warm: Option<&LowRank>,
    search: &Search,
    floor: &dyn Fn(&[f64]) -> f64,
    halted: Halted<'_>,
    effort: f64,
) -> Result<Singular> {
    let shape = (operator.rows(), operator.columns());
    if halted() {
        return Ok(nothing(operator, 0));
    }
    let warm = warm.filter(|warm| (warm.rows(), warm.columns()) == shape && warm.rank() > 0);
    if shape.1 <= shape.0 {
        return on_columns(operator, k, warm.map(LowRank::right), search, floor, halted, effort);
    }
    let (turned, warm) = (Transposed(operator), warm.map(LowRank::left));
    let mut top = on_columns(&turned, k, warm, search, floor, halted, effort)?;
    top.found = top.found.transposed();
    Ok(top)
}

/// The result of a search that was halted before it had found anything.
fn nothing(operator: &dyn Operator, applications: usize) -> Singular {
    let found = LowRank::zero(operator.rows(), operator.columns());
    Singular { found, converged: false, whole: false, applications }
}

/// The k best of these pairs, as the result of a search.
fn best(k: usize, (u, s, v): &Decomposition, converged: bool, applications: usize) -> Singular {
    let k = k.min(u.ncols());
    let found = LowRank::of(u.subcols(0, k), s[..k].to_vec(), v.subcols(0, k));
    Singular { found, converged, whole: false, applications }
}

/// The operator with a count of its products.
struct Counted<'a> {
    operator: &'a dyn Operator,
    applications: usize,
}

impl Counted<'_> {
    fn apply(&mut self, x: MatRef<'_, f64>) -> Mat<f64> {
        self.applications += x.ncols();
        let mut out = vec![0.0; self.operator.rows() * x.ncols()];
        self.operator.add_apply(1.0, &to_rows(x), x.ncols(), &mut out);
        super::dense::by_rows(&out, self.operator.rows(), x.ncols()).to_owned()
    }

    fn transposed(&mut self, x: MatRef<'_, f64>) -> Mat<f64> {
        self.applications += x.ncols();
        let mut out = vec![0.0; self.operator.columns() * x.ncols()];
        self.operator.add_transposed(1.0, &to_rows(x), x.ncols(), &mut out);
        super::dense::by_rows(&out, self.operator.columns(), x.ncols()).to_owned()
    }
}

/// Runs the search if the columns are the shorter side.
fn on_columns(
    operator: &dyn Operator,
    k: usize,
    warm: Option<MatRef<'_, f64>>,
    search: &Search,
    floor: &dyn Fn(&[f64]) -> f64,
    halted: Halted<'_>,
    effort: f64,
) -> Result<Singular> {
    let columns = operator.columns();
    // A few more vectors than requested, so that the last requested value is separated from its neighbours.
    let block = k + k / 4 + 4;
    if 3 * block >= columns {
        return whole(operator, k, halted);
    }
    let mut e = Counted { operator, applications: 0 };
    let Some(mut basis) = start(columns, block, warm, search.seed, halted)? else {
        return Ok(nothing(operator, 0));
    };
    let image = e.apply(basis.as_ref());
    let Some(first) = split_until(Mat::zeros(operator.rows(), 0).as_ref(), image, halted)? else {
        return Ok(nothing(operator, e.applications));
    };
    let (mut left, mut core) = (first.fresh, first.outside);
    let mut spent = 0.0;
    // The best pairs so far: those of the round before if a round is halted within its decomposition.
    let mut known = (Mat::zeros(operator.rows(), 0), Vec::new(), Mat::zeros(columns, 0));
    for round in 0.. {
        let Some((x, s, y)) = thin_svd_until(core.clone(), halted)? else {
            return Ok(best(k, &known, false, e.applications));
        };
        // If E has a lower rank there are fewer images than vectors.
        let kept = block.min(s.len());
        let wanted = k.min(kept);
        let top = s.first().copied().unwrap_or(0.0);
        let u = product(left.as_ref(), x.subcols(0, kept));
        let v = product(basis.as_ref(), y.subcols(0, kept));
        known = (u, s, v);
        let (u, s, v) = &known;
        if top == 0.0 {
            return Ok(best(k, &known, true, e.applications));
        }
        if halted() {
            return Ok(best(k, &known, false, e.applications));
        }
        // In the first rounds the spare vectors are improved too: they find directions that the warm start does not
        // have.
        let examined = if round < SEARCHING { kept } else { wanted };
        let floor = floor(&s[..wanted]);
        let mut missing = e.transposed(u.subcols(0, examined));
        let mut open = Vec::new();
        for (i, s) in s.iter().enumerate().take(examined) {
            let column = missing.col_as_slice_mut(i);
            column.iter_mut().zip(v.col_as_slice(i)).for_each(|(r, v)| *r -= s * v);
            let norm = missing.col(i).norm_l2();
            if norm > search.tolerance * top && s + 10.0 * norm > floor {
                // Residuals are normalised: the direction of a small one is as useful as that of a large one.
                missing.col_as_slice_mut(i).iter_mut().for_each(|r| *r /= norm);
                open.push(i);
            }
        }
        let converged = open.first().is_none_or(|&i| i >= wanted);
        spent += cost_of_round(operator, core.ncols(), kept, open.len());
        let enough = e.applications >= search.limit || spent > effort;
        if open.is_empty() || (converged && round >= SEARCHING) || enough {
            return Ok(best(k, &known, converged, e.applications));
        }
        if basis.ncols() + open.len() > 3 * block {
            core = Mat::from_fn(kept, kept, |i, j| if i == j { s[i] } else { 0.0 });
            (left, basis) = (u.clone(), v.clone());
        }
        let residuals = Mat::from_fn(columns, open.len(), |i, j| missing[(i, open[j])]);
        let Some(Split { fresh, .. }) = split_until(basis.as_ref(), residuals, halted)? else {
            return Ok(best(k, &known, false, e.applications));
        };
        if fresh.ncols() == 0 {
            // Only rounding is left of the residuals, so the result cannot become more accurate.
            let Some((x, s, y)) = thin_svd_until(core, halted)? else {
                return Ok(best(k, &known, false, e.applications));
            };
            let wanted = k.min(s.len());
            let u = product(left.as_ref(), x.subcols(0, wanted));
            let v = product(basis.as_ref(), y.subcols(0, wanted));
            return Ok(best(k, &(u, s, v), true, e.applications));
        }
        let Some(image) = split_until(left.as_ref(), e.apply(fresh.as_ref()), halted)? else {
            return Ok(best(k, &known, false, e.applications));
        };
        core = bordered(&core, &image.inside, &image.outside);
        left = beside(left.as_ref(), image.fresh.as_ref());
        basis = beside(basis.as_ref(), fresh.as_ref());
    }
    unreachable!("the rounds only end by returning")
}

/// Estimates the operations of a round beside the products: the decomposition of the core, the vectors computed from
/// it, and the orthogonalisation of new vectors against all others.
fn cost_of_round(operator: &dyn Operator, core: usize, kept: usize, open: usize) -> f64 {
    let (sides, core) = ((operator.rows() + operator.columns()) as f64, core as f64);
    20.0 * core.powi(3) + sides * core * (2 * kept + 8 * open) as f64
}

/// Returns `[B C; 0 D]`.
fn bordered(core: &Mat<f64>, inside: &Mat<f64>, outside: &Mat<f64>) -> Mat<f64> {
    let (rows, columns) = (core.nrows(), core.ncols());
    let mut out = Mat::zeros(rows + outside.nrows(), columns + inside.ncols());
    out.submatrix_mut(0, 0, rows, columns).copy_from(core);
    out.submatrix_mut(0, columns, rows, inside.ncols()).copy_from(inside);
    out.submatrix_mut(rows, columns, outside.nrows(), outside.ncols()).copy_from(outside);
    out
}

/// Returns an orthonormal block: the vectors of an earlier search, filled up with random ones; none if it is halted.
fn start(
    columns: usize,
    block: usize,
    warm: Option<MatRef<'_, f64>>,
    seed: u64,
    halted: Halted<'_>,
) -> Result<Option<Mat<f64>>> {
    let mut random = Random::new(seed);
    let known = warm.map_or(0, |warm| warm.ncols().min(block - 2)); // two stay random
    let fill = Mat::from_fn(columns, block - known, |_, _| random.unit() - 0.5);
    let all =
        warm.map_or_else(|| fill.clone(), |warm| beside(warm.subcols(0, known), fill.as_ref()));
    let split = split_until(Mat::zeros(columns, 0).as_ref(), all, halted)?;
    Ok(split.map(|split| split.fresh))
}

/// Returns the largest singular values of an operator with few columns by a decomposition of all its entries.
fn whole(operator: &dyn Operator, k: usize, halted: Halted<'_>) -> Result<Singular> {
    let (rows, columns) = (operator.rows(), operator.columns());
    let entries = super::dense::by_rows(&entries(operator), rows, columns).to_owned();
    Ok(match thin_svd_until(entries, halted)? {
        Some(all) => Singular { whole: true, ..best(k, &all, true, columns) },
        None => nothing(operator, columns),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Dense;
    use std::sync::atomic::{AtomicUsize, Ordering};

    // Equal singular values are found by a decomposition of the whole matrix, and of a matrix as large as this one it is not worth
    // waiting for: who has looked twice is halted while it is under way.
    #[test]
    fn a_decomposition_of_a_whole_matrix_is_left_alone_once_it_is_halted() -> crate::Result<()> {
        const SIDE: usize = 400;
        let at = |k: usize| if k.is_multiple_of(SIDE + 1) { 1.0 } else { 0.0 };
        let values: Vec<f64> = (0..SIDE * SIDE).map(at).collect();
        let matrix = Dense::new(SIDE, SIDE, &values);
        let looks = AtomicUsize::new(0);
        let halted = || looks.fetch_add(1, Ordering::Relaxed) >= 1;
        let floor = |_: &[f64]| f64::NEG_INFINITY;
        let top = top_singular_until(&matrix, SIDE, None, &Search::default(), &floor, &halted)?;
        assert!(!top.whole && !top.converged && top.found.rank() == 0);
        assert_eq!(looks.load(Ordering::Relaxed), 2);
        Ok(())
    }

    #[test]
    fn the_largest_value_of_a_small_matrix_is_found() -> crate::Result<()> {
        let matrix = Dense::new(2, 2, &[3.0, 0.0, 4.0, 5.0]);
        let top = top_singular(&matrix, 1, None, &Search::default())?;
        assert!((top.found.s()[0] - 45.0_f64.sqrt()).abs() < 1e-14);
        Ok(())
    }

    #[test]
    fn a_search_ends_where_values_are_below_the_bound() -> crate::Result<()> {
        let matrix = Dense::new(2, 2, &[2.0, 1.0, 1.0, 2.0]);
        let top =
            top_singular_above(&matrix, 2, None, &Search::default(), &|values| 0.5 * values[0])?;
        assert!((top.found.s()[0] - 3.0).abs() < 1e-14);
        Ok(())
    }
}
