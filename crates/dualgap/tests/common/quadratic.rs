//! The optimum of a problem that is written out, from a solver that shares nothing with ours.
//!
//! Clarabel solves the quadratic program
//!
//! ```text
//! min λ/2‖w‖² + λs Σ u_j + Σ mass_i ξ_i    subject to    ξ_i + ⟨w, ψ_i(y)⟩ ≥ L_i(y),    −u ≤ w ≤ u
//! ```
//!
//! with w ≥ 0 where weights must not be negative, and is not believed either: its weights give an upper bound and its multipliers, made a
//! distribution over outputs, a lower one, both evaluated to 32 digits.

use super::explicit::{Corner, Explicit};
use super::wide::Wide;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SupportedConeT};

/// The optimum lies between `lower` and `upper`.
#[derive(Clone, Copy, Debug)]
pub struct Bracket {
    pub lower: f64,
    pub upper: f64,
}

impl Bracket {
    /// Whether it is narrow enough to judge anything by.
    pub fn is_within(self, relative: f64) -> bool {
        self.upper - self.lower <= relative * self.upper.abs().max(1e-3)
    }
}

/// Entries of a matrix as rows, columns and values.
#[derive(Default)]
struct Triplets {
    rows: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl Triplets {
    fn push(&mut self, row: usize, column: usize, value: f64) {
        self.rows.push(row);
        self.columns.push(column);
        self.values.push(value);
    }

    fn matrix(self, rows: usize, columns: usize) -> CscMatrix<f64> {
        CscMatrix::new_from_triplets(rows, columns, self.rows, self.columns, self.values)
    }
}

/// Brackets the optimum.
pub fn optimum(problem: &Explicit) -> Bracket {
    let (w, alpha) = solve(problem, problem.lambda * problem.l1);
    Bracket { lower: problem.dual(&alpha).float(), upper: problem.primal(&w).float() }
}

/// Brackets the optimum under `σ‖w‖₁` alone: the dual point is scaled into the box, toward the truths.
pub fn l1_optimum(problem: &Explicit, sigma: f64) -> Bracket {
    let problem = Explicit { lambda: 0.0, l1: 0.0, ..problem.clone() };
    let (w, alpha) = solve(&problem, sigma);
    let upper = problem.primal(&w).float() + sigma * w.iter().map(|w| w.abs()).sum::<f64>();
    let unit = Explicit { lambda: 1.0, ..problem };
    let image = unit.image(&alpha).into_iter().map(Wide::float);
    let sizes = image.map(|v| if unit.nonnegative { v } else { v.abs() });
    let scale = (sigma / sizes.fold(0.0, f64::max)).min(1.0);
    // Without any weights' part: a threshold beyond all entries leaves the losses, which are linear and zero at the truths.
    let losses = Explicit { l1: f64::MAX, ..unit }.dual(&alpha).float();
    Bracket { lower: scale * losses, upper }
}

/// Returns weights and a distribution over outputs. The variables are w, then one ξ per example, then u if there is an
/// l1 term.
fn solve(problem: &Explicit, sigma: f64) -> (Vec<f64>, Vec<Vec<Wide>>) {
    // An example that counts nothing would leave its ξ without a cost.
    let counted: Vec<usize> =
        (0..problem.examples.len()).filter(|&i| problem.masses[i] > Wide::ZERO).collect();
    let (dim, n) = (problem.dim, counted.len());
    let absolutes = if sigma > 0.0 { dim } else { 0 };
    let variables = dim + n + absolutes;

    let mut squares = Triplets::default();
    (0..dim).for_each(|j| squares.push(j, j, problem.lambda));
    let mut q = vec![0.0; variables];
    q[dim + n..].fill(sigma);

    let (mut a, mut b) = (Triplets::default(), Vec::new());
    for (k, &i) in counted.iter().enumerate() {
        q[dim + k] = problem.masses[i].float();
        for corner in &problem.examples[i] {
            corner.psi.iter().enumerate().for_each(|(j, &psi)| a.push(b.len(), j, -psi));
            a.push(b.len(), dim + k, -1.0);
            b.push(-corner.loss);
        }
    }
    for j in 0..absolutes {
        for sign in [1.0, -1.0] {
            a.push(b.len(), j, sign);
            a.push(b.len(), dim + n + j, -1.0);
            b.push(0.0);
        }
    }
    let signs = if problem.nonnegative { dim } else { 0 };
    for j in 0..signs {
        a.push(b.len(), j, -1.0);
        b.push(0.0);
    }
    let settings = DefaultSettings {
        verbose: false,
        tol_gap_abs: 1e-11,
        tol_gap_rel: 1e-11,
        tol_feas: 1e-11,
        ..DefaultSettings::default()
    };
    let cones = [SupportedConeT::NonnegativeConeT(b.len())];
    let (p, a) = (squares.matrix(variables, variables), a.matrix(b.len(), variables));
    let mut solver = DefaultSolver::new(&p, &q, &a, &b, &cones, settings).unwrap();
    solver.solve();

    let mut multipliers = solver.solution.z.iter();
    let distribution = |(i, corners): (usize, &Vec<Corner>)| -> Vec<Wide> {
        if !counted.contains(&i) {
            // Any distribution will do.
            return corners.iter().map(|_| Wide::ONE / Wide::from(corners.len() as f64)).collect();
        }
        let weights: Vec<Wide> =
            multipliers.by_ref().take(corners.len()).map(|z| z.max(0.0).into()).collect();
        let total: Wide = weights.iter().copied().sum();
        weights.into_iter().map(|weight| weight / total).collect()
    };
    let alpha: Vec<Vec<Wide>> = problem.examples.iter().enumerate().map(distribution).collect();
    let least = if problem.nonnegative { 0.0 } else { f64::NEG_INFINITY };
    (solver.solution.x[..dim].iter().map(|w| w.max(least)).collect(), alpha)
}
