//! Small quadratic functions over products of simplices, and what two independent judges say of them.

use crate::common::wide::Wide;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SupportedConeT};
use dualgap::linalg::{Measured, Random, gamma};
use dualgap::methods::product::{BlockDirection, Objective, Point, Product, Simplex};

/// ½x'Qx + ⟨q, x⟩ with Q = B'B.
#[derive(Clone, Debug)]
pub struct Quadratic {
    pub q: Vec<Vec<f64>>,
    pub linear: Vec<f64>,
    /// Whether the line search is told the curvature.
    pub tells: bool,
}

impl Quadratic {
    /// A function of so many coordinates that only its seed decides, with Q of this rank.
    pub fn random(seed: u64, dim: usize, rank: usize) -> Self {
        let mut random = Random::new(seed);
        let mut draw = || 2.0 * random.unit() - 1.0;
        let b: Vec<Vec<f64>> = (0..rank).map(|_| (0..dim).map(|_| draw()).collect()).collect();
        let entry = |j: usize, k: usize| b.iter().map(|row| row[j] * row[k]).sum();
        let q = (0..dim).map(|j| (0..dim).map(|k| entry(j, k)).collect()).collect();
        Self { q, linear: (0..dim).map(|_| draw()).collect(), tells: true }
    }

    /// Over simplices of these sizes, which add up to its dimension.
    pub fn over(self, sizes: &[usize]) -> Product<Self, Simplex> {
        let sets = sizes.iter().map(|&size| Simplex::new(size, 1.0).unwrap()).collect();
        Product::new(self, sets).unwrap()
    }

    fn dim(&self) -> usize {
        self.linear.len()
    }

    /// f(x) and f(x) − Σ_i max over the corners of ⟨x_i − s, ∇_i f(x)⟩ to 32 digits.
    pub fn exact(&self, x: &[f64], sizes: &[usize]) -> (Wide, Wide) {
        let product = |row: &[f64]| -> Wide {
            row.iter().zip(x).map(|(&a, &x)| Wide::from(a) * x.into()).sum()
        };
        let qx: Vec<Wide> = self.q.iter().map(|row| product(row)).collect();
        let half: Wide = qx.iter().zip(x).map(|(&qx, &x)| qx * x.into()).sum();
        let value = half * Wide::from(0.5) + product(&self.linear);
        let gradient: Vec<Wide> =
            qx.iter().zip(&self.linear).map(|(&qx, &q)| qx + q.into()).collect();
        let (mut lower, mut first) = (value, 0);
        for &size in sizes {
            let block = first..first + size;
            let at: Wide = gradient[block.clone()]
                .iter()
                .zip(&x[block.clone()])
                .map(|(&g, &x)| g * x.into())
                .sum();
            let least =
                gradient[block].iter().fold(Wide::from(1e300), |a, &b| if b < a { b } else { a });
            lower = lower - (at - least);
            first += size;
        }
        (value, lower)
    }

    /// The minimum over simplices of these sizes as clarabel finds it.
    pub fn minimum(&self, sizes: &[usize]) -> f64 {
        let dim = self.dim();
        let upper = |j: usize| (0..=j).map(move |k| (k, j));
        let entries: Vec<(usize, usize)> = (0..dim).flat_map(upper).collect();
        let (rows, columns): (Vec<usize>, Vec<usize>) = entries.iter().copied().unzip();
        let values = entries.iter().map(|&(j, k)| self.q[j][k]).collect();
        let p = CscMatrix::new_from_triplets(dim, dim, rows, columns, values);
        // One sum for each simplex, then −x ≤ 0.
        let owner: Vec<usize> =
            sizes.iter().enumerate().flat_map(|(i, &size)| std::iter::repeat_n(i, size)).collect();
        let (n, mut b) = (sizes.len(), vec![1.0; sizes.len()]);
        b.extend(vec![0.0; dim]);
        let rows = (0..dim).map(|j| owner[j]).chain((0..dim).map(|j| n + j)).collect();
        let columns = (0..dim).chain(0..dim).collect();
        let values = vec![1.0; dim].into_iter().chain(vec![-1.0; dim]).collect();
        let a = CscMatrix::new_from_triplets(n + dim, dim, rows, columns, values);
        let cones = [SupportedConeT::ZeroConeT(n), SupportedConeT::NonnegativeConeT(dim)];
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: 1e-11,
            tol_gap_rel: 1e-11,
            tol_feas: 1e-11,
            ..DefaultSettings::default()
        };
        let mut solver = DefaultSolver::new(&p, &self.linear, &a, &b, &cones, settings).unwrap();
        solver.solve();
        solver.solution.obj_val
    }
}

impl Objective for Quadratic {
    fn value(&self, at: &Point) -> Measured {
        let x = at.coordinates();
        let (mut value, mut size) = (0.0, 0.0);
        for ((row, x_j), q) in self.q.iter().zip(x).zip(&self.linear) {
            let inner: f64 = row.iter().zip(x).map(|(a, x)| a * x).sum();
            let absolute: f64 = row.iter().zip(x).map(|(a, x)| (a * x).abs()).sum();
            value += x_j * (0.5 * inner + q);
            size += x_j.abs() * (absolute + q.abs());
        }
        Measured { value, error: gamma(2 * self.dim() + 4) * size }
    }

    fn gradient(&self, at: &Point, block: usize, out: &mut [f64]) -> f64 {
        let (x, mut size) = (at.coordinates(), 0.0_f64);
        for (g, j) in out.iter_mut().zip(at.span(block)) {
            *g = self.q[j].iter().zip(x).map(|(a, x)| a * x).sum::<f64>() + self.linear[j];
            let absolute: f64 = self.q[j].iter().zip(x).map(|(a, x)| (a * x).abs()).sum();
            size = size.max(absolute + self.linear[j].abs());
        }
        gamma(self.dim() + 2) * size
    }

    // Of blocks of three coordinates, as below; the Frobenius norm is not below the spectral one.
    fn lipschitz(&self, block: usize) -> Option<f64> {
        let span = 3 * block..3 * block + 3;
        let squares = span.clone().flat_map(|j| self.q[j][span.clone()].iter().map(|a| a * a));
        Some(squares.sum::<f64>().sqrt())
    }

    fn curvature(&self, direction: &BlockDirection<'_>) -> Option<f64> {
        if !self.tells {
            return None;
        }
        let sizes: Vec<(usize, &[f64])> = direction.parts().collect();
        // Only where the blocks have three coordinates each are their places known from their numbers.
        let place = |i: usize, j: usize| 3 * i + j;
        let mut total = 0.0;
        for &(i, a) in &sizes {
            for &(k, b) in &sizes {
                for (j, a) in a.iter().enumerate() {
                    for (l, b) in b.iter().enumerate() {
                        total += a * self.q[place(i, j)][place(k, l)] * b;
                    }
                }
            }
        }
        Some(total)
    }
}
