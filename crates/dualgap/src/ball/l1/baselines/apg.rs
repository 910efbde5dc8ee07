//! Accelerated projected gradient: FISTA with backtracking, and a restart whenever the momentum points uphill
//! (O'Donoghue and Candès 2015), which adapts to unknown strong convexity.
//!
//! ```text
//! Y = X + β(X − X_before),    X_next = Proj(Y − ∇P(Y)/ℓ)      for an ℓ with ⟨∇P(X_next) − ∇P(Y), Δ⟩ ≤ ℓ‖Δ‖²,  Δ = X_next − Y
//! ```
//!
//! The predictions of Y are a combination of those of the two X, and those of X need its nonzero columns only. So a
//! step costs one loop over the rows and one over those columns; each increase of ℓ costs the columns again.

use super::common::{Baseline, Common, Descent, Standing};
use crate::Result;
use crate::ball::handover::TakesOver;
use crate::ball::l1::table::{BallTable, L1Problem};
use crate::ball::solver::Resumes;
use crate::ball::{Losses, Touched};
use crate::linalg::Halted;
use serde::{Deserialize, Serialize};

/// Every step first tries an ℓ smaller by this factor: the curvature is lower in some regions than in others. A smaller
/// factor costs more backtracking.
const RELAX: f64 = 0.9;

/// The least factor by which backtracking increases ℓ. The curvature that a step has met is taken if it is larger, so this only says
/// that ℓ grows at all; not tuned.
const GROW: f64 = 1.2;

/// The method; see the module's head.
pub(in crate::ball) struct ProjectedGradient {
    x: Vec<f64>,
    a: Vec<f64>,
    before: Vec<f64>,
    a_before: Vec<f64>,
    /// Y; its `v` becomes the direction of descent, V − ∇g(Y).
    at: Standing,
    next: Vec<f64>,
    a_next: Vec<f64>,
    t: f64,
    ell: f64,
    restarts: u64,
}

/// The state of the method: all that a run needs to resume.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::ball) struct Place {
    x: Vec<f64>,
    before: Vec<f64>,
    /// The predictions of `x` and `before`.
    a: Vec<f64>,
    a_before: Vec<f64>,
    t: f64,
    ell: f64,
    restarts: u64,
    /// Entries that are not yet counted as work, and those that are.
    owed: u64,
    touched: Touched,
}

impl ProjectedGradient {
    /// Starts from this X, which is in the ball, in the place of zero.
    pub fn beginning_at<L: Losses>(mut self, common: &mut Common<'_, '_, L>, x: &[f64]) -> Self {
        self.x.copy_from_slice(x);
        self.before.copy_from_slice(x);
        common.predict(x, &mut self.a);
        self.a_before.copy_from_slice(&self.a);
        self
    }

    pub fn new<L: Losses>(common: &mut Common<'_, '_, L>) -> Self {
        let problem = common.problem;
        let at = Standing::start(problem);
        let squares = problem.masses().iter().zip(problem.squared_norms());
        let mean: f64 = squares.map(|(mass, square)| mass * square).sum();
        // The mean is an upper bound on the curvature of the data, which is mostly far lower: a tenth is the first
        // guess.
        let ell = 0.1 * mean / problem.losses().smoothness() + problem.term_smoothness();
        Self {
            x: at.x.clone(),
            a: at.a.clone(),
            before: at.x.clone(),
            a_before: at.a.clone(),
            next: at.x.clone(),
            a_next: at.a.clone(),
            at,
            t: 1.0,
            ell: if ell > 0.0 { ell } else { 1.0 },
            restarts: 0,
        }
    }
}

/// `to = x + beta (x − before)`.
fn ahead(to: &mut [f64], x: &[f64], before: &[f64], beta: f64) {
    for ((to, &x), &before) in to.iter_mut().zip(x).zip(before) {
        *to = x + beta * (x - before);
    }
}

