//! The vector of a plane: dense where it is a mean over all examples, sparse where it is of one example.

use crate::linalg::SparseVec;
use crate::linalg::kernels::{add_scaled, dot};

/// `Σ mass_i X_i α_i` over the blocks of a slack.
#[derive(Clone, Debug)]
pub(super) enum Image {
    Dense(Vec<f64>),
    /// Settled.
    Sparse(SparseVec),
}

impl Image {
    /// Returns `⟨w, self⟩`.
    pub fn dot(&self, w: &[f64]) -> f64 {
        match self {
            Self::Dense(x) => dot(x, w),
            Self::Sparse(x) => x.dot(w),
        }
    }

    /// `w += factor · self`.
    pub fn add_to(&self, factor: f64, w: &mut [f64]) {
        match self {
            Self::Dense(x) => add_scaled(x, factor, w),
            Self::Sparse(x) => x.add_to(factor, w),
        }
    }

    /// Returns the inner product of two planes of the same slack, which are of the same form.
    pub fn product(&self, other: &Self) -> f64 {
        match (self, other) {
            (Self::Dense(x), Self::Dense(y)) => dot(x, y),
            (Self::Sparse(x), Self::Sparse(y)) => common(x.entries(), y.entries()),
            (Self::Dense(x), Self::Sparse(y)) | (Self::Sparse(y), Self::Dense(x)) => y.dot(x),
        }
    }

    /// Returns how many numbers it takes in memory.
    pub fn numbers(&self) -> usize {
        match self {
            Self::Dense(x) => x.len(),
            Self::Sparse(x) => 2 * x.entries().len(),
        }
    }
}

/// The inner product of two settled sparse vectors.
fn common(mut x: &[(usize, f64)], mut y: &[(usize, f64)]) -> f64 {
    let mut sum = 0.0;
    while let (Some(&(i, u)), Some(&(j, v))) = (x.first(), y.first()) {
        if i == j {
            sum += u * v;
        }
        x = &x[usize::from(i <= j)..];
        y = &y[usize::from(j <= i)..];
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{Accumulate, Random};

    #[test]
    fn both_forms_have_the_same_products() {
        let mut random = Random::new(5);
        for _ in 0..20 {
            let [(a, b), (c, d)] = [(); 2].map(|()| {
                let (mut dense, mut sparse) = (vec![0.0; 12], SparseVec::default());
                for (j, x) in dense.iter_mut().enumerate() {
                    if random.below(2) == 0 {
                        *x = random.below(9) as f64 - 4.0;
                        sparse.add(j, *x);
                    }
                }
                sparse.settle();
                (Image::Dense(dense), Image::Sparse(sparse))
            });
            // Small whole numbers: nothing is rounded.
            assert_eq!(a.product(&c), b.product(&d));
            assert_eq!(a.product(&d), b.product(&c));
            let (mut v, mut w) = (vec![1.0; 12], vec![1.0; 12]);
            a.add_to(2.0, &mut v);
            b.add_to(2.0, &mut w);
            assert_eq!(v, w);
            assert_eq!(c.dot(&v), d.dot(&w));
        }
    }
}
