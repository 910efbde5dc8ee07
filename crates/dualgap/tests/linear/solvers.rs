//! The same optimum as other ways to find it: a quadratic program, linear equations, Newton's method.
//!
//! Every loss but the logistic one is the best of a square and a slope: with r the shortfall 1 − ya of a
//! class, or the residual a − y of a number,
//!
//! ```text
//! φ = min c/2·s² + b·t    subject to    r ≤ s + t + ε, and for numbers also −r ≤ −s + t + ε;  t ≥ 0
//! ```

use crate::common::distance;
use crate::linear::case::{Case, LOSSES, REGULARISERS, is_binary};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SupportedConeT};
use dualgap::term::ScalarLoss;

/// c, b and ε; what is absent is not there to help.
fn parts(loss: ScalarLoss) -> Option<(Option<f64>, Option<f64>, f64)> {
    Some(match loss {
        ScalarLoss::Hinge | ScalarLoss::Absolute => (None, Some(1.0), 0.0),
        ScalarLoss::SmoothHinge { width } => (Some(1.0 / width), Some(1.0), 0.0),
        ScalarLoss::SquaredHinge => (Some(2.0), None, 0.0),
        ScalarLoss::Squared => (Some(1.0), None, 0.0),
        ScalarLoss::EpsilonInsensitive { epsilon } => (None, Some(1.0), epsilon),
        ScalarLoss::Huber { width } => (Some(1.0), Some(width), 0.0),
        ScalarLoss::Logistic => return None,
    })
}

/// A row of the constraints `Ax ≤ b`, or `Ax = b`.
type Constraint = (Vec<(usize, f64)>, f64);

/// The weights that clarabel finds, within bounds where there are any. The variables are w, s, t, and u ≥ |w|.
pub fn quadratic_program(case: &Case, within: &[(f64, f64)]) -> Option<Vec<f64>> {
    let (c, b, epsilon) = parts(case.loss)?;
    let (n, d, masses) = (case.len(), case.rows[0].len(), case.masses());
    let (s, t, u) = (d, d + n, d + 2 * n);
    let variables = u + d;
    let mut diagonal = vec![0.0; variables];
    let mut q = vec![0.0; variables];
    (0..d).filter(|&j| !case.is_free(j)).for_each(|j| diagonal[j] = case.lambda);
    q[u..].fill(case.regulariser.l1);
    let (mut equal, mut constraints): (Vec<Constraint>, Vec<Constraint>) = Default::default();
    for i in 0..n {
        diagonal[s + i] = masses[i] * c.unwrap_or(1.0);
        q[t + i] = masses[i] * b.unwrap_or(1.0);
        // What is absent is zero.
        if c.is_none() {
            equal.push((vec![(s + i, 1.0)], 0.0));
        }
        if b.is_none() {
            equal.push((vec![(t + i, 1.0)], 0.0));
        } else {
            constraints.push((vec![(t + i, -1.0)], 0.0));
        }
        let y = case.targets[i];
        let row = |factor: f64| case.rows[i].iter().map(move |x| factor * x).enumerate();
        let with = |factor: f64, sign: f64| -> Vec<(usize, f64)> {
            row(factor).chain([(s + i, -sign), (t + i, -1.0)]).collect()
        };
        if is_binary(case.loss) {
            constraints.push((with(-y, 1.0), epsilon - 1.0));
        } else if b.is_none() {
            equal.push((with(1.0, 1.0), y));
        } else {
            constraints.push((with(1.0, 1.0), epsilon + y));
            constraints.push((with(-1.0, -1.0), epsilon - y));
        }
    }
    for j in 0..d {
        if case.is_free(j) {
            equal.push((vec![(u + j, 1.0)], 0.0));
            continue;
        }
        constraints.push((vec![(j, 1.0), (u + j, -1.0)], 0.0));
        constraints.push((vec![(j, -1.0), (u + j, -1.0)], 0.0));
        if case.regulariser.nonnegative {
            constraints.push((vec![(j, -1.0)], 0.0));
        }
    }
    for (j, &(low, high)) in within.iter().enumerate() {
        if low == high {
            equal.push((vec![(j, 1.0)], low));
            continue;
        }
        let sides = [(1.0, high), (-1.0, -low)].into_iter().filter(|(_, side)| side.is_finite());
        constraints.extend(sides.map(|(sign, side)| (vec![(j, sign)], side)));
    }
    // Without an l1 term u would have no cost and no bound.
    if case.regulariser.l1 == 0.0 {
        q[u..].fill(1e-12);
    }
    let square = |(j, &x): (usize, &f64)| (j, j, x);
    let p = matrix(diagonal.iter().enumerate().map(square), variables, variables);
    let cones = [
        SupportedConeT::ZeroConeT(equal.len()),
        SupportedConeT::NonnegativeConeT(constraints.len()),
    ];
    let constraints = [equal, constraints].concat();
    let entries = constraints.iter().enumerate();
    let entries = entries.flat_map(|(k, (row, _))| row.iter().map(move |&(j, x)| (k, j, x)));
    let a = matrix(entries, constraints.len(), variables);
    let bounds: Vec<f64> = constraints.iter().map(|(_, bound)| *bound).collect();
    let settings = DefaultSettings {
        verbose: false,
        tol_gap_abs: 1e-10,
        tol_gap_rel: 1e-10,
        tol_feas: 1e-10,
        ..DefaultSettings::default()
    };
    let mut solver = DefaultSolver::new(&p, &q, &a, &bounds, &cones, settings).unwrap();
    solver.solve();
    let mut w = solver.solution.x[..d].to_vec();
    if case.regulariser.nonnegative {
        let bound = |&(j, _): &(usize, &mut f64)| !case.is_free(j);
        w.iter_mut().enumerate().filter(bound).for_each(|(_, w)| *w = w.max(0.0));
    }
    w.iter_mut().zip(within).for_each(|(w, &(low, high))| *w = w.clamp(low, high));
    Some(w)
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

/// Gaussian elimination with pivots.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let d = b.len();
    for k in 0..d {
        let pivot = (k..d).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..d {
            let factor = a[i][k] / a[k][k];
            let top = a[k].clone();
            a[i].iter_mut().zip(top).for_each(|(x, top)| *x -= factor * top);
            b[i] -= factor * b[k];
        }
    }
    let mut x = vec![0.0; d];
    for k in (0..d).rev() {
        let known: f64 = (k + 1..d).map(|j| a[k][j] * x[j]).sum();
        x[k] = (b[k] - known) / a[k][k];
    }
    x
}

