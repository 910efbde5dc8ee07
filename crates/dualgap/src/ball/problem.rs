//! The problem in a ball, and the primal value of a certificate, computed from scratch.
//!
//! ```text
//! P(X) = Σ m_i f_i(𝒜_i(X)) + μ/2‖X‖²  for X in the ball,      D(α) = −Σ m_i f_i*(−α_i) − h(V),    V = Σ m_i 𝒜_i*(α_i)
//! h(V) = max_{X in the ball} ⟨V, X⟩ − μ/2‖X‖²
//! ```
//!
//! The data enter as a linear map 𝒜 from X to c predictions for each of n examples. X has a row for each feature. α and
//! the predictions are laid out example by example, c numbers for each. [`Design`] is the map, with the form of X and
//! so the ball: [`Table`](super::Table) in the l1 ball, every [`Map`](super::trace::Map) in the trace ball. The dual
//! value is in `l1/table.rs` and in `trace/dual.rs`.

use super::own_term::{self, SmoothTerm};
use super::{Losses, Solution, Weights};
use crate::dual::problem::masses;
use crate::linalg::underflow::{norm_above, product_above};
use crate::linalg::{Halted, Measured, Sum};
use crate::run::{BestPair, Mean};
use crate::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// The data of a problem: a linear map from X to predictions, with the form of X and the proof of dual values in its
/// ball. The trace ball's data implement [`Map`](super::trace::Map) in its place.
pub trait Design: Sized {
    /// The form of X.
    type Weights: Weights;

    /// What the computation of a dual value finds beside the value, for the methods.
    type Dual;

    /// The settings with which a dual value was proved: a proof with the same settings gives the same bits.
    type Way: Clone + Serialize + DeserializeOwned;

    /// Whether the dual value of a method's own dual point is computed before X, because X follows from it.
    const DUAL_FIRST: bool;

    /// Rows and columns of X.
    fn shape(&self) -> (usize, usize);

    /// n, the number of examples.
    fn examples(&self) -> usize;

    /// c, the number of outputs.
    fn outputs(&self) -> usize;

    /// ‖𝒜_i‖², the largest ‖a_i‖² for ‖X‖ = 1, or a little more.
    fn squared_norm(&self, i: usize) -> f64;

    /// Returns an error if there is nothing to learn from, or a run would not fit into memory.
    fn check(&self) -> Result<()>;

    /// The X that a run begins with, which is in the ball of this radius.
    fn start(&self, _radius: f64) -> Self::Weights {
        Weights::zero(self.shape())
    }

    /// Returns a bound on the share by which X misses being in the ball, whatever rounding did: X stands for X divided
    /// by a number that is so near to 1. None if it misses by more than rounding. In a norm ball it is zero or none.
    fn miss(&self, x: &Self::Weights, radius: f64) -> Option<f64> {
        x.is_inside(radius).then_some(0.0)
    }

    /// Returns this X, which is in the ball up to rounding, as one that is proved to be.
    fn brought_inside(&self, x: Self::Weights, radius: f64) -> Self::Weights {
        x.brought_inside(radius)
    }

    /// Computes the predictions, and a bound on the rounding of each.
    fn predict_measured(&self, x: &Self::Weights, a: &mut [f64], off: &mut [f64]);

    /// How many products of V with a vector count as a pass.
    fn products_per_pass(&self) -> u64;

    /// How the dual value at α = 0 is proved when a run begins.
    fn first_way() -> Self::Way;

    /// Whether a checkpoint's way of proving is one of this problem.
    fn is_sound(&self, way: &Self::Way) -> bool;

    /// Proves a dual value as tightly as the run needs it.
    fn prove<L: Losses>(
        problem: &BallProblem<Self, L>,
        alpha: &[f64],
        known: &Known<'_, Self::Weights>,
        halted: Halted<'_>,
    ) -> Result<Proved<Self>>;

