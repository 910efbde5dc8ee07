//! The trace-norm ball: the sum of the singular values is at most r.
//!
//! ```text
//! Proj(M) = U diag(max(σ − θ, 0)) V'    θ ≥ 0 such that Σ max(σ − θ, 0) = r, or 0 where M is within the ball
//! h(V)    = max_{‖X‖_* ≤ r} ⟨V, X⟩ − μ/2‖X‖_F²  ≤  ‖R‖_F²/(2μ) + r‖V − R‖_2   for every R
//! ```
//!
//! with equality at the R whose singular values are those of V reduced by the threshold at μr; then R/μ is the
//! maximiser. Only values above θ matter, so a truncated decomposition suffices, and its errors are
//! harmless: the bound holds for whichever R the search found, once a proof bounds `‖V − R‖_2` from above.

use crate::linalg::kernels::dot;
use crate::linalg::low_rank::singular::{dear, top_singular_within};
use crate::linalg::low_rank::spectral::{difference, spectral_bound_until};
use crate::linalg::{
    Dense, Halted, LowRank, Measured, Operator, Proof, Random, Search, Singular, gamma,
};
use crate::{Error, Result};

/// Returns the θ at which `Σ max(σ − θ, 0)` is `radius`, for values in descending order; zero if their sum is at most
/// the radius.
pub fn threshold(values: &[f64], radius: f64) -> f64 {
    let (mut sum, mut theta) = (0.0, 0.0_f64);
    for (k, &value) in values.iter().enumerate() {
        sum += value;
        let next = (sum - radius) / (k + 1) as f64;
        // A value that is not above the threshold would only lower it. The first value always counts.
        if k > 0 && next >= value {
            break;
        }
        theta = next;
    }
    theta.max(0.0)
}

/// A search for more than one in this many of all values, which has found none below the threshold yet, becomes a full
/// decomposition: where many values are equal the search would double again and again, and its last rounds would cost
/// as much as the full decomposition.
const ONE_IN: usize = 5;

/// How many singular values a search asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// The number at first; the search asks for more until the last one is below the threshold.
    pub first: usize,
    /// The largest number.
    pub most: usize,
}

impl Default for Ranks {
    fn default() -> Self {
        Self { first: 8, most: usize::MAX }
    }
}

/// The largest singular values and their vectors, down to the threshold at some radius.
#[derive(Clone, Debug)]
pub struct Top {
    /// The values that the search found, also those below the threshold: they are the warm start of the next search.
    pub found: LowRank,
    /// θ, from the found values.
    pub threshold: f64,
    /// Whether no other value is above the threshold, as far as the search can tell.
    pub complete: bool,
    /// Whether the values come from a decomposition of the whole matrix, as exact as rounding allows.
    pub whole: bool,
    /// How many products with a vector the search took.
    pub applications: usize,
    /// How many decompositions of the whole matrix the search took; each costs far more than a product.
    pub decompositions: usize,
}

impl Top {
    /// Returns `U diag(max(σ − θ, 0)) V'`: the projection onto the ball, if the top is complete. It may lie outside by
    /// rounding: see [`LowRank::within`].
    pub fn beyond(&self) -> LowRank {
        // If the threshold is zero all values count, except those that are only rounding.
        let rounding = self.found.s().first().map_or(0.0, |top| 4.0 * f64::EPSILON * top);
        let values: Vec<f64> = self
            .found
            .s()
            .iter()
            .map(|s| s - self.threshold)
            .take_while(|&left| left > rounding)
            .collect();
        self.found.with_values(&values)
    }
}

