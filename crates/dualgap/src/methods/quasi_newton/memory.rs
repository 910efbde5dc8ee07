//! The last pairs of steps and changes of the gradient, and the product of the quasi-Newton matrix with a vector.
//!
//! With many weights, these products take longer than a gradient, and memory is what they wait for. So the pairs have 32 bits,
//! which the method does not notice (a pair is as good as the step it was), and every sweep over a vector adds one pair and
//! prepares the next in the same loop.

use crate::linalg::kernels::dot;
use crate::linalg::parallel;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The most pairs. Eight of them need a few steps less than six, and each step takes a quarter longer.
const MOST: usize = 6;

/// The parts of a sweep, so that its sums do not depend on the number of threads.
const PARTS: usize = 32;

/// A step and the change of the gradient over it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pair {
    step: Vec<f32>,
    change: Vec<f32>,
    /// ⟨s, y⟩, which is positive.
    product: f64,
    /// ⟨y, D⁻¹y⟩, which is positive.
    bent: f64,
}

/// The pairs, oldest first, and the diagonal that they correct.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Memory {
    pairs: VecDeque<Pair>,
    /// D: positive, about in proportion to the diagonal of the Hessian or a power of it.
    pub diagonal: Vec<f64>,
}

/// Returns Σ work over all parts of a vector, in order.
fn sweep(q: &mut [f64], work: impl Fn(std::ops::Range<usize>, &mut [f64]) -> f64 + Sync) -> f64 {
    let sums = parallel::fill_ranges(q.len(), PARTS, [(q, 1)], |range, [q]| work(range, q));
    sums.into_iter().sum()
}

/// `q += factor · from`, then returns ⟨with, q⟩.
fn add_and_multiply(q: &mut [f64], (from, factor): (&[f32], f64), with: &[f32]) -> f64 {
    sweep(q, |range, q| {
        let (from, with) = (&from[range.clone()], &with[range]);
        let mut lanes = [0.0; 8];
        let heads = q.chunks_exact_mut(8).zip(from.chunks_exact(8)).zip(with.chunks_exact(8));
        for ((q, from), with) in heads {
            for lane in 0..8 {
                q[lane] += factor * f64::from(from[lane]);
                lanes[lane] += f64::from(with[lane]) * q[lane];
            }
        }
        let tail = q.len() / 8 * 8;
        for ((q, from), with) in q[tail..].iter_mut().zip(&from[tail..]).zip(&with[tail..]) {
            *q += factor * f64::from(*from);
            lanes[0] += f64::from(*with) * *q;
        }
        lanes.iter().sum()
    })
}

impl Memory {
    /// Whether all vectors have this length, and the numbers that are divided by are positive.
    pub fn is_sound(&self, dim: usize) -> bool {
        let finite = |x: &[f32]| x.len() == dim && x.iter().all(|x| x.is_finite());
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let sound = |pair: &Pair| {
            finite(&pair.step)
                && finite(&pair.change)
                && positive(pair.product)
                && positive(pair.bent)
        };
        self.pairs.len() <= MOST
            && self.pairs.iter().all(sound)
            && (self.diagonal.is_empty() || self.diagonal.len() == dim)
            && self.diagonal.iter().all(|&d| positive(d))
            && (self.pairs.is_empty() || !self.diagonal.is_empty())
    }

    /// Forgets all pairs, and takes this diagonal.
    pub fn restart(&mut self, diagonal: Vec<f64>) {
        self.pairs.clear();
        self.diagonal = diagonal;
    }

    /// Adds a pair, unless the gradient did not grow along the step, where rounding has taken over.
    pub fn push(&mut self, step: &[f64], change: &[f64]) {
        let product = dot(step, change);
        let enough = 1e-10 * (dot(step, step) * dot(change, change)).sqrt();
        let bent: f64 = change.iter().zip(&self.diagonal).map(|(y, d)| y * y / d).sum();
        if product > enough && bent > 0.0 && product.is_finite() && bent.is_finite() {
            if self.pairs.len() == MOST {
                self.pairs.pop_front();
            }
            let single = |x: &[f64]| x.iter().map(|&x| x as f32).collect();
            self.pairs.push_back(Pair {
                step: single(step),
                change: single(change),
                product,
                bent,
            });
        }
    }

    /// Returns the descent direction −B g, by Nocedal's two loops.
    pub fn direction(&self, gradient: &[f64]) -> Vec<f64> {
        let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let Some(last) = self.pairs.back() else {
            q.iter_mut().zip(&self.diagonal).for_each(|(q, d)| *q /= d);
            return q;
        };
        let mut shares = vec![0.0; self.pairs.len()];
        let mut product = add_and_multiply(&mut q, (&last.step, 0.0), &last.step);
        for k in (0..self.pairs.len()).rev() {
            let pair = &self.pairs[k];
            shares[k] = product / pair.product;
            let next = if k > 0 { &self.pairs[k - 1].step } else { &pair.step };
            product = add_and_multiply(&mut q, (&pair.change, -shares[k]), next);
        }
        let (scale, first) = (last.product / last.bent, &self.pairs[0].change);
        product = sweep(&mut q, |range, q| {
            let (diagonal, first) = (&self.diagonal[range.clone()], &first[range]);
            let mut sum = 0.0;
            for ((q, d), y) in q.iter_mut().zip(diagonal).zip(first) {
                *q *= scale / d;
                sum += f64::from(*y) * *q;
            }
            sum
        });
        for (k, pair) in self.pairs.iter().enumerate() {
            let factor = shares[k] - product / pair.product;
            let next = self.pairs.get(k + 1).unwrap_or(pair);
            product = add_and_multiply(&mut q, (&pair.step, factor), &next.change);
        }
        q
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The secant equation: the matrix maps the last change of the gradient to the last step.
    #[test]
    fn the_last_change_of_the_gradient_is_mapped_to_the_last_step() {
        let mut memory = Memory::default();
        let of = |a: [f64; 3]| -> Vec<f64> { a.iter().cycle().take(19).copied().collect() };
        memory.restart(of([1.0, 3.0, 0.5]));
        memory.push(&of([1.0, 0.25, -0.5]), &of([2.0, 1.0, 0.125]));
        memory.push(&of([-0.5, 1.0, 0.25]), &of([0.25, 2.0, 0.75]));
        let image = memory.direction(&of([-0.25, -2.0, -0.75]));
        for (image, step) in image.iter().zip(of([-0.5, 1.0, 0.25])) {
            assert!((image - step).abs() < 1e-12, "{image} {step}");
        }
        assert!(memory.is_sound(19) && !memory.is_sound(2));
    }
}
