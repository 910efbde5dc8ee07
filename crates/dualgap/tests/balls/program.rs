//! Cone programs, put together piece by piece and solved by clarabel, an interior point method that shares nothing with us:
//!
//! ```text
//! min Σ cost_k x_k + ½ Σ square_k x_k²    subject to    affine = 0,   affine ≤ 0,   ‖affine‖ ≤ constant,   e^{affine} ≤ affine
//! ```

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

/// `Σ factor · x_k + constant`.
#[derive(Clone, Debug, Default)]
pub struct Affine {
    pub terms: Vec<(usize, f64)>,
    pub constant: f64,
}

impl Affine {
    pub fn constant(constant: f64) -> Self {
        Self { terms: Vec::new(), constant }
    }

    #[must_use]
    pub fn plus(mut self, factor: f64, variable: usize) -> Self {
        self.terms.push((variable, factor));
        self
    }

    #[must_use]
    pub fn scaled(mut self, factor: f64) -> Self {
        self.terms.iter_mut().for_each(|(_, x)| *x *= factor);
        self.constant *= factor;
        self
    }
}

#[derive(Debug, Default)]
pub struct Program {
    costs: Vec<f64>,
    squares: Vec<f64>,
    zero: Vec<Affine>,
    at_most_zero: Vec<Affine>,
    /// A bound, and what is to have no larger norm.
    norms: Vec<Vec<Affine>>,
    /// Three in a row: x, y, z with y e^{x/y} ≤ z.
    exponentials: Vec<Affine>,
}

/// Both sides of what clarabel found, and where.
#[derive(Clone, Debug)]
pub struct Optimum {
    pub lower: f64,
    pub upper: f64,
    pub x: Vec<f64>,
}

impl Program {
    /// A variable and its place in the objective.
    pub fn variable(&mut self, cost: f64, square: f64) -> usize {
        self.costs.push(cost);
        self.squares.push(square);
        self.costs.len() - 1
    }

    pub fn zero(&mut self, affine: Affine) {
        self.zero.push(affine);
    }

    pub fn at_most_zero(&mut self, affine: Affine) {
        self.at_most_zero.push(affine);
    }

    /// `‖parts‖ ≤ bound`.
    pub fn norm_at_most(&mut self, bound: f64, parts: Vec<Affine>) {
        self.norms.push([vec![Affine::constant(bound)], parts].concat());
    }

    /// `e^exponent ≤ bound`.
    pub fn exponential(&mut self, exponent: Affine, bound: Affine) {
        self.exponentials.extend([exponent, Affine::constant(1.0), bound]);
    }

    pub fn solve(self) -> Optimum {
        let Self { costs, squares, zero, at_most_zero, norms, exponentials } = self;
        let mut cones = vec![
            SupportedConeT::ZeroConeT(zero.len()),
            SupportedConeT::NonnegativeConeT(at_most_zero.len()),
        ];
        cones.extend(norms.iter().map(|norm| SupportedConeT::SecondOrderConeT(norm.len())));
        cones.resize(cones.len() + exponentials.len() / 3, SupportedConeT::ExponentialConeT());
        // Clarabel wants b − Ax in the cones: an upper bound enters as it is, a member of a cone with its sign changed.
        let members =
            norms.into_iter().flatten().chain(exponentials).map(|affine| affine.scaled(-1.0));
        let rows: Vec<Affine> = zero.into_iter().chain(at_most_zero).chain(members).collect();
        let b: Vec<f64> = rows.iter().map(|row| -row.constant).collect();
        let entries = rows.iter().enumerate();
        let entries = entries.flat_map(|(i, row)| row.terms.iter().map(move |&(j, x)| (i, j, x)));
        let a = matrix(entries, rows.len(), costs.len());
        let diagonal = squares.iter().enumerate().map(|(j, &x)| (j, j, x));
        let p = matrix(diagonal.filter(|entry| entry.2 != 0.0), costs.len(), costs.len());
        // Near the edge of a cone it may not get as far as it is asked to: then it is asked for less, and the two sides
        // say how much it is.
        let tolerances = [1e-11, 1e-9, 1e-8];
        let solutions = tolerances.into_iter().map(|tolerance| {
            let settings = DefaultSettings {
                verbose: false,
                tol_gap_abs: tolerance,
                tol_gap_rel: tolerance,
                tol_feas: tolerance,
                reduced_tol_gap_abs: 1e-7,
                reduced_tol_gap_rel: 1e-7,
                reduced_tol_feas: 1e-7,
                ..DefaultSettings::default()
            };
            let mut solver = DefaultSolver::new(&p, &costs, &a, &b, &cones, settings).unwrap();
            solver.solve();
            solver.solution
        });
        let solved = [SolverStatus::Solved, SolverStatus::AlmostSolved];
        let mut solutions = solutions.filter(|solution| solved.contains(&solution.status));
        let solution = solutions.next().expect("clarabel solves what is asked of it here");
        let (one, other) = (solution.obj_val, solution.obj_val_dual);
        Optimum { lower: one.min(other), upper: one.max(other), x: solution.x }
    }
}

fn matrix(
    entries: impl Iterator<Item = (usize, usize, f64)>,
    rows: usize,
    columns: usize,
) -> CscMatrix<f64> {
    let (mut i, mut j, mut x) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        i.push(entry.0);
        j.push(entry.1);
        x.push(entry.2);
    }
    CscMatrix::new_from_triplets(rows, columns, i, j, x)
}
