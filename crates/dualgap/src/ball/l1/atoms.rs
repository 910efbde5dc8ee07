//! Weights in the convex hull of given atoms (appendix B.9 of the paper).
//!
//! ```text
//! x = Σ λ_j b_j,   λ in the simplex:      P = Σ m_i f_i(Σ_j λ_j ⟨a_i, b_j⟩) + μ/2‖Σ_j λ_j b_j‖²
//! ```
//!
//! The products ⟨a_i, b_j⟩ are computed once, so that a step toward an atom costs a column of them and no product with
//! the data. In λ this is a problem in the simplex, whose g is a smooth term of its own.

use super::table::{BallTable, L1Problem};
use crate::ball::{BallProblem, Losses, SmoothTerm};
use crate::linalg::kernels::dot;
use crate::linalg::memory::{Need, check_weights};
use crate::linalg::underflow::product_above;
use crate::linalg::{Measured, Rows, UNDERFLOW, gamma};
use crate::{Error, Result};
use std::sync::Arc;

/// Atoms and the products of the data with them; see the module's head.
///
/// ```
/// use dualgap::ball::{Atoms, BallSettings, PerOutput, self};
/// use dualgap::linalg::Rows;
/// use dualgap::run::Budget;
/// use dualgap::term::ScalarLoss;
/// let rows = Rows::dense(&[vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0]])?;
/// // A triangle. The targets are those of x = (1, ½), which is the middle of its last two corners.
/// let atoms = Atoms::new(&rows, &[vec![-1.0, 0.0], vec![2.0, 0.0], vec![0.0, 1.0]])?;
/// let losses = PerOutput::new(ScalarLoss::Squared, vec![1.0, 0.5, 1.5], 1)?;
/// let problem = atoms.problem(losses, 0.0, None)?;
/// let report = ball::train(&problem, &BallSettings::default(), &Budget::passes(300), &mut ())?;
/// let x = atoms.weights(&report.model.weights);
/// assert!((x[0] - 1.0).abs() < 1e-3 && (x[1] - 0.5).abs() < 1e-3);
/// assert!(report.certificate.gap() < 1e-6);
/// # Ok::<(), dualgap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Atoms {
    /// b_j.
    corners: Arc<Vec<Vec<f64>>>,
    /// ⟨a_i, b_j⟩, a row for each example, and a bound on the rounding of each row.
    products: Rows,
    off: Vec<f64>,
}

impl Atoms {
    /// Computes the products of the rows with these atoms, each of which has as many numbers as there are features.
    pub fn new(rows: &Rows, atoms: &[Vec<f64>]) -> Result<Self> {
        let weights = check_weights(rows.len().checked_mul(atoms.len()))?;
        Need { weights, copies: 1, others: atoms.len().saturating_mul(rows.width()) }.check()?;
        if atoms.is_empty() {
            return Err(Error::setting("a convex hull needs at least one atom"));
        }
        if let Some(k) = atoms.iter().position(|atom| atom.len() != rows.width()) {
            return Err(Error::setting(format!(
                "atom {k} has {} numbers, and the data have {} features",
                atoms[k].len(),
                rows.width()
            )));
        }
        if let Some(k) = atoms.iter().position(|atom| atom.iter().any(|x| !x.is_finite())) {
            return Err(Error::setting(format!("atom {k} has a number that is not finite")));
        }
        let (mut products, mut off) = (Vec::with_capacity(rows.len()), Vec::new());
        for i in 0..rows.len() {
            let row = rows.row(i);
            let mut largest = 0.0_f64;
            products.push(
                atoms
                    .iter()
                    .map(|atom| {
                        let (mut sum, mut size) = (0.0, 0.0);
                        row.for_each(|j, x| {
                            sum += x * atom[j];
                            size += (x * atom[j]).abs();
                        });
                        largest = largest.max(size);
                        sum
                    })
                    .collect::<Vec<f64>>(),
            );
            let vanished = 2.0 * row.stored() as f64 * UNDERFLOW;
            off.push(product_above(gamma(2 * row.stored() + 2), largest) + vanished);
        }
        Ok(Self { corners: Arc::new(atoms.to_vec()), products: Rows::dense(&products)?, off })
    }

