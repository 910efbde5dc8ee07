//! The optimum in a ball from clarabel. Over matrices `(p q; r s)` the trace ball is two cones, because
//! `σ₁ + σ₂ = max(‖(p + s, q − r)‖, ‖(p − s, q + r)‖)`, and over single rows and columns one. Every loss is the least cost of some helpers:
//!
//! ```text
//! a square and a slope   c/2·s² + b·t          r ≤ s + t;  both signs of r for numbers;  t ≥ 0
//! multiclass, smooth     t + Σ_j s_j²/(2γ)     t + s_j ≥ c_j + a_j − a_y
//! softmax, logistic      t                     Σ_j u_j ≤ 1,  u_j ≥ e^{a_j − a_y − t}
//! ```
//!
//! with r = 1 − ya for a class and a − y for a number.

use crate::balls::case::{Case, Kind};
use crate::balls::program::{Affine, Optimum, Program};
use dualgap::term::{MulticlassLoss, ScalarLoss};

/// The optimum in the l1 ball; its first variables are the weights.
pub fn judge(case: &Case) -> Optimum {
    judged(case, |program, dim| in_l1_ball(program, dim, case.radius))
}

/// The same in the simplex.
pub fn judge_simplex(case: &Case) -> Optimum {
    judged(case, |program, dim| in_simplex(program, 0..dim, case.radius))
}

fn in_simplex(program: &mut Program, variables: std::ops::Range<usize>, size: f64) {
    let mut sum = Affine::constant(-size);
    for j in variables {
        program.at_most_zero(Affine::default().plus(-1.0, j));
        sum = sum.plus(1.0, j);
    }
    program.zero(sum);
}

/// The same in the convex hull of these atoms.
pub fn judge_hull(case: &Case, atoms: &[Vec<f64>]) -> Optimum {
    judged(case, |program, dim| {
        let first = (0..atoms.len()).map(|_| program.variable(0.0, 0.0)).min().unwrap();
        in_simplex(program, first..first + atoms.len(), 1.0);
        for j in 0..dim {
            let mut entry = Affine::default().plus(-1.0, j);
            for (k, atom) in atoms.iter().enumerate() {
                entry = entry.plus(atom[j], first + k);
            }
            program.zero(entry);
        }
    })
}

/// The same in the l1 ball with ½ Σ q_j x_j² in the place of μ/2‖x‖².
pub fn judge_diagonal(case: &Case, diagonal: &[f64]) -> Optimum {
    judged_with(case, |j| diagonal[j], |program, dim| in_l1_ball(program, dim, case.radius))
}

fn in_l1_ball(program: &mut Program, dim: usize, radius: f64) {
    let mut norm = Affine::constant(-radius);
    for j in 0..dim {
        let size = program.variable(0.0, 0.0);
        for sign in [1.0, -1.0] {
            program.at_most_zero(Affine::default().plus(sign, j).plus(-1.0, size));
        }
        norm = norm.plus(1.0, size);
    }
    program.at_most_zero(norm);
}

/// The same in the trace ball, for matrices of one row, of one column, or of two of both.
pub fn judge_low_rank(case: &Case) -> Optimum {
    let (d, c) = (case.rows[0].len(), case.kind.outputs());
    judged(case, |program, dim| {
        let pair = |j: usize, sign: f64, k: usize| Affine::default().plus(1.0, j).plus(sign, k);
        if d == 1 || c == 1 {
            let all = (0..dim).map(|j| Affine::default().plus(1.0, j)).collect();
            return program.norm_at_most(case.radius, all);
        }
        assert_eq!((d, c), (2, 2), "no cones are known for such matrices");
        for sign in [1.0, -1.0] {
            program.norm_at_most(case.radius, vec![pair(0, sign, 3), pair(1, -sign, 2)]);
        }
    })
}

fn judged(case: &Case, keep_inside: impl Fn(&mut Program, usize)) -> Optimum {
    judged_with(case, |_| case.mu, keep_inside)
}