/// Whether an optimum that someone else found is within the certified interval, which is narrow.
fn assert_agrees(case: &Case, w: &[f64]) {
    let (report, other) = (case.solve(), case.primal(w));
    let c = report.certificate;
    assert!(c.gap() <= 1e-7, "{:?} {:?} {c:?}", case.loss, report.stop);
    assert!(c.dual <= other + 1e-9, "{:?} {:?} {c:?} {other}", case.loss, case.regulariser);
    assert!(other <= c.primal + 1e-6, "{:?} {:?} {c:?} {other}", case.loss, case.regulariser);
    // P is λ-strongly convex: what is close in value is close.
    assert!(distance(&report.model.weights, w) < 0.01, "{:?}", case.loss);
}

#[test]
fn quadratic_programs_have_the_same_optimum() {
    for (k, loss) in LOSSES.into_iter().enumerate() {
        for (j, regulariser) in REGULARISERS.into_iter().enumerate() {
            let seed = (10 * k + j) as u64;
            let weights = (j == 3).then(|| (0..20).map(|i| f64::from(i % 4)).collect());
            let case = Case { regulariser, weights, ..Case::random(seed, loss, 20, 5) };
            if let Some(w) = quadratic_program(&case, &[]) {
                assert_agrees(&case, &w);
            }
        }
    }
}

#[test]
fn ridge_regression_solves_its_normal_equations() {
    for seed in 0..6 {
        let weights = (seed % 2 == 1).then(|| (1..=20).map(f64::from).collect());
        let case = Case { weights, ..Case::random(seed, ScalarLoss::Squared, 20, 5) };
        let mut a = vec![vec![0.0; 5]; 5];
        let mut b = vec![0.0; 5];
        for ((x, y), mass) in case.rows.iter().zip(&case.targets).zip(case.masses()) {
            for j in 0..5 {
                (0..5).for_each(|k| a[j][k] += mass * x[j] * x[k]);
                b[j] += mass * y * x[j];
            }
        }
        (0..5).for_each(|j| a[j][j] += case.lambda);
        let w = solve(a, b);
        assert_agrees(&case, &w);
        assert!(distance(&case.solve().model.weights, &w) < 1e-5);
    }
}

#[test]
fn logistic_regression_is_where_newton_s_method_ends() {
    for seed in 0..6 {
        let case = Case::random(seed, ScalarLoss::Logistic, 20, 5);
        let mut w = vec![0.0; 5];
        for _ in 0..30 {
            let mut hessian = vec![vec![0.0; 5]; 5];
            let mut gradient: Vec<f64> = w.iter().map(|w| case.lambda * w).collect();
            for (x, y) in case.rows.iter().zip(&case.targets) {
                let m: f64 = y * x.iter().zip(&w).map(|(x, w)| x * w).sum::<f64>();
                let p = 1.0 / (1.0 + m.exp());
                for j in 0..5 {
                    gradient[j] -= p * y * x[j] / 20.0;
                    (0..5).for_each(|k| hessian[j][k] += p * (1.0 - p) * x[j] * x[k] / 20.0);
                }
            }
            (0..5).for_each(|j| hessian[j][j] += case.lambda);
            let step = solve(hessian, gradient);
            w.iter_mut().zip(step).for_each(|(w, step)| *w -= step);
        }
        assert_agrees(&case, &w);
        assert!(distance(&case.solve().model.weights, &w) < 1e-5);
    }
}
