//! The problem in a ball, and the primal and dual values of a certificate, each computed from scratch.
//!
//! ```text
//! P(X) = Σ m_i f_i(X'a_i) + μ/2‖X‖²  for X in the ball,      D(α) = −Σ m_i f_i*(−α_i) − h(V),    V = Σ m_i a_i ⊗ α_i
//! h(V) = max_{X in the ball} ⟨V, X⟩ − μ/2‖X‖²,   attained at the projection of V/μ
//! ```
//!
//! X and V are laid out feature by feature, α and the predictions example by example, c numbers for each. A is stored
//! by rows, as given, and by columns: X has few nonzero rows, and predictions need only the columns of those features.

use super::Losses;
use crate::dual::problem::masses;
use crate::linalg::kernels::add_outer;
use crate::linalg::memory::{Need, check_weights};
use crate::linalg::sum::squared_norm;
use crate::linalg::underflow::{norm_above, product_above, root_above, size_of_product};
use crate::linalg::{
    Accumulate, Columns, CompensatedVec, Measured, Row, Rows, Sum, UNDERFLOW, UNIT_ROUNDOFF, gamma,
};
use crate::term::Ball;
use crate::term::ball::l1;
use crate::{Error, Result};

/// A mass is a quotient by a compensated sum: three roundings, and one more for the product that uses it.
const MASS_ROUNDING: f64 = 4.0 * UNIT_ROUNDOFF;

/// Rows, losses, μ and the ball; see the module's head.
///
/// ```
/// use dualgap::linalg::Rows;
/// use dualgap::ball::{PerOutput, Problem};
/// use dualgap::term::{Ball, ScalarLoss};
/// let rows = Rows::dense(&[vec![1.0, 0.0], vec![0.0, 1.0]])?;
/// let losses = PerOutput::new(ScalarLoss::Squared, vec![1.0, 0.0], 1)?;
/// let problem = Problem::new(&rows, losses, 0.5, Ball::L1 { radius: 1.0 }, None)?;
/// // ½·½(1 − x)² + ¼x² is smallest at a half, and α is what that prediction leaves of the target.
/// let (primal, dual) = (problem.primal(&[0.5, 0.0])?, problem.dual(&[0.5, 0.0])?.value);
/// assert!((primal.value - dual.value).abs() <= primal.error + dual.error);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Debug)]
pub struct Problem<'a, L> {
    rows: &'a Rows,
    columns: Columns,
    losses: L,
    masses: Vec<f64>,
    /// ‖a_i‖².
    squared_norms: Vec<f64>,
    mu: f64,
    ball: Ball,
}

/// The dual value of a certificate, with the V and the X of the dual point.
#[derive(Clone, Debug)]
pub struct DualValue {
    /// D(α), or a lower bound on it that differs by rounding only.
    pub value: Measured,
    /// V, summed anew with compensation.
    pub v: Vec<f64>,
    /// The projection of V/μ, the X that belongs to α; zero if μ = 0, where this X is not unique.
    pub x: Vec<f64>,
}

/// The dual value without h.
#[derive(Clone, Debug)]
pub struct MeanDual {
    /// −Σ m_i f_i*(−α_i).
    pub value: Measured,
    /// V, summed anew with compensation.
    pub v: Vec<f64>,
    /// A bound on the distance of V from the exact one in the Euclidean norm, and so in every entry and singular value.
    pub distance: f64,
}

