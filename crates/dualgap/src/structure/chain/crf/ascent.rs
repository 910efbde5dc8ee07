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
//! ν has two parts, T × K marginals of positions and K × K sums over pairs. They and w have 32 bits each: w is then off by what its
//! sums round away, some 1e-7 of it, and the gap where nothing moves any more is λ/2 of the square of that. No certificate depends on
//! ν, and quasi-Newton steps have 64 bits again.

use super::problem::CrfProblem;
use super::single::move_towards;
use super::stochastic::Buffers;
use crate::linalg::Random;
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

/// The numbers of a cache line.
const LINE: usize = 64 / size_of::<f32>();

impl CrfProblem<'_> {
    /// The size of ν.
    fn stored(&self) -> usize {
        let k = self.layout.labels;
        self.data.rows().len() * k + self.data.len() * k * k
    }

    /// Whether these steps are possible: w must be linear in ν, and ν not too large.
    pub(super) fn can_ascend(&self) -> bool {
        let size = self.layout.dim() + self.data.rows().stored();
        self.l1 <= 0.0 && self.stored() <= MOST_STORED * size
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
        if past.weights.is_empty() {
            past.weights = self.places().narrowed(w);
        }
        let mut order: Vec<usize> =
            (0..self.data.len()).filter(|&i| self.masses[i] > 0.0).collect();
        Random::new(pass).shuffle(&mut order);
        let mut buffers = Buffers::default();
        let (mut residual, mut shares) = (0.0, 0.0);
        let Past { numbers, weights, .. } = past;
        for (visit, &i) in order.iter().enumerate() {
            if let Some(&next) = order.get(visit + 1) {
                std::hint::black_box(self.touch(next, numbers));
            }
            let share = self.share(past.rate, i);
            residual += self.masses[i] * self.ascend_by(i, share, weights, numbers, &mut buffers);
            shares += self.masses[i] * share;
        }
        if pass > 1 && residual > past.residual * (1.0 - ENOUGH * shares).max(0.5) {
            past.rate *= SHORTER;
            shares *= SHORTER;
        }
        past.residual = residual;
        // Where nothing moves, the optimum has been found, or numbers are too large for 32 bits.
        let more = residual > 0.0 && (pass + 1 < LEAST_PASSES || shares >= LEAST_SHARE);
        if !more {
            self.settle_ascent(w, past);
            *past = Past::default();
        }
        more
    }

    /// Writes the weights of the last pass.
    pub(super) fn settle_ascent(&self, w: &mut [f64], past: &Past) {
        if !past.weights.is_empty() {
            self.places().widen(&past.weights, w);
        }
    }

    /// Reads a number of every cache line of ν_i, which is then there when the step needs it. What it returns has no meaning.
    fn touch(&self, i: usize, point: &[f32]) -> f32 {
        let (k, starts) = (self.layout.labels, self.data.starts());
        let pairs = self.data.rows().len() * k + i * k * k;
        let parts = [starts[i] * k..starts[i + 1] * k, pairs..pairs + k * k];
        parts.into_iter().flat_map(|part| point[part].chunks(LINE)).map(|line| line[0]).sum()
    }

    /// Takes a step on a sequence; returns ‖r‖², of positions alone.
    fn ascend_by(
        &self,
        i: usize,
        share: f64,
        w: &mut [f32],
        point: &mut [f32],
        buffers: &mut Buffers,
    ) -> f64 {
        if !self.expect(i, w, buffers).is_finite() {
            return 0.0;
        }
        let k = self.layout.labels;
        let Buffers { quick, d } = buffers;
        let (nodes, sums) = point.split_at_mut(self.data.rows().len() * k);
        let nodes = &mut nodes[self.data.starts()[i] * k..][..quick.marginals.len()];
        let by = (share as f32, (self.masses[i] / self.lambda) as f32);
        d.resize(nodes.len(), 0.0);
        let square = move_towards(nodes, &quick.marginals, by, d);
        self.move_positions(i, d, w);
        let sums = &mut sums[i * k * k..(i + 1) * k * k];
        d.resize(k * k, 0.0);
        move_towards(sums, &quick.pairs, by, d);
        let places = self.places();
        for (row, d) in w[places.pairs()].chunks_exact_mut(places.width).zip(d.chunks_exact(k)) {
            row.iter_mut().zip(d).for_each(|(w, d)| *w += d);
        }
        square
    }
}
