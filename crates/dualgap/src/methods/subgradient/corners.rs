//! The generic part of the method: corners, dual points and the certificate of any [`Blocks`]. The steps see it through
//! [`Corners`], so that they are compiled once and not for every structure.

use super::average::Sums;
use crate::dual::problem::masses;
use crate::dual::{Best, Blocks, Problem, Solution};
use crate::linalg::parallel;
use crate::methods::shadow::Shadow;
use crate::run::Certified;
use crate::term::L2;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::Mutex;

/// An upper bound on the number of steps: no run has time for this many, so a state that claims more is invalid.
pub(super) const MOST_STEPS: u64 = 1 << 52;

/// The blocks as a step sees them.
pub(super) trait Corners {
    /// Returns n.
    fn len(&self) -> usize;

    /// Returns how many oracle calls one search counts as.
    fn calls_per_search(&self) -> u64;

    /// Finds the best corner of block i at `u / divisor`.
    fn find(&mut self, i: usize, u: &[f64], divisor: f64) -> Result<()>;

    /// Adds `factor · (mass_i/λ) X_i s` of the corner s that was found last, and counts it as one of block i's corners.
    fn take(&mut self, i: usize, factor: f64, sums: &mut Sums<'_>);

    /// Finds the best corners of all blocks at w, on all threads.
    fn find_all(&mut self, w: &[f64]) -> Result<()>;

    /// Does for all of them what [`take`](Self::take) does for one, in order.
    fn take_all(&mut self, factor: f64, sums: &mut Sums<'_>);
}

/// The mean of the corners that the visits of each block have found, and the number of visits: a feasible point.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Means<P> {
    pub points: Vec<P>,
    pub visits: Vec<u64>,
}

impl<P> Means<P> {
    /// Returns means at these points, which count as visited so often.
    fn new(points: Vec<P>, visits: u64) -> Self {
        Self { visits: vec![visits; points.len()], points }
    }

    /// Counts a corner as one of block i's.
    fn count<B: Blocks<Point = P>>(&mut self, blocks: &B, i: usize, corner: &B::Corner) {
        self.visits[i] += 1;
        blocks.mix(i, 1.0 / self.visits[i] as f64, &mut self.points[i], corner);
    }

    /// Begins the means anew; a block keeps its point until it is visited.
    fn forget(&mut self) {
        self.visits.fill(0);
    }
}

/// The blocks under `λ/2‖w‖²`, with the two dual points of the certificate and the best pair.
pub(super) struct OfBlocks<'a, B: Blocks> {
    blocks: &'a B,
    problem: Problem<'a, B, L2>,
    /// `mass_i / λ`.
    scales: Vec<f64>,
    scratch: B::Scratch,
    corner: B::Corner,
    /// Those of all blocks, for steps along all of them.
    corners: Vec<B::Corner>,
    /// The weights, for blocks that search at plain weights only.
    w: Vec<f64>,
    /// Those of all visits. In permuted order, and with all blocks a step, they are the dual point of the weights at the
    /// end of every pass.
    pub means: Means<B::Point>,
    /// Those of the visits since the last certification, without the corners of early and bad weights: toward them the
    /// shadow comes to the same dual value in a quarter to a sixth of the passes.
    pub recent: Means<B::Point>,
    pub shadow: Shadow<'a, B>,
    pub best: Best<B::Point>,
}

impl<'a, B: Blocks> OfBlocks<'a, B> {
    /// Returns the blocks with their dual points at these points, which count as visited so often. Returns v at the points
    /// as well.
    pub fn new(
        blocks: &'a B,
        lambda: f64,
        sample_weights: Option<&[f64]>,
        points: Vec<B::Point>,
        visits: u64,
    ) -> Result<(Self, Vec<f64>)> {
        if blocks.quality().share().is_some() {
            return Err(Error::setting(
                "a promised share of the largest gap bounds nothing at the weights of subgradient steps: an oracle with \
                 such a promise goes with the block-dual engine",
            ));
        }
        let problem = Problem::new(blocks, L2, lambda, sample_weights)?;
        let shadow = Shadow::new((blocks, lambda, sample_weights), &problem, points)?;
        let masses = masses(blocks.len(), sample_weights)?;
        let (best, v) = (Best::new(shadow.value(), None), shadow.image().to_vec());
        let points = shadow.points().to_vec();
        let of = Self {
            blocks,
            scales: masses.iter().map(|mass| mass / lambda).collect(),
            problem,
            scratch: blocks.scratch(),
            corner: B::Corner::default(),
            corners: Vec::new(),
            w: Vec::new(),
            recent: Means::new(points.clone(), 0),
            means: Means::new(points, visits),
            shadow,
            best,
        };
        Ok((of, v))
    }

