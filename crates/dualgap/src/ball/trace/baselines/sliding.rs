//! SCGS and STORC in factors: the steps and constants of the l1 ball's `sliding`, with Z, X and Y of low rank.
//!
//! The inner Frank-Wolfe that computes X_k maintains ⟨base, X⟩ and ‖X‖², so that a corner costs the search for it, one
//! more product, and the update of the factors.

use super::best_corner::{corner, smoothness};
use super::stochastic::changes;
use crate::Result;
use crate::ball::schedule::{BATCH, Measures, Rates, Schedule, slide_step, smoothness_of_batch};
use crate::ball::solver::{Looked, Moves};
use crate::ball::trace::Map;
use crate::ball::{BallProblem, Losses};
use crate::linalg::halt::never;
use crate::linalg::{Combination, Halted, LowRank, Operator, Random, Search, top_singular};

/// The largest number of corners for one X_k, so that every step ends; any number that is rarely reached will do. A
/// round that ends here leaves X_k less exact than the theorem asks, and no certificate rests on it.
const MOST_CORNERS: u64 = 500;

/// The tolerance of the search for a corner.
const TOLERANCE: f64 = 1e-2;

/// Both methods; see the module's head.
pub(in crate::ball::trace) struct Sliding {
    reduced: bool,
    schedule: Schedule,
    x: LowRank,
    y: LowRank,
    /// The corners at the snapshot where the phase began, and its m_i α_i: for STORC.
    alpha: Vec<f64>,
    whole: Vec<f64>,
    a: Vec<f64>,
    random: Random,
    warm: Option<LowRank>,
    which: Vec<u32>,
    part: Vec<f64>,
    corners: u64,
}

impl Sliding {
    /// Starts at X = 0, where the gap is `gap`.
    pub fn new<M: Map, L: Losses>(
        problem: &BallProblem<M, L>,
        reduced: bool,
        gap: f64,
        seed: u64,
    ) -> Result<Self> {
        let ((rows, columns), n) = (problem.map().shape(), problem.map().len());
        let x = LowRank::zero(rows, columns);
        let a = vec![0.0; problem.numbers()];
        let (mut alpha, mut whole) = (a.clone(), a.clone());
        problem.corners(&a, &mut alpha);
        problem.weigh(&alpha, &mut whole);
        let mut of_mean = smoothness(problem, &never)?;
        if reduced {
            of_mean = smoothness_of_batch(problem, BATCH.min(n), of_mean);
        }
        let each = whole.chunks_exact(problem.map().outputs()).enumerate();
        let squares: f64 = each
            .map(|(i, y)| problem.map().squared_norm(i) * y.iter().map(|y| y * y).sum::<f64>())
            .sum();
        // The largest singular value is most of ‖V‖²; the others would only lower the variance.
        let search = Search { tolerance: TOLERANCE, ..Search::default() };
        let top = top_singular(&*problem.map().image(&whole, 16), 1, None, &search)?;
        let mean = top.found.s().first().map_or(0.0, |s| s * s);
        let of = Measures {
            reduced,
            mu: problem.mu(),
            smoothness: of_mean + problem.mu(),
            radius: problem.radius(),
            variance: (n as f64 * squares - mean).max(0.0),
            gap,
        };
        Ok(Self {
            reduced,
            schedule: Schedule::new(of),
            y: x.clone(),
            x,
            alpha,
            whole,
            a,
            random: Random::new(seed),
            warm: None,
            which: Vec::new(),
            part: Vec::new(),
            corners: 0,
        })
    }

    /// Begins a phase, with a new snapshot for STORC; returns how many products that took, or none if it was halted.
    fn begin_phase<M: Map, L: Losses>(
        &mut self,
        problem: &BallProblem<M, L>,
        halted: Halted<'_>,
    ) -> Result<Option<u64>> {
        self.x = self.y.clone();
        let (mut gap, mut products) = (0.0, 0);
        if self.reduced {
            problem.map().predict(&self.y, &mut self.a);
            problem.corners(&self.a, &mut self.alpha);
            problem.weigh(&self.alpha, &mut self.whole);
            let image = problem.map().image(&self.whole, 16);
            let descent = Combination::new(vec![(1.0, &*image), (-problem.mu(), &self.y)]);
            let warm = self.warm.as_ref();
            let (s, took) = corner(&descent, problem.radius(), warm, TOLERANCE, halted)?;
            if halted() {
                return Ok(None);
            }
            gap = inner(&descent, &s) - inner(&descent, &self.y);
            products = took + 2 * self.y.rank() + 1;
        }
        self.schedule.begin_phase(gap);
        Ok(Some(products as u64))
    }
}