    /// Proves a dual value in this way.
    fn prove_again<L: Losses>(
        problem: &BallProblem<Self, L>,
        alpha: &[f64],
        way: &Self::Way,
    ) -> Result<Measured>;
}

/// What is known before the proof of a dual value.
#[derive(Debug)]
pub struct Known<'a, W> {
    /// The X of the same certification and its primal value, unless the dual comes first.
    pub primal: Option<(&'a W, f64)>,
    /// The gap of the best pair.
    pub gap: f64,
    /// What the proof before found, to start the search from.
    pub warm: Option<&'a W>,
}

/// A proved dual value.
#[derive(Debug)]
pub struct Proved<M: Design> {
    /// D(α), or a lower bound on it.
    pub value: Measured,
    /// How it was proved.
    pub way: M::Way,
    /// What the proof found, to start the next search from.
    pub warm: Option<M::Weights>,
    /// What else it found, for the methods.
    pub dual: M::Dual,
}

/// Data, losses, μ and the radius; see the module's head.
///
/// ```
/// use dualgap::linalg::{LowRank, Rows};
/// use dualgap::ball::{BallProblem, PerOutput};
/// use dualgap::ball::trace::Proving;
/// use dualgap::term::ScalarLoss;
/// let rows = Rows::dense(&[vec![1.0, 0.0], vec![0.0, 1.0]])?;
/// let losses = PerOutput::new(ScalarLoss::Squared, vec![1.0, 0.0], 1)?;
/// let problem = BallProblem::l1(&rows, losses, 0.5, 1.0, None)?;
/// // ½·½(1 − x)² + ¼x² is smallest at a half, and α is what that prediction leaves of the target.
/// let (primal, dual) = (problem.primal(&vec![0.5, 0.0])?, problem.dual(&[0.5, 0.0])?.value);
/// assert!((primal.value - dual.value).abs() <= primal.error + dual.error);
/// // The same in the trace ball, with a second output that has nothing to learn.
/// let losses = PerOutput::new(ScalarLoss::Squared, vec![1.0, 0.0, 0.0, 0.0], 2)?;
/// let problem = BallProblem::trace(&rows, losses, 0.5, 1.0, None)?;
/// let x = LowRank::new(2, 2, vec![1.0, 0.0], vec![0.5], vec![1.0, 0.0])?;
/// let dual = problem.dual(&[0.5, 0.0, 0.0, 0.0], &Proving::default())?;
/// assert!((problem.primal(&x)?.value - dual.value.value).abs() <= 1e-12);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BallProblem<M, L> {
    map: M,
    losses: L,
    masses: Vec<f64>,
    mu: f64,
    radius: f64,
    /// g, if it is not μ/2‖X‖².
    term: Option<Arc<dyn SmoothTerm>>,
}

impl<M: Design, L: Losses> BallProblem<M, L> {
    /// Checks the parts and computes the masses. `sample_weights` default to one each. μ may be zero.
    pub fn new(
        map: M,
        losses: L,
        mu: f64,
        radius: f64,
        sample_weights: Option<&[f64]>,
    ) -> Result<Self> {
        map.check()?;
        if map.examples() != losses.len() || map.outputs() != losses.outputs() {
            return Err(Error::setting(format!(
                "there are {} examples of {} predictions, and targets for {} of {}",
                map.examples(),
                map.outputs(),
                losses.len(),
                losses.outputs()
            )));
        }
        if !(mu >= 0.0 && mu.is_finite()) {
            return Err(Error::setting(format!("mu is not negative, and it is {mu}")));
        }
        if !(radius > 0.0 && radius.is_finite()) {
            return Err(Error::setting(format!("the radius of a ball is positive, not {radius}")));
        }
        let masses = masses(map.examples(), sample_weights)?;
        Ok(Self { map, losses, masses, mu, radius, term: None })
    }

    /// n, the number of examples.
    pub fn len(&self) -> usize {
        self.map.examples()
    }

