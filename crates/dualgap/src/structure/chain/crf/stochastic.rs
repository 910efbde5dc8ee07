//! Stochastic gradient steps, with which a run begins under an elastic net, or where [`ascent`](super::ascent) has no room.
//!
//! ```text
//! w ← w + η_k c_i (φ(x_i, y_i) − E φ(x_i, ·)),     η_k = η/(1 + ηλk),     c_i = n mass_i
//! w ← S_{Σ η_k σ}((1 − Σ η_k λ) w)                 now and then
//! ```
//!
//! They are as cheap as a sequence is short, and bring the objective close to the optimum sooner than any method that has to
//! see all sequences before it moves. They do not get much closer: on 2,000 sentences of CoNLL-2000 six passes leave 3 %, and
//! ten more would halve that, so six are taken. η is tried out on some sequences, from a large one downwards.

use super::super::legal::Legal;
use super::problem::CrfProblem;
use super::scaled::{Pairs, Scaled, Weights};
use crate::linalg::Random;
use crate::linalg::kernels::{add_outer, add_scaled};
use crate::term::ball::l1::soft;

/// The weights shrink so often in a pass: not after every step, which would touch all of them.
const SHRINKS: usize = 4;

/// The most sequences that η is tried on.
const TRIED: usize = 500;

/// The most trials.
const TRIALS: usize = 12;

/// The buffers of steps.
#[derive(Default)]
pub(super) struct Buffers {
    pub scaled: Scaled,
    pub shared: Pairs,
    pub pairs: Vec<f64>,
    pub d: Vec<f64>,
}

impl CrfProblem<'_> {
    /// Takes the steps of a pass.
    pub(super) fn walk(&self, w: &mut [f64], pass: u64) {
        let n = self.data.len();
        let rate = *self.rate.get_or_init(|| self.tried_rate());
        let mut order: Vec<usize> = (0..n).collect();
        Random::new(pass).shuffle(&mut order);
        let mut buffers = Buffers::default();
        let mut done = pass as f64 * n as f64;
        for some in order.chunks(n.div_ceil(SHRINKS)) {
            let (mut shrink, mut length) = (1.0, 0.0);
            for &i in some {
                let eta = rate / (1.0 + rate * self.lambda * done);
                self.step(i, eta, w, &mut buffers);
                shrink *= (1.0 - eta * self.lambda).max(0.0);
                length += eta;
                done += 1.0;
            }
            if self.l1 > 0.0 {
                w.iter_mut().for_each(|w| *w = soft(*w * shrink, self.l1 * length));
            } else {
                w.iter_mut().for_each(|w| *w *= shrink);
            }
        }
    }

    /// Returns the η with the lowest loss after steps from zero on some sequences. It depends on the problem alone.
    pub(super) fn tried_rate(&self) -> f64 {
        let mut order: Vec<usize> = (0..self.data.len()).collect();
        Random::new(u64::MAX).shuffle(&mut order);
        order.truncate(TRIED);
        let mut squares = 0.0;
        let mut positions = 0.0;
        for &i in &order {
            let x = self.data.sequence(i);
            for t in 0..x.len() {
                x.row(t).for_each(|_, x| squares += x * x);
                positions += 1.0;
            }
        }
        let mut rate = if squares > 0.0 { 4.0 * positions / squares } else { 1.0 };
        let mut best = (f64::INFINITY, 0.0);
        let mut w = vec![0.0; self.layout.dim()];
        for _ in 0..TRIALS {
            w.fill(0.0);
            let mut buffers = Buffers::default();
            for &i in &order {
                self.step(i, rate, &mut w, &mut buffers);
            }
            let loss: f64 = order.iter().map(|&i| self.step(i, 0.0, &mut w, &mut buffers)).sum();
            if loss < best.0 {
                best = (loss, rate);
            } else if best.0.is_finite() {
                break;
            }
            rate /= 2.0;
        }
        best.1
    }

    /// Takes a step on a sequence, unless its length is zero; returns the weighted loss before it.
    fn step(&self, i: usize, eta: f64, w: &mut [f64], buffers: &mut Buffers) -> f64 {
        let loss = self.expect(i, w, buffers);
        let (layout, k) = (self.layout, self.layout.labels);
        let Buffers { scaled, pairs, d, .. } = buffers;
        let (x, truth) = (self.data.sequence(i), self.data.truth(i));
        let count = self.data.len() as f64 * self.masses[i];
        let length = eta * count;
        if length == 0.0 || !loss.is_finite() {
            return count * loss;
        }
        for (t, mu) in scaled.marginals().chunks_exact(k).enumerate() {
            let y = usize::from(truth[t]);
            d.clear();
            d.extend(mu.iter().map(|mu| -length * mu));
            d[y] += length;
            add_outer(x.row(t), d, 1.0, &mut w[..layout.start().start]);
            if t == 0 {
                add_scaled(d, 1.0, &mut w[layout.start()]);
            } else {
                w[layout.transitions().start + usize::from(truth[t - 1]) * k + y] += length;
            }
            if t + 1 == truth.len() {
                add_scaled(d, 1.0, &mut w[layout.end()]);
            }
        }
        add_scaled(pairs, -length, &mut w[layout.transitions()]);
        count * loss
    }

    /// Finds the expectations of a sequence at these weights: the marginals of its positions and the sums of its pairs are in the
    /// buffers then. Returns its loss.
    pub(super) fn expect(&self, i: usize, w: &[f64], buffers: &mut Buffers) -> f64 {
        let (layout, k) = (self.layout, self.layout.labels);
        let Buffers { scaled, shared, pairs, .. } = buffers;
        let legal = self.legal.as_deref();
        match legal {
            Some(_) => shared.set(&Legal::masked(legal, &w[layout.transitions()]), k, false),
            None => shared.set(&w[layout.transitions()], k, true),
        }
        pairs.clear();
        pairs.resize(k * k, 0.0);
        let weights =
            Weights { layout, w, packed: None, shared, sizes: None, legal, quick: legal.is_none() };
        let (x, truth) = (self.data.sequence(i), self.data.truth(i));
        let found = scaled.run(&weights, x, Some(truth), 1.0, Some(pairs));
        if let Some(factor) = weights.factor() {
            pairs.iter_mut().zip(factor).for_each(|(sum, e)| *sum *= e);
        }
        found.loss.value
    }
}
