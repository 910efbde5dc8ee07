//! The problem in the trace ball, and the primal and dual values of a certificate, each computed from scratch.
//!
//! ```text
//! P(X) = Σ m_i f_i(𝒜_i(X)) + μ/2‖X‖²  for ‖X‖_* ≤ r,      D(α) = −Σ m_i f_i*(−α_i) − h(V),    V = Σ m_i 𝒜_i*(α_i)
//! h(V) ≤ ‖R‖²/(2μ) + r‖V − R‖_2 for every R, proven in `term::ball::trace`
//! ```

use super::{Features, LARGEST, Map};
use crate::ball::problem::{Mean, corners, mean_loss};
use crate::ball::{BestPair, Losses, Problem, Solution};
use crate::dual::problem::masses;
use crate::linalg::halt::never;
use crate::linalg::memory::Need;
use crate::linalg::underflow::{norm_above, product_above};
use crate::linalg::{Dense, Halted, LowRank, Measured, Operator, Search, Sum, UNDERFLOW, gamma};
use crate::term::Ball;
use crate::term::ball::trace::{self, Known, Ranks, TraceDual};
use crate::{Error, Result};
use std::ops::RangeInclusive;

/// A map from X to predictions, losses of those, μ and the radius; see the module's head.
///
/// ```
/// use dualgap::linalg::{LowRank, Rows};
/// use dualgap::ball::PerOutput;
/// use dualgap::ball::trace::{Features, LowRankProblem, Proving};
/// use dualgap::term::ScalarLoss;
/// let rows = Rows::dense(&[vec![1.0, 0.0], vec![0.0, 1.0]])?;
/// let losses = PerOutput::new(ScalarLoss::Squared, vec![1.0, 0.0, 0.0, 0.0], 2)?;
/// let problem = LowRankProblem::new(Features::new(&rows, 2)?, losses, 0.5, 1.0, None)?;
/// // ½·½(1 − x)² + ¼x² is smallest at a half, and α is what that prediction leaves of the target.
/// let x = LowRank::new(2, 2, vec![1.0, 0.0], vec![0.5], vec![1.0, 0.0])?;
/// let (primal, dual) = (problem.primal(&x)?, problem.dual(&[0.5, 0.0, 0.0, 0.0], &Proving::default())?);
/// assert!((primal.value - dual.value.value).abs() <= 1e-12);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LowRankProblem<M, L> {
    map: M,
    losses: L,
    masses: Vec<f64>,
    mu: f64,
    radius: f64,
}

/// The tolerance of a first search, which estimates how many singular values are above the threshold.
const ROUGH: f64 = 1e-3;

/// The rank that the estimate of memory assumes for factors: a run searches for and stores at least about as many
/// singular vectors.
const USUAL_RANK: usize = 16;

/// How much effort the proof of a dual value takes. Any choice gives a valid lower bound.
#[derive(Clone, Copy, Debug)]
pub struct Proving<'a> {
    /// The tolerance of the search, relative to the largest singular value of V.
    pub tolerance: f64,
    /// Whether V is summed with compensation.
    pub tight: bool,
    /// The number of singular values that the search asks for at first: about those above the threshold.
    pub rank: usize,
    /// Singular vectors to start the search from.
    pub warm: Option<&'a LowRank>,
}

impl Default for Proving<'_> {
    /// The tightest bound, without a warm start.
    fn default() -> Self {
        Self { tolerance: 1e-12, tight: true, rank: 8, warm: None }
    }
}

impl Proving<'_> {
    /// The range of the tolerances that a run uses.
    pub(super) const TOLERANCES: RangeInclusive<f64> = 1e-12..=1e-6;

    /// The settings for the first dual value of a run, for which there is no warm start.
    pub(super) fn first() -> Self {
        Self { tight: false, ..Self::default() }
    }
}

/// A dual value, and the decomposition that its proof found.
#[derive(Clone, Debug)]
pub struct LowRankDual {
    /// D(α), or a lower bound on it.
    pub value: Measured,
    /// The part of its error that comes from the rounding of V.
    pub of_rounding: f64,
    /// The ball's part; none if V is zero, or too large to be formed, so that only its norm was bounded.
    pub ball: Option<TraceDual>,
}

impl<M: Map, L: Losses> LowRankProblem<M, L> {
    /// Checks the parts and computes the masses. `sample_weights` default to one each. μ may be zero.
    pub fn new(
        map: M,
        losses: L,
        mu: f64,
        radius: f64,
        sample_weights: Option<&[f64]>,
    ) -> Result<Self> {
        let (rows, columns) = map.shape();
        if map.is_empty() || rows == 0 || columns == 0 {
            return Err(Error::setting("there is nothing to learn from"));
        }
        if map.len() != losses.len() || map.outputs() != losses.outputs() {
            return Err(Error::setting(format!(
                "there are {} examples of {} predictions, and targets for {} of {}",
                map.len(),
                map.outputs(),
                losses.len(),
                losses.outputs()
            )));
        }
        if !(mu >= 0.0 && mu.is_finite()) {
            return Err(Error::setting(format!("mu is not negative, and it is {mu}")));
        }
        Ball::Trace { radius }.check()?;
        Self::check_memory(&map)?;
        let masses = masses(map.len(), sample_weights)?;
        Ok(Self { map, losses, masses, mu, radius })
    }

