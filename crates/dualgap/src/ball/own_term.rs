//! A smooth term g of a user's own, in the place of μ/2‖x‖².
//!
//! ```text
//! P(x) = Σ m_i f_i(a_i'x) + g(x)  for x in the ball,      D(α) = −Σ m_i f_i*(−α_i) − h(V),     h(V) = max_x ⟨V, x⟩ − g(x)
//! ```
//!
//! g is convex, so it lies above its tangent at every x̂, and whatever x̂ is,
//!
//! ```text
//! h(V) ≤ max over the ball of ⟨V − ∇g(x̂), x⟩ + ⟨∇g(x̂), x̂⟩ − g(x̂)
//! ```
//!
//! with equality where x̂ is the maximiser. So a certificate needs no conjugate of g: accelerated projected gradients
//! search for x̂, and the bound holds wherever they end.

use crate::linalg::underflow::{norm_above, product_above};
use crate::linalg::{Measured, Sum, UNIT_ROUNDOFF};
use crate::{Error, Result};
use std::fmt::Debug;

/// A function g of the weights, convex and L-smooth; see the module's head. The weights are laid out feature by feature,
/// c numbers for each.
///
/// A certificate rests on the word of these methods: values and gradients come with bounds on their rounding.
///
/// ```
/// use dualgap::ball::{BallProblem, BallSettings, PerOutput, SmoothTerm, self};
/// use dualgap::linalg::{Measured, Rows};
/// use dualgap::run::Budget;
/// use dualgap::term::ScalarLoss;
/// use std::sync::Arc;
///
/// /// ½ Σ q_j x_j².
/// #[derive(Debug)]
/// struct Diagonal(Vec<f64>);
///
/// impl SmoothTerm for Diagonal {
///     fn value(&self, x: &[f64]) -> Measured {
///         let value: f64 = x.iter().zip(&self.0).map(|(x, q)| 0.5 * q * x * x).sum();
///         Measured::rounded(value, x.len() + 3) // all of its terms are positive
///     }
///
///     fn gradient(&self, x: &[f64], to: &mut [f64]) -> f64 {
///         to.iter_mut().zip(x).zip(&self.0).for_each(|((to, x), q)| *to = q * x);
///         to.iter().map(|to| to.abs()).sum::<f64>() * f64::EPSILON + f64::MIN_POSITIVE
///     }
///
///     fn convexity(&self) -> f64 {
///         self.0.iter().copied().fold(f64::INFINITY, f64::min)
///     }
///
///     fn smoothness(&self) -> f64 {
///         self.0.iter().copied().fold(0.0, f64::max)
///     }
/// }
///
/// let rows = Rows::dense(&[vec![1.0, 0.0], vec![0.0, 1.0]])?;
/// let losses = PerOutput::new(ScalarLoss::Squared, vec![1.0, 1.0], 1)?;
/// let problem = BallProblem::l1(&rows, losses, 0.0, 5.0, None)?;
/// let problem = problem.with_term(Arc::new(Diagonal(vec![0.5, 2.0])))?;
/// let report = ball::train(&problem, &BallSettings::default(), &Budget::relative(1e-9), &mut ())?;
/// // ½·½(1 − x)² + ½qx² is smallest at 1/(1 + 2q).
/// let x = &report.model.weights;
/// assert!((x[0] - 0.5).abs() < 1e-4 && (x[1] - 0.2).abs() < 1e-4);
/// # Ok::<(), dualgap::Error>(())
/// ```
pub trait SmoothTerm: Debug + Send + Sync {
    /// Returns g(x), and a bound on its rounding.
    fn value(&self, x: &[f64]) -> Measured;

    /// Computes ∇g(x); returns a bound on the Euclidean norm of its rounding.
    fn gradient(&self, x: &[f64], to: &mut [f64]) -> f64;

    /// μ: g is μ-strongly convex. Zero is no claim; the steps of the paper's theorem need more.
    fn convexity(&self) -> f64;

    /// L: ∇g is L-Lipschitz, for all x.
    fn smoothness(&self) -> f64;
}

