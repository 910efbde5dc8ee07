//! The default method on all examples at once, with nothing to tune: step size and rank adapt, and steps have momentum.
//!
//! ```text
//! Y = X + β(X − X_before),    α_i the corner of 𝒜_i(Y),    X_next = Proj(Y − (μY − V(α))/ℓ)
//! for an ℓ with ⟨∇P(X_next) − ∇P(Y), Δ⟩ ≤ ℓ‖Δ‖²,  Δ = X_next − Y
//! ```
//!
//! It is Algorithm 2 where every dual step goes all the way (δ = ∞, k = n) and the primal one is as long as the loss
//! allows. s is the number of singular values above the projection's threshold: the search for them starts from the
//! singular vectors of the step before, and asks for a few more, so that the rank grows and shrinks by itself. Y and V
//! are not formed where products with a few vectors are cheaper; the predictions of Y are a combination of those of the
//! two X. The momentum restarts whenever it points uphill.

use super::Map;
use crate::Result;
use crate::ball::handover::TakesOver;
use crate::ball::solver::{Looked, Moves, Resumes};
use crate::ball::{BallProblem, Losses, Touched, Weights};
use crate::linalg::{Combination, Halted, LowRank, Search};
use crate::term::ball::trace::{Ranks, top_until};
use serde::{Deserialize, Serialize};

/// Every step first tries an ℓ smaller by this factor: the curvature is lower in some regions than in others. A smaller
/// factor costs more backtracking.
const RELAX: f64 = 0.95;

/// The least factor by which backtracking increases ℓ. The curvature that a step has met is taken if it is larger, so this only says
/// that ℓ grows at all: more than in the l1 ball, because every attempt costs a search for singular vectors. Not tuned.
const GROW: f64 = 1.5;

/// The search for singular vectors may err by this share of a step: a larger share spoils steps, a smaller one costs
/// products.
const SHARE: f64 = 0.02;

/// The largest tolerance of the search.
const LARGEST_TOLERANCE: f64 = 1e-2;

/// The smallest tolerance of the search.
const SMALLEST_TOLERANCE: f64 = 1e-12;

/// The cost of a full singular value decomposition, in proofs of a spectral norm: the two take about 22 and 5 times the
/// cube of the side.
const DECOMPOSITION: u64 = 4;

/// The method; see the module's head.
pub(super) struct Ascent {
    at: Place,
    /// Whether every step computes all singular values, as a textbook projection does.
    whole: bool,
    /// The workspace of steps: predictions and corners of Y, the m_i α_i of V, predictions of X_next.
    a_at: Vec<f64>,
    alpha: Vec<f64>,
    y: Vec<f64>,
    a_next: Vec<f64>,
}

/// The state of the method: all that a run needs to resume.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Place {
    x: LowRank,
    before: LowRank,
    /// The predictions of `x` and `before`.
    a: Vec<f64>,
    a_before: Vec<f64>,
    /// The singular vectors of the last projected matrix.
    warm: Option<LowRank>,
    products: usize,
    tolerance: f64,
    t: f64,
    ell: f64,
    steps: u64,
    restarts: u64,
    largest: usize,
    touched: Touched,
}

impl Ascent {
    pub fn new<M: Map, L: Losses>(problem: &BallProblem<M, L>) -> Self {
        let (rows, columns) = problem.map().shape();
        let known = problem.map().steepness(problem.masses());
        let steep = known.unwrap_or_else(|| {
            let masses = problem.masses().iter().enumerate();
            let all: f64 = masses.map(|(i, mass)| mass * problem.map().squared_norm(i)).sum();
            0.01 * all // the data are at most as steep as all of it, and mostly far less
        });
        let ell = steep / problem.losses().smoothness() + problem.mu();
        let numbers = vec![0.0; problem.numbers()];
        Self {
            at: Place {
                x: LowRank::zero(rows, columns),
                before: LowRank::zero(rows, columns),
                a: numbers.clone(),
                a_before: numbers.clone(),
                warm: None,
                products: 64,
                // For a few entries of a large matrix, the first step searches for many values and ends far from
                // the optimum: it can be rough.
                tolerance: if known.is_some() { LARGEST_TOLERANCE } else { 1e-3 },
                t: 1.0,
                ell: if ell > 0.0 { ell } else { 1.0 },
                steps: 0,
                restarts: 0,
                largest: 0,
                touched: Touched::default(),
            },
            whole: false,
            a_at: numbers.clone(),
            alpha: numbers.clone(),
            y: numbers.clone(),
            a_next: numbers,
        }
    }