    /// The problem in λ; see [`BallProblem::new`]. μ may be zero.
    pub fn problem<L: Losses>(
        &self,
        losses: L,
        mu: f64,
        sample_weights: Option<&[f64]>,
    ) -> Result<L1Problem<'_, L>> {
        if losses.outputs() != 1 {
            return Err(Error::setting("atoms are weights of one output"));
        }
        let table = BallTable::new(&self.products, 1)?.in_simplex().off_by(&self.off);
        let problem = BallProblem::new(table, losses, mu, 1.0, sample_weights)?;
        if mu == 0.0 {
            return Ok(problem);
        }
        problem.with_term(Arc::new(HullTerm::new(self.corners.clone(), mu)))
    }

    /// The weights x = Σ λ_j b_j of a solution.
    pub fn weights(&self, lambda: &[f64]) -> Vec<f64> {
        combine(&self.corners, lambda).0
    }
}

/// Σ λ_j b_j, and in every entry the sum of the sizes of its terms.
fn combine(atoms: &[Vec<f64>], lambda: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let d = atoms.first().map_or(0, Vec::len);
    let (mut x, mut sizes) = (vec![0.0; d], vec![0.0; d]);
    for (atom, &factor) in atoms.iter().zip(lambda).filter(|(_, factor)| **factor != 0.0) {
        for ((x, size), b) in x.iter_mut().zip(&mut sizes).zip(atom) {
            *x += factor * b;
            *size += (factor * b).abs();
        }
    }
    (x, sizes)
}

/// g(λ) = μ/2‖Σ λ_j b_j‖².
#[derive(Debug)]
struct HullTerm {
    atoms: Arc<Vec<Vec<f64>>>,
    mu: f64,
    /// A bound on the largest eigenvalue of the products of the atoms.
    largest: f64,
}

impl HullTerm {
    fn new(atoms: Arc<Vec<Vec<f64>>>, mu: f64) -> Self {
        // ‖B‖₂² is at most ‖B‖₁‖B‖_∞, and at most the sum of all squares.
        let sums = atoms.iter().map(|atom| atom.iter().map(|b| b.abs()).sum::<f64>());
        let rows = sums.fold(0.0, f64::max);
        let ones = vec![1.0; atoms.len()];
        let columns = combine(&atoms, &ones).1.into_iter().fold(0.0, f64::max);
        let squares: f64 = atoms.iter().map(|atom| dot(atom, atom)).sum();
        let largest = (rows * columns).min(squares) * 1.000_001;
        Self { mu, largest: if largest > 0.0 { largest } else { f64::MIN_POSITIVE.sqrt() }, atoms }
    }

    /// Σ λ_j b_j, and a bound on the Euclidean norm of its rounding.
    fn at(&self, lambda: &[f64]) -> (Vec<f64>, f64) {
        let (x, sizes) = combine(&self.atoms, lambda);
        let all: f64 = sizes.iter().sum();
        let vanished = 2.0 * (self.atoms.len() * x.len()) as f64 * UNDERFLOW;
        let rounding = product_above(gamma(2 * self.atoms.len() + x.len() + 2), all);
        (x, rounding + vanished)
    }
}

impl SmoothTerm for HullTerm {
    fn value(&self, lambda: &[f64]) -> Measured {
        let (x, off) = self.at(lambda);
        let square = crate::linalg::sum::squared_norm(&x);
        let length = (square.value + square.error).sqrt() + off;
        // ‖x + e‖² − ‖x‖² ≤ 2‖e‖(‖x‖ + ‖e‖).
        let error = square.error + 2.0 * product_above(off, length) * 1.000_001;
        Measured { value: square.value, error }.scaled(0.5).scaled(self.mu)
    }

    fn gradient(&self, lambda: &[f64], to: &mut [f64]) -> f64 {
        let (x, off) = self.at(lambda);
        let mut error = 0.0;
        for (to, atom) in to.iter_mut().zip(&*self.atoms) {
            let (mut sum, mut size) = (0.0, 0.0);
            for (b, x) in atom.iter().zip(&x) {
                sum += b * x;
                size += (b * x).abs();
            }
            *to = self.mu * sum;
            let own = product_above(gamma(2 * x.len() + 4), size);
            let vanished = 2.0 * (x.len() + 1) as f64 * UNDERFLOW;
            // A sum of sizes is at least the Euclidean norm.
            error += product_above(self.mu, own + vanished) + vanished;
        }
        error + product_above(self.mu, product_above(off, self.largest.sqrt())) * 1.000_001
    }

    fn convexity(&self) -> f64 {
        0.0
    }

    fn smoothness(&self) -> f64 {
        self.mu * self.largest
    }
}