    /// Replaces the dual points and the best pair by those of an earlier run. They may come from an untrusted file, so
    /// everything that a certificate rests on is proved again.
    pub fn resume(
        &mut self,
        [means, recent]: [Means<B::Point>; 2],
        mut best: Best<B::Point>,
    ) -> Result<()> {
        for means in [&means, &recent] {
            let visits = &means.visits;
            if visits.len() != self.blocks.len() || visits.iter().any(|&v| v > MOST_STEPS) {
                return Err(foreign_state());
            }
            self.problem.dual(&means.points)?;
        }
        if !best.is_sound(self.blocks.dim(), false) {
            return Err(foreign_state());
        }
        best.prove(&self.problem)?;
        best.offer_dual(self.shadow.value(), self.shadow.points());
        (self.means, self.recent, self.best) = (means, recent, best);
        Ok(())
    }

    /// Adds `factor · (mass_i/λ) X_i s` for a corner, and counts it as one of block i's corners.
    fn take_corner(&mut self, i: usize, corner: &B::Corner, factor: f64, sums: &mut Sums<'_>) {
        let mut at = self.blocks.start(i);
        self.blocks.mix(i, 1.0, &mut at, corner);
        self.blocks.add(i, &at, factor * self.scales[i], sums, &mut self.scratch);
        self.means.count(self.blocks, i, corner);
        self.recent.count(self.blocks, i, corner);
    }

    /// Certifies the last iterate and its average, if there is one. The shadow steps toward the means of the last corners,
    /// then toward the corners that the certification finds, and takes over the means of all corners if they are better.
    pub fn certify(&mut self, last: Vec<f64>, average: Option<Vec<f64>>) -> Result<Certified> {
        let Self { problem, means, recent, shadow, best, .. } = self;
        let own = problem.dual(&means.points)?;
        let found: Vec<Mutex<B::Corner>> =
            means.points.iter().map(|_| Mutex::new(B::Corner::default())).collect();
        let keep = |i: usize, corner: &mut B::Corner| {
            // No other thread has this block, so the lock is free and never poisoned.
            if let Ok(mut place) = found[i].lock() {
                *place = std::mem::take(corner);
            }
        };
        let w = average.as_ref().unwrap_or(&last);
        let primal = problem.primal_at_with(w, shadow.points(), &keep)?;
        let iterate = primal.certificate(own.value)?;
        if let Some(average) = average {
            best.offer_primal(primal, || average);
            best.offer_primal(problem.primal_at(&last, shadow.points())?, || last);
        } else {
            best.offer_primal(primal, || last);
        }
        let corners = found.into_iter().map(|place| place.into_inner().unwrap_or_default());
        let toward = (&recent.points, &problem.dual(&recent.points)?);
        shadow.step(problem, toward, &corners.collect())?;
        shadow.adopt(&means.points, own);
        recent.forget();
        best.offer_dual(shadow.value(), shadow.points());
        let model = best.certificate().transpose()?.unwrap_or(iterate);
        Ok(Certified { model, iterate })
    }

    /// Returns the best pair.
    pub fn into_solution(self, weights: impl FnOnce() -> Vec<f64>) -> Solution<B::Point> {
        self.best.into_solution(weights, self.shadow.into_points())
    }
}

impl<B: Blocks> Corners for OfBlocks<'_, B> {
    fn len(&self) -> usize {
        self.blocks.len()
    }

    fn calls_per_search(&self) -> u64 {
        self.blocks.calls_per_step()
    }

    fn find(&mut self, i: usize, u: &[f64], divisor: f64) -> Result<()> {
        let Self { blocks, scratch, corner, w, .. } = self;
        if !blocks.corner_at_quotient(i, u, divisor, corner, scratch)? {
            w.clear();
            w.extend(u.iter().map(|u| u / divisor));
            blocks.best_corner(i, w, corner, scratch)?;
        }
        Ok(())
    }

    fn take(&mut self, i: usize, factor: f64, sums: &mut Sums<'_>) {
        let corner = std::mem::take(&mut self.corner);
        self.take_corner(i, &corner, factor, sums);
        self.corner = corner;
    }

    fn find_all(&mut self, w: &[f64]) -> Result<()> {
        let Self { blocks, corners, .. } = self;
        corners.resize_with(blocks.len(), B::Corner::default);
        blocks.search_ahead(&mut (0..blocks.len()), w)?;
        let scratch = || blocks.scratch();
        parallel::map_mut(corners, scratch, |scratch, i, corner| {
            blocks.best_corner(i, w, corner, scratch).map(|_| ())
        })?;
        Ok(())
    }

    fn take_all(&mut self, factor: f64, sums: &mut Sums<'_>) {
        let corners = std::mem::take(&mut self.corners);
        for (i, corner) in corners.iter().enumerate() {
            self.take_corner(i, corner, factor, sums);
        }
        self.corners = corners;
    }
}

/// Returns the error of a state that was stored by another run.
pub(super) fn foreign_state() -> Error {
    Error::setting("the state is not one of this problem and these settings")
}
