//! Linear problems as cone programs. Every loss is the least cost of some helpers:
//!
//! ```text
//! a square and a slope   c/2·s² + b·t          r ≤ s + t + ε;  both signs of r for numbers;  t ≥ 0
//! multiclass hinge       t                     t ≥ c_j + a_j − a_y for all j
//! its smooth form        t + Σ_j s_j²/(2γ)     t + s_j ≥ c_j + a_j − a_y
//! softmax, logistic      t                     Σ_j u_j ≤ 1,  u_j ≥ e^{a_j − a_y − t}
//! ```
//!
//! with r = 1 − ya for a class and a − y for a number.

use super::program::{Affine, Optimum, Program};
use crate::problem::{Loss, Problem};
use dualgap::Result;
use dualgap::data::Examples;
use dualgap::linalg::Row;
use dualgap::term::{MulticlassLoss, ScalarLoss};

/// The optimum; its first variables are the weights.
pub fn judge(problem: &Problem, data: &Examples) -> Result<Optimum> {
    let mut program = Program::default();
    let scores = match problem.loss {
        Loss::Scalar(_) => 1,
        Loss::Classes(_) => data.classes()?.alphabet().len(),
    };
    let dim = data.rows().width() * scores;
    for _ in 0..dim {
        program.variable(0.0, problem.lambda);
    }
    if problem.l1 > 0.0 {
        for j in 0..dim {
            let size = program.variable(problem.l1, 0.0);
            for sign in [1.0, -1.0] {
                program.at_most_zero(Affine::default().plus(sign, j).plus(-1.0, size));
            }
        }
    }
    let mass = 1.0 / data.len() as f64;
    match problem.loss {
        Loss::Scalar(loss) => {
            for (i, y) in Problem::targets(data)?.into_iter().enumerate() {
                add_scalar(&mut program, loss, &score(data.rows().row(i), 0, 1), y, mass);
            }
        }
        Loss::Classes(loss) => {
            for (i, &truth) in data.classes()?.numbers().iter().enumerate() {
                let score = |class| score(data.rows().row(i), class, scores);
                let lead = |class: usize| {
                    let own = score(truth as usize).scaled(-1.0).terms;
                    let mut lead = score(class);
                    lead.terms.extend(own);
                    lead
                };
                let others = (0..scores).filter(|&class| class != truth as usize);
                add_classes(&mut program, loss, others.map(lead).collect(), mass);
            }
        }
    }
    program.solve()
}

/// ⟨x, w⟩ of one class.
fn score(row: Row<'_>, class: usize, classes: usize) -> Affine {
    let terms = row.iter().map(|(j, x)| (j * classes + class, x)).collect();
    Affine { terms, constant: 0.0 }
}

/// c, b and ε of a square and a slope; what is absent is not there to help.
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

fn add_scalar(program: &mut Program, loss: ScalarLoss, score: &Affine, y: f64, mass: f64) {
    let Some((square, slope, epsilon)) = parts(loss) else {
        let lead = score.clone().scaled(-y);
        return add_log_sum(program, vec![Affine::constant(0.0), lead], mass);
    };
    let s = square.map(|c| program.variable(0.0, mass * c));
    let t = slope.map(|b| program.variable(mass * b, 0.0));
    if let Some(t) = t {
        program.at_most_zero(Affine::default().plus(-1.0, t));
    }
    // r − s − t − ε, for r and, with the sign of the square turned as well, for −r.
    let excess = |mut r: Affine, sign: f64| {
        r = r.scaled(sign);
        r.constant -= epsilon;
        r.terms.extend(s.map(|s| (s, -sign)));
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
    if loss != MulticlassLoss::Softmax {
        leads.iter_mut().for_each(|lead| lead.constant += 1.0);
    }
    leads.push(Affine::constant(0.0));
    let square = match loss {
        MulticlassLoss::Softmax => return add_log_sum(program, leads, mass),
        MulticlassLoss::Hinge => None,
        MulticlassLoss::SmoothHinge { width } => Some(mass / width),
    };
    let t = program.variable(mass, 0.0);
    for lead in leads {
        let mut excess = lead.plus(-1.0, t);
        if let Some(square) = square {
            excess = excess.plus(-1.0, program.variable(0.0, square));
        }
        program.at_most_zero(excess);
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