impl<L: Losses> Descent<L> for ProjectedGradient {
    fn step(&mut self, common: &mut Common<'_, '_, L>, halted: Halted<'_>) -> bool {
        let own = common.problem.term_smoothness();
        let t = f64::midpoint(1.0, (1.0 + 4.0 * self.t * self.t).sqrt());
        let beta = (self.t - 1.0) / t;
        ahead(&mut self.at.x, &self.x, &self.before, beta);
        ahead(&mut self.at.a, &self.a, &self.a_before, beta);
        common.problem.corners(&self.at.a, &mut self.at.alpha);
        common.image(&self.at.alpha, &mut self.at.v);
        common.problem.subtract_gradient(&self.at.x, &mut self.at.v);
        let before = self.ell;
        self.ell *= RELAX;
        loop {
            if halted() {
                // A halted step leaves the state unchanged, because the run may resume from here.
                self.ell = before;
                return false;
            }
            let inverse = 1.0 / self.ell;
            for ((next, &y), &descent) in self.next.iter_mut().zip(&self.at.x).zip(&self.at.v) {
                *next = y + inverse * descent;
            }
            common.ball.project(&mut self.next);
            common.predict(&self.next, &mut self.a_next);
            let moves = self.next.iter().zip(&self.at.x);
            let square: f64 = moves.map(|(x, y)| (x - y) * (x - y)).sum();
            let Standing { a, alpha, .. } = &self.at;
            let along = common.problem.curvature_along(a, alpha, &self.a_next) + own * square;
            // Backtracking also ends at NaN, or where only rounding is left.
            if along <= self.ell * square
                || along.is_nan()
                || square <= 0.0
                || !self.ell.is_normal()
            {
                break;
            }
            self.ell = (GROW * self.ell).max(along / square);
        }
        let uphill: f64 = self
            .at
            .x
            .iter()
            .zip(&self.next)
            .zip(&self.x)
            .map(|((y, next), x)| (y - next) * (next - x))
            .sum();
        (self.t, self.restarts) =
            if uphill > 0.0 { (1.0, self.restarts + 1) } else { (t, self.restarts) };
        std::mem::swap(&mut self.before, &mut self.x);
        std::mem::swap(&mut self.a_before, &mut self.a);
        std::mem::swap(&mut self.x, &mut self.next);
        std::mem::swap(&mut self.a, &mut self.a_next);
        true
    }

    fn iterate(&self) -> &[f64] {
        &self.x
    }

    fn tactics(&self) -> Vec<String> {
        vec![format!("{} new starts, the last step 1/{:e}", self.restarts, self.ell)]
    }
}

/// The method as the one that takes over from the ascent: it counts what it touches, and has checkpoints.
pub(in crate::ball) type Gradients<S> = Baseline<ProjectedGradient, S>;

impl<'a, L: Losses> Resumes<BallTable<'a>, L> for Gradients<L::Scratch> {
    type State = Place;

    fn state(&self) -> Place {
        let ProjectedGradient { x, before, a, a_before, t, ell, restarts, .. } = &self.descent;
        let [x, before, a, a_before] = [x, before, a, a_before].map(Clone::clone);
        let (owed, touched) = (self.room.touched, self.touched.unwrap_or_default());
        Place { x, before, a, a_before, t: *t, ell: *ell, restarts: *restarts, owed, touched }
    }

    fn resume(&mut self, problem: &L1Problem<'a, L>, place: Place) -> Result<bool> {
        let Place { x, before, a, a_before, t, ell, restarts, owed, touched } = place;
        let finite = |x: &[f64]| x.len() == problem.dim() && x.iter().all(|x| x.is_finite());
        let sound = [&x, &before].iter().all(|x| finite(x))
            && [&a, &a_before].iter().all(|a| problem.has_numbers(a))
            && (t >= 1.0 && t.is_finite())
            && (ell > 0.0 && ell.is_finite())
            && owed <= problem.rows().stored() as u64;
        if sound {
            let own = &mut self.descent;
            (own.x, own.before, own.a, own.a_before) = (x, before, a, a_before);
            (own.t, own.ell, own.restarts) = (t, ell, restarts);
            (self.room.touched, self.touched) = (owed, Some(touched));
        }
        Ok(sound)
    }
}

impl<'a, L: Losses> TakesOver<BallTable<'a>, L> for Gradients<L::Scratch> {
    fn begin(problem: &L1Problem<'a, L>, x: Option<&Vec<f64>>) -> Result<Self> {
        // It takes no random numbers.
        let new = Baseline::new(problem, 0, |common| {
            let new = ProjectedGradient::new(common);
            Ok(match x {
                Some(x) => new.beginning_at(common, x),
                None => new,
            })
        })?;
        Ok(Self { touched: Some(Touched::default()), ..new })
    }
}
