//! Anderson's extrapolation: where a sequence of iterates is heading.
//!
//! Descent from w to w' is nearly affine once signs no longer change. With the differences `u_k = w_k − w_{k−1}` of the last K
//! iterates, the mixture `Σ c_k w_k`, `Σ c_k = 1`, whose mixed difference `‖Σ c_k u_k‖` is smallest is nearly the fixed point:
//! `c ∝ (U'U)⁻¹ 1`.

use super::cholesky;
use crate::linalg::kernels::dot;

/// K: more differences see further, and cost more.
const DEPTH: usize = 5;

/// The regularisation of the small system, as a share of its trace: differences may be parallel.
const RIDGE: f64 = 1e-12;

/// The last iterates.
#[derive(Default)]
pub struct Anderson {
    iterates: Vec<Vec<f64>>,
}

impl Anderson {
    /// Forgets all iterates: the sequence begins anew.
    pub fn clear(&mut self) {
        self.iterates.clear();
    }

    /// Takes note of an iterate. Returns the extrapolation if there are enough of them, and then begins anew from this
    /// iterate.
    pub fn push(&mut self, iterate: Vec<f64>) -> Option<Vec<f64>> {
        self.iterates.push(iterate);
        if self.iterates.len() <= DEPTH {
            return None;
        }
        let result = self.extrapolation();
        let last = self.iterates.pop();
        self.iterates.clear();
        self.iterates.extend(last);
        result
    }

    fn extrapolation(&self) -> Option<Vec<f64>> {
        let differences: Vec<Vec<f64>> = self
            .iterates
            .windows(2)
            .map(|pair| pair[1].iter().zip(&pair[0]).map(|(to, from)| to - from).collect())
            .collect();
        let mut gram = vec![0.0; DEPTH * DEPTH];
        for (p, u) in differences.iter().enumerate() {
            for (q, v) in differences.iter().enumerate() {
                gram[p * DEPTH + q] = dot(u, v);
            }
        }
        let trace: f64 = (0..DEPTH).map(|p| gram[p * DEPTH + p]).sum();
        (0..DEPTH).for_each(|p| gram[p * DEPTH + p] += RIDGE * trace);
        let mut shares = vec![1.0; DEPTH];
        if !(trace > 0.0 && cholesky::solve(&mut gram, &mut shares)) {
            return None;
        }
        let sum: f64 = shares.iter().sum();
        let mut mixed = vec![0.0; self.iterates[0].len()];
        for (share, iterate) in shares.iter().zip(&self.iterates[1..]) {
            mixed.iter_mut().zip(iterate).for_each(|(mixed, w)| *mixed += share / sum * w);
        }
        mixed.iter().all(|w| w.is_finite()).then_some(mixed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // An affine map in K − 1 dimensions: K differences tell its fixed point, here (1, 2, 3, 4).
    #[test]
    fn the_fixed_point_of_an_affine_map_is_found() {
        let (rates, fixed) = ([0.9, 0.5, -0.3, 0.7], [1.0, 2.0, 3.0, 4.0]);
        let mut anderson = Anderson::default();
        let mut w = vec![0.0; 4];
        for _ in 0..DEPTH {
            assert!(anderson.push(w.clone()).is_none());
            let next = w.iter().zip(&rates).zip(&fixed).map(|((w, r), f)| f + r * (w - f));
            w = next.collect();
        }
        let found = anderson.push(w).unwrap();
        for (found, fixed) in found.iter().zip(&fixed) {
            assert!((found - fixed).abs() < 1e-4, "{found} {fixed}");
        }
    }
}
