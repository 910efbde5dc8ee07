//! The common part of the baselines: one solver around each method, which certifies X with the corners of its
//! predictions.

use super::apg::{Place, ProjectedGradient};
use super::schedule::smoothness_of_batch;
use crate::Result;
use crate::ball::{BestPair, Losses, Problem, Solution};
use crate::linalg::{Halted, Random};
use crate::run::{Certificate, Certified, Quota, Solver, Work};
use crate::term::ball::region::{Corner, Region};

/// The number of power iterations that estimate the largest eigenvalue of Σ m_i a_i a_i': each reads all of the data.
const POWERS: usize = 6;

/// A safety factor on that estimate, which power iterations approach from below.
const BEYOND: f64 = 1.2;

/// The problem, and what steps need in addition.
pub(in crate::ball) struct Common<'p, 'a, L: Losses, R> {
    pub problem: &'p Problem<'a, L>,
    pub region: R,
    pub random: Random,
    pub scratch: L::Scratch,
    /// Entries of A that steps touched and that are not yet counted as work.
    pub touched: u64,
}

/// An X, its predictions, their corners, and the V of those.
#[derive(Clone, Debug)]
pub(in crate::ball) struct Standing {
    pub x: Vec<f64>,
    pub a: Vec<f64>,
    pub alpha: Vec<f64>,
    pub v: Vec<f64>,
}

