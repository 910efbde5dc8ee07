//! The last pairs of steps and changes of the gradient, and the product of the quasi-Newton matrix with a vector.

use crate::linalg::kernels::{add_scaled, dot};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The most pairs. More of them need fewer steps, and more memory and time for each.
const MOST: usize = 8;

/// A step and the change of the gradient over it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    /// ⟨s, y⟩, which is positive.
    product: f64,
}

/// The pairs, oldest first, and the diagonal that they correct.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Memory {
    pairs: VecDeque<Pair>,
    /// About the diagonal of the Hessian.
    pub diagonal: Vec<f64>,
}

impl Memory {
    /// Whether all vectors have this length, and the numbers that are divided by are positive.
    pub fn is_sound(&self, dim: usize) -> bool {
        let finite = |x: &[f64]| x.len() == dim && x.iter().all(|x| x.is_finite());
        let sound = |pair: &Pair| finite(&pair.step) && finite(&pair.change) && pair.product > 0.0;
        self.pairs.len() <= MOST
            && self.pairs.iter().all(sound)
            && (self.diagonal.is_empty() || finite(&self.diagonal))
            && self.diagonal.iter().all(|&d| d > 0.0)
            && (self.pairs.is_empty() || !self.diagonal.is_empty())
    }

    /// Forgets all pairs, and takes this diagonal.
    pub fn restart(&mut self, diagonal: Vec<f64>) {
        self.pairs.clear();
        self.diagonal = diagonal;
    }

    /// Adds a pair, unless the gradient did not grow along the step, where rounding has taken over.
    pub fn push(&mut self, step: Vec<f64>, change: Vec<f64>) {
        let product = dot(&step, &change);
        if product > 1e-10 * (dot(&step, &step) * dot(&change, &change)).sqrt() {
            if self.pairs.len() == MOST {
                self.pairs.pop_front();
            }
            self.pairs.push_back(Pair { step, change, product });
        }
    }

    /// Returns the descent direction −B g, by Nocedal's two loops.
    pub fn direction(&self, gradient: &[f64]) -> Vec<f64> {
        let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut shares = vec![0.0; self.pairs.len()];
        for (share, pair) in shares.iter_mut().zip(&self.pairs).rev() {
            *share = dot(&pair.step, &q) / pair.product;
            add_scaled(&pair.change, -*share, &mut q);
        }
        let scale = self.pairs.back().map_or(1.0, |pair| {
            let bent: f64 = pair.change.iter().zip(&self.diagonal).map(|(y, d)| y * y / d).sum();
            pair.product / bent
        });
        q.iter_mut().zip(&self.diagonal).for_each(|(q, d)| *q *= scale / d);
        for (share, pair) in shares.iter().zip(&self.pairs) {
            let back = dot(&pair.change, &q) / pair.product;
            add_scaled(&pair.step, share - back, &mut q);
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
        memory.restart(vec![1.0, 3.0, 0.5]);
        memory.push(vec![1.0, 0.2, -0.3], vec![2.0, 1.0, 0.1]);
        memory.push(vec![-0.5, 1.0, 0.25], vec![0.3, 2.0, 0.7]);
        let image = memory.direction(&[-0.3, -2.0, -0.7]);
        for (image, step) in image.iter().zip([-0.5, 1.0, 0.25]) {
            assert!((image - step).abs() < 1e-12);
        }
        assert!(memory.is_sound(3) && !memory.is_sound(2));
    }
}
