//! The steps, and the method as a [`Solver`].

use super::average::Averages;
use super::corners::{Corners, MOST_STEPS, Means, OfBlocks, foreign_state};
use super::{SubgradientMethod, SubgradientSettings};
use crate::Result;
use crate::dual::engine::pool;
use crate::dual::{Best, Blocks, Order, Solution};
use crate::linalg::parallel;
use crate::run::{Certificate, Certified, Quota, Resumable, Solver, Work};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the steps depend on, except for the blocks.
#[derive(Clone, Serialize, Deserialize)]
struct Walk {
    method: SubgradientMethod,
    /// k, and the number that the run began with.
    k: u64,
    first: u64,
    /// u = k·w.
    u: Vec<f64>,
    order: Order,
    averages: Averages,
}

impl Walk {
    /// Returns k, and one before the first step, where w = u = 0.
    fn divisor(&self) -> f64 {
        self.k.max(1) as f64
    }

    /// Writes out w.
    fn weights(&self) -> Vec<f64> {
        let divisor = self.divisor();
        self.u.iter().map(|u| u / divisor).collect()
    }

    /// Takes one step.
    fn step(&mut self, corners: &mut dyn Corners) -> Result<()> {
        match self.method {
            SubgradientMethod::Stochastic => {
                let i = self.order.next_block();
                corners.find(i, &self.u, self.divisor())?;
                let sums = &mut self.averages.begin_step(&mut self.u);
                corners.take(i, corners.len() as f64, sums);
            }
            SubgradientMethod::Batch => {
                corners.find_all(&self.weights())?;
                corners.take_all(1.0, &mut self.averages.begin_step(&mut self.u));
            }
        }
        self.k += 1;
        self.averages.end_step(self.k, &self.u);
        Ok(())
    }

    fn advance(&mut self, corners: &mut dyn Corners, quota: &Quota<'_>) -> Result<Work> {
        let calls = match self.method {
            SubgradientMethod::Stochastic => corners.calls_per_search(),
            SubgradientMethod::Batch => corners.len() as u64 * corners.calls_per_search(),
        };
        let mut done = Work::default();
        while quota.allows(done, calls) {
            self.step(corners)?;
            done += Work { steps: 1, oracle_calls: calls };
        }
        Ok(done)
    }

    /// Whether this is the state of a run with these settings: a state from a file may contain anything.
    fn is_sound(&self, settings: &SubgradientSettings, blocks: usize, dim: usize) -> bool {
        self.method == settings.method
            && self.first <= self.k
            && self.k <= MOST_STEPS
            && self.u.len() == dim
            && self.u.iter().all(|u| u.is_finite())
            && self.order.is_sound(settings.sampling, blocks, false)
            && self.averages.is_sound(settings.average, dim, self.k - self.first)
    }
}

/// The method's part of a checkpoint: everything that later steps and certifications depend on.
#[derive(Clone, Serialize, Deserialize)]
pub struct State<P> {
    walk: Walk,
    means: Means<P>,
    recent: Means<P>,
    shadow: Vec<P>,
    best: Best<P>,
}

/// Stochastic and batch subgradient steps; see the module's head.
pub struct Subgradient<'a, B: Blocks> {
    walk: Walk,
    blocks: OfBlocks<'a, B>,
    pool: Arc<parallel::Pool>,
}

impl<'a, B: Blocks> Subgradient<'a, B> {
    /// Returns the method at w = 0.
    pub fn new(
        blocks: &'a B,
        lambda: f64,
        sample_weights: Option<&[f64]>,
        settings: &SubgradientSettings,
    ) -> Result<Self> {
        let points = (0..blocks.len()).map(|i| blocks.start(i)).collect();
        Self::build(blocks, lambda, sample_weights, settings, points, 0)
    }