    /// Returns an error if the factors, or V where it is formed, do not fit into memory. The number of copies for a
    /// linear model, which also forms its gradients, was measured. Every other map has V, the copy that the proof of
    /// its spectral norm works on, and three square matrices of the shorter side.
    fn check_memory(map: &M) -> Result<()> {
        let (rows, columns) = map.shape();
        let short = rows.min(columns);
        let factors = rows.saturating_add(columns).saturating_mul(short.min(USUAL_RANK));
        let written = match rows.checked_mul(columns) {
            Some(entries) if entries <= LARGEST => {
                entries * if map.features().is_some() { 6 } else { 2 } + 3 * short * short
            }
            _ => 0,
        };
        let numbers = map.len().saturating_mul(map.outputs()).saturating_mul(4);
        let others = written.saturating_add(numbers);
        Need { weights: factors, copies: 8, others }.check()
    }

    /// The map 𝒜.
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

    /// μ.
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// The radius r.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// n·c, the number of predictions.
    pub fn numbers(&self) -> usize {
        self.map.len() * self.map.outputs()
    }

    /// Computes the corner α_i of every example's prediction, −α_i ∈ ∂f_i(a_i).
    pub fn corners(&self, a: &[f64], alpha: &mut [f64]) {
        corners(&self.losses, a, alpha);
    }

    /// Computes `y_i = m_i α_i`, from which the map forms V.
    pub fn weigh(&self, alpha: &[f64], y: &mut [f64]) {
        let c = self.map.outputs();
        for ((y, alpha), mass) in y.chunks_exact_mut(c).zip(alpha.chunks_exact(c)).zip(&self.masses)
        {
            y.iter_mut().zip(alpha).for_each(|(y, alpha)| *y = mass * alpha);
        }
    }

    /// Whether X is proved to be in the ball, whatever rounding did.
    pub fn contains(&self, x: &LowRank) -> bool {
        let norm = x.nuclear_norm();
        (norm.value + norm.error) * (1.0 + f64::EPSILON) <= self.radius
    }

    /// Returns this X, scaled down by about a rounding where the proof that it is in the ball needs that.
    pub fn bring_inside(&self, x: LowRank) -> LowRank {
        let mut x = x.within(self.radius);
        for _ in 0..8 {
            if self.contains(&x) {
                return x;
            }
            x = x.within(self.radius).scaled(1.0 - 2.0 * f64::EPSILON);
        }
        // Such numbers (overflow or NaN) cannot be proved to be in the ball; zero can.
        LowRank::zero(self.map.shape().0, self.map.shape().1)
    }

    /// Returns P(X) at exactly the product of the factors if X is proved to be in the ball, else infinity.
    pub fn primal(&self, x: &LowRank) -> Result<Measured> {
        let mut a = vec![0.0; self.numbers()];
        self.primal_at(x, &mut a)
    }

    /// [`primal`](Self::primal) that also stores the predictions.
    pub(super) fn primal_at(&self, x: &LowRank, a: &mut [f64]) -> Result<Measured> {
        let (rows, columns) = self.map.shape();
        if (x.rows(), x.columns()) != (rows, columns) {
            let (found_rows, found_columns) = (x.rows(), x.columns());
            return Err(Error::setting(format!(
                "the weights are {found_rows} by {found_columns}, and {rows} by {columns} are needed"
            )));
        }
        if !self.contains(x) {
            return Ok(Measured { value: f64::INFINITY, error: 0.0 });
        }
        self.map.predict(x, a);
        let mut off = vec![0.0; a.len()];
        self.map.rounding(x, &mut off);
        let mut sum = Sum::default();
        sum.add_measured(mean_loss(&self.losses, &self.masses, a, &off));
        sum.add_measured(x.squared_norm().scaled(0.5).scaled(self.mu));
        Ok(sum.total())
    }

    /// Returns D(α) with V summed anew, or an error if an α_i is infeasible.
    pub fn dual(&self, alpha: &[f64], proving: &Proving<'_>) -> Result<LowRankDual> {
        self.dual_until(alpha, proving, &never)
    }

