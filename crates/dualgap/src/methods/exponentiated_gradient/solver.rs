//! Online exponentiated gradient as a solver; see the head of the room for the formulas.

use super::expectation::ExpectationBlocks;
use super::rates::{Rates, Verdict};
use super::settings::GradientSettings;
use crate::dual::engine::pool;
use crate::dual::problem::masses;
use crate::dual::{self, Best, Order, Problem, Solution};
use crate::linalg::{Measured, parallel};
use crate::run::{Certified, Counters, Quota, Resumable, Solver, Work};
use crate::term::L2;
use crate::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Exponentiated gradient, one trial at a time; [`train`](super::train) runs it.
pub struct ExponentiatedGradient<'a, B: ExpectationBlocks> {
    problem: Problem<'a, B, L2>,
    blocks: &'a B,
    lambda: f64,
    masses: Vec<f64>,
    pool: Arc<parallel::Pool>,
    order: Order,
    rates: Rates,
    /// The parts of block i are at `starts[i]..starts[i + 1]` of θ and of the counts.
    starts: Vec<usize>,
    /// θ.
    theta: Vec<f64>,
    /// The expected counts at θ, from the last call of the oracle.
    counts: Vec<f64>,
    /// Aα, updated with every step and rebuilt with every certification.
    w: Vec<f64>,
    best: Best<B::Point>,
    trial: Trial,
    scratch: B::Scratch,
}

/// The buffers of a trial, as long as the block with the most parts needs them.
#[derive(Debug, Default)]
struct Trial {
    scores: Vec<f64>,
    theta: Vec<f64>,
    counts: Vec<f64>,
}

/// The state of the solver in a checkpoint. The expected counts follow from θ, to the last bit.
#[derive(Clone, Serialize, Deserialize)]
pub struct State<P> {
    order: Order,
    rates: Rates,
    theta: Vec<f64>,
    /// Stored, not recomputed: its rounding error is part of the state that must resume bit for bit.
    w: Vec<f64>,
    best: Best<P>,
}

impl<'a, B: ExpectationBlocks> ExponentiatedGradient<'a, B> {
    /// Returns the solver at the uniform distributions.
    pub fn new(
        blocks: &'a B,
        lambda: f64,
        sample_weights: Option<&[f64]>,
        settings: &GradientSettings,
    ) -> Result<Self> {
        settings.check()?;
        let problem = Problem::new(blocks, L2, lambda, sample_weights)?;
        let n = blocks.len();
        let mut starts = vec![0];
        for i in 0..n {
            starts.push(starts[i] + blocks.parts(i));
        }
        let most = (0..n).map(|i| blocks.parts(i)).max().unwrap_or(0);
        let numbers = starts[n];
        let nothing = Measured { value: f64::NEG_INFINITY, error: 0.0 };
        let buffer = || vec![0.0; most];
        let mut solver = Self {
            problem,
            blocks,
            lambda,
            masses: masses(n, sample_weights)?,
            pool: pool(&dual::Settings { threads: settings.threads, ..Default::default() })?,
            order: Order::new(settings.sampling, n, settings.seed, false),
            rates: Rates::new(settings.step, n),
            starts,
            theta: vec![0.0; numbers],
            counts: vec![0.0; numbers],
            w: Vec::new(),
            best: Best::new(nothing, None),
            trial: Trial { scores: buffer(), theta: buffer(), counts: buffer() },
            scratch: blocks.scratch(),
        };
        // The marginals of uniform distributions are known without the oracle, so this is no work of the method.
        solver.expect_all();
        (solver.w, solver.best.dual) = solver.dual()?;
        Ok(solver)
    }

    /// Resumes from the state of an earlier run under the same settings. The state may come from an untrusted file, so
    /// both values of the best pair are proved again: the primal here, the dual by the next certification.
    pub(super) fn resumed(
        blocks: &'a B,
        lambda: f64,
        sample_weights: Option<&[f64]>,
        settings: &GradientSettings,
        state: State<B::Point>,
    ) -> Result<Self> {
        let mut solver = Self::new(blocks, lambda, sample_weights, settings)?;
        let State { order, rates, theta, w, best } = state;
        let finite = |numbers: &[f64], len: usize| {
            numbers.len() == len && numbers.iter().all(|x| x.is_finite())
        };
        let sound = order.is_sound(settings.sampling, blocks.len(), false)
            && rates.is_sound(blocks.len())
            && finite(&theta, solver.theta.len())
            && finite(&w, blocks.dim())
            && best.is_sound(blocks.dim(), false);
        if !sound {
            return Err(Error::setting("the state is not one of this problem and these settings"));
        }
        (solver.order, solver.rates) = (order, rates);
        (solver.theta, solver.w, solver.best) = (theta, w, best);
        solver.expect_all();
        let pool = Arc::clone(&solver.pool);
        parallel::install(&pool, || solver.best.prove(&solver.problem))?;
        Ok(solver)
    }

    /// Returns the current weights, Aα.
    pub fn iterate(&self) -> &[f64] {
        &self.w
    }

    /// Returns the current points: the marginals of all blocks.
    pub fn points(&mut self) -> Vec<B::Point> {
        (0..self.blocks.len()).map(|i| self.point(i)).collect()
    }

    fn parts(&self, i: usize) -> Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    fn point(&mut self, i: usize) -> B::Point {
        let parts = self.parts(i);
        self.blocks.point_of(i, &self.theta[parts], &mut self.scratch)
    }