/// Returns an error unless 0 ≤ μ ≤ L < ∞ and L is positive.
pub(super) fn check(term: &dyn SmoothTerm) -> Result<()> {
    let (mu, smoothness) = (term.convexity(), term.smoothness());
    if mu >= 0.0 && mu <= smoothness && smoothness > 0.0 && smoothness.is_finite() {
        return Ok(());
    }
    Err(Error::setting(format!(
        "a smooth term has 0 <= mu <= L for a positive L, and this one says {mu} and {smoothness}"
    )))
}

/// The search for x̂ ends after this many gradients of g: what it has not found by then makes the bound coarser, and
/// never wrong.
const MOST: usize = 2000;

/// The search ends when the bound is within this share of the value at x̂, which is about what rounding leaves.
const ENOUGH: f64 = 1e-14;

/// The set that x is in, as the search sees it.
pub(super) trait Feasible {
    /// Replaces x by the nearest point of the set.
    fn project(&mut self, x: &mut [f64]);

    /// Returns the largest ⟨v, x⟩ of the set, and Σ|x_j| at most.
    fn support(&self, v: &[f64]) -> (f64, f64);
}

/// Returns a bound on h(V) and the x̂ that it comes from. The search starts at this x and depends on nothing else, so
/// that a proof gives the same bits when it is repeated.
pub(super) fn conjugate(
    term: &dyn SmoothTerm,
    v: &[f64],
    mut x: Vec<f64>,
    set: &mut dyn Feasible,
) -> (Measured, Vec<f64>) {
    let (step, mut gradient) = (1.0 / term.smoothness(), vec![0.0; v.len()]);
    let (mut before, mut y, mut t) = (x.clone(), x.clone(), 1.0_f64);
    let mut best: Option<(Measured, Vec<f64>)> = None;
    for round in 0..MOST {
        // Bounds cost a gradient each, so that they are computed now and then.
        if round < 4 || round % 8 == 0 || round + 1 == MOST {
            let (bound, value) = bound_at(term, v, &x, set, &mut gradient);
            let found = bound.value + bound.error;
            if best.as_ref().is_none_or(|(best, _)| found < best.value + best.error) {
                best = Some((bound, x.clone()));
            }
            if bound.value - value <= ENOUGH * (bound.value.abs() + value.abs()) {
                break;
            }
        }
        term.gradient(&y, &mut gradient);
        let mut next: Vec<f64> = y.clone();
        for ((next, v), g) in next.iter_mut().zip(v).zip(&gradient) {
            *next += step * (v - g);
        }
        set.project(&mut next);
        // A restart where the momentum points away from the last move adapts to strong convexity that is unknown.
        let turned: f64 =
            y.iter().zip(&next).zip(&x).map(|((y, next), x)| (y - next) * (next - x)).sum();
        let following =
            if turned > 0.0 { 1.0 } else { f64::midpoint(1.0, (1.0 + 4.0 * t * t).sqrt()) };
        let beta = if turned > 0.0 { 0.0 } else { (t - 1.0) / following };
        std::mem::swap(&mut before, &mut x);
        x = next;
        for ((y, x), before) in y.iter_mut().zip(&x).zip(&before) {
            *y = x + beta * (x - before);
        }
        t = following;
    }
    best.unwrap_or((Measured { value: f64::INFINITY, error: 0.0 }, x))
}

/// The bound at x̂, and ⟨V, x̂⟩ − g(x̂).
fn bound_at(
    term: &dyn SmoothTerm,
    v: &[f64],
    x: &[f64],
    set: &dyn Feasible,
    gradient: &mut [f64],
) -> (Measured, f64) {
    let off = term.gradient(x, gradient);
    let value = term.value(x);
    let rest: Vec<f64> = v.iter().zip(&*gradient).map(|(v, g)| v - g).collect();
    let (top, size) = set.support(&rest);
    let mut sum = Sum::default();
    // ⟨error, x⟩ is at most the norm of the error times Σ|x|; the differences are rounded, and so is the product.
    let largest = rest.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let rounding = product_above(4.0 * UNIT_ROUNDOFF, largest) + off;
    sum.add_measured(Measured { value: top, error: product_above(rounding, size) });
    gradient.iter().zip(x).for_each(|(g, x)| sum.add_measured(Measured::rounded(g * x, 1)));
    let own = product_above(off, norm_above(x));
    sum.add_measured(Measured { value: -value.value, error: value.error + own });
    let along: f64 = v.iter().zip(x).map(|(v, x)| v * x).sum();
    (sum.total(), along - value.value)
}
