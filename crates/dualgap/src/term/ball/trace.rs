//! The trace-norm ball: the sum of the singular values is at most r.
//!
//! ```text
//! Proj(M) = U diag(max(σ − θ, 0)) V'    θ ≥ 0 such that Σ max(σ − θ, 0) = r, or 0 where M is within the ball
//! h(V)    = max_{‖X‖_* ≤ r} ⟨V, X⟩ − μ/2‖X‖_F²  ≤  ‖R‖_F²/(2μ) + r‖V − R‖_2   for every R
//! ```
//!
//! with equality at the R whose singular values are those of V beyond the threshold at μr; then R/μ is the
//! maximiser. Only values above θ matter, so a truncated decomposition suffices, and its errors are
//! harmless: the bound holds for the R that was found, once `‖V − R‖_2` is bounded from above by proof.

use crate::linalg::halt::never;
use crate::linalg::singular::{dear, top_singular_within};
use crate::linalg::spectral::{difference, spectral_bound_until};
use crate::linalg::{Dense, Halted, LowRank, Measured, Operator, Proof, Search, Singular, gamma};
use crate::{Error, Result};

/// The θ at which `Σ max(σ − θ, 0)` over values in falling order is `radius`; zero if they add up to no more.
///
/// ```
/// # use dualgap::term::ball::trace::threshold;
/// assert_eq!(threshold(&[3.0, 2.0, 0.5], 2.0), 1.5);
/// assert_eq!(threshold(&[0.5, 0.5], 2.0), 0.0);
/// ```
pub fn threshold(values: &[f64], radius: f64) -> f64 {
    let (mut sum, mut theta) = (0.0, 0.0_f64);
    for (k, &value) in values.iter().enumerate() {
        sum += value;
        let next = (sum - radius) / (k + 1) as f64;
        // With a value that is not above the threshold it would only fall. The first one always counts.
        if k > 0 && next >= value {
            break;
        }
        theta = next;
    }
    theta.max(0.0)
}

/// Whoever looks for more than one in so many of all values, and has found none below the threshold yet, takes all of
/// them: where many are equal the search would be doubled again and again, and its last rounds cost as much as a
/// decomposition of the whole matrix.
const ONE_IN: usize = 5;

/// How many singular values are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// At first; more until the last one falls below the threshold.
    pub first: usize,
    /// At most.
    pub most: usize,
}

impl Default for Ranks {
    fn default() -> Self {
        Self { first: 8, most: usize::MAX }
    }
}

/// The top of a decomposition, down to the threshold at some radius.
#[derive(Clone, Debug)]
pub struct Top {
    /// The values that were found, also those below the threshold: they warm up the next search.
    pub found: LowRank,
    /// θ, from the values that were found.
    pub threshold: f64,
    /// Whether no other value is above the threshold, as far as the search can tell.
    pub complete: bool,
    /// Whether the values come from a decomposition of the whole matrix, as exact as rounding allows.
    pub whole: bool,
    /// How many products with a vector it took, and how many decompositions of the whole matrix, which cost far more.
    pub applications: usize,
    /// See `applications`.
    pub decompositions: usize,
}

