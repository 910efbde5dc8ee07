//! The steps, and the method as a [`Solver`].

use super::blocks::CurvedBlocks;
#[cfg(feature = "low-rank")]
use super::cholesky;
use super::conjugate_gradient;
use super::design::Design;
use super::settings::{Equations, Settings};
use crate::dual::problem::masses;
use crate::dual::proximal_point::{OuterProblem, foreign_state};
use crate::dual::{self, Best, Solution};
use crate::linalg::kernels::{add_scaled, dot};
use crate::linalg::{parallel, sum::squared_norm};
use crate::run::{Certificate, Certified, Counters, Quota, Resumable, Solver, Work};
use crate::term::L2;
use crate::{Error, Result};
use rayon::ThreadPool;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Armijo's condition: a step lowers P by at least this share of what its slope promises. Any share below ½ keeps Newton's
/// full steps near the optimum.
const SHARE: f64 = 1e-4;

/// Near the optimum P falls by less than its rounding, and the gradient still by orders of magnitude, which is what the
/// certificate depends on. So a step may leave P where it is, up to this share for the rounding of its sum, ...
const LEVEL: f64 = 1e-12;

/// ... if the slope along the step has fallen to this share at its end (the approximate Wolfe condition of Hager and Zhang).
const FLATTER: f64 = 0.5;

/// The curvature that the weight without penalty has at least, as a share of the most that it can have. Losses with flat
/// parts may have none at all; the share is so small that it does not slow down the last steps.
const DAMPING: f64 = 1e-6;

/// A step is halved at most this often; then P no longer falls but by rounding.
const HALVINGS: usize = 40;

/// The residual of conjugate gradients: at most this share of the gradient, so that every step makes good progress, ...
const COARSE: f64 = 0.1;

/// ... and at most this many products a step.
const MOST_PRODUCTS: usize = 1000;

/// The solver; see the module's head.
pub struct Newton<'a, B: CurvedBlocks> {
    problem: OuterProblem<'a, B, L2>,
    design: Design<'a>,
    masses: Vec<f64>,
    /// λ for every weight, and zero for the one without penalty.
    ridge: Vec<f64>,
    /// The same in H, which must be positive definite: a trifle for the weight without penalty.
    damped: Vec<f64>,
    best: Best<B::Point>,
    pool: Arc<ThreadPool>,
    by_cholesky: bool,
    w: Vec<f64>,
    /// The largest squared norm of a gradient so far.
    steepest: f64,
    products: u64,
    factorisations: u64,
}

/// What a run needs to resume.
#[derive(Clone, Serialize, Deserialize)]
pub struct State<P> {
    w: Vec<f64>,
    steepest: f64,
    best: Best<P>,
}

/// Returns the work of a step by Cholesky in passes over the data, or `None` if the equations are for conjugate gradients:
/// what their steps take is known only afterwards.
pub fn passes_of_a_step<B: CurvedBlocks>(blocks: &B) -> Option<f64> {
    Design { rows: blocks.inputs(), outputs: blocks.outputs() }.passes_of_cholesky()
}

/// The slopes and curvatures at some weights.
struct Local {
    /// P, rounded.
    value: f64,
    a: Vec<f64>,
    gradient: Vec<f64>,
    /// What the blocks need to know of each a.
    curves: Vec<f64>,
}

