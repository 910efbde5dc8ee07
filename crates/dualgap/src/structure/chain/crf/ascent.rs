//! Dual coordinate ascent with stored expectations: the steps that a run under a ridge begins with, and mostly ends with.
//!
//! Every sequence has a point ν_i, the expected counts under some distribution, which begins as the counts of its truth, and
//!
//! ```text
//! w = Σ mass_i/λ (φ(x_i, y_i) − ν_i)                                   at any time, 0 at first
//! ν_i ← ν_i + γ_i (E_{p_w} φ(x_i, ·) − ν_i),   γ_i = min(1, ηλ/mass_i)   a step
//! ```
//!
//! As stochastic gradient steps of length η, these are cheap and make the way to the optimum soon; unlike them they do not
//! lose it again: at the optimum nothing moves, and near it the residuals r_i = E_{p_w} φ − ν_i shrink by 1 − γ in a pass
//! (Le Priol, Piché and Lacoste-Julien 2018, who search for γ_i; a fixed one needs no entropies, and so no marginals of
//! every pair of positions). That holds if η is not too long for features that all sequences share: η is tried out on some
//! sequences, and is shortened whenever Σ mass_i‖r_i‖² does not shrink as it should. If γ has become so small that
//! quasi-Newton steps are faster, which also happens where λ is small, they take over.
//!
//! ν has two parts, T × K marginals of positions and K × K sums over pairs, in 32 bits each: w moves by exactly what they do.
//! No certificate depends on them.

use super::problem::CrfProblem;
use super::stochastic::Buffers;
use crate::linalg::Random;
use crate::linalg::kernels::{add_outer, add_scaled};
use crate::methods::quasi_newton::Past;

/// The least number of passes: whatever takes over begins close to the optimum then.
const LEAST_PASSES: u64 = 6;

/// Below this γ other steps are faster.
const LEAST_SHARE: f64 = 0.02;

/// η becomes so much shorter at a time.
const SHORTER: f64 = 0.7;

/// In a pass Σ mass_i‖r_i‖² shrinks by (1 − γ)² ≈ 1 − 2γ; if by less than three quarters of that, η is too long.
const ENOUGH: f64 = 1.5;

/// More stored numbers than this for every weight and entry of the data are too many.
const MOST_STORED: usize = 2;

impl CrfProblem<'_> {
    /// The size of ν.
    fn stored(&self) -> usize {
        let k = self.layout.labels;
        self.data.rows().len() * k + self.data.len() * k * k
    }

    /// Whether these steps are possible: w must be linear in ν, and ν not too large.
    pub(super) fn can_ascend(&self) -> bool {
        let size = self.layout.dim() + self.data.rows().stored();
        self.l1 <= 0.0 && self.layout.pairs == 0 && self.stored() <= MOST_STORED * size
    }

    /// γ of a sequence.
    fn share(&self, rate: f64, i: usize) -> f64 {
        (rate * self.lambda / self.masses[i]).min(1.0)
    }

    /// Returns the counts of the truth.
    fn truth(&self) -> Vec<f32> {
        let k = self.layout.labels;
        let mut all = vec![0.0; self.stored()];
        let (nodes, pairs) = all.split_at_mut(self.data.rows().len() * k);
        for (i, pairs) in pairs.chunks_exact_mut(k * k).enumerate() {
            let (truth, start) = (self.data.truth(i), self.data.starts()[i]);
            for (t, &y) in truth.iter().enumerate() {
                nodes[(start + t) * k + usize::from(y)] = 1.0;
                if t > 0 {
                    pairs[usize::from(truth[t - 1]) * k + usize::from(y)] += 1.0;
                }
            }
        }
        all
    }

    /// Takes the steps of a pass; returns whether another one is worth its time.
    pub(super) fn ascend(&self, w: &mut [f64], past: &mut Past, pass: u64) -> bool {
        if pass == 0 {
            // Where λ is large γ is one for shorter steps, too.
            let heaviest = self.masses.iter().fold(0.0, |top: f64, &mass| top.max(mass));
            let rate = self.rate.get_or_init(|| self.tried_rate()).min(heaviest / self.lambda);
            let residual = f64::INFINITY;
            *past = Past { numbers: self.truth(), rate, residual, ..Past::default() };
        }
        if past.numbers.len() != self.stored() {
            return false; // the state of a program that had other steps here
        }
        let mut order: Vec<usize> =
            (0..self.data.len()).filter(|&i| self.masses[i] > 0.0).collect();
        Random::new(pass).shuffle(&mut order);
        let mut buffers = Buffers::default();
        let (mut residual, mut shares) = (0.0, 0.0);
        for &i in &order {
            let share = self.share(past.rate, i);
            residual +=
                self.masses[i] * self.ascend_by(i, share, w, &mut past.numbers, &mut buffers);
            shares += self.masses[i] * share;
        }
        if !w.iter().all(|w| w.is_finite()) {
            w.fill(0.0);
            *past = Past::default();
            return false;
        }
        if pass > 1 && residual > past.residual * (1.0 - ENOUGH * shares).max(0.5) {
            past.rate *= SHORTER;
            shares *= SHORTER;
        }
        past.residual = residual;
        let more = pass + 1 < LEAST_PASSES || shares >= LEAST_SHARE;
        if !more {
            *past = Past::default();
        }
        more
    }

    /// Takes a step on a sequence; returns ‖r‖², of positions alone.
    fn ascend_by(
        &self,
        i: usize,
        share: f64,
        w: &mut [f64],
        point: &mut [f32],
        buffers: &mut Buffers,
    ) -> f64 {
        if !self.expect(i, w, buffers).is_finite() {
            return 0.0;
        }
        let (layout, k) = (self.layout, self.layout.labels);
        let Buffers { scaled, pairs, d, .. } = buffers;
        let (x, truth, start) = (self.data.sequence(i), self.data.truth(i), self.data.starts()[i]);
        let length = self.masses[i] / self.lambda;
        let mut square = 0.0;
        // Moves a part of ν, and returns what w moves by.
        let move_to = |stored: &mut f32, expected: f64| {
            let old = f64::from(*stored);
            let residual = expected - old;
            *stored = (old + share * residual) as f32;
            (length * (old - f64::from(*stored)), residual * residual)
        };
        let (nodes, sums) = point.split_at_mut(self.data.rows().len() * k);
        let nodes = &mut nodes[start * k..(start + truth.len()) * k];
        d.clear();
        d.resize(k, 0.0);
        for (t, (mu, stored)) in
            scaled.marginals().chunks_exact(k).zip(nodes.chunks_exact_mut(k)).enumerate()
        {
            for ((d, stored), &mu) in d.iter_mut().zip(stored).zip(mu) {
                let (moved, squared) = move_to(stored, mu);
                *d = moved;
                square += squared;
            }
            add_outer(x.row(t), d, 1.0, &mut w[..layout.start().start]);
            if t == 0 {
                add_scaled(d, 1.0, &mut w[layout.start()]);
            }
            if t + 1 == truth.len() {
                add_scaled(d, 1.0, &mut w[layout.end()]);
            }
        }
        let sums = &mut sums[i * k * k..(i + 1) * k * k];
        for ((w, stored), &sum) in w[layout.transitions()].iter_mut().zip(sums).zip(&*pairs) {
            *w += move_to(stored, sum).0;
        }
        square
    }
}