impl Top {
    /// `U diag(max(σ − θ, 0)) V'`: the projection onto the ball, if the top is complete. It may be outside by
    /// rounding: see [`LowRank::within`].
    pub fn beyond(&self) -> LowRank {
        // Without a threshold all values count, but not those that are only rounding.
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

/// The singular values of a matrix down to the threshold at `radius`, with their vectors.
///
/// ```
/// # use dualgap::linalg::{Dense, Search};
/// # use dualgap::term::ball::trace::{Ranks, top};
/// // Singular values 3 and 1: at radius 1 the threshold is 2.
/// let matrix = Dense::new(2, 2, &[2.0, 1.0, 1.0, 2.0]);
/// let top = top(&matrix, 1.0, Ranks::default(), None, &Search::default())?;
/// assert!((top.threshold - 2.0).abs() < 1e-14);
/// assert!(top.beyond().to_dense().iter().all(|x| (x - 0.5).abs() < 1e-14));
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn top(
    matrix: &dyn Operator,
    radius: f64,
    ranks: Ranks,
    warm: Option<&LowRank>,
    search: &Search,
) -> Result<Top> {
    top_until(matrix, radius, ranks, warm, search, &never)
}

/// [`top`] that ends soon once it is halted, with what was found so far, which is then not complete.
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
    // Whoever may not have all values has to make do with a search.
    let effort = if most == all { dear(matrix) } else { f64::INFINITY };
    let mut took_all = false;
    let mut known: Option<LowRank> = None;
    loop {
        let start = known.as_ref().or(warm);
        // Those just below count too: an error of the vectors above costs its square only where what
        // it mixes in is away from θ.
        let floor = |values: &[f64]| threshold(values, radius) * (1.0 - 1e-4);
        let Singular { found, applications: more, whole, converged } =
            top_singular_within(matrix, k, start, search, &floor, halted, effort)?;
        applications += more;
        decompositions += usize::from(whole);
        let cut = halted();
        let theta = threshold(found.s(), radius);
        let last = found.s().last().copied().unwrap_or(0.0);
        // Fewer than asked for: the others are zero.
        let dear = effort.is_finite() && !converged && !took_all;
        let complete = !cut && !dear && (found.rank() < k || k >= all || last <= theta);
        let found = if took_all { with_spare(found, theta) } else { found };
        if complete || cut || (k >= most && !dear) {
            let threshold = theta;
            return Ok(Top { found, threshold, complete, whole, applications, decompositions });
        }
        // Whoever knows vectors knows about how many there are: then a few more will do.
        let more = if warm.is_some_and(|warm| warm.rank() > 1) { (k / 4).max(8) } else { k };
        known = Some(found);
        k = (k + more).min(most);
        if whole || dear || ONE_IN * k > all {
            (k, took_all) = (most, true);
        }
    }
}

/// The values above the threshold, and as many below as a search would have found on its way.
fn with_spare(found: LowRank, theta: f64) -> LowRank {
    let above = found.s().iter().take_while(|&&s| s > theta).count();
    let kept = (above + above / 4 + 8).min(found.rank());
    found.with_values(&found.s()[..kept])
}

/// A matrix as far as it is known.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// What proofs are about.
    pub entries: &'a Dense<'a>,
    /// The same as something of which products are cheaper to search by, where there is such. Whatever is found with them
    /// is proved of the entries.
    pub products: &'a dyn Operator,
    /// The matrix that is meant is within this Frobenius distance of the entries.
    pub error: f64,
}

impl<'a> Known<'a> {
    /// A matrix that is exactly its entries.
    pub fn exactly(entries: &'a Dense<'a>) -> Self {
        Self { entries, products: entries, error: 0.0 }
    }
}

/// The ball's part of a dual value.
#[derive(Clone, Debug)]
pub struct TraceDual {
    /// `−‖R‖_F²/(2μ) − r·t`. The exact −h(V) is not below this less its error; it may be above it.
    pub value: Measured,
    /// R, of which R/μ is the maximiser up to the errors of the decomposition.
    pub part: LowRank,
    /// The decomposition of V that R was made from.
    pub top: Top,
    /// t, the proven bound on ‖V − R‖_2.
    pub bound: f64,
    /// How t was proven.
    pub proof: Proof,
}

/// A proven lower bound on `−max_{‖X‖_* ≤ r} ⟨V, X⟩ − μ/2‖X‖_F²`. μ may be zero.
///
/// ```
/// # use dualgap::linalg::{Dense, Search};
/// # use dualgap::term::ball::trace::{Known, Ranks, dual};
/// // Singular values 3 and 1, μ = 1, r = 1: X = R/μ has the value 1 and t = 2, so h = 1/2 + 2.
/// let v = Dense::new(2, 2, &[2.0, 1.0, 1.0, 2.0]);
/// let v = Known::exactly(&v);
/// let dual = dual(v, 1.0, 1.0, Ranks::default(), None, &Search::default())?;
/// assert!(dual.value.value - dual.value.error <= -2.5);
/// assert!((dual.value.value + 2.5).abs() < 1e-13);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub fn dual(
    v: Known<'_>,
    mu: f64,
    radius: f64,
    ranks: Ranks,
    warm: Option<&LowRank>,
    search: &Search,
) -> Result<TraceDual> {
    dual_until(v, mu, radius, ranks, warm, search, &never)
}

/// [`dual`] that ends soon once it is halted: the bound is then coarser, and as proven.
///
/// ```
/// # use dualgap::linalg::{Dense, Search};
/// # use dualgap::term::ball::trace::{Known, Ranks, dual_until};
/// let v = Dense::new(2, 2, &[2.0, 1.0, 1.0, 2.0]);
/// let v = Known::exactly(&v);
/// let dual = dual_until(v, 1.0, 1.0, Ranks::default(), None, &Search::default(), &|| true)?;
/// assert!(dual.value.value <= -2.5, "h is 5/2, as in the example of `dual`");
/// # Ok::<(), dualgap::Error>(())
/// ```
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
    // The proof shows that a value was missed: this time all have to converge.
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

/// [`dual_until`] with the R that this decomposition makes.
pub(crate) fn with_top(
    v: Known<'_>,
    mu: f64,
    radius: f64,
    mut top: Top,
    halted: Halted<'_>,
) -> Result<TraceDual> {
    let Known { entries: v, error, .. } = v;
    if !top.complete {
        // There may be values up to the last one found: R counts only if t is at least those.
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
