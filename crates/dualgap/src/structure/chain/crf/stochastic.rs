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

use super::problem::CrfProblem;
use super::quick::{Labelled, Quick};
use super::single::{Places, add_outer};
use crate::linalg::Random;
use crate::term::ball::l1::soft;
use std::ops::Range;

/// The weights shrink so often in a pass: not after every step, which would touch all of them.
const SHRINKS: usize = 4;

/// The most sequences that η is tried on. Every trial walks over them twice, so that on 10,000 sequences all trials take as long as 1.2
/// passes at most; not tuned.
const TRIED: usize = 500;

/// The most trials: they halve η from a large one on, and most end earlier, at the first that is worse than the one before. So many
/// reach a 2,000th of the first.
const TRIALS: usize = 12;

/// The buffers of steps.
#[derive(Default)]
pub(super) struct Buffers {
    pub quick: Quick,
    /// What weights move by.
    pub d: Vec<f32>,
}

impl CrfProblem<'_> {
    /// Where weights in 32 bits are.
    pub(super) fn places(&self) -> Places {
        Places::of(self.layout)
    }

    /// Takes the steps of a pass.
    pub(super) fn walk(&self, w: &mut [f64], pass: u64) {
        let n = self.data.len();
        let rate = *self.rate.get_or_init(|| self.tried_rate());
        let mut order: Vec<usize> = (0..n).collect();
        Random::new(pass).shuffle(&mut order);
        let mut buffers = Buffers::default();
        let mut narrow = self.places().narrowed(w);
        let mut done = pass as f64 * n as f64;
        for some in order.chunks(n.div_ceil(SHRINKS)) {
            let (mut shrink, mut length) = (1.0, 0.0);
            for &i in some {
                let eta = rate / (1.0 + rate * self.lambda * done);
                self.step(i, eta, &mut narrow, &mut buffers);
                shrink *= (1.0 - eta * self.lambda).max(0.0);
                length += eta;
                done += 1.0;
            }
            let length = self.l1 * length;
            narrow.iter_mut().for_each(|w| *w = soft(f64::from(*w) * shrink, length) as f32);
        }
        self.places().widen(&narrow, w);
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
        let mut w = vec![0.0; self.places().count()];
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
    fn step(&self, i: usize, eta: f64, w: &mut [f32], buffers: &mut Buffers) -> f64 {
        let loss = self.expect(i, w, buffers);
        let count = self.data.len() as f64 * self.masses[i];
        let length = (eta * count) as f32;
        if length == 0.0 || !loss.is_finite() {
            return count * loss;
        }
        let k = self.layout.labels;
        let Buffers { quick, d } = buffers;
        let truth = self.data.truth(i);
        d.clear();
        d.extend(quick.marginals.iter().map(|mu| -length * mu));
        for (t, &y) in truth.iter().enumerate() {
            d[t * k + usize::from(y)] += length;
        }
        self.move_positions(i, d, w);
        let places = self.places();
        for (row, sums) in
            w[places.pairs()].chunks_exact_mut(places.width).zip(quick.pairs.chunks_exact(k))
        {
            row.iter_mut().zip(sums).for_each(|(w, sum)| *w -= length * sum);
        }
        for pair in truth.windows(2) {
            w[places.pair(pair[0], pair[1])] += length;
        }
        count * loss
    }

    /// Adds `T × K` numbers to the weights of the features at the positions of a sequence, and of its first and last label.
    pub(super) fn move_positions(&self, i: usize, d: &[f32], w: &mut [f32]) {
        let (places, x) = (self.places(), self.data.sequence(i));
        let mut row = vec![0.0; places.width];
        let mut add = |range: Range<usize>, row: &[f32]| {
            w[range].iter_mut().zip(row).for_each(|(w, d)| *w += d);
        };
        if let Some(last) = d.len().checked_sub(places.labels) {
            add(places.start(), &d[..places.labels]);
            add(places.end(), &d[last..]);
        }
        for (t, d) in d.chunks_exact(places.labels).enumerate() {
            row[..places.labels].copy_from_slice(d);
            add_outer(x.row(t), &row, w);
        }
    }

    /// Finds the expectations of a sequence at these weights; returns its loss.
    pub(super) fn expect(&self, i: usize, w: &[f32], buffers: &mut Buffers) -> f64 {
        let (x, truth) = (self.data.sequence(i), self.data.truth(i));
        let of = Labelled { x, truth, legal: self.legal.as_deref() };
        buffers.quick.expect(self.places(), w, of)
    }
}