/// A method that moves X.
pub(in crate::ball) trait Descent<L: Losses, R: Region> {
    /// Takes one step; returns false if it was halted before the end. A method that has checkpoints then leaves its
    /// state unchanged.
    fn step(&mut self, common: &mut Common<'_, '_, L, R>, halted: Halted<'_>) -> bool;

    /// Returns the X to certify, which is in the ball up to rounding.
    fn iterate(&self) -> &[f64];

    /// Takes over what a certification recomputed for that X, without the accumulated rounding of many steps.
    fn refresh(&mut self, _: &Standing) {}

    /// Whether the run may stop because its certificates no longer improve.
    fn may_stall(&self) -> bool {
        true
    }

    /// Describes the choices of the method, for the report.
    fn tactics(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The state of projected gradient, and the entries that are not yet counted as work.
pub(in crate::ball) type GradientsPlace = (Place, u64);

/// The solver around a method.
pub(in crate::ball) struct Baseline<'p, 'a, L: Losses, R, D> {
    common: Common<'p, 'a, L, R>,
    descent: D,
    best_pair: BestPair,
    certified: Standing,
}

impl<'p, 'a, L: Losses, R: Region> Common<'p, 'a, L, R> {
    pub fn new(problem: &'p Problem<'a, L>, region: R, seed: u64) -> Self {
        let (random, scratch) = (Random::new(seed), L::Scratch::default());
        Self { problem, region, random, scratch, touched: 0 }
    }

    /// Converts the touched entries into oracle calls, and keeps the remainder: a pass is as many entries as A has.
    fn calls(&mut self) -> u64 {
        let (pass, all) = (self.problem.len() as u64, self.problem.rows().stored().max(1) as u64);
        let calls = u128::from(self.touched) * u128::from(pass) / u128::from(all);
        self.touched -= (calls * u128::from(all) / u128::from(pass)) as u64;
        calls as u64
    }

    /// Computes V of all corners.
    pub fn image(&mut self, alpha: &[f64], v: &mut [f64]) {
        self.problem.image(alpha, v);
        self.touched += self.problem.rows().stored() as u64;
    }

    /// Computes all predictions.
    pub fn predict(&mut self, x: &[f64], a: &mut [f64]) {
        self.touched += self.problem.predict(x, a);
    }

    /// Adds to the predictions those of `factor` times a corner.
    pub fn add_corner(&mut self, corner: &Corner, factor: f64, a: &mut [f64]) {
        let c = self.problem.outputs();
        for &(j, u) in &corner.left {
            let column = self.problem.columns().column(j as usize);
            self.touched += column.len() as u64;
            for &(k, v) in &corner.right {
                let weight = factor * u * v;
                column.iter().for_each(|&(i, x)| a[i as usize * c + k as usize] += x * weight);
            }
        }
    }

    /// Estimates the smoothness of the mean loss: the largest eigenvalue of Σ m_i a_i a_i', or a little more, divided
    /// by the losses' γ.
    pub fn smoothness(&mut self) -> f64 {
        let (problem, rows) = (self.problem, self.problem.rows());
        let weighed = problem.masses().iter().zip(problem.squared_norms()).map(|(m, s)| m * s);
        let (all, largest) =
            weighed.fold((0.0, 0.0_f64), |(all, largest), s| (all + s, largest.max(s)));
        let mut x: Vec<f64> = (0..rows.width()).map(|_| self.random.unit() - 0.5).collect();
        let mut found = 0.0;
        for _ in 0..POWERS {
            let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            if norm <= 0.0 {
                break;
            }
            x.iter_mut().for_each(|x| *x /= norm);
            let mut next = vec![0.0; x.len()];
            found = 0.0;
            for (i, mass) in problem.masses().iter().enumerate() {
                let row = rows.row(i);
                let a = crate::linalg::kernels::score(row, &x);
                row.for_each(|j, value| next[j] += mass * a * value);
                found += mass * a * a;
            }
            x = next;
            self.touched += rows.stored() as u64;
        }
        (BEYOND * found).clamp(largest, all.max(largest)) / problem.losses().smoothness()
    }

    /// The smoothness of the least smooth example's loss, n m_i‖a_i‖²/γ.
    pub fn steepest(&self) -> f64 {
        let problem = self.problem;
        let each = problem.masses().iter().zip(problem.squared_norms()).map(|(m, s)| m * s);
        each.fold(0.0, f64::max) * problem.len() as f64 / problem.losses().smoothness()
    }

    /// The expected smoothness of a mean over a batch of this size.
    pub fn smoothness_of_batch(&self, batch: usize, of_mean: f64) -> f64 {
        smoothness_of_batch((self.problem.len(), batch), of_mean, self.steepest())
    }
}

impl Standing {
    /// X = 0.
    pub fn zero<L: Losses>(problem: &Problem<'_, L>) -> Self {
        let outputs = problem.len() * problem.outputs();
        let mut zero = Self {
            x: vec![0.0; problem.dim()],
            a: vec![0.0; outputs],
            alpha: vec![0.0; outputs],
            v: vec![0.0; problem.dim()],
        };
        problem.corners(&zero.a, &mut zero.alpha);
        zero
    }

    /// Copies another without allocating.
    pub fn copy(&mut self, from: &Self) {
        self.x.copy_from_slice(&from.x);
        self.a.copy_from_slice(&from.a);
        self.alpha.copy_from_slice(&from.alpha);
        self.v.copy_from_slice(&from.v);
    }
}

impl<'p, 'a, L: Losses, R: Region, D: Descent<L, R>> Baseline<'p, 'a, L, R, D> {
    pub fn new(common: Common<'p, 'a, L, R>, descent: D) -> Result<Self> {
        let best_pair = BestPair::new(common.problem)?;
        let certified = Standing::zero(common.problem);
        Ok(Self { common, descent, best_pair, certified })
    }

    /// Returns the best pair so far.
    pub fn best_pair(&self) -> &BestPair {
        &self.best_pair
    }
}

impl<L: Losses, R: Region> Baseline<'_, '_, L, R, ProjectedGradient> {
    /// Returns all that a run needs to resume, except the best pair.
    pub fn place(&self) -> GradientsPlace {
        (self.descent.place(), self.common.touched)
    }

    /// Resumes from a checkpoint; returns whether it is valid for this problem.
    pub fn resume(&mut self, (place, touched): GradientsPlace) -> bool {
        self.common.touched = touched;
        touched <= self.common.problem.rows().stored() as u64 && self.descent.resume(place)
    }
}

impl<L: Losses, R: Region, D: Descent<L, R>> Solver for Baseline<'_, '_, L, R, D> {
    type Model = Solution;

    fn calls_per_pass(&self) -> u64 {
        self.common.problem.len() as u64
    }

    fn advance(&mut self, quota: &Quota<'_>) -> Result<Work> {
        let mut done = Work::default();
        while quota.allows(done, 1) {
            let before = self.common.touched;
            if !self.descent.step(&mut self.common, quota.halted) {
                self.common.touched = before;
                break;
            }
            if self.common.touched == before {
                // Columns without entries cost nothing; the run still has to end, so the step counts as a pass.
                self.common.touched += self.common.problem.rows().stored().max(1) as u64;
            }
            // A step is not interrupted at the quota: it may take more work than is left.
            done += Work { steps: 1, oracle_calls: self.common.calls() };
        }
        Ok(done)
    }

    fn certify(&mut self) -> Result<Certified> {
        let (problem, at) = (self.common.problem, &mut self.certified);
        at.x.copy_from_slice(self.descent.iterate());
        self.common.region.bring_inside(&mut at.x, problem.outputs());
        let primal = problem.primal(&at.x)?;
        problem.predict(&at.x, &mut at.a);
        problem.corners(&at.a, &mut at.alpha);
        let dual = problem.dual(&at.alpha)?;
        at.v = dual.v;
        self.descent.refresh(at);
        self.best_pair.certify((primal, &at.x), (dual.value, &at.alpha))
    }

    fn proved(&self) -> Option<Result<Certificate>> {
        Some(self.best_pair.certificate())
    }

    fn may_stall(&self) -> bool {
        self.descent.may_stall()
    }

    fn tactics(&self) -> Vec<String> {
        self.descent.tactics()
    }

    fn weights(&self) -> &[f64] {
        &self.best_pair.best().weights
    }

    fn into_model(self) -> Solution {
        self.best_pair.into_best()
    }
}