/// ⟨E, X⟩.
fn inner(matrix: &dyn Operator, x: &LowRank) -> f64 {
    let k = x.rank();
    let mut product = vec![0.0; matrix.rows() * k];
    matrix.add_apply(1.0, x.v(), k, &mut product);
    let rows = x.u().chunks_exact(k.max(1)).zip(product.chunks_exact(k.max(1)));
    rows.map(|(u, p)| u.iter().zip(p).zip(x.s()).map(|((u, p), s)| u * p * s).sum::<f64>()).sum()
}

/// Runs Frank-Wolfe with exact steps from X until ⟨base, X⟩ − (β/2)‖X‖² is within η of its maximum; returns how many
/// corners and products that took. It checks the halt flag at every corner.
fn slide(
    base: &dyn Operator,
    (beta, eta, radius): (f64, f64, f64),
    x: &mut LowRank,
    warm: &mut Option<LowRank>,
    halted: Halted<'_>,
) -> Result<(u64, usize)> {
    let (mut own, mut square) = (inner(base, x), x.dot(x));
    let mut products = x.rank();
    for corners in 1..=MOST_CORNERS {
        let descent = Combination::new(vec![(1.0, base), (-beta, &*x)]);
        let (s, took) = corner(&descent, radius, warm.as_ref(), TOLERANCE, halted)?;
        products += took + 1;
        if halted() {
            return Ok((corners, products));
        }
        let (along, cross) = (inner(base, &s), x.dot(&s));
        let held = own - beta * square;
        let gap = along - beta * cross - held;
        let far = s.dot(&s) - 2.0 * cross + square;
        let step = slide_step(gap, eta, held, beta, far);
        *warm = Some(s);
        let (Some(step), Some(s)) = (step, &*warm) else { return Ok((corners, products)) };
        *x = LowRank::combined(1.0 - step, x, step, s)?;
        own += step * (along - own);
        square = x.dot(x);
    }
    Ok((MOST_CORNERS, products))
}

impl<M: Map, L: Losses> Moves<M, L> for Sliding {
    fn step(&mut self, problem: &BallProblem<M, L>, halted: Halted<'_>) -> Result<Option<Looked>> {
        let (n, mu) = (problem.map().len(), problem.mu());
        let mut products = 0;
        if self.schedule.is_over() {
            let Some(took) = self.begin_phase(problem, halted)? else { return Ok(None) };
            products += took;
        }
        let Rates { gamma, beta, eta, batch } = self.schedule.step(n);
        let z = LowRank::combined(1.0 - gamma, &self.y, gamma, &self.x)?;
        self.which.clear();
        let all = batch >= n;
        if all {
            self.which.extend(0..n as u32);
        } else {
            self.which.extend((0..batch).map(|_| self.random.below(n) as u32));
        }
        self.part.clear();
        let share = if all { 1.0 } else { n as f64 / batch as f64 };
        let from = self.reduced.then_some(&*self.alpha);
        changes(problem, &z, &self.which, share, from, &mut self.part);
        let before = self.x.clone();
        let part = problem.map().image_at(&self.which, &self.part);
        let whole = self.reduced.then(|| problem.map().image(&self.whole, 64));
        let mut terms: Vec<(f64, &dyn Operator)> = vec![(1.0, &*part), (-mu, &z), (beta, &before)];
        terms.extend(whole.as_deref().map(|whole| (1.0, whole)));
        let rates = (beta, eta, problem.radius());
        let base = Combination::new(terms);
        let (corners, took) = slide(&base, rates, &mut self.x, &mut self.warm, halted)?;
        if halted() {
            return Ok(None);
        }
        self.corners += corners;
        self.y = LowRank::combined(1.0 - gamma, &self.y, gamma, &self.x)?;
        // A product with a sample costs the sample's share of a product with all examples.
        let seen = if self.reduced { n } else { batch };
        let seen = (took * seen + z.rank() * batch).div_ceil(n);
        Ok(Some(Looked::Products(products + seen as u64)))
    }

    fn iterate(&mut self, _: &BallProblem<M, L>, _: Option<&()>) -> Result<LowRank> {
        Ok(self.y.clone())
    }

    fn may_stall(&self) -> bool {
        false
    }

    fn tactics(&self) -> Vec<String> {
        self.schedule.describe(self.corners)
    }
}