fn judged_with(
    case: &Case,
    square: impl Fn(usize) -> f64,
    keep_inside: impl Fn(&mut Program, usize),
) -> Optimum {
    let mut program = Program::default();
    let c = case.kind.outputs();
    let dim = case.rows[0].len() * c;
    (0..dim).for_each(|j| {
        program.variable(0.0, square(j));
    });
    keep_inside(&mut program, dim);
    for (i, mass) in case.masses().into_iter().enumerate() {
        let score = |k: usize| {
            let terms = case.rows[i].iter().enumerate().map(|(j, &x)| (j * c + k, x)).collect();
            Affine { terms, constant: 0.0 }
        };
        match case.kind {
            Kind::Outputs(loss, _) => {
                (0..c).for_each(|k| {
                    add_scalar(&mut program, loss, &score(k), case.targets[i * c + k], mass);
                });
            }
            Kind::Classes(loss, _) => {
                let truth = case.targets[i] as usize;
                let lead = |k: usize| {
                    let mut lead = score(k);
                    lead.terms.extend(score(truth).scaled(-1.0).terms);
                    lead
                };
                let leads = (0..c).filter(|&k| k != truth).map(lead).collect();
                add_classes(&mut program, loss, leads, mass);
            }
        }
    }
    program.solve()
}

/// c and b of a square and a slope; what is absent is not there to help.
fn parts(loss: ScalarLoss) -> Option<(f64, Option<f64>)> {
    Some(match loss {
        ScalarLoss::SmoothHinge { width } => (1.0 / width, Some(1.0)),
        ScalarLoss::SquaredHinge => (2.0, None),
        ScalarLoss::Squared => (1.0, None),
        ScalarLoss::Huber { width } => (1.0, Some(width)),
        _ => return None,
    })
}

fn add_scalar(program: &mut Program, loss: ScalarLoss, score: &Affine, y: f64, mass: f64) {
    let Some((square, slope)) = parts(loss) else {
        let lead = score.clone().scaled(-y);
        return add_log_sum(program, vec![Affine::constant(0.0), lead], mass);
    };
    let s = program.variable(0.0, mass * square);
    let t = slope.map(|b| program.variable(mass * b, 0.0));
    if let Some(t) = t {
        program.at_most_zero(Affine::default().plus(-1.0, t));
    }
    // r − s − t, for r and, with the sign of the square turned as well, for −r.
    let excess = |r: Affine, sign: f64| {
        let mut r = r.scaled(sign).plus(-sign, s);
        r.terms.extend(t.map(|t| (t, -1.0)));
        r
    };
    let mut r = score.clone();
    if loss.is_binary() {
        r = r.scaled(-y);
        r.constant += 1.0;
        program.at_most_zero(excess(r, 1.0));
        return;
    }
    r.constant -= y;
    if t.is_none() {
        program.zero(excess(r, 1.0));
    } else {
        program.at_most_zero(excess(r.clone(), 1.0));
        program.at_most_zero(excess(r, -1.0));
    }
}

/// `leads` are a_j − a_y of the wrong classes; that of the right one is zero, without a cost.
fn add_classes(program: &mut Program, loss: MulticlassLoss, mut leads: Vec<Affine>, mass: f64) {
    let MulticlassLoss::SmoothHinge { width } = loss else {
        leads.push(Affine::constant(0.0));
        return add_log_sum(program, leads, mass);
    };
    leads.iter_mut().for_each(|lead| lead.constant += 1.0);
    leads.push(Affine::constant(0.0));
    let t = program.variable(mass, 0.0);
    for lead in leads {
        let s = program.variable(0.0, mass / width);
        program.at_most_zero(lead.plus(-1.0, t).plus(-1.0, s));
    }
}

/// `log Σ e^lead`.
fn add_log_sum(program: &mut Program, leads: Vec<Affine>, mass: f64) {
    let t = program.variable(mass, 0.0);
    let mut sum = Affine::constant(-1.0);
    for lead in leads {
        let u = program.variable(0.0, 0.0);
        program.exponential(lead.plus(-1.0, t), Affine::default().plus(1.0, u));
        sum = sum.plus(1.0, u);
    }
    program.at_most_zero(sum);
}