    /// The same method with all singular values in every step: accelerated projected gradient, a baseline.
    pub fn whole<M: Map, L: Losses>(problem: &BallProblem<M, L>) -> Self {
        Self { whole: true, ..Self::new(problem) }
    }
}

impl<M: Map, L: Losses> Moves<M, L> for Ascent {
    fn step(&mut self, problem: &BallProblem<M, L>, halted: Halted<'_>) -> Result<Option<Looked>> {
        let mu = problem.mu();
        let t = f64::midpoint(1.0, (1.0 + 4.0 * self.at.t * self.at.t).sqrt());
        let beta = (self.at.t - 1.0) / t;
        for ((at, a), before) in self.a_at.iter_mut().zip(&self.at.a).zip(&self.at.a_before) {
            *at = a + beta * (a - before);
        }
        problem.corners(&self.a_at, &mut self.alpha);
        problem.weigh(&self.alpha, &mut self.y);
        // The state takes over ℓ, the tolerance and the vectors only at the end: a halted step leaves it unchanged.
        let (mut ell, mut tolerance) = (self.at.ell * RELAX, self.at.tolerance);
        let (mut warm, mut looked) = (None, 0);
        let (xx, xb, bb) = (
            self.at.x.dot(&self.at.x),
            self.at.x.dot(&self.at.before),
            self.at.before.dot(&self.at.before),
        );
        let mut products = 0;
        let y = std::mem::take(&mut self.y);
        let image = problem.map().image(&y, self.at.products);
        let (next, cross, took) = loop {
            let own = 1.0 - mu / ell;
            let shifted = Combination::new(vec![
                (1.0 / ell, &*image),
                (own * (1.0 + beta), &self.at.x),
                (-own * beta, &self.at.before),
            ]);
            let search = Search { tolerance, seed: self.at.steps, ..Search::default() };
            let known = warm.as_ref().or(self.at.warm.as_ref());
            let first = match known {
                _ if self.whole => usize::MAX,
                None => 8,
                Some(_) => self.at.x.rank() + 2,
            };
            let ranks = Ranks { first, ..Ranks::default() };
            let found = top_until(&shifted, problem.radius(), ranks, known, &search, halted)?;
            if halted() {
                drop(image);
                self.y = y;
                return Ok(None);
            }
            let next = found.beyond();
            problem.map().predict(&next, &mut self.a_next);
            let (d, c) = problem.map().shape();
            products += (found.applications + next.rank()) as u64;
            let (proof, short) = (problem.map().products_per_certificate(), d.min(c) as u64);
            if proof > short && !self.whole {
                // With so few entries, products are cheap compared with proofs, and a decomposition of the whole
                // matrix costs more than its products: it is counted here.
                products += found.decompositions as u64 * DECOMPOSITION * proof;
            }
            let took = found.applications;
            looked += found.found.rank() * (d + c);
            // ‖X_next − Y‖², Y = (1 + β)X − βX_before.
            let (nn, nx, nb) = (next.dot(&next), next.dot(&self.at.x), next.dot(&self.at.before));
            let ny = (1.0 + beta) * nx - beta * nb;
            let yy = (1.0 + beta) * (1.0 + beta) * xx - 2.0 * beta * (1.0 + beta) * xb
                + beta * beta * bb;
            let square = nn - 2.0 * ny + yy;
            // ⟨Y − X_next, X_next − X⟩.
            let cross = ny - nn - ((1.0 + beta) * xx - beta * xb) + nx;
            let along = problem.curvature_along(&self.a_at, &self.alpha, &self.a_next);
            let size = found.found.s().first().copied().unwrap_or(0.0);
            if size > 0.0 {
                let relative = square.max(0.0).sqrt() / size;
                tolerance = (SHARE * relative).clamp(SMALLEST_TOLERANCE, 1e-3);
            }
            warm = Some(found.found);
            let rounding = 1e-14 * (nn + yy);
            // Backtracking also ends at NaN, or where only rounding is left.
            let fine = along + mu * square <= ell * (square + rounding);
            if fine || along.is_nan() || square <= rounding || !ell.is_normal() {
                if square <= rounding {
                    ell /= RELAX; // nothing was learnt of it
                }
                break (next, cross, took);
            }
            ell = (GROW * ell).max(along / square + mu);
        };
        drop(image);
        self.y = y;
        (self.at.ell, self.at.tolerance, self.at.warm) = (ell, tolerance, warm);
        self.at.products = took;
        self.at.touched.add(0, looked);
        self.at.steps = self.at.steps.saturating_add(1);
        self.at.touched.add(products as usize * problem.map().stored(), 0);
        self.at.largest = self.at.largest.max(next.rank());
        self.at.t = t;
        if cross > 0.0 {
            (self.at.t, self.at.restarts) = (1.0, self.at.restarts.saturating_add(1));
        }
        self.at.before = std::mem::replace(&mut self.at.x, next);
        std::mem::swap(&mut self.at.a_before, &mut self.at.a);
        std::mem::swap(&mut self.at.a, &mut self.a_next);
        Ok(Some(Looked::Products(products)))
    }