    fn expect_all(&mut self) {
        for i in 0..self.blocks.len() {
            let parts = self.parts(i);
            let counts = &mut self.counts[parts.clone()];
            self.blocks.expect(i, &self.theta[parts], counts, &mut self.scratch);
        }
    }

    /// Returns Aα and D(α) from the points, of which only one exists at a time.
    fn dual(&self) -> Result<(Vec<f64>, Measured)> {
        let mut scratch = self.blocks.scratch();
        let point = |i: usize| self.blocks.point_of(i, &self.theta[self.parts(i)], &mut scratch);
        let dual = self.problem.dual_one_by_one((0..self.blocks.len()).map(point))?;
        Ok((dual.v, dual.value))
    }

    /// Makes one trial of a line search, on the block whose search goes on or else on the next one; returns whether the
    /// search ended with it.
    pub fn attempt(&mut self) -> Result<bool> {
        let order = &mut self.order;
        let (i, rate) = self.rates.next(|| order.next_block());
        let mass = self.masses[i];
        if mass == 0.0 {
            // Nothing depends on the block. It counts like any other, so that every pass is as long.
            self.rates.judge(i, 0.0);
            return Ok(true);
        }
        let parts = self.parts(i);
        let (theta, counts) = (&mut self.theta[parts.clone()], &mut self.counts[parts.clone()]);
        let scores = &mut self.trial.scores[..parts.len()];
        let next_theta = &mut self.trial.theta[..parts.len()];
        let next_counts = &mut self.trial.counts[..parts.len()];
        self.blocks.score_parts(i, &self.w, scores, &mut self.scratch);
        let length = rate * (self.lambda / mass);
        let gradient = theta.iter().zip(&*scores);
        next_theta.iter_mut().zip(gradient).for_each(|(to, (at, score))| *to = at + length * score);
        self.blocks.expect(i, next_theta, next_counts, &mut self.scratch);
        // The dual along the change of counts is a parabola: ⟨change, scores⟩ − (mass/2λ)‖X_i change‖², times the mass.
        self.blocks.prepare(i, counts, next_counts, &mut self.scratch);
        let change = next_counts.iter().zip(&*counts).map(|(to, at)| to - at);
        let slope: f64 = change.zip(&*scores).map(|(change, score)| change * score).sum();
        let curvature = self.blocks.curvature(i, &mut self.scratch);
        let gain = slope - 0.5 * (mass / self.lambda) * curvature;
        if gain.is_nan() && scores.iter().any(|score| !score.is_finite()) {
            return Err(Error::Unsound {
                message: format!("example {}: the scores are no numbers", i + 1),
            });
        }
        let verdict = self.rates.judge(i, gain);
        if verdict == Verdict::Taken {
            self.blocks.displace(i, mass / self.lambda, &mut self.w, &mut self.scratch);
            theta.copy_from_slice(next_theta);
            counts.copy_from_slice(next_counts);
        }
        Ok(verdict != Verdict::Halved)
    }

    fn certify_in_pool(&mut self) -> Result<Certified> {
        let (w, dual) = self.dual()?;
        let primal = self.problem.primal(&w)?;
        let iterate = primal.certificate(dual)?;
        self.best.offer_primal(primal, || w.clone());
        // Steps never lower the dual, so the current point is the best one.
        self.best.offer_dual(dual, &[]);
        // Aα has accumulated rounding errors since it was last rebuilt.
        self.w = w;
        let model = self.best.certificate().transpose()?.unwrap_or(iterate);
        Ok(Certified { model, iterate })
    }
}

impl<B: ExpectationBlocks> Solver for ExponentiatedGradient<'_, B> {
    type Model = Solution<B::Point>;

    fn calls_per_pass(&self) -> u64 {
        self.blocks.len() as u64
    }

    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let mut done = Work::default();
        while quota.allows(done, 1) {
            let ended = self.attempt()?;
            done += Work { steps: u64::from(ended), oracle_calls: 1 };
        }
        Ok(done)
    }

    fn certify(&mut self) -> Result<Certified> {
        let pool = Arc::clone(&self.pool);
        parallel::install(&pool, || self.certify_in_pool())
    }

    fn tactics(&self) -> Vec<String> {
        let Rates { searches, halvings, refused, .. } = self.rates;
        let share = 100.0 * refused as f64 / searches.max(1) as f64;
        vec![format!("{halvings} halvings of steps"), format!("{share:.0} % of the steps refused")]
    }

    fn counters(&self) -> Counters {
        Counters::from([("halvings", self.rates.halvings), ("refused_steps", self.rates.refused)])
    }

    fn weights(&self) -> &[f64] {
        self.best.weights().unwrap_or(&[])
    }

    fn into_model(mut self) -> Solution<B::Point> {
        let points = self.points();
        let Self { best, w, .. } = self;
        best.into_solution(|| w, points)
    }
}

impl<B> Resumable for ExponentiatedGradient<'_, B>
where
    B: ExpectationBlocks<Point: Serialize + DeserializeOwned>,
{
    type State = State<B::Point>;

    fn state(&self) -> State<B::Point> {
        State {
            order: self.order.clone(),
            rates: self.rates.clone(),
            theta: self.theta.clone(),
            w: self.w.clone(),
            best: self.best.clone(),
        }
    }
}