impl<'a, L: Losses> Problem<'a, L> {
    /// Checks the parts and computes the masses. `sample_weights` default to one each. μ may be zero.
    pub fn new(
        rows: &'a Rows,
        losses: L,
        mu: f64,
        ball: Ball,
        sample_weights: Option<&[f64]>,
    ) -> Result<Self> {
        if rows.is_empty() {
            return Err(Error::setting("there is no example to train on"));
        }
        if rows.len() != losses.len() {
            let (rows, targets) = (rows.len(), losses.len());
            return Err(Error::setting(format!("there are {rows} rows and {targets} targets")));
        }
        if !(mu >= 0.0 && mu.is_finite()) {
            return Err(Error::setting(format!("mu is not negative, and it is {mu}")));
        }
        ball.check()?;
        let weights = match ball {
            Ball::L1 { .. } => check_weights(rows.width().checked_mul(losses.outputs()))?,
            Ball::Trace { .. } => 0, // in factors, which are counted where they are made
        };
        // The four copies: V as a compensated sum (two) and rounded, and X. Each column has a start, two while the
        // columns are built, and each of their entries takes two numbers.
        let numbers = rows.len().saturating_mul(losses.outputs());
        let others = 2 * rows.width() + 2 * rows.stored() + numbers;
        Need { weights, copies: 4, others }.check()?;
        let masses = masses(rows.len(), sample_weights)?;
        let squared_norms: Vec<f64> = (0..rows.len()).map(|i| rows.row(i).squared_norm()).collect();
        if let Some(i) = squared_norms.iter().position(|square| !square.is_finite()) {
            return Err(Error::setting(format!(
                "row {i} has a value that is not finite or is huge"
            )));
        }
        Ok(Self { rows, columns: Columns::of(rows), losses, masses, squared_norms, mu, ball })
    }

    /// n, the number of examples.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Always false: a problem has at least one example.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// d, the number of features.
    pub fn features(&self) -> usize {
        self.rows.width()
    }

    /// c, the number of outputs.
    pub fn outputs(&self) -> usize {
        self.losses.outputs()
    }

    /// d·c, the number of weights.
    pub fn dim(&self) -> usize {
        self.features() * self.outputs()
    }

