//! Every trial beside the same trial on a dense vector of all outputs.

use super::settings;
use crate::common::explicit::{Explicit, dot};
use crate::common::{Kind, Small, cases, distance, generic, with_blocks};
use dualgap::dual::{Mixture, Order, Sampling};
use dualgap::methods::exponentiated_gradient::{
    ExpectationBlocks, ExponentiatedGradient, GradientSettings,
};
use dualgap::structure::Hamming;
use proptest::prelude::*;

/// A transcription of the method with a number for each output: α is multiplied by exponentials, nothing is factored, and
/// the dual is evaluated as a whole.
struct Dense<'p> {
    problem: &'p Explicit,
    order: Order,
    alpha: Vec<Vec<f64>>,
    rates: Vec<f64>,
    searches: usize,
    open: Option<(usize, u32)>,
    halved: usize,
    refused: usize,
}

impl<'p> Dense<'p> {
    fn new(problem: &'p Explicit, settings: &GradientSettings) -> Self {
        let n = problem.examples.len();
        let uniform = |corners: &Vec<_>| vec![1.0 / corners.len() as f64; corners.len()];
        Self {
            problem,
            order: Order::new(settings.sampling, n, settings.seed, false),
            alpha: problem.examples.iter().map(uniform).collect(),
            rates: vec![settings.step; n],
            searches: 0,
            open: None,
            halved: 0,
            refused: 0,
        }
    }

    fn mass(&self, i: usize) -> f64 {
        self.problem.masses[i].float()
    }

    fn weights(&self) -> Vec<f64> {
        let mut w = vec![0.0; self.problem.dim];
        for (i, alpha) in self.alpha.iter().enumerate() {
            for (corner, alpha) in self.problem.examples[i].iter().zip(alpha) {
                let factor = self.mass(i) * alpha / self.problem.lambda;
                w.iter_mut().zip(&corner.psi).for_each(|(w, psi)| *w += factor * psi);
            }
        }
        w
    }

    fn dual(&self) -> f64 {
        let (w, examples) = (self.weights(), self.problem.examples.iter());
        let loss = |(i, corners): (usize, &Vec<_>)| {
            let losses: Vec<f64> =
                corners.iter().map(|c: &crate::common::explicit::Corner| c.loss).collect();
            self.mass(i) * dot(&losses, &self.alpha[i])
        };
        examples.enumerate().map(loss).sum::<f64>() - 0.5 * self.problem.lambda * dot(&w, &w)
    }

    /// Makes a trial; returns whether more than rounding decided about it.
    fn attempt(&mut self) -> bool {
        let (i, halvings) = self.open.take().unwrap_or_else(|| (self.order.next_block(), 0));
        if self.mass(i) == 0.0 {
            self.searches += 1;
            self.rates[i] *= 1.05;
            return true;
        }
        let (w, before) = (self.weights(), self.dual());
        let length = self.rates[i] * self.problem.lambda / self.mass(i);
        let hinges: Vec<f64> =
            self.problem.examples[i].iter().map(|c| c.loss - dot(&w, &c.psi)).collect();
        let top = hinges.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let raised = self.alpha[i].iter().zip(&hinges).map(|(a, h)| a * (length * (h - top)).exp());
        let raised: Vec<f64> = raised.collect();
        let total: f64 = raised.iter().sum();
        let moved = raised.iter().map(|a| a / total).collect();
        let stayed = std::mem::replace(&mut self.alpha[i], moved);
        let gain = self.dual() - before;
        let most = if self.searches < self.rates.len() { 2 } else { 5 };
        if gain < 0.0 {
            self.alpha[i] = stayed;
            if halvings < most {
                self.rates[i] /= 2.0;
                self.halved += 1;
                self.open = Some((i, halvings + 1));
                return gain.abs() > 1e-13;
            }
            self.refused += 1;
        }
        self.rates[i] *= 1.05;
        self.searches += 1;
        gain.abs() > 1e-13
    }
}

/// Compares trial by trial, as far as more than rounding decides; returns how many trials, halvings and refusals there
/// were.
fn follow<B: ExpectationBlocks<Point = Mixture>>(
    small: &Small,
    blocks: &B,
    settings: &GradientSettings,
) -> [usize; 3] {
    let problem = small.explicit();
    let mut dense = Dense::new(&problem, settings);
    let weights = small.weights.as_deref();
    let mut solver = ExponentiatedGradient::new(blocks, small.lambda, weights, settings).unwrap();
    let mut dual = dense.dual();
    for trial in 0..12 * small.len() {
        for (i, alpha) in small.distributions(&solver.points()).iter().enumerate() {
            let alpha: Vec<f64> = alpha.iter().map(|alpha| alpha.float()).collect();
            let apart = distance(&dense.alpha[i], &alpha);
            assert!(apart < 1e-9, "trial {trial}, example {i}: {apart:e}");
        }
        let apart = distance(&dense.weights(), solver.iterate());
        assert!(apart < 1e-9, "trial {trial}: {apart:e}");
        let searches = dense.searches;
        if !dense.attempt() {
            return [trial, dense.halved, dense.refused];
        }
        let ended = solver.attempt().unwrap();
        assert_eq!(ended, dense.searches > searches, "trial {trial}");
        assert!(dense.dual() >= dual);
        dual = dense.dual();
    }
    [12 * small.len(), dense.halved, dense.refused]
}

proptest! {
    #![proptest_config(cases(40))]
    #[test]
    fn a_trial_is_the_dense_update_over_all_outputs(
        small in generic(),
        step in -1.0..2.0_f64,
        sampling in prop_oneof![Just(Sampling::Permuted), Just(Sampling::Uniform), Just(Sampling::Cyclic)],
        seed in 0..100_u64,
    ) {
        let settings = GradientSettings { step: 10_f64.powf(step), sampling, seed, ..settings() };
        with_blocks!(small, |blocks| follow(&small, &blocks, &settings));
    }
}

#[test]
fn steps_that_are_too_long_are_halved_and_at_last_refused() {
    let small = Small::random(4, Kind::Chain(Hamming::Plain), 6, 3, 4);
    let settings = GradientSettings { step: 8.0, ..settings() };
    let [trials, halved, refused] =
        with_blocks!(small, |blocks| follow(&small, &blocks, &settings));
    assert!(trials > 40 && halved > 10 && refused > 0, "{trials} {halved} {refused}");
}
