//! The dual of a structural SVM that is written out, as a function over a product of simplices: what the general
//! Frank-Wolfe solver is given where the block-dual engine is given blocks.
//!
//! ```text
//! f(α) = λ/2‖Aα‖² − ⟨b, α⟩,     A_(i,y) = mass_i ψ_i(y)/λ,   b_(i,y) = mass_i L_i(y),     D = −f
//! ```

use super::explicit::{Explicit, dot};
use dualgap::linalg::Measured;
use dualgap::methods::product::{BlockDirection, Objective, Point, Product, Set, Simplex};
use std::cell::OnceCell;

/// f, with w = Aα as the image.
#[derive(Clone, Debug)]
pub struct StructuralDual {
    pub lambda: f64,
    pub dim: usize,
    /// Block, output: the column of A, and b.
    pub columns: Vec<Vec<(Vec<f64>, f64)>>,
    /// C, which takes a while where blocks are many.
    whole: OnceCell<f64>,
}

impl StructuralDual {
    pub fn new(problem: &Explicit) -> Self {
        let lambda = problem.lambda;
        let columns = problem.examples.iter().zip(&problem.masses).map(|(corners, mass)| {
            let mass = mass.float();
            let column = |psi: &[f64]| psi.iter().map(|psi| mass * psi / lambda).collect();
            corners.iter().map(|corner| (column(&corner.psi), mass * corner.loss)).collect()
        });
        Self { lambda, dim: problem.dim, columns: columns.collect(), whole: OnceCell::new() }
    }

    /// Over the product of simplices of all outputs.
    pub fn product(self) -> Product<Self, Simplex> {
        self.product_of(|simplex| simplex)
    }

    /// The same with another oracle for the simplices.
    pub fn product_of<S: Set>(self, set: impl Fn(Simplex) -> S) -> Product<Self, S> {
        let simplex = |outputs: usize| Simplex::new(outputs, 1.0).unwrap();
        let sets = self.columns.iter().map(|block| set(simplex(block.len()))).collect();
        Product::new(self, sets).unwrap()
    }

    /// The corner of the outputs with no loss and ψ = 0: the truths.
    pub fn truths(&self) -> Vec<f64> {
        let truth = |block: &Vec<(Vec<f64>, f64)>| {
            let zero = |(a, b): &(Vec<f64>, f64)| *b == 0.0 && a.iter().all(|a| *a == 0.0);
            let truth = block.iter().position(zero).unwrap();
            (0..block.len()).map(|y| f64::from(u8::from(y == truth))).collect::<Vec<f64>>()
        };
        self.columns.iter().flat_map(truth).collect()
    }

    /// Computes C anew, after a change of the columns.
    pub fn forget_constant(&mut self) {
        self.whole = OnceCell::new();
    }

    /// λ‖A d‖² for a difference of two corners of block i, the largest of all: C_i of definition (17).
    fn block_constant(&self, i: usize) -> f64 {
        let block = &self.columns[i];
        let apart = |a: &[f64], b: &[f64]| {
            let d: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
            self.lambda * dot(&d, &d)
        };
        let pairs = block.iter().flat_map(|(a, _)| block.iter().map(move |(b, _)| apart(a, b)));
        pairs.fold(0.0, f64::max)
    }

    /// The same for corners of all blocks together: every sum of one difference from each block is looked at.
    fn whole_constant(&self) -> f64 {
        let mut sums = vec![vec![0.0; self.dim]];
        for block in &self.columns {
            let mut next = Vec::new();
            for sum in &sums {
                for (a, _) in block {
                    for (b, _) in block {
                        let ab = a.iter().zip(b).map(|(a, b)| a - b);
                        next.push(sum.iter().zip(ab).map(|(sum, d)| sum + d).collect::<Vec<f64>>());
                    }
                }
            }
            next.sort_by(|a, b| a.partial_cmp(b).unwrap());
            next.dedup();
            sums = next;
        }
        sums.iter().map(|d| self.lambda * dot(d, d)).fold(0.0, f64::max)
    }
}

impl Objective for StructuralDual {
    fn value(&self, at: &Point) -> Measured {
        let w = at.image();
        let losses = self.columns.iter().flatten().map(|(_, b)| b);
        let linear: f64 = losses.zip(at.coordinates()).map(|(b, alpha)| b * alpha).sum();
        let (squares, terms) = (self.lambda / 2.0 * dot(w, w), at.coordinates().len() + self.dim);
        let error = Measured::rounded(squares + linear.abs(), 4 * terms + 8).error;
        Measured { value: squares - linear, error }
    }

    fn gradient(&self, at: &Point, block: usize, out: &mut [f64]) -> f64 {
        let mut largest = 0.0_f64;
        for (g, (a, b)) in out.iter_mut().zip(&self.columns[block]) {
            *g = self.lambda * dot(a, at.image()) - b;
            let size = |x: &[f64]| dot(x, x).sqrt();
            largest = largest.max(self.lambda * size(a) * size(at.image()) + b);
        }
        let terms = at.coordinates().len() + self.dim;
        Measured::rounded(largest, 4 * terms + 8).error
    }

    fn image_len(&self) -> usize {
        self.dim
    }

    fn add_image(&self, block: usize, x: &[f64], out: &mut [f64]) {
        for ((a, _), x) in self.columns[block].iter().zip(x) {
            out.iter_mut().zip(a).for_each(|(w, a)| *w += x * a);
        }
    }

    fn curvature(&self, direction: &BlockDirection<'_>) -> Option<f64> {
        Some(self.lambda * dot(direction.image(), direction.image()))
    }

    fn curvature_constant(&self, block: Option<usize>) -> Option<f64> {
        let whole = || *self.whole.get_or_init(|| self.whole_constant());
        Some(block.map_or_else(whole, |i| self.block_constant(i)))
    }
}