    /// A by rows.
    pub fn rows(&self) -> &'a Rows {
        self.rows
    }

    /// A by columns.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The losses f.
    pub fn losses(&self) -> &L {
        &self.losses
    }

    /// The masses m_i.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// ‖a_i‖².
    pub fn squared_norms(&self) -> &[f64] {
        &self.squared_norms
    }

    /// μ.
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// The ball.
    pub fn ball(&self) -> Ball {
        self.ball
    }

    /// Returns the c numbers of example i in a vector that has c for each example.
    #[inline]
    pub fn of<'v>(&self, i: usize, numbers: &'v [f64]) -> &'v [f64] {
        &numbers[i * self.outputs()..][..self.outputs()]
    }

    /// Computes X'a_i for every example from the columns of the features where X is not zero; returns how many entries
    /// of A it read.
    pub fn predict(&self, x: &[f64], a: &mut [f64]) -> u64 {
        a.fill(0.0);
        let c = self.outputs();
        let mut entries = 0;
        for (j, weights) in x.chunks_exact(c).enumerate() {
            if weights.iter().all(|&w| w == 0.0) {
                continue;
            }
            entries += self.add_column(j, weights, a);
        }
        entries
    }

    /// Adds to the predictions the contribution of feature j with these c weights; returns how many entries of A it
    /// read.
    #[inline]
    pub fn add_column(&self, j: usize, weights: &[f64], a: &mut [f64]) -> u64 {
        let column = self.columns.column(j);
        if let [weight] = weights {
            column.iter().for_each(|&(i, value)| a[i as usize] += value * weight);
        } else {
            let c = weights.len();
            for &(i, value) in column {
                let at = &mut a[i as usize * c..][..c];
                at.iter_mut().zip(weights).for_each(|(a, weight)| *a += value * weight);
            }
        }
        column.len() as u64
    }

    /// Computes the corner α_i of every example's prediction, −α_i ∈ ∂f_i(a_i).
    pub fn corners(&self, a: &[f64], alpha: &mut [f64]) {
        corners(&self.losses, a, alpha);
    }

    /// Computes V = Σ m_i a_i ⊗ α_i for steps, without compensation. The gradient of P at X is μX − V at the corners of
    /// X.
    pub fn image(&self, alpha: &[f64], v: &mut [f64]) {
        v.fill(0.0);
        for (i, alpha) in alpha.chunks_exact(self.outputs()).enumerate() {
            self.add_example(i, alpha, 1.0, v);
        }
    }

    /// `v += factor · m_i a_i ⊗ α`; returns how many entries of A it read.
    #[inline]
    pub fn add_example(&self, i: usize, alpha: &[f64], factor: f64, v: &mut [f64]) -> u64 {
        let (row, factor) = (self.rows.row(i), factor * self.masses[i]);
        if let [alpha] = alpha {
            let factor = factor * alpha;
            row.for_each(|j, x| v[j] += factor * x);
        } else {
            add_outer(row, alpha, factor, v);
        }
        row.stored() as u64
    }

    /// Returns the mean loss at these predictions, each of which may be off by its entry of `off`.
    pub fn mean_loss(&self, a: &[f64], off: &[f64]) -> Measured {
        mean_loss(&self.losses, &self.masses, a, off)
    }

    /// Returns an error unless the ball is the l1 ball: the primal and dual values of this file are for that one.
    fn check_ball(&self) -> Result<()> {
        match self.ball {
            Ball::L1 { .. } => Ok(()),
            Ball::Trace { .. } => Err(Error::setting(
                "weights in the trace ball are kept in factors: take the problem's low_rank()",
            )),
        }
    }

    /// Returns P(X) at exactly these weights if X is proved to be in the l1 ball, else infinity.
    pub fn primal(&self, x: &[f64]) -> Result<Measured> {
        self.check_ball()?;
        if x.len() != self.dim() {
            let (found, needed) = (x.len(), self.dim());
            return Err(Error::setting(format!(
                "there are {found} weights and {needed} are needed"
            )));
        }
        if !l1::contains(x, self.ball.radius()) {
            return Ok(Measured { value: f64::INFINITY, error: 0.0 });
        }
        let (a, off) = self.measured_predictions(x);
        let mut sum = Sum::default();
        sum.add_measured(self.mean_loss(&a, &off));
        sum.add_measured(squared_norm(x).scaled(0.5).scaled(self.mu));
        Ok(sum.total())
    }

    /// Returns the predictions, and a bound on the rounding of each.
    fn measured_predictions(&self, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let c = self.outputs();
        let (mut a, mut sizes) = (vec![0.0; self.len() * c], vec![0.0; self.len() * c]);
        let mut terms = vec![0_u32; self.len()];
        for (j, weights) in x.chunks_exact(c).enumerate() {
            if weights.iter().all(|&w| w == 0.0) {
                continue;
            }
            for &(i, value) in self.columns.column(j) {
                let i = i as usize;
                terms[i] += 1;
                for (k, weight) in weights.iter().enumerate() {
                    a[i * c + k] += value * weight;
                    sizes[i * c + k] += size_of_product(value, *weight);
                }
            }
        }
        for (sizes, &terms) in sizes.chunks_exact_mut(c).zip(&terms) {
            // Roundings of the products, of their sum, and of the sum of their sizes.
            let share = gamma(2 * terms as usize + 2);
            sizes.iter_mut().for_each(|size| *size *= share);
        }
        (a, sizes)
    }

    /// Returns the dual value without h, or an error if an α_i is infeasible.
    pub fn mean_dual(&self, alpha: &[f64]) -> Result<MeanDual> {
        let c = self.outputs();
        if alpha.len() != self.len() * c {
            let (found, needed) = (alpha.len(), self.len() * c);
            return Err(Error::setting(format!(
                "there are {found} dual variables and {needed} are needed"
            )));
        }
        let mut v = CompensatedVec::zeros(self.dim());
        let (mut mean, mut distance) = (Mean::default(), 0.0);
        let mut scaled = vec![0.0; c];
        for (i, alpha) in alpha.chunks_exact(c).enumerate() {
            let audited = self.losses.audit(i, alpha)?;
            let Measured { value, error } = audited.conjugate;
            mean.add(self.masses[i], Measured { value: -value, error });
            let (row, size) = (self.rows.row(i), norm_above(alpha));
            // Roundings of the mass, of its product with α, and of the product with the entry; the products may
            // underflow.
            let off = audited.off + product_above(gamma(6), size);
            let length = root_above(self.squared_norms[i], row.stored());
            distance += product_above(self.masses[i], product_above(length, off));
            if size > 0.0 {
                let terms = length * c as f64 + (row.stored() * c) as f64;
                distance += product_above(UNDERFLOW, terms);
            }
            scaled.iter_mut().zip(alpha).for_each(|(s, alpha)| *s = self.masses[i] * alpha);
            add_compensated(row, &scaled, &mut v);
        }
        let v = v.round();
        let rounding = product_above(2.0 * UNIT_ROUNDOFF, norm_above(&v));
        let distance = (distance + rounding) * 1.000_001;
        Ok(MeanDual { value: mean.total(), v, distance })
    }

    /// Returns D(α) in the l1 ball with V summed anew, or an error if an α_i is infeasible.
    pub fn dual(&self, alpha: &[f64]) -> Result<DualValue> {
        self.check_ball()?;
        let MeanDual { value, v, distance } = self.mean_dual(alpha)?;
        let l1::Conjugate { bound, shrunk: mut x } = l1::conjugate(&v, self.ball.radius(), self.mu);
        let mut sum = Sum::default();
        sum.add_measured(value);
        // h changes by at most the radius times the largest change of an entry.
        let error = bound.error + product_above(self.ball.radius(), distance) * 1.000_001;
        sum.add_measured(Measured { value: -bound.value, error });
        if self.mu > 0.0 {
            x.iter_mut().for_each(|x| *x /= self.mu);
        }
        Ok(DualValue { value: sum.total(), v, x })
    }
}

