//! Cutting planes, with one slack variable and with one for each example: their optima, what a pass gains, and runs that
//! resume.

mod matchings;
mod optima;
mod passes;
mod runs;

use crate::common::explicit::{Explicit, dot};
use crate::common::{Small, with_blocks};
use dualgap::Result;
use dualgap::dual::Mixture;
use dualgap::linalg::Accumulate;
use dualgap::methods::cutting_plane::{self, CuttingPlaneSettings, Slacks};
use dualgap::run::{Budget, Report, Solution};
use dualgap::structure::{Bound, Decoded, Oracle, OracleBlocks, Rescaling};
use dualgap::term::Regulariser;
use std::sync::Mutex;

pub const BOTH: [Slacks; 2] = [Slacks::One, Slacks::Each];

pub fn of(slacks: Slacks) -> CuttingPlaneSettings {
    CuttingPlaneSettings { slacks, threads: 1, ..CuttingPlaneSettings::default() }
}

/// Trains a small problem by its own blocks.
pub fn train(
    small: &Small,
    settings: &CuttingPlaneSettings,
    budget: &Budget,
) -> Report<Solution<Mixture>> {
    let (lambda, weights) = (small.lambda, small.weights.as_deref());
    with_blocks!(small, |blocks| {
        let plain = Regulariser::PLAIN;
        cutting_plane::train(&blocks, lambda, plain, weights, settings, budget, &mut ()).unwrap()
    })
}

/// A user's oracle that looks at every output of a problem that is written out, and remembers what it was asked.
pub struct Brute<'a> {
    pub problem: &'a Explicit,
    /// Example and output of each call.
    pub calls: Mutex<Vec<(usize, usize)>>,
}

impl<'a> Brute<'a> {
    pub fn new(problem: &'a Explicit) -> Self {
        Self { problem, calls: Mutex::default() }
    }

    /// Examples and the numbers of their true outputs.
    pub fn examples(&self) -> Vec<(usize, usize)> {
        let truth = |corners: &[crate::common::explicit::Corner]| {
            corners.iter().position(|c| c.loss == 0.0 && c.psi.iter().all(|x| *x == 0.0)).unwrap()
        };
        self.problem.examples.iter().map(|corners| truth(corners)).enumerate().collect()
    }

    fn best(&self, i: usize, value: impl Fn(f64, f64) -> f64, w: &[f64]) -> Decoded<usize> {
        let score = |y: usize| {
            let corner = &self.problem.examples[i][y];
            value(corner.loss, -dot(&corner.psi, w))
        };
        let mut best = 0;
        for y in 1..self.problem.examples[i].len() {
            best = if score(y) > score(best) { y } else { best };
        }
        self.calls.lock().unwrap().push((i, best));
        Decoded { output: best, bound: Bound::Exact }
    }

    /// Trains by this oracle; the masses of the problem are the sample weights.
    pub fn train(
        &self,
        form: Rescaling,
        settings: &CuttingPlaneSettings,
        budget: &Budget,
    ) -> Report<Vec<f64>> {
        let examples = self.examples();
        let blocks = OracleBlocks::new(self, &examples).unwrap().rescaled(form);
        let weights: Vec<f64> = self.problem.masses.iter().map(|mass| mass.float()).collect();
        let (lambda, plain) = (self.problem.lambda, Regulariser::PLAIN);
        let weights = Some(&weights[..]);
        cutting_plane::train(&blocks, lambda, plain, weights, settings, budget, &mut ())
            .unwrap()
            .map(|solution| solution.weights)
    }
}

impl Oracle for Brute<'_> {
    type Input = usize;
    type Output = usize;
    type Scratch = ();

    fn dim(&self) -> usize {
        self.problem.dim
    }

    // The truth has features of zero, so that ψ(y) = −φ(y).
    fn features(&self, i: &usize, y: &usize, out: &mut impl Accumulate) {
        let psi = &self.problem.examples[*i][*y].psi;
        psi.iter().enumerate().for_each(|(j, psi)| out.add(j, -psi));
    }

    fn loss(&self, i: &usize, _: &usize, y: &usize) -> f64 {
        self.problem.examples[*i][*y].loss
    }

    fn decode(
        &self,
        w: &[f64],
        i: &usize,
        against: Option<&usize>,
        (): &mut (),
    ) -> Result<Decoded<usize>> {
        let counts = f64::from(u8::from(against.is_some()));
        Ok(self.best(*i, |loss, score| counts * loss + score, w))
    }

    fn decode_slack(&self, w: &[f64], i: &usize, _: &usize, (): &mut ()) -> Result<Decoded<usize>> {
        Ok(self.best(*i, |loss, score| loss * (1.0 + score), w))
    }
}