    /// [`dual`](Self::dual) that ends soon after it is halted: the bound is then coarser, but still proven.
    pub fn dual_until(
        &self,
        alpha: &[f64],
        proving: &Proving<'_>,
        halted: Halted<'_>,
    ) -> Result<LowRankDual> {
        let c = self.map.outputs();
        if alpha.len() != self.numbers() {
            let (found, needed) = (alpha.len(), self.numbers());
            return Err(Error::setting(format!(
                "there are {found} dual variables and {needed} are needed"
            )));
        }
        let (mut mean, mut distance) = (Mean::default(), 0.0);
        for (i, alpha) in alpha.chunks_exact(c).enumerate() {
            let audited = self.losses.audit(i, alpha)?;
            let Measured { value, error } = audited.conjugate;
            mean.add(self.masses[i], Measured { value: -value, error });
            // Roundings of the mass, and of its product with α, which may underflow.
            let (size, length) = (norm_above(alpha), self.map.squared_norm(i).sqrt());
            let off = audited.off + product_above(gamma(6), size);
            distance += product_above(self.masses[i], product_above(length, off));
            if size > 0.0 {
                distance += product_above(UNDERFLOW, length * c as f64);
            }
        }
        let mut y = vec![0.0; alpha.len()];
        self.weigh(alpha, &mut y);
        let distance = distance * (1.0 + gamma(self.map.len() + c + 16));
        let (rows, columns) = self.map.shape();
        let mut sum = Sum::default();
        sum.add_measured(mean.total());
        if distance == 0.0 && y.iter().all(|&y| y == 0.0) {
            // V is exactly zero, and so is h.
            return Ok(LowRankDual { value: sum.total(), of_rounding: 0.0, ball: None });
        }
        if rows.checked_mul(columns).is_none_or(|entries| entries > LARGEST) {
            let most = self.radius * (self.map.bound(&y) + distance);
            sum.add_measured(Measured::rounded(-most, 4));
            return Ok(LowRankDual { value: sum.total(), of_rounding: 0.0, ball: None });
        }
        let (v, rounding) = self.map.written(&y, proving.tight);
        let v = Dense::new(rows, columns, &v);
        let search = Search { tolerance: proving.tolerance, ..Search::default() };
        let ranks = Ranks { first: proving.rank, ..Ranks::default() };
        let error = (distance + rounding) * (1.0 + gamma(4));
        // The proof needs all entries of V; the search is cheaper with a sparse V if most of them are zero.
        let sparse =
            (4 * self.map.len() < rows * columns).then(|| self.map.sparse_image(&y)).flatten();
        let products: &dyn Operator = sparse.as_deref().unwrap_or(&v);
        // Without a warm start, a rough search finds how many values are above the threshold, and their vectors.
        let (mu, r) = (self.mu, self.radius);
        let rough = match proving.warm {
            None if mu > 0.0 && proving.tolerance < ROUGH => {
                let search = Search { tolerance: ROUGH, ..search };
                Some(trace::top_until(products, mu * r, ranks, None, &search, halted)?)
            }
            _ => None,
        };
        let known = Known { entries: &v, products, error };
        let ball = match rough {
            // The search became a full decomposition of V, which no other search improves on.
            Some(top) if top.whole => trace::with_top(known, mu, r, top, halted)?,
            rough => {
                let found = rough.map(|top| top.found);
                let first = found.as_ref().map_or(ranks.first, LowRank::rank);
                let ranks = Ranks { first, ..ranks };
                let warm = proving.warm.or(found.as_ref());
                trace::dual_until(known, mu, r, ranks, warm, &search, halted)?
            }
        };
        sum.add_measured(ball.value);
        Ok(LowRankDual { value: sum.total(), of_rounding: self.radius * error, ball: Some(ball) })
    }

    /// Starts a best pair from X = 0 and α = 0, which are always feasible.
    pub(super) fn best_pair(&self) -> Result<BestPair<LowRank>> {
        let (rows, columns) = self.map.shape();
        let best =
            Solution { weights: LowRank::zero(rows, columns), points: vec![0.0; self.numbers()] };
        self.proved(best, &Proving::first())
    }

    /// Returns this pair with its values, proved with these settings.
    pub(super) fn proved(
        &self,
        best: Solution<LowRank>,
        proving: &Proving<'_>,
    ) -> Result<BestPair<LowRank>> {
        let dual = self.dual(&best.points, proving)?.value;
        Ok(BestPair::of(self.primal(&best.weights)?, dual, best))
    }

    /// Whether factors have the shape of X, and a rank that X can have.
    pub(super) fn fits(&self, x: &LowRank) -> bool {
        let (rows, columns) = self.map.shape();
        (x.rows(), x.columns()) == (rows, columns) && x.rank() <= rows.min(columns)
    }

    /// Whether an X from a checkpoint is at least near the ball, as every iterate of a run is.
    pub(super) fn has_near(&self, x: &LowRank) -> bool {
        let near = |norm: Measured| norm.value + norm.error <= 2.0 * self.radius;
        self.fits(x) && near(x.nuclear_norm())
    }

    /// Whether these are finite numbers, one for each prediction.
    pub(super) fn has_numbers(&self, numbers: &[f64]) -> bool {
        numbers.len() == self.numbers() && numbers.iter().all(|x| x.is_finite())
    }
}

impl<'a, L: Losses> Problem<'a, L> {
    /// Returns the same problem with weights in factors, or an error if its ball is not the trace ball.
    pub fn low_rank(&self) -> Result<LowRankProblem<Features<'a>, &L>> {
        let Ball::Trace { radius } = self.ball() else {
            return Err(Error::setting("weights in the l1 ball are a plain vector"));
        };
        let map = Features::new(self.rows(), self.outputs())?;
        let mut problem = LowRankProblem::new(map, self.losses(), self.mu(), radius, None)?;
        problem.masses.copy_from_slice(self.masses());
        Ok(problem)
    }
}