impl<'a, B: CurvedBlocks> Newton<'a, B> {
    pub(super) fn new(
        blocks: &'a B,
        problem: &dual::Settings,
        settings: &Settings,
    ) -> Result<Self> {
        if !blocks.is_curved() {
            return Err(Error::setting("Newton's method is for smooth losses: take dual ascent"));
        }
        let design = Design { rows: blocks.inputs(), outputs: blocks.outputs() };
        let masses = masses(blocks.len(), problem.sample_weights.as_deref())?;
        let outer = OuterProblem::new(blocks, L2, problem.lambda, problem)?;
        let mut ridge = vec![problem.lambda; blocks.dim()];
        let mut damped = ridge.clone();
        if let Some(free) = outer.free() {
            ridge[free.column] = 0.0;
            // The largest curvature that its column can have, or λ if the column is zero.
            let square =
                |(i, mass): (usize, &f64)| mass * design.rows.row(i).get(free.column).powi(2);
            let most = masses.iter().enumerate().map(square).sum::<f64>() / blocks.smoothness();
            damped[free.column] = if most > 0.0 { DAMPING * most } else { problem.lambda };
        }
        let start: Vec<B::Point> = (0..blocks.len()).map(|i| blocks.start(i)).collect();
        let start = outer.balanced(&start)?.unwrap_or(start);
        let best = Best::new(outer.dual(&start)?.value, Some(start));
        let dim = blocks.dim();
        let by_cholesky = match settings.equations {
            _ if cfg!(not(feature = "low-rank")) => false,
            Equations::Cholesky => true,
            Equations::ConjugateGradient => false,
            Equations::Auto => design.passes_of_cholesky().is_some(),
        };
        Ok(Self {
            problem: outer,
            design,
            masses,
            ridge,
            damped,
            best,
            pool: dual::engine::pool(problem)?,
            by_cholesky,
            w: vec![0.0; dim],
            steepest: 0.0,
            products: 0,
            factorisations: 0,
        })
    }

    /// Begins at the weights of these dual points.
    pub(super) fn begin_at(&mut self, points: &[B::Point]) {
        self.w = self.problem.weights(&self.problem.image(points));
        if let Some((column, free)) = self.problem.best_free(&self.w) {
            self.w[column] = free;
        }
    }

    /// Begins at these weights.
    pub(super) fn begin_at_weights(&mut self, weights: Vec<f64>) -> Result<()> {
        if weights.len() != self.w.len() || weights.iter().any(|w| !w.is_finite()) {
            let need = self.w.len();
            return Err(Error::setting(format!("a run begins at {need} finite weights, or anew")));
        }
        self.w = self.problem.bounded(weights);
        Ok(())
    }

    /// Begins at the weights that another solver has ended with; its pair is the best so far.
    pub(super) fn begin_after(&mut self, before: Solution<B::Point>) -> Result<()> {
        let Solution { weights, points } = before;
        parallel::install(&self.pool, || {
            let primal = self.problem.primal_at(&weights, &points)?;
            let dual = self.problem.dual(&points)?.value;
            self.best.offer_pair(primal, weights.clone(), dual, &points);
            Ok(())
        })?;
        self.w = weights;
        Ok(())
    }