/// `v += a ⊗ d`, with compensation.
fn add_compensated(row: Row<'_>, d: &[f64], v: &mut CompensatedVec) {
    if let [d] = d {
        row.for_each(|j, x| v.add(j, x * d));
    } else {
        v.add_outer(row, d, 1.0);
    }
}

/// Computes the corner α_i of every example's prediction, −α_i ∈ ∂f_i(a_i).
pub(super) fn corners<L: Losses>(losses: &L, a: &[f64], alpha: &mut [f64]) {
    let (c, mut scratch) = (losses.outputs(), L::Scratch::default());
    for (i, (a, alpha)) in a.chunks_exact(c).zip(alpha.chunks_exact_mut(c)).enumerate() {
        losses.corner(i, a, alpha, &mut scratch);
    }
}

/// Returns the mean loss at these predictions, each of which may be off by its entry of `off`.
pub(super) fn mean_loss<L: Losses>(losses: &L, masses: &[f64], a: &[f64], off: &[f64]) -> Measured {
    let (mut mean, mut scratch) = (Mean::default(), L::Scratch::default());
    let c = losses.outputs();
    for (i, (a, off)) in a.chunks_exact(c).zip(off.chunks_exact(c)).enumerate() {
        mean.add(masses[i], losses.value(i, a, off, &mut scratch));
    }
    mean.total()
}

/// A mean over the examples, and the sum of the sizes of its terms.
#[derive(Default)]
pub(super) struct Mean {
    sum: Sum,
    size: f64,
}

impl Mean {
    pub fn add(&mut self, mass: f64, term: Measured) {
        self.sum.add_measured(term.scaled(mass));
        self.size += product_above(mass, term.value.abs());
    }

    pub fn total(&self) -> Measured {
        let mut value = self.sum.total();
        value.error += product_above(MASS_ROUNDING, self.size) * 1.000_001;
        value
    }
}