    fn iterate(&mut self, _: &BallProblem<M, L>, _: Option<&()>) -> Result<LowRank> {
        Ok(self.at.x.clone())
    }

    fn touched(&self) -> Option<Touched> {
        (!self.whole).then_some(self.at.touched)
    }

    fn tactics(&self) -> Vec<String> {
        let Place { x, restarts, ell, steps, largest, .. } = &self.at;
        vec![format!(
            "{steps} steps, rank {} and {largest} at most, {restarts} new starts, the last step 1/{ell:.3e}",
            x.rank()
        )]
    }
}

impl<M: Map, L: Losses> Resumes<M, L> for Ascent {
    type State = Place;

    fn state(&self) -> Place {
        self.at.clone()
    }

    fn resume(&mut self, problem: &BallProblem<M, L>, at: Place) -> Result<bool> {
        // Nesterov's t grows by at most one per step.
        let sound = problem.has_near(&at.x)
            && problem.has_near(&at.before)
            && problem.has_numbers(&at.a)
            && problem.has_numbers(&at.a_before)
            && at.warm.as_ref().is_none_or(|warm| warm.fits(problem.map().shape()))
            && (SMALLEST_TOLERANCE..=LARGEST_TOLERANCE).contains(&at.tolerance)
            && (at.t >= 1.0 && at.t <= 1.0 + at.steps as f64)
            && (at.ell > 0.0 && at.ell.is_finite());
        if sound {
            self.at = at;
        }
        Ok(sound)
    }
}

impl<M: Map, L: Losses> TakesOver<M, L> for Ascent {
    fn begin(problem: &BallProblem<M, L>, x: Option<&LowRank>) -> Result<Self> {
        let mut ascent = Self::new(problem);
        if let Some(x) = x {
            problem.map().predict(x, &mut ascent.at.a);
            ascent.at.a_before.copy_from_slice(&ascent.at.a);
            (ascent.at.before, ascent.at.x) = (x.clone(), x.clone());
        }
        Ok(ascent)
    }
}