    /// Always false: a problem has at least one example.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// c, the number of outputs.
    pub fn outputs(&self) -> usize {
        self.map.outputs()
    }

    /// n·c, the number of predictions.
    pub fn numbers(&self) -> usize {
        self.len() * self.outputs()
    }

    /// The data: the map 𝒜.
    pub fn map(&self) -> &M {
        &self.map
    }

    /// The losses f.
    pub fn losses(&self) -> &L {
        &self.losses
    }

    /// The masses m_i.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// μ: g is μ-strongly convex.
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// g, if it is not μ/2‖X‖².
    pub fn term(&self) -> Option<&dyn SmoothTerm> {
        self.term.as_deref()
    }

    /// L: g is L-smooth. It is μ for μ/2‖X‖².
    pub fn term_smoothness(&self) -> f64 {
        self.term.as_ref().map_or(self.mu, |term| term.smoothness())
    }

    /// The same problem with this g in the place of μ/2‖X‖².
    pub(super) fn replace_term(mut self, term: Arc<dyn SmoothTerm>) -> Result<Self> {
        own_term::check(&*term)?;
        self.mu = term.convexity();
        self.term = Some(term);
        Ok(self)
    }

    /// The radius r.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Returns the c numbers of example i in a vector that has c for each example.
    #[inline]
    pub fn of<'v>(&self, i: usize, numbers: &'v [f64]) -> &'v [f64] {
        &numbers[i * self.outputs()..][..self.outputs()]
    }

    /// Computes the corner α_i of every example's prediction, −α_i ∈ ∂f_i(a_i).
    pub fn corners(&self, a: &[f64], alpha: &mut [f64]) {
        let (c, mut scratch) = (self.outputs(), L::Scratch::default());
        for (i, (a, alpha)) in a.chunks_exact(c).zip(alpha.chunks_exact_mut(c)).enumerate() {
            self.losses.corner(i, a, alpha, &mut scratch);
        }
    }

    /// Returns the corners of the predictions of X.
    pub(crate) fn corners_at(&self, x: &M::Weights) -> Result<Vec<f64>> {
        let mut a = vec![0.0; self.numbers()];
        self.primal_at(x, &mut a)?;
        let mut alpha = vec![0.0; a.len()];
        self.corners(&a, &mut alpha);
        Ok(alpha)
    }

    /// Returns the mean loss at these predictions, each of which may be off by its entry of `off`.
    pub fn mean_loss(&self, a: &[f64], off: &[f64]) -> Measured {
        let (mut mean, mut scratch) = (Mean::default(), L::Scratch::default());
        let c = self.outputs();
        for (i, (a, off)) in a.chunks_exact(c).zip(off.chunks_exact(c)).enumerate() {
            mean.add(self.losses.value(i, a, off, &mut scratch), self.masses[i]);
        }
        mean.total()
    }

    /// Returns ⟨∇f(X) − ∇f(Y), X − Y⟩ of the mean loss f, from the predictions of Y, their corners, and the predictions
    /// of X.
    pub(super) fn curvature_along(&self, a: &[f64], alpha: &[f64], next: &[f64]) -> f64 {
        let (mut to, mut scratch) = (vec![0.0; self.outputs()], L::Scratch::default());
        let mut sum = 0.0;
        for (i, mass) in self.masses.iter().enumerate() {
            self.losses.corner(i, self.of(i, next), &mut to, &mut scratch);
            let moves = self.of(i, next).iter().zip(self.of(i, a));
            let changes = self.of(i, alpha).iter().zip(&to).zip(moves);
            sum += mass * changes.map(|((at, to), (next, a))| (at - to) * (next - a)).sum::<f64>();
        }
        sum
    }

    /// Whether X is proved to be in the ball, whatever rounding did.
    pub fn contains(&self, x: &M::Weights) -> bool {
        self.map.miss(x, self.radius).is_some()
    }

    /// Returns P(X) at exactly these weights if X is proved to be in the ball, else infinity.
    pub fn primal(&self, x: &M::Weights) -> Result<Measured> {
        self.primal_at(x, &mut vec![0.0; self.numbers()])
    }

    /// [`primal`](Self::primal) that also stores the predictions.
    pub(super) fn primal_at(&self, x: &M::Weights, a: &mut [f64]) -> Result<Measured> {
        if !x.has_shape(self.map.shape()) {
            let (rows, columns) = self.map.shape();
            return Err(Error::setting(format!(
                "the weights have another shape than the {rows} by {columns} that are needed"
            )));
        }
        let Some(miss) = self.map.miss(x, self.radius) else {
            return Ok(Measured { value: f64::INFINITY, error: 0.0 });
        };
        let mut off = vec![0.0; a.len()];
        self.map.predict_measured(x, a, &mut off);
        if miss > 0.0 {
            off.iter_mut().zip(&*a).for_each(|(off, a)| {
                *off += product_above(miss, a.abs() + *off);
            });
        }
        let mut sum = Sum::default();
        sum.add_measured(self.mean_loss(a, &off));
        sum.add_measured(self.term_value(x, miss));
        Ok(sum.total())
    }

    /// g(X), with what it may change if X is multiplied by a factor within `miss` of 1.
    fn term_value(&self, x: &M::Weights, miss: f64) -> Measured {
        let Some(term) = &self.term else {
            let mut value = x.squared_norm().scaled(0.5).scaled(self.mu);
            if miss > 0.0 {
                value.error += product_above(3.0 * miss, value.value + value.error);
            }
            return value;
        };
        let x = x.plain();
        let mut value = term.value(x);
        if miss > 0.0 {
            let mut gradient = vec![0.0; x.len()];
            let off = term.gradient(x, &mut gradient);
            let far = product_above(miss, norm_above(x));
            let slope = norm_above(&gradient) + off + product_above(term.smoothness(), far);
            value.error += product_above(slope, far) * 1.000_001;
        }
        value
    }

    /// Returns −Σ m_i f_i*(−α_i), or an error if an α_i is infeasible; `visit` sees each α_i and its distance from the
    /// feasible point that stands for it.
    pub(super) fn mean_conjugate(
        &self,
        alpha: &[f64],
        mut visit: impl FnMut(usize, &[f64], f64),
    ) -> Result<Measured> {
        if alpha.len() != self.numbers() {
            let (found, needed) = (alpha.len(), self.numbers());
            return Err(Error::setting(format!(
                "there are {found} dual variables and {needed} are needed"
            )));
        }
        let mut mean = Mean::default();
        for (i, alpha) in alpha.chunks_exact(self.outputs()).enumerate() {
            let audited = self.losses.audit(i, alpha)?;
            let Measured { value, error } = audited.conjugate;
            mean.add(Measured { value: -value, error }, self.masses[i]);
            visit(i, alpha, audited.off);
        }
        Ok(mean.total())
    }

    /// The pair of the X that a run begins with and α = 0, which is always feasible.
    pub(super) fn first_pair(&self) -> Result<BestPair<M::Weights, f64>> {
        let (weights, points) = (self.map.start(self.radius), vec![0.0; self.numbers()]);
        self.proved(Solution { weights, points }, &M::first_way())
    }

    /// Returns this pair with its values, proved in this way.
    pub(super) fn proved(
        &self,
        best: Solution<M::Weights>,
        way: &M::Way,
    ) -> Result<BestPair<M::Weights, f64>> {
        let dual = M::prove_again(self, &best.points, way)?;
        Ok(BestPair::of(self.primal(&best.weights)?, dual, best))
    }

    /// Whether these are finite numbers, one for each prediction.
    pub(super) fn has_numbers(&self, numbers: &[f64]) -> bool {
        numbers.len() == self.numbers() && numbers.iter().all(|x| x.is_finite())
    }
}