    fn blocks(&self) -> &'a B {
        self.problem.blocks()
    }

    /// Returns P at these predictions and weights, rounded.
    fn value(&self, a: &[f64], w: &[f64]) -> f64 {
        let (blocks, each) = (self.blocks(), a.chunks_exact(self.design.outputs));
        let losses: f64 =
            each.enumerate().map(|(i, a)| self.masses[i] * blocks.loss_at(i, a)).sum();
        losses + self.penalty(w)
    }

    /// Returns the slope of P along p, where `ahead` = Xp, at these predictions and weights.
    fn slope(&self, a: &[f64], ahead: &[f64], w: &[f64], p: &[f64]) -> f64 {
        let (blocks, k) = (self.blocks(), self.design.outputs);
        let (mut slope, mut curve) = (vec![0.0; k], vec![0.0; k]);
        let mut sum = 0.0;
        for (i, (a, ahead)) in a.chunks_exact(k).zip(ahead.chunks_exact(k)).enumerate() {
            blocks.slope_at(i, a, &mut slope, &mut curve);
            sum += self.masses[i] * dot(&slope, ahead);
        }
        sum + w.iter().zip(p).zip(&self.ridge).map(|((w, p), ridge)| ridge * w * p).sum::<f64>()
    }

    fn penalty(&self, w: &[f64]) -> f64 {
        0.5 * w.iter().zip(&self.ridge).map(|(w, ridge)| ridge * w * w).sum::<f64>()
    }

    fn local(&self) -> Local {
        let (blocks, k) = (self.blocks(), self.design.outputs);
        let count = self.design.predictions();
        let (mut a, mut slopes, mut curves) =
            (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
        self.design.predict(&self.w, &mut a);
        let parts = slopes.chunks_exact_mut(k).zip(curves.chunks_exact_mut(k));
        for (i, (slope, curve)) in parts.enumerate() {
            blocks.slope_at(i, &a[i * k..(i + 1) * k], slope, curve);
            slope.iter_mut().for_each(|s| *s *= self.masses[i]);
        }
        let mut gradient: Vec<f64> = self.w.iter().zip(&self.ridge).map(|(w, r)| w * r).collect();
        self.design.add_adjoint(&slopes, &mut gradient);
        Local { value: self.value(&a, &self.w), a, gradient, curves }
    }

    /// Returns H⁻¹b, and the work that it took in products with the data.
    fn direction(
        &mut self,
        local: &Local,
        b: &[f64],
        halted: &dyn Fn() -> bool,
    ) -> (Vec<f64>, f64) {
        #[cfg(feature = "low-rank")]
        if self.by_cholesky {
            let (curves, cost) = (self.blocks_of(&local.curves), self.design.cholesky_in_passes());
            self.factorisations += 1;
            if let Some(p) = cholesky::solve(self.design, &curves, &self.damped, b) {
                return (p, cost);
            }
        }
        let (blocks, k, design) = (self.blocks(), self.design.outputs, self.design);
        let (mut a, mut u) = (vec![0.0; design.predictions()], vec![0.0; k]);
        let (masses, damped) = (&self.masses, &self.damped);
        let mut product = |p: &[f64], out: &mut [f64]| {
            design.predict(p, &mut a);
            for (i, a) in a.chunks_exact_mut(k).enumerate() {
                blocks.bend(i, &local.curves[i * k..(i + 1) * k], a, &mut u);
                a.iter_mut().zip(&u).for_each(|(a, u)| *a = masses[i] * u);
            }
            out.iter_mut().zip(p).zip(damped).for_each(|((out, p), ridge)| *out = ridge * p);
            design.add_adjoint(&a, out);
        };
        let diagonal = self.diagonal(&local.curves);
        let mut equations =
            conjugate_gradient::Equations { product: &mut product, diagonal: &diagonal };
        // The square root makes steps converge faster than linearly, and no product is wasted on a step far away.
        let accuracy = (dot(b, b) / self.steepest).sqrt().sqrt().min(COARSE);
        let (p, products) =
            conjugate_gradient::solve(&mut equations, b, accuracy, MOST_PRODUCTS, halted);
        self.products += products as u64;
        (p, 2.0 * products as f64)
    }

    /// Returns mass_i·D_i for every example, K×K numbers each.
    #[cfg(feature = "low-rank")]
    fn blocks_of(&self, curves: &[f64]) -> Vec<f64> {
        let (blocks, k) = (self.blocks(), self.design.outputs);
        let mut all = vec![0.0; curves.len() * k];
        let mut unit = vec![0.0; k];
        for (i, (out, curve)) in all.chunks_exact_mut(k * k).zip(curves.chunks_exact(k)).enumerate()
        {
            for (j, column) in out.chunks_exact_mut(k).enumerate() {
                unit[j] = 1.0;
                blocks.bend(i, curve, &unit, column);
                unit[j] = 0.0;
                column.iter_mut().for_each(|c| *c *= self.masses[i]);
            }
        }
        all
    }

    /// Returns the diagonal of H.
    fn diagonal(&self, curves: &[f64]) -> Vec<f64> {
        let (blocks, k) = (self.blocks(), self.design.outputs);
        let mut diagonal = self.damped.clone();
        let (mut unit, mut bent, mut own) = (vec![0.0; k], vec![0.0; k], vec![0.0; k]);
        for (i, curve) in curves.chunks_exact(k).enumerate() {
            for j in 0..k {
                unit[j] = 1.0;
                blocks.bend(i, curve, &unit, &mut bent);
                unit[j] = 0.0;
                own[j] = self.masses[i] * bent[j];
            }
            self.design.rows.row(i).for_each(|j, x| {
                let at = &mut diagonal[j * k..(j + 1) * k];
                at.iter_mut().zip(&own).for_each(|(d, own)| *d += own * x * x);
            });
        }
        diagonal
    }

    /// Takes a step, and returns the work that it took in passes over the data.
    fn step(&mut self, halted: &dyn Fn() -> bool) -> f64 {
        let local = self.local();
        self.steepest = self.steepest.max(squared_norm(&local.gradient).value);
        let down: Vec<f64> = local.gradient.iter().map(|g| -g).collect();
        let (p, products) = self.direction(&local, &down, halted);
        let slope = dot(&local.gradient, &p);
        let mut ahead = vec![0.0; local.a.len()];
        self.design.predict(&p, &mut ahead);
        let mut t = 1.0;
        for _ in 0..HALVINGS {
            let (mut w, mut a) = (self.w.clone(), local.a.clone());
            add_scaled(&p, t, &mut w);
            add_scaled(&ahead, t, &mut a);
            let value = self.value(&a, &w);
            let lower = value <= local.value + SHARE * t * slope;
            let level = value <= local.value + LEVEL * local.value.abs();
            if lower || (level && self.slope(&a, &ahead, &w, &p).abs() <= FLATTER * slope.abs()) {
                self.w = w;
                break;
            }
            t /= 2.0;
        }
        // Predictions and the gradient, and the predictions of the direction.
        products + 3.0
    }
}