/// Computes the singular values of a matrix down to the threshold at `radius`, with their vectors. It ends soon after it is halted,
/// and then returns what it has found so far, which is not complete.
pub fn top_until(
    matrix: &dyn Operator,
    radius: f64,
    ranks: Ranks,
    warm: Option<&LowRank>,
    search: &Search,
    halted: Halted<'_>,
) -> Result<Top> {
    let all = matrix.rows().min(matrix.columns());
    let most = ranks.most.min(all);
    let mut k = ranks.first.clamp(1, most.max(1));
    let (mut applications, mut decompositions) = (0, 0);
    // If the caller does not allow all values, the search must not turn into a full decomposition.
    let effort = if most == all { dear(matrix) } else { f64::INFINITY };
    let mut took_all = false;
    let mut known: Option<LowRank> = None;
    loop {
        let start = known.as_ref().or(warm);
        // Values just below θ have to converge too: an error of the vectors above θ counts only by its square if
        // the vectors that it mixes in belong to values away from θ.
        let floor = |values: &[f64]| threshold(values, radius) * (1.0 - 1e-4);
        let Singular { found, applications: more, whole, converged } =
            top_singular_within(matrix, k, start, search, &floor, halted, effort)?;
        applications += more;
        decompositions += usize::from(whole);
        let cut = halted();
        // A search that is halted early has found less than the one before it.
        let found = match known.take() {
            Some(known) if cut && known.rank() > found.rank() => known,
            _ => found,
        };
        let theta = threshold(found.s(), radius);
        let last = found.s().last().copied().unwrap_or(0.0);
        let dear = effort.is_finite() && !converged && !took_all;
        // A search from a block of vectors finds as many of equal values as the block has vectors, and stops: fewer values than it
        // asked for do not mean that the others are zero.
        let fewer = found.rank() < k && vanishes_beside(matrix, &found);
        let ended = !cut && !dear && (fewer || k >= all || last <= theta);
        let missed = ended && !fewer && k < all && is_cluster(found.s(), theta) && {
            applications += 2 * POWERS;
            exceeds_beside(matrix, &found, theta)
        };
        let complete = ended && !missed;
        let found = if took_all { with_spare(&found, theta) } else { found };
        if complete || cut || (k >= most && !dear) {
            let threshold = theta;
            return Ok(Top { found, threshold, complete, whole, applications, decompositions });
        }
        // With a warm start the rank is about known, and a few more values suffice; without one, double.
        let more = if warm.is_some_and(|warm| warm.rank() > 1) { (k / 4).max(8) } else { k };
        known = Some(found);
        k = (k + more).min(most);
        if whole || dear || missed || ONE_IN * k > all {
            (k, took_all) = (most, true);
        }
    }
}

/// What is left of a matrix beside the part that was found counts as zero below this share of it: far above rounding, far below any
/// value that a projection would keep.
const VANISHED: f64 = 1e-9;

/// Returns whether a random vector sees nothing of the matrix beside the part that was found.
fn vanishes_beside(matrix: &dyn Operator, found: &LowRank) -> bool {
    let mut random = Random::new(found.rank() as u64);
    let x: Vec<f64> = (0..matrix.columns()).map(|_| 2.0 * random.unit() - 1.0).collect();
    let mut left = vec![0.0; matrix.rows()];
    matrix.add_apply(1.0, &x, 1, &mut left);
    let whole = dot(&left, &left);
    found.add_apply(-1.0, &x, 1, &mut left);
    dot(&left, &left) <= VANISHED * VANISHED * whole
}

/// Values whose relative distance is at most this count as equal: far above the rounding of a converged search.
const EQUAL: f64 = 1e-9;

/// The number of power iterations that look for a missed value: enough to tell values of a cluster from those below the
/// threshold where these are a third smaller, and few beside the products of the search.
const POWERS: usize = 8;

/// Whether the smallest value above the threshold is one of several equal ones. A search finds at most as many of them as
/// its block has vectors, so there may be more.
fn is_cluster(values: &[f64], theta: f64) -> bool {
    let above = values.iter().take_while(|&&s| s > theta).count();
    above >= 2 && values[above - 2] - values[above - 1] <= EQUAL * values[above - 1]
}

/// Returns whether power iterations find a value above the threshold beside the part that was found. ‖Ex‖ of a unit
/// vector is never above the largest value of the rest E, so that a full decomposition is not made in vain.
fn exceeds_beside(matrix: &dyn Operator, found: &LowRank, theta: f64) -> bool {
    let mut random = Random::new(found.rank() as u64);
    let mut x: Vec<f64> = (0..matrix.columns()).map(|_| 2.0 * random.unit() - 1.0).collect();
    let mut value = 0.0;
    for _ in 0..POWERS {
        let norm = dot(&x, &x).sqrt();
        if norm <= 0.0 {
            break;
        }
        x.iter_mut().for_each(|x| *x /= norm);
        let mut image = vec![0.0; matrix.rows()];
        matrix.add_apply(1.0, &x, 1, &mut image);
        found.add_apply(-1.0, &x, 1, &mut image);
        value = dot(&image, &image).sqrt();
        x.fill(0.0);
        matrix.add_transposed(1.0, &image, 1, &mut x);
        found.add_transposed(-1.0, &image, 1, &mut x);
    }
    let rounding = VANISHED * found.s().first().copied().unwrap_or(0.0);
    value > theta + rounding
}

/// Returns the values above the threshold, and about as many below it as a search would also have found.
fn with_spare(found: &LowRank, theta: f64) -> LowRank {
    let above = found.s().iter().take_while(|&&s| s > theta).count();
    let kept = (above + above / 4 + 8).min(found.rank());
    found.with_values(&found.s()[..kept])
}

