//! The certificate of a pure l1 problem, whichever solver moves the weights; see `pure_l1.rs`.

use super::LinearBlocks;
use crate::dual::engine::pool;
use crate::dual::{Best, Problem, Settings, Solution};
use crate::linalg::parallel;
use crate::run::{Certificate, Certified};
use crate::term::{Free, Loss, PureL1, Unpenalised};
use crate::{Error, Result};
use rayon::ThreadPool;
use std::sync::Arc;

/// A dual point is scaled down a little further than necessary, so that no rounding makes it infeasible.
const MARGIN: f64 = 1e-13;

/// The certificate of the l1 problem, with the best pair so far.
pub(super) struct L1Certificate<'a, 'b, L: Loss> {
    problem: Problem<'a, LinearBlocks<'b, L>, Unpenalised<PureL1>>,
    pub sigma: f64,
    best: Best<f64>,
    pool: Arc<ThreadPool>,
}

impl<'a, 'b, L: Loss> L1Certificate<'a, 'b, L> {
    pub fn new(
        blocks: &'a LinearBlocks<'b, L>,
        sigma: f64,
        link: Unpenalised<PureL1>,
        settings: &Settings,
    ) -> Result<Self> {
        let problem = Problem::new(blocks, link, sigma, settings.sample_weights.as_deref())?;
        let start = vec![0.0; blocks.targets().len()];
        let best = Best::new(problem.dual(&start)?.value, Some(start));
        Ok(Self { problem, sigma, best, pool: pool(settings)? })
    }

    /// Returns the soft threshold of a weight, and whether it may be negative.
    pub fn rule(&self, j: usize) -> (f64, bool) {
        let Unpenalised { link, free } = self.problem.link();
        match free {
            Some(free) if free.column == j => (0.0, true),
            _ => (self.sigma, !link.nonnegative),
        }
    }

    /// Returns the weight that is not penalised, if there is one.
    pub fn free(&self) -> Option<Free> {
        self.problem.link().free
    }

    /// Certifies these weights and points; returns the certificates of the best pair so far and of these.
    pub fn certify(&mut self, w: &[f64], points: &[f64]) -> Result<Certified> {
        let mut w = w.to_vec();
        if let Some(Free { column, bound }) = self.free() {
            w[column] = w[column].clamp(-bound, bound);
        }
        let primal = parallel::install(&self.pool, || self.problem.primal(&w))?;
        let balanced = self.problem.balanced(points)?;
        let points = balanced.as_deref().unwrap_or(points);
        let Unpenalised { link, free } = self.problem.link();
        let mut image = self.problem.image(points);
        if let Some(free) = free {
            image[free.column] = 0.0;
        }
        let reach = link.reach(&image);
        let scaled = |margin: f64| -> Vec<f64> {
            let t = (1.0 / reach).min(1.0) * (1.0 - margin);
            points.iter().map(|alpha| t * alpha).collect()
        };
        // The larger the inputs are compared with σ, the more rounding the margin must cover.
        let mut margin = MARGIN;
        let (dual, scaled) = loop {
            let scaled = scaled(margin);
            let dual = self.problem.dual(&scaled)?.value;
            if dual.value.is_finite() || margin >= 1.0 {
                break (dual, scaled);
            }
            margin = (margin * 10.0).min(1.0);
        };
        let iterate = Certificate::new(primal.value, dual, primal.certified)?;
        self.best.offer_primal(primal, || w);
        self.best.offer_dual(dual, &scaled);
        let model = self.best.certificate().transpose()?.unwrap_or(iterate);
        Ok(Certified { model, iterate })
    }

    /// Resumes with the best pair of an earlier run, and proves it again.
    pub fn resume(&mut self, best: Best<f64>) -> Result<()> {
        if !best.is_sound(self.problem.dim(), true) {
            return Err(Error::setting("the state is not one of this problem and these settings"));
        }
        self.best = best;
        parallel::install(&self.pool, || self.best.prove(&self.problem))
    }

    /// Returns the best pair so far, for a checkpoint.
    pub fn best(&self) -> &Best<f64> {
        &self.best
    }

    pub fn weights(&self) -> Option<&[f64]> {
        self.best.weights()
    }

    pub fn into_solution(self, current: Vec<f64>) -> Solution<f64> {
        self.best.into_solution(|| current, Vec::new())
    }
}