impl<B: CurvedBlocks> Resumable for Newton<'_, B>
where
    B::Point: Serialize + serde::de::DeserializeOwned,
{
    type State = State<B::Point>;

    fn state(&self) -> Self::State {
        State { w: self.w.clone(), steepest: self.steepest, best: self.best.clone() }
    }
}

impl<B: CurvedBlocks> Newton<'_, B> {
    /// Resumes from the state of an earlier run; proves again everything that a certificate rests on.
    pub(super) fn resume(&mut self, state: State<B::Point>) -> Result<()> {
        let State { w, steepest, mut best } = state;
        let sound = w.len() == self.w.len()
            && w.iter().all(|w| w.is_finite())
            && steepest >= 0.0
            && best.is_sound(w.len(), true);
        if !sound {
            return Err(foreign_state());
        }
        parallel::install(&self.pool, || self.problem.prove(&mut best))?;
        (self.w, self.steepest, self.best) = (w, steepest, best);
        Ok(())
    }
}

impl<B: CurvedBlocks> Solver for Newton<'_, B> {
    type Model = Solution<B::Point>;

    fn calls_per_pass(&self) -> u64 {
        self.masses.len() as u64
    }

    /// A step is always completed: what it takes is known only afterwards.
    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let mut done = Work::default();
        let pool = Arc::clone(&self.pool);
        while quota.allows(done, 1) {
            let passes = parallel::install(&pool, || Ok(self.step(&|| (quota.halted)())))?;
            let calls = (passes * self.calls_per_pass() as f64).ceil() as u64;
            done += Work { steps: 1, oracle_calls: calls };
        }
        Ok(done)
    }

    fn proved(&self) -> Option<Result<Certificate>> {
        self.best.certificate()
    }

    fn certify(&mut self) -> Result<Certified> {
        let (blocks, k) = (self.blocks(), self.design.outputs);
        let pool = Arc::clone(&self.pool);
        let iterate = parallel::install(&pool, || {
            let w = self.problem.bounded(self.w.clone());
            let mut a = vec![0.0; self.design.predictions()];
            self.design.predict(&w, &mut a);
            let points: Vec<B::Point> =
                a.chunks_exact(k).enumerate().map(|(i, a)| blocks.touching(i, a)).collect();
            let points = self.problem.balanced(&points)?.unwrap_or(points);
            let (primal, dual) = (self.problem.primal(&w)?, self.problem.dual(&points)?.value);
            let iterate = primal.certificate(dual)?;
            self.best.offer_primal(primal, || w);
            self.best.offer_dual(dual, &points);
            Ok(iterate)
        })?;
        let model = self.best.certificate().transpose()?.unwrap_or(iterate);
        Ok(Certified { model, iterate })
    }

    fn tactics(&self) -> Vec<String> {
        let how = if self.by_cholesky { "Cholesky" } else { "conjugate gradients" };
        vec![format!("Newton steps, by {how}")]
    }

    fn counters(&self) -> Counters {
        Counters::from([("factorisations", self.factorisations), ("products", self.products)])
    }

    fn weights(&self) -> &[f64] {
        self.best.weights().unwrap_or(&self.w)
    }

    fn into_model(self) -> Solution<B::Point> {
        self.best.into_solution(|| self.w, Vec::new())
    }
}