/// A matrix that is known up to an error.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// The entries that proofs use.
    pub entries: &'a Dense<'a>,
    /// The same matrix as an operator with cheaper products, if there is one, for the search. Proofs of what the search
    /// finds use the entries.
    pub products: &'a dyn Operator,
    /// The exact matrix is within this Frobenius distance of the entries.
    pub error: f64,
}

/// The ball's part of a dual value.
#[derive(Clone, Debug)]
pub struct TraceDual {
    /// `−‖R‖_F²/(2μ) − r·t`. The exact −h(V) is at least this minus its error; it may be larger.
    pub value: Measured,
    /// R; R/μ is the maximiser up to the errors of the decomposition.
    pub part: LowRank,
    /// The decomposition of V that R comes from.
    pub top: Top,
    /// t, the proven bound on ‖V − R‖_2.
    pub bound: f64,
    /// How t was proven.
    pub proof: Proof,
}

/// Returns a proven lower bound on `−max_{‖X‖_* ≤ r} ⟨V, X⟩ − μ/2‖X‖_F²`. μ may be zero. It ends soon after it is halted: the bound
/// is then coarser, but still proven.
pub fn dual_until(
    v: Known<'_>,
    mu: f64,
    radius: f64,
    ranks: Ranks,
    warm: Option<&LowRank>,
    search: &Search,
    halted: Halted<'_>,
) -> Result<TraceDual> {
    let found = top_until(v.products, mu * radius, ranks, warm, search, halted)?;
    let first = with_top(v, mu, radius, found, halted)?;
    let Top { threshold: theta, complete, whole, .. } = first.top;
    let expected = theta * (1.0 + 1e-9 + 10.0 * search.tolerance) + 2.0 * v.error;
    if mu == 0.0 || theta == 0.0 || !complete || whole || first.bound <= expected || halted() {
        return Ok(first);
    }
    // The proof shows that the search missed a value: in this search all values have to converge.
    let k = (2 * first.top.found.rank()).min(ranks.most);
    let none = |_: &[f64]| f64::NEG_INFINITY;
    let warm = Some(&first.top.found);
    let all = v.products.rows().min(v.products.columns());
    let effort = if ranks.most >= all { dear(v.products) } else { f64::INFINITY };
    let mut found = top_singular_within(v.products, k, warm, search, &none, halted, effort)?;
    if effort.is_finite() && !found.converged {
        found = top_singular_within(v.products, all, warm, search, &none, halted, effort)?;
    }
    let Singular { found, applications, whole, .. } = found;
    let again = Top {
        threshold: threshold(found.s(), mu * radius),
        complete: !halted(),
        whole,
        applications: applications + first.top.applications,
        decompositions: first.top.decompositions + usize::from(whole),
        found,
    };
    let again = with_top(v, mu, radius, again, halted)?;
    Ok(if again.value.value > first.value.value { again } else { first })
}

/// [`dual_until`] with the R of this decomposition.
pub(crate) fn with_top(
    v: Known<'_>,
    mu: f64,
    radius: f64,
    mut top: Top,
    halted: Halted<'_>,
) -> Result<TraceDual> {
    let Known { entries: v, error, .. } = v;
    if !top.complete {
        // Unknown values may be as large as the last one found, and t is at least those: R has to use no smaller
        // threshold.
        top.threshold = top.threshold.max(top.found.s().last().copied().unwrap_or(0.0));
    }
    let part = if mu > 0.0 { top.beyond() } else { LowRank::zero(v.rows(), v.columns()) };
    let (entries, rounding) = difference(v, &part);
    let rest = Dense::new(v.rows(), v.columns(), &entries);
    let distance = (error + rounding) * (1.0 + f64::EPSILON);
    let proven = spectral_bound_until(&rest, distance, halted)?;
    let squared = part.squared_norm();
    let curved = if mu > 0.0 { (squared.value + squared.error) / (2.0 * mu) } else { 0.0 };
    let value = -(curved + radius * proven.bound);
    if !value.is_finite() {
        return Err(Error::Unsound {
            message: "the numbers of a dual point overflow: its value has no bound".into(),
        });
    }
    // Both terms have the same sign, so their rounding is relative.
    let value = Measured { value, error: gamma(8) * value.abs() + f64::MIN_POSITIVE };
    Ok(TraceDual { value, part, top, bound: proven.bound, proof: proven.proof })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_of_values_spends_the_radius() {
        assert_eq!(threshold(&[3.0, 2.0, 0.5], 2.0), 1.5);
        assert_eq!(threshold(&[0.5, 0.5], 2.0), 0.0);
    }
}