    /// Returns the method at the weights of these dual points, as if its first pass had found them: with the number of
    /// blocks as k, or 1 if a step moves along all of them. Returns an error if a point is infeasible.
    pub fn at(
        blocks: &'a B,
        lambda: f64,
        sample_weights: Option<&[f64]>,
        settings: &SubgradientSettings,
        points: Vec<B::Point>,
    ) -> Result<Self> {
        Self::build(blocks, lambda, sample_weights, settings, points, 1)
    }

    /// Resumes from the state of an earlier run under the same settings.
    pub fn resumed(
        blocks: &'a B,
        lambda: f64,
        sample_weights: Option<&[f64]>,
        settings: &SubgradientSettings,
        state: State<B::Point>,
    ) -> Result<Self> {
        let State { walk, means, recent, shadow, best } = state;
        if !walk.is_sound(settings, blocks.len(), blocks.dim()) {
            return Err(foreign_state());
        }
        let mut method = Self::build(blocks, lambda, sample_weights, settings, shadow, 0)?;
        let pool = Arc::clone(&method.pool);
        parallel::install(&pool, || method.blocks.resume([means, recent], best))?;
        Ok(Self { walk, ..method })
    }

    fn build(
        blocks: &'a B,
        lambda: f64,
        sample_weights: Option<&[f64]>,
        settings: &SubgradientSettings,
        points: Vec<B::Point>,
        passes: u64,
    ) -> Result<Self> {
        settings.check()?;
        let (n, dim) = (blocks.len(), blocks.dim());
        let (of_blocks, mut u) = OfBlocks::new(blocks, lambda, sample_weights, points, passes)?;
        let k = match settings.method {
            SubgradientMethod::Stochastic => passes * n as u64,
            SubgradientMethod::Batch => passes,
        };
        u.iter_mut().for_each(|u| *u *= k as f64);
        let threads = crate::dual::Settings { threads: settings.threads, ..Default::default() };
        Ok(Self {
            walk: Walk {
                method: settings.method,
                k,
                first: k,
                u,
                order: Order::new(settings.sampling, n, settings.seed, false),
                averages: Averages::new(settings.average, dim),
            },
            blocks: of_blocks,
            pool: pool(&threads)?,
        })
    }

    /// Returns the last iterate.
    pub fn iterate(&self) -> Vec<f64> {
        self.walk.weights()
    }

    /// Returns the average of the iterates, if there is one.
    pub fn average(&self) -> Option<Vec<f64>> {
        self.walk.averages.mean(&self.walk.u)
    }

    /// Returns the mean of the corners that the visits of each block have found: a feasible dual point.
    pub fn corner_means(&self) -> &[B::Point] {
        &self.blocks.means.points
    }
}

impl<B: Blocks> Solver for Subgradient<'_, B> {
    type Model = Solution<B::Point>;

    fn calls_per_pass(&self) -> u64 {
        self.blocks.len() as u64 * self.blocks.calls_per_search()
    }

    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let (pool, Self { walk, blocks, .. }) = (Arc::clone(&self.pool), self);
        parallel::install(&pool, || walk.advance(blocks, quota))
    }

    fn certify(&mut self) -> Result<Certified> {
        let (last, average) = (self.iterate(), self.average());
        let Self { blocks, pool, .. } = self;
        parallel::install(pool, || blocks.certify(last, average))
    }

    fn proved(&self) -> Option<Result<Certificate>> {
        self.blocks.best.certificate()
    }

    fn weights(&self) -> &[f64] {
        self.blocks.best.weights().unwrap_or(&[])
    }

    fn into_model(self) -> Solution<B::Point> {
        let Self { walk, blocks, .. } = self;
        blocks.into_solution(|| walk.weights())
    }
}

impl<B: Blocks<Point: Serialize>> Resumable for Subgradient<'_, B> {
    type State = State<B::Point>;

    fn state(&self) -> State<B::Point> {
        let OfBlocks { means, recent, shadow, best, .. } = &self.blocks;
        State {
            walk: self.walk.clone(),
            means: means.clone(),
            recent: recent.clone(),
            shadow: shadow.points().to_vec(),
            best: best.clone(),
        }
    }
}
